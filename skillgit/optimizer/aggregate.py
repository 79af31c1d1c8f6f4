"""Aggregate: many patches become one, merged in small groups until one is left."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count, starmap

from skillgit.config.schema import Config
from skillgit.models.pending import answered, held
from skillgit.models.prompt import render, text
from skillgit.optimizer.advisor import Advisor, Drop
from skillgit.optimizer.modes import MODES
from skillgit.optimizer.patches import Patch, concatenate, parse_patch

_SIDES = {
    "failure": "All of them come from failed tasks.",
    "success": "All of them come from tasks that went well. Be conservative: keep only what is not said yet.",
    "mixed": (
        "The first group comes from failed tasks and has priority; the second comes from tasks that went well. Where "
        "they conflict, the first group wins; keep what the second adds."
    ),
}


def aggregate(
    advisor: Advisor, config: Config, skill: str, patches: Sequence[Patch], *, memory: str, step: int
) -> Patch:
    """One patch that holds what the patches agree on and what each adds.

    A merge whose reply is unusable, or that would throw every proposal away, keeps all edits of its group instead and
    is recorded as dropped. The `small` profile always keeps all edits.
    """
    together = concatenate(patches)
    useful = [patch for patch in patches if patch.edits]
    if config.optimizer.profile == "small" or len(useful) < 2:
        return together
    merger = _Merger(advisor, config, skill, memory, step)
    both = [([p for p in useful if p.source == side], side) for side in ("failure", "success")]
    sides = answered(starmap(held(merger.reduce), both))
    present = [side for side in sides if side.edits]
    merged = merger.merge(present, "mixed") if len(present) == 2 else present[0]
    malformed = dict.fromkeys((*together.malformed, *merged.malformed))
    return replace(merged, patterns=together.patterns, notes=together.notes, malformed=tuple(malformed))


def merge_sizes(sides: Sequence[int], size: int) -> list[int]:
    """For each merge call, how many of the original patches are behind it, when both sides have so many.

    Args:
        size: patches per call.
    """
    calls: list[int] = []
    for patches in sides:
        weights = [1] * patches
        while len(weights) > 1:
            groups = [weights[n : n + size] for n in range(0, len(weights), size)]
            calls += [sum(group) for group in groups if len(group) > 1]
            weights = [sum(group) for group in groups]
    return [*calls, sum(sides)] if sum(patches > 0 for patches in sides) == 2 else calls


class _Merger:
    def __init__(self, advisor: Advisor, config: Config, skill: str, memory: str, step: int) -> None:
        self._advisor, self._config, self._skill, self._memory, self._step = advisor, config, skill, memory, step
        self._mode = MODES[config.optimizer.skill_update_mode]
        self._index = count()

    def reduce(self, patches: list[Patch], side: str) -> Patch:
        size = self._config.gradient.merge_batch_size
        # All taken first: what the other side's calls are called must not depend on how far this one gets.
        for indexes in [[next(self._index) for _ in range(n)] for n in _levels(len(patches), size)]:
            groups = [patches[n : n + size] for n in range(0, len(patches), size)]
            with ThreadPoolExecutor(self._config.gradient.analyst_workers, "merge") as pool:
                merge = held(lambda group, index: self.merge(group, side, index))
                patches = answered(pool.map(merge, groups, indexes))
        return patches[0] if patches else Patch((), source=side)

    def merge(self, group: Sequence[Patch], side: str, index: int | None = None) -> Patch:
        if len(group) == 1:
            return group[0]
        everything = concatenate(group)
        messages = render(
            "merge",
            skill=self._skill or "(empty)",
            memory=self._memory,
            form=text(self._mode.form),
            side=_SIDES[side],
            patches="\n\n".join(_listing(number, patch) for number, patch in enumerate(group, 1)),
        )
        place = next(self._index) if index is None else index
        reply = self._advisor.ask(
            messages,
            self._mode.schema(notes=False),
            stage="merge",
            step=self._step,
            index=place,
            accept=self._mode.accepted(),
            document=not self._mode.budgeted,
        )
        if reply is None:
            return replace(everything, source=side)
        merged = parse_patch(self._mode, reply, side, 1, None)
        if not merged.edits:
            self._advisor.drop(Drop("merge", place, "the merge kept no edit, so all of its group are kept"))
        return replace(
            everything,
            edits=merged.edits or everything.edits,
            reasoning=merged.reasoning,
            source=side,
            malformed=everything.malformed + merged.malformed,
        )


def _levels(patches: int, size: int) -> list[int]:
    """How many groups there are each time, until one patch is left."""
    levels = []
    while patches > 1:
        patches = -(-patches // size)
        levels.append(patches)
    return levels


def _listing(number: int, patch: Patch) -> str:
    edits = json.dumps([edit.to_json() for edit in patch.edits], indent=1, ensure_ascii=False)
    return f"### Patch {number} ({patch.source})\n{patch.reasoning[:1000]}\n{edits}"
