"""How many text games are played per second when the target answers at once: the engine's share of a rollout.

python -m tests.bench.alfworld
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from skillgit.models.base import Reply, Request
from skillgit.tasks.base import BenchmarkContext, Task
from skillgit.tasks.benchmarks.alfworld import AlfWorld
from skillgit.tasks.benchmarks.alfworld.pool import Pool
from tests.tasks.benchmarks.games import COOL, HEAT, PLACE, way, write_game

THINGS = ("apple", "bread", "egg", "potato", "tomato", "lettuce")


@dataclass(frozen=True)
class Measured:
    """Games and actions of one round, and its seconds. The processes had started before it."""

    games: int
    actions: int
    seconds: float


def measure(games: int, processes: int, workers: int) -> Measured:
    """Win that many games of three kinds, each of four or six actions."""
    with tempfile.TemporaryDirectory(prefix="skillgit-bench-") as name:
        folder = Path(name)
        os.environ["ALFWORLD_DATA"] = name
        kinds = [((PLACE, HEAT, COOL)[n % 3], THINGS[n // 3 % len(THINGS)]) for n in range(games)]
        files = [write_game(folder, kind, thing, "diningtable") for kind, thing in kinds]
        pool = Pool(folder, processes)
        try:
            _warm(pool, files[0], processes)
            return _round(AlfWorld(BenchmarkContext(folder, "s", {}), pool), folder, kinds, files, workers)
        finally:
            pool.close()


def _warm(pool: Pool, file: Path, processes: int) -> None:
    for game in [pool.open(file) for _ in range(processes)]:
        game.close()


def _round(bench: AlfWorld, folder: Path, kinds: list[tuple[str, str]], files: list[Path], workers: int) -> Measured:
    tasks = [Task(str(n), "", data={"gamefile": str(file.relative_to(folder))}) for n, file in enumerate(files)]
    started = time.perf_counter()
    with ThreadPoolExecutor(workers) as threads:
        asks = [_follows(way(kind, thing)) for kind, thing in kinds]
        done = list(threads.map(lambda task, ask: bench.rollout(task, "", ask), tasks, asks))
    seconds = time.perf_counter() - started
    assert all(trajectory.score.hard == 1.0 for trajectory in done)
    return Measured(len(done), sum(len(way(kind, thing)) for kind, thing in kinds), seconds)


def _follows(actions: list[str]) -> Callable[[Request], Reply]:
    left = iter(actions)
    return lambda request: Reply(f"<think>on</think><action>{next(left)}</action>")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--games", type=int, default=36)
    options.add_argument("--processes", type=int, default=2)
    options.add_argument("--workers", type=int, default=8)
    given = options.parse_args()
    found = measure(given.games, given.processes, given.workers)
    each = given.processes * 1000 * found.seconds / found.actions
    print(
        f"{found.games / found.seconds:.2f} games and {found.actions / found.seconds:.1f} actions per second"
        f" in {given.processes} processes ({each:.0f} ms of a process for each action, opening included)"
    )


if __name__ == "__main__":
    main()
