"""What git knows of a skill's versions, gathered for `log`, `show`, `status` and `best`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from skillgit.errors import GitError, SkillError
from skillgit.evals.evidence import SPLITS, comparable
from skillgit.evals.records import best_record
from skillgit.git import history as git_history
from skillgit.git import notes
from skillgit.git.history import Logged
from skillgit.git.objects import read_blobs, resolve_many
from skillgit.git.repository import Repository
from skillgit.git.skillstore import Place, find
from skillgit.skills.size import tokens
from skillgit.train import journal
from skillgit.train.state import RunState


def place_of(repo: Repository, skill: str, cwd: Path | None = None) -> Place:
    """Where a skill lies: in HEAD or the working tree, else where its newest run has it (no one merged it yet).

    Raises:
        SkillError: nothing is there.
    """
    try:
        return find(repo, skill, cwd=cwd)
    except SkillError:
        if skill not in trained_skills(repo):
            raise
        newest = states(repo, skill)[0]
        return Place(newest.skill, newest.path, newest.document)


def versions(
    repo: Repository, place: Place, revisions: Sequence[str] = (), *, limit: int = 0, graph: bool = False
) -> list[dict[str, Any]]:
    """The skill's versions, newest first, with the scores measured on each version's skill object.

    Args:
        revisions: where to start; by default HEAD and every training and proposal branch of the skill.
        graph: add git's drawing of how they hang together, as lines before each version and before its own line.
    """
    logged = git_history.log(repo, list(revisions) or _starts(repo, place), place.path, limit=limit, graph=graph)
    drawn: list[dict[str, Any]] = [{"graph": list(entry.graph)} if graph else {} for entry in logged]
    return [version | more for version, more in zip(describe(repo, place, logged), drawn, strict=True)]


def describe(repo: Repository, place: Place, logged: Sequence[Logged]) -> list[dict[str, Any]]:
    """The skill as of each commit: its object, its length in tokens, and the scores measured on it."""
    objects = resolve_many(repo, [f"{entry.commit}:{place.path}" for entry in logged])
    records = notes.read_records(repo, notes.EVALS, [name for name in objects if name])
    shown = comparable(records)
    texts = read_blobs(repo, [f"{entry.commit}:{place.document}" for entry in logged])
    return [
        _version(entry, name, text, shown.get(name or "", []))
        for entry, name, text in zip(logged, objects, texts, strict=True)
    ]


def rejected(repo: Repository, place: Place) -> list[dict[str, Any]]:
    """Candidates that were measured and not accepted, newest first."""
    found = []
    for run, tip in journal.runs(repo, place.name).items():
        for step in journal.steps(repo, tip):
            record = step.get("record")
            if record and step["kind"] != "baseline" and not step.get("commit"):
                found.append(candidate(run, step))
    return found[::-1]


def states(repo: Repository, skill: str) -> list[RunState]:
    """Every run's state, newest first."""
    return [journal.load(repo, skill, run)[0] for run in reversed(journal.runs(repo, skill))]


def trained_skills(repo: Repository) -> list[str]:
    """Names of the skills that have runs."""
    prefix = f"{journal.RUNS}/"
    return sorted({ref.removeprefix(prefix).split("/", 1)[0] for ref in repo.refs(journal.RUNS)})


def best_state(repo: Repository, skill: str, run: str = "") -> RunState:
    """The run to take the best version from: the named one, else the newest with a baseline. Raises `GitError`."""
    if run:
        return journal.load(repo, skill, run)[0]
    found = [state for state in states(repo, skill) if state.tick >= 0]
    if not found:
        raise GitError(f"{skill} has no training run", fix=f"skillgit train {skill}")
    return found[0]


def _starts(repo: Repository, place: Place) -> list[str]:
    branches = repo.refs(f"refs/heads/train/{place.name}", f"refs/heads/sleep/{place.name}")
    return [*(["HEAD"] if repo.head() else []), *branches]


def _version(
    entry: Logged, skill_object: str | None, text: bytes | None, records: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    best = {split: best_record(records, split) for split in SPLITS}
    scores = {split: _scores(record) for split, record in best.items() if record}
    return {
        "commit": entry.commit,
        "object": skill_object,
        "run": entry.run or None,
        "step": entry.step,
        "epoch": entry.epoch,
        "verdict": entry.verdict or None,
        "subject": entry.subject,
        "tokens": None if text is None else tokens(text.decode("utf-8", "replace")),
        "scores": scores,
    }


def _scores(record: Mapping[str, Any]) -> dict[str, Any]:
    """Scores of a record; a partial one is not a mean over the set, so it carries the bound that it proves."""
    scores = {key: record[key] for key in ("hard", "soft", "n")}
    bound = record.get("bound")
    return scores | ({"at_most": bound["score_at_most"]} if bound else {})


def candidate(run: str, step: Mapping[str, Any]) -> dict[str, Any]:
    """What a step proposed, described like a version."""
    record = step.get("record")
    return {
        "commit": None,
        "object": record["skill"] if record else None,
        "run": run,
        "step": step["step"],
        "epoch": step["epoch"],
        "verdict": step.get("verdict"),
        "subject": step.get("title"),
        "tokens": step.get("tokens"),
        "scores": {"val": _scores(record)} if record else {},
    }
