"""Command-line agents: what must not get out by them, nor be taken for an answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillgit.errors import TransientModelError

from .test_clients import ASK, CLIENTS, Lab, answer, lines

OWN = {
    "claude_chat": "ANTHROPIC_API_KEY",
    "codex_exec": "CODEX_API_KEY",
    "copilot_chat": "GH_TOKEN",
    "cursor_chat": "CURSOR_API_KEY",
    "opencode": "OPENCODE_KEY",
    "pi": "PI_KEY",
}


@pytest.fixture(params=CLIENTS)
def lab(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    monkeypatch.setattr("skillgit.models.retry._FIRST_BACKOFF", 0.02)
    return Lab(request.param, tmp_path)


def test_a_key_that_an_agent_repeats_is_in_no_answer(lab: Lab) -> None:
    lab.environ[OWN[lab.backend]] = "sk-0123456789"
    lab.program.plan(**answer(lab.backend, "it is sk-0123456789."))
    assert lab.ask().text == f"it is [{OWN[lab.backend]}]."


def test_keys_of_servers_are_not_given_to_codex(tmp_path: Path) -> None:
    lab = Lab("codex_exec", tmp_path)
    servers = ["OPENAI_COMPATIBLE_API_KEY", "TARGET_OPENAI_COMPATIBLE_API_KEY", "AZURE_OPENAI_OPTIMIZER_API_KEY"]
    lab.environ |= dict.fromkeys([*servers, "OPENAI_API_KEY"], "sk-0123456789")
    lab.program.plan(**answer("codex_exec", "Hello."))
    lab.ask()
    assert {name for name, value in lab.program.given[0]["env"].items() if value == "sk-0123456789"} == {
        "OPENAI_API_KEY"
    }


def test_line_breaks_of_unicode_do_not_tear_an_answer(lab: Lab) -> None:
    plan = answer(lab.backend, "one\u2028two\u0085three")
    plan["out"] = plan["out"].replace("\\u2028", "\u2028").replace("\\u0085", "\u0085")
    plan["out"] = '{"type": "system"}\n' + plan["out"]
    lab.program.plan(**plan)
    assert lab.ask().text == "one\u2028two\u0085three"


def test_an_answer_with_a_bad_exit_code_is_none(lab: Lab) -> None:
    error = lab.failure(**{**answer(lab.backend, "Half of it"), "code": 1})
    assert isinstance(error, TransientModelError)


def test_a_busy_provider_gets_fewer_runs_at_once(lab: Lab) -> None:
    lab.program.plans({"err": "429 Too Many Requests", "code": 1}, answer(lab.backend, "Hello."))
    model = lab.model(retries=1)
    assert model.complete(ASK).text == "Hello."
    assert model._throttle.limit == 2


def test_counts_that_are_no_numbers_are_unknown(tmp_path: Path) -> None:
    lab = Lab("opencode", tmp_path)
    step = {"type": "step-finish", "tokens": {"input": "many", "output": None}}
    lab.program.plan(out=lines({"part": {"type": "text", "text": "Hi"}}, {"part": step}))
    usage = lab.ask().usage
    assert (usage.prompt_tokens, usage.completion_tokens) == (None, None)


def test_claude_gets_the_logins_of_a_cloud_only_to_work_there(tmp_path: Path) -> None:
    lab = Lab("claude_chat", tmp_path)
    lab.program.plan(**answer("claude_chat", "Hello."))
    lab.environ |= {"AWS_SECRET_ACCESS_KEY": "aws-012345", "GOOGLE_APPLICATION_CREDENTIALS": "/g.json"}
    for switch, given in ((None, set()), ("CLAUDE_CODE_USE_BEDROCK", {"AWS_SECRET_ACCESS_KEY"})):
        lab.environ |= {switch: "1"} if switch else {}
        lab.ask()
        seen = lab.program.given[-1]["env"]
        assert {name for name in seen if name.startswith(("AWS_", "GOOGLE_"))} == given
