"""Whether a lesson stands in a text, whoever put it there. Pure."""

from __future__ import annotations

from skillgit.skills.blocks import split_blocks
from skillgit.skills.document import Document
from skillgit.skills.edits import Edit
from skillgit.skills.lines import split_lines
from skillgit.skills.markers import strip_markers
from skillgit.sleep.proposals.likeness import is_known


def carried_out(edit: Edit, before: str, after: str) -> bool:
    """True when what an edit does is done in `after` and was not in `before`; a light rewording of a rule counts."""
    if edit.op == "delete":
        return _has(before, edit.target) and not _has(after, edit.target)
    text = strip_markers(edit.content)
    if _has(after, text):
        return not _has(before, text)
    return _has_alike(after, text) and not _has_alike(before, text)


def _has(text: str, part: str) -> bool:
    """True when the lines of `part` follow each other in `text`; spaces around lines do not matter."""
    lines, wanted = _lines(text), _lines(part)
    ends = range(len(lines) - len(wanted) + 1)
    return bool(wanted) and any(lines[at : at + len(wanted)] == wanted for at in ends)


def _has_alike(text: str, part: str) -> bool:
    return is_known(part, [block.key for block in split_blocks(Document(text)).blocks])


def _lines(text: str) -> list[str]:
    return [line.strip() for line in split_lines(text) if line.strip()]
