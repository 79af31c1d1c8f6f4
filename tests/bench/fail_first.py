"""Target calls the gate spends with and without `evaluation.fail_first`, on the same candidates.

python -m tests.bench.fail_first
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from skillgit.events import RunFinished, StepFinished
from tests.bench.common import make_repository, rule_edit, run, workshop

# One line in five helps (R0 to R3, kind K4 is never learned), the others do nothing. Each step proposes another one,
# for 21 shares no factor with the distance of two steps' seeds.
SCRIPT = {
    "rules": [
        {
            "role": "optimizer",
            "replies": [
                rule_edit(f"- R{n // 5} (line {n})" if n % 5 == 0 else f"- nothing (line {n})") for n in range(21)
            ],
        },
        *({"role": "target", "system": f"R{n} ", "user": f"^K{n}", "reply": f"yes {n}"} for n in range(4)),
    ],
    "default": "no",
}


@dataclass(frozen=True)
class Spent:
    """Calls of the gate, and what it decided."""

    calls: int
    verdicts: tuple[str, ...]


def measure(val: int, epochs: int, *, fail_first: bool) -> Spent:
    with workshop() as folder:
        repo = make_repository(folder / "repo", SCRIPT, train=20, val=val)
        sizes = {"train__batch_size": 10, "train__num_epochs": epochs, "gradient__minibatch_size": 10}
        sizes |= {"optimizer__lr_scheduler": "constant", "optimizer__learning_rate": 1}
        sizes |= {"optimizer__min_learning_rate": 1, "gradient__failure_only": "true"}
        told = run(repo, evaluation__fail_first=str(fail_first).lower(), **sizes)
        finished = next(event for event in told if isinstance(event, RunFinished))
        steps = [event for event in told if isinstance(event, StepFinished) and event.kind == "step"]
        calls = finished.usage["target"]["val"]["calls"] - val  # without the baseline
        return Spent(calls, tuple(event.verdict for event in steps))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--val", type=int, default=100)
    options.add_argument("--epochs", type=int, default=10)
    given = options.parse_args()
    full, first = (measure(given.val, given.epochs, fail_first=on) for on in (False, True))
    assert first.verdicts == full.verdicts, "fail-first decided differently"
    counts = ", ".join(f"{full.verdicts.count(name)} {name}" for name in sorted(set(full.verdicts)))
    print(f"decisions  {counts}; the same both ways")
    print(f"gate calls {first.calls} with fail-first, {full.calls} without: {first.calls / full.calls:.2f}")


if __name__ == "__main__":
    main()
