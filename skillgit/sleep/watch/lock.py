"""One watcher per repository."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from skillgit.errors import CheckFailedError, GitError
from skillgit.git.repository import Repository
from skillgit.sleep.files import write_whole

_LOCK = "sleep-watch"
_HOLDER = "sleep-watch.pid"
_PATIENCE = 0.5  # seconds; whoever only asks whether there is a watcher holds the lock for a moment


@contextmanager
def sole(repo: Repository) -> Iterator[None]:
    """Be the repository's watcher; that ends with the process, however it ends.

    Raises:
        CheckFailedError: another one is at work.
    """
    with ExitStack() as stack:
        try:
            stack.enter_context(repo.lock(_LOCK, seconds=_PATIENCE))
        except GitError as error:
            raise CheckFailedError(
                "this repository has a watcher already", why=_said(repo), fix="end that one first, or leave it to it"
            ) from error
        write_whole(repo.state_dir / _HOLDER, f"process {os.getpid()} on {socket.gethostname()}".encode())
        yield


def holder(repo: Repository) -> str:
    """Who watches the repository, as `process 123 on host`; blank when nobody does."""
    try:
        with repo.lock(_LOCK, seconds=0):
            return ""
    except GitError:
        return _said(repo)


def _said(repo: Repository) -> str:
    try:
        return (repo.state_dir / _HOLDER).read_text("utf-8")[:200]
    except FileNotFoundError:
        return "a process that is just starting"
