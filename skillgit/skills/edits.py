"""Edits: bounded changes that a model proposes, and what applying each one did.

A refused edit leaves the text as it was and says why; nothing is put somewhere else instead.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NoReturn, cast, get_args

from skillgit.skills.document import Document, Span
from skillgit.skills.lines import UNPRINTABLE, ended, line_start, next_line, split_lines, with_blank_end, with_newline
from skillgit.skills.markers import strip_markers
from skillgit.skills.matching import ambiguous_reason, missing_reason, occurrences

Op = Literal["append", "insert_after", "replace", "delete"]
Outcome = Literal["applied", "duplicate", "unmatched", "ambiguous", "protected", "forbidden", "leak"]

NEEDS: Mapping[str, tuple[str, ...]] = {
    "append": ("content",),
    "insert_after": ("target", "content"),
    "replace": ("target", "content"),
    "delete": ("target",),
}


def _shape(op: str, fields: tuple[str, ...]) -> dict[str, Any]:
    strings = {name: {"type": "string"} for name in fields}
    return {
        "type": "object",
        "properties": {"op": {"type": "string", "enum": [op]}, **strings},
        "required": ["op", *fields],
    }


EDIT_SCHEMA: dict[str, Any] = {"anyOf": [_shape(op, fields) for op, fields in NEEDS.items()]}
"""JSON schema of one edit: each op with the fields it needs; others are ignored."""


class EditError(ValueError):
    """Something a model sent in place of an edit; the message says what is wrong with it."""


@dataclass(frozen=True)
class Edit:
    """One bounded change.

    Attributes:
        op: what to do.
        content: text to add, or to put in place of `target`.
        target: text of the document that the change refers to.
        source_type: `failure` or `success`: the trajectories it came from; empty when unknown.
        support: how many trajectories asked for it.
    """

    op: Op
    content: str = ""
    target: str = ""
    source_type: str = ""
    support: int = 1

    @classmethod
    def from_json(cls, value: object) -> Edit:
        """Read an edit from a model's reply. Null in a field the op does not need counts as absent.

        Raises:
            EditError: not an object, unknown op, or a field that is missing, blank or not text.
        """
        if not isinstance(value, Mapping):
            raise EditError(f"an edit is an object, not {_json_type(value)}")
        op = _op(value.get("op"))
        content, target = (_text_field(value, name, op) for name in ("content", "target"))
        source = value.get("source_type")
        return cls(op, content, target, source if source in ("failure", "success") else "", _support(value))

    def to_json(self) -> dict[str, Any]:
        """The edit as JSON values, without what is empty or default."""
        fields: dict[str, Any] = {"op": self.op}
        fields |= {name: text for name in ("target", "content", "source_type") if (text := getattr(self, name))}
        return fields if self.support == 1 else {**fields, "support": self.support}


@dataclass(frozen=True)
class EditResult:
    """What became of one edit. `reason` is empty when it was applied."""

    edit: Edit
    outcome: Outcome
    reason: str = ""


Guard = Callable[[str, str], str]
"""Says why the change from one text to another must not be made; empty when it may."""


def allow_all(before: str, after: str) -> str:  # noqa: ARG001 - the shape of a guard
    """The guard that refuses nothing."""
    return ""


def apply_edits(
    doc: Document, edits: Iterable[Edit], guard: Guard = allow_all
) -> tuple[Document, tuple[EditResult, ...]]:
    """Apply edits one after the other, each to the text the one before it left.

    Args:
        guard: asked about each edit that could be applied; what it refuses has the outcome `leak`.

    Returns:
        The new document and one result per edit, in order. Bytes outside an edit's own span never change.
    """
    results: list[EditResult] = []
    for edit in edits:
        doc, result = _apply(doc, edit, guard)
        results.append(result)
    return doc, tuple(results)


class _RefusedError(Exception):
    def __init__(self, outcome: Outcome, reason: str) -> None:
        super().__init__(reason)
        self.outcome, self.reason = outcome, reason


def _refuse(outcome: Outcome, reason: str) -> NoReturn:
    raise _RefusedError(outcome, reason)


def _apply(doc: Document, edit: Edit, guard: Guard) -> tuple[Document, EditResult]:
    try:
        action = _ACTIONS.get(edit.op) or _refuse("forbidden", f"unknown op {edit.op!r}")
        after = Document(action(doc, edit), doc.where)
        _check_kept(doc, after)
        if reason := guard(doc.text, after.text):
            _refuse("leak", reason)
    except _RefusedError as refused:
        return doc, EditResult(edit, refused.outcome, refused.reason)
    return after, EditResult(edit, "applied")


def _append(doc: Document, edit: Edit) -> str:
    block = _new_block(doc, edit)
    limit, text, newline = doc.marks.limit, doc.text, doc.newline
    if limit is None:
        return with_blank_end(text, newline) + block + newline
    at = max(line_start(text, limit), doc.body_start)
    return with_blank_end(text[:at], newline) + block + newline * 2 + text[at:]


def _insert_after(doc: Document, edit: Edit) -> str:
    _, end = _find(doc, edit)
    block = _new_block(doc, edit)
    at = next_line(doc.text, end)
    if any(low < at < high for low, high in doc.marks.spans):
        _refuse("protected", "the line it would follow runs into a protected region")
    return ended(doc.text[:at], doc.newline) + doc.newline + block + doc.newline + doc.text[at:]


def _replace(doc: Document, edit: Edit) -> str:
    start, end = _find(doc, edit)
    # The target's own outer line endings stay, so that lines do not run together.
    content = _clean_content(doc, edit).strip("\r\n")
    if content == doc.text[start:end]:
        _refuse("duplicate", "the text already reads so")
    return doc.text[:start] + content + doc.text[end:]


def _delete(doc: Document, edit: Edit) -> str:
    start, end = _find(doc, edit)
    return doc.text[:start] + doc.text[end:]


_ACTIONS = {"append": _append, "insert_after": _insert_after, "replace": _replace, "delete": _delete}


def _find(doc: Document, edit: Edit) -> Span:
    """The one span the edit refers to, known to be free of frontmatter and protected text."""
    if not edit.target.strip():
        _refuse("unmatched", "the edit names no target")
    found = occurrences(doc.text, edit.target)
    if not found:
        _refuse("unmatched", missing_reason(doc.text, edit.target))
    if len(found) > 1:
        _refuse("ambiguous", ambiguous_reason(doc.text, found))
    start, end = found[0] if edit.op == "delete" else _trimmed(doc.text, found[0])
    if start < doc.body_start:
        _refuse("forbidden", "the target reaches into the frontmatter")
    if any(start < high and low < end for low, high in doc.marks.spans):
        _refuse("protected", "the target reaches into a protected region")
    return start, end


def _trimmed(text: str, span: Span) -> Span:
    """The span without line endings at its edges."""
    inner = text[slice(*span)].strip("\r\n")
    start = text.index(inner, span[0])
    return start, start + len(inner)


def _clean_content(doc: Document, edit: Edit) -> str:
    """The content without markers, in the document's line endings."""
    content = strip_markers(edit.content)
    if bad := UNPRINTABLE.search(content):
        _refuse("forbidden", f"the content has the control character U+{ord(bad[0]):04X}")
    if not content.strip():
        _refuse("forbidden", "there is no content besides region markers" if edit.content else "there is no content")
    return with_newline(content, doc.newline)


