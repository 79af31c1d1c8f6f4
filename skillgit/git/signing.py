"""Commits on a branch follow the user's signing policy."""

from __future__ import annotations

from skillgit.errors import GitError
from skillgit.git.repository import Repository

_SIGN_SECONDS = 20  # an agent answers at once; a prompt nobody sees would wait for ever


def wanted(repo: Repository) -> bool:
    """True when `commit.gpgsign` asks for signed commits."""
    return repo.git.text("config", "--type=bool", "--get", "commit.gpgsign", ok=(0, 1)) == "true"


def check(repo: Repository) -> None:
    """Sign one throw-away commit, so that a missing key is found before any model is paid.

    Raises:
        GitError: signing is wanted and does not work.
    """
    if wanted(repo):
        tree = repo.git.text("hash-object", "-t", "tree", "-w", "--stdin")
        resign(repo, repo.git.text("commit-tree", tree, "-m", "skillgit signing check"))


def resign(repo: Repository, commit: str) -> str:
    """A signed copy of an unsigned commit: same tree, parents, author, dates and message."""
    raw = repo.git.run("cat-file", "commit", commit)
    head, _, message = raw.partition(b"\n\n")
    fields = [line.split(" ", 1) for line in head.decode("utf-8", "surrogateescape").split("\n")]
    parents = [arg for key, value in fields if key == "parent" for arg in ("-p", value)]
    tree = next(value for key, value in fields if key == "tree")
    try:
        out = repo.git.run("commit-tree", "-S", *parents, "-F", "-", tree, data=message, timeout=_SIGN_SECONDS)
    except GitError as error:
        raise GitError(
            "commits cannot be signed, and commit.gpgsign asks for it",
            why=error.why,
            fix="unlock or set the signing key (git config user.signingkey), or pass --set git.sign=never",
        ) from error
    return out.decode().strip()
