"""What a tool answers: how the command ended, the JSON it printed, and what it said beside that."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

from mcp.types import CallToolResult, TextContent
from pydantic import Field
from typing_extensions import TypedDict

from skillgit.cli.mcp_server.child import Finished
from skillgit.report.safe import visible

_MOST_TEXT = 200_000  # characters of a result: no agent reads more, and few may
_MOST_MESSAGES = 8_000
_TOO_LONG = "its output is too long to be told; ask for less, or run the command in a terminal"

Status = Literal[
    "done", "checked_and_failed", "usage", "git", "model", "budget_reached", "needs_a_person", "interrupted", "error"
]
_STATUS: dict[int, Status] = {
    0: "done",
    1: "checked_and_failed",
    2: "usage",
    4: "git",
    5: "model",
    6: "budget_reached",
    7: "needs_a_person",
    130: "interrupted",
}
_RESULTS = ("done", "checked_and_failed", "budget_reached", "needs_a_person")  # the others are errors to the client


class Result(TypedDict):
    """How a skillgit command ended."""

    exit_code: Annotated[int, Field(description="The exit code of the command.")]
    status: Annotated[Status, Field(description="What the exit code means.")]
    output: Annotated[Any, Field(description="The JSON that it printed, as data; null when there is none.")]
    messages: Annotated[str, Field(description="What it said beside: notes, why it failed, and what to do next.")]


Answer = Annotated[CallToolResult, Result]
"""The type that tools return; its schema is `Result`'s."""

Shape = Callable[[Any], Any]


def answer(finished: Finished, shape: Shape, *, lines: bool) -> CallToolResult:
    """The answer to a finished command.

    Args:
        shape: picks what is told of its JSON.
        lines: it prints one JSON value per line; they become a list.
    """
    status: Status = "error" if finished.late else _STATUS.get(finished.code, "error")
    output, problem = _output(finished, shape, lines=lines)
    messages = [visible(finished.err.decode("utf-8", "replace"))[-_MOST_MESSAGES:].strip(), problem]
    if finished.late:
        messages.append("it did not end in time and was stopped; finished work is kept")
    result = {
        "exit_code": finished.code,
        "status": status,
        "output": output,
        "messages": "\n".join(filter(None, messages)),
    }
    text = TextContent(type="text", text=json.dumps(result, ensure_ascii=False))
    return CallToolResult(content=[text], structured_content=result, is_error=status not in _RESULTS)


def _output(finished: Finished, shape: Shape, *, lines: bool) -> tuple[Any, str]:
    """The command's JSON, and what is wrong with it."""
    if finished.cut:
        return None, _TOO_LONG
    try:
        if lines:
            # A line without an end is what a command was stopped in.
            return _newest([json.loads(line) for line in finished.out.split(b"\n")[:-1]])
        shaped = _seen(shape(json.loads(finished.out))) if finished.out else None
    except ValueError:
        return None, "its output is not JSON"
    return (None, _TOO_LONG) if _length(shaped) > _MOST_TEXT else (shaped, "")


def _newest(events: Sequence[Any]) -> tuple[list[Any], str]:
    """The last events, as many as may be told."""
    kept: deque[Any] = deque()
    room = _MOST_TEXT
    for event in map(_seen, reversed(events)):
        room -= _length(event)
        if room < 0:
            return list(kept), f"the first {len(events) - len(kept)} events are left out"
        kept.appendleft(event)
    return list(kept), ""


def _length(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False))


def _seen(value: Any) -> Any:
    """The value with all text safe to look at; what hides in text is shown."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible(key): _seen(item) for key, item in value.items()}
    return [_seen(item) for item in value] if isinstance(value, list) else value
