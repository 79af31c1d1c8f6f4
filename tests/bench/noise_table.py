"""How often a gate accepts a candidate that is no better, when the target is noisy. Pure computation, no model.

python -m tests.bench.noise_table

Current skill and candidate have the same effect: each of n tasks has a right answer that the target gives, but each
measurement flips each task with probability 0.1. Over 200 seeded candidates: the share that the published rule accepts
(any gain counts), and the share that `evaluation.confidence: 0.9` accepts.
"""

from __future__ import annotations

import argparse
import random

from skillgit.evals.gate import ACCEPTED, Metric
from skillgit.evals.rule import Contest, Rule

SIZES = (20, 50, 200)
CONFIDENCE = 0.9
_SOLVED = 0.6  # share of tasks that both texts get right when nothing flips


def measured(n: int, flip: float, chance: random.Random) -> dict[str, float]:
    """Hard scores of one noisy measurement of n tasks."""
    right = round(_SOLVED * n)
    return {f"t{task}": float((task < right) != (chance.random() < flip)) for task in range(n)}


def share_accepted(n: int, *, confidence: float, flip: float = 0.1, candidates: int = 200) -> float:
    """Share of equally good candidates that the gate accepts, in [0, 1].

    Args:
        n: val tasks.
        confidence: of the rule; 0 is the published rule.
        flip: how likely one measurement of a task is wrong.
    """
    rule = Rule(Metric(), confidence=confidence)
    accepted = 0
    for seed in range(candidates):
        chance = random.Random(seed)
        current, candidate = measured(n, flip, chance), measured(n, flip, chance)
        verdict, _ = rule.verdict(candidate, current, [], Contest(), 0.0)
        accepted += verdict in ACCEPTED
    return accepted / candidates


def table(candidates: int = 200) -> str:
    """The results as a Markdown table."""
    lines = [f"| val tasks | published rule | `confidence: {CONFIDENCE:g}` |", "|---:|---:|---:|"]
    for n in SIZES:
        plain = share_accepted(n, confidence=0.0, candidates=candidates)
        sure = share_accepted(n, confidence=CONFIDENCE, candidates=candidates)
        lines.append(f"| {n} | {plain:.1%} | {sure:.1%} |")
    return "\n".join(lines)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--candidates", type=int, default=200)
    print(table(options.parse_args().candidates))


if __name__ == "__main__":
    main()
