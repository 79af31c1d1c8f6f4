"""cron: one marked block per repository in the user's crontab. Every other line stays as it is."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from skillgit.errors import ConfigError, NeedsPersonError
from skillgit.git.hooks.install import Change
from skillgit.sleep.watch.schedule.base import UNSCHEDULE, Entry, Job, call, demand, foreign, words_of

_START = "# >>> skillgit sleep {} >>>"
_END = "# <<< skillgit sleep {} <<<"
_MARK = re.compile(r"# (>>>|<<<) skillgit sleep\b(.*)")
_REST = re.compile(r" ([0-9a-f]{12}) (>>>|<<<)")
_LINE = re.compile(r"(#?)(\d+) (\d+) \* \* \* (.+ sleep nightly\b.*)")
_LONGEST = 990  # several crons cut or refuse a command from 1000 bytes on


@dataclass(frozen=True)
class Block:
    """One repository's lines: from line `start` up to, not including, `end`."""

    job: str
    start: int
    end: int


def blocks(lines: list[str]) -> list[Block]:
    """The blocks in a crontab. Raises `NeedsPersonError` for marks that do not pair up, or hold what is not ours."""
    found: list[Block] = []
    start, job = -1, ""
    for number, line in enumerate(lines):
        mark = _MARK.match(line.strip())
        if not mark:
            continue
        rest = _REST.fullmatch(mark[2])
        if rest is None or rest[2] != mark[1]:
            raise _odd(number, "the mark is damaged")
        if mark[1] == ">>>":
            if start >= 0:
                raise _odd(start, "the block has no end")
            start, job = number, rest[1]
            continue
        if start < 0 or rest[1] != job:
            raise _odd(number, "the block has no beginning")
        found.append(Block(job, start, number + 1))
        start = -1
    if start >= 0:
        raise _odd(start, "the block has no end")
    _check(lines, found)
    return found


def _check(lines: list[str], found: list[Block]) -> None:
    for block in found:
        if any(other.job == block.job and other.start < block.start for other in found):
            raise _odd(block.start, "there is another block of the same repository")
        if block.end - block.start != 3 or not _LINE.fullmatch(lines[block.start + 1]):
            raise _odd(block.start, "the block does not hold one line of skillgit's")


def _odd(number: int, why: str) -> Exception:
    return foreign(f"crontab:{number + 1}", why)


def with_job(text: str, job: Job) -> str:
    """A crontab with the job in place of its repository's earlier one, or at the end."""
    lines = text.split("\n")
    new = [_START.format(job.id), line_of(job), _END.format(job.id)]
    for block in blocks(lines):
        if block.job == job.id:
            return "\n".join([*lines[: block.start], *new, *lines[block.end :]])
    gap = "\n" if text and not text.endswith("\n") else ""
    return f"{text}{gap}" + "\n".join([*new, ""])


def without_jobs(text: str, jobs: Collection[str] | None) -> str:
    """A crontab without the blocks of these repositories; `None`: without all."""
    lines = text.split("\n")
    for block in reversed(blocks(lines)):
        if jobs is None or block.job in jobs:
            del lines[block.start : block.end]
    return "\n".join(lines)


def line_of(job: Job) -> str:
    """The line that cron reads. A `%` would end the command there. Raises `ConfigError` when it is too long."""
    settings = [f"{name}={value}" for name, value in job.environment.items()]
    command = shlex.join(["env", *settings, *job.command] if settings else job.command).replace("%", "\\%")
    if len(command.encode("utf-8", "surrogateescape")) > _LONGEST:
        raise ConfigError(
            "the entry is too long for cron",
            why=f"{len(command)} characters, at most {_LONGEST}; PATH is part of it",
            fix="move options to skillgit.yaml, shorten PATH, or use --with systemd",
        )
    return f"{job.minute} {job.hour} * * * {command} >/dev/null"


class Cron:
    """The user's crontab."""

    name = "cron"

    def missing(self) -> str:
        """Why it cannot be used here; blank when it can."""
        return "" if shutil.which("crontab") else "there is no crontab program"

    def install(self, job: Job) -> list[Change]:
        """What writes the job's block."""
        old = self._read()
        return self._change(old, with_job(old, job), "set" if job.id not in old else "replace", line_of(job))

    def remove(self, jobs: Collection[str] | None) -> list[Change]:
        """What takes blocks out."""
        old = self._read() if not self.missing() else ""
        return self._change(old, without_jobs(old, jobs), "remove", "")

    def entries(self) -> list[Entry]:
        """What the blocks say."""
        lines = self._read().split("\n") if not self.missing() else []
        return list(self._entries(lines))

    def _entries(self, lines: list[str]) -> Iterator[Entry]:
        for block in blocks(lines):
            if row := _LINE.fullmatch(lines[block.start + 1]):
                command = row[4].replace("\\%", "%").removesuffix(" >/dev/null")
                words = list(words_of(command, f"crontab:{block.start + 2}"))
                while words and (words[0] == "env" or re.match(r"[A-Z_]+=", words[0])):
                    words.pop(0)
                when = f"{int(row[3]):02}:{int(row[2]):02}"
                yield Entry(self.name, block.job, "crontab", when, tuple(words), active=not row[1])

    def _change(self, old: str, new: str, verb: str, detail: str) -> list[Change]:
        if old == new:
            return []

        def act() -> None:
            if self._read() != old:
                raise ConfigError("the crontab was changed meanwhile", fix="run the command again")
            demand("crontab", "-", data=new.encode("utf-8", "surrogateescape"))

        return [Change(verb, "crontab", detail or UNSCHEDULE, act)]

    def _read(self) -> str:
        done = call("crontab", "-l")
        if done.code == 0:
            return done.out.decode("utf-8", "surrogateescape")
        if "no crontab for" in done.err:
            return ""
        raise NeedsPersonError(
            "the crontab cannot be read; nothing was changed", why=f"crontab -l says: {done.said}", fix="crontab -l"
        )
