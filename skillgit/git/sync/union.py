"""Two note trees with a history of their own: the lines of both in one, and what only one of them has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from skillgit.git import notes
from skillgit.git.objects import Change
from skillgit.git.repository import Repository

_Table = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Difference:
    """Lines that only one side of a note ref has."""

    theirs: int = 0
    ours: int = 0


def united_tree(repo: Repository, mine: str, theirs: str) -> dict[str, Change]:
    """Changes to the tree of `mine` that add the lines of `theirs`."""
    ours, others = notes.table(repo, mine), notes.table(repo, theirs)
    changes: dict[str, Change] = {}
    differing = {name: paths for name, paths in others.items() if _blobs(ours, name) != _blobs(others, name)}
    lines = notes.contents(repo, _all_blobs([ours, others], differing))
    for name in differing:
        old = _lines_of(lines, ours, name)
        new = notes.united(old, _lines_of(lines, others, name))
        first, *doubles = ours.get(name) or [f"{name[:2]}/{name[2:]}"]
        if new != old or doubles:
            changes |= {first: notes.encode(new), **dict.fromkeys(doubles)}
    return changes


def difference(repo: Repository, mine: str | None, theirs: str | None) -> Difference:
    """How many lines only one of two note commits (`None`: no notes) has."""
    if mine == theirs:
        return Difference()
    sides = [notes.table(repo, tip) if tip else {} for tip in (mine, theirs)]
    names = [name for name in {**sides[0], **sides[1]} if _blobs(sides[0], name) != _blobs(sides[1], name)]
    lines = notes.contents(repo, _all_blobs(sides, names))
    count = Difference()
    for name in names:
        ours, others = ({notes.identity(line) for line in _lines_of(lines, side, name)} for side in sides)
        count = Difference(count.theirs + len(others - ours), count.ours + len(ours - others))
    return count


def _blobs(table: _Table, name: str) -> list[str]:
    return list(table.get(name, {}).values())


def _all_blobs(tables: Iterable[_Table], names: Iterable[str]) -> list[str]:
    wanted = list(names)
    return [blob for table in tables for name in wanted for blob in _blobs(table, name)]


def _lines_of(lines: Mapping[str, list[str]], table: _Table, name: str) -> list[str]:
    return notes.joined([lines[blob] for blob in _blobs(table, name)])
