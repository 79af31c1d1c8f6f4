"""Running git: one place, argument lists only, bytes in and bytes out."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from skillgit.errors import GitError

# Variables a hook exports (`git rev-parse --local-env-vars`) would point our git calls at the hook's index or
# repository. They are removed once, when a repository is opened; GIT_PYTHON_* and GIT_*_DATE stay.
_HOOK_VARIABLES = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_QUARANTINE_PATH",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
)

_QUIET = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GCM_INTERACTIVE": "never"}


def scrub_environment() -> None:
    """Forget the variables of a calling hook, for this process and all its children."""
    for name in _HOOK_VARIABLES:
        os.environ.pop(name, None)


class Runner:
    """Runs git in one folder through GitPython's command runner."""

    def __init__(self, folder: Path) -> None:
        # GitPython takes 0.1 s to import; nothing that only prints help should pay for it.
        from git import Git

        self.folder = folder
        self._git = Git(folder)
        self._git.update_environment(**_QUIET)

    def run(self, *args: str, data: bytes | None = None, ok: tuple[int, ...] = (0,), timeout: float = 60) -> bytes:
        """Run `git ARGS` and return its standard output as it is.

        Raises:
            GitError: an exit status outside `ok`, a missing git, or `timeout` seconds passed.
        """
        status, out, err = self._execute(args, data, timeout)
        if status not in ok:
            raise _failure(args, status, err)
        return out

    def succeeds(self, *args: str) -> bool:
        """True when `git ARGS` exits with 0."""
        return self._execute(args, None, 60)[0] == 0

    def text(self, *args: str, ok: tuple[int, ...] = (0,)) -> str:
        """The output of `git ARGS` decoded and without its last newline."""
        return self.run(*args, ok=ok).decode("utf-8", "surrogateescape").removesuffix("\n")

    def _execute(self, args: tuple[str, ...], data: bytes | None, timeout: float) -> tuple[int, bytes, str]:
        from git.exc import GitCommandNotFound

        with tempfile.TemporaryFile() as stdin:
            stdin.write(data or b"")
            stdin.seek(0)
            try:
                status, out, err = self._git.execute(
                    ["git", *args],
                    istream=stdin,
                    with_extended_output=True,
                    with_exceptions=False,
                    stdout_as_string=False,
                    strip_newline_in_stdout=False,
                    kill_after_timeout=timeout if os.name != "nt" else None,
                    # A terminal's Ctrl-C must not reach git in the middle of a ref transaction.
                    start_new_session=True,
                )
            except GitCommandNotFound as error:
                raise GitError("git was not found", fix="install git 2.34 or newer and put it on PATH") from error
        return status, bytes(out), err


def _failure(args: tuple[str, ...], status: int, err: str) -> GitError:
    said = "; ".join(line.strip() for line in err.splitlines() if line.strip())[:600]
    fix = ""
    if "dubious ownership" in err:
        fix = "git config --global --add safe.directory <the folder git names>"
    elif ".lock" in err and "exists" in err.lower():
        fix = "if no git command is running, remove the lock file that git names, then try again"
    return GitError(f"git {args[0] if args else ''} failed (exit {status})", why=said or "git gave no reason", fix=fix)
