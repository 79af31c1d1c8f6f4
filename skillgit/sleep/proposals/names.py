"""Names of nights, and the refs that belong to them."""

from __future__ import annotations

import re

from skillgit.errors import GitError
from skillgit.git.objects import list_tree
from skillgit.git.repository import Repository

NIGHTS = "refs/skillgit/nights"
"""One commit per night of a skill: `nights/<night>.json`, and `tasks/<night>.jsonl` where tasks are kept."""
REJECTED = "refs/skillgit/rejected"
"""`lessons.jsonl` of a skill: lessons that were not wanted, or did not help."""
PROPOSED = "refs/skillgit/proposed"
"""Remembers, in this clone only, that a proposal's branch was made here: when it is gone, someone deleted it."""
BRANCHES = "sleep"

_NIGHT = re.compile(r"\d{4}-\d{2}-\d{2}(-[1-9]\d{0,5})?")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_SKILL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*")


def is_night(name: str) -> bool:
    """True for `<date>` and `<date>-<n>`."""
    return bool(_NIGHT.fullmatch(name))


def is_skill(name: str) -> bool:
    """True for a name that can stand in refs."""
    return bool(_SKILL.fullmatch(name)) and not name.endswith(".lock")


def branch_of(skill: str, night: str) -> str:
    """The branch of a proposal."""
    return f"{BRANCHES}/{skill}/{night}"


def in_order(night: str) -> tuple[str, int]:
    """Sorts nights by time: `2026-01-02-10` comes after `2026-01-02-9`."""
    return night[:10], int(night[11:] or 1)


def copies(repo: Repository, kind: str, skill: str = "*") -> dict[str, str]:
    """Ref to tip of `refs/skillgit/KIND/SKILL` here, then of the sides that `skillgit sync` put beside them."""
    here = repo.refs(f"refs/skillgit/{kind}/{skill}")
    return here | repo.refs(f"refs/skillgit/remotes/*/{kind}/{skill}")


def free_night(repo: Repository, skill: str, date: str) -> str:
    """The first of `DATE`, `DATE-2`, … that no branch (here or on a remote, as last fetched) and no night has.

    Raises:
        GitError: `date` is no date, or the skill's name cannot stand in a branch's name.
    """
    if not _DATE.fullmatch(date) or not is_skill(skill):
        raise GitError(f"sleep/{skill}/{date} cannot name a branch", why="it takes a skill's name and YYYY-MM-DD")
    branches = repo.refs(f"refs/heads/{BRANCHES}/{skill}/", f"refs/remotes/*/{BRANCHES}/{skill}/*")
    taken = {ref.rsplit("/", 1)[1] for ref in branches}
    taken |= {ref.rsplit("/", 1)[1] for ref in repo.refs(f"{PROPOSED}/{skill}/")}
    for tip in copies(repo, "nights", skill).values():
        taken |= {path.rpartition("/")[2].rpartition(".")[0] for path in list_tree(repo, tip)}
    number = 1
    while (name := date if number == 1 else f"{date}-{number}") in taken:
        number += 1
    return name
