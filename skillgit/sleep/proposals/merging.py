"""Merging a proposal's branch: by git in the user's worktree, or onto a branch that is checked out nowhere."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from skillgit.errors import GitError, NeedsPersonError
from skillgit.git import signing
from skillgit.git.objects import Change, Commit, Entry, write_commits
from skillgit.git.publish import Publication, RefUpdate, publish
from skillgit.git.repository import Repository

_HOOK_SECONDS = 3600


def merge_here(repo: Repository, tip: str, title: str, name: str) -> str:
    """`git merge --no-ff` with the user's hooks, drivers, signing and identity. Returns the merge.

    Args:
        name: what a person calls `tip`.

    Raises:
        NeedsPersonError: there are conflicts; the merge was taken back.
        GitError: git or a hook refused; the merge was taken back.
    """
    before = repo.commit("HEAD")
    how = ("--no-ff", "--no-squash", "--commit", "--no-edit", "--quiet", "-m", title)
    try:
        # git has a session of its own, so Ctrl-C ends only the wait: leaving the pool waits until git is done.
        with ThreadPoolExecutor(1, "merge") as pool:
            pool.submit(repo.git.run, "merge", *how, tip, timeout=_HOOK_SECONDS).result()
    except GitError as error:
        if repo.commit("HEAD") != before or repo.resolve("MERGE_HEAD") is None:
            raise
        files = repo.git.text("diff", "--name-only", "--diff-filter=U", "-z").split("\0")[:-1]
        repo.git.run("merge", "--abort")
        if files:
            raise _conflict(files, f"git merge --no-ff {name}") from error
        raise GitError("nothing was merged, and all files are as before", why=f"{error.what}: {error.why}") from error
    return repo.commit("HEAD")


def merge_onto(repo: Repository, branch: str, target: str, tip: str, title: str, *, sign: bool = True) -> str:
    """Merge `tip` into a branch at `target` without files; hooks do not run. Returns the merge.

    Args:
        sign: sign it when `commit.gpgsign` asks for it.

    Raises:
        NeedsPersonError: there are conflicts; nothing was changed.
        GitError: the branch moved or is checked out, or this git is older than 2.38 and the branch has gone on.
    """
    tree = _merged_tree(repo, target, tip, branch)
    draft = Commit(f"{title}\n", (target, tip), _changes(repo, target, tree))
    made = write_commits(repo, [draft])[0].commit
    made = signing.resign(repo, made) if sign and signing.wanted(repo) else made
    publish(repo, Publication([RefUpdate(f"refs/heads/{branch}", made, target)]))
    return made


def _merged_tree(repo: Repository, target: str, tip: str, branch: str) -> str:
    if repo.git.succeeds("merge-base", "--is-ancestor", target, tip):
        return repo.git.text("rev-parse", f"{tip}^{{tree}}")
    try:
        out = repo.git.text("merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", target, tip, ok=(0, 1))
    except GitError as error:
        fix = f"git switch {branch}, and run it there; without files it takes git 2.38"
        raise GitError("the merge cannot be made without files", why=error.why, fix=fix) from error
    tree, *files = out.split("\0")
    if files := [file for file in files if file]:
        raise _conflict(files, f"git switch {branch}, then git merge --no-ff {tip[:12]}")
    return tree


def _changes(repo: Repository, before: str, after: str) -> dict[str, Change]:
    """What makes one tree of another."""
    out = repo.git.text("diff-tree", "-r", "-z", "--no-renames", before, after)
    fields = out.split("\0")[:-1]
    found: dict[str, Change] = {}
    for row, path in zip(fields[::2], fields[1::2], strict=True):
        _, mode, _, name, status = row.split(" ")
        found[path] = None if status == "D" else Entry(mode, name)
    return found


def _conflict(files: list[str], by_hand: str) -> NeedsPersonError:
    return NeedsPersonError(
        f"there are conflicts in {', '.join(files)}",
        why="nothing was changed; branch and proposal are as they were",
        fix=f"{by_hand}, then settle what git marks; skillgit init sets up a merge driver that knows rules",
    )
