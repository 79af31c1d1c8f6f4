"""How many SpreadsheetBench rollouts fit into a second: programs run and workbooks compared, replies at once.

python -m tests.bench.spreadsheet_rollouts
"""

from __future__ import annotations

import argparse
import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from skillgit.models.base import Reply
from skillgit.tasks.base import BenchmarkContext
from skillgit.tasks.benchmarks.spreadsheet import SpreadsheetBench
from tests.bench.common import workshop
from tests.tasks.benchmarks.sheets import RIGHT, data


def measure(folder: Path, tasks: int, rounds: int, cases: int, workers: int) -> tuple[float, float]:
    """Rollouts per second in the first round, in which every task is read, and on average in the others."""
    names = [f"t{number}" for number in range(tasks)]
    for path, content in data(names, ["v"], cases=cases).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    options = {"split_dir": ".", "mode": "single"}
    bench = SpreadsheetBench(BenchmarkContext(folder, "s", options))
    train = bench.load().train
    seconds = []
    with ThreadPoolExecutor(workers) as pool:
        for _ in range(rounds):
            started = time.perf_counter()
            scores = [got.score.hard for got in pool.map(lambda task: bench.rollout(task, "", _say), train)]
            seconds.append(time.perf_counter() - started)
            assert scores == [1.0] * tasks
    first, *others = (tasks / each for each in seconds)
    return first, sum(others) / len(others) if others else first


def _say(request: object) -> Reply:
    return Reply(RIGHT)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--tasks", type=int, default=20)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--cases", type=int, default=1)
    options.add_argument("--workers", type=int, default=24)
    given = options.parse_args()
    with workshop() as folder:
        first, later = measure(folder, given.tasks, given.rounds, given.cases, given.workers)
    print(
        f"{later:.1f} rollouts per second with {given.cases} test case(s) each on {os.cpu_count()} cores"
        f" (first round, which also reads every task: {first:.1f})"
    )


if __name__ == "__main__":
    main()
