"""Nothing is lost or counted twice: sources that fail, harvests that are killed, and two at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from skillgit.events import ignore
from skillgit.git.repository import Repository
from skillgit.sleep.base import Batch, Position, Record
from skillgit.sleep.harvest import work
from skillgit.sleep.harvest.collect import harvest
from tests.sleep.harvest.common import NOW, TURNS, archive, config_of, prompts, reap, said
from tests.sleep.stores import START, claude, write


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "claude"


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_an_unreadable_file_costs_itself_alone(repo_dir: Path, store: Path) -> None:
    claude.write_session(store, "s1", TURNS, cwd=str(repo_dir))
    file = claude.write_session(store, "s2", TURNS, cwd=str(repo_dir))
    file.chmod(0)
    found = reap(repo_dir, store)
    assert (found.kept, found.damaged) == (1, {str(file): {"error: PermissionError": 1}})


class _Faulty:
    """A third party's source: one file breaks it, one gives nonsense, one vanishes, one is good."""

    name = "faulty"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.mended = False

    def roots(self) -> tuple[Path, ...]:
        return (self.folder,)

    def files(self) -> Iterator[Path]:
        yield from sorted(self.folder.iterdir())

    def stamp(self, file: Path) -> str:
        return str(file.stat().st_mtime_ns)

    def read(self, file: Path, since: Position | None) -> Iterator[Batch]:
        at = Position(self.stamp(file), state={"pair": (1, 2)})
        good = Record(file.name, file.name, "user", "Sort it.", START, str(self.folder.parent / "repo"))
        yield Batch((good,), at, {"odd": 1} if since is None else {})
        if file.name == "breaks" and not self.mended:
            raise RuntimeError("no idea")
        if file.name == "nonsense" and not self.mended:
            nonsense: Any = 5
            yield Batch((Record("n", "n", "user", nonsense, START),), at)
        if file.name == "vanishes":
            file.unlink()
            raise FileNotFoundError(file)
        if file.name == "lost" and not self.mended:
            raise FileNotFoundError("something else")
        yield Batch((), at)


def test_a_source_that_fails_costs_its_file_alone(
    repo_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {"breaks", "lost", "nonsense", "sound", "vanishes"}
    (tmp_path / "faulty").mkdir()
    source = _Faulty(tmp_path / "faulty")
    monkeypatch.setattr(work, "sources", lambda *_: [source])
    for _ in range(2):
        for name in names:
            (tmp_path / "faulty" / name).write_text("x")
        found = reap(repo_dir, tmp_path, source="auto")
        assert {session.id for session in found.sessions} == names
        assert {Path(file).name: kinds for file, kinds in found.damaged.items()} == {
            "breaks": {"odd": 1, "error: RuntimeError": 1},
            "lost": {"odd": 1, "error: FileNotFoundError": 1},
            "nonsense": {"odd": 1, "error: AttributeError": 1},
            "sound": {"odd": 1},
            "vanishes": {"odd": 1},
        }
        assert any("breaks: cannot be read (RuntimeError: no idea)" in note for note in found.notes)
        assert any("1 file went away" in note for note in found.notes)
    source.mended = True
    found = reap(repo_dir, tmp_path, source="auto")
    assert not any("error" in kind for kinds in found.damaged.values() for kind in kinds)


def test_damage_is_counted_once_however_often_it_is_read(repo_dir: Path, store: Path) -> None:
    file = claude.write_session(store, "s1", TURNS[:2], cwd=str(repo_dir))
    write(file, b"null\n{broken\n", append=True)
    expected = {str(file): {"json": 1, "not an object": 1}}
    assert reap(repo_dir, store).damaged == expected
    write(file, b"[1]\n", append=True)
    expected[str(file)]["not an object"] = 2
    assert reap(repo_dir, store).damaged == expected
    assert reap(repo_dir, store, scope="all").damaged == expected
    file.unlink()
    assert reap(repo_dir, store).damaged == {}
    assert said(reap(repo_dir, store)) == prompts()[:2]


# Kills itself a moment after it begins with a file, in the midst of its work.
_HARVEST = """
import os, signal, sys, threading
from pathlib import Path
from skillgit.events import Progress
from skillgit.git.repository import Repository
from skillgit.sleep.harvest.collect import harvest
from tests.sleep.harvest.common import NOW, config_of
last = int(sys.argv[3])
def told(event):
    if isinstance(event, Progress) and event.done == last:
        threading.Timer(0.002 * last, os.kill, (os.getpid(), signal.SIGKILL)).start()
harvest(Repository.open(Path(sys.argv[1])), config_of(Path(sys.argv[2])), told, now=NOW)
"""


def _start(repo: Path, store: Path, *, last: int = -1) -> subprocess.Popen[bytes]:
    """A harvest in a process of its own, which is killed while it reads file number `last`, from 0."""
    return subprocess.Popen([sys.executable, "-c", _HARVEST, str(repo), str(store), str(last)])


def _many(store: Path, cwd: Path, sessions: int) -> dict[str, tuple[str, ...]]:
    turns = [(f"Question {n}: what is {n} squared?", f"It is {n * n}.") for n in range(20)]
    for n in range(sessions):
        claude.write_noisy_session(store, f"s{n}", turns, cwd=str(cwd), at=START, tool_bytes=500)
    return {f"s{n}": tuple(prompts(turns)) for n in range(sessions)}


def test_killed_at_any_moment_nothing_is_lost_or_counted_twice(repo_dir: Path, store: Path) -> None:
    expected = _many(store, repo_dir, 24)
    for last in (0, 1, 2, 3):
        assert _start(repo_dir, store, last=last).wait() == -signal.SIGKILL
    with archive(repo_dir) as kept:
        assert 0 < len(kept.sessions()) < len(expected)
    found = reap(repo_dir, store)
    assert {session.id: session.prompts for session in found.sessions} == expected
    assert all(len(session.turns) == 40 for session in found.sessions)
    undisturbed = harvest(Repository.open(repo_dir), config_of(store), ignore, now=NOW, path=store / "other.db")
    assert (found.excluded, found.damaged) == (undisturbed.excluded, undisturbed.damaged)


def test_two_harvests_at_once_count_everything_once(repo_dir: Path, store: Path) -> None:
    expected = _many(store, repo_dir, 24)
    both = [_start(repo_dir, store) for _ in range(2)]
    assert [one.wait() for one in both] == [0, 0]
    found = reap(repo_dir, store)
    assert {session.id: session.prompts for session in found.sessions} == expected
    assert all(len(session.turns) == 40 for session in found.sessions)
