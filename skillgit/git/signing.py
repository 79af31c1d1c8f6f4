"""Commits on a branch follow the user's signing policy."""

from __future__ import annotations

from skillgit.errors import GitError
from skillgit.git.objects import Commit, write_commits
from skillgit.git.repository import Repository
from skillgit.git.skillstore import Place, Version, changes_to

_SIGN_SECONDS = 20  # an agent answers at once; a prompt nobody sees would wait for ever


def wanted(repo: Repository) -> bool:
    """True when `commit.gpgsign` asks for signed commits."""
    return repo.git.text("config", "--type=bool", "--get", "commit.gpgsign", ok=(0, 1)) == "true"


def commit_version(repo: Repository, place: Place, version: Version, message: str, parent: str, *, sign: bool) -> str:
    """A commit of a skill's version on top of `parent`; no ref moves.

    Args:
        sign: sign it when `commit.gpgsign` asks for it.
    """
    draft = Commit(message, (parent,), changes_to(place, version))
    written = write_commits(repo, [draft], [place.path])[0]
    if written.at.get(place.path) != version.object:
        raise GitError(f"the commit of skill object {version.object[:12]} holds another one", why=str(written.at))
    return resign(repo, written.commit) if sign and wanted(repo) else written.commit


def check(repo: Repository) -> None:
    """Sign one throw-away commit, so that a missing key is found before any model is paid.

    Raises:
        GitError: signing is wanted and does not work.
    """
    if wanted(repo):
        resign(repo, write_commits(repo, [Commit("skillgit signing check\n")])[0].commit)


def resign(repo: Repository, commit: str) -> str:
    """A signed copy of an unsigned commit: same tree, parents, author, committer, dates and message.

    Raises:
        GitError: it cannot be signed, or the signing program gives no answer in time.
    """
    raw = repo.git.run("cat-file", "commit", commit)
    head, _, message = raw.partition(b"\n\n")
    fields = [line.split(" ", 1) for line in head.decode("utf-8", "surrogateescape").split("\n")]
    parents = [arg for key, value in fields if key == "parent" for arg in ("-p", value)]
    of = dict(fields)
    people = _person("AUTHOR", of["author"]) | _person("COMMITTER", of["committer"])
    try:
        out = repo.git.run(
            "commit-tree", "-S", *parents, "-F", "-", of["tree"], data=message, timeout=_SIGN_SECONDS, env=people
        )
    except GitError as error:
        raise GitError(
            "commits cannot be signed, and commit.gpgsign asks for it",
            why=f"{error.what}: {error.why}",
            fix="unlock or set the signing key (git config user.signingkey), or pass --set git.sign=never",
        ) from error
    return out.decode().strip()


def _person(role: str, ident: str) -> dict[str, str]:
    """`Name <mail> seconds zone` of a commit as the variables that git takes it from."""
    who, seconds, zone = ident.rsplit(" ", 2)
    name, mail = who.removesuffix(">").split(" <", 1)
    return {f"GIT_{role}_NAME": name, f"GIT_{role}_EMAIL": mail, f"GIT_{role}_DATE": f"@{seconds} {zone}"}