def _new_block(doc: Document, edit: Edit) -> str:
    """Content to stand on lines of its own; appended text starts at the margin, inserted text keeps its indent."""
    content = with_newline(_clean_content(doc, edit), "\n").rstrip()
    content = textwrap.dedent(content).strip() if edit.op == "append" else re.sub(r"\A(?:[ \t]*\n)+", "", content)
    if _stands(doc, content):
        _refuse("duplicate", "these lines are already in the skill")
    return with_newline(content, doc.newline)


def _stands(doc: Document, block: str) -> bool:
    """True when the block's lines follow each other somewhere in the body; spaces at line ends do not matter."""
    lines = [line.rstrip() for line in split_lines(doc.text[doc.body_start :])]
    wanted = [line.rstrip() for line in split_lines(block)]
    return any(lines[at : at + len(wanted)] == wanted for at in range(len(lines) - len(wanted) + 1))


def _check_kept(before: Document, after: Document) -> None:
    """Refuse what only shows in the result, such as an opened code fence that hides a region."""
    if before.head != after.head:
        _refuse("forbidden", "it would change the frontmatter")
    if before.guarded != after.guarded:
        _refuse("protected", "it would change, make or hide a protected region")


def _op(value: object) -> Op:
    if value not in get_args(Op):
        raise EditError(f"unknown op {value!r}; use one of {', '.join(NEEDS)}")
    return cast(Op, value)


def _text_field(value: Mapping[str, Any], name: str, op: str) -> str:
    text, needed = value.get(name), name in NEEDS[op]
    if text is None and not needed:
        return ""
    if text is not None and not isinstance(text, str):
        raise EditError(f"{name} of {op} is {_json_type(text)}, not text")
    if needed and not (text or "").strip():
        hint = "; to remove text use delete" if (op, name) == ("replace", "content") else ""
        raise EditError(f"{op} needs {name}, which is {'missing' if text is None else 'blank'}{hint}")
    return cast(str, text)


def _support(value: Mapping[str, Any]) -> int:
    count = value.get("support", value.get("support_count"))
    return count if isinstance(count, int) and not isinstance(count, bool) and count > 0 else 1


def _json_type(value: object) -> str:
    names = {type(None): "null", bool: "a boolean", str: "text", list: "a list", dict: "an object"}
    return names.get(type(value), "a number")
