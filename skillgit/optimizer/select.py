"""Select: the edits that fit the edit budget, most useful first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillgit.config.schema import Config
from skillgit.models.prompt import render
from skillgit.optimizer.advisor import Advisor
from skillgit.optimizer.patches import Patch
from skillgit.skills.edits import Edit

RANKING_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "reasoning": {"type": "string"},
        "selected_indices": {"type": "array", "items": {"type": "integer", "minimum": 0}},
    },
    "required": ["reasoning", "selected_indices"],
}


def select(
    advisor: Advisor, config: Config, skill: str, patch: Patch, *, memory: str, budget: int, step: int
) -> tuple[Edit, ...]:
    """At most `budget` edits; no call is made when all fit.

    When the ranking is unusable (recorded as dropped), and in the `small` profile, the edits with the most trajectories
    behind them are taken, earlier ones first among equals.
    """
    edits = patch.edits
    if len(edits) <= budget:
        return edits
    if config.optimizer.profile != "small":
        listing = "\n\n".join(
            f"[{n}] {edit.op} (support {edit.support})\n{_text(edit)}" for n, edit in enumerate(edits)
        )
        messages = render("ranking", skill=skill or "(empty)", memory=memory, budget=str(budget), edits=listing)
        reply = advisor.ask(messages, RANKING_SCHEMA, stage="ranking", step=step)
        if reply and (chosen := _chosen(reply["selected_indices"], edits, budget)):
            return chosen
    return tuple(sorted(edits, key=lambda edit: -edit.support)[:budget])


def _chosen(indices: list[int], edits: tuple[Edit, ...], budget: int) -> tuple[Edit, ...]:
    unique = dict.fromkeys(index for index in indices if index < len(edits))
    return tuple(edits[index] for index in list(unique)[:budget])


def _text(edit: Edit) -> str:
    target = f"target: {edit.target}\n" if edit.target else ""
    return f"{target}content: {edit.content}" if edit.content else target.rstrip()
