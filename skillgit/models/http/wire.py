"""Chat Completions as data: from a `Request` to a JSON body, from a JSON body to a `Reply`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from skillgit.models.base import Image, Message, ModelSpec, Reply, Request, Usage
from skillgit.models.http.failures import Endpoint, from_status, refused, transient
from skillgit.models.reasoning import split_reasoning
from skillgit.models.retry import Failure

_WEAKER = {"json_schema": "json_object", "json_object": "plain"}
_STRENGTH = ("plain", "json_object", "json_schema")
_THOUGHTS = ("reasoning_content", "reasoning")  # fields that servers which separate reasoning themselves put it in
_ASK = "Reply with one JSON value that follows this JSON schema, and nothing else:\n"


@dataclass(frozen=True)
class Habits:
    """What one server understands, learned from what it rejects.

    Attributes:
        format: how JSON is asked for: `json_schema`, `json_object` or `plain` (by words alone).
        limit: name of the field that bounds the reply's length.
        seed: whether a sampling seed is taken.
    """

    format: str = "json_schema"
    limit: str = "max_tokens"
    seed: bool = True

    def without(self, rejected: str, body: Mapping[str, Any]) -> Habits | None:
        """Habits that leave the rejected field out, or `None` when `body` did not hold it."""
        if rejected == "response_format" and "response_format" in body:
            return replace(self, format=_WEAKER[self.format])
        if rejected == "max_tokens" and "max_tokens" in body:
            return replace(self, limit="max_completion_tokens")
        if rejected == "seed" and "seed" in body:
            return replace(self, seed=False)
        return None

    def join(self, other: Habits) -> Habits:
        """What both have learned."""
        limit = self.limit if self.limit != "max_tokens" else other.limit
        return Habits(min(self.format, other.format, key=_STRENGTH.index), limit, self.seed and other.seed)


def body(request: Request, spec: ModelSpec, habits: Habits) -> dict[str, Any]:
    """The JSON body of `request`; the request's own settings win over the model's."""
    optional = {
        habits.limit: most_tokens(request, spec),
        "temperature": _first(request.temperature, spec.temperature),
        "seed": _first(request.seed, spec.seed) if habits.seed else None,
        "tools": [dict(tool) for tool in request.tools] or None,
        "response_format": _format(request.schema, habits.format),
    }
    sent = {name: value for name, value in optional.items() if value is not None}
    return {"model": spec.model, "messages": _messages(request, habits), **sent}


def most_tokens(request: Request, spec: ModelSpec) -> int | None:
    """Most tokens of the reply: what the request asks for, else the model's setting, never above the server's cap."""
    wanted, cap = request.max_tokens or spec.max_tokens, spec.options.get("cap")
    return min(wanted, cap) if wanted and cap else wanted or None


def _first(*values: float | None) -> float | None:
    return next((value for value in values if value is not None), None)


def _format(schema: Mapping[str, Any] | None, style: str) -> dict[str, Any] | None:
    if schema is None or style == "plain":
        return None
    if style == "json_object":
        return {"type": "json_object"}
    return {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": dict(schema)}}


def _messages(request: Request, habits: Habits) -> list[dict[str, Any]]:
    turns = list(request.messages)
    if request.schema is not None and habits.format != "json_schema" and turns:
        # At the very end, so that everything before it can still come from the server's prompt cache.
        asked = f"{turns[-1].content}\n\n{_ASK}{json.dumps(dict(request.schema), ensure_ascii=False)}"
        turns[-1] = replace(turns[-1], content=asked)
    return [_turn(turn) for turn in turns]


def _turn(turn: Message) -> dict[str, Any]:
    sent: dict[str, Any] = {"role": turn.role, "content": sendable(turn)}
    if turn.images:
        sent["content"] = [{"type": "text", "text": sent["content"]}, *map(_image, turn.images)]
    if turn.tool_calls:
        sent |= {"content": sent["content"] or None, "tool_calls": [dict(call) for call in turn.tool_calls]}
    if turn.call_id:
        sent["tool_call_id"] = turn.call_id
    return sent


def _image(image: Image) -> dict[str, Any]:
    detail = {} if image.detail == "auto" else {"detail": image.detail}
    return {"type": "image_url", "image_url": {"url": image.uri, **detail}}


def sendable(turn: Message) -> str:
    # A lone surrogate (from a badly decoded file) cannot be encoded and must not cost the call.
    return turn.content.encode("utf-8", "replace").decode("utf-8")


def read(raw: bytes, place: Endpoint) -> Reply | Failure:
    """The answer in a response body with a success status."""
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError):
        fix = "if this repeats, check that model.base_url ends in /v1"
        return transient(place, "sent a broken body", not_json(raw, place), fix)
    if not isinstance(data, Mapping):
        return transient(place, "sent a broken body", "not a JSON object")
    if data.get("error") and not data.get("choices"):
        return _hidden_error(data["error"], place)
    choice = _choice(data)
    if choice is None:
        return transient(place, "sent no choices")
    return _answer(choice, usage(data.get("usage")), place)


def not_json(raw: bytes, place: Endpoint) -> str:
    """How a body begins that should be JSON; what is secret goes before it is cut."""
    return f"not JSON: {place.clean(raw[:2000].decode('utf-8', 'replace'))[:80]!r}"


def _hidden_error(error: object, place: Endpoint) -> Failure:
    """Some gateways report an upstream's failure with status 200."""
    code = error.get("code") if isinstance(error, Mapping) else None
    known = isinstance(code, int) and 400 <= code < 600
    return from_status(place, int(code) if known and code is not None else 502, error, {})


def _choice(data: Mapping[str, Any]) -> Mapping[str, Any] | None:
    choices = data.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, Mapping) else None


def _answer(choice: Mapping[str, Any], used: Usage, place: Endpoint) -> Reply | Failure:
    message = choice.get("message")
    message = message if isinstance(message, Mapping) else {}
    finish = choice.get("finish_reason")
    thought, text = split_reasoning(_text(message.get("content")))
    refusal = message.get("refusal")
    if finish == "content_filter" or (isinstance(refusal, str) and refusal.strip()):
        return refused(place, refusal if isinstance(refusal, str) else "stopped by a content filter")
    calls = _calls(message.get("tool_calls"))
    if not text.strip() and not calls:
        return _blank(finish, place)
    ended = "tool_calls" if calls else "length" if finish == "length" else "stop"
    own = next((said for name in _THOUGHTS if isinstance(said := message.get(name), str)), "")
    return Reply(text, used, ended, calls, "\n\n".join(part for part in (own.strip(), thought) if part))


def _blank(finish: object, place: Endpoint) -> Failure:
    if finish == "length":
        fix = f"raise model.{place.role}_max_tokens"
        return transient(place, "sent an empty reply", "the token limit ended it before any text", fix, retry=False)
    return transient(place, "sent an empty reply", f"finish reason: {finish}")


def _text(content: object) -> str:
    """Text of a message; some servers send a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, Mapping)]
    return "".join(text for text in texts if isinstance(text, str))


def _calls(calls: object) -> tuple[Mapping[str, Any], ...]:
    return tuple(call for call in calls if isinstance(call, Mapping)) if isinstance(calls, list) else ()


def usage(data: object) -> Usage:
    """What the server reports; everything it does not report stays `None`."""
    data = data if isinstance(data, Mapping) else {}
    details = data.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else None
    return Usage(
        prompt_tokens=count(data.get("prompt_tokens")),
        completion_tokens=count(data.get("completion_tokens")),
        cached_tokens=count(cached),
        cost=_dollars(data.get("cost")),
    )


def count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _dollars(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else None
