"""Skill-aware reflection: reminders of rules that were there and not followed, in the protected appendix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from skillgit.models.prompt import render
from skillgit.optimizer.advisor import Advisor, Drop
from skillgit.skills.document import Document
from skillgit.skills.edits import Guard
from skillgit.skills.regions import region_text, set_region

APPENDIX: Final = "APPENDIX"
_HEADING = "## Execution Notes Appendix"
NOTES_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"appendix_notes": {"type": "array", "items": {"type": "string"}, "minItems": 1}},
    "required": ["appendix_notes"],
}


def reminders(document: Document) -> tuple[str, ...]:
    """The reminders that stand in the appendix."""
    lines = region_text(document, APPENDIX).splitlines()
    return tuple(line.removeprefix("- ").strip() for line in lines if line.startswith("- "))


def with_reminders(
    advisor: Advisor, document: Document, new: Sequence[str], *, threshold: int, step: int, guard: Guard
) -> Document:
    """The document with new reminders added, repeated ones once; merged by the optimizer when there are too many.

    Args:
        threshold: more reminders than this are merged, 0 for never. A merge counts only if it leaves fewer.
    """
    old = reminders(document)
    united = {_key(note): note for note in reversed((*old, *new)) if _key(note)}
    notes = list(reversed(united.values()))
    if len(notes) == len(old):
        return document
    if threshold and len(notes) > threshold:
        notes = _consolidated(advisor, document, notes, step)
    changed = set_region(document, APPENDIX, "\n".join([_HEADING, "", *(f"- {note}" for note in notes)]))
    if leak := guard(document.text, changed.text):
        advisor.drop(Drop("appendix", 0, leak))
        return document
    return changed


def _consolidated(advisor: Advisor, document: Document, notes: list[str], step: int) -> list[str]:
    messages = render(
        "appendix_consolidate",
        skill=document.text[document.body_start :].strip(),
        reminders="\n".join(f"- {note}" for note in notes),
    )
    reply = advisor.ask(messages, NOTES_SCHEMA, stage="appendix_consolidate", step=step)
    merged = [" ".join(note.split()) for note in reply["appendix_notes"] if note.strip()] if reply else []
    return merged if 0 < len(merged) < len(notes) else notes


def _key(note: str) -> str:
    return " ".join(note.split()).casefold().rstrip(" .;:,_-")
