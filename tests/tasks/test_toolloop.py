"""Conversations with tools."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from skillgit.errors import TransientModelError
from skillgit.models.base import Message, Reply, Request
from skillgit.tasks.base import digest
from skillgit.tasks.toolloop import CLIP, Conversation, Tool, ToolError, converse

START = (Message("system", "s"), Message("user", "u"))


def _run(arguments: Mapping[str, Any]) -> str:
    if arguments["text"] == "bad":
        raise ToolError("not that")
    if arguments["text"] == "gone":
        raise FileNotFoundError(2, "No such file")
    return arguments["text"] * arguments.get("times", 1)


ECHO = Tool(
    "echo", "Says it.", {"text": {"type": "string"}, "times": {"type": "integer", "minimum": 1}}, ("text",), _run
)


def call(arguments: Any, name: str = "echo", **more: Any) -> dict[str, Any]:
    return {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}, **more}


class Target:
    """Gives replies in order and keeps what it was asked."""

    def __init__(self, *replies: Reply) -> None:
        self.replies, self.requests = list(replies), []

    def __call__(self, request: Request) -> Reply:
        self.requests.append(request)
        return self.replies.pop(0)


def talk(target: Target, most_turns: int = 5) -> Conversation:
    return converse(START, (ECHO,), target, most_turns=most_turns, max_tokens=7)


def answer_to(*calls: Any) -> list[str]:
    """What the target reads after these calls."""
    target = Target(Reply("", tool_calls=calls), Reply("done"))
    talk(target)
    return [turn.content for turn in target.requests[1].messages if turn.role == "tool"]


def test_calls_are_made_and_answered_until_the_target_speaks() -> None:
    target = Target(Reply("", tool_calls=(call('{"text": "x"}'),), reasoning="hm"), Reply("done", finish="length"))
    got = talk(target)
    assert (got.text, got.cut, got.ended) == ("done", True, True)
    assert [turn.role for turn in got.turns] == ["user", "reasoning", "assistant", "tool", "assistant"]
    first, second = target.requests
    assert first.tools == (ECHO.offer(),)
    assert first.max_tokens == 7
    sent = second.messages
    assert [turn.role for turn in sent] == ["system", "user", "assistant", "tool"]
    assert sent[2].tool_calls[0]["id"] == sent[3].call_id == "c1"
    assert sent[3].content == "x"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ('{"text": "x", "times": 3}', "xxx"),
        ({"text": "x"}, "x"),
        ('{"text": ', "error: the arguments are not JSON"),
        ("[1]", "error: [1] is not of type 'object'"),
        ("", "error: 'text' is a required property"),
        (None, "error: 'text' is a required property"),
        ('{"text": "x", "times": 0}', "error: 0 is less than the minimum of 1"),
        ('{"text": "x", "more": 1}', "error: Additional properties are not allowed ('more' was unexpected)"),
        ('{"text": "bad"}', "error: not that"),
        ('{"text": "gone"}', "error: No such file"),
        ("[" * 100_000, "error: the arguments are not JSON"),
    ],
)
def test_what_is_wrong_with_a_call_is_told_to_the_target(arguments: Any, said: str) -> None:
    assert answer_to(call(arguments)) == [said]


def test_unknown_tools_and_calls_without_form_are_answered_each() -> None:
    odd = ({"id": "a"}, {"function": "x"}, {"id": 3, "function": {"name": 7}}, call("{}", "rm"))
    target = Target(Reply("", tool_calls=odd), Reply("done"))
    talk(target)
    assistant, *answers = target.requests[1].messages[2:]
    assert [each["id"] for each in assistant.tool_calls] == ["a", "call_1_2", "3", "c1"]
    assert [turn.call_id for turn in answers] == ["a", "call_1_2", "3", "c1"]
    assert all(turn.content.startswith("error: there is no tool") for turn in answers)


def test_broken_arguments_are_sent_back_as_an_empty_object() -> None:
    target = Target(Reply("", tool_calls=(call("{broken"),)), Reply("done"))
    talk(target)
    assert target.requests[1].messages[2].tool_calls[0]["function"]["arguments"] == "{}"


def test_results_are_clipped_and_many_calls_at_once_are_not_made() -> None:
    (long,) = answer_to(call('{"text": "x", "times": 90000}'))
    assert len(long) == CLIP
    assert long.endswith("[cut: 90000 characters in all]")
    said = answer_to(*[call('{"text": "x"}', id=f"c{n}") for n in range(20)])
    assert said[15] == "x"
    assert said[16:] == ["error: only 16 calls are made at once; ask again"] * 4


def test_a_target_that_never_speaks_is_ended_after_its_turns() -> None:
    target = Target(*[Reply("", tool_calls=(call('{"text": "x"}'),)) for _ in range(3)])
    got = talk(target, most_turns=3)
    assert (got.ended, len(target.requests)) == (False, 3)
    assert got.turns[-1].tool_calls


def test_model_errors_pass_through() -> None:
    def ask(request: Request) -> Reply:
        raise TransientModelError("away")

    with pytest.raises(TransientModelError):
        converse(START, (ECHO,), ask, most_turns=2, max_tokens=None)


def test_arguments_that_only_look_right_end_no_conversation() -> None:
    assert answer_to(call('{"text": "ab", "times": 2.0}')) == ["abab"]
    for depth in (500, 900, 950, 990, 100_000):
        (said,) = answer_to(call('{"text": ' + "[" * depth + "]" * depth + "}"))
        assert said.startswith("error: ")


def test_halves_of_characters_are_sent_to_nobody() -> None:
    target = Target(Reply("", tool_calls=(call('{"text": "\\ud800"}'), call("{}", name="\ud800"))), Reply("done"))
    talk(target)
    calls = target.requests[1].messages[2].tool_calls
    assert json.dumps(calls, ensure_ascii=False).encode()
    assert digest([turn.content for turn in target.requests[1].messages])
