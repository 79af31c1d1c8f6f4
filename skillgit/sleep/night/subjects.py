"""The documents a night works on: skills in play, the learned skill, memory files; each from its live text."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from skillgit.config.sleep import Sleep
from skillgit.errors import ConfigError, GitError, SkillError
from skillgit.git.deploy.versions import committed
from skillgit.git.objects import Commit, inside, write_commits
from skillgit.git.repository import Repository
from skillgit.git.skillstore import Place, Version, read_version, with_document
from skillgit.skills.document import Document
from skillgit.skills.regions import region_text, set_region
from skillgit.sleep.mine.base import MinedTask

BLOCK: Final = "LEARNED"
"""The region of a memory file that lessons may change; all around it is the user's."""

_SKILL = """\
---
name: {name}
description: House rules learned from how people corrected earlier work in this repository. Use for every task here.
---

# Learned rules
"""


@dataclass(frozen=True)
class Subject:
    """One document, as of the live commit, with the tasks that it is to be better at.

    Attributes:
        commit: the live commit.
        version: the document there; a scaffold when it is new.
        is_new: the live commit has no such document.
        is_memory: a memory file, of which only the managed block may change.
    """

    place: Place
    commit: str
    version: Version
    tasks: tuple[MinedTask, ...]
    is_new: bool = False
    is_memory: bool = False

    @property
    def base_object(self) -> str:
        """Skill object of the live commit; blank when it has none."""
        return "" if self.is_new else self.version.object

    def editable(self, version: Version) -> Document:
        """The part of a version that edits apply to."""
        return Document(region_text(version.document, BLOCK)) if self.is_memory else version.document

    def edited(self, repo: Repository, version: Version, document: Document) -> Version:
        """The version with its editable part replaced. Nothing is written."""
        if self.is_memory:
            document = set_region(version.document, BLOCK, document.text)
        return with_document(repo, version, self.place, document)


def subjects(
    repo: Repository, config: Sleep, tasks: Iterable[MinedTask], only: Sequence[str] = ()
) -> tuple[list[Subject], list[str]]:
    """The documents that tasks speak of, and notes on what is left out.

    Args:
        only: names of skills to work on; empty takes all of them.

    Raises:
        GitError: there is no commit yet.
        ConfigError: a memory file or the learned skill has an impossible name.
    """
    commit = _live(repo, config)
    skills = {place.name: place for place in committed(repo).values()}
    by_skill: dict[str, list[MinedTask]] = {}
    for task in tasks:
        by_skill.setdefault(task.skill if task.skill in skills else "", []).append(task)
    rest = tuple(by_skill.pop("", []))
    found = [_existing(repo, skills[name], commit, mined) for name, mined in sorted(by_skill.items())]
    if rest and config.learned_skill:
        found.append(_learned(repo, config.learned_skill, skills, commit, rest))
    if rest:
        found += [_memory(repo, path, commit, rest) for path in config.memory]
    wanted = only or config.skills
    kept = [subject for subject in found if not wanted or subject.place.name in wanted]
    notes = [f"{len(s.tasks)} tasks of {s.place.name}, which is not asked for" for s in found if s not in kept]
    if rest and not config.learned_skill and not config.memory:
        notes.append(f"{len(rest)} tasks speak of no skill here, and sleep.learned_skill is blank")
    return kept, notes


def skill_paths(repo: Repository) -> Mapping[str, str]:
    """Name to path of the skills that tasks may be attributed to."""
    return {place.name: path for path, place in committed(repo).items()}


def _live(repo: Repository, config: Sleep) -> str:
    if config.auto_adopt:
        found = repo.resolve(f"refs/heads/{config.auto_adopt}^{{commit}}")
        if found is None:
            raise ConfigError(f"sleep.auto_adopt names {config.auto_adopt!r}, and there is no such branch")
        return found
    head = repo.head()
    if head is None:
        raise GitError("there is no commit yet, so nothing that a lesson could change", fix="git commit")
    return head


def _existing(repo: Repository, place: Place, commit: str, tasks: Sequence[MinedTask]) -> Subject:
    version = read_version(repo, commit, place)
    if version is None:
        return Subject(
            place, commit, _scaffold(repo, place, commit, _SKILL.format(name=place.name)), tuple(tasks), is_new=True
        )
    if version.document.damage:
        line, message = version.document.damage[0]
        raise SkillError(message, where=f"{place.document}:{line}", fix="mend the marker pair, then run the night")
    return Subject(place, commit, version, tuple(tasks))


def _learned(
    repo: Repository, name: str, skills: Mapping[str, Place], commit: str, tasks: Sequence[MinedTask]
) -> Subject:
    if "/" in name or not inside(name):
        raise ConfigError(f"sleep.learned_skill is {name!r}", fix="give a plain name, such as learned")
    return _existing(repo, skills.get(name) or Place(name, f"skills/{name}", f"skills/{name}/SKILL.md"), commit, tasks)


def _memory(repo: Repository, path: str, commit: str, tasks: Sequence[MinedTask]) -> Subject:
    if not inside(path) or not path.endswith(".md"):
        raise ConfigError(f"sleep.memory names {path!r}", fix="give Markdown files as seen from the top folder")
    place = Place(PurePosixPath(path).stem, path, path)
    version = read_version(repo, commit, place)
    found = version or _scaffold(repo, place, commit, "")
    return Subject(place, commit, found, tuple(tasks), is_new=version is None, is_memory=True)


def _scaffold(repo: Repository, place: Place, commit: str, text: str) -> Version:
    """A document that does not exist yet, as if it did: its objects are written, but no ref leads to them."""
    draft = Commit(f"scaffold of {place.path}\n", (commit,), {place.document: text.encode()})
    version = read_version(repo, write_commits(repo, [draft])[0].commit, place)
    assert version is not None
    return version


def with_tasks(subject: Subject, tasks: Sequence[MinedTask]) -> Subject:
    """The subject with other tasks."""
    return dataclasses.replace(subject, tasks=tuple(tasks))
