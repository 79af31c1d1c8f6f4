"""Five hundred sessions that are written, rotated, replaced and deleted while the watcher is killed again and again."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from skillgit.git.repository import Repository
from skillgit.sleep.harvest.collect import open_archive
from skillgit.sleep.watch.log import log_path
from skillgit.sleep.watch.signals import touch
from tests.sleep.watch.stores import now, turn

Run = Callable[..., tuple[int, str, str]]

SESSIONS = 500
KILLS = 10
# Seconds that watchers live, in turn: until about their first harvest, and over several.
_LIVES = ((0.3, 1.5), (2.0, 4.0))


def _claude(session: str, number: int, cwd: Path) -> str:
    row = {
        "type": "user",
        "uuid": f"{session}-{number}",
        "sessionId": session,
        "cwd": str(cwd),
        "timestamp": now(),
        "message": {"role": "user", "content": f"please do thing {number} of {session}"},
    }
    return json.dumps(row) + "\n"


class Store:
    """Sessions of two agents, and what was said in each. A session's file may be called anything."""

    def __init__(self, folder: Path, cwd: Path, random_: random.Random) -> None:
        self.cwd, self.random = cwd, random_
        self.claude, self.neutral = folder / "claude", folder / "neutral"
        (self.claude / "projects" / "p").mkdir(parents=True)
        self.neutral.mkdir()
        self.said = {f"session{number}": 0 for number in range(SESSIONS)}
        self.files = {name: self._place(name, "") for name in self.said}

    def _place(self, name: str, suffix: str) -> Path:
        folder = self.claude / "projects" / "p" if self._is_claude(name) else self.neutral
        return folder / f"{name}{suffix}.jsonl"

    def _is_claude(self, name: str) -> bool:
        return int(name.removeprefix("session")) % 2 == 0

    def _next(self, name: str) -> str:
        self.said[name] += 1
        line = _claude if self._is_claude(name) else turn
        return line(name, self.said[name], self.cwd)

    def append(self, name: str) -> None:
        """Say something, sometimes in two writes, with half a line standing there in between."""
        line = self._next(name)
        cut = self.random.choice([0, len(line) // 2])
        with self.files[name].open("a") as stream:
            stream.write(line[:cut])
            stream.flush()
            stream.write(line[cut:])

    def rotate(self, name: str) -> None:
        """Go on in a new file of the old name; the old one stays under another."""
        old = self.files[name]
        if old.exists():
            old.rename(self._place(name, f"-until-{self.said[name]}"))
        self.append(name)

    def replace(self, name: str) -> None:
        """Write the file anew, with more in it, and put it in place of the old one."""
        old = self.files[name]
        text = old.read_text() if old.exists() else ""
        new = old.with_suffix(".tmp")
        new.write_text(text + self._next(name))
        new.replace(old)

    def delete(self, name: str) -> None:
        """Take away all files of a session."""
        for path in self.files[name].parent.glob(f"{name}*"):
            if re.fullmatch(rf"{name}(-until-\d+)?\.jsonl", path.name):
                path.unlink()

    def work(self) -> Iterator[None]:
        """Every session said in several ways, in an order that mixes them."""
        steps = [(act, name) for name in self.said for act in (self.append, self.append, self.rotate, self.replace)]
        self.random.shuffle(steps)
        for act, name in steps:
            act(name)
            yield


@pytest.fixture
def store(tmp_path: Path, repo_dir: Path) -> Store:
    return Store(tmp_path, repo_dir, random.Random(7))


def _watch(repo_dir: Path, store: Store) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-m", "skillgit", "-q", "-C", str(repo_dir), "sleep", "watch", *_options(store)]
    return subprocess.Popen(words, stdout=subprocess.DEVNULL)


def _options(store: Store) -> list[str]:
    given = {"sleep.hour": -1, "sleep.min_sessions": 0, "sleep.quiet_minutes": 0}
    return [
        "--source=claude,neutral",
        f"--claude-home={store.claude}",
        f"--neutral-sessions={store.neutral}",
        "--lookback-hours=0",
        *(f"--set={key}={value}" for key, value in given.items()),
    ]


def _heard(repo_dir: Path) -> dict[str, list[int]]:
    """Session to the numbers of what was said in it, as the archive has them."""
    with open_archive(Repository.open(repo_dir)) as archive:
        sessions = archive.sessions()
    return {each.id: sorted(int(prompt.split()[3]) for prompt in each.prompts) for each in sessions}


def _peak_megabytes(process: subprocess.Popen[bytes]) -> int:
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) // 1000


def _looks(repo_dir: Path) -> int:
    """How often watchers read something."""
    lines = log_path(Repository.open(repo_dir)).read_text().splitlines()
    return sum(json.loads(line)["event"] == "looked" for line in lines)


def _lives(repo_dir: Path, store: Store, steps: Iterator[None], kills: int) -> None:
    """Let the steps happen while watchers live and are killed."""
    share = 4 * SESSIONS // KILLS
    for life in range(kills):
        process = _watch(repo_dir, store)
        end = time.monotonic() + store.random.uniform(*_LIVES[life % 2])
        for step in range(share):
            next(steps, None)
            if step % 10 == 0:
                touch(repo_dir / ".git")  # as an agent does: nobody waits for the next look
            time.sleep(max(0.0, end - time.monotonic()) / share)
        process.kill()
        process.wait()


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_everything_that_was_said_is_kept_exactly_once(repo_dir: Path, store: Store, skillgit: Run) -> None:
    steps = store.work()
    _lives(repo_dir, store, steps, KILLS // 2)
    # What was deleted before anybody looked cannot be known: these were read.
    assert skillgit(repo_dir, "sleep", "watch", "--once", *_options(store))[0] == 0
    spoken = [name for name, count in store.said.items() if count]
    gone = store.random.sample(spoken, len(spoken) // 4)
    for name in gone:
        store.delete(name)
    _lives(repo_dir, store, steps, KILLS - KILLS // 2)
    process = _watch(repo_dir, store)
    expected = {name: list(range(1, count + 1)) for name, count in store.said.items()}
    deadline = time.monotonic() + 60
    while _heard(repo_dir) != expected and time.monotonic() < deadline:
        time.sleep(0.5)
    peak = _peak_megabytes(process)
    process.terminate()
    assert process.wait(30) == 0
    assert _heard(repo_dir) == expected
    assert len(expected) == SESSIONS
    assert _looks(repo_dir) >= 2 * KILLS
    assert peak < 200
