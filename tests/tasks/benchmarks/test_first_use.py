"""What a newcomer meets with a published benchmark: no data yet, what a measurement would cost, what it found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skillgit.tasks.benchmarks.searchqa import SearchQA
from tests.models.server import serving
from tests.tasks.benchmarks.project import SMALL, Both, Run, command, make

NAMES = ("searchqa", "docvqa", "alfworld", "officeqa", "livemathematicianbench", "spreadsheetbench")


def files(sizes: dict[str, int]) -> dict[str, Any]:
    """SearchQA's items, so many in each split."""

    def item(name: str) -> dict[str, Any]:
        return {"id": name, "question": f"Who lives in {name}?", "context": f"[DOC] {name}", "answers": ["Ada Byron"]}

    return {f"data/searchqa_split/{s}/items.json": [item(f"{s}{n}") for n in range(size)] for s, size in sizes.items()}


@pytest.mark.parametrize("name", NAMES)
def test_without_data_the_command_that_makes_it_is_named(name: str, tmp_path: Path, skillgit: Run) -> None:
    folder = make(tmp_path, name, {})
    code, _, err = skillgit(folder, "eval", name, "--config", name, "--dry-run")
    assert code == 2
    assert "there is no such folder" in err
    assert f"`skillgit data materialize {name} --manifest DIR --source PATH`" in err


def test_a_dry_run_of_a_measurement_counts_every_turn(tmp_path: Path, skillgit: Run) -> None:
    folder = make(tmp_path, "searchqa", files({"train": 1, "val": 3}))
    given = ("eval", "searchqa", "--config", "searchqa", "--dry-run", "--set", "env.max_turns=2")
    code, out, err = skillgit(folder, *given)
    assert (code, (out + err).strip()) == (0, "val: 6 target calls at most")


def test_the_line_of_a_measurement_tells_what_was_form(tmp_path: Path, skillgit: Run) -> None:
    folder = make(tmp_path, "searchqa", files({"train": 1, "val": 2}))
    with serving(Both(lambda turns, system: "<answer>(**Ada Byron**).</answer>")) as fake:
        code, out, err = skillgit(folder, *command(fake, "eval", "searchqa"))
    assert code == 0, err
    assert " lenient 1.000 n=2" in out


def test_prompts_are_made_for_some_tasks_only_and_once(
    tmp_path: Path, skillgit: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To make one may mean to read files, and a plan of many steps asks for the same ones again and again."""
    made: list[str] = []
    rollout = SearchQA.rollout

    def counted(self: SearchQA, task: Any, skill: str, ask: Any) -> Any:
        made.append(task.id)
        return rollout(self, task, skill, ask)

    monkeypatch.setattr(SearchQA, "rollout", counted)
    folder = make(tmp_path, "searchqa", files({"train": 90, "val": 45, "test": 100}))
    settings = [part for text in (*SMALL, "train.batch_size=10") for part in ("--set", text)]
    code, _, err = skillgit(folder, "train", "searchqa", "--config", "searchqa", "--dry-run", *settings)
    assert code == 0, err
    assert len(made) == len(set(made))
    assert len(made) <= 60
