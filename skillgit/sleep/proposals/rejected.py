"""What later nights should not propose again, and how they know it."""

from __future__ import annotations

from collections.abc import Sequence

from skillgit.git.repository import Repository
from skillgit.sleep.proposals.ledger import Rejected, add, recorded
from skillgit.sleep.proposals.likeness import is_known
from skillgit.sleep.proposals.states import dropped

__all__ = ["Rejected", "add", "is_known", "read"]


def read(repo: Repository, skill: str, *, also: Sequence[str] = ()) -> list[Rejected]:
    """Lessons of a skill that were turned down: by the gate, by a person with the reason, or with a deleted branch.

    Args:
        also: branches that count as adopting, besides HEAD and the main branches.
    """
    return [*recorded(repo, skill), *dropped(repo, skill, also=also)]
