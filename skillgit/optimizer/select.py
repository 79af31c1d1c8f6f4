"""Select: the edits that fit the edit budget, most useful first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skillgit.config.schema import Config
from skillgit.models.prompt import render
from skillgit.optimizer.advisor import Advisor, Drop
from skillgit.optimizer.modes import MODES, Proposal, line
from skillgit.optimizer.patches import Patch

RANKING_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "reasoning": {"type": "string"},
        "selected_indices": {"type": "array", "items": {"type": "integer", "minimum": 0}},
    },
    "required": ["reasoning", "selected_indices"],
}


def select(
    advisor: Advisor, config: Config, skill: str, patch: Patch, *, memory: str, budget: int | None, step: int
) -> tuple[Proposal, ...]:
    """At most `budget` proposals, all for `None`; no call is made when all fit or none may be taken.

    When the ranking is unusable (recorded as dropped), and in the `small` profile, those with the most trajectories
    behind them are taken, earlier ones first among equals.
    """
    edits = patch.edits
    if not MODES[config.optimizer.skill_update_mode].budgeted:
        return _one_draft(advisor, edits)
    if budget is None or len(edits) <= budget:
        return edits
    if budget == 0:
        return ()
    if config.optimizer.profile != "small":
        shown = listing(edits)
        messages = render("ranking", skill=skill or "(empty)", memory=memory, budget=str(budget), edits=shown)
        reply = advisor.ask(messages, RANKING_SCHEMA, stage="ranking", step=step)
        if reply and (chosen := _chosen(reply["selected_indices"], edits, budget)):
            return chosen
        if reply:
            advisor.drop(Drop("ranking", 0, f"none of the indices {reply['selected_indices']} names an edit"))
    return tuple(sorted(edits, key=lambda edit: -edit.support)[:budget])


def _one_draft(advisor: Advisor, drafts: tuple[Proposal, ...]) -> tuple[Proposal, ...]:
    """Of whole documents only one can be taken: the one with most trajectories behind it; the others are recorded."""
    ranked = sorted(drafts, key=lambda draft: -draft.support)
    for number, draft in enumerate(ranked[1:]):
        advisor.drop(Drop("select", number, f"another draft has more support: {line(draft)[:200]}"))
    return tuple(ranked[:1])


def listing(edits: Sequence[Proposal]) -> str:
    """Proposals with their index and support, as rankings and rate decisions read them."""
    return "\n\n".join(f"[{n}] (support {edit.support}) {line(edit)}" for n, edit in enumerate(edits))


def _chosen(indices: list[int], edits: tuple[Proposal, ...], budget: int) -> tuple[Proposal, ...]:
    # JSON Schema takes 2.0 for an integer.
    unique = dict.fromkeys(int(index) for index in indices if index < len(edits))
    return tuple(edits[index] for index in list(unique)[:budget])
