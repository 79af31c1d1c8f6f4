"""The commit being made, as a hook sees it: its message file, and what the index changes. Nothing is written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from skillgit.git.hooks.indexed import Env, changed, index_env, owner, skill_folders
from skillgit.git.objects import read_blobs
from skillgit.git.repository import Repository
from skillgit.skills.commit_message import Message, Problem, Staged, Trailer, check_changes, check_message, is_learned

_NO_EDITOR = ":"  # what git exports as GIT_EDITOR when no one edits the message
_KEEPING = ("verbatim", "whitespace", "scissors")  # values of commit.cleanup under which comment lines stay


def check_commit(cwd: Path, raw: str, environ: Mapping[str, str]) -> list[Problem]:
    """What is wrong with a commit, by its message and, when it claims to be learned, by what it changes.

    Args:
        cwd: where git started the hook.
        raw: the message file, before git cleans it up.
        environ: what git exported to the hook.
    """
    exported = dict(environ)
    repo = Repository.open(cwd)
    env = index_env(repo, exported)
    message = _message(repo, raw, edited=exported.get("GIT_EDITOR") != _NO_EDITOR)
    trailers = _trailers(repo, message.text)
    problems = check_message(message, trailers)
    return problems + (check_changes(_changes(repo, env)) if is_learned(trailers) else [])


def _message(repo: Repository, raw: str, *, edited: bool) -> Message:
    """The message as git will keep it; whether someone edits it decides what the default clean-up takes out."""
    cleanup = repo.config("commit.cleanup") or "default"
    strips = cleanup == "strip" or (edited and cleanup not in _KEEPING)
    comment = repo.config("core.commentString") or repo.config("core.commentChar") or "#"
    return Message.read(
        raw,
        comment=("#" if comment == "auto" else comment) if strips else "",
        scissors=edited or cleanup == "scissors",
    )


def _trailers(repo: Repository, text: str) -> list[Trailer]:
    data = text.encode("utf-8", "surrogateescape")
    out = repo.git.run("interpret-trailers", "--parse", "--no-divider", data=data).decode("utf-8", "surrogateescape")
    pairs = [line.partition(":") for line in out.splitlines()]
    return [(key.strip(), value.strip()) for key, _, value in pairs]


def _changes(repo: Repository, env: Env) -> list[Staged]:
    """What the commit changes against every parent; what a merged parent brings is that parent's."""
    rows = changed(repo, env)
    for parent in _merged(repo):
        others = changed(repo, env, parent)
        rows = {path: row for path, row in rows.items() if path in others}
    # A document at the top makes the whole repository no skill: it is a skill of one file.
    skills = skill_folders(repo, env, rows) - {"."}
    blobs = read_blobs(repo, [name for row in rows.values() for name in (row.before, row.after)])
    pairs = zip(rows.items(), blobs[::2], blobs[1::2], strict=True)
    return [Staged(path, owner(path, skills) or path, row.mode, *sides) for (path, row), *sides in pairs]


def _merged(repo: Repository) -> list[str]:
    """The commits being merged into HEAD."""
    path = Path(repo.git.text("rev-parse", "--path-format=absolute", "--git-path", "MERGE_HEAD"))
    return path.read_text(encoding="ascii").split() if path.is_file() else []
