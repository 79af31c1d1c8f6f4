"""What is wrong with a manifest, a source or materialised data; everything is found before anything is said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

KINDS = {
    "repeated": "named twice by the manifest",
    "overlap": "in two splits",
    "count": "counted otherwise than told",
    "missing": "missing from the source",
    "duplicate": "more than once in the source",
    "mismatch": "contradicting the manifest",
    "unusable": "without what a task needs",
    "unreadable": "unreadable",
    "file": "with a file that cannot be used",
    "changed": "changed since it was written",
}
"""Kind of a finding to how it is counted."""


@dataclass(frozen=True)
class Finding:
    """One fault.

    Attributes:
        kind: a name of `KINDS`.
        id: the item's id; empty where a fault is about no item.
        where: `file` or `file:line`.
        text: what is wrong.
    """

    kind: str
    text: str
    id: str = ""
    where: str = ""


@dataclass
class Findings:
    """A growing list of faults."""

    found: list[Finding] = field(default_factory=list)

    def add(self, kind: str, text: str, *, id: str = "", where: str = "") -> None:  # noqa: A002 - as the field
        """Note one fault."""
        self.found.append(Finding(kind, text, id, where))


def counted(findings: Sequence[Finding]) -> str:
    """How many of each kind there are, as people read it: `2 missing from the source, 1 in two splits`."""
    counts = Counter(finding.kind for finding in findings)
    return ", ".join(f"{counts[kind]} {text}" for kind, text in KINDS.items() if counts[kind])
