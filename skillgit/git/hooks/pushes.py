"""What a push would change on the other side, from what git tells its pre-push hook. No network."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from skillgit.errors import GitError
from skillgit.git.objects import object_id
from skillgit.git.repository import Repository

# What is pushed there is no line of work: tags name what was pushed before, and the rest is ours.
_PASSED = ("refs/tags/", "refs/notes/", "refs/skillgit/")
_ZERO = re.compile(r"0+")


@dataclass(frozen=True)
class Push:
    """One branch: where it is pushed from and to, and the commit the other side has; `None` when it has nothing."""

    branch: str
    head: str
    base: str | None


def from_lines(repo: Repository, lines: Iterable[str], remote: str) -> list[Push]:
    """The pushes of git's pre-push lines: `local ref, local id, remote ref, remote id`; no deletions, no tags.

    Raises:
        GitError: a line is not of this form.
    """
    pushes: dict[tuple[str, str], Push] = {}
    for line in lines:
        if not line.strip():
            continue
        words = line.split()
        if len(words) != 4:
            raise GitError("the pre-push hook was not started by git", why=f"it was given {line.strip()[:80]!r}")
        _, head, branch, old = words
        # Of branches that stand at the same commit, on both sides, one says it all.
        if not _ZERO.fullmatch(head) and not branch.startswith(_PASSED) and (head, old) not in pushes:
            pushes[head, old] = Push(branch, head, _base(repo, head, old, remote))
    return list(pushes.values())


def from_framework(repo: Repository, environ: Mapping[str, str]) -> list[Push]:
    """The push that the pre-commit framework tells of in the environment; it tells of the first branch only."""
    branch, head = environ.get("PRE_COMMIT_REMOTE_BRANCH", ""), environ.get("PRE_COMMIT_TO_REF", "")
    if branch.startswith(_PASSED):
        return []
    if head:
        return [Push(branch or "HEAD", repo.commit(head), repo.commit(environ["PRE_COMMIT_FROM_REF"]))]
    # For a repository pushed for the first time it names no commits; by hand (`pre-commit run`) not even a branch.
    local = environ.get("PRE_COMMIT_LOCAL_BRANCH") or "HEAD"
    commit = repo.commit(local)
    return [Push(branch or local, commit, _fork(repo, commit, environ.get("PRE_COMMIT_REMOTE_NAME") or "origin"))]


def against(repo: Repository, revision: str, upstream: str = "") -> Push:
    """`revision` as if it were pushed onto `upstream`; without one, onto its own upstream or what remotes have."""
    head = repo.commit(revision)
    if not upstream and repo.resolve("@{upstream}"):
        upstream = "@{upstream}"
    base = _merge_base(repo, head, [repo.commit(upstream)]) if upstream else _fork(repo, head, "")
    return Push(revision, head, base)


def changed_paths(repo: Repository, base: str | None, head: str) -> list[str]:
    """Paths of all files that differ between two commits; without a base, of all files."""
    old = base or object_id(repo, "tree", b"")
    out = repo.git.text("diff-tree", "-r", "-z", "--name-only", "--no-renames", "--end-of-options", old, head)
    return [path for path in out.split("\0") if path]


def merged(repo: Repository) -> list[str]:
    """The commits that the last merge (or fast-forward) brought to HEAD, newest first."""
    if repo.resolve("ORIG_HEAD^{commit}") is None:
        return []
    return repo.git.text("rev-list", "ORIG_HEAD..HEAD", "--").split()


def _base(repo: Repository, head: str, old: str, remote: str) -> str | None:
    """What the other side has; a branch that is new there, or moved on unseen, starts where it left the known ones."""
    known = None if _ZERO.fullmatch(old) else repo.resolve(f"{old}^{{commit}}")
    return known or _fork(repo, head, remote)


def _fork(repo: Repository, head: str, remote: str) -> str | None:
    """The newest commit that a history shares with the branches of a remote (or of all), as last fetched."""
    return _merge_base(repo, head, sorted(set(_tracked(repo, remote))))


def _tracked(repo: Repository, remote: str) -> Iterator[str]:
    # A remote may be given as a URL, which has no branches here.
    for ref, commit in repo.refs("refs/remotes").items():
        if not remote or ref.startswith(f"refs/remotes/{remote}/"):
            yield commit


def _merge_base(repo: Repository, head: str, others: list[str]) -> str | None:
    if not others:
        return None
    return repo.git.text("merge-base", head, *others, ok=(0, 1)) or None
