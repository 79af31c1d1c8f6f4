"""How near rollouts come to the shortest possible time: 160 tasks, 16 workers, 100 ms a call.

python -m tests.bench.rollout_efficiency
"""

from __future__ import annotations

import argparse
import math
import statistics
import time

from skillgit.evals.caller import Caller
from skillgit.evals.rollouts import Rollouts
from skillgit.evals.setup import open_store
from skillgit.events import ignore
from skillgit.git.repository import Repository
from skillgit.models.base import ModelSpec
from skillgit.models.budget import Budget, Limits
from skillgit.models.scripted import Scripted
from skillgit.tasks.base import Score
from tests.bench.common import make_repository, workshop
from tests.evals.fakes import Table, tasks, version

AIM = 0.95


def measure(count: int, workers: int, latency: float, rounds: int) -> list[float]:
    """Ideal divided by real wall time, once per round."""
    with workshop() as folder:
        repo = Repository.open(make_repository(folder / "repo", {"default": "x"}, train=1, val=1))
        return [_round(repo, number, count, workers, latency) for number in range(rounds)]


def _round(repo: Repository, number: int, count: int, workers: int, latency: float) -> float:
    name = f"skill {number}"
    table = Table({name: {f"t{n}": Score(1, 1) for n in range(count)}})
    with open_store(repo) as store:
        model = Scripted(ModelSpec("target", "scripted", "m"), lambda request: "answer", latency=latency)
        target = Caller(model, store, Budget(Limits()), "run")
        runner = Rollouts(table, target, ignore, workers=workers, timeout=60, max_error_rate=0.2)
        started = time.perf_counter()
        runner.run(version(name), tasks(count), step=number, stage="val")
        return math.ceil(count / workers) * latency / (time.perf_counter() - started)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--tasks", type=int, default=160)
    options.add_argument("--workers", type=int, default=16)
    options.add_argument("--latency", type=float, default=0.1)
    options.add_argument("--rounds", type=int, default=5)
    given = options.parse_args()
    shares = measure(given.tasks, given.workers, given.latency, given.rounds)
    print(f"{statistics.median(shares):.3f} of the ideal speed (best {max(shares):.3f}), aim {AIM}")


if __name__ == "__main__":
    main()
