"""Mending notes: records that were lost come back from journals, damaged text becomes lines again, strays go home."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from skillgit.errors import GitError
from skillgit.evals.shapes import sound_record, sound_results
from skillgit.git import notes
from skillgit.git.notetext import is_as, records_apart, without_repeats
from skillgit.git.repository import Repository
from skillgit.git.rewrite import read_texts, rewrite, unreachable
from skillgit.train import journal

Kind = Literal["restored", "split", "repeated", "moved", "unreadable", "stray", "unreachable", "journal"]
CHANGING = frozenset({"restored", "split", "repeated", "moved"})

_READABLE = {notes.EVALS: sound_record, notes.RESULTS: sound_results}
_REFS = tuple(_READABLE)
_SHOWN = 80


@dataclass(frozen=True)
class Finding:
    """One thing that is not as it should be; those of `CHANGING` kinds are (or would be) mended.

    Attributes:
        kind: `restored` from a journal; `split` into lines; `repeated` word for word; `moved` to the object it
            measured; `unreadable` text that stays; a `stray` record that names no object; a record on an `unreachable`
            object; a `journal` that cannot be read.
        ref: of the note (or journal), `object`: it is on.
    """

    kind: Kind
    ref: str
    object: str
    detail: str


@dataclass
class Repair:
    """Notes being mended: per ref, the lines of every object, and what was found."""

    lines: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def tell(self, kind: Kind, ref: str, name: str, detail: str) -> None:
        self.findings.append(Finding(kind, ref, name, detail))

    def add(self, ref: str, name: str, line: str) -> bool:
        """Add a line to a note; false when it is there already."""
        old = self.lines[ref].get(name, [])
        self.lines[ref][name] = notes.united(old, [line])
        return len(self.lines[ref][name]) > len(old)


def repair_notes(repo: Repository, *, dry_run: bool = False) -> list[Finding]:
    """Mend the notes that hold records and results, all in one transaction. Drops nothing that it cannot read.

    Raises:
        RefConflictError: other writers kept moving the notes.
    """
    changed, findings = _plan(repo)
    if changed and not dry_run:

        def plan() -> Mapping[str, Mapping[str, list[str]]]:
            nonlocal findings
            again, findings = _plan(repo)
            return again

        rewrite(repo, "Notes repaired by skillgit", plan)
    lost = "no branch, tag or journal here holds what was measured; git fetch or skillgit sync --runs may bring it"
    return [*findings, *(Finding("unreachable", notes.EVALS, name, lost) for name in unreachable(repo, notes.EVALS))]


def _plan(repo: Repository) -> tuple[dict[str, dict[str, list[str]]], list[Finding]]:
    """All new lines of the notes that must change, and what was found."""
    tips = repo.refs(*_REFS)
    texts = {ref: read_texts(repo, tips.get(ref)) for ref in _REFS}
    repair = Repair()
    for ref in _REFS:
        repair.lines[ref] = {name: _taken_apart(repair, ref, name, text) for name, text in texts[ref].items()}
    _send_home(repo, repair)
    _restore(repo, repair)
    changed = {
        ref: {name: lines for name, lines in of.items() if not is_as(lines, texts[ref].get(name, b""))}
        for ref, of in repair.lines.items()
    }
    return {ref: of for ref, of in changed.items() if of}, repair.findings


def _taken_apart(repair: Repair, ref: str, name: str, blob: bytes) -> list[str]:
    lines = records_apart(blob.decode("utf-8", "surrogateescape"))
    kept = without_repeats(lines)
    if not is_as(lines, blob):
        repair.tell("split", ref, name, f"{len(lines)} lines of what were {len(blob.splitlines())}")
    if len(kept) < len(lines):
        repair.tell("repeated", ref, name, f"{len(lines) - len(kept)} lines stand there twice")
    for line in kept:
        if not _READABLE[ref](notes.record_of(line)):
            repair.tell("unreadable", ref, name, line[:_SHOWN])
    return kept


def _send_home(repo: Repository, repair: Repair) -> None:
    """Move records, and then their results, to the object that was measured."""
    evals = repair.lines[notes.EVALS]
    for name, line, record in list(_records(evals)):
        home = record.get("skill")
        if home == name:
            continue
        if isinstance(home, str) and _is_id(repo, home):
            _move(repair, notes.EVALS, name, home, line)
        else:
            repair.tell("stray", notes.EVALS, name, f"record {record.get('id')} names no skill object")
    owners: dict[str, set[str]] = {}
    for name, _, record in _records(evals):
        owners.setdefault(str(record.get("id")), set()).add(name)
    for name, line, result in list(_records(repair.lines[notes.RESULTS])):
        homes = owners.get(str(result.get("record")), set())
        if len(homes) == 1 and name not in homes:
            _move(repair, notes.RESULTS, name, next(iter(homes)), line)


def _move(repair: Repair, ref: str, name: str, home: str, line: str) -> None:
    repair.lines[ref][name] = [other for other in repair.lines[ref][name] if other != line]
    repair.add(ref, home, line)
    repair.tell("moved", ref, name, f"to {home}, which it measured")


def _records(lines: Mapping[str, list[str]]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for name, of in lines.items():
        for line in of:
            if record := notes.record_of(line):
                yield name, line, record


def _is_id(repo: Repository, name: str) -> bool:
    return bool(re.fullmatch(f"[0-9a-f]{{{len(repo.zero)}}}", name))


def _restore(repo: Repository, repair: Repair) -> None:
    """Put back what journals hold and notes do not."""
    for ref, tip in repo.refs(journal.RUNS).items():
        try:
            found = journal.read_steps(repo, tip)
        except GitError as error:
            repair.tell("journal", ref, tip, f"it cannot be read: {error.why or error.what}")
            continue
        for path, why in found.unreadable.items():
            repair.tell("journal", ref, tip, f"a step record cannot be read: {path}: {why}")
        for step in found.records.values():
            for record, results in _measured(step):
                _restore_one(repo, repair, record, results)


def _measured(step: Any) -> Iterator[tuple[Any, Any]]:
    """Records with their results (`None` in old journals) of one step record."""
    if isinstance(step, dict):
        yield step.get("record"), step.get("results")
        more = step.get("measured")
        for part in more if isinstance(more, list) else ():
            if isinstance(part, dict):
                yield part.get("record"), part.get("results")


def _restore_one(repo: Repository, repair: Repair, record: Any, results: Any) -> None:
    name = record.get("skill") if isinstance(record, dict) else None
    if not isinstance(name, str) or not _is_id(repo, name):
        return
    for ref, value in ((notes.EVALS, record), (notes.RESULTS, results)):
        if isinstance(value, dict) and repair.add(ref, name, notes.canonical(value)):
            repair.tell("restored", ref, name, f"record {record.get('id')}")
