"""Skills as git objects: where a skill lies, its versions, and new versions without touching the working tree."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from skillgit.errors import GitError, SkillError
from skillgit.git.objects import Commit, read_blob, write_commits
from skillgit.git.repository import Repository
from skillgit.skills.document import Document

_FOLDERS = ("skills", ".agents/skills", ".claude/skills")
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
    """One version of a skill: its git object id (content identity) and its document."""

    object: str
    document: Document

    @property
    def text(self) -> str:
        """What the target is shown: the body without frontmatter."""
        return self.document.text[self.document.body_start :].strip()


def find(repo: Repository, skill: str, *, path: str = "", cwd: Path | None = None) -> Place:
    """The place of a skill given by name or path.

    Args:
        skill: a name looked up in the skill folders, or a folder or Markdown file relative to `cwd`.
        path: `skill.path` of the configuration, from the top folder; wins over looking up.

    Raises:
        SkillError: nothing is there, in HEAD or in the working tree.
    """
    candidates = [path] if path else [*(f"{folder}/{skill}" for folder in _FOLDERS), *_relative(repo, skill, cwd)]
    for candidate in candidates:
        if place := _place(repo, candidate.rstrip("/")):
            return place
    raise SkillError(
        f"no skill {skill!r}",
        why="looked for " + ", ".join(f"{c}/SKILL.md" for c in candidates),
        fix=f"skillgit new {skill}" if _NAME.fullmatch(skill) else "give a skill's name, folder or Markdown file",
    )


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
    exists = bool(repo.top and (repo.top / document).is_file()) or repo.resolve(f"HEAD:{document}") is not None
    if not exists:
        return None
    if not _NAME.fullmatch(name) or name.endswith(".lock"):
        raise SkillError(f"{name!r} cannot name a branch", where=document, fix="rename it to letters, digits, - and _")
    return Place(name, path, document)


def read_version(repo: Repository, revision: str, place: Place) -> Version | None:
    """The skill as of a revision, or `None` when that revision has none. Raises `SkillError` for a damaged one."""
    found = repo.resolve(f"{revision}:{place.path}")
    data = read_blob(repo, f"{revision}:{place.document}") if found else None
    if found is None or data is None:
        return None
    return Version(found, Document.parse(data, where=f"{revision[:12]}:{place.document}"))


def write_version(repo: Repository, base: str, place: Place, document: Document) -> Version:
    """A version with a new document and everything else as in commit `base`. No ref moves."""
    changes = {place.document: document.encode()}
    written = write_commits(repo, [Commit("candidate", (base,), changes)], [place.path])[0]
    return Version(written.at[place.path], document)


def uncommitted(repo: Repository, place: Place) -> dict[str, bytes | None]:
    """Files of the skill that differ from HEAD in the working tree: path to bytes, `None` when deleted."""
    if repo.top is None:
        return {}
    tracked = ["--", f":(top,literal){place.path}"]
    names = repo.git.text("ls-files", "-z", "--cached", "--others", "--exclude-standard", *tracked).split("\0")
    if repo.head():
        diff = repo.git.text("diff", "--no-ext-diff", "--name-only", "-z", "HEAD", *tracked).split("\0")
        known = repo.git.text("ls-tree", "-r", "-z", "--name-only", "--full-tree", "HEAD", "--", place.path).split("\0")
        names = [*diff, *(set(names) - set(known))]
    return {name: _normalised(repo, name) for name in sorted(set(names)) if name}


def _normalised(repo: Repository, name: str) -> bytes | None:
    assert repo.top is not None
    path = repo.top / name
    if path.is_symlink():
        raise GitError(f"{name} is a symbolic link", fix="commit it yourself, then train from the commit")
    if not path.is_file():
        return None
    # Through git's own filters (line endings), as `git add` would store it.
    blob = repo.git.run("hash-object", "-w", "--stdin", f"--path={name}", data=path.read_bytes()).decode().strip()
    return read_blob(repo, blob)
