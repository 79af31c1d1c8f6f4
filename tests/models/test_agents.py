"""Command-line agents as targets: what they find in their folder, what they may do there, and what is told of it."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skillgit.errors import ModelConfigError, ModelError, TransientModelError
from skillgit.models import registry, retry
from skillgit.models.base import ExecTarget, ModelSpec, Request, Workspace
from skillgit.models.clients import builders
from skillgit.models.clients.base import Call
from skillgit.models.clients.cursor import _permissions
from skillgit.models.clients.trace import Step, summary
from skillgit.models.clients.workspace import fill

from .agents import AGENTS, EDITS, FILES, MESSAGES, WORK, Lab, answer
from .test_clients import _alive, lines


@pytest.fixture(params=AGENTS)
def lab(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    monkeypatch.setattr(retry, "_FIRST_BACKOFF", 0.02)
    return Lab(request.param, tmp_path)


# --- the workspace


def test_the_folder_holds_the_skill_the_task_and_its_attachments(lab: Lab) -> None:
    tree = lab.given(WORK)["tree"]
    places = [".agents/skills", *([".claude/skills"] if lab.backend == "claude_code_exec" else [])]
    skill = {f"{place}/greeter/{name}" for place in places for name in FILES}
    assert set(tree) == skill | {"task.md", "ATTACHMENTS.md", "attachments/01_notes_of_3.txt"}
    assert tree[".agents/skills/greeter/SKILL.md"] == "Greet.\n"
    assert tree["task.md"] == "Be brief.\n\n---\n\nWho is it?"
    assert tree["attachments/01_notes_of_3.txt"] == "Ada"
    assert "`attachments/01_notes_of_3.txt`: ../notes of 3.txt" in tree["ATTACHMENTS.md"]


def test_the_prompt_names_the_files_and_holds_neither_task_nor_skill(lab: Lab) -> None:
    told = lab.given(WORK)["stdin"]
    for part in ("`task.md`", "`.agents/skills/greeter/SKILL.md`", "ATTACHMENTS.md", "<answer>", "Change no file"):
        assert part in told
    assert not any(part in told for part in ("Greet.", "Who is it?", "Be brief", "Ada"))
    told = lab.given(EDITS)["stdin"]
    assert "make them here" in told
    assert "Change no file" not in told
    assert "ATTACHMENTS" not in told


def test_files_of_the_call_and_of_the_program_are_not_in_the_workspace(lab: Lab) -> None:
    given = lab.given(WORK)
    assert given["cwd"].endswith("/work")
    assert not Path(given["cwd"]).parent.exists()
    assert set(given["files"]) == {"task.md", "ATTACHMENTS.md"}


@pytest.mark.parametrize("name", ["../out.md", "/etc/out.md", "a/../../out.md"])
def test_a_file_that_leads_out_of_the_skill_is_refused(tmp_path: Path, name: str) -> None:
    lab = Lab("codex_exec", tmp_path)
    with pytest.raises(ModelConfigError, match="no path inside a skill"):
        lab.ask(Workspace("greeter", "v", {"SKILL.md": b"", name: b"x"}))
    assert not list(tmp_path.rglob("out.md"))


def test_odd_names_of_skill_and_attachments_become_plain_ones(tmp_path: Path) -> None:
    lab = Lab("codex_exec", tmp_path)
    odd = {"/etc/passwd": "1", "..": "2", "a\\b\n.txt": "3", "x" * 300: "4", ".hidden": "5"}
    tree = lab.given(Workspace("../../my skill", "v", {"SKILL.md": b"s"}, attachments=odd))["tree"]
    names = ["01_passwd", "02_file", "03_b_.txt", f"04_{'x' * 80}", "05_hidden"]
    assert {name for name in tree if name.startswith("attachments/")} == {f"attachments/{name}" for name in names}
    assert ".agents/skills/my_skill/SKILL.md" in tree
    assert len(tree["ATTACHMENTS.md"].strip().splitlines()) == 4 + len(names)


def test_without_a_workspace_it_answers_without_tools(lab: Lab) -> None:
    lab.program.plan(**answer(lab.backend, "Ada"))
    assert lab.ask(None).text.endswith("Ada")
    (given,) = lab.program.given
    assert "Who is it?" in given["stdin"]
    assert ".agents" not in " ".join(given["tree"])


def test_programs_of_the_skill_can_be_run_and_other_files_cannot(tmp_path: Path) -> None:
    fill(tmp_path / "work", replace(WORK, executables=frozenset({"scripts/logo.bin"})), "task", (".agents/skills",))
    skill = tmp_path / "work/.agents/skills/greeter"
    modes = {name: (skill / name).stat().st_mode & 0o777 for name in FILES}
    assert modes == {"SKILL.md": 0o644, "references/more.md": 0o644, "scripts/logo.bin": 0o755}


# --- what it may do

CODEX = (
    "exec --json --ephemeral --ignore-rules --skip-git-repo-check --color never --sandbox {} "
    '-c approval_policy="never" -c web_search="{}" -c sandbox_workspace_write.network_access={} '
    "-c sandbox_workspace_write.exclude_slash_tmp=true -c sandbox_workspace_write.exclude_tmpdir_env_var=true "
    '-c shell_environment_policy.inherit="core" --ignore-user-config --cd DIR/work '
    "--output-last-message DIR/answer.txt --model m1 -"
)
CLAUDE = (
    "-p --output-format stream-json --verbose --permission-mode {} --tools {} --setting-sources  "
    "--strict-mcp-config --disable-slash-commands --no-session-persistence --model m1"
)
COPILOT = (
    "--output-format json --stream off --no-color --log-level none --no-auto-update --disable-builtin-mcps "
    "--no-custom-instructions --no-ask-user {} -C DIR/work --model m1"
)
CURSOR = "-p --output-format stream-json --trust --workspace DIR/work --sandbox {} --model m1"
CODEX_EDITS, CLAUDE_EDITS = ("workspace-write", "disabled", "false"), ("acceptEdits", "Read,Glob,Grep,Edit,Write")
CASES: list[tuple[str, Workspace, dict[str, Any], str, str]] = [
    ("codex_exec", WORK, {}, CODEX.format("read-only", "disabled", "false"), "read-only"),
    ("codex_exec", EDITS, {}, CODEX.format(*CODEX_EDITS), "workspace-write"),
    (
        "codex_exec",
        WORK,
        {"network_access": True, "web_search": True},
        CODEX.format("workspace-write", "live", "true"),
        "workspace-write, network, web search",
    ),
    (
        "codex_exec",
        WORK,
        {"sandbox": "danger-full-access"},
        CODEX.format("danger-full-access", "disabled", "false"),
        "danger-full-access (permissions bypassed)",
    ),
    ("claude_code_exec", WORK, {}, CLAUDE.format("dontAsk", "Read,Glob,Grep"), "dontAsk: Read Glob Grep"),
    ("claude_code_exec", EDITS, {}, CLAUDE.format(*CLAUDE_EDITS), "acceptEdits: Read Glob Grep Edit Write"),
    ("claude_code_exec", WORK, {"bash": True}, CLAUDE.format("dontAsk", "Read,Glob,Grep"), "dontAsk: Read Glob Grep"),
    (
        "claude_code_exec",
        EDITS,
        {"bash": True, "profile": "careful"},
        CLAUDE.format(
            "acceptEdits", "Read,Glob,Grep,Edit,Write,Bash --allowedTools Bash --append-system-prompt"
        ).replace("system-prompt", "system-prompt Profile: careful"),
        "acceptEdits: Read Glob Grep Edit Write Bash (permissions bypassed)",
    ),
    (
        "claude_code_exec",
        WORK,
        {"permission_mode": "bypassPermissions"},
        CLAUDE.format("bypassPermissions", "Read,Glob,Grep"),
        "bypassPermissions: Read Glob Grep (permissions bypassed)",
    ),
    (
        "copilot_exec",
        WORK,
        {},
        COPILOT.format("--disallow-temp-dir --available-tools=view,glob,grep"),
        "tools: view glob grep",
    ),
    (
        "copilot_exec",
        EDITS,
        {},
        COPILOT.format(
            "--disallow-temp-dir --available-tools=view,glob,grep,create,edit,apply_patch --allow-tool=write"
        ),
        "tools: view glob grep create edit apply_patch",
    ),
    (
        "copilot_exec",
        WORK,
        {"allow_all_tools": True},
        COPILOT.format("--allow-all-tools"),
        "all tools (permissions bypassed)",
    ),
    ("cursor_exec", WORK, {}, CURSOR.format("enabled --mode ask"), "sandbox enabled, reads only"),
    ("cursor_exec", EDITS, {}, CURSOR.format("enabled --force"), "sandbox enabled, edits and commands"),
    (
        "cursor_exec",
        WORK,
        {"sandbox": "disabled"},
        CURSOR.format("disabled --mode ask"),
        "sandbox disabled, reads only",
    ),
]


@pytest.mark.parametrize(("backend", "work", "settings", "args", "said"), CASES)
def test_it_is_started_with_no_more_permissions_than_it_needs_and_the_record_says_which(
    tmp_path: Path, backend: str, work: Workspace, settings: dict[str, Any], args: str, said: str
) -> None:
    lab = Lab(backend, tmp_path)
    assert lab.given(work, **settings)["args"] == args
    assert lab.model(settings).sandbox(edits=work.writable) == said


@pytest.mark.parametrize(
    ("backend", "settings"),
    [
        ("codex_exec", {"sandbox": "read-only"}),
        ("claude_code_exec", {"permission_mode": "dontAsk"}),
        ("cursor_exec", {"sandbox": "disabled"}),
    ],
)
def test_tasks_that_need_edits_are_refused_where_none_can_be_made(
    tmp_path: Path, backend: str, settings: dict[str, Any]
) -> None:
    model = Lab(backend, tmp_path).model(settings)
    assert model.sandbox(edits=False)
    with pytest.raises(ModelConfigError, match="ask for changes to files"):
        model.sandbox(edits=True)


def test_a_network_in_a_read_only_sandbox_is_refused_and_not_dropped(tmp_path: Path) -> None:
    model = Lab("codex_exec", tmp_path).model({"sandbox": "read-only", "network_access": True})
    with pytest.raises(ModelConfigError, match="network_access is set"):
        model.sandbox(edits=False)


def test_permissions_are_among_the_settings_that_a_record_depends_on(tmp_path: Path) -> None:
    lab = Lab("codex_exec", tmp_path)
    plain, free = (lab.model(settings).settings() for settings in ({}, {"sandbox": "danger-full-access"}))
    assert plain != free
    assert plain["workspace"] == free["workspace"]
    assert plain == lab.model({"path": str(lab.program.folder / "codex")}).settings()


def test_codex_finds_its_login_but_not_the_skills_at_the_users_home(tmp_path: Path) -> None:
    lab = Lab("codex_exec", tmp_path)
    (tmp_path / ".codex").mkdir()
    env = lab.given(WORK)["env"]
    assert env["CODEX_HOME"] == str(tmp_path / ".codex")
    assert env["HOME"] != str(tmp_path)
    assert env["HOME"].endswith("/home")


def test_cursor_permits_by_its_own_configuration_what_the_task_needs(tmp_path: Path) -> None:
    lab = Lab("cursor_exec", tmp_path)
    for work, denied in ((WORK, {"Write(**)", "Shell(**)", "Mcp(*:*)"}), (EDITS, {"Mcp(*:*)"})):
        home = Path(lab.given(work)["env"]["CURSOR_CONFIG_DIR"])
        assert home.name == "cursor"
        call = Call("", "", tmp_path, workspace=tmp_path, writable=work.writable)
        assert set(_permissions(call)["deny"]) == denied


def test_claude_is_given_its_room_for_thought(tmp_path: Path) -> None:
    lab = Lab("claude_code_exec", tmp_path)
    assert lab.given(WORK, max_thinking_tokens=16384)["env"]["MAX_THINKING_TOKENS"] == "16384"
    assert "MAX_THINKING_TOKENS" not in lab.given(WORK)["env"]


# --- what comes back


def test_the_last_words_are_the_answer_and_the_tools_are_told_by_name_and_path(lab: Lab) -> None:
    name = "command_execution" if lab.backend == "codex_exec" else "read"
    tools = ((name, ".agents/skills/greeter/SKILL.md", True), (name, "away.md", False))
    lab.program.plan(**answer(lab.backend, "Ada", *tools))
    reply = lab.ask()
    assert reply.text == "Ada"
    assert reply.reasoning == f"{name} .agents/skills/greeter/SKILL.md\n{name} away.md (failed)"


def test_codex_tells_of_changed_files_searches_and_servers(tmp_path: Path) -> None:
    lab = Lab("codex_exec", tmp_path)
    changes = [{"path": "a.py", "kind": "add"}, {"path": "b.py", "kind": "update"}]
    items = [
        {"type": "reasoning", "text": "hm"},
        {"type": "file_change", "changes": changes, "status": "completed"},
        {"type": "web_search", "query": "weather"},
        {"type": "mcp_tool_call", "server": "s", "tool": "t", "status": "failed"},
    ]
    lab.program.plan(out=lines(*({"type": "item.completed", "item": item} for item in items)), last="Ada")
    assert lab.ask().reasoning == "file_change a.py\nfile_change b.py\nweb_search weather\ns.t (failed)"


def test_a_trace_is_bounded_shows_no_second_line_and_paths_from_the_workspace(tmp_path: Path) -> None:
    steps = [Step("Read", f"{tmp_path}/x/task.md"), Step("Bash", f"cat > a <<E\nCONTENTS\nE\n{'x' * 500}")]
    steps += [Step("Bash", "y" * 500)] * 100
    told = summary(steps, tmp_path).splitlines()
    assert told[:2] == ["Read x/task.md", "Bash cat > a <<E"]
    assert len(told) == 41
    assert told[-1] == "… and 62 more"
    assert max(map(len, told)) < 130


def test_a_key_in_a_trace_is_blotted_out(tmp_path: Path) -> None:
    lab = Lab("codex_exec", tmp_path)
    lab.environ["CODEX_API_KEY"] = "sk-0123456789"
    lab.program.plan(**answer("codex_exec", "Ada", ("command_execution", "curl -H sk-0123456789", True)))
    assert lab.ask().reasoning == "command_execution curl -H [CODEX_API_KEY]"


def test_silence_is_asked_once_more_with_a_reminder_and_then_no_more(lab: Lab) -> None:
    lab.program.plans(answer(lab.backend, " "), answer(lab.backend, "Ada"))
    if lab.backend == "copilot_exec":
        lab.program.plans({"out": ""}, answer(lab.backend, "Ada"))
    assert lab.ask().text == "Ada"
    first, second = lab.program.given
    assert second["stdin"].startswith(first["stdin"])
    assert "earlier try ended without any text" in second["stdin"]
    lab.program.plan(out="")
    with pytest.raises(TransientModelError, match="empty reply"):
        lab.ask(retries=4)
    assert len(lab.program.given) == 2


def test_words_of_files_in_the_events_are_no_failure_of_the_login(lab: Lab) -> None:
    event = {"type": "tool", "content": "401 Unauthorized: unknown model, please log in"}
    lab.program.plan(out=lines(event), code=1)
    with pytest.raises(TransientModelError, match="exit code 1"):
        lab.ask()


def test_a_missing_login_is_named_and_not_tried_again(lab: Lab) -> None:
    lab.program.plan(err="Error: Not logged in. Please run /login", code=1)
    with pytest.raises(ModelConfigError, match="not logged in"):
        lab.ask(retries=3)
    assert len(lab.program.given) == 1


def test_a_megabyte_with_terminal_escapes_comes_back_whole(lab: Lab) -> None:
    text = "word " * 210_000 + "end"
    plan = answer(lab.backend, text)
    lab.program.plan(**{**plan, "out": "\x1b[?25l\x1b]0;title\x07" + plan["out"].replace("\n", "\x1b[0m\r\n")})
    assert lab.ask().text == text


def test_one_that_hangs_is_ended_with_its_children(lab: Lab) -> None:
    lab.program.plan(**answer(lab.backend, "late"), sleep=60, fork=True)
    started = time.monotonic()
    with pytest.raises(ModelError, match="gave no answer within"):
        lab.ask(timeout=1.5, retries=3)
    assert time.monotonic() - started < 15
    child = int((lab.program.folder / "child").read_text())
    deadline = time.monotonic() + 5
    while _alive(child):
        assert time.monotonic() < deadline, "the child lives on"
        time.sleep(0.05)


# --- as backends


def test_every_agent_is_a_backend_of_the_target_alone(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", lab.environ["PATH"])
    assert isinstance(registry.build(ModelSpec("target", lab.backend, "m")), ExecTarget)
    if lab.backend == "codex_exec":
        assert not isinstance(registry.build(ModelSpec("optimizer", lab.backend, "m")), ExecTarget)
    else:
        with pytest.raises(ModelConfigError, match="is only a target"):
            registry.build(ModelSpec("optimizer", lab.backend, "m"))


def test_a_chat_with_the_same_program_is_no_agent(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", lab.environ["PATH"])
    chats = {"claude_code_exec": "claude_chat", "copilot_exec": "copilot_chat", "cursor_exec": "cursor_chat"}
    if chat := chats.get(lab.backend):
        assert not isinstance(getattr(builders, chat)(ModelSpec("target", chat, "m")), ExecTarget)


def test_a_schema_is_enforced_or_asked_for_in_the_task(lab: Lab) -> None:
    schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}}
    lab.program.plan(**answer(lab.backend, '{"ok": true}'))
    reply = lab.model().complete(Request(MESSAGES, schema=schema, workspace=WORK))
    assert json.loads(reply.text) == {"ok": True}
    (given,) = lab.program.given
    enforced = any(arg in ("--json-schema", "--output-schema") for arg in given["args"])
    assert enforced != (json.dumps(schema) in given["tree"]["task.md"])
