"""Skills as git objects: where a skill lies, its versions, and new versions without touching the working tree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from skillgit.errors import GitError, SkillError
from skillgit.git.objects import (
    Change,
    Entry,
    inside,
    object_id,
    read_blob,
    tree_entries,
    tree_id,
)
from skillgit.git.repository import Repository
from skillgit.git.scratch import index_copy
from skillgit.skills.document import Document

FOLDERS = ("skills", ".agents/skills", ".claude/skills")
"""Where a skill is looked up by its name, in this order."""
PROVENANCE = ".skillgit.json"
"""The file that makes a folder an exported copy of a skill, which its name does not mean."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*")


@dataclass(frozen=True)
class Place:
    """Where a skill lies.

    Attributes:
        name: as used in branches, refs and subjects.
        path: its folder or its one Markdown file, from the repository's top; the skill object is here.
        document: path of the document that edits change.
    """

    name: str
    path: str
    document: str


@dataclass(frozen=True)
class Version:
    """One version of a skill.

    Attributes:
        object: its git object id (content identity).
        document, mode: the document and that file's mode.
        base: of a version that is not written yet, a stored skill object with the same files but for the document.
    """

    object: str
    document: Document
    mode: str = "100644"
    base: str = field(default="", compare=False)

    @property
    def text(self) -> str:
        """What the target is shown: the body without frontmatter."""
        return self.document.text[self.document.body_start :].strip()


def find(repo: Repository, skill: str, *, path: str = "", name: str = "", cwd: Path | None = None) -> Place:
    """The place of a skill given by name or path.

    Args:
        skill: a name looked up in the skill folders, or a folder or Markdown file relative to `cwd`.
        path: `skill.path` of the configuration, from the top folder; wins over looking up.
        name: what to call it, instead of after its folder or file.

    Raises:
        SkillError: nothing is there, in HEAD or in the working tree; or only exported copies have the name.
    """
    if path and not inside(path.rstrip("/")):
        raise SkillError(f"skill.path is {path!r}", fix="give a folder or Markdown file as seen from the top folder")
    named = [] if path else [f"{folder}/{skill}".rstrip("/") for folder in FOLDERS]
    given = [path] if path else _relative(repo, skill, cwd)
    candidates = [(one, True) for one in named if inside(one)]
    candidates += [(one, False) for one in given if inside(one.rstrip("/"))]
    copies = []
    for candidate, by_name in candidates:
        place = _place(repo, candidate.rstrip("/"))
        if place and by_name and _is_copy(repo, place):
            copies.append(place.path)
        elif place:
            return replace(place, name=name) if name else place
    if copies:
        raise SkillError(
            f"no skill {skill!r}, only copies that were exported: {', '.join(copies)}",
            why="work on a copy would be lost with the next export",
            fix=f"go where the skill itself is; or give the copy's path, or remove its {PROVENANCE} to make it a skill",
        )
    raise SkillError(
        f"no skill {skill!r}",
        why="looked for "
        + (
            ", ".join(f"{candidate}/SKILL.md" for candidate, _ in candidates)
            or "nothing, for it is not in the repository"
        ),
        fix=f"skillgit new {skill}" if _NAME.fullmatch(skill) else "give a skill's name, folder or Markdown file",
    )


def _is_copy(repo: Repository, place: Place) -> bool:
    mark = f"{place.path}/{PROVENANCE}"
    if repo.top and (repo.top / place.document).is_file():
        return (repo.top / mark).is_file()
    return repo.resolve(f"HEAD:{mark}") is not None


def _relative(repo: Repository, skill: str, cwd: Path | None) -> list[str]:
    full = ((cwd or repo.root) / skill).resolve()
    if repo.top and full.is_relative_to(repo.top.resolve()):
        return [full.relative_to(repo.top.resolve()).as_posix()]
    return [skill] if not repo.top else []


def _place(repo: Repository, path: str) -> Place | None:
    name = Path(path).stem if path.endswith(".md") else Path(path).name
    document = path if path.endswith(".md") else f"{path}/SKILL.md"
    if name == "SKILL" and "/" in path:
        return _place(repo, path.rsplit("/", 1)[0])
    if not (repo.top and (repo.top / document).is_file()) and repo.resolve(f"HEAD:{document}") is None:
        return None
    if link := _link(repo, document):
        raise SkillError(f"{link} is a symbolic link", fix="name the file or folder that it points to")
    if not _NAME.fullmatch(name) or name.endswith(".lock"):
        raise SkillError(f"{name!r} cannot name a branch", where=document, fix="rename it to letters, digits, - and _")
    return Place(name, path, document)


