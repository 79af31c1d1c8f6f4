"""What the commit being made changes, by path: read from the index that git names to its hooks. Quick to import."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from skillgit.git.objects import object_id
from skillgit.git.repository import Repository

_DOCUMENT = "skill.md"

Env = Mapping[str, str]


@dataclass(frozen=True)
class Row:
    """One changed path: its new mode, all zeros when it goes, and its blobs before and after."""

    mode: str
    before: str
    after: str


def index_env(repo: Repository, environ: Mapping[str, str]) -> dict[str, str]:
    """The environment that makes git read the index of the commit being made; `commit -a` has one of its own.

    Args:
        environ: as it was before the repository was opened, which forgets what git exports to hooks.
    """
    given = environ.get("GIT_INDEX_FILE")
    # git takes it from the top folder, wherever it is called.
    return {"GIT_INDEX_FILE": str((repo.top or repo.common_dir) / given)} if given else {}


def changed(repo: Repository, env: Env, parent: str = "HEAD") -> dict[str, Row]:
    """Path to what changes against a commit; against nothing before the first one."""
    old = parent if repo.resolve(f"{parent}^{{commit}}") else object_id(repo, "tree", b"")
    out = repo.git.text("diff-index", "--cached", "--no-renames", "--no-abbrev", "-z", old, "--", env=env)
    fields = out.split("\0")[:-1]
    entries = [entry.split(" ") for entry in fields[::2]]
    return {path: Row(entry[1], entry[2], entry[3]) for entry, path in zip(entries, fields[1::2], strict=True)}


def skill_folders(repo: Repository, env: Env, paths: Iterable[str] = ()) -> set[str]:
    """Folders with a SKILL.md in the index or among `paths`; `.` is the top."""
    listing = repo.git.text("ls-files", "-z", "--", f":(top,icase,glob)**/{_DOCUMENT}", env=env).split("\0")
    found = (PurePosixPath(path) for path in [*listing, *paths])
    return {str(path.parent) for path in found if path.name.lower() == _DOCUMENT}


def owner(path: str, folders: set[str]) -> str | None:
    """The innermost of the folders around a file."""
    return next((str(parent) for parent in PurePosixPath(path).parents if str(parent) in folders), None)


def touches_skills(repo: Repository, env: Env, paths: Sequence[str]) -> bool:
    """True when one of the changed paths is a file of a skill, be it added or removed."""
    folders = skill_folders(repo, env, paths) if paths else set()
    return any(owner(path, folders) for path in paths)
