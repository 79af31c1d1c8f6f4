"""Talking to a remote with git's own commands: what refs it has, fetching objects, pushing without force."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skillgit.errors import ConfigError, GitError
from skillgit.git.remote_url import without_secrets
from skillgit.git.repository import Repository

_SECONDS = 600  # a slow line may need minutes; a server that says nothing must not hold a terminal for ever
_ASK_SECONDS = 60

# Nothing that the user's configuration adds to a fetch or push may move a ref that was not asked for.
_PLAIN = ("-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "protocol.ext.allow=never")

# What a remote says when someone else moved a ref in between: fetching again helps.
_RACED = re.compile(
    r"non-fast-forward|fetch first|stale info|cannot lock ref|failed to (update|lock)|incorrect old value|"
    r"already exists"
)


@dataclass(frozen=True)
class Pushed:
    """What a remote answered per ref.

    Attributes:
        taken: refs it moved (or had there already).
        raced: refs someone else moved meanwhile.
        refused: ref to the remote's reason.
    """

    taken: tuple[str, ...]
    raced: tuple[str, ...]
    refused: Mapping[str, str]


def choose(repo: Repository, name: str = "") -> str:
    """The remote to use: the named one, else the current branch's, else `origin`, else the only one.

    Raises:
        ConfigError: there is none, or none that is meant.
    """
    known = repo.git.text("remote").splitlines()
    if name:
        if name not in known:
            raise ConfigError(f"no remote {name!r}", why=f"remotes: {', '.join(known) or 'none'}", fix="git remote -v")
        return name
    branch = repo.git.text("symbolic-ref", "--quiet", "--short", "HEAD", ok=(0, 1, 128))
    upstream = repo.config(f"branch.{branch}.remote") if branch else ""
    found = next((remote for remote in (upstream, "origin") if remote in known), "")
    if not found and len(known) != 1:
        why = f"remotes: {', '.join(known)}" if known else "this repository has no remote"
        fix = f"skillgit sync {known[0]}" if known else "git remote add origin URL"
        raise ConfigError("no remote to sync with", why=why, fix=fix)
    return found or known[0]


def remote_refs(repo: Repository, remote: str, prefixes: Sequence[str]) -> dict[str, str]:
    """Ref to object id of the remote's refs that begin with one of `prefixes`.

    Raises:
        GitError: the remote cannot be reached or read.
    """
    out = _asked(
        repo, remote, "ls-remote", "--refs", "--", remote, *(f"{prefix}*" for prefix in prefixes), seconds=_ASK_SECONDS
    )
    rows = [line.split("\t", 1) for line in out.decode("utf-8", "surrogateescape").splitlines()]
    # git matches a pattern against the end of a name, too.
    return {ref: name for name, ref in rows if ref.startswith(tuple(prefixes))}


def fetch(repo: Repository, remote: str, tips: Mapping[str, str]) -> None:
    """Fetch the objects of refs; no ref moves here, whatever refspecs are configured.

    Args:
        tips: ref to what the remote has there, from `remote_refs`.

    Raises:
        GitError: the remote cannot be used, or has something else than a commit there.
    """
    how = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-prune", "--refmap=")
    if not tips:
        return
    _asked(repo, remote, "fetch", *how, "--", remote, *tips, seconds=_SECONDS)
    names = "".join(f"{tip}\n" for tip in tips.values()).encode()
    kinds = repo.git.run("cat-file", "--batch-check=%(objecttype)", data=names).decode().splitlines()
    for ref, kind in zip(tips, kinds, strict=True):
        if kind != "commit":
            raise GitError(
                f"{ref} of {remote} is no commit",
                why=f"there is a {kind}; nothing of it was taken, and what you have stays here",
                fix=f"git push --delete {remote} {ref} removes it there",
            )


def push(repo: Repository, remote: str, tips: Mapping[str, str]) -> Pushed:
    """Move the remote's refs forward to `tips`, never by force.

    Raises:
        GitError: the remote cannot be reached.
    """
    specs = [f"{commit}:{ref}" for ref, commit in tips.items()]
    how = ("--porcelain", "--no-follow-tags", "--no-signed", "--recurse-submodules=no")
    out = _asked(repo, remote, "push", *how, "--", remote, *specs, seconds=_SECONDS, ok=(0, 1))
    taken, raced, refused = [], [], {}
    answers = _answers(out.decode("utf-8", "replace"))
    for ref in tips:
        flag, said = answers.get(ref, ("!", "the push was stopped, perhaps by a pre-push hook"))
        if flag in " *=":
            taken.append(ref)
        elif _RACED.search(said):
            raced.append(ref)
        else:
            refused[ref] = said
    return Pushed(tuple(taken), tuple(raced), refused)


def _answers(out: str) -> dict[str, tuple[str, str]]:
    """Remote ref to flag and reason, of `FLAG<tab>FROM:TO<tab>SUMMARY` lines."""
    # What the other side says may reach a terminal.
    rows = [[_printable(field) for field in line.split("\t")] for line in out.split("\n")]
    return {row[1].split(":", 1)[1]: (row[0] or " ", row[2]) for row in rows if len(row) == 3 and ":" in row[1]}


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)


def _asked(repo: Repository, remote: str, *args: str, seconds: float, ok: tuple[int, ...] = (0,)) -> bytes:
    try:
        return repo.git.run(*_PLAIN, *args, timeout=seconds, ok=ok)
    except GitError as error:
        raise GitError(
            f"remote {remote} could not be used: {error.what}",
            why=without_secrets(error.why),
            fix=error.fix or f"git ls-remote {remote} shows whether it can be reached; nothing local was lost",
        ) from error
