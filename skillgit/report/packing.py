"""Which version of a skill `export` and `best --export` install."""

from __future__ import annotations

import re

from skillgit.errors import GitError, SkillError
from skillgit.evals.evidence import read_evidence
from skillgit.git.deploy.folder import DOCUMENT
from skillgit.git.deploy.package import Package, files_of
from skillgit.git.repository import Repository
from skillgit.git.skillstore import Place, read_version
from skillgit.report import history
from skillgit.skills.document import Document
from skillgit.skills.lint.case import Case, Skill, SkillFile
from skillgit.skills.lint.layout import check_files
from skillgit.skills.lint.rules import Policy, profiles
from skillgit.train import journal
from skillgit.train.state import RunState

BEST = "best"

_NAMES = ("portable-name", "name-collision")
_NAME = re.compile(r"[^\W_][\w .-]{0,63}")


def package(repo: Repository, place: Place, revision: str) -> tuple[Package, list[str]]:
    """A version of a skill to install, and what a person should know about it.

    Args:
        revision: `best` for the newest run's best version, the name of a run for its best, or any revision of git.

    Raises:
        GitError: there is no such revision or run, or its best version is not in this clone.
        SkillError: the skill is not in it, its frontmatter cannot be read, or its name cannot be a folder's.
    """
    if revision == BEST or revision in journal.runs(repo, place.name):
        state = history.best_state(repo, place.name, "" if revision == BEST else revision)
        return package_of_run(repo, state, revision)
    return _package(repo, place, repo.commit(revision), revision)


def package_of_run(repo: Repository, state: RunState, revision: str = BEST) -> tuple[Package, list[str]]:
    """The best version of a run, as `package` returns it."""
    if not in_clone(repo, state):
        raise GitError(
            f"the best version of run {state.run} is not in this clone",
            why=f"commit {state.best.commit[:12]} of branch {state.branch} was not fetched",
            fix=f"git push origin {state.branch} where it was trained, then git fetch here",
        )
    return _package(repo, Place(state.skill, state.path, state.document), state.best.commit, revision)


def in_clone(repo: Repository, state: RunState) -> bool:
    """False for a run whose journal came by `sync` and whose branch did not."""
    return repo.resolve(f"{state.best.commit}^{{commit}}") is not None


def _package(repo: Repository, place: Place, commit: str, revision: str) -> tuple[Package, list[str]]:
    version = read_version(repo, commit, place)
    if version is None:
        raise SkillError(
            f"{revision} has no skill {place.name!r}",
            why=f"nothing is at {place.path} in {commit[:12]}",
            fix=f"skillgit log {place.name} lists its versions",
        )
    record = read_evidence(repo, [version.object])[version.object].record("val")
    val = record.get("score") if record and record.get("complete") else None
    name = folder_name(version.document, place.name)
    made = Package(place, name, version.object, commit, revision, val)
    return made, [
        *_lacking(version.document),
        *_beside(made),
        *_uncommitted(repo, place, revision),
        *_names(repo, made),
    ]


def folder_name(document: Document, fallback: str) -> str:
    """What a skill's folder must be called: the frontmatter's `name`, or `fallback` without one.

    Raises:
        SkillError: it cannot be the name of one folder.
    """
    name = document.frontmatter.get("name") or fallback
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise SkillError(
            f"the name {name!r} cannot name a folder",
            fix="in the frontmatter, name it with small letters, digits and hyphens",
            where=document.where,
        )
    return name


def _lacking(document: Document) -> list[str]:
    missing = [key for key in ("name", "description") if not document.frontmatter.get(key)]
    return [f"the frontmatter has no {' and no '.join(missing)}; agents may not load the skill"] if missing else []


def _beside(made: Package) -> list[str]:
    if made.place.path != DOCUMENT:
        return []
    return [
        f"at the repository's top only {DOCUMENT} is the skill; for what lies beside it, move all to skills/{made.name}"
    ]


def _uncommitted(repo: Repository, place: Place, revision: str) -> list[str]:
    if revision != "HEAD" or repo.top is None:
        return []
    changed = repo.git.run("status", "--porcelain", "--", f":(top,literal){place.path}")
    return [f"{place.path} has changes that are not committed; HEAD's version is what counts"] if changed else []


def _names(repo: Repository, made: Package) -> list[str]:
    """File names that some systems cannot hold, in the linter's words."""
    skill = Skill(made.place.path, made.name, tuple(SkillFile(path) for path in files_of(repo, made)))
    hits = check_files(Case.of(skill), Policy(profiles()["spec"], {}))
    return [f"{hit.path}: {hit.message}" for hit in hits if hit.rule in _NAMES]
