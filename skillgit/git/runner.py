"""Running git: one place, argument lists only, bytes in and bytes out."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from skillgit.errors import GitError

# Variables a hook exports (`git rev-parse --local-env-vars`) would point our git calls at the hook's index or
# repository, and GIT_*_PATHSPECS change what a path means. They are removed once, when a repository is opened;
# GIT_PYTHON_* and GIT_*_DATE stay.
_HOOK_VARIABLES = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIR",
    "GIT_GLOB_PATHSPECS",
    "GIT_GRAFT_FILE",
    "GIT_ICASE_PATHSPECS",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_LITERAL_PATHSPECS",
    "GIT_NAMESPACE",
    "GIT_NOGLOB_PATHSPECS",
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
        # Without this, importing GitPython fails where there is no git, before we can say so in our own words.
        os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
        # GitPython takes 0.1 s to import; nothing that only prints help should pay for it.
        from git import Git

        self.folder = folder
        self._git = Git(folder)
        self._git.update_environment(**_QUIET)

    def run(
        self,
        *args: str,
        data: bytes | None = None,
        ok: tuple[int, ...] = (0,),
        timeout: float = 60,
        env: Mapping[str, str] | None = None,
    ) -> bytes:
        """Run `git ARGS` and return its standard output as it is.

        Raises:
            GitError: an exit status outside `ok`, a missing git, or `timeout` seconds passed.
        """
        status, out, err = self._execute(args, data, timeout, env)
        if status not in ok:
            raise _failure(args, status, err)
        return out

    def succeeds(self, *args: str) -> bool:
        """True when `git ARGS` exits with 0."""
        return self._execute(args, None, 60, None)[0] == 0

    def text(self, *args: str, ok: tuple[int, ...] = (0,), env: Mapping[str, str] | None = None) -> str:
        """The output of `git ARGS` decoded and without its last newline."""
        return self.run(*args, ok=ok, env=env).decode("utf-8", "surrogateescape").removesuffix("\n")

    def _execute(
        self, args: tuple[str, ...], data: bytes | None, timeout: float, env: Mapping[str, str] | None
    ) -> tuple[int, bytes, str]:
        from git.exc import GitCommandNotFound

        with tempfile.TemporaryFile() as stdin:
            stdin.write(data or b"")
            stdin.seek(0)
            try:
                # A session of its own: a terminal's Ctrl-C must not reach git in the middle of a ref transaction.
                started = self._git.execute(
                    ["git", *args], istream=stdin, as_process=True, env=env, start_new_session=True
                )
            except GitCommandNotFound as error:
                raise GitError("git was not found", fix="install git 2.34 or newer and put it on PATH") from error
            process = started.proc
            assert process is not None
            try:
                out, err = process.communicate(timeout=timeout)
            except subprocess.TimeoutExpired as error:
                _kill(process)
                raise GitError(
                    f"git {_verb(args)} gave no answer in {timeout:g} seconds and was stopped",
                    why="it, or a program it started, waits for something",
                ) from error
        return process.returncode, out, err.decode("utf-8", "replace")


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End git with all it started; a grandchild that lived on would keep our pipes open."""
    if os.name == "nt":
        process.kill()
    else:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for pipe in (process.stdout, process.stderr):
        if pipe:
            pipe.close()


def _failure(args: tuple[str, ...], status: int, err: str) -> GitError:
    said = "; ".join(line.strip() for line in err.splitlines() if line.strip())[:600]
    fix = ""
    if "dubious ownership" in err:
        fix = "git config --global --add safe.directory <the folder git names>"
    elif ".lock" in err and "exists" in err.lower():
        fix = "if no git command is running, remove the lock file that git names, then try again"
    return GitError(f"git {_verb(args)} failed (exit {status})", why=said or "git gave no reason", fix=fix)


def _verb(args: tuple[str, ...]) -> str:
    """The git command, after `-c SETTING` and other options of git itself."""
    words = iter(args)
    for word in words:
        if word == "-c":
            next(words, None)
        elif not word.startswith("-"):
            return word
    return ""
