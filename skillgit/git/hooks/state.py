"""Where hooks stand: what git would run in each worktree, and whether that calls skillgit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from skillgit.git.hooks import shims
from skillgit.git.hooks.place import Place, find_place, own_folder, worktrees
from skillgit.git.repository import Repository

State = Literal["ours", "chained", "missing", "inert"]
"""`ours`: git runs our hook; `chained`: ours and another one; `inert`: ours is there, and git does not run it."""


@dataclass(frozen=True)
class Standing:
    """The hooks of one worktree: where git looks for them, of what kind that place is, and each one's state."""

    worktree: str
    path: str
    kind: str
    hooks: dict[str, State]


def standings(repo: Repository, names: Sequence[str]) -> list[Standing]:
    """The state of each hook in every worktree."""
    found = []
    for folder in worktrees(repo):
        here = Repository.open(folder)
        place = find_place(here)
        states = {name: _state(here, place, name) for name in names}
        found.append(Standing(str(folder), str(place.effective), place.kind, states))
    return found


def _state(repo: Repository, place: Place, name: str) -> State:
    path = place.effective / name
    if place.kind == "husky":
        return _husky_state(place, name)
    if shims.calls_skillgit(path) and shims.runnable(path):
        other = (repo.top or repo.common_dir) / place.outer / name if place.outer else shims.kept(path)
        return "chained" if shims.runnable(other) else "ours"
    if shims.calls_skillgit(shims.legacy(path)) and shims.is_framework(path):
        return "chained" if shims.runnable(path) and shims.runnable(shims.legacy(path)) else "inert"
    elsewhere = (path, repo.common_dir / "hooks" / name, own_folder(repo) / name)
    return "inert" if any(map(shims.calls_skillgit, elsewhere)) else "missing"


def _husky_state(place: Place, name: str) -> State:
    script = place.folder / name
    if not shims.has_block(script):
        return "missing"
    if not shims.runnable(place.effective / name):
        return "inert"
    return "chained" if shims.without_block(script.read_bytes()).strip() else "ours"
