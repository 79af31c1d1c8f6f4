"""One version of a skill, or one candidate that was not accepted, with all that is known of how it came about."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skillgit.errors import ConfigError, GitError, SkillError
from skillgit.evals.evidence import SPLITS, Evidence, compare, read_evidence
from skillgit.git import history as git_history
from skillgit.git.objects import read_blobs
from skillgit.git.repository import Repository
from skillgit.git.skillstore import Place
from skillgit.report import history
from skillgit.report.diff import score_change
from skillgit.report.safe import one_line
from skillgit.report.sides import Pair, Side, named_few, pairs, parent_side, side
from skillgit.report.steps import StepRecords, problems
from skillgit.skills.document import Document
from skillgit.skills.patch import unified_diff
from skillgit.train import journal

_STEP = re.compile(r"(?P<run>[^:]+):(?P<step>\d{1,9})")
_PREFIX = re.compile(r"[0-9a-f]{4,64}")
_SUBJECT = re.compile(r"skill\(([^)]+)\): ")


@dataclass(frozen=True)
class _Shown:
    """What is shown, whether a commit or a candidate: its place, the skill objects before and in it, its step."""

    place: Place
    version: Mapping[str, Any] | None
    objects: tuple[str | None, str | None]
    patch: str
    run: str = ""
    step: Mapping[str, Any] | None = None


def show(repo: Repository, name: str, skill: str = "", cwd: Path | None = None) -> dict[str, Any]:
    """Everything known of a revision, of `RUN:STEP`, or of the candidate whose object id begins with `name`.

    Raises:
        ConfigError: the commit changes no skill, or several and none is named.
        GitError: nothing is called so.
    """
    commit = repo.resolve(f"{name}^{{commit}}")
    if commit:
        return _commit(repo, commit, skill, cwd)
    found = _STEP.fullmatch(name)
    if found:
        owner = journal.skill_of(repo, found["run"], skill)
        journals = StepRecords(repo, owner)
        step = journals.at(found["run"], int(found["step"]))
        if not step:
            raise GitError(
                f"run {found['run']} has no step {found['step']}",
                why="; ".join(problems(owner, (), journals.unreadable)),
                fix=f"skillgit log {owner} --rejected",
            )
        return _step(repo, owner, found["run"], step)
    candidates = _candidates(repo, name, skill, cwd) if _PREFIX.fullmatch(name) else {}
    if len(candidates) > 1:
        raise GitError(
            f"{name} begins the ids of several candidates", why=", ".join(candidates), fix="give more digits"
        )
    for owner, run, step in candidates.values():
        return _step(repo, owner, run, step)
    raise GitError(
        f"no commit, step or candidate is called {name!r}", fix="skillgit log SKILL --rejected shows what there is"
    )


def _candidates(
    repo: Repository, prefix: str, skill: str, cwd: Path | None
) -> dict[str, tuple[str, str, dict[str, Any]]]:
    """Skill object to skill, run and newest step of the candidates whose object id begins so."""
    found = {}
    for owner in [history.place_of(repo, skill, cwd).name] if skill else history.trained_skills(repo):
        for run, step in StepRecords(repo, owner).all():
            name = str((step.get("record") or {}).get("skill", ""))
            if name.startswith(prefix):
                found[name] = (owner, run, step)
    return found


def _step(repo: Repository, skill: str, run: str, step: Mapping[str, Any]) -> dict[str, Any]:
    """A step of a run: the commit that it made, else its candidate."""
    commit = step.get("commit")
    if commit and step["kind"] != "baseline" and repo.resolve(f"{commit}^{{commit}}"):
        return _commit(repo, commit, skill, None)
    place = history.place_of(repo, skill)
    record = step.get("record") or {}
    objects = ((step.get("gate") or {}).get("base"), record.get("skill"))
    version = history.candidate(run, step)
    patch = unified_diff(place.document, *(_document(repo, place, name) for name in objects)) if all(objects) else ""
    return _described(repo, None, _Shown(place, version, objects, patch, run, step))


def _document(repo: Repository, place: Place, skill_object: str | None) -> Document:
    name = "" if place.path == place.document else ":SKILL.md"
    (data,) = read_blobs(repo, [f"{skill_object}{name}"])
    return Document((data or b"").decode("utf-8", "replace"))


def _commit(repo: Repository, commit: str, skill: str, cwd: Path | None) -> dict[str, Any]:
    entry = git_history.messages(repo, [commit])[commit]
    before, after = parent_side(repo, commit), side(repo, commit)
    subject = _SUBJECT.match(entry.subject)
    named = skill or (subject[1] if subject else "")
    pair = _pair(repo, before, after, named, cwd, sure=bool(skill))
    place = Place(named if named in history.trained_skills(repo) else pair.name, pair.path, pair.document)
    objects = (before.object(pair.before), after.object(pair.after))
    (version,) = history.describe(repo, place, [entry])
    patch = git_history.patch(repo, before.tree, after.tree, sorted({pair.before, pair.after} - {""}))
    shown = _Shown(place, version, objects, patch)
    return _described(repo, commit, shown)


def _pair(repo: Repository, before: Side, after: Side, named: str, cwd: Path | None, *, sure: bool) -> Pair:
    """The named skill, else the one that the commit changes. A name from a subject need not be that of a skill."""
    try:
        found = pairs(repo, before, after, named, cwd)
    except SkillError:
        if sure:
            raise
        found = pairs(repo, before, after)
    if len(found) == 1:
        return found[0]
    if not found:
        raise ConfigError("this commit changes no skill", fix="skillgit log SKILL lists those that do")
    raise ConfigError(
        f"this commit changes {len(found)} skills",
        why=named_few([pair.path for pair in found]),
        fix=f"name one of them: skillgit show REVISION {one_line(found[0].name)}",
    )


def _described(repo: Repository, commit: str | None, shown: _Shown) -> dict[str, Any]:
    before, after = shown.objects
    evidence = read_evidence(repo, [name for name in shown.objects if name])
    old, new = (evidence.get(name or "", Evidence()) for name in shown.objects)
    run, step, journals = _origin(repo, commit, shown, new)
    gate = step.get("gate") or (new.record("val") or {}).get("gate") or {}
    return {
        "skill": shown.place.name,
        "commit": commit,
        "parents": git_history.parents(repo, commit) if commit else [],
        "version": shown.version,
        "base": before,
        "object": after,
        "run": run or None,
        "missing_run": run if run in journals.missing else None,
        "unreadable": journals.unreadable,
        "gate": gate if gate.get("verdict", "baseline") != "baseline" else None,
        "scores": {split: score_change(old, new, split) for split in SPLITS},
        "tasks": [task for split in SPLITS for task in _flips(old, new, split)],
        "step": dict(step),
        "usage": journals.usage(run, step) if step else [],
        "patch": shown.patch,
    }


def _origin(
    repo: Repository, commit: str | None, shown: _Shown, evidence: Evidence
) -> tuple[str, Mapping[str, Any], StepRecords]:
    """The run and step behind what is shown: named, by the trailers, or by the records of its object."""
    journals = StepRecords(repo, shown.place.name)
    if shown.step is not None or commit is None:
        return shown.run, shown.step or {}, journals
    if shown.objects[0] == shown.objects[1]:
        return "", {}, journals
    entry = git_history.messages(repo, [commit])[commit]
    gate = (evidence.record("val") or {}).get("gate") or {}
    run = entry.run or ("" if gate.get("verdict") == "baseline" else str(gate.get("run") or ""))
    return run, journals.step(run, entry, shown.objects[1]), journals


def _flips(before: Evidence, after: Evidence, split: str) -> Iterator[dict[str, Any]]:
    """Tasks whose score changed, with both scores."""
    found = compare(before, after, split)
    if found is None:
        return
    old, new = before.tasks(found.before), after.tasks(found.after)
    for change, tasks in (("improved", found.improved), ("regressed", found.regressed)):
        for task in tasks:
            yield {"task": task, "split": split, "change": change, "before": dict(old[task]), "after": dict(new[task])}
