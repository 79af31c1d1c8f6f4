"""The documents a night works on: skills in play, the learned skill, memory files; each from its live text."""

from __future__ import annotations

import dataclasses
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from skillgit.config.sleep import Sleep
from skillgit.errors import ConfigError, GitError, SkillError
from skillgit.git.deploy.folder import LINK
from skillgit.git.deploy.versions import committed
from skillgit.git.objects import Commit, inside, write_commits
from skillgit.git.repository import Repository
from skillgit.git.skillstore import Place, Version, read_version, with_document
from skillgit.skills.document import Document
from skillgit.skills.regions import region_text, set_region
from skillgit.sleep.mine.base import MinedTask
from skillgit.sleep.proposals.live import live_commits
from skillgit.sleep.proposals.names import is_skill

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


@dataclass(frozen=True)
class Topic:
    """A document that tasks speak of, before it is read."""

    place: Place
    tasks: tuple[MinedTask, ...]
    is_memory: bool = False


def topics(repo: Repository, config: Sleep, tasks: Iterable[MinedTask]) -> list[Topic]:
    """The documents that tasks speak of.

    Raises:
        ConfigError: a memory file or the learned skill has an impossible name, or two documents have the same one.
    """
    skills = {place.name: place for place in committed(repo).values()}
    by_skill: dict[str, list[MinedTask]] = {}
    for task in tasks:
        by_skill.setdefault(task.skill if task.skill in skills else "", []).append(task)
    rest = tuple(by_skill.pop("", []))
    learned = (*rest, *by_skill.pop(config.learned_skill, [])) if config.learned_skill else ()
    found = [Topic(skills[name], tuple(mined)) for name, mined in sorted(by_skill.items())]
    if learned:
        found.append(Topic(_learned(config.learned_skill, skills), learned))
    if rest:
        found += [Topic(_memory(path), rest, is_memory=True) for path in config.memory]
    paths: dict[str, str] = {}
    for place in (topic.place for topic in found):
        if paths.setdefault(place.name, place.path) != place.path:
            raise ConfigError(
                f"{paths[place.name]} and {place.path} would share the branches of {place.name}",
                fix="rename one, or leave it out of sleep.memory",
            )
    return found


def subjects(
    repo: Repository, config: Sleep, tasks: Sequence[MinedTask], only: Sequence[str] = ()
) -> tuple[list[Subject], list[str]]:
    """The documents that tasks speak of, as of the live commit, and notes on what is left out.

    Args:
        only: names of skills to work on; empty takes all of them.

    Raises:
        GitError: there is no commit yet.
        ConfigError: see `topics`.
        SkillError: a document that is asked for by name is damaged; any other one is left out.
    """
    commit, found = _live(repo, config), topics(repo, config, tasks)
    wanted = only or config.skills
    kept, notes = [], []
    for topic in found:
        name = topic.place.name
        if wanted and name not in wanted:
            notes.append(f"{len(topic.tasks)} tasks of {name}, which is not asked for")
            continue
        try:
            kept.append(_subject(repo, topic, commit))
        except SkillError as error:
            if wanted:
                raise
            notes.append(f"{name} is left out: {error.what} ({error.where or topic.place.document})")
    if left := len({task.task.id for task in tasks} - {task.task.id for topic in found for task in topic.tasks}):
        notes.append(f"{left} tasks speak of no skill here, and sleep.learned_skill is blank")
    return kept, notes


def skill_paths(repo: Repository) -> Mapping[str, str]:
    """Name to path of the skills that tasks may be attributed to."""
    return {place.name: path for path, place in committed(repo).items()}


def _live(repo: Repository, config: Sleep) -> str:
    if config.auto_adopt:
        found = repo.resolve(f"refs/heads/{config.auto_adopt}^{{commit}}")
        if found is None:
            what = f"sleep.auto_adopt names {config.auto_adopt!r}, and there is no such branch"
            raise ConfigError(what, fix=shlex.join(["git", "branch", config.auto_adopt]))
        return found
    # Looking at a proposal is not taking it: then the main branch is live.
    head = next(iter(live_commits(repo)), None) or repo.head()
    if head is None:
        raise GitError(
            "there is no commit yet, so nothing that a lesson could change", fix="git commit --allow-empty -m start"
        )
    return head


def _subject(repo: Repository, topic: Topic, commit: str) -> Subject:
    place, version = topic.place, read_version(repo, commit, topic.place)
    if not is_skill(place.name):
        raise SkillError(f"{place.name!r} cannot name a branch", fix="rename it to letters, digits, - and _")
    if version is None:
        text = "" if topic.is_memory else _SKILL.format(name=place.name)
        fresh = _scaffold(repo, place, commit, text)
        return Subject(place, commit, fresh, topic.tasks, is_new=True, is_memory=topic.is_memory)
    if version.mode == LINK:
        raise SkillError(f"{place.document} is a symbolic link", fix="name the file that it points to")
    if version.document.damage:
        line, message = version.document.damage[0]
        raise SkillError(message, where=f"{place.document}:{line}", fix="mend the marker pair, then run the night")
    return Subject(place, commit, version, topic.tasks, is_memory=topic.is_memory)


def _learned(name: str, skills: Mapping[str, Place]) -> Place:
    if not is_skill(name):
        raise ConfigError(f"sleep.learned_skill is {name!r}", fix="give a plain name, such as learned")
    return skills.get(name) or Place(name, f"skills/{name}", f"skills/{name}/SKILL.md")


def _memory(path: str) -> Place:
    """A memory file; one in a folder is called after both: `docs-CLAUDE`."""
    name = re.sub(r"[^\w.-]+", "-", path.removesuffix(".md"), flags=re.ASCII).lstrip(".-")
    if not inside(path) or not path.endswith(".md") or not is_skill(name):
        raise ConfigError(f"sleep.memory names {path!r}", fix="give Markdown files as seen from the top folder")
    return Place(name, path, path)


def _scaffold(repo: Repository, place: Place, commit: str, text: str) -> Version:
    """A document that does not exist yet, as if it did: its objects are written, but no ref leads to them."""
    draft = Commit(f"scaffold of {place.path}\n", (commit,), {place.document: text.encode()})
    version = read_version(repo, write_commits(repo, [draft])[0].commit, place)
    assert version is not None
    return version


def with_tasks(subject: Subject, tasks: Sequence[MinedTask]) -> Subject:
    """The subject with other tasks."""
    return dataclasses.replace(subject, tasks=tuple(tasks))
