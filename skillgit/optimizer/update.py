"""Update: from selected proposals to a candidate document, by update mode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skillgit.models.prompt import render
from skillgit.optimizer.advisor import Advisor
from skillgit.optimizer.modes import MODES, Draft, Proposal, Suggestion
from skillgit.optimizer.patches import parse_patch
from skillgit.skills.document import Document
from skillgit.skills.edits import Edit, EditResult, Guard, allow_all, apply_edits
from skillgit.skills.regions import with_body

REWRITE_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "reasoning": {"type": "string"},
        "change_summary": {"type": "array", "items": {"type": "string"}},
        "new_skill": {"type": "string", "minLength": 1},
    },
    "required": ["new_skill"],
}


@dataclass(frozen=True)
class Update:
    """A candidate and how it came about.

    Attributes:
        results: what applying each edit gave, in `patch` mode.
        summary: what a rewrite changed, one line each.
        refused: why a rewrite was not taken, empty when it was.
    """

    document: Document
    results: tuple[EditResult, ...] = ()
    summary: tuple[str, ...] = ()
    refused: str = ""


def carry_out(
    advisor: Advisor,
    document: Document,
    proposals: Sequence[Proposal],
    *,
    context: str,
    step: int,
    guard: Guard = allow_all,
) -> Update:
    """The document with the proposals carried out; unchanged when none could be.

    Args:
        guard: says why a change from one text to another must not be made, e.g. because it leaks.
    """
    if suggestions := [item for item in proposals if isinstance(item, Suggestion)]:
        return _rewrite(advisor, document, suggestions, context, step, guard)
    if drafts := [item for item in proposals if isinstance(item, Draft)]:
        return _replaced(document, drafts[0].new_skill, drafts[0].change_summary, guard)
    edits = [item for item in proposals if isinstance(item, Edit)]
    changed, results = apply_edits(document, edits, guard)
    return Update(changed, results)


COMPACT_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"reasoning": {"type": "string"}, "edits": {"type": "array", "items": {"type": "object"}}},
    "required": ["edits"],
}


def compact(advisor: Advisor, skill: str, *, budget: int, step: int) -> tuple[Edit, ...]:
    """At most `budget` deletions and shortenings that should change nothing in what the skill makes its reader do."""
    messages = render("compact", skill=skill or "(empty)", budget=str(budget))
    reply = advisor.ask(messages, COMPACT_SCHEMA, stage="compaction", step=step)
    edits = parse_patch(MODES["patch"], reply, "", 1, None).edits if reply else ()
    return tuple(e for e in edits if isinstance(e, Edit) and e.op in ("replace", "delete"))[:budget]


def _rewrite(
    advisor: Advisor, document: Document, suggestions: Sequence[Suggestion], context: str, step: int, guard: Guard
) -> Update:
    listed = "\n\n".join(
        f"{n}. [{s.type}, {s.priority_hint}] {s.title}\n{s.instruction}" for n, s in enumerate(suggestions, 1)
    )
    body = document.text[document.body_start :].strip()
    messages = render("rewrite", skill=body or "(empty)", context=context, suggestions=listed)
    reply = advisor.ask(messages, REWRITE_SCHEMA, stage="rewrite", step=step, document=True)
    if reply is None:
        return Update(document, refused="no usable rewrite came back")
    summary = tuple(str(entry) for entry in reply.get("change_summary", ()))
    return _replaced(document, reply["new_skill"], summary, guard)


def _replaced(document: Document, body: str, summary: tuple[str, ...], guard: Guard) -> Update:
    changed = with_body(document, body)
    if reason := guard(document.text, changed.text):
        return Update(document, summary=summary, refused=reason)
    return Update(changed, summary=summary)
