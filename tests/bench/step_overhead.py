"""Milliseconds skillgit itself adds to a training step: scripted model without latency, 40 tasks rolled out, 40 on val.

python -m tests.bench.step_overhead
"""

from __future__ import annotations

import argparse
import statistics

from skillgit.events import StepFinished
from tests.bench.common import make_repository, rule_edit, run, workshop

AIM = 50.0

# Every step proposes a line of its own, for 27 shares no factor with the distance of two steps' seeds. Four help.
SCRIPT = {
    "rules": [
        {"role": "optimizer", "replies": [rule_edit(f"- R{n} (line {n})") for n in range(27)]},
        *({"role": "target", "system": f"R{n} ", "user": f"^K{n}", "reply": f"yes {n}"} for n in range(4)),
    ],
    "default": "no",
}


def measure(tasks: int, epochs: int) -> list[tuple[str, float]]:
    """Verdict and milliseconds of each step."""
    with workshop() as folder:
        repo = make_repository(folder / "repo", SCRIPT, train=tasks, val=tasks)
        told = run(repo, train__batch_size=tasks, train__num_epochs=epochs, gradient__minibatch_size=tasks)
        steps = [event for event in told if isinstance(event, StepFinished) and event.kind == "step"]
        return [(event.verdict, event.seconds * 1000) for event in steps]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--tasks", type=int, default=40)
    options.add_argument("--epochs", type=int, default=24)
    given = options.parse_args()
    measured = measure(given.tasks, given.epochs)
    for verdict in sorted({verdict for verdict, _ in measured}):
        times = [ms for found, ms in measured if found == verdict]
        print(f"{verdict:16} {statistics.median(times):7.1f} ms median of {len(times)} (fastest {min(times):.1f})")
    middle = statistics.median(ms for _, ms in measured)
    print(f"{'all':16} {middle:7.1f} ms median, aim {AIM:g} ms: {middle / AIM:.2f} of it")


if __name__ == "__main__":
    main()
