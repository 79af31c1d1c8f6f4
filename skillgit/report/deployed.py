"""What agents have of this repository's skills, and how that stands to HEAD."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skillgit.errors import GitError, SkillError
from skillgit.evals.evidence import Evidence, comparable, read_evidence
from skillgit.evals.records import best_record
from skillgit.git.deploy.folder import changed, identities, read_folder, stored
from skillgit.git.deploy.installed import Installed, scan
from skillgit.git.deploy.versions import Seen, committed, objects_of
from skillgit.git.objects import inside, read_blobs, resolve_many
from skillgit.git.repository import Repository
from skillgit.git.skillstore import Place
from skillgit.report import history
from skillgit.report.packing import folder_name
from skillgit.skills.document import Document
from skillgit.train import journal


@dataclass(frozen=True)
class _Content:
    """What a folder holds: the skill object it is or was made from, whether that was edited, and which files.

    `problem` says why the folder could not be read.
    """

    object: str | None
    edited: bool = False
    files: tuple[str, ...] = ()
    problem: str | None = None


@dataclass(frozen=True)
class _Known:
    """Versions of one skill: HEAD's object, those in its history newest first, and those of other branches."""

    head: str | None
    past: Mapping[str, Seen]
    elsewhere: Mapping[str, Seen]


def places(repo: Repository) -> dict[str, Place]:
    """Folder name to place of every skill of HEAD, and of every trained skill that lies elsewhere."""
    found = list(committed(repo).values())
    texts = read_blobs(repo, [f"HEAD:{place.document}" for place in found])
    names = {_name(place, text): place for place, text in zip(found, texts, strict=True)}
    for skill in history.trained_skills(repo):
        if skill not in {place.name for place in names.values()}:
            # A journal that cannot be read is told by its own row.
            for newest in list(journal.read_states(repo, skill).states.values())[-1:]:
                names.setdefault(skill, Place(newest.skill, newest.path, newest.document))
    return names


def _name(place: Place, text: bytes | None) -> str:
    """A document that cannot be read was never exported under a name of its own."""
    try:
        return folder_name(Document.parse(text or b""), place.name)
    except SkillError:
        return place.name


def deployed(repo: Repository, skills: Mapping[str, Place], only: str = "") -> list[dict[str, Any]]:
    """Each agent folder that holds one of the skills, or a copy that skillgit made.

    Args:
        skills: folder name to place, as from `places`.
        only: just this skill, by its own or its folder's name.
    """
    sources = {(repo.top or repo.common_dir) / place.path for place in skills.values()}
    found = [one for one in scan(repo.top, Path.home()) if one.folder not in sources]
    pairs = [(one, path) for one in found if (path := _path(one, skills)) and only in ("", *_names(one, skills))]
    paths = list(dict.fromkeys(path for _, path in pairs))
    heads = dict(zip(paths, resolve_many(repo, [f"HEAD:{path}" for path in paths]), strict=True))
    past = objects_of(repo, paths, ["HEAD"])
    strange = [path for one, path in pairs if not one.mark or one.mark["object"] not in past[path]]
    elsewhere = objects_of(repo, strange, ["--branches", "--remotes", "--not", "HEAD"])
    known = {path: _Known(heads[path], past[path], elsewhere.get(path, {})) for path in paths}
    contents = [_content(repo, one, known[path]) for one, path in pairs]
    wanted = [
        name for (_, path), content in zip(pairs, contents, strict=True) for name in (content.object, heads[path])
    ]
    evidence = read_evidence(repo, [name for name in wanted if name])
    return [
        _row(one, _names(one, skills)[0], known[path], content, evidence)
        for (one, path), content in zip(pairs, contents, strict=True)
    ]


def _names(one: Installed, skills: Mapping[str, Place]) -> tuple[str, ...]:
    """What the skill is called, here and in the folder."""
    name = one.mark["skill"] if one.mark else one.folder.name
    return (skills[name].name, name) if name in skills else (name,)


def _path(one: Installed, skills: Mapping[str, Place]) -> str | None:
    """Where the repository has the skill, or had it when it was exported."""
    name = _names(one, skills)[-1]
    if name in skills:
        return skills[name].path
    return one.mark["path"] if one.mark and inside(one.mark["path"]) and "\n" not in one.mark["path"] else None


def _content(repo: Repository, one: Installed, known: _Known) -> _Content:
    if one.link:
        return _Content(None)
    made_from = one.mark["object"] if one.mark else known.head
    before = stored(repo, made_from) if made_from else None
    try:
        files = read_folder(repo, one.folder, before or {})
    except GitError as error:
        return _Content(one.mark["object"] if one.mark else None, problem=error.why or error.what)
    found = identities(repo, files)
    if one.mark is None:
        return _Content(next((name for name in (*known.past, *known.elsewhere) if name in found), None))
    edited = one.mark["object"] not in found
    return _Content(one.mark["object"], edited, tuple(changed(before, files)) if edited and before else ())


def _row(
    one: Installed, name: str, known: _Known, content: _Content, evidence: Mapping[str, Evidence]
) -> dict[str, Any]:
    order, other = list(known.past), known.elsewhere.get(content.object or "")
    val, head_val = _scores([content.object, known.head], evidence)
    is_old = known.head not in (None, content.object)
    behind = order.index(content.object) if is_old and content.object in order else None
    return {
        "skill": name,
        "agents": list(one.agents),
        "scope": one.scope,
        "folder": str(one.folder),
        "state": _state(one, known, content),
        "object": content.object,
        "head": known.head,
        "versions_behind": behind,
        "branch": other.ref if other else None,
        "edited": list(content.files),
        "problem": content.problem,
        "val": None if content.edited else val,
        "head_val": head_val,
        "next": _next(one, name) if behind and not (content.edited or content.problem) else None,
    }


def _next(one: Installed, name: str) -> str:
    """The command that brings a folder up to HEAD."""
    return f"skillgit export {name} --agent {one.agents[0]}{' --user' * (one.scope == 'user')}"


def _state(one: Installed, known: _Known, content: _Content) -> str:
    if one.link:
        return "linked"
    if content.problem:
        return "unreadable"
    if content.object is None:
        return "foreign"
    if content.edited:
        return "edited"
    if content.object == known.head:
        return "current"
    if content.object in known.past:
        return "behind" if known.head else "removed"
    return "ahead" if content.object in known.elsewhere else "unknown"


def _scores(objects: Sequence[str | None], evidence: Mapping[str, Evidence]) -> list[float | None]:
    """The gate score on val of each, under conditions that both were measured under if there are such."""
    shown = comparable({name: evidence[name].records for name in objects if name})
    best = [best_record(shown.get(name or "", []), "val") for name in objects]
    return [record.get("score") if record and record.get("complete") else None for record in best]
