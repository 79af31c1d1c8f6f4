"""The real engine: TextWorld in processes of its own, at most one for each core."""

from __future__ import annotations

import os
import threading
import weakref
from itertools import count
from pathlib import Path
from typing import Any

from skillgit.errors import ConfigError, ModelError
from skillgit.tasks.benchmarks.alfworld.engine import GameFaultError, Seen
from skillgit.tasks.benchmarks.alfworld.process import GameProcess, GoneError
from skillgit.tasks.text import clip

SECONDS = 60.0
"""What opening a game or one action may take; usually it is half a second, and a twentieth."""


def cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Pool:
    """Plays any number of games in at most `size` processes, which start when they are needed and end with the pool.

    An action takes the engine a twentieth of a second and the model seconds: so games share processes, and a game that
    waits for its model is in nobody's way.

    Args:
        data: ALFWorld's data folder.
        seconds: for opening a game or for one action.
    """

    def __init__(self, data: Path, size: int, seconds: float = SECONDS) -> None:
        self.seconds = seconds
        self._data, self._size = data, size
        self._processes: list[GameProcess] = []
        self._lock, self._numbers = threading.Lock(), count(1)
        self._end = weakref.finalize(self, _end_all, self._processes)

    def open(self, path: Path) -> _Played:
        """See `Engine.open`."""
        return _Played(self, path, next(self._numbers))

    def take(self) -> GameProcess:
        """The process with the fewest games, which then has one more."""
        with self._lock:
            self._processes[:] = [process for process in self._processes if process.alive]
            chosen = min(self._processes, key=lambda process: process.games, default=None)
            if chosen is None or (chosen.games and len(self._processes) < self._size):
                chosen = GameProcess(self._data)
                self._processes.append(chosen)
            chosen.games += 1
            return chosen

    def give_back(self, process: GameProcess) -> None:
        """One game less in a process."""
        with self._lock:
            process.games -= 1

    def close(self) -> None:
        """End all processes. Idempotent."""
        self._end()


def _end_all(processes: list[GameProcess]) -> None:
    for process in processes:
        process.end()


class _Played:
    """A game in one of the processes; when that one ends for another game's sake, in the next."""

    def __init__(self, pool: Pool, path: Path, number: int) -> None:
        self._pool, self._path, self._number = pool, path, number
        self._moves: list[str] = []
        self._process: GameProcess | None = None
        self.seen = self._enter()

    def act(self, action: str) -> Seen:
        """See `Game.act`."""
        self._moves.append(action)
        try:
            self.seen = self._say(action=action)
        except GoneError as gone:
            self.seen = self._enter(gone)
        return self.seen

    def close(self) -> None:
        """See `Game.close`."""
        process, self._process = self._process, None
        if process is None:
            return
        try:
            process.ask({"game": self._number}, self._pool.seconds)
        except GoneError:
            return  # so is the game
        finally:
            self._pool.give_back(process)

    def _enter(self, gone: GoneError | None = None) -> Seen:
        """Open the game and repeat what was played. A process that ends without being late may have ended for another
        game's sake, so a second one is tried; a game that ends two is at fault itself."""
        while gone is None or not gone.late:
            try:
                return self._replay()
            except GoneError as error:
                if gone:
                    break
                gone = error
        raise ModelError(
            f"the game took longer than {self._pool.seconds:g} s" if gone.late else "the game ended its process",
            why=f"in {self._path.parent.name}/{self._path.name}, after {len(self._moves)} actions",
        )

    def _replay(self) -> Seen:
        self.close()
        self._process = self._pool.take()
        try:
            seen = self._say(path=str(self._path))
            for action in self._moves:
                seen = self._say(action=action)
        except BaseException:
            self.close()
            raise
        return seen

    def _say(self, **what: str) -> Seen:
        assert self._process is not None
        return _seen(self._process.ask({"game": self._number, **what}, self._pool.seconds))


def _seen(answer: dict[str, Any]) -> Seen:
    if "missing" in answer:
        raise ConfigError(
            "ALFWorld's games cannot be played here",
            why=answer["missing"],
            fix="install what it needs: pip install 'skillgit[alfworld]'",
        )
    if "fault" in answer:
        raise GameFaultError(f"the game cannot be played ({clip(' '.join(answer['fault'].split()))})")
    return Seen(answer["text"], tuple(answer["actions"]), answer["won"], answer["over"])
