"""SkillOpt's own files and command lines, unchanged, against a real HTTP server on the loopback interface."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from skillgit.models.base import Message, Request
from tests.conftest import git
from tests.models.server import Fake, Handler, body, serving
from tests.train.lab import RULE, append, kind_of, words

FILES = Path(__file__).parents[1] / "data/published"
SKILL = "# Answering\n\nAnswer with one line.\n"
INITIAL = "skillopt/envs/searchqa/skills/initial.md"
Run = Callable[..., tuple[int, str, str]]


def both_roles(handler: Handler) -> None:
    """One model plays both roles, as in the published files; what is asked tells them apart."""
    turns = tuple(Message(turn["role"], turn["content"]) for turn in handler.body["messages"])
    schema = handler.body.get("response_format", {}).get("json_schema", {}).get("schema")
    request = Request(turns, schema=schema)
    text = target(request) if schema is None else json.dumps(optimizer(request))
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    body({"choices": [choice], "usage": {"prompt_tokens": 100, "completion_tokens": 5}})(handler)


def target(request: Request) -> str:
    asked = next(line for line in request.messages[-1].content.splitlines() if "capital of" in line)
    place = asked.split("capital of ")[1].rstrip("?")
    return f"<answer>City {place}</answer>" if RULE["A"] in request.messages[0].content else "unknown"


def optimizer(request: Request) -> dict[str, Any]:
    assert kind_of(request) == "analyst"
    return append("- idle") if RULE["A"] in words(request) else append(RULE["A"])


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Fake]:
    with serving(both_roles) as fake:
        monkeypatch.setenv("OPENAI_COMPATIBLE_BASE_URL", fake.url)
        monkeypatch.setenv("OPENAI_COMPATIBLE_API_KEY", "sk-from-the-environment")
        yield fake


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository laid out as SkillOpt's: a benchmark's configuration, its split folder, its initial skill."""
    folder = tmp_path / "project"
    (folder / INITIAL).parent.mkdir(parents=True)
    (folder / INITIAL).write_text(SKILL)
    (folder / "configs/searchqa").mkdir(parents=True)
    for name in ("base.yaml", "searchqa.yaml", "flat.yaml"):
        shutil.copy(FILES / name, folder / "configs/searchqa" / name)
    for split, count in (("train", 8), ("val", 4), ("test", 5)):
        items = [
            {
                "id": f"{split}{n}",
                "question": f"What is the capital of {split}land{n}?",
                "context": f"[DOC] {split}land{n} is a country.",
                "answers": [f"City {split}land{n}"],
            }
            for n in range(count)
        ]
        place = folder / "data/searchqa_split" / split
        place.mkdir(parents=True)
        (place / "items.json").write_text(json.dumps(items))
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "start")
    return folder


QUICK_START = (
    "train --config configs/searchqa/searchqa.yaml --cfg-options train.num_epochs=1 train.batch_size=4 --out_root"
)


def test_the_documented_command_line_runs_unchanged(project: Path, skillgit: Run, server: Fake, tmp_path: Path) -> None:
    out = tmp_path / "out"
    code, shown, err = skillgit(project, *QUICK_START.split(), str(out))
    assert code == 0, err
    assert server.paths[0] == "/v1/chat/completions"
    assert {sent["model"] for sent in server.bodies} == {"gpt-5.5"}
    assert {headers["authorization"] for headers in server.headers} == {"Bearer sk-from-the-environment"}
    assert "copied" in shown
    for told in ("'openai_chat' is read as the backend that model.backend names", "model.minimax_model has no effect"):
        assert told in err

    history = json.loads((out / "history.json").read_text())
    # The first step learns the rule and reaches the ceiling.
    assert [(entry["step"], entry["action"], entry["best_score"]) for entry in history] == [(1, "accept_new_best", 1.0)]
    assert history[0]["current_score"] == history[0]["candidate_gate_score"] == history[0]["selection_hard"] == 1.0
    branch = next(line for line in git(project, "branch", "--format=%(refname:short)").split() if "train/" in line)
    assert branch.startswith("train/searchqa/")
    held = [git(project, "show", f"{commit}:{INITIAL}") + "\n" for commit in (f"{branch}~1", branch)]
    copies = [(out / f"skills/skill_v{n:04d}.md").read_text() for n in range(2)]
    assert copies == held == [SKILL, f"{SKILL}\n{RULE['A']}\n"]
    assert (out / "best_skill.md").read_text() == held[-1]
    assert sorted(path.name for path in out.iterdir()) == ["best_skill.md", "history.json", "skills"]
    assert git(project, "status", "--porcelain") == ""


