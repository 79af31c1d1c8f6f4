"""Merging the blocks that stand directly under one heading: rules, unit by unit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from skillgit.skills.blocks import Block
from skillgit.skills.merge.lines import Markers, NotUnderstoodError, choose, merge_lines
from skillgit.skills.merge.match import partners
from skillgit.skills.merge.order import Meeting, Place, Plan, Run, arrange, unite
from skillgit.skills.merge.pieces import Piece, Unit, numbered_on, text_of

Units = Sequence[Unit]
_Rule = tuple[Place, ...]


def merge_block(base: Block | None, ours: Block, theirs: Block, place: Place, markers: Markers) -> Piece:
    """Merge one unit that both sides have."""
    if base and ours.key != theirs.key and base.key not in (ours.key, theirs.key):
        merged = merge_lines(base.text, ours.text, theirs.text, markers)
        return Piece(ours.kind, merged.text, place, merged.conflicts)
    kept = _kept(base, ours, theirs)
    return Piece(kept.kind, kept.text, place)


def merge_leaves(base: Units, ours: Units, theirs: Units, markers: Markers, *, exact: bool = False) -> list[Piece]:
    """Merge the blocks of one section.

    Args:
        exact: never take one block for another one reworded, and never conflict: for lists that only grow.
    """
    blocks = [[unit.block for unit in units] for units in (base, ours, theirs)]
    sides = (partners(blocks[0], side, exact=exact) for side in blocks[1:])
    return _Leaves((base, ours, theirs), arrange(len(base), *sides), markers, exact).merged()


def _kept(base: Block | None, ours: Block, theirs: Block) -> Block:
    """Whose bytes stand where at most one side changed more than spacing."""
    if base and ours.key != theirs.key:
        return theirs if ours.key == base.key else ours
    text = choose(base.text if base else None, ours.text, theirs.text) or max(ours.text, theirs.text)
    return ours if text == ours.text else theirs


@dataclass(frozen=True)
class _Leaves:
    """One merge of blocks; `units` are those of base, ours and theirs."""

    units: tuple[Units, Units, Units]
    plan: Plan
    markers: Markers
    exact: bool

    def merged(self) -> list[Piece]:
        pieces: list[Piece] = []
        for step in self.plan.steps:
            pieces += self._meet(step) if isinstance(step, Meeting) else self._pieces(self.plan.of_base(step))
        return pieces

    def _meet(self, meeting: Meeting) -> Iterator[Piece]:
        """Blocks both sides put at one spot: items first, for they continue the list above."""
        if self._rivals(meeting):
            yield self._conflict(meeting)
            return
        runs = [self._places(meeting.ours, 1), self._places(meeting.theirs, 2)]
        leads = [list(takewhile(self._is_item, run)) for run in runs]
        rest = [run[len(lead) :] for run, lead in zip(runs, leads, strict=True)]
        items = [piece for place in self._united(*leads) for piece in self._pieces(place)]
        yield from numbered_on(items) if all(leads) else items
        for place in self._united(*rest):
            yield from self._pieces(place)

    def _rivals(self, meeting: Meeting) -> bool:
        """True when both sides dropped the same block and put different ones in its place."""
        ours, theirs = meeting.ours, meeting.theirs
        if self.exact or not (ours.items and theirs.items and ours.over & theirs.over):
            return False
        keys = [{self.units[side][at].block.key for at in run.items} for side, run in ((1, ours), (2, theirs))]
        return not (keys[0] <= keys[1] or keys[1] <= keys[0])

    def _conflict(self, meeting: Meeting) -> Piece:
        first, other = self.units[1][meeting.ours.items[0]], self.units[2][meeting.theirs.items[0]]
        place = (None, first.at, other.at)
        merged = merge_lines("", self._text(meeting.ours, 1), self._text(meeting.theirs, 2), self.markers)
        return Piece(first.block.kind, merged.text, place, merged.conflicts)

    def _text(self, run: Run, side: int) -> str:
        """The blocks of a run as their side wrote them, without the gap before the first."""
        if any(place[0] is not None for place in self._places(run, side)):
            raise NotUnderstoodError("a moved block stands where both sides changed the same one")
        return text_of(self.units[side][at] for at in run.items)

    def _places(self, run: Run, side: int) -> list[Place]:
        maps = (self.plan.ours, self.plan.theirs)
        base_of = {at: base for base, at in maps[side - 1].items()}
        alone: list[Place] = [(None, at, None) if side == 1 else (None, None, at) for at in run.items]
        return [
            self.plan.of_base(base_of[at]) if at in base_of else place
            for at, place in zip(run.items, alone, strict=True)
        ]

    def _is_item(self, place: Place) -> bool:
        return self._shown(place).kind == "item"

    def _shown(self, place: Place) -> Block:
        _, ours, theirs = self._blocks(place)
        shown = ours or theirs
        assert shown is not None
        return shown

    def _united(self, ours: Sequence[Place], theirs: Sequence[Place]) -> Iterator[Place]:
        rules = [list(self._rules(places)) for places in (ours, theirs)]
        keys = [[tuple(self._shown(place).key for place in rule) for rule in side] for side in rules]
        for one, other in unite(*keys):
            if one is None or other is None:
                yield from rules[0][one] if one is not None else rules[1][other or 0]
            else:
                yield from map(_both, rules[0][one], rules[1][other])

    def _rules(self, places: Sequence[Place]) -> Iterator[_Rule]:
        """A text with the list items it leads in to is one rule; all else stands alone."""
        rule: list[Place] = []
        for place in places:
            if rule and not self._continues(rule, place):
                yield tuple(rule)
                rule = []
            rule.append(place)
        if rule:
            yield tuple(rule)

    def _continues(self, rule: Sequence[Place], place: Place) -> bool:
        first, block = self._shown(rule[0]), self._shown(place)
        led = first.kind == "text" and block.kind == "item"
        return led and (not block.gap or first.key.endswith(":"))

    def _blocks(self, place: Place) -> tuple[Block | None, Block | None, Block | None]:
        base, ours, theirs = (
            None if at is None else units[at].block for at, units in zip(place, self.units, strict=True)
        )
        return base, ours, theirs

    def _pieces(self, place: Place) -> Iterator[Piece]:
        """What becomes of one unit."""
        base, ours, theirs = self._blocks(place)
        absolute = self._absolute(place)
        if ours and theirs:
            yield merge_block(base, ours, theirs, absolute, self.markers)
            return
        left = ours or theirs
        if left is None or (base and left.key == base.key):
            return
        if base is None:
            yield Piece(left.kind, left.text, absolute)
        else:
            text = self.markers.around(left.text if ours else "", left.text if theirs else "")
            yield Piece(left.kind, text, absolute, 1)

    def _absolute(self, place: Place) -> Place:
        base, ours, theirs = (None if at is None else units[at].at for at, units in zip(place, self.units, strict=True))
        return base, ours, theirs


def _both(one: Place, other: Place) -> Place:
    """One thing that both sides have."""
    base, ours, theirs = (mine if mine is not None else yours for mine, yours in zip(one, other, strict=True))
    return base, ours, theirs
