"""Recurrence: which asks, of whichever sessions, are one task; and which tasks must be on one side of a split."""

from __future__ import annotations

from collections.abc import Sequence

from skillgit.sleep.mine.alike import Essence, Groups, facts, indexes, near_pairs, same
from skillgit.sleep.mine.asks import Ask
from skillgit.tasks.base import Task

Cluster = tuple[Ask, ...]
"""Asks that are one task, the earliest first; never empty."""


def clusters(asks: Sequence[Ask]) -> list[Cluster]:
    """The tasks that asks make, the earliest first, whatever order the asks come in.

    Asks of different projects are never one task. Neither are two whose words differ at all and whose accepted answers
    differ too.
    """
    ordered = sorted(asks, key=Ask.order)
    places = indexes([Essence.of(f"{ask.session.project}\n{ask.text}") for ask in ordered])
    essences = [Essence.of(ordered[at[0]].text) for at in places.values()]
    kinds = [[ordered[at] for at in members] for members in places.values()]
    groups = Groups(len(kinds))
    by_facts: dict[tuple[str, ...], list[int]] = {}
    for at, essence in enumerate(essences):
        by_facts.setdefault(facts(essence), []).append(at)
    for some in by_facts.values():
        for a, b in ((some[a], some[b]) for a, b in near_pairs([essences[at] for at in some])):
            if _one(kinds[a], kinds[b]) and same(essences[a], essences[b]):
                groups.unite(a, b)
    joined = ([ask for kind in group for ask in kinds[kind]] for group in groups.all())
    return sorted((tuple(sorted(group, key=Ask.order)) for group in joined), key=lambda group: group[0].order())


def split_units(texts: Sequence[Sequence[str]]) -> list[list[int]]:
    """Indexes of things that share a split: those of which any two texts are near, and what these are near to in turn.

    Args:
        texts: of each thing, one or more.
    """
    owners = [at for at, group in enumerate(texts) for _ in group]
    places = indexes([Essence.of(text) for group in texts for text in group])
    holders = [[owners[at] for at in members] for members in places.values()]
    groups = Groups(len(texts))
    for held in holders:
        for other in held[1:]:
            groups.unite(held[0], other)
    first = [held[0] for held in holders]
    for a, b in near_pairs(list(places), lambda a, b: groups.together(first[a], first[b])):
        groups.unite(first[a], first[b])
    return groups.all()


def whole(task: Task) -> str:
    """All that a task asks, for comparison."""
    return f"{task.context}\n\n{task.input}" if task.context else task.input


def _one(some: Sequence[Ask], others: Sequence[Ask]) -> bool:
    project = some[0].session.project == others[0].session.project
    answers, theirs = ({ask.exact for ask in asks if ask.exact} for asks in (some, others))
    return project and (not answers or not theirs or bool(answers & theirs))
