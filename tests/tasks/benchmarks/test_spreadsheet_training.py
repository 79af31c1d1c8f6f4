"""SpreadsheetBench trained and evaluated against a server on the loopback interface, and by an agent."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from skillgit.config.load import load_config
from skillgit.config.packaged import packaged
from skillgit.tasks import sandbox
from skillgit.tasks.benchmarks.spreadsheet import work
from skillgit.tasks.benchmarks.spreadsheet.code import program_in
from tests.models.program import Program
from tests.models.server import Handler, answer, serving
from tests.tasks.benchmarks.project import FIRST, SECOND, Both, Run, command, events, make, verdicts
from tests.tasks.benchmarks.sheets import FENCE, RIGHT, WRONG, books, data, item

NAME = "spreadsheetbench"
FOLDER = f"data/{NAME}_split"


def files(**more: Any) -> dict[str, Any]:
    named = data(["a0", "b0", "a1", "b1"], ["a2", "b2"], ["a3", "b3"], cases=1)
    return {f"{FOLDER}/{path}": content for path, content in {**named, **more}.items()}


def programmer(turns: list[dict[str, Any]], system: str) -> str:
    """Sums tasks of kind a by the first rule, and all by the second; without a rule it fails, then errs."""
    knows = FIRST in system if "(a" in turns[1]["content"] else SECOND in system
    if knows:
        return RIGHT
    return FENCE.format("1 / 0") if len(turns) == 2 else WRONG


@pytest.fixture
def both() -> Iterator[tuple[Both, Any]]:
    played = Both(programmer)
    with serving(played) as fake:
        yield played, fake


def test_two_steps_of_training_and_a_report(tmp_path: Path, skillgit: Run, both: Any) -> None:
    played, fake = both
    folder = make(tmp_path / "repo", NAME, files())
    steps = ("train.num_epochs=1", "train.batch_size=2", "env.max_turns=3")
    code, out, err = skillgit(folder, *command(fake, "train", NAME, *steps, more=["--json"]))
    assert code == 0, err
    told = events(out)
    assert verdicts(told) == ["accept_new_best", "accept_new_best"]
    assert told[-1]["best"]["score"] == 1.0
    said = [turn["content"] for turns in played.asked for turn in turns if turn["role"] == "user"]
    assert any("ZeroDivisionError" in text for text in said)
    assert any("My Data!D2 is 5" in text for text in said)  # only train tasks are told of wrong cells
    assert not any("expected" in text for text in said)
    paid = len(played.asked)
    given = command(fake, "eval", NAME, "env.max_turns=3", more=["--split", "test", "--json"])
    code, out, err = skillgit(folder, *given[:2], told[-1]["best"]["commit"], *given[2:])
    assert code == 0, err
    record = json.loads(out)
    assert [record[name] for name in ("n", "hard", "soft", "lenient")] == [2, 1.0, 1.0, 1.0]
    assert record["scoring"].startswith("formulas ")
    assert len(played.asked) == paid  # the report at the end of training asked for the same


def test_bad_workbooks_and_programs_leave_the_rest_of_a_batch_intact(
    tmp_path: Path, skillgit: Run, both: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    played, fake = both
    odd = item("no/book: 1", folder="c")
    rows = [item("a2"), odd, item("gone"), {**item("away"), "spreadsheet_path": "../../x"}, item("loop", folder="b2")]
    val = {"val/items.json": rows, **books("c", cases=1), "spreadsheet/c/1_c_input.xlsx": b"PK\x03\x04 no zip"}
    played.target = lambda turns, system: FENCE.format("while 1: pass") if "(loop)" in str(turns) else RIGHT
    folder = make(tmp_path / "repo", NAME, files(**val))
    given = command(fake, "eval", NAME, "env.mode=single", more=["--json"])
    monkeypatch.setattr(work, "LIMITS", sandbox.Limits(seconds=3.0))
    code, out, err = skillgit(folder, *given)
    assert code == 0, err
    record = json.loads(out)
    assert (record["n"], record["hard"]) == (5, 0.2)
    assert "errors" not in record
    assert len(played.asked) == 2


def test_a_rollout_goes_on_where_it_was_broken_off(tmp_path: Path, skillgit: Run, both: Any) -> None:
    played, fake = both
    played.target = lambda turns, system: FENCE.format("1 / 0") if len(turns) == 2 else RIGHT
    folder = make(tmp_path / "repo", NAME, files())
    given = command(fake, "eval", NAME, "env.workers=1", more=["--json"])
    played.faulty = lambda number: number >= 3  # of two turns of each of two tasks
    assert skillgit(folder, *given)[0] == 5
    played.faulty = lambda number: False
    played.asked.clear()
    code, out, err = skillgit(folder, *given)
    assert code == 0, err
    assert json.loads(out)["hard"] == 1.0
    assert len(played.asked) == 2
    assert skillgit(folder, *given)[0] == 0
    assert len(played.asked) == 2


def test_react_works_over_tool_calls(tmp_path: Path, skillgit: Run) -> None:
    def call(name: str, **arguments: str) -> dict[str, Any]:
        return {"id": f"c-{name}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}

    write = call("write_file", path="solution.py", content=program_in(RIGHT))
    seen = []

    def target(handler: Handler) -> None:
        turns = handler.body["messages"]
        assert [tool["function"]["name"] for tool in handler.body["tools"]] == ["bash", "write_file"]
        seen.extend(turn["content"] for turn in turns[-1:] if turn["role"] == "tool")
        made = [call for turn in turns for call in turn.get("tool_calls") or ()]
        if len(made) < 2:
            calls = [write] if not made else [call("bash", command="python solution.py")]
            return answer(None, finish="tool_calls", tool_calls=calls)(handler)
        return answer("It is done.")(handler)

    folder = make(tmp_path / "repo", NAME, files())
    with serving(target) as fake:
        given = command(fake, "eval", NAME, "env.mode=react", more=["--json"])
        code, out, err = skillgit(folder, *given)
        assert code == 0, err
        assert json.loads(out)["hard"] == 1.0
        assert sum("[check] the output was saved; My Data!D2 is 6" in text for text in seen) == 2
        paid = fake.calls
        assert skillgit(folder, *given)[0] == 0
        assert fake.calls == paid


def test_an_agent_leaves_its_program_in_its_folder(
    tmp_path: Path, skillgit: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = Program(tmp_path / "bin", "codex")
    ended = '{"type": "turn.completed", "usage": {}}\n'
    program.plan(last="I wrote solution.py.", out=ended, make={"solution.py": program_in(RIGHT)})
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    folder = make(tmp_path / "repo", NAME, files())
    agent = ("model.target_backend=codex_exec", "model.target=m1", "env.workers=1", "train.train_size=0")
    given = [part for text in agent for part in ("--set", text)]
    code, out, err = skillgit(folder, "eval", NAME, "--config", NAME, *given, "--json")
    assert code == 0, err
    record = json.loads(out)
    assert record["hard"] == 1.0
    assert record["target"]["sandbox"] == "workspace-write"
    for found in program.given:
        assert {"attachments/01_input.xlsx", f".agents/skills/{NAME}/SKILL.md"} <= set(found["tree"])
        assert "Changing workbooks by program" not in found["tree"]["task.md"]
        assert "Write the total amount" in found["tree"]["task.md"]
    paid = len(program.given)
    assert skillgit(folder, "eval", NAME, "--config", NAME, *given, "--json")[0] == 0
    assert len(program.given) == paid


def test_the_recipe_has_the_published_values(tmp_path: Path) -> None:
    told: list[str] = []
    config = load_config(tmp_path, NAME, report=told.append)
    assert told == []
    env, train = config.env, config.train
    assert (env.name, env.mode, env.max_turns, env.workers, env.exec_timeout) == (NAME, "multi", 30, 24, 600.0)
    assert (env.split_mode, env.split_dir, env.max_completion_tokens) == ("split_dir", FOLDER, 16384)
    assert (train.train_size, train.batch_size, train.num_epochs) == (80, 40, 4)
    assert (config.gradient.minibatch_size, config.optimizer.learning_rate) == (8, 4)


def test_the_example_skill_is_sound(skillgit: Run) -> None:
    code, out, err = skillgit(packaged("examples"), "lint", f"benchmarks/{NAME}")
    assert (code, out + err) == (0, "1 skill: nothing found\n")
