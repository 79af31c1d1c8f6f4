"""`skillgit doctor --models` asks each role's model two tiny questions with known answers; without the flag, none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.git.helpers import Skillgit
from tests.models.program import Program
from tests.models.server import Fake, Move, answer, error, serving

GOOD = (answer("Paris."), answer('{"city": "Paris"}'))
SECRET = "planted-0f9e8d7c6b5a"


@pytest.fixture
def ready(repo_dir: Path, skillgit: Skillgit) -> Path:
    assert skillgit(repo_dir, "init")[0] == 0
    return repo_dir


def configure(folder: Path, **model: Any) -> None:
    (folder / "skillgit.yaml").write_text(json.dumps({"model": model}))


def served(folder: Path, fake: Fake) -> None:
    configure(folder, backend="qwen_chat", base_url=fake.url, target="t", optimizer="o", api_key_env="MINE")


def checked(skillgit: Skillgit, folder: Path) -> tuple[int, dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
    code, out, _ = skillgit(folder, "doctor", "--models", "--json")
    found = json.loads(out)
    return code, {c["name"]: c for c in found["checks"]}, {m["role"]: m for m in found["models"]}


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINE", SECRET)


def test_both_roles_are_asked_twice_and_their_answers_told(ready: Path, skillgit: Skillgit) -> None:
    with serving(*GOOD, *GOOD) as fake:
        served(ready, fake)
        code, checks, models = checked(skillgit, ready)
        assert fake.calls == 4
    assert code == 0
    assert [body["model"] for body in fake.bodies] == ["t", "t", "o", "o"]
    assert ["response_format" in body for body in fake.bodies] == [False, True, False, True]
    assert (checks["target model"]["ok"], checks["optimizer JSON"]["ok"]) == (True, True)
    assert "10 + 2 tokens" in checks["target model"]["detail"]
    target = models["target"]
    assert 0 <= target.pop("latency") < 60
    assert target == {
        "role": "target",
        "backend": "qwen_chat",
        "model": "t",
        "address": fake.url,
        "ok": True,
        "said": "",
        "fix": "",
        "schema": True,
        "schema_said": "",
        "usage": {"prompt_tokens": 10, "completion_tokens": 2, "cached_tokens": 4, "cost": None},
        "calls": 2,
        "program": [],
    }


def test_nobody_is_asked_without_the_flag(ready: Path, skillgit: Skillgit) -> None:
    with serving(*GOOD) as fake:
        served(ready, fake)
        code, out, _ = skillgit(ready, "doctor", "--json")
        assert (code, fake.calls, list(json.loads(out))) == (0, 0, ["checks"])


def test_an_answer_that_is_not_the_known_one_fails(ready: Path, skillgit: Skillgit) -> None:
    with serving(answer("I am a parrot")) as fake:
        served(ready, fake)
        code, checks, models = checked(skillgit, ready)
        assert fake.calls == 2
    assert (code, checks["target model"]["ok"], models["target"]["schema"]) == (1, False, None)
    assert "I am a parrot" in checks["target model"]["detail"]
    assert "model.target" in checks["target model"]["fix"]
    assert "target JSON" not in checks


@pytest.mark.parametrize(
    ("move", "words"),
    [
        (error(401, "no"), "refused the API key"),
        (error(503, "overloaded", {"Retry-After": "30"}), "overloaded"),
        (answer(""), "empty reply"),
    ],
)
def test_a_failure_is_named_with_what_to_do_and_not_repeated(
    ready: Path, skillgit: Skillgit, move: Move, words: str
) -> None:
    with serving(move) as fake:
        served(ready, fake)
        code, checks, models = checked(skillgit, ready)
        assert fake.calls == 2
    assert (code, checks["optimizer model"]["ok"], models["optimizer"]["calls"]) == (1, False, 1)
    assert words in checks["optimizer model"]["detail"]
    assert checks["optimizer model"]["fix"]


@pytest.mark.parametrize("second", [answer("Paris"), answer('{"fruit": 1}'), error(500, "grammar")])
def test_a_model_without_json_is_told_and_no_failure(ready: Path, skillgit: Skillgit, second: Move) -> None:
    with serving(GOOD[0], second, GOOD[0], answer('```json\n{"city": "Paris"}\n```')) as fake:
        served(ready, fake)
        code, checks, models = checked(skillgit, ready)
    assert (code, checks["target JSON"]["ok"], models["target"]["schema"]) == (0, None, False)
    assert models["optimizer"]["schema"] is True


def test_no_secret_is_told(ready: Path, skillgit: Skillgit) -> None:
    with serving(error(400, f"bad header Bearer {SECRET} {SECRET}")) as fake:
        served(ready, fake)
        texts = [skillgit(ready, "doctor", "--models", *more) for more in ((), ("--json",))]
        assert fake.calls == 4
    assert not any(SECRET in out + err for _, out, err in texts)


def test_nothing_is_asked_when_something_is_missing(ready: Path, skillgit: Skillgit) -> None:
    with serving(*GOOD) as fake:
        configure(ready, backend="qwen_chat", base_url=fake.url, target="t")
        code, checks, models = checked(skillgit, ready)
        assert fake.calls == 2
    assert (code, models["optimizer"]["calls"]) == (1, 0)
    assert checks["optimizer model"]["fix"] == "--set model.optimizer=NAME"
    assert checks["target model"]["ok"] is True


def test_a_command_line_agent_is_told_with_version_and_login(
    ready: Path, tmp_path: Path, skillgit: Skillgit, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = Program(tmp_path / "bin", "claude")
    usage = {"input_tokens": 5, "output_tokens": 1}
    said = {"type": "result", "result": "Paris", "usage": usage, "total_cost_usd": 0.0123}
    formed = {"type": "result", "result": "", "structured_output": {"city": "Paris"}}
    program.plans({"out": "2.1.7 (Claude Code)"}, {"out": json.dumps(said)}, {"out": json.dumps(formed)})
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    configure(ready, target_backend="claude_chat", optimizer_backend="handoff")
    code, checks, models = checked(skillgit, ready)
    assert code == 0
    assert len(program.given) == 3
    assert checks["target program"]["detail"] == f"{tmp_path}/bin/claude, 2.1.7 (Claude Code)"
    assert checks["target login"]["detail"] == "by ANTHROPIC_API_KEY"
    assert "5 + 1 tokens, $0.0123" in checks["target model"]["detail"]
    assert models["target"]["schema"] is True
    assert [need["name"] for need in models["target"]["program"]] == ["program", "login"]


def test_people_and_scripts_are_not_asked(ready: Path, skillgit: Skillgit) -> None:
    configure(ready, backend="scripted", script="script.json", optimizer_backend="handoff")
    code, checks, models = checked(skillgit, ready)
    assert code == 0
    assert (checks["target model"]["ok"], checks["optimizer model"]["ok"]) == (None, None)
    assert "a person answers" in checks["optimizer model"]["detail"]
    assert not (ready / ".git/skillgit-handoff").exists()
    assert {found["calls"] for found in models.values()} == {0}


def test_a_local_model_that_is_not_there_is_not_fetched(
    ready: Path, tmp_path: Path, skillgit: Skillgit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILLGIT_HOME", str(tmp_path / "data"))
    monkeypatch.setattr("skillgit.models.readiness.needs.find_spec", lambda name: name)
    name = "qwen2.5-coder-0.5b"
    configure(ready, backend="local", target=name, optimizer=name)
    code, checks, _ = checked(skillgit, ready)
    assert (code, checks["target model"]["ok"]) == (0, None)
    assert "nothing was asked" in checks["target model"]["detail"]
    assert not (tmp_path / "data").exists()


def test_a_configuration_that_cannot_be_read_is_told_once(ready: Path, skillgit: Skillgit) -> None:
    (ready / "skillgit.yaml").write_text("model: {backnd: x}")
    code, checks, models = checked(skillgit, ready)
    assert (code, checks["configuration"]["ok"], models) == (1, False, {})
