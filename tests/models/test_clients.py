"""Command-line agents as models: what they are given, what is read of them, and every way they can fail."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from skillgit.errors import ContextLengthError, ModelConfigError, ModelError, TransientModelError
from skillgit.models import registry, retry
from skillgit.models.base import Message, ModelSpec, Reply, Request
from skillgit.models.clients.claude import Claude
from skillgit.models.clients.codex import Codex
from skillgit.models.clients.copilot import Copilot
from skillgit.models.clients.cursor import Cursor
from skillgit.models.clients.model import CommandModel
from skillgit.models.clients.opencode import OpenCode
from skillgit.models.clients.pi import Pi

from .program import Program

ASK = Request((Message("system", "Be brief."), Message("user", "Hi")))
SCHEMA = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
CLIENTS = {
    "claude_chat": Claude(),
    "codex_exec": Codex(),
    "copilot_chat": Copilot(),
    "cursor_chat": Cursor(),
    "opencode": OpenCode(),
    "pi": Pi(),
}


def lines(*events: Any) -> str:
    return "".join(f"{json.dumps(event)}\n" for event in events)


def answer(backend: str, text: str) -> dict[str, Any]:
    """What the program does to answer `text`, in the form that its makers document."""
    if backend == "claude_chat":
        usage = {"input_tokens": 5, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 2, "output_tokens": 4}
        return {"out": json.dumps({"type": "result", "is_error": False, "result": text, "usage": usage})}
    if backend == "codex_exec":
        usage = {"input_tokens": 10, "cached_input_tokens": 3, "output_tokens": 4}
        item = {"type": "item.completed", "item": {"type": "agent_message", "text": "draft"}}
        return {"out": lines(item, {"type": "turn.completed", "usage": usage}), "last": text}
    if backend == "copilot_chat":
        half = len(text) // 2
        data = [{"type": "assistant.message", "data": {"content": text, "outputTokens": 4}}]
        return {"out": lines({"type": "session.start", "data": {}}, *data), "half": half}
    if backend == "cursor_chat":
        return {"out": lines({"type": "result", "subtype": "success", "is_error": False, "result": text})}
    if backend == "opencode":
        step = {"type": "step-finish", "tokens": {"input": 10, "output": 4}, "cost": 0.5}
        return {"out": lines({"type": "text", "part": {"type": "text", "text": text}}, {"part": step})}
    message = {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": text}]}
    usage = {"input": 10, "output": 4, "cacheRead": 3}
    return {"out": lines({"type": "message_end", "message": {**message, "usage": usage}})}


class Lab:
    """One client with a stand-in for its program."""

    def __init__(self, backend: str, folder: Path) -> None:
        self.backend, self.client = backend, CLIENTS[backend]
        self.program = Program(folder / "bin", self.client.program)
        self.environ = {
            "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
            "HOME": str(folder),
            "MY_SECRET": "s3cret-value",
        }

    def model(self, model: str = "m1", **changes: Any) -> CommandModel:
        values = {"role": "target", "backend": self.backend, "model": model, "timeout": 20.0, "retries": 0, **changes}
        return CommandModel(ModelSpec(**values), self.client, self.environ)

    def ask(self, request: Request = ASK, **changes: Any) -> Reply:
        return self.model(**changes).complete(request)

    def failure(self, **plan: Any) -> ModelError:
        self.program.plan(**plan)
        with pytest.raises(ModelError) as caught:
            self.ask()
        return caught.value


@pytest.fixture(params=CLIENTS)
def lab(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    monkeypatch.setattr(retry, "_FIRST_BACKOFF", 0.02)
    return Lab(request.param, tmp_path)


def test_an_answer_comes_back_with_what_was_reported(lab: Lab) -> None:
    lab.program.plan(**answer(lab.backend, "Hello."))
    reply = lab.ask()
    assert (reply.text, reply.finish) == ("Hello.", "stop")
    expected = {
        "claude_chat": (10, 4, 3),
        "codex_exec": (10, 4, 3),
        "copilot_chat": (None, 4, None),
        "cursor_chat": (None, None, None),
        "opencode": (10, 4, None),
        "pi": (10, 4, 3),
    }
    used = reply.usage
    assert (used.prompt_tokens, used.completion_tokens, used.cached_tokens) == expected[lab.backend]
    assert reply.reasoning == ("hm" if lab.backend == "pi" else "")


def test_the_prompt_is_on_standard_input_and_no_tool_is_allowed(lab: Lab) -> None:
    lab.program.plan(**answer(lab.backend, "Hello."))
    secretive = Request((Message("system", "Be brief."), Message("user", "Hi\n\nüñï " + "x" * 20_000)))
    lab.ask(secretive, model="m7")
    (given,) = lab.program.given
    assert "üñï" in given["stdin"]
    assert not any("üñï" in arg or len(arg) > 1000 for arg in given["args"])
    assert given["args"][given["args"].index("--model") + 1] == "m7"
    folder = given["cwd"]
    text = " ".join(given["args"]).replace(folder, "DIR")
    closed = {
        "claude_chat": "-p --output-format json --permission-mode dontAsk --tools  --setting-sources  "
        "--strict-mcp-config --disable-slash-commands --no-session-persistence --system-prompt-file DIR/system.md "
        "--model m7",
        "codex_exec": "exec --json --ephemeral --ignore-rules --skip-git-repo-check --color never --sandbox read-only "
        '-c approval_policy="never" -c web_search="disabled" --ignore-user-config --cd DIR '
        "--output-last-message DIR/answer.txt --model m7 -",
        "copilot_chat": "--output-format json --stream off --no-color --log-level none --no-auto-update "
        "--disable-builtin-mcps --no-custom-instructions --available-tools= -C DIR --model m7",
        "cursor_chat": "-p --output-format json --trust --workspace DIR --mode ask --model m7",
        "opencode": "run --pure --format json --title skillgit --dir DIR --model m7",
        "pi": "-p --mode json --no-session --no-tools --no-skills --no-context-files --no-extensions "
        "--no-prompt-templates --no-themes --offline --system-prompt DIR/system.md --model m7",
    }
    assert text == closed[lab.backend]
    told = given["stdin"] + given["files"].get("system.md", "")
    assert "Be brief." in told


def test_it_runs_in_an_empty_folder_that_is_gone_afterwards(lab: Lab) -> None:
    lab.program.plan(**answer(lab.backend, "Hello."))
    lab.ask()
    (given,) = lab.program.given
    assert set(given["files"]) <= {"system.md", "schema.json"}
    assert not Path(given["cwd"]).exists()


def test_its_environment_holds_its_own_login_and_no_other_secret(lab: Lab) -> None:
    lab.program.plan(**answer(lab.backend, "Hello."))
    own = {"claude_chat": "ANTHROPIC_API_KEY", "codex_exec": "CODEX_API_KEY", "copilot_chat": "GH_TOKEN"}
    own |= {"cursor_chat": "CURSOR_API_KEY", "opencode": "OPENCODE_KEY", "pi": "PI_KEY"}
    lab.environ |= dict.fromkeys([*own.values(), "DATABASE_PASSWORD"], "value-1")
    lab.ask()
    seen = lab.program.given[0]["env"]
    assert seen[own[lab.backend]] == "value-1"
    # These two are clients of every provider.
    shared = {"ANTHROPIC_API_KEY"} if lab.backend in ("opencode", "pi") else set()
    others = set(own.values()) - {own[lab.backend]} - shared
    assert not ({*others, "DATABASE_PASSWORD", "MY_SECRET"} & set(seen))


def test_the_models_own_default_is_kept_when_none_is_named(lab: Lab) -> None:
    lab.program.plan(**answer(lab.backend, "Hello."))
    lab.ask(model=lab.backend)
    assert "--model" not in lab.program.given[0]["args"]


def test_an_effort_is_passed_on(lab: Lab) -> None:
    if lab.backend == "cursor_chat":
        pytest.skip("it has no option for it")
    lab.program.plan(**answer(lab.backend, "Hello."))
    lab.ask(Request(ASK.messages, effort="low"))
    assert any("low" in arg for arg in lab.program.given[0]["args"])


def test_a_schema_is_enforced_or_asked_for_in_words(lab: Lab) -> None:
    lab.program.plan(**answer(lab.backend, '{"ok": true}'))
    assert json.loads(lab.ask(Request(ASK.messages, schema=SCHEMA)).text) == {"ok": True}
    (given,) = lab.program.given
    if lab.backend == "claude_chat":
        assert json.loads(given["args"][given["args"].index("--json-schema") + 1]) == SCHEMA
    elif lab.backend == "codex_exec":
        assert json.loads(given["files"]["schema.json"]) == SCHEMA
    else:
        assert json.dumps(SCHEMA) in given["stdin"]


def test_a_conversation_is_written_out(lab: Lab) -> None:
    lab.program.plan(**answer(lab.backend, "Hello."))
    turns = (Message("user", "one"), Message("assistant", "two"), Message("user", "three"))
    lab.ask(Request(turns))
    told = lab.program.given[0]["stdin"]
    assert told.index("## user\n\none") < told.index("## assistant\n\ntwo") < told.index("## user\n\nthree")


def test_tools_are_refused(lab: Lab) -> None:
    with pytest.raises(ModelConfigError, match="no tools"):
        lab.ask(Request(ASK.messages, tools=({"type": "function"},)))


# --- failures


def test_an_exit_code_is_no_answer(lab: Lab) -> None:
    plan = answer(lab.backend, "Hello.")
    error = lab.failure(**{**plan, "out": "", "last": None, "code": 3, "err": "boom"})
    assert isinstance(error, TransientModelError)
    assert "exit code 3" in error.what
    assert "boom" in error.why


@pytest.mark.parametrize(
    "words", ["Error: Not logged in. Please run /login", "401 Unauthorized", "No API key found for provider"]
)
def test_a_missing_login_is_named_and_not_tried_again(lab: Lab, words: str) -> None:
    lab.program.plan(err=words, code=1)
    with pytest.raises(ModelConfigError, match="not logged in") as caught:
        lab.ask(retries=3)
    assert f"run {lab.client.program} once" in caught.value.fix
    assert len(lab.program.given) == 1


def test_a_login_message_with_a_good_exit_code_is_no_answer() -> None:
    assert Claude().read(_done(json.dumps({"type": "result", "is_error": True, "result": "Not logged in"})), None) == (
        "Not logged in"
    )


def _done(out: str) -> Any:
    from skillgit.models.clients.process import Finished

    return Finished(0, out, "")


def test_an_unknown_model_and_a_full_context_are_told_apart(lab: Lab) -> None:
    assert isinstance(lab.failure(err="The model 'm1' does not exist", code=1), ModelConfigError)
    assert isinstance(lab.failure(err="prompt is too long: 250000 tokens", code=1), ContextLengthError)
    assert "update" in lab.failure(err="error: unknown option '--mode'", code=2).fix


def test_an_empty_reply_is_tried_again(lab: Lab) -> None:
    lab.program.plan(**answer(lab.backend, "  "))
    with pytest.raises(TransientModelError, match="empty reply"):
        lab.ask(retries=2)
    assert len(lab.program.given) == 3


def test_output_that_is_no_json_is_no_answer(lab: Lab) -> None:
    error = lab.failure(out="Welcome to the agent!\n{broken", last=None)
    assert isinstance(error, TransientModelError)


def test_a_megabyte_comes_back_whole(lab: Lab) -> None:
    text = "word " * 210_000 + "end"
    lab.program.plan(**answer(lab.backend, text))
    assert lab.ask().text == text


def test_terminal_escapes_are_removed(lab: Lab) -> None:
    plan = answer(lab.backend, "Hello.")
    plan["out"] = "\x1b[?25l\x1b]0;title\x07" + plan["out"].replace("\n", "\x1b[0m\r\n")
    lab.program.plan(**plan)
    assert lab.ask().text == "Hello."


def test_a_program_that_hangs_is_ended_in_time(lab: Lab) -> None:
    lab.program.plan(**answer(lab.backend, "late"), sleep=60)
    started = time.monotonic()
    with pytest.raises(TransientModelError, match="gave no answer within"):
        lab.ask(timeout=0.6, retries=3)
    assert time.monotonic() - started < 10


def test_a_child_left_behind_neither_delays_nor_lives_on(lab: Lab) -> None:
    lab.program.plan(**answer(lab.backend, "Hello."), fork=True)
    started = time.monotonic()
    assert lab.ask().text == "Hello."
    assert time.monotonic() - started < 15
    child = int((lab.program.folder / "child").read_text())
    for _ in range(100):
        if not _alive(child):
            return
        time.sleep(0.05)
    pytest.fail("the child lives on")


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def test_a_program_that_is_not_there_is_named(lab: Lab, tmp_path: Path) -> None:
    lab.environ["PATH"] = str(tmp_path / "nowhere")
    with pytest.raises(ModelConfigError, match=f"{lab.client.program} was not found"):
        lab.model()


def test_a_temperature_that_cannot_be_passed_on_is_refused(lab: Lab) -> None:
    with pytest.raises(ModelConfigError, match="takes no temperature") as caught:
        lab.model(temperature=0.0)
    assert "leave model.target_temperature blank" in caught.value.fix


def test_a_variable_says_where_the_program_is_unless_the_configuration_does(lab: Lab, tmp_path: Path) -> None:
    for number, name in enumerate(lab.client.path_variables):
        other = Program(tmp_path / f"other{number}", "renamed")
        other.plan(**answer(lab.backend, name))
        lab.environ[name] = str(other.folder / "renamed")
        assert lab.ask().text == name
        lab.program.plan(**answer(lab.backend, "configured"))
        configured = str(lab.program.folder / lab.client.program)
        assert lab.ask(options={"client": {"path": configured}}).text == "configured"
        del lab.environ[name]


def test_a_key_in_an_error_is_blotted_out(lab: Lab) -> None:
    own = {"claude_chat": "ANTHROPIC_API_KEY", "codex_exec": "CODEX_API_KEY", "copilot_chat": "GH_TOKEN"}
    own |= {"cursor_chat": "CURSOR_API_KEY", "opencode": "OPENCODE_KEY", "pi": "PI_KEY"}
    lab.environ[own[lab.backend]] = "sk-0123456789"
    error = lab.failure(err="bad thing with sk-0123456789 in it", code=1)
    assert "sk-0123456789" not in str(error)
    assert own[lab.backend] in error.why


def test_every_client_is_a_backend(monkeypatch: pytest.MonkeyPatch, lab: Lab) -> None:
    monkeypatch.setenv("PATH", lab.environ["PATH"])
    model = registry.build(ModelSpec("target", lab.backend, "m"))
    assert isinstance(model, CommandModel)
    assert lab.backend in str(model.settings())


# --- details of single programs


def test_claude_structured_output_wins_over_its_words(tmp_path: Path) -> None:
    lab = Lab("claude_chat", tmp_path)
    result = {"type": "result", "is_error": False, "result": "done", "structured_output": {"ok": True}}
    lab.program.plan(out=json.dumps([{"type": "system"}, {**result, "total_cost_usd": 0.25}]))
    reply = lab.ask(Request(ASK.messages, schema=SCHEMA))
    assert (json.loads(reply.text), reply.usage.cost) == ({"ok": True}, 0.25)


def test_codex_tells_why_a_turn_failed_and_takes_the_last_message_without_a_file(tmp_path: Path) -> None:
    lab = Lab("codex_exec", tmp_path)
    error = lab.failure(out=lines({"type": "turn.failed", "error": {"message": "stream broke"}}), code=1)
    assert "stream broke" in error.why
    lab.program.plan(out=lines({"type": "item.completed", "item": {"type": "agent_message", "text": "so"}}))
    assert lab.ask().text == "so"


def test_codex_reads_the_users_configuration_only_for_a_named_profile(tmp_path: Path) -> None:
    lab = Lab("codex_exec", tmp_path)
    lab.program.plan(**answer("codex_exec", "Hello."))
    lab.ask(options={"client": {"profile": "work"}})
    args = lab.program.given[0]["args"]
    assert "--ignore-user-config" not in args
    assert args[args.index("--profile") + 1] == "work"


def test_opencode_and_pi_tell_what_their_provider_said(tmp_path: Path) -> None:
    lab = Lab("opencode", tmp_path / "a")
    assert "no luck" in lab.failure(out=lines({"type": "error", "error": {"data": {"message": "no luck"}}})).why
    lab = Lab("pi", tmp_path / "b")
    message = {"role": "assistant", "content": [], "errorMessage": "no luck"}
    assert "no luck" in lab.failure(out=lines({"type": "message_end", "message": message})).why


def test_cursor_denies_every_tool_in_a_configuration_of_its_own(tmp_path: Path) -> None:
    lab = Lab("cursor_chat", tmp_path)
    lab.program.plan(**answer("cursor_chat", "Hello."))
    lab.ask()
    env = lab.program.given[0]["env"]
    assert env["CURSOR_CONFIG_DIR"] == env["CURSOR_DATA_DIR"] == f"{lab.program.given[0]['cwd']}/cursor"
