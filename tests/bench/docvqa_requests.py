"""How fast requests with page pictures are built: from the disk the first time, from memory after that.

python -m tests.bench.docvqa_requests
"""

from __future__ import annotations

import argparse
import json
import random
import time
from pathlib import Path

from skillgit.models.base import ModelSpec, Reply, Request
from skillgit.models.http import wire
from skillgit.tasks.base import BenchmarkContext, Task
from skillgit.tasks.benchmarks.docvqa import DocVQA
from tests.bench.common import workshop

_SPEC = ModelSpec("target", "openai_compatible", "m")


def measure(pages: int, size: int, rounds: int) -> tuple[list[float], int]:
    """Seconds per round over all pages, the first from the disk, and bytes of all bodies of one round."""
    with workshop() as folder:
        tasks = [_page(folder, number, size) for number in range(pages)]
        docvqa = DocVQA(BenchmarkContext(folder, "s", {}))
        sent = 0

        def ask(request: Request) -> Reply:
            nonlocal sent
            sent += len(json.dumps(wire.body(request, _SPEC, wire.Habits())))
            return Reply("<answer>x</answer>")

        times = []
        for _ in range(rounds):
            started = time.perf_counter()
            for task in tasks:
                docvqa.rollout(task, "Read twice.", ask)
            times.append(time.perf_counter() - started)
        return times, sent // rounds


def _page(folder: Path, number: int, size: int) -> Task:
    """A task with a picture of `size` bytes that cannot be told from a scan by looking at its first and last bytes."""
    data = b"\x89PNG\r\n\x1a\n" + random.Random(number).randbytes(size) + b"IEND\xaeB`\x82"
    (folder / f"{number}.png").write_bytes(data)
    return Task(f"t{number}", f"What is {number}?", answers=("x",), data={"image": f"{number}.png"})


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--pages", type=int, default=107)
    options.add_argument("--size", type=int, default=500_000, help="bytes of one picture")
    options.add_argument("--rounds", type=int, default=4)
    chosen = options.parse_args()
    times, sent = measure(chosen.pages, chosen.size, chosen.rounds)
    rates = [chosen.pages / seconds for seconds in times]
    print(f"{chosen.pages} pages of {chosen.size / 1e3:.0f} kB, {sent / 1e6:.0f} MB of requests a round")
    print(f"first round: {rates[0]:.0f} requests per second; later: {min(rates[1:]):.0f} to {max(rates[1:]):.0f}")


if __name__ == "__main__":
    main()
