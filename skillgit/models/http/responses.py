"""OpenAI's Responses API as data: the same request and reply as `wire`, in another shape."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from skillgit.models.base import Image, Message, ModelSpec, Reply, Request, Usage
from skillgit.models.http.failures import Endpoint, from_status, refused, transient
from skillgit.models.http.wire import Habits, count, most_tokens, not_json, sendable
from skillgit.models.retry import Failure

_ONLY = ("gpt-5.3-codex", "gpt-5.2-codex", "gpt-5.1-codex", "gpt-5-codex", "codex-mini", "gpt-5.4-pro")


def needed(model: str) -> bool:
    """Whether a model, or a dated version of it, is offered through this API alone."""
    return any(model == name or model.startswith(f"{name}-") for name in _ONLY)


def body(request: Request, spec: ModelSpec, habits: Habits) -> dict[str, Any]:  # noqa: ARG001 - one shape with `wire`
    """The JSON body of `request`. The API takes no seed."""
    effort = request.effort or spec.options.get("effort")
    temperature = spec.temperature if request.temperature is None else request.temperature
    optional = {
        "instructions": "\n\n".join(m.content for m in request.messages if m.role == "system") or None,
        "max_output_tokens": most_tokens(request, spec),
        "temperature": temperature,
        "reasoning": {"effort": effort} if effort else None,
        "tools": [_tool(tool) for tool in request.tools] or None,
        "text": {"format": _format(request.schema)} if request.schema is not None else None,
    }
    sent = {name: value for name, value in optional.items() if value is not None}
    turns = [item for turn in request.messages if turn.role != "system" for item in _items(turn)]
    return {"model": spec.model, "input": turns, **sent}


def _items(turn: Message) -> Iterator[dict[str, Any]]:
    """A turn as the items that the API has for it."""
    if turn.call_id:
        yield {"type": "function_call_output", "call_id": turn.call_id, "output": sendable(turn)}
        return
    if turn.images:
        parts = [{"type": "input_text", "text": sendable(turn)}, *map(_image, turn.images)]
        yield {"role": turn.role, "content": parts}
    elif turn.content or not turn.tool_calls:
        yield {"role": turn.role, "content": sendable(turn)}
    for call in turn.tool_calls:
        function = call.get("function", {})
        yield {
            "type": "function_call",
            "call_id": call.get("id"),
            "name": function.get("name"),
            "arguments": function.get("arguments"),
        }


def _image(image: Image) -> dict[str, Any]:
    return {"type": "input_image", "image_url": image.uri, "detail": image.detail}


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    """The flat form of a function description."""
    return {"type": "function", **dict(tool.get("function", {}))}


def _format(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "json_schema", "name": "reply", "strict": True, "schema": dict(schema)}


def read(raw: bytes, place: Endpoint) -> Reply | Failure:
    """The answer in a response body with a success status."""
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError):
        return transient(place, "sent a broken body", not_json(raw, place))
    if not isinstance(data, Mapping):
        return transient(place, "sent a broken body", "not a JSON object")
    if data.get("error"):
        return from_status(place, 502, data["error"], {})
    parts = list(_parts(data.get("output")))
    refusals = [text for kind, text in parts if kind == "refusal"]
    if refusals:
        return refused(place, " ".join(refusals))
    text = "".join(text for kind, text in parts if kind == "output_text")
    calls = tuple(_calls(data.get("output")))
    cut, details = data.get("status") == "incomplete", data.get("incomplete_details")
    if isinstance(details, Mapping) and details.get("reason") == "content_filter":
        return refused(place, "stopped by a content filter")
    if not text.strip() and not calls:
        why = "the token limit ended it before any text" if cut else f"status: {data.get('status')}"
        return transient(place, "sent an empty reply", why, retry=not cut)
    finish = "tool_calls" if calls else "length" if cut else "stop"
    thoughts = "\n\n".join(text for kind, text in parts if kind == "summary_text")
    return Reply(text, _usage(data.get("usage")), finish, calls, thoughts)


def _parts(output: object) -> Iterator[tuple[str, str]]:
    """Kind and text of every part of every message and reasoning summary."""
    for item in output if isinstance(output, list) else []:
        if isinstance(item, Mapping) and item.get("type") in ("message", "reasoning"):
            lists = [found for name in ("content", "summary") if isinstance(found := item.get(name), list)]
            for part in (part for parts in lists for part in parts):
                if isinstance(part, Mapping):
                    yield str(part.get("type")), str(part.get("text") or part.get("refusal") or "")


def _calls(output: object) -> Iterator[Mapping[str, Any]]:
    """Function calls in the shape of Chat Completions."""
    for item in output if isinstance(output, list) else []:
        if isinstance(item, Mapping) and item.get("type") == "function_call":
            function = {"name": item.get("name"), "arguments": item.get("arguments")}
            yield {"id": item.get("call_id"), "type": "function", "function": function}


def _usage(data: object) -> Usage:
    data = data if isinstance(data, Mapping) else {}
    details = data.get("input_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else None
    return Usage(count(data.get("input_tokens")), count(data.get("output_tokens")), count(cached))
