"""Which schedulers there are, and the job of a repository."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from skillgit.errors import ConfigError, SkillgitError
from skillgit.git.repository import Repository
from skillgit.sleep.redact import redact
from skillgit.sleep.redact.clipping import MARK
from skillgit.sleep.watch.schedule.base import Entry, Job, Scheduler, printable
from skillgit.sleep.watch.schedule.cron import Cron
from skillgit.sleep.watch.schedule.launchd import Launchd
from skillgit.sleep.watch.schedule.session_end import SessionEnd
from skillgit.sleep.watch.schedule.systemd import Systemd
from skillgit.sleep.watch.schedule.tasks import TaskScheduler

NAMES = ("cron", "systemd", "launchd", "task-scheduler", "claude-code")

# Where agents keep their sessions and we our models; the schedulers start without the shell's variables.
_KEPT = (
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "OPENCODE_DB",
    "VSCODE_PORTABLE",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "SKILLGIT_HOME",
)


def job_id(repo: Repository) -> str:
    """12 hex digits that stand for a repository, the same in all its worktrees."""
    return hashlib.sha256(os.fsencode(repo.common_dir.resolve())).hexdigest()[:12]


def schedulers(repo: Repository) -> Mapping[str, Scheduler]:
    """Every scheduler by its name."""
    every: list[Scheduler] = [Cron(), Systemd(), Launchd(), TaskScheduler(), SessionEnd(repo.top, job_id(repo))]
    return {each.name: each for each in every}


def default(repo: Repository) -> Scheduler:
    """The scheduler that suits this system. Raises `ConfigError` when there is none."""
    names = {"darwin": ("launchd",), "win32": ("task-scheduler",)}.get(sys.platform, ("systemd", "cron"))
    every = schedulers(repo)
    missing = []
    for name in names:
        why = every[name].missing()
        if not why:
            return every[name]
        missing.append(f"{name}: {why}")
    raise ConfigError("this system has no scheduler", why="; ".join(missing), fix="skillgit sleep watch")


def chosen(repo: Repository, name: str) -> Scheduler:
    """The scheduler of that name. Raises `ConfigError` when it cannot be used here."""
    found = schedulers(repo)[name]
    if why := found.missing():
        raise ConfigError(f"{name} cannot be used here", why=why, fix="choose another one with --with")
    return found


def make_job(repo: Repository, folder: Path, options: Sequence[str], hour: int, minute: int) -> Job:
    """The nightly job of a repository.

    Args:
        folder: where the night starts; relative paths among `options` are meant from there.
        options: those of `skillgit sleep run`, word by word.

    Raises:
        ConfigError: something that no entry can hold, or a secret that none may hold.
    """
    # -P: the folder may hold a `json.py`, which is not to be run.
    command = (sys.executable, "-P", "-m", "skillgit", "-C", str(folder), "sleep", "nightly", *options)
    environment = {"PATH": _path(), **{name: os.environ[name] for name in _KEPT if os.environ.get(name)}}
    printable([*command, *environment.values()])
    for option in options:
        if MARK.search(hidden := redact(option)):
            fix = "keys come from the environment; leave it out"
            raise ConfigError("the entry would hold a secret", why=hidden, fix=fix)
    return Job(job_id(repo), folder, command, hour, minute, environment)


def _path() -> str:
    """PATH without what is relative, missing or there twice: some schedulers have little room."""
    folders = dict.fromkeys(os.environ.get("PATH", "").split(os.pathsep))
    return os.pathsep.join(folder for folder in folders if Path(folder).is_absolute() and Path(folder).is_dir())


def scheduled(repo: Repository, *, every: bool = False) -> list[Entry]:
    """What is set up for a repository, or with `every` for all of this user's.

    A scheduler that cannot be read gives one entry that says why.
    """
    own, found = job_id(repo), []
    for scheduler in schedulers(repo).values():
        try:
            found += [entry for entry in scheduler.entries() if every or entry.job == own]
        except SkillgitError as error:
            found.append(Entry(scheduler.name, "", "", active=False, problem=str(error)))
    return found
