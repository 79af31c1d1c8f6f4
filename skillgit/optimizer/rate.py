"""The edit budget when the optimizer decides it: `optimizer.lr_control_mode: autonomous`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skillgit.evals.gate import mean
from skillgit.evals.rollouts import Outcome
from skillgit.models.prompt import render
from skillgit.optimizer.advisor import Advisor
from skillgit.optimizer.patches import Patch
from skillgit.optimizer.select import listing

RATE_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "learning_rate": {"type": "integer", "minimum": 0},
        "reasoning": {"type": "string"},
        "confidence": {"type": "string"},
        "risk_notes": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["learning_rate"],
}


def autonomous_budget(
    advisor: Advisor, skill: str, patch: Patch, outcomes: Sequence[Outcome], *, context: str, step: int
) -> tuple[int, dict[str, Any]]:
    """How many of the proposals to apply, and the decision as it is recorded.

    Zero applies nothing and costs no ranking. An unusable reply (recorded as dropped) decides for zero.
    """
    scores = [outcome.trajectory.score for outcome in outcomes if outcome.trajectory]
    hard, soft = mean([score.hard for score in scores]), mean([score.soft for score in scores])
    evidence = f"rollout_n: {len(scores)}\nrollout_hard: {hard or 0:.6f}\nrollout_soft: {soft or 0:.6f}"
    messages = render(
        "lr_autonomous",
        skill=skill or "(empty)",
        context=context,
        evidence=f"{evidence}\nproposed: {len(patch.edits)}",
        edits=listing(patch.edits),
    )
    reply = advisor.ask(messages, RATE_SCHEMA, stage="lr_autonomous", step=step)
    raw = int(reply["learning_rate"]) if reply else 0
    budget = min(raw, len(patch.edits))
    return budget, {**(reply or {}), "learning_rate": budget, "raw_learning_rate": raw, "fallback": reply is None}
