"""What is said in a Codex rollout, in whichever of its record kinds."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from skillgit.sleep.base import Reason
from skillgit.sleep.sources.fields import items, mapping, skill_files, string, without

OPEN = 32
"""Most texts of one side that are remembered until the other side speaks."""
_CONTEXT = (
    "environment_context",
    "user_instructions",
    "codex_internal_context",
    "INSTRUCTIONS",
    "skill",
    "turn_aborted",
    "subagent_notification",
    "user_shell_command",
)
"""Tags of what the program tells the model in the user's name."""
_OPENINGS = tuple(f"<{tag}" for tag in _CONTEXT)
_AGENTS_MD = "# AGENTS.md instructions"
_PROJECT_DOC = "--- project-doc ---"
_DOC_ENDS = ("</environment_context>", "</INSTRUCTIONS>")
_EDITOR = "# Context from my IDE setup"
_REQUEST = "## My request for Codex:"
"""Editors put what is open in them before the request, under this heading."""


@dataclass(frozen=True)
class Speech:
    """A text and who said it.

    Attributes:
        channel: the kind of record that tells it; each channel tells a text once.
        digests: of the texts that another channel may tell it as.
    """

    role: Literal["user", "assistant"]
    text: str
    channel: str
    digests: frozenset[str]
    reason: Reason | Literal[""] = ""
    skills: tuple[str, ...] = ()


def speech(kind: str, body: Mapping[str, Any]) -> Speech | None:
    """What a record says; `None` when it says nothing, or in the name of neither side."""
    told = string(body.get("type"))
    item = mapping(body.get("item"))
    if told == "user_message":
        plain = string(body.get("kind")) in ("", "plain")
        return _speech("user", [string(body.get("message"))], told, plain=plain)
    if told == "agent_message":
        return _speech("assistant", [string(body.get("message"))], told)
    if told == "item_completed" and item.get("type") == "UserMessage":
        return _speech("user", _blocks(item.get("content")), told)
    if told == "item_completed" and item.get("type") == "AgentMessage":
        return _speech("assistant", _blocks(item.get("content")), told)
    if kind in ("response_item", "message") and told == "message":
        role = body.get("role")
        return _speech(role, _blocks(body.get("content")), "message") if role in ("user", "assistant") else None
    return None


def _speech(
    role: Literal["user", "assistant"], blocks: list[str], channel: str, *, plain: bool = True
) -> Speech | None:
    blocks = [block for block in blocks if block.strip()]
    if not blocks:
        return None
    whole = "\n".join(blocks)
    if role == "assistant":
        return Speech(role, whole.strip(), channel, frozenset(map(_digest, [whole, *blocks])))
    typed = [text for block in blocks if (text := _typed(block))]
    if not typed or not plain:
        return Speech(role, whole.strip(), channel, frozenset(), "meta", _injected(whole))
    text = "\n".join(typed)
    return Speech(role, text, channel, frozenset(map(_digest, [whole, text, *typed])))


def _blocks(content: Any) -> list[str]:
    """The texts of a message: a string, an object, or a list of either; pictures have none."""
    if isinstance(content, dict):
        content = content.get("text", content.get("content"))
    if isinstance(content, str):
        return [content]
    return [block if isinstance(block, str) else string(mapping(block).get("text")) for block in items(content)]


def _typed(text: str) -> str:
    """What a person typed of a user's text; blank when it is context alone."""
    text = text.strip()
    if text in ("</image>", "<image>") or text.startswith("<image name="):
        return ""
    if text.startswith(_AGENTS_MD) or _PROJECT_DOC in text:
        text = _after_docs(text)
    for tag in _CONTEXT if "<" in text else ():
        text = without(text, tag)
    if text.lstrip().startswith(_EDITOR):
        text = text.partition(_REQUEST)[2]
    return "" if text.lstrip().startswith(_OPENINGS) else text.strip()


def _after_docs(text: str) -> str:
    """What follows the memory files; blank when their end is not marked."""
    for end in _DOC_ENDS:
        if end in text:
            return text.rpartition(end)[2]
    return ""


def _injected(text: str) -> tuple[str, ...]:
    """Skills whose text the program put in because the person named them."""
    return skill_files(text) if text.lstrip().startswith("<skill>") else ()


def _digest(text: str) -> str:
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()[:16]