def read_version(repo: Repository, revision: str, place: Place) -> Version | None:
    """The skill as of a revision, or `None` when that revision has none. Raises `SkillError` for a damaged one."""
    found = repo.resolve(f"{revision}:{place.path}")
    data = read_blob(repo, f"{revision}:{place.document}") if found else None
    if found is None or data is None:
        return None
    mode = repo.git.text("ls-tree", "--full-tree", "--end-of-options", revision, place.document).split(" ", 1)[0]
    return Version(found, Document.parse(data, where=f"{revision[:12]}:{place.document}"), mode)


def with_document(repo: Repository, base: Version, place: Place, document: Document) -> Version:
    """`base` with another document. Its object id is computed; nothing is written until it is published."""
    blob = object_id(repo, "blob", document.encode())
    stored = base.base or base.object
    if place.path == place.document:
        return Version(blob, document, base.mode, stored)
    name = place.document.rsplit("/", 1)[1]
    entries = {**tree_entries(repo, stored), name: Entry(base.mode, blob)}
    return Version(tree_id(repo, entries), document, base.mode, stored)


def changes_to(place: Place, version: Version, at: str = "", base: str = "") -> dict[str, Change]:
    """The tree changes that put a version at its place, or at the path `at` on top of the skill object `base`."""
    document = Entry(version.mode, version.document.encode())
    if not at:
        return {place.document: document}
    if place.path == place.document:
        return {f"{at}.md": document}
    return {at: base, f"{at}/{place.document.rsplit('/', 1)[1]}": document}


def store_file(repo: Repository, path: Path) -> Version:
    """A version from a file anywhere, its bytes as they are; the object is written, so that notes can be kept on it."""
    data = path.read_bytes()
    found = repo.git.run("hash-object", "-w", "--no-filters", "--stdin", data=data).decode().strip()
    return Version(found, Document.parse(data, where=str(path)))


def _link(repo: Repository, document: str) -> str | None:
    """The part of a path that is a symbolic link: git keeps the link there, not what it points to."""
    parts = document.split("/")
    paths = ["/".join(parts[: n + 1]) for n in range(len(parts))]
    if repo.top and (repo.top / document).is_file():
        return next((path for path in paths if (repo.top / path).is_symlink()), None)
    return document if repo.git.text("ls-tree", "HEAD", "--", document).startswith("120000") else None


def uncommitted(repo: Repository, place: Place) -> dict[str, Entry | None]:
    """Files of the skill that differ from HEAD in the working tree, as `git add` would store them; `None`: deleted.

    Raises:
        GitError: the skill has merge conflicts, or git will not add it (it is ignored, say).
    """
    if repo.top is None:
        return {}
    skill = ("--", f":(top,literal){place.path}")
    if repo.git.run("ls-files", "--unmerged", *skill):
        raise GitError(f"{place.path} has merge conflicts", fix=f"settle them, then git add {place.path}")
    with index_copy(repo) as copy:
        # What is not on disk at all (a sparse checkout) is as the index says.
        if (repo.top / place.path).exists():
            repo.git.run("add", "--all", *skill, env=copy)
        if repo.head() is None:
            return dict(_staged(repo.git.text("ls-files", "--stage", "-z", *skill, env=copy)))
        return dict(_changed(repo.git.text("diff-index", "--cached", "--no-renames", "-z", "HEAD", *skill, env=copy)))


def _staged(listing: str) -> Iterator[tuple[str, Entry]]:
    """Entries of `MODE ID STAGE<tab>PATH<nul>`."""
    for line in listing.split("\0")[:-1]:
        entry, path = line.split("\t", 1)
        mode, name, _ = entry.split(" ")
        yield path, Entry(mode, name)


def _changed(listing: str) -> Iterator[tuple[str, Entry | None]]:
    """Entries of `:OLDMODE MODE OLDID ID STATUS<nul>PATH<nul>`."""
    fields = listing.split("\0")[:-1]
    for entry, path in zip(fields[::2], fields[1::2], strict=True):
        _, mode, _, name, status = entry.split(" ")
        yield path, None if status == "D" else Entry(mode, name)
