"""The readable lines that `git log --notes=skillgit/gates` shows: one pure rendering of records, never a source."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from skillgit.evals.gate import ACCEPTED
from skillgit.evals.records import best_record
from skillgit.evals.shapes import sound_record
from skillgit.git import notes
from skillgit.git.repository import Repository
from skillgit.git.rewrite import changed_objects, held_objects, read_all, rewrite

_LONGEST = 1000  # a longer line is none of ours, and may be made to keep a pattern busy
_SHAPE = re.compile(
    r"(?P<head>(?P<verdict>\w+)(?: \(.*?\))?: (?:train|val|test) \w+ .*?\(n=\w+(?: of \w+)?\))"
    r"(?:; believable change [\d.]+)?; (?P<where>(?P<kind>run|object) (?P<name>[^\s,:]+)(?:, [^:]*)?)(?:: .*)?"
)

Record = Mapping[str, Any]
Changes = dict[str, tuple[list[str], list[str]]]
"""Commit id to its gate lines before and after."""


def gate_line(record: Record) -> str:
    """The line of one record: its gate's decision, or just its score when no gate was asked."""
    split, metric, n = (_word(record.get(key)) for key in ("split", "metric", "n"))
    gate, bound = _part(record, "gate"), _part(record, "bound")
    verdict = _word(gate.get("verdict") or "")
    first = verdict in ("", "baseline")
    limit = None if first and record.get("score") is not None else bound.get("score_at_most")
    scores = change_text(
        split,
        metric,
        gate.get("base_score"),
        record.get("score"),
        n,
        first=first,
        limit=limit,
        planned=bound.get("planned"),
    )
    if not verdict:
        return f"measured: {scores}; object {_word(record.get('skill'))[:12]}"
    if verdict == "baseline":
        return f"baseline: {scores}; run {_word(gate.get('run'))}"
    why = f" ({_text(gate['why'])})" if gate.get("why") else ""
    noise = f"; believable change {_number(gate['believable'])}" if gate.get("believable") is not None else ""
    title = f": {_text(gate['title'])}" if gate.get("title") else ""
    where = place(_word(gate.get("kind") or "step"), _word(gate.get("step")), _word(gate.get("epoch")))
    return f"{verdict}{why}: {scores}{noise}; run {_word(gate.get('run'))}, {where}{title}"


def place(kind: str, step: int | str, epoch: int | str) -> str:
    """Where in a run something happened, in a few words."""
    words = {"step": f"step {step}", "lesson": f"lesson {step}", "compaction": f"compaction of epoch {epoch}"}
    return words.get(kind, f"end of epoch {epoch}")


def change_text(
    split: str,
    metric: str,
    before: Any,
    score: Any,
    n: Any,
    *,
    first: bool = False,
    limit: Any = None,
    planned: Any = None,
) -> str:
    """`val hard 0.500 -> 0.600 (n=20)`, or the bound that a partial evaluation proves.

    Args:
        first: there is nothing before it.
        limit: the highest score that is still possible, for a partial evaluation.
        planned: number of tasks of a partial evaluation.
    """
    if score is None and limit is None:
        return f"{split} not measured"
    old = "" if first else f"{_number(before)} -> "
    new = _number(score) if limit is None else f"at most {_number(limit)}"
    return f"{split} {metric} {old}{new} (n={n}{'' if planned is None else f' of {_word(planned)}'})"


def _number(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, int | float) else "?"


def _part(record: Record, name: str) -> Record:
    part = record.get(name)
    return part if isinstance(part, dict) else {}


def _word(value: Any) -> str:
    """One word of a record that anyone may have written."""
    return "unknown" if value is None else re.sub(r"[\s,;]+", "-", _text(value)) if value != "" else ""


def _text(value: Any) -> str:
    """A text on one line, without control characters: `git log` prints it on a terminal."""
    return " ".join("".join(c if c.isprintable() else " " for c in str(value)).split())


