"""Patches: the edits one analyst, merge or step proposes together."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skillgit.optimizer.modes import Mode, Proposal, line
from skillgit.skills.edits import Edit, EditError


@dataclass(frozen=True)
class Patch:
    """Proposals with the reasoning behind them.

    Attributes:
        edits: edits, suggestions or drafts, by update mode.
        source: `failure` or `success` trajectories, or `mixed`.
        patterns: what the analyst saw going wrong, one line each.
        notes: reminders for the appendix, from skill-aware reflection.
        malformed: reasons of proposals that could not be read.
        tasks: ids of the tasks whose trajectories an analyst was shown.
    """

    edits: tuple[Proposal, ...]
    reasoning: str = ""
    source: str = "failure"
    patterns: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    malformed: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()


def parse_patch(mode: Mode, value: Mapping[str, Any], source: str, support: int, limit: int | None) -> Patch:
    """A patch from a checked reply; proposals that cannot be read are set aside with their reason.

    Args:
        support: number of trajectories behind each proposal that states none of its own.
        limit: most proposals kept, `None` for all.
    """
    edits, malformed = [], []
    for item in value[mode.key]:
        try:
            edits.append(_stamped(mode.parse(item), source, support))
        except EditError as error:
            malformed.append(str(error))
    patterns = tuple(_pattern(entry) for entry in value.get("failure_summary", ()))
    return Patch(
        tuple(edits[:limit]),
        str(value.get("reasoning", "")),
        source,
        tuple(pattern for pattern in patterns if pattern),
        _notes(value.get("appendix_notes")),
        tuple(malformed),
    )


def concatenate(patches: Sequence[Patch]) -> Patch:
    """All edits in order, equal ones once with their support added."""
    merged: dict[str, Proposal] = {}
    for edit in (edit for patch in patches for edit in patch.edits):
        key = _key(edit)
        seen = merged.get(key)
        merged[key] = dataclasses.replace(seen, support=seen.support + edit.support) if seen else edit
    sources = {patch.source for patch in patches}
    return Patch(
        tuple(merged.values()),
        "\n".join(patch.reasoning for patch in patches if patch.reasoning),
        sources.pop() if len(sources) == 1 else "mixed",
        tuple(p for patch in patches for p in patch.patterns),
        tuple(dict.fromkeys(n for patch in patches for n in patch.notes)),
        tuple(m for patch in patches for m in patch.malformed),
        tuple(dict.fromkeys(t for patch in patches for t in patch.tasks)),
    )


def _key(edit: Proposal) -> str:
    return f"{edit.op} {edit.target.strip()} {edit.content.strip()}" if isinstance(edit, Edit) else line(edit)


def _stamped(edit: Proposal, source: str, support: int) -> Proposal:
    return dataclasses.replace(
        edit, source_type=edit.source_type or source, support=edit.support if edit.support > 1 else max(support, 1)
    )


def _notes(value: Any) -> tuple[str, ...]:
    """Reminders of one line each, from a text, a list of texts, or objects that hold one."""
    items = value if isinstance(value, list) else [value]
    texts = [item.get("note") or item.get("content") if isinstance(item, dict) else item for item in items]
    return tuple(" ".join(text.split()) for text in texts if isinstance(text, str) and text.strip())


def _pattern(entry: Mapping[str, Any]) -> str:
    parts = (str(entry.get("failure_type", "")).strip(), str(entry.get("description", "")).strip())
    return ": ".join(part for part in parts if part)
