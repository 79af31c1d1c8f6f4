"""One git repository, wherever its parts lie: plain, linked worktree, bare, subfolder."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from skillgit.errors import GitError
from skillgit.git.runner import Runner, scrub_environment

FALLBACK_IDENTITY = ("skillgit", "skillgit@localhost.invalid")
"""Author and committer when the user configured none."""

_LOCK_SECONDS = 120


@dataclass(frozen=True)
class Repository:
    """An opened repository.

    Attributes:
        git: runs git in `top` (or in the git folder when bare).
        top: the worktree's top folder, `None` when bare.
        common_dir: the folder shared by all worktrees.
    """

    git: Runner
    top: Path | None
    common_dir: Path

    @classmethod
    def open(cls, path: Path) -> Repository:
        """Open the repository that holds `path`.

        Raises:
            GitError: not in a repository, or git will not open it (its own words are passed on).
        """
        scrub_environment()
        if not path.is_dir():
            raise GitError(f"no folder {path}", fix="give an existing folder with -C")
        probe = Runner(path)
        try:
            out = probe.text("rev-parse", "--is-bare-repository", "--path-format=absolute", "--git-common-dir")
        except GitError as error:
            if "not a git repository" not in error.why:
                raise
            raise GitError(f"{path} is not in a git repository", fix="git init, then skillgit init") from error
        bare, common = out.split("\n", 1)
        # A linked worktree of a bare repository says it is not bare, and has a top folder of its own.
        top = None if bare == "true" else Path(probe.text("rev-parse", "--path-format=absolute", "--show-toplevel"))
        return cls(Runner(top or Path(common)), top, Path(common))

    @property
    def state_dir(self) -> Path:
        """Folder for the cache, locks and logs: shared by worktrees, never committed, safe to delete."""
        folder = self.common_dir / "skillgit"
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise GitError(f"cannot write to {folder}", why=str(error)) from error
        return folder

    @cached_property
    def root(self) -> Path:
        """The folder that relative paths of configuration and tasks start from.

        A bare repository has no such folder; the files of HEAD are then put into a temporary one, which goes when the
        process ends.
        """
        if self.top:
            return self.top
        folder = Path(tempfile.mkdtemp(prefix="skillgit-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        if self.head() and self.git.run("ls-tree", "HEAD"):
            # Without --staged no index is written; a post-checkout hook has nothing to do with this folder.
            to = (f"--work-tree={folder}", "-c", f"core.hooksPath={os.devnull}")
            self.git.run(*to, "restore", "--quiet", "--source=HEAD", "--worktree", "--", ":/", timeout=600)
        return folder

    @contextmanager
    def lock(self, name: str = "write", *, seconds: float = _LOCK_SECONDS) -> Iterator[None]:
        """Hold one of the repository's locks; it ends with the process, however that ends.

        Raises:
            GitError: another process still holds it after `seconds`.
        """
        from filelock import FileLock, Timeout

        path = self.state_dir / "locks" / f"{name}.lock"
        path.parent.mkdir(exist_ok=True)
        lock = FileLock(path, timeout=seconds)
        try:
            lock.acquire()
        except Timeout as error:
            raise GitError(f"another skillgit process holds the lock {path.name}", fix="wait for it to end") from error
        try:
            yield
        finally:
            lock.release()

    def config(self, key: str) -> str:
        """The value git itself would use for `key`, or an empty string."""
        return self.git.text("config", "--get", key, ok=(0, 1))

    def identity(self, role: str = "COMMITTER") -> str:
        """`Name <mail> seconds zone` for `AUTHOR` or `COMMITTER`, now, with the documented fallback."""
        configured = self._identities[role]
        if f"GIT_{role}_DATE" in os.environ:
            return configured
        return re.sub(r"\d+( [-+]\d{4})$", rf"{int(time.time())}\1", configured)

    @cached_property
    def _identities(self) -> dict[str, str]:
        return {role: self._configured_identity(f"GIT_{role}_IDENT") for role in ("AUTHOR", "COMMITTER")}

    def _configured_identity(self, name: str) -> str:
        strict = ("-c", "user.useConfigOnly=true", "var", name)
        if self.git.succeeds(*strict):
            return self.git.text(*strict)
        user, mail = FALLBACK_IDENTITY
        return self.git.text("-c", f"user.name={user}", "-c", f"user.email={mail}", "var", name)

    def head(self) -> str | None:
        """Commit id of HEAD; `None` when no commit exists yet."""
        return self.resolve("HEAD^{commit}")

    def resolve(self, revision: str) -> str | None:
        """Object id of a revision (`main`, `main:skills/x`), or `None` when there is none."""
        out = self.git.run("rev-parse", "--verify", "--quiet", "--end-of-options", revision, ok=(0, 1, 128))
        return out.decode().strip() or None

    def commit(self, revision: str) -> str:
        """Commit id of a revision. Raises `GitError` when there is none."""
        found = self.resolve(f"{revision}^{{commit}}")
        if found is None:
            every = self.head() or self.refs()
            fix = "git log --oneline --all shows what there is" if every else "git add FILES, then git commit"
            why = "" if every else "nothing is committed in this repository yet"
            raise GitError(f"no commit is called {revision!r}", why=why, fix=fix)
        return found

    @cached_property
    def zero(self) -> str:
        """The null object id, as long as this repository's ids."""
        return "0" * (64 if self.config("extensions.objectformat") == "sha256" else 40)

    def checked_out(self, branch: str) -> str | None:
        """Folder of the worktree that has `refs/heads/BRANCH` checked out, if any."""
        folder = ""
        for field in self.git.text("worktree", "list", "--porcelain").splitlines():
            if field.startswith("worktree "):
                folder = field.removeprefix("worktree ")
            elif field == f"branch refs/heads/{branch}":
                return folder
        return None

    def refs(self, *patterns: str) -> dict[str, str]:
        """Full ref name to object id of every ref that is, or lies below, one of `patterns`."""
        out = self.git.text("for-each-ref", "--format=%(refname) %(objectname)", "--", *patterns)
        return dict(line.split(" ", 1) for line in out.splitlines())