def render_gate_lines(repo: Repository, commits: Sequence[str]) -> int:
    """Write the gate lines of commits anew from the records. Returns how many commits' lines changed.

    A commit gets the lines of the skill objects that it changed. Lines that tell of an object the commit does not hold
    (an amend carried them over) go; lines of people stay.

    Raises:
        GitError: git refused, or the notes kept moving.
    """
    changed: Changes = {}

    def plan() -> dict[str, dict[str, list[str]]]:
        changed.clear()
        changed.update(planned(repo, commits))
        return {notes.GATES: {commit: after for commit, (_, after) in changed.items()}}

    if planned(repo, commits):
        rewrite(repo, "Gate lines rendered by skillgit", plan)
    return len(changed)


def planned(repo: Repository, commits: Sequence[str]) -> Changes:
    """What `render_gate_lines` would change."""
    tips = repo.refs(notes.EVALS, notes.GATES)
    records = _own(read_all(repo, tips.get(notes.EVALS)))
    told = read_all(repo, tips.get(notes.GATES))
    named = _named(records)
    out: Changes = {}
    for commit, objects in changed_objects(repo, list(dict.fromkeys(commits))).items():
        measured = [name for name in dict.fromkeys(objects) if name in records]
        before = told.get(commit, [])
        if not before and not measured:
            continue
        wanted = [line for name in measured for line in _chosen(records[name])]
        kept = [line for line in before if line in wanted or not _stale(repo, commit, line, named, measured)]
        present = {_short(line) for line in kept}
        after = [*kept, *(line for line in wanted if line not in kept and _short(line) not in present)]
        if after != before:
            out[commit] = (before, after)
    return out


def _own(lines: Mapping[str, Sequence[str]]) -> dict[str, list[Record]]:
    """Skill object to its records; a record copied to another object proves nothing about that one."""
    found = {name: [record for line in of if (record := notes.record_of(line))] for name, of in lines.items()}
    own: dict[str, list[Record]] = {
        name: [r for r in records if r.get("skill") == name and sound_record(r)] for name, records in found.items()
    }
    return {name: records for name, records in own.items() if records}


def _chosen(records: Sequence[Record]) -> list[str]:
    """The lines worth a place in `git log`: decisions, else the newest baseline, else one plain measurement."""
    by_time = sorted(records, key=lambda record: str(record.get("at") or ""))
    verdicts = {id(record): _part(record, "gate").get("verdict") for record in by_time}
    decided = [record for record in by_time if verdicts[id(record)] not in (None, "baseline")]
    first = [record for record in by_time if verdicts[id(record)] == "baseline"][-1:]
    plain = next((r for split in ("val", "test", "train") if (r := best_record(by_time, split))), None)
    return list(dict.fromkeys(gate_line(record) for record in decided or first or ([plain] if plain else [])))


def _named(records: Mapping[str, Sequence[Record]]) -> dict[str, set[str]]:
    """Short form of every line to the objects on whose commits it may stand: rejected ones stand on what stayed."""
    found: dict[str, set[str]] = {}
    for name, of in records.items():
        for record in of:
            gate = _part(record, "gate")
            places = {name} if gate.get("verdict") in ACCEPTED else {name, str(gate.get("base"))}
            found.setdefault(_short(gate_line(record)), set()).update(places)
    return found


def _stale(repo: Repository, commit: str, line: str, named: Mapping[str, set[str]], measured: Sequence[str]) -> bool:
    """True when a line of ours tells of an object that the commit does not hold."""
    shape = _shape(line)
    if shape is None:
        return False
    if shape["kind"] == "object":
        held = _held(repo, commit) - set(measured)
        return not any(name.startswith(shape["name"]) for name in held)
    places = named.get(_short(line), set())
    return bool(places) and not places & _held(repo, commit)


def _short(line: str) -> str:
    """What a line has in common with the same record's line of an older version, which knew less to tell."""
    shape = _shape(line)
    return f"{shape['head']}; {shape['where']}" if shape else line


def _shape(line: str) -> re.Match[str] | None:
    return _SHAPE.fullmatch(line) if len(line) <= _LONGEST else None


@lru_cache(maxsize=4)
def _held(repo: Repository, commit: str) -> frozenset[str]:
    return frozenset(held_objects(repo, commit))
