"""A conversation in which the target calls tools of ours, by the tool calls of its own interface, until it answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from skillgit.models.base import Message, Reply, Request
from skillgit.tasks.base import Ask

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

CLIP = 4000
"""Most characters of what one call gives back."""

_AT_ONCE = 16
"""Most calls of one turn that are made."""


class ToolError(Exception):
    """A call that cannot be done as asked; the target reads why, and may ask otherwise."""


@dataclass(frozen=True)
class Tool:
    """A function that the target may call.

    Attributes:
        parameters: name to JSON schema of each argument.
        required: the arguments that must be given.
        run: takes the arguments, which follow the schema, and gives text. May raise `ToolError` or `OSError`.
    """

    name: str
    description: str
    parameters: Mapping[str, Mapping[str, Any]]
    required: tuple[str, ...]
    run: Callable[[Mapping[str, Any]], str]

    @cached_property
    def schema(self) -> dict[str, Any]:
        """JSON schema of the arguments."""
        known = {name: dict(schema) for name, schema in self.parameters.items()}
        return {
            "type": "object",
            "properties": known,
            "required": list(self.required),
            "additionalProperties": False,
        }

    def offer(self) -> dict[str, Any]:
        """How it is described to a model: the form of Chat Completions."""
        function = {"name": self.name, "description": self.description, "parameters": self.schema}
        return {"type": "function", "function": function}

    def call(self, arguments: object) -> str:
        """What a call gives back; a fault of the call is an error text, and never an exception."""
        try:
            wrong = next(iter(self._validator.iter_errors(arguments)), None)
            if wrong is not None or not isinstance(arguments, Mapping):
                return f"error: {wrong.message[:200] if wrong else 'the arguments are not an object'}"
            return clip(self.run({name: self._plain(name, value) for name, value in arguments.items()}))
        except ToolError as error:
            return f"error: {error}"
        except RecursionError:
            return "error: the arguments are nested too deep"
        except OSError as error:
            return f"error: {error.strerror or 'it cannot be read'}"

    def _plain(self, name: str, value: Any) -> Any:
        """A value as `run` reads it: to a schema, 2.0 is an integer."""
        return int(value) if isinstance(value, float) and self.parameters[name].get("type") == "integer" else value

    @cached_property
    def _validator(self) -> Draft202012Validator:
        from jsonschema import Draft202012Validator

        return Draft202012Validator(self.schema)


@dataclass(frozen=True)
class Conversation:
    """What was said.

    Attributes:
        turns: everything after the system turn, thoughts included.
        text: the last words of the target.
        cut: they were cut at the token limit.
        ended: the target ended it with words; otherwise it was still calling tools when its turns were used up.
    """

    turns: tuple[Message, ...]
    text: str
    cut: bool
    ended: bool


def converse(
    messages: tuple[Message, ...], tools: Sequence[Tool], ask: Ask, *, most_turns: int, max_tokens: int | None
) -> Conversation:
    """Ask, make the calls that come back, and ask again, until a reply calls nothing. Model errors pass through.

    Args:
        most_turns: most replies, at least 1. The calls of the last one are not made.
    """
    offers = tuple(tool.offer() for tool in tools)
    known = {tool.name: tool for tool in tools}
    said: tuple[Message, ...] = ()
    for number in range(1, most_turns + 1):
        sent = (*messages, *(turn for turn in said if turn.role != "reasoning"))
        reply = ask(Request(messages=sent, max_tokens=max_tokens, tools=offers))
        calls = [_plain(call, f"call_{number}_{n}") for n, call in enumerate(reply.tool_calls, 1)]
        said += (*_thoughts(reply), Message("assistant", reply.text, tool_calls=tuple(calls)))
        if not calls or number == most_turns:
            break
        said += tuple(
            _answer(call, raw, n, known) for n, (call, raw) in enumerate(zip(calls, reply.tool_calls, strict=True))
        )
    turns = (*(turn for turn in messages if turn.role != "system"), *said)
    return Conversation(turns, reply.text, reply.finish == "length", not calls)


def clip(text: str) -> str:
    """At most `CLIP` characters, and a word on what was cut."""
    cut = f"\n[cut: {len(text)} characters in all]"
    return text if len(text) <= CLIP else text[: CLIP - len(cut)] + cut


def _thoughts(reply: Reply) -> tuple[Message, ...]:
    return (Message("reasoning", reply.reasoning),) if reply.reasoning else ()


def _plain(call: Mapping[str, Any], spare: str) -> dict[str, Any]:
    """A call in the form in which it can be sent back: with an id, and arguments that are the text of an object."""
    function = _function(call)
    arguments = _arguments(function)
    name = function.get("name")
    said = json.dumps(arguments, ensure_ascii=False) if isinstance(arguments, Mapping) else "{}"
    return {
        "id": _whole(str(call.get("id") or spare)),
        "type": "function",
        "function": {"name": _whole(name) if isinstance(name, str) else "", "arguments": _whole(said)},
    }


def _whole(text: str) -> str:
    """Text that can be sent: without halves of characters."""
    return text.encode("utf-8", "replace").decode()


def _function(call: Mapping[str, Any]) -> Mapping[str, Any]:
    function = call.get("function")
    return function if isinstance(function, Mapping) else {}


def _arguments(function: Mapping[str, Any]) -> object:
    """The arguments as a value: some servers send them as an object, and not as its text; `None` when unreadable."""
    given = function.get("arguments")
    if not isinstance(given, str):
        return {} if given is None else given
    try:
        return json.loads(given) if given.strip() else {}
    except (ValueError, RecursionError):
        return None


def _answer(call: Mapping[str, Any], raw: Mapping[str, Any], number: int, known: Mapping[str, Tool]) -> Message:
    """The turn that answers one call."""
    name, arguments = call["function"]["name"], _arguments(_function(raw))
    tool = known.get(name)
    if number >= _AT_ONCE:
        said = f"error: only {_AT_ONCE} calls are made at once; ask again"
    elif tool is None:
        said = f"error: there is no tool {name[:80]!r}; there are {', '.join(known)}"
    elif arguments is None:
        said = "error: the arguments are not JSON"
    else:
        said = tool.call(arguments)
    return Message("tool", said, call_id=call["id"])
