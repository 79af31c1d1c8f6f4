"""OfficeQA: trained and evaluated against a server on this machine."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import git
from tests.models.server import Handler, body, serving
from tests.tasks.benchmarks.bulletins import call, write_documents, write_items

ROUNDS = "- RULE_A: write amounts without decimals"
PLAIN = "- RULE_B: write rates without a percent sign"


def _said(turns: list[dict[str, Any]], role: str) -> str:
    return "\n".join(str(turn["content"]) for turn in turns if turn["role"] == role)


def _target(turns: list[dict[str, Any]]) -> dict[str, Any]:
    """Lists, finds, reads, and then answers in the form that the skill asks for."""
    question, tools = _said(turns, "user"), [turn["content"] for turn in turns if turn["role"] == "tool"]
    name = "bulletin_1941_02.txt" if "month 2" in question else "bulletin_1941_01.txt"
    what = "Net receipts" if "net receipts" in question else "Rate of interest"
    if not tools:
        return {"tool_calls": [call("glob", pattern="bulletin*"), call("shell", command="ls")]}
    if len(tools) == 2:
        assert tools[0] == name
        assert "no tool 'shell'" in tools[1]
        return {"tool_calls": [call("grep", path=name, pattern=what)]}
    if len(tools) == 3:
        line = int(tools[2].splitlines()[1].partition(":")[0])
        return {"content": "Now the line.", "tool_calls": [call("read", path=name, start=line, limit=1)]}
    value, skill = tools[3].split("|")[2].strip(), _said(turns, "system")
    amount = what == "Net receipts"
    wrong = ".0" if amount and "RULE_A" not in skill else "%" if not amount and "RULE_B" not in skill else ""
    return {"content": f"So <answer>{value}{wrong}</answer>"}


class Server:
    """Both models; `asked` keeps what each was sent."""

    def __init__(self) -> None:
        self.asked: dict[str, list[list[dict[str, Any]]]] = {"t": [], "o": []}

    def __call__(self, handler: Handler) -> None:
        model, turns = handler.body["model"], handler.body["messages"]
        self.asked[model].append(turns)
        if model == "t":
            message = {"content": None, **_target(turns)}
        else:
            text = PLAIN if "RULE_A" in turns[-1]["content"].split("## Failed cases")[0] else ROUNDS
            edits = [{"op": "append", "content": text}]
            message = {"content": json.dumps({"reasoning": "form", "edits": edits})}
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **message}}
        body({"choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 3}})(handler)


@pytest.fixture
def office(tmp_path: Path) -> Path:
    """A repository with the seed skill, the items and the documents."""
    folder = tmp_path / "repo"
    (folder / "skills/officeqa").mkdir(parents=True)
    seed = Path(__file__).parents[3] / "examples/benchmarks/officeqa/SKILL.md"
    (folder / "skills/officeqa/SKILL.md").write_text(seed.read_text())
    write_items(folder / "data/officeqa_split")
    write_documents(folder / "data/officeqa_docs_official")
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "start")
    return folder


def settings(url: str) -> list[str]:
    values = (
        "model.backend=openai_compatible",
        f"model.base_url={url}",
        *("model.target=t", "model.optimizer=o"),
        *("train.num_epochs=2", "train.batch_size=4", "gradient.failure_only=true"),
        *("optimizer.use_slow_update=false", "optimizer.use_meta_skill=false"),
    )
    return ["--config", "officeqa", *[part for value in values for part in ("--set", value)]]


def test_it_is_trained_in_two_steps_and_evaluated_and_a_second_run_pays_nothing(office: Path, skillgit: Any) -> None:
    server = Server()
    with serving(server) as fake:
        code, out, err = skillgit(office, "train", "officeqa", *settings(fake.url), "--json")
        assert code == 0, err
        events = [json.loads(line) for line in out.splitlines()]
        steps = [e for e in events if e["event"] == "step_finished" and e["kind"] == "step"]
        assert [step["verdict"] for step in steps] == ["accept_new_best", "accept_new_best"]
        assert events[-1]["best"]["score"] == 1.0
        paid = fake.calls
        code, out, err = skillgit(office, "eval", "officeqa", *settings(fake.url), "--split", "val", "--json")
        assert code == 0, err
        record = json.loads(out)
        assert fake.calls == paid
    text = json.dumps(record)
    assert '"hard": 0.0' in text
    assert '"lenient": 1.0' in text
    cases = "\n".join(turn["content"] for turn in server.asked["o"][0])
    assert '[call] grep {"path": "bulletin_1941_0' in cases
    assert "[tool] [bulletin_1941_0" in cases
    assert "expected" in cases
    assert not any("ground_truth" in json.dumps(turns) for turns in server.asked["t"])


def test_one_item_without_its_documents_leaves_the_others_as_they_are(office: Path, skillgit: Any) -> None:
    for split in ("train", "val"):
        path = office / f"data/officeqa_split/{split}/items.json"
        rows = json.loads(path.read_text())
        rows[0]["source_files"] = "../../../../etc/passwd"
        path.write_text(json.dumps(rows))
    with serving(Server()) as fake:
        code, _, err = skillgit(office, "train", "officeqa", *settings(fake.url), "--dry-run")
        assert code == 0, err
        assert fake.calls == 0
        code, out, err = skillgit(office, "eval", "officeqa", *settings(fake.url), "--split", "val", "--json")
        assert code == 0, err
        assert fake.calls == 3 * 4
    record = json.loads(out)
    assert (record["n"], record["hard"], record["lenient"]) == (4, 0.0, 0.75)


_AGENT = """#!{python}
import json, pathlib, sys
if "--version" in sys.argv:
    print("codex-cli 1.0"); sys.exit()
task = pathlib.Path("task.md").read_text()
assert "RULE" in pathlib.Path(".agents/skills/officeqa/SKILL.md").read_text()
(document,) = pathlib.Path("attachments").iterdir()
what = "Net receipts" if "net receipts" in task else "Rate of interest"
(line,) = [line for line in document.read_text().splitlines() if what in line]
assert "files in your folder" in task and "`grep`" not in task
answer = "<answer>" + line.split("|")[2].strip() + "</answer>"
open(sys.argv[sys.argv.index("--output-last-message") + 1], "w").write(answer)
print(json.dumps({{"type": "turn.completed", "usage": {{"input_tokens": 50, "output_tokens": 5}}}}))
"""


def test_a_command_line_agent_answers_from_files(
    office: Path, skillgit: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin/codex"
    program.parent.mkdir()
    program.write_text(_AGENT.format(python=sys.executable))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    skill = office / "skills/officeqa/SKILL.md"
    skill.write_text(f"{skill.read_text()}\nRULE\n")
    git(office, "commit", "--quiet", "--all", "-m", "rule")
    agent = ("--config", "officeqa", "--set", "model.target_backend=codex_exec", "--set", "model.target=m1")
    code, out, err = skillgit(office, "eval", "officeqa", *agent, "--split", "val", "--json")
    assert code == 0, err
    assert '"hard": 1.0' in out


def test_a_run_that_was_interrupted_goes_on_within_a_question(office: Path, skillgit: Any) -> None:
    server = Server()
    command = ("eval", "officeqa", "--split", "test", "--json")
    with serving(server) as fake:
        code, _, _ = skillgit(office, *command, *settings(fake.url), "--set", "budget.calls=5")
        assert code == 6
        first = len(server.asked["t"])
        code, _, err = skillgit(office, *command, *settings(fake.url))
        assert code == 0, err
    assert first == 5
    assert len(server.asked["t"]) == 8  # four turns for each of two questions
