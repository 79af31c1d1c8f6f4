"""`skillgit mcp`: what an agent can do, over the protocol with the real client, on real repositories."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.types import CallToolResult, Tool

from skillgit.cli.mcp_server.child import Finished
from skillgit.cli.mcp_server.results import answer
from skillgit.cli.mcp_server.server import build
from tests.cli.mcp_client import Call, agent, ask, configure, over_stdio, refusal, told, with_night
from tests.conftest import git
from tests.sleep.proposals.nights import DATES, NIGHT, night
from tests.sleep.stores import neutral

Run = Callable[..., tuple[int, str, str]]

READING = {
    *("sleep_status", "sleep_list", "sleep_show", "sleep_harvest"),
    *("skill_log", "skill_show", "skill_diff", "skill_blame", "skill_lint"),
}
ACTING = {"sleep_run", "sleep_propose"}
ASKED = (
    ("Write the release note for the coat in one line.", "The coat is out!!"),
    ("No, never use exclamation marks in release notes.", "The coat is out."),
    ("Perfect, thanks!", ""),
)


def test_an_agent_is_offered_these_tools_and_none_that_decides(repo_dir: Path) -> None:
    async def talk() -> list[Tool]:
        async with agent(repo_dir) as client:
            assert "leave the decision" in (client.instructions or "")
            return (await client.list_tools()).tools

    tools = {tool.name: tool for tool in anyio.run(talk)}
    assert set(tools) == READING | ACTING
    arguments = {name for tool in tools.values() for name in tool.input_schema["properties"]}
    assert arguments == {
        *("skill", "proposal", "patch", "tasks", "limit", "rejected", "revision", "a", "b", "paths"),
        *("max_calls", "dry_run", "tasks_file"),
    }
    for name, tool in tools.items():
        assert tool.input_schema["additionalProperties"] is False
        assert tool.output_schema
        assert tool.description
        assert tool.annotations
        # A harvest reads other agents' sessions and keeps of them what it may: a person is to be asked.
        assert bool(tool.annotations.read_only_hint) == (name in READING - {"sleep_harvest"})
    speaking = READING - {"sleep_status"} | {"sleep_run"}
    assert [name for name in speaking if "data" not in (tools[name].description or "")] == []


def test_what_is_read_of_a_trained_skill_is_what_the_commands_print(trained: Path, skillgit: Run) -> None:
    branch = git(trained, "for-each-ref", "--format=%(refname:short)", "refs/heads/train")
    calls: list[tuple[Call, tuple[str, ...]]] = [
        (
            ("skill_log", {"skill": "skills/greeter", "limit": 2, "rejected": True}),
            ("log", "greeter", "-n", "2", "--rejected"),
        ),
        (("skill_show", {"revision": branch}), ("show", branch)),
        (("skill_diff", {"a": "main", "b": branch}), ("diff", "main", branch)),
        (("skill_blame", {"skill": "greeter"}), ("blame", "greeter")),
        (("skill_lint", {"paths": ["skills/greeter"]}), ("lint", "skills/greeter")),
    ]
    for result, (_, words) in zip(over_stdio(trained, *(call for call, _ in calls)), calls, strict=True):
        code, out, _ = skillgit(trained, *words, "--json")
        assert told(result) == {"exit_code": code, "status": "done", "output": json.loads(out), "messages": ""}
        assert not result.is_error


def test_what_is_read_of_a_proposal_is_what_the_commands_print(repo_dir: Path, skillgit: Run) -> None:
    record = night(repo_dir)
    listed, other, shown, patched = ask(
        repo_dir,
        ("sleep_list", {}),
        ("sleep_list", {"skill": "nobody"}),
        ("sleep_show", {"proposal": "greeter"}),
        ("sleep_show", {"proposal": record.branch, "patch": True}),
    )
    assert told(listed)["output"] == json.loads(skillgit(repo_dir, "sleep", "list", "--json")[1])
    assert [row["name"] for row in told(listed)["output"]["proposals"]] == [f"greeter/{NIGHT}"]
    assert told(other)["output"]["proposals"] == []
    assert told(shown)["output"] == json.loads(skillgit(repo_dir, "sleep", "show", "greeter", "--json")[1])
    assert [lesson["rule"] for lesson in told(shown)["output"]["lessons"]] == [DATES.content]
    assert f"+{DATES.content}" not in json.dumps(told(shown))
    assert f"+{DATES.content}" in json.dumps(told(patched))


def test_a_harvest_tells_counts_and_the_words_of_people_only_when_asked(repo_dir: Path, tmp_path: Path) -> None:
    store = tmp_path / "sessions"
    neutral.write_session(store, "one", ASKED, cwd=str(repo_dir))
    neutral.write_session(store, "far", ASKED, cwd=str(tmp_path))
    configure(repo_dir, {}, source="neutral", neutral_sessions=str(store), lookback_hours=0)
    status, counted, full = over_stdio(
        repo_dir, ("sleep_status", {}), ("sleep_harvest", {}), ("sleep_harvest", {"tasks": True})
    )
    assert told(status)["status"] == "done"
    assert told(counted)["output"]["tasks"] == len(told(full)["output"]["tasks"]) == 1
    assert len(told(counted)["output"]["sessions"]) == 1
    assert told(counted)["output"]["excluded"]
    assert "coat" not in json.dumps(told(counted))
    assert "coat" in told(full)["output"]["tasks"][0]["input"]


@pytest.mark.parametrize(
    ("name", "given", "why"),
    [
        ("skill_log", {"skill": "greeter", "graph": True}, "'graph' was unexpected"),
        ("skill_log", {}, "'skill' is a required property"),
        ("skill_log", {"skill": "greeter", "limit": "2"}, "'2' is not of type 'integer'"),
        ("skill_log", {"skill": "greeter", "limit": 201}, "greater than the maximum"),
        ("skill_log", {"skill": "--help"}, "does not match"),
        ("skill_log", {"skill": "greeter\n"}, "pattern"),
        ("skill_log", {"skill": "g" * 301}, "maxLength: 300"),
        ("skill_log", {"skill": ["greeter"]}, "is not of type 'string'"),
        ("skill_lint", {"paths": ["skills"] * 51}, "maxItems: 50"),
        ("sleep_show", {"proposal": "greeter", "patch": "yes"}, "is not of type 'boolean'"),
        ("sleep_run", {"backend": "claude"}, "'backend' was unexpected"),
        ("sleep_run", {"max_calls": 0}, "less than the minimum"),
        ("sleep_run", {"auto_adopt": "main"}, "'auto_adopt' was unexpected"),
        (
            "sleep_propose",
            {"skill": "greeter", "tasks_file": "t.jsonl", "unreviewed": True},
            "'unreviewed' was unexpec",
        ),
        ("sleep_adopt", {"proposal": "greeter"}, "Unknown tool"),
    ],
)
def test_arguments_that_a_tool_does_not_take_are_refused(
    name: str, given: dict[str, Any], why: str, repo_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/nothing/is/run")
    assert why in refusal(ask(repo_dir, (name, given))[0])


def test_paths_lead_nowhere_but_into_the_repository(repo_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "tasks.jsonl").write_text("{}\n")
    (repo_dir / "way-out").symlink_to(tmp_path)
    outside = [
        "..",
        "/etc",
        str(tmp_path / "tasks.jsonl"),
        "way-out",
        "skills/../../tasks.jsonl",
        ".git",
        ".git/config",
    ]
    calls: list[Call] = [("skill_lint", {"paths": [path]}) for path in outside]
    calls += [("sleep_propose", {"skill": "greeter", "tasks_file": path}) for path in outside]
    for result in ask(repo_dir, *calls):
        assert "is outside the repository" in refusal(result)
    calls = [("skill_blame", {"skill": "../tasks.jsonl"}), ("skill_lint", {"paths": [str(repo_dir / "skills")]})]
    skill, absolute = ask(repo_dir, *calls)
    assert told(skill)["status"] == "usage"
    assert told(absolute)["output"]["skills"] == 1


def test_a_server_started_below_the_top_still_sees_the_whole_repository(repo_dir: Path) -> None:
    async def talk() -> list[CallToolResult]:
        async with Client(build(repo_dir / "evals", repo_dir)) as client:
            calls: list[Call] = [("skill_lint", {}), ("skill_lint", {"paths": ["../skills/greeter", "../../repo2"]})]
            return [await client.call_tool(name, given) for name, given in calls]

    whole, outside = anyio.run(talk)
    assert told(whole)["output"]["skills"] == 1
    assert "'../../repo2' is outside" in refusal(outside)


def test_findings_are_a_result_and_mistakes_are_errors_that_say_what_to_do(repo_dir: Path) -> None:
    document = repo_dir / "skills/greeter/SKILL.md"
    document.write_text(document.read_text().replace("name: greeter", "name: Not Greeter"))
    lint, unknown, gone = ask(
        repo_dir,
        ("skill_lint", {}),
        ("skill_log", {"skill": "greter"}),
        ("skill_show", {"revision": "no-such-branch"}),
    )
    assert (told(lint)["exit_code"], told(lint)["status"], lint.is_error) == (1, "checked_and_failed", False)
    assert told(lint)["output"]["counts"]["error"]
    assert (told(unknown)["exit_code"], told(unknown)["status"], unknown.is_error) == (2, "usage", True)
    assert "no skill 'greter'" in told(unknown)["messages"]
    assert "next:" in told(unknown)["messages"]
    assert told(unknown)["output"] is None
    assert (told(gone)["exit_code"], told(gone)["status"], gone.is_error) == (4, "git", True)


def test_what_hides_in_a_repository_is_shown_to_the_agent(repo_dir: Path) -> None:
    git(repo_dir, "commit", "--quiet", "--allow-empty", "-m", "start")
    document = repo_dir / "skills/greeter/SKILL.md"
    document.write_text(f"{document.read_text()}- do\u202enot\x1b[2J look\n")
    git(repo_dir, "commit", "--quiet", "-am", "hide \u200bit")
    log, blame = ask(repo_dir, ("skill_log", {"skill": "greeter"}), ("skill_blame", {"skill": "greeter"}))
    assert told(log)["output"]["versions"][0]["subject"] == "hide \\u200bit"
    assert told(blame)["output"]["lines"][-1]["text"] == "- do\\u202enot\\x1b[2J look"


def test_a_night_proposes_a_branch_and_merges_nothing_even_where_the_owner_allows_it(repo_dir: Path) -> None:
    with_night(repo_dir, auto_adopt="main")
    before = git(repo_dir, "rev-parse", "HEAD")
    git(repo_dir, "switch", "--quiet", "--detach")
    beats: list[float] = []

    async def progress(progress: float, total: float | None, message: str | None) -> None:
        assert message
        beats.append(progress)

    async def talk() -> CallToolResult:
        async with agent(repo_dir) as client:
            given = {"skill": "greeter", "tasks_file": "tasks.jsonl"}
            return await client.call_tool("sleep_propose", given, progress_callback=progress)

    result = told(anyio.run(talk))
    assert (result["exit_code"], result["status"]) == (0, "done"), result
    assert [event["event"] for event in result["output"]][-1] == "night_finished"
    assert result["output"][-1]["verdict"] == "verified"
    branch = result["output"][-1]["branch"]
    assert "RULE_A" in git(repo_dir, "show", f"{branch}:skills/greeter/SKILL.md")
    assert git(repo_dir, "rev-parse", "main") == git(repo_dir, "rev-parse", "HEAD") == before
    assert beats == sorted(beats)
    assert beats


def test_a_dry_run_leaves_no_trace(repo_dir: Path, tmp_path: Path) -> None:
    with_night(repo_dir, source="neutral", neutral_sessions=str(tmp_path / "none"))
    (tmp_path / "none").mkdir()
    refs = git(repo_dir, "for-each-ref")
    (dry,) = ask(repo_dir, ("sleep_run", {"dry_run": True}))
    assert told(dry)["status"] == "done"
    assert git(repo_dir, "for-each-ref") == refs


def test_a_limit_is_a_result_and_an_agent_cannot_raise_the_owners(repo_dir: Path) -> None:
    with_night(repo_dir)
    settings = json.loads((repo_dir / "skillgit.yaml").read_text())
    call: Call = ("sleep_propose", {"skill": "greeter", "tasks_file": "tasks.jsonl", "max_calls": 500})
    (repo_dir / "skillgit.yaml").write_text(json.dumps({**settings, "budget": {"calls": 2}}))
    (limited,) = ask(repo_dir, call)
    assert (told(limited)["exit_code"], told(limited)["status"], limited.is_error) == (6, "budget_reached", False)
    (repo_dir / "skillgit.yaml").write_text(json.dumps({**settings, "budget": {"cals": 2}}))
    (broken,) = ask(repo_dir, call)
    assert "did you mean" in refusal(broken)


def test_an_agent_does_not_choose_models_by_writing_the_configuration(repo_dir: Path) -> None:
    with_night(repo_dir)
    call: Call = ("sleep_propose", {"skill": "greeter", "tasks_file": "tasks.jsonl"})

    async def talk() -> CallToolResult:
        async with Client(build(repo_dir.resolve(), repo_dir.resolve())) as client:
            configure(repo_dir, {"backend": "codex_exec", "codex": {"sandbox": "danger-full-access"}})
            return await client.call_tool(*call)

    assert "a person can start it again" in refusal(anyio.run(talk))


def test_tasks_that_nobody_reviewed_are_not_sent_to_a_model(repo_dir: Path) -> None:
    with_night(repo_dir, reviewed=False, model={"backend": "openai_chat"})
    (result,) = ask(repo_dir, ("sleep_propose", {"skill": "greeter", "tasks_file": "tasks.jsonl"}))
    assert (told(result)["exit_code"], told(result)["status"]) == (2, "usage")
    assert "nobody reviewed" in told(result)["messages"]


def test_what_is_too_long_to_tell_is_said_and_the_newest_of_a_night_is_kept() -> None:
    def same(value: Any) -> Any:
        return value

    long = json.dumps(["x" * 250_000]).encode()
    assert told(answer(Finished(0, long, b""), same, lines=False))["output"] is None
    cut = told(answer(Finished(0, b"[", b"", cut=True), same, lines=False))
    assert (cut["output"], "too long" in cut["messages"]) == (None, True)
    rows = b"".join(json.dumps({"event": n, "rule": "x" * 60_000}).encode() + b"\n" for n in range(5))
    late = told(answer(Finished(130, rows + b'{"ev', b"note: one\n", late=True), same, lines=True))
    assert [event["event"] for event in late["output"]] == [2, 3, 4]
    assert late["status"] == "error"
    assert "note: one\nthe first 2 events are left out\nit did not end in time" in late["messages"]


def test_text_that_cannot_be_sent_is_spelled_out() -> None:
    out = b'{"a\\u0000": ["\\ud800", "\\u001b[2J"]}'
    result = answer(Finished(0, out, b"\xff\x1b]0;x\x07"), lambda value: value, lines=False)
    assert told(result)["output"] == {"a\\x00": ["\\ud800", "\\x1b[2J"]}
    assert told(result)["messages"] == "\ufffd\\x1b]0;x\\x07"
    assert "\\\\ud800" in result.model_dump_json()
