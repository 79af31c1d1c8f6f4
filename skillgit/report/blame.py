"""Why each line of a skill is there: its commit, the step or night that wrote it, what that gained, and for what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skillgit.evals.evidence import Evidence, compare, read_records, whole_score
from skillgit.git import history
from skillgit.git.blame import Line, Origin, blame
from skillgit.git.history import Logged
from skillgit.git.objects import resolve_many
from skillgit.git.repository import Repository
from skillgit.git.skillstore import Place
from skillgit.report.steps import StepRecords


def explain(repo: Repository, place: Place, revision: str = "", lines: str = "") -> dict[str, Any]:
    """Each line of the skill's document with its commit, and what is known of each commit.

    Args:
        revision: a commit; empty for the working tree.
        lines: `FIRST,LAST` to leave out the others.

    Returns:
        `lines` (`line`, `commit` or `None` when not committed, `step_commit`, `text`), `commits` by id,
        `missing_runs`: runs whose journal is not in this clone, so that nothing is known of the failures behind their
        lines, and `unreadable` step records (`run`, `file`, `why`). `step_commit` is the step's own commit for a line
        that came in with others, in a squashed commit.
    """
    found, origins = blame(repo, revision, place.document, lines)
    origins.pop(repo.zero, None)
    journals = StepRecords(repo, place.name)
    commits = _commits(repo, place, origins, journals)
    steps: dict[tuple[str, int], str] = {}
    for origin in origins.values():
        inner = _squashed(repo, origin, commits[origin.commit]["squashed"])
        steps |= {(origin.commit, line.number): line.commit for line in inner[0]}
        commits = _commits(repo, place, inner[1], journals) | commits
    rows = [
        {
            "line": line.number,
            "commit": line.commit if line.commit in commits else None,
            "step_commit": steps.get((line.commit, line.source)),
            "text": line.text,
        }
        for line in found
    ]
    return {
        "document": place.document,
        "lines": rows,
        "commits": commits,
        "missing_runs": journals.missing,
        "unreadable": journals.unreadable,
    }


def _squashed(repo: Repository, origin: Origin, commit: str | None) -> tuple[tuple[Line, ...], dict[str, Origin]]:
    """The lines of a squashed commit as the run wrote them: `commit` of the run has the same skill, line by line."""
    if commit is None or repo.resolve(f"{commit}:{origin.path}") is None:
        return (), {}
    return blame(repo, commit, origin.path)


def _commits(
    repo: Repository, place: Place, origins: Mapping[str, Origin], journals: StepRecords
) -> dict[str, dict[str, Any]]:
    logged = history.messages(repo, origins)
    sides = _objects(repo, place, list(origins.values()))
    names = [name for pair in sides.values() for name in pair if name]
    evidence = {name: Evidence(tuple(found)) for name, found in read_records(repo, names).items()}
    return {
        commit: _facts(origin, logged[commit], sides[commit], evidence, journals) for commit, origin in origins.items()
    }


def _objects(repo: Repository, place: Place, origins: Sequence[Origin]) -> dict[str, tuple[str | None, str | None]]:
    """Commit to the skill object before it and in it."""
    questions = []
    for origin in origins:
        questions += [_skill(place, origin.before) or ":", _skill(place, f"{origin.commit}:{origin.path}")]
    found = resolve_many(repo, questions)
    return {origin.commit: (found[2 * n], found[2 * n + 1]) for n, origin in enumerate(origins)}


def _skill(place: Place, document: str) -> str:
    """`COMMIT:FOLDER` of a skill, for `COMMIT:FOLDER/SKILL.md`; a bare file is its own skill."""
    return document if place.path == place.document else document.rpartition("/")[0]


def _facts(
    origin: Origin,
    entry: Logged,
    sides: tuple[str | None, str | None],
    evidence: Mapping[str, Evidence],
    journals: StepRecords,
) -> dict[str, Any]:
    before, after = (evidence.get(name or "", Evidence()) for name in sides)
    gate = _gate(after)
    run = entry.run or str(gate.get("run") or "")
    step = journals.step(run, entry, sides[1])
    comparison = compare(before, after)
    # A commit that brings several steps at once is none of them, though its object is what the last of them made.
    own = bool(entry.run) or gate.get("base") in (None, sides[0])
    told = step if own else {}
    return {
        "commit": origin.commit,
        "date": origin.date,
        "author": origin.author,
        "subject": origin.subject,
        "object": sides[1],
        "run": run or None,
        "step": entry.step if entry.run else gate.get("step") if own else None,
        "evidence": entry.evidence or None,
        "verdict": entry.verdict or (gate.get("verdict") if own else None),
        # Of two records the one that the change was computed from, so that both stand for the same conditions.
        "score": whole_score((comparison.after if comparison else after.record("val")) or {}),
        "change": comparison.change if comparison else None,
        "patterns": [str(pattern) for pattern in told.get("patterns", ())],
        "reasoning": str(told.get("reasoning") or "") or None,
        "squashed": None if own else step.get("commit"),
    }


def _gate(evidence: Evidence) -> Mapping[str, Any]:
    """The gate's decision on a skill object, as its record tells it; a baseline is no decision."""
    record = evidence.record("val")
    gate = (record or {}).get("gate")
    return gate if isinstance(gate, dict) and gate.get("verdict") != "baseline" else {}
