"""The gate of a push: are the skills that it changes measured, and not worse? Decided from records alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from skillgit.evals.evidence import Evidence, compare, read_evidence, whole_score
from skillgit.git.hooks.pushes import Push, changed_paths
from skillgit.git.objects import resolve_many
from skillgit.git.repository import Repository

Verdict = Literal["measured", "unmeasured", "regressed", "untrained"]

SPLIT = "val"
_DOCUMENTS = ("SKILL.md", "skill.md")


@dataclass(frozen=True)
class Judgement:
    """What records say of a change.

    Attributes:
        verdict: `measured`: val was measured in full, and its score did not fall where both versions can be compared;
            `untrained`: there is nothing to measure with, and never was.
        why: in a few words.
        before, after: val scores under the same conditions; `None` when unknown.
        regressed: ids of the tasks that got worse, which a score that rose may hide.
    """

    verdict: Verdict
    why: str
    before: float | None = None
    after: float | None = None
    regressed: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """True when a push may go on."""
        return self.verdict in ("measured", "untrained")


@dataclass(frozen=True)
class Finding:
    """One changed skill: its skill object on either side (`None`: it is new), and what is known of the change."""

    skill: str
    path: str
    before: str | None
    after: str
    judgement: Judgement


def judge(before: Evidence, after: Evidence, *, has_tasks: bool) -> Judgement:
    """The verdict on replacing one version by another.

    Args:
        has_tasks: there are tasks that the skill could be measured with.
    """
    found = after.record(SPLIT)
    if not (has_tasks or before.records or after.records):
        return Judgement("untrained", "it has no tasks and no records")
    if found is None:
        return Judgement("unmeasured", f"no record of {SPLIT} for this content")
    compared = compare(before, after, SPLIT)
    if compared is None:
        return _alone(after, "nothing to compare it with")
    if compared.change is None:
        return _alone(after, "the version before was measured in part")
    scores = (whole_score(compared.before), whole_score(compared.after), compared.regressed)
    if compared.change < 0:
        return Judgement("regressed", f"{SPLIT} fell from {scores[0]:.3f} to {scores[1]:.3f}", *scores)
    return Judgement("measured", f"{SPLIT} {scores[0]:.3f} -> {scores[1]:.3f}", *scores)


def check(repo: Repository, push: Push) -> list[Finding]:
    """A finding for every skill whose object a push changes, by path. Nothing is measured, and no model is called."""
    paths = changed_paths(repo, push.base, push.head)
    places = [place for place in _places(repo, push.head, paths) if place]
    sides = [
        resolve_many(repo, [f"{side}:{p}" for p in places]) if side else [None] * len(places)
        for side in (push.base, push.head)
    ]
    evidence = read_evidence(repo, [name for side in sides for name in side if name])
    tasks = _with_tasks(repo, push.head, places)
    found = []
    for path, before, after in zip(places, *sides, strict=True):
        if after is None or before == after:
            continue
        old = evidence.get(before or "", Evidence())
        verdict = judge(old, evidence[after], has_tasks=path in tasks)
        if _is_folder(path) or verdict.verdict != "untrained":
            found.append(Finding(_name(path), path, before, after, verdict))
    return found


def _alone(after: Evidence, why: str) -> Judgement:
    """The verdict when there is no version to compare with."""
    score = whole_score(after.record(SPLIT) or {})
    if score is None:
        return Judgement("unmeasured", f"{SPLIT} was measured in part only")
    return Judgement("measured", f"{SPLIT} {score:.3f}; {why}", None, score)


def _places(repo: Repository, head: str, paths: Sequence[str]) -> list[str]:
    """Paths of the skills around changed files: folders with a SKILL.md, and Markdown files in none of them."""
    folders = sorted({str(parent) for path in paths for parent in PurePosixPath(path).parents} - {"."})
    probes = [f"{head}:{folder}/{name}" for folder in folders for name in _DOCUMENTS]
    found = resolve_many(repo, probes)
    skills = [folder for n, folder in enumerate(folders) if any(found[n * len(_DOCUMENTS) :][: len(_DOCUMENTS)])]
    return [*skills, *_bare(paths, skills)]


def _bare(paths: Sequence[str], skills: Sequence[str]) -> Iterator[str]:
    for path in paths:
        if not _is_folder(path) and not any(path.startswith(f"{skill}/") for skill in skills):
            yield path


def _is_folder(path: str) -> bool:
    return not path.endswith(".md")


def _with_tasks(repo: Repository, head: str, places: Sequence[str]) -> set[str]:
    """The skills that have a folder of tasks, committed or (private tasks) only here."""
    committed = resolve_many(repo, [f"{head}:evals/{_name(path)}" for path in places])
    here = [repo.top is not None and (repo.top / "evals" / _name(path)).is_dir() for path in places]
    return {path for path, tree, folder in zip(places, committed, here, strict=True) if tree or folder}


def _name(path: str) -> str:
    return PurePosixPath(path.removesuffix(".md")).name
