"""Patches: the edits one analyst, merge or step proposes together."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skillgit.skills.edits import EDIT_SCHEMA, Edit, EditError

PATCH_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "reasoning": {"type": "string"},
        "failure_summary": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"failure_type": {"type": "string"}, "description": {"type": "string"}},
            },
        },
        "edits": {"type": "array", "items": EDIT_SCHEMA},
    },
    "required": ["reasoning", "edits"],
}

PATCH_ACCEPTED: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "reasoning": {"type": "string"},
        "failure_summary": {"type": "array", "items": {"type": "object"}},
        "edits": {"type": "array"},
    },
    "required": ["edits"],
}
"""What a reply must be at least; each edit is judged by itself, so one bad edit does not cost the others."""


@dataclass(frozen=True)
class Patch:
    """Edits with the reasoning behind them.

    Attributes:
        source: `failure` or `success` trajectories, or `mixed`.
        patterns: what the analyst saw going wrong, one line each.
        malformed: reasons of edits that were no valid edits.
    """

    edits: tuple[Edit, ...]
    reasoning: str = ""
    source: str = "failure"
    patterns: tuple[str, ...] = ()
    malformed: tuple[str, ...] = ()


def parse_patch(value: Mapping[str, Any], source: str, support: int, limit: int | None) -> Patch:
    """A patch from a checked reply; edits that are no valid edits are set aside with their reason.

    Args:
        support: number of trajectories behind each edit that states none of its own.
        limit: most edits kept, `None` for all.
    """
    edits, malformed = [], []
    for item in value["edits"]:
        try:
            edits.append(_stamped(Edit.from_json(item), source, support))
        except EditError as error:
            malformed.append(str(error))
    patterns = tuple(_pattern(entry) for entry in value.get("failure_summary", ()))
    return Patch(
        tuple(edits[:limit]), str(value.get("reasoning", "")), source, tuple(p for p in patterns if p), tuple(malformed)
    )


def concatenate(patches: Sequence[Patch]) -> Patch:
    """All edits in order, equal ones once with their support added."""
    merged: dict[tuple[str, str, str], Edit] = {}
    for edit in (edit for patch in patches for edit in patch.edits):
        key = (edit.op, edit.target.strip(), edit.content.strip())
        seen = merged.get(key)
        merged[key] = dataclasses.replace(seen, support=seen.support + edit.support) if seen else edit
    sources = {patch.source for patch in patches}
    return Patch(
        tuple(merged.values()),
        "\n".join(patch.reasoning for patch in patches if patch.reasoning),
        sources.pop() if len(sources) == 1 else "mixed",
        tuple(p for patch in patches for p in patch.patterns),
        tuple(m for patch in patches for m in patch.malformed),
    )


def _stamped(edit: Edit, source: str, support: int) -> Edit:
    return dataclasses.replace(
        edit, source_type=edit.source_type or source, support=edit.support if edit.support > 1 else max(support, 1)
    )


def _pattern(entry: Mapping[str, Any]) -> str:
    parts = (str(entry.get("failure_type", "")).strip(), str(entry.get("description", "")).strip())
    return ": ".join(part for part in parts if part)
