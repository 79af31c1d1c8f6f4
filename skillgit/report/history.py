"""What git knows of a skill's versions, gathered for `log`, `show`, `status` and `best`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from skillgit.errors import GitError, SkillError
from skillgit.evals.evidence import SPLITS, comparable, read_records
from skillgit.evals.records import best_record
from skillgit.git import history as git_history
from skillgit.git.history import Logged
from skillgit.git.objects import inside, read_blobs, resolve_many
from skillgit.git.repository import Repository
from skillgit.git.skillstore import FOLDERS, Place, find
from skillgit.report.steps import StepRecords
from skillgit.skills.size import tokens
from skillgit.train import journal
from skillgit.train.state import RunState


def place_of(repo: Repository, skill: str, cwd: Path | None = None, revision: str = "") -> Place:
    """Where a skill lies: in HEAD or the working tree, else where its newest run has it (no one merged it yet).

    Args:
        revision: a commit to look in as well, for a skill that has been removed or renamed since.

    Raises:
        SkillError: nothing is there.
    """
    try:
        return find(repo, skill, cwd=cwd)
    except SkillError as error:
        if place := _once(repo, skill, revision) or _trained(repo, skill):
            return place
        if commit := _removed(repo, skill):
            raise SkillError(
                f"there is no skill {skill!r} any more",
                why=f"commit {commit[:12]} removed or renamed it",
                fix=f"skillgit log {skill} {commit[:12]}^",
            ) from error
        raise


def _trained(repo: Repository, skill: str) -> Place | None:
    read = list(journal.read_states(repo, skill).states.values()) if skill in trained_skills(repo) else []
    return Place(read[-1].skill, read[-1].path, read[-1].document) if read and inside(read[-1].document) else None


def _once(repo: Repository, skill: str, revision: str) -> Place | None:
    """The place of a skill in an old commit."""
    paths = _paths(skill)
    found = resolve_many(repo, [f"{revision}:{path}/SKILL.md" for path in paths]) if revision else []
    path = next((path for path, name in zip(paths, found, strict=False) if name), "")
    return Place(path.rpartition("/")[2], path, f"{path}/SKILL.md") if path else None


def _removed(repo: Repository, skill: str) -> str:
    """The last commit before HEAD that took a skill away; empty when there was none."""
    paths = [f":(top,literal){path}/SKILL.md" for path in _paths(skill)]
    if not paths or not repo.head():
        return ""
    plain = ("-1", "--no-show-signature", "--format=%H", "--no-ext-diff", "--no-renames", "--diff-filter=D")
    return repo.git.text("log", *plain, "HEAD", "--", *paths).strip()


def _paths(skill: str) -> list[str]:
    """Folders, from the top, that a skill given by name or path can mean."""
    given = skill.removesuffix("/SKILL.md").rstrip("/")
    return [path for path in (*(f"{folder}/{given}" for folder in FOLDERS), given) if inside(path)]


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
    """The skill as of each commit: its object, its length in tokens, and the scores measured on it.

    Scores on a split are all of the same conditions. `other_conditions` names the splits on which a version also, or
    only, has scores under others. A verdict is that of the commit's trailer; where other versions have records and this
    one has none (an amend may have changed the text under its trailers), it is not told that a gate accepted it.
    """
    objects = resolve_many(repo, [f"{entry.commit}:{place.path}" for entry in logged])
    records = read_records(repo, [name for name in objects if name])
    shown = comparable(records)
    texts = read_blobs(repo, [f"{entry.commit}:{place.document}" for entry in logged])
    found = [
        _version(entry, name, text, shown.get(name or "", []), records.get(name or "", []))
        for entry, name, text in zip(logged, objects, texts, strict=True)
    ]
    known = any(records.values())
    return [part if records.get(part["object"]) or not known else _unvouched(part) for part in found]


def _unvouched(version: dict[str, Any]) -> dict[str, Any]:
    """A version without any record: that a gate accepted it after measuring is not shown."""
    return version | {"verdict": None} if version["verdict"] in ("accept", "accept_new_best") else version


def renamed_from(repo: Repository, place: Place, commit: str) -> str:
    """Path that a skill had before the commit, when that is where it was renamed; else empty."""
    above = git_history.parents(repo, commit)
    old = git_history.renames(repo, above[0], commit).get(place.document, "") if above else ""
    return old if place.path == place.document else old.removesuffix("/SKILL.md")


def rejected(journals: StepRecords) -> list[dict[str, Any]]:
    """Candidates that were measured and not accepted, newest first."""
    steps = [(run, step) for run, step in journals.all() if step.get("record") and step["kind"] != "baseline"]
    return [candidate(run, step) for run, step in steps if not step.get("commit")][::-1]


def trained_skills(repo: Repository) -> list[str]:
    """Names of the skills that have runs."""
    prefix = f"{journal.RUNS}/"
    return sorted({ref.removeprefix(prefix).split("/", 1)[0] for ref in repo.refs(journal.RUNS)})


def best_state(repo: Repository, skill: str, run: str = "") -> RunState:
    """The run to take the best version from: the named one, else the newest with a baseline. Raises `GitError`."""
    if run:
        return journal.load(repo, skill, run)[0]
    journals = journal.read_states(repo, skill)
    found = [state for state in journals.states.values() if state.tick >= 0]
    if not found and journals.unreadable:
        raise GitError(f"no journal of {skill} can be read", why="; ".join(journals.unreadable.values()))
    if not found:
        raise GitError(f"{skill} has no training run", fix=f"skillgit train {skill}")
    return found[-1]


def _starts(repo: Repository, place: Place) -> list[str]:
    branches = repo.refs(f"refs/heads/train/{place.name}", f"refs/heads/sleep/{place.name}")
    return [*(["HEAD"] if repo.head() else []), *branches]


def _version(
    entry: Logged,
    skill_object: str | None,
    text: bytes | None,
    records: Sequence[Mapping[str, Any]],
    all_records: Sequence[Mapping[str, Any]],
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
        "other_conditions": [
            split for split in SPLITS if best_record((r for r in all_records if r not in records), split)
        ],
    }


def _scores(record: Mapping[str, Any]) -> dict[str, Any]:
    """Scores of a record; a partial one is not a mean over the set, so it carries the bound that it proves."""
    scores = {key: record.get(key) for key in ("hard", "soft", "score", "metric", "n")}
    bound = record.get("bound")
    return scores | ({"at_most": bound["score_at_most"]} if bound else {})


def candidate(run: str, step: Mapping[str, Any]) -> dict[str, Any]:
    """What a step proposed, described like a version; `kind` is that of the step."""
    record = step.get("record")
    return {
        "commit": None,
        "object": record.get("skill") if record else None,
        "run": run,
        "kind": step["kind"],
        "step": step["step"],
        "epoch": step["epoch"],
        "verdict": step.get("verdict"),
        "subject": step.get("title") or "",
        "tokens": step.get("tokens"),
        "scores": {"val": _scores(record)} if record and "hard" in record else {},
        "other_conditions": [],
    }
