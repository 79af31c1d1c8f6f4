"""The three ways a step changes the skill, as data: what analysts propose, and how it is read.

`patch`: bounded edits. `rewrite_from_suggestions`: suggestions that a writer carries out.
`full_rewrite_minibatch`: whole documents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from skillgit.skills.edits import EDIT_SCHEMA, Edit, EditError

_TEXT = {"type": "string"}
_KINDS = ("add_rule", "remove_rule", "merge_rules", "reorganize", "compress", "clarify")


@dataclass(frozen=True)
class Suggestion:
    """One suggested revision; `support` is the number of trajectories behind it."""

    type: str
    title: str
    instruction: str
    motivation: str = ""
    priority_hint: str = "medium"
    source_type: str = ""
    support: int = 1

    def to_json(self) -> dict[str, Any]:
        """The suggestion as JSON values."""
        return asdict(self)


@dataclass(frozen=True)
class Draft:
    """One whole new document body."""

    title: str
    new_skill: str
    change_summary: tuple[str, ...] = ()
    source_type: str = ""
    support: int = 1

    def to_json(self) -> dict[str, Any]:
        """The draft as JSON values."""
        return asdict(self)


Proposal = Edit | Suggestion | Draft


@dataclass(frozen=True)
class Mode:
    """One update mode.

    Attributes:
        name: value of `optimizer.skill_update_mode`.
        key: field of a reply that holds the proposals.
        item: JSON schema of one proposal.
        parse: from JSON to a proposal; raises `EditError`.
        budgeted: the edit budget applies.
    """

    name: str
    key: str
    item: Mapping[str, Any]
    parse: Callable[[Any], Proposal]
    budgeted: bool = True

    @property
    def form(self) -> str:
        """Name of the prompt that tells the form of an answer."""
        return f"form_{self.name}"

    def schema(self, *, notes: bool) -> dict[str, Any]:
        """What the model is asked to follow; `notes` adds reminders for the appendix."""
        pattern = {"type": "object", "properties": {"failure_type": _TEXT, "description": _TEXT}}
        fields: dict[str, Any] = {
            "reasoning": _TEXT,
            "failure_summary": {"type": "array", "items": pattern},
            self.key: {"type": "array", "items": self.item},
        }
        if notes:
            fields["appendix_notes"] = {"type": "array", "items": _TEXT}
        return {"type": "object", "properties": fields, "required": ["reasoning", self.key]}

    def accepted(self) -> dict[str, Any]:
        """What a reply must be at least; each proposal is judged by itself, so a bad one does not cost the others."""
        fields = {"failure_summary": {"type": "array", "items": {"type": "object"}}, self.key: {"type": "array"}}
        return {"type": "object", "properties": fields, "required": [self.key]}


def line(proposal: Proposal) -> str:
    """One proposal on one line, for memories and messages."""
    if isinstance(proposal, Suggestion):
        return f"{proposal.type}: {proposal.title}: {proposal.instruction}"
    if isinstance(proposal, Draft):
        return f"rewrite: {proposal.title}: {'; '.join(proposal.change_summary)}"
    parts = [(("at", proposal.target), ("text", proposal.content))]
    return " ".join([proposal.op, *(f"{label} {text!r}" for label, text in parts[0] if text)])


def _suggestion(value: Any) -> Suggestion:
    fields = _object(value)
    kind = str(fields.get("type", ""))
    if kind not in _KINDS:
        raise EditError(f"a suggestion's type must be one of {', '.join(_KINDS)}, not {kind!r}")
    texts = {name: _text(fields, name) for name in ("title", "instruction")}
    return Suggestion(
        kind,
        **texts,
        motivation=str(fields.get("motivation") or ""),
        priority_hint=str(fields.get("priority_hint") or "medium"),
        source_type=str(fields.get("source_type") or ""),
        support=_count(fields),
    )


def _draft(value: Any) -> Draft:
    fields = _object(value)
    summary = fields.get("change_summary") or []
    lines = tuple(str(entry) for entry in summary) if isinstance(summary, list) else (str(summary),)
    return Draft(
        str(fields.get("title") or "rewrite"),
        _text(fields, "new_skill"),
        lines,
        str(fields.get("source_type") or ""),
        _count(fields),
    )


def _object(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise EditError(f"a proposal must be a JSON object, not {type(value).__name__}")
    return value


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str) or not value.strip():
        raise EditError(f"a proposal needs a text as {name!r}")
    return value


def _count(fields: Mapping[str, Any]) -> int:
    value = fields.get("support_count", fields.get("support", 1))
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 1


def _fields(*names: str) -> dict[str, Any]:
    properties = dict.fromkeys(names, _TEXT) | {"support_count": {"type": "integer"}, "source_type": _TEXT}
    return {"type": "object", "properties": properties, "required": list(names)}


MODES: Mapping[str, Mode] = {
    mode.name: mode
    for mode in (
        Mode("patch", "edits", EDIT_SCHEMA, Edit.from_json),
        Mode(
            "rewrite_from_suggestions",
            "revise_suggestions",
            _fields("type", "title", "motivation", "instruction", "priority_hint"),
            _suggestion,
        ),
        Mode("full_rewrite_minibatch", "skill_candidates", _fields("title", "new_skill"), _draft, budgeted=False),
    )
}
