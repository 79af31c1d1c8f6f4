"""The end of an epoch: the slow update of the skill's guidance region, and the optimizer's own notes."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from skillgit.evals.rollouts import Outcome, Rollouts
from skillgit.git.skillstore import Version
from skillgit.models.pending import answered, held
from skillgit.models.prompt import render
from skillgit.optimizer.advisor import Advisor
from skillgit.optimizer.trajectories import question, trim
from skillgit.skills.document import Document
from skillgit.skills.regions import region_text, set_region
from skillgit.tasks.base import Task

GUIDANCE: Final = "SLOW_UPDATE"
_CATEGORIES = ("regressed", "persistent_fail", "improved", "stable_success")
_CHANGED = ("regressed", "improved")
_UNCHANGED = ("persistent_fail", "stable_success")


def _schema(field: str) -> dict[str, Any]:
    fields = {"reasoning": {"type": "string"}, field: {"type": "string"}}
    return {"type": "object", "properties": fields, "required": [field]}


@dataclass(frozen=True)
class Pair:
    """One task under the previous epoch's skill and under the current one.

    Only rollouts that were answered make a pair, and only of tasks that could be asked.
    """

    task: Task
    before: Outcome
    after: Outcome

    @property
    def category(self) -> str:
        """`improved`, `regressed`, `persistent_fail` or `stable_success`, by hard score above zero."""
        was, now = (o.trajectory is not None and o.trajectory.score.hard > 0 for o in (self.before, self.after))
        if was:
            return "stable_success" if now else "regressed"
        return "improved" if now else "persistent_fail"


def compare(
    rollouts: Rollouts,
    before: Version,
    after: Version,
    train: Sequence[Task],
    *,
    samples: int,
    seed: int,
    step: int,
    policy: str = "mixed",
) -> list[Pair]:
    """Sampled train tasks under both versions.

    Args:
        samples: tasks to compare.
        seed: the run's seed plus 2000 per epoch.
        policy: `mixed` keeps every pair; `unchanged` those that failed or succeeded both times; `changed` those that
            flipped, looking through the rest of the train tasks (in parallel) until there are `samples` of them.
    """
    tasks = list(train)
    random.Random(seed).shuffle(tasks)  # noqa: S311 - reproducible, not secret
    look = _Look(rollouts, before, after, step)
    pairs = look.at(tasks[:samples])
    if policy == "mixed":
        return pairs
    wanted = _CHANGED if policy == "changed" else _UNCHANGED
    kept = [pair for pair in pairs if pair.category in wanted]
    rest = tasks[samples:] if policy == "changed" else []
    for start in range(0, len(rest), rollouts.workers):
        if len(kept) >= samples:
            break
        more = look.at(rest[start : start + rollouts.workers])
        kept += [pair for pair in more if pair.category in wanted]
    return kept[:samples]


@dataclass(frozen=True)
class _Look:
    rollouts: Rollouts
    before: Version
    after: Version
    step: int

    def at(self, tasks: Sequence[Task]) -> list[Pair]:
        run = held(partial(self.rollouts.run, tasks=tasks, step=self.step, stage="slow_update_rollout"))
        old, new = answered(map(run, (self.before, self.after)))
        return [Pair(a.task, a, b) for a, b in zip(old, new, strict=True) if a.teaches and b.teaches]


def slow_update(
    advisor: Advisor, before: Version, after: Version, pairs: Sequence[Pair], *, limit: int, step: int
) -> Document | None:
    """The current document with new guidance in its protected region, or `None` when no usable reply came."""
    messages = render(
        "slow_update",
        previous=before.text or "(empty)",
        current=after.text or "(empty)",
        guidance=region_text(after.document, GUIDANCE) or "(none yet)",
        comparison=comparison_text(pairs, limit),
    )
    reply = advisor.ask(messages, _schema("slow_update_content"), stage="slow_update", step=step)
    content = str(reply["slow_update_content"]).strip() if reply else ""
    return set_region(after.document, GUIDANCE, content) if content else None


def meta_skill(
    advisor: Advisor, before: Version, after: Version, notes: str, pairs: Sequence[Pair], *, limit: int, step: int
) -> str:
    """The optimizer's new notes; the old ones when no usable reply came."""
    messages = render(
        "meta_skill",
        previous=before.text or "(empty)",
        current=after.text or "(empty)",
        notes=notes or "(none yet)",
        comparison=comparison_text(pairs, limit),
    )
    reply = advisor.ask(messages, _schema("meta_skill_content"), stage="meta_skill", step=step)
    return str(reply["meta_skill_content"]).strip() if reply else notes


def comparison_text(pairs: Sequence[Pair], limit: int) -> str:
    """Counts, then the pairs by category; tasks that stayed right are only counted."""
    groups: Mapping[str, list[Pair]] = {name: [p for p in pairs if p.category == name] for name in _CATEGORIES}
    parts = [", ".join(f"{len(group)} {name}" for name, group in groups.items())]
    for name, group in groups.items():
        if name != "stable_success":
            parts += [_pair_text(name, pair, limit // 2) for pair in group]
    return "\n\n".join(parts)


def _pair_text(category: str, pair: Pair, limit: int) -> str:
    lines = [f"### {category}: task {pair.task.id}", f"Asked: {trim(question(pair.task), limit)}"]
    if pair.task.answers:
        lines.append("Expected: " + trim(" | ".join(pair.task.answers), limit))
    for label, outcome in (("Before", pair.before), ("Now", pair.after)):
        if outcome.trajectory:
            lines.append(f"{label}: {trim(outcome.trajectory.response, limit)}")
    return "\n".join(lines)