def test_a_skill_file_is_measured_as_documented(project: Path, skillgit: Run, server: Fake, tmp_path: Path) -> None:
    trained = tmp_path / "best_skill.md"
    trained.write_text(f"{SKILL}\n{RULE['A']}\n")
    given = ("--config", "configs/searchqa/searchqa.yaml", "--skill", str(trained), "--split", "valid_unseen")
    code, out, err = skillgit(project, "eval", *given)
    assert code == 0, err
    assert out.splitlines()[0] == "test hard 1.000 soft 1.000 lenient 1.000 n=5"
    assert server.calls == 5
    code, out, _ = skillgit(project, "eval", *given[:3], INITIAL, "--split", "all", "--test_env_num", "2")
    assert [line.split()[0] for line in out.splitlines()[:3]] == ["train", "val", "test"]
    assert out.splitlines()[2] == "test hard 0.000 soft 0.000 lenient 0.000 n=2"
    code, _, err = skillgit(project, "eval", *given[:5], "tset")
    assert (code, 'there is no split "tset"' in err) == (2, True)


def test_flat_flags_reach_the_run_and_win_over_cfg_options(project: Path, skillgit: Run, server: Fake) -> None:
    flags = "--batch_size 8 --num_epochs 1 --edit_budget 1 --use_gate 0 --eval_test False --sel_env_num 2"
    config = ("--config", "configs/searchqa/searchqa.yaml", "--cfg-options", "batch_size=4")
    code, out, err = skillgit(project, "train", *config, *flags.split(), "--json")
    assert code == 0, err
    told = [json.loads(line) for line in out.splitlines()]
    settings = told[0]["config"]
    assert (settings["train"]["batch_size"], settings["optimizer"]["learning_rate"]) == (8, 1)
    assert (settings["evaluation"]["use_gate"], settings["evaluation"]["eval_test"]) == (False, False)
    assert told[0]["tasks"]["val"] == 2
    assert "--set: edit_budget is read as optimizer.learning_rate" in err


def test_a_flat_file_runs(project: Path, skillgit: Run, server: Fake) -> None:
    code, out, err = skillgit(project, "train", "--config", "configs/searchqa/flat.yaml", "--json")
    assert code == 0, err
    assert json.loads(out.splitlines()[-1])["best"]["score"] == 1.0
    assert "edit_budget is read as optimizer.learning_rate" in err


def test_a_label_without_its_credentials_stops_before_anything_is_paid(
    project: Path, skillgit: Run, server: Fake
) -> None:
    given = ("--config", "configs/searchqa/searchqa.yaml", "--backend", "azure_openai")
    code, _, err = skillgit(project, "train", *given)
    assert code == 5
    assert "needs an API key" in err
    assert "AZURE_OPENAI_ENDPOINT" in err
    assert server.calls == 0
    assert git(project, "for-each-ref", "--format=%(refname)") == "refs/heads/main"


def test_a_key_on_the_command_line_is_refused_and_not_repeated(project: Path, skillgit: Run) -> None:
    given = ("--config", "configs/searchqa/searchqa.yaml", "--azure_api_key", "hunter2")
    code, out, err = skillgit(project, "train", *given)
    assert (code, "would put a secret" in err, "hunter2" in out + err) == (2, True, False)


def test_the_copy_follows_compaction_and_epoch_ends(project: Path, skillgit: Run, tmp_path: Path) -> None:
    """The text of a step is the one its epoch's end left behind, compaction included."""
    script = {
        "rules": [
            {
                "role": "optimizer",
                "system": "Make it shorter",
                "reply": {"edits": [{"op": "delete", "target": "- idle"}]},
            },
            {"role": "optimizer", "reply": append("- idle", RULE["A"].replace("RULE_A", "RULE_C"))},
        ],
        "default": "City valland0",
    }
    (project / "script.json").write_text(json.dumps(script))
    out = tmp_path / "out"
    settings = "model.backend=scripted model.script=script.json train.num_epochs=1 optimizer.use_compaction=true"
    given = ("--config", "configs/searchqa/searchqa.yaml", "--cfg-options", *settings.split(), "use_gate=false")
    code, _, err = skillgit(project, "train", *given, "--out_root", str(out))
    assert code == 0, err
    branch = git(project, "for-each-ref", "--format=%(refname)", "refs/heads/train")
    assert git(project, "log", "--format=%s", f"main..{branch}").count("\n") == 1, "a step and a compaction"
    assert (out / "skills/skill_v0001.md").read_text() == git(project, "show", f"{branch}:{INITIAL}") + "\n"
    assert "- idle" not in (out / "skills/skill_v0001.md").read_text()
