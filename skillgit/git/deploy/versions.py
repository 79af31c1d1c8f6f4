"""Which skill objects a history went through, for many skills in one git call."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skillgit.git.repository import Repository
from skillgit.git.skillstore import FOLDERS, PROVENANCE, Place

_FOLDERS, _MARK = "|".join(map(re.escape, FOLDERS)), re.escape(PROVENANCE)
_SKILL = re.compile(rf"(({_FOLDERS})/[^/]+)/(SKILL\.md|{_MARK})")
_COMMIT = "\x1e"


@dataclass(frozen=True)
class Seen:
    """Where a skill object was met: a commit that brought it, and the ref that was walked from."""

    commit: str
    ref: str


def committed(repo: Repository) -> dict[str, Place]:
    """Path to place of every skill of HEAD where skills are looked up, without exported copies."""
    if not repo.head():
        return {}
    out = repo.git.run("ls-tree", "-r", "-z", "--name-only", "--full-tree", "HEAD", "--", *FOLDERS)
    found: dict[str, set[str]] = {}
    for match in map(_SKILL.fullmatch, out.decode("utf-8", "surrogateescape").split("\0")):
        if match:
            found.setdefault(match[1], set()).add(match[3])
    skills = [path for path, files in found.items() if files == {"SKILL.md"}]
    return {path: Place(path.rsplit("/", 1)[1], path, f"{path}/SKILL.md") for path in skills}


def objects_of(repo: Repository, paths: Sequence[str], revisions: Sequence[str]) -> dict[str, dict[str, Seen]]:
    """Path to its skill objects in the history of `revisions`, newest first.

    Args:
        revisions: as `git log` takes them (`HEAD`, `--branches`, `--not`), not from outside.
    """
    found: dict[str, dict[str, Seen]] = {path: {} for path in paths}
    if not paths or not repo.head():
        return found
    # -t shows folders with their ids; of a merge, what it brought to each side is shown.
    shape = ("-t", "-z", "--raw", "--diff-merges=separate", "--no-renames", "--no-follow", "--no-abbrev")
    form = f"--format={_COMMIT}%H %S"
    out = repo.git.run("log", *shape, form, *revisions, "--", *(f":(top,literal){path}" for path in paths), timeout=600)
    _read(out.decode("utf-8", "surrogateescape"), found)
    return found


def _read(listing: str, found: Mapping[str, dict[str, Seen]]) -> None:
    seen = Seen("", "")
    fields = iter(listing.split("\0"))
    for field in fields:
        text = field.lstrip("\n")
        if text.startswith(_COMMIT):
            seen = Seen(*text[1:].strip().split(" ", 1))
        elif text.startswith(":"):
            path, name = next(fields), text.split(" ")[3]
            if path in found and set(name) != {"0"}:
                found[path].setdefault(name, seen)
