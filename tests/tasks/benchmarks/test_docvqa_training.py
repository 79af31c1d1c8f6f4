"""DocVQA: trained and evaluated against a server on this machine, and by an agent."""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.models.program import Program
from tests.models.server import serving
from tests.tasks.benchmarks.pages import files, page, row, table
from tests.tasks.benchmarks.project import FIRST, SECOND, Both, Run, command, events, make, verdicts


def reader(turns: list[dict[str, Any]], system: str) -> str:
    """Sees which page it is shown; reads some pages rightly by the first rule, and all of them by both."""
    parts = next(turn["content"] for turn in turns if turn["role"] == "user")
    shown = base64.b64decode(parts[1]["image_url"]["url"].partition(",")[2])
    asked = re.search(r"total of (.*)\?", parts[0]["text"])
    assert asked
    assert shown == page(asked[1])
    if "look" in turns[-1]["content"] or SECOND in system or (FIRST in system and asked[1] in ("val 0", "val 2")):
        return f"<answer>Total {asked[1]}</answer>"
    return "I cannot read it."


@pytest.fixture
def both() -> Iterator[tuple[Both, Any]]:
    played = Both(reader)
    with serving(played) as fake:
        yield played, fake


def test_two_steps_of_training_and_a_report(tmp_path: Path, skillgit: Run, both: Any) -> None:
    _, fake = both
    folder = make(tmp_path / "repo", "docvqa", files())
    steps = ("train.num_epochs=1", "train.batch_size=2")
    code, out, err = skillgit(folder, *command(fake, "train", "docvqa", *steps, more=["--json"]))
    assert code == 0, err
    told = events(out)
    assert verdicts(told) == ["accept_new_best", "accept_new_best"]
    assert told[-1]["best"]["score"] == 1.0
    best = told[-1]["best"]["commit"]
    given = command(fake, "eval", "docvqa", more=["--split", "test", "--json"])
    for revision, value in ((best, 1.0), ("HEAD", 0.0)):
        code, out, err = skillgit(folder, *given[:2], revision, *given[2:])
        assert code == 0, err
        record = json.loads(out)
        assert [record[name] for name in ("n", "hard", "soft", "lenient")] == [2, value, value, value]


def test_bad_pictures_leave_the_rest_of_a_batch_intact_and_records_tell_form_from_knowledge(
    tmp_path: Path, skillgit: Run, both: Any
) -> None:
    played, fake = both
    played.target = lambda turns, system: "**Total a/b: 1**" if "a/b" in str(turns) else "<answer>Total 2</answer>"
    rows = [row("a/b: 1"), row("2"), row("no picture"), row("gone"), row("3", answer="else")]
    pictures = {f"p/{n}.png": page(str(n)) for n in (1, 2, 3)} | {"p/no.png": b"<html>"}
    named = zip(rows, ["p/1.png", "p/2.png", "p/no.png", "p/gone.png", "p/3.png"], strict=True)
    val = table(*({**each, "image_path": name} for each, name in named))
    folder = make(tmp_path / "repo", "docvqa", files(**{"data/docvqa/splits/val/items.csv": val, **pictures}))
    given = command(fake, "eval", "docvqa", more=["--json"])
    code, out, err = skillgit(folder, *given)
    assert code == 0, err
    record = json.loads(out)
    assert (record["n"], record["hard"], record["lenient"]) == (5, 0.2, 0.4)
    assert "errors" not in record
    assert len(played.asked) == 3
    assert skillgit(folder, *given)[0] == 0
    assert len(played.asked) == 3


def test_a_rollout_goes_on_where_it_was_broken_off(tmp_path: Path, skillgit: Run, both: Any) -> None:
    played, fake = both
    played.target = lambda turns, system: reader([*turns, {"content": "look" if len(turns) > 2 else ""}], system)
    folder = make(tmp_path / "repo", "docvqa", files())
    given = command(fake, "eval", "docvqa", "env.max_turns=2", "env.workers=1", more=["--json"])
    played.faulty = lambda number: number >= 4  # of two turns of each of three tasks
    assert skillgit(folder, *given)[0] == 5
    played.faulty = lambda number: False
    played.asked.clear()
    code, out, err = skillgit(folder, *given)
    assert code == 0, err
    assert json.loads(out)["hard"] == 1.0
    assert len(played.asked) == 6 - 3


def test_an_agent_finds_the_page_and_the_skill_in_its_folder(
    tmp_path: Path, skillgit: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = Program(tmp_path / "bin", "codex")
    program.plan(last="<answer>Total val 0</answer>", out='{"type": "turn.completed", "usage": {}}\n')
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    folder = make(tmp_path / "repo", "docvqa", files())
    agent = ("model.target_backend=codex_exec", "model.target=m1", "env.workers=1")
    given = [part for text in agent for part in ("--set", text)]
    code, out, err = skillgit(folder, "eval", "docvqa", "--config", "docvqa", *given, "--json")
    assert code == 0, err
    assert json.loads(out)["hard"] == pytest.approx(1 / 3)
    for work in program.given:
        name = next(place for place in work["tree"] if place.startswith("attachments/"))
        assert re.fullmatch(r"attachments/01_val_\d\.png", name)
        assert ".agents/skills/docvqa/SKILL.md" in work["tree"]
        assert "Copy, do not tell" not in work["tree"]["task.md"]
        assert "What is the total of val" in work["tree"]["task.md"]
