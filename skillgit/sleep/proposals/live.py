"""Where a proposal is looked for: the commits that stand for what people work with."""

from __future__ import annotations

from collections.abc import Sequence

from skillgit.git.objects import resolve_many
from skillgit.git.repository import Repository
from skillgit.sleep.proposals.names import BRANCHES

_SLEEP = f"refs/heads/{BRANCHES}/"


def live_commits(repo: Repository, also: Sequence[str] = ()) -> list[str]:
    """HEAD, then the main branches here and on the remote, each commit once.

    HEAD does not count while a proposal is checked out: looking at it is not taking it.

    Args:
        also: further branches that count.
    """
    default = repo.config("init.defaultBranch")
    names = dict.fromkeys(name for name in (*also, "main", "master", default) if name)
    heads = [f"refs/heads/{name}^{{commit}}" for name in names]
    found = resolve_many(repo, [*heads, "refs/remotes/origin/HEAD^{commit}"])
    head = [] if _looking_at_proposal(repo) else [repo.head()]
    return list(dict.fromkeys(commit for commit in (*head, *found) if commit))


def _looking_at_proposal(repo: Repository) -> bool:
    branch = repo.git.text("symbolic-ref", "--quiet", "HEAD", ok=(0, 1))
    if branch:
        return branch.startswith(_SLEEP)
    proposals = repo.refs(_SLEEP, f"refs/remotes/*/{BRANCHES}/*/*")
    return repo.head() in proposals.values()
