"""OfficeQA: one rollout, with tools, with pages alone, and by an agent."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from skillgit.errors import ConfigError, TransientModelError
from skillgit.models.base import Reply, Request
from skillgit.tasks import registry
from skillgit.tasks.base import AgentBenchmark, BenchmarkContext
from skillgit.tasks.benchmarks.officeqa import OfficeQA
from tests.tasks.benchmarks.bulletins import Target, benchmark, call, task


def test_the_tools_are_offered_and_used_until_there_is_an_answer(tmp_path: Path, docs: Path) -> None:
    target = Target(
        Reply("", tool_calls=(call("grep", path="bulletin_1941_01.txt", pattern="net receipts"),)),
        Reply("", tool_calls=(call("read", path="bulletin_1941_02.txt"),)),
        "It is <answer>12</answer>",
    )
    got = benchmark(tmp_path, max_completion_tokens=99).rollout(task(), "Look it up.", target)
    assert got.score.hard == 1.0
    first, last = target.requests[0], target.requests[-1]
    system, user = first.messages
    assert "## Skill\n\nLook it up." in system.content
    assert "`grep`" in system.content
    assert [tool["function"]["name"] for tool in first.tools] == ["glob", "read", "grep"]
    assert first.max_tokens == 99
    assert "### bulletin_1941_01.txt, page 7" in user.content
    assert "## Documents\n\n- bulletin_1941_01.txt\n\n## Where they come from\n\n- https" in user.content
    results = [turn.content for turn in last.messages if turn.role == "tool"]
    assert results[0].endswith("203: | Net receipts | 12 |")
    assert results[1].startswith("error: there is no document 'bulletin_1941_02.txt'")


def test_without_a_skill_its_section_is_left_out(tmp_path: Path, docs: Path) -> None:
    target = Target("<answer>12</answer>")
    benchmark(tmp_path).rollout(task(), " ", target)
    system = target.requests[0].messages[0].content
    assert "Skill" not in system
    assert system == system.rstrip()


def test_without_local_tools_it_is_one_question_about_the_pages(tmp_path: Path, docs: Path) -> None:
    target = Target("It is 12")
    got = benchmark(tmp_path, use_local_tools=False).rollout(task(), "", target)
    (request,) = target.requests
    assert not request.tools
    assert "`grep`" not in request.messages[0].content
    assert "## Pages" in request.messages[1].content
    assert "## Documents" not in request.messages[1].content
    assert (got.score.hard, got.score.lenient) == (0.0, 0.0)


def test_a_target_that_only_calls_tools_fails_with_a_reason(tmp_path: Path, docs: Path) -> None:
    looks = Reply("<answer>12</answer>", tool_calls=(call("glob", pattern="*"),))
    got = benchmark(tmp_path, max_tool_turns=3).rollout(task(), "", Target(looks, looks, looks))
    assert (got.score.hard, got.score.soft) == (0.0, 0.0)
    assert got.score.reason == "officeqa: still called tools in turn 3, its last"


def test_an_item_without_its_documents_fails_alone_and_costs_nothing(tmp_path: Path, docs: Path) -> None:
    got = benchmark(tmp_path).rollout(task(source_files="../../etc/passwd"), "", Target())
    assert got.score.hard == 0.0
    assert got.score.reason == "setup: none of its documents is in env.data_dirs: ../../etc/passwd"


def test_an_item_that_names_no_documents_may_look_into_all(tmp_path: Path, docs: Path) -> None:
    for number in range(30):
        (docs / f"transformed/more_{number:02d}.txt").write_text("x")
    target = Target("<answer>12</answer>")
    benchmark(tmp_path).rollout(task(source_files=None), "", target)
    user = target.requests[0].messages[1].content
    assert "- more_17.txt\n[and 12 more]" in user
    assert "more_18" not in user


def test_model_errors_pass_through(tmp_path: Path, docs: Path) -> None:
    def ask(request: Request) -> Reply:
        raise TransientModelError("away")

    with pytest.raises(TransientModelError):
        benchmark(tmp_path).rollout(task(), "", ask)


def test_the_digest_follows_what_is_asked_and_how(tmp_path: Path, docs: Path) -> None:
    options: list[Mapping[str, Any]] = [
        {},
        {"max_tool_turns": 3},
        {"use_local_tools": False},
        {"search_mode": "custom_search", "search_api_url": "https://s.example.org"},
        {"search_mode": "custom_search", "search_api_url": "https://s.example.org", "search_provider": "p"},
        {"search_mode": "custom_search", "search_api_url": "https://s.example.org", "max_queries_per_turn": 2},
    ]
    digests = [benchmark(tmp_path, **each).judge_digest() for each in options]
    assert len(set(digests)) == len(options)
    assert benchmark(tmp_path, workers=3).judge_digest() == digests[0]
    assert benchmark(tmp_path, use_local_tools=False, max_tool_turns=3).judge_digest() == digests[2]
    elsewhere = {"search_mode": "custom_search", "search_api_url": "https://other.example.org"}
    assert benchmark(tmp_path, **elsewhere).judge_digest() == digests[3]
    (docs / "transformed/new.txt").write_text("x")
    digests.append(benchmark(tmp_path).judge_digest())
    (docs / "jsons/new.json").write_text("{}")
    assert benchmark(tmp_path).judge_digest() not in digests
    assert digests[0] not in digests[1:]
    with pytest.raises(ConfigError, match="azure"):
        benchmark(tmp_path, search_mode="azure_search")


def test_the_registry_knows_it(tmp_path: Path) -> None:
    made = registry.build("officeqa", BenchmarkContext(tmp_path, "s", {}))
    assert isinstance(made, OfficeQA)
    assert isinstance(made, AgentBenchmark)


def test_an_agent_gets_the_documents_as_files(tmp_path: Path, docs: Path) -> None:
    bench, target = benchmark(tmp_path), Target("<answer>12</answer>")
    handed = bench.attachments(task())
    assert list(handed) == ["bulletin_1941_01.txt"]
    assert "Net receipts" in str(handed["bulletin_1941_01.txt"])
    assert bench.work(task(), target).score.hard == 1.0
    (request,) = target.requests
    assert not request.tools
    assert "files in your folder" in request.messages[0].content
    assert bench.work(task(source_files="none.txt"), Target()).score.reason.startswith("setup: ")
    (docs / "transformed/bulletin_1941_01.txt").write_bytes(b"\0")
    assert bench.work(task(), Target()).score.reason == "setup: none of its documents can be handed over"


def test_an_agent_gets_no_more_than_it_can_hold(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    for number in range(25):
        (tmp_path / f"docs/{number:02d}.txt").write_text("x" * 3_000_000 if number < 5 else "x")
    bench, target = benchmark(tmp_path), Target("<answer>12</answer>")
    handed = list(bench.attachments(task(source_files="")))
    assert handed == [f"{n:02d}.txt" for n in (0, 1, 2, *range(5, 20))]
    bench.work(task(source_files=""), target)
    assert "- 19.txt\n[and 7 more]" in target.requests[0].messages[1].content
