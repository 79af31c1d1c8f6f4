"""Which skills lie in the folders where agents look."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skillgit.errors import GitError
from skillgit.git.deploy.provenance import read_provenance
from skillgit.skills.agents import AGENTS


@dataclass(frozen=True)
class Installed:
    """A folder in an agent's folder of skills.

    Attributes:
        agents: names of the agents that look there.
        scope: `project` or `user`.
        mark: its provenance file; `None` without a good one, and for a link, which is not followed.
    """

    folder: Path
    agents: tuple[str, ...]
    scope: str
    link: bool
    mark: dict[str, Any] | None


def scan(top: Path | None, home: Path) -> list[Installed]:
    """Every folder of skills in a project and a home folder, by place; a link that leads out of them is passed over.

    Raises:
        GitError: an agent's folder cannot be read.
    """
    found: dict[Path, Installed] = {}
    for scope, base in (("project", top), ("user", home)):
        for path, agents in _places(scope).items():
            root = (base or home) / path
            if base and root.is_dir() and root.resolve().is_relative_to(base.resolve()):
                for one in _in(root, agents, scope):
                    found.setdefault(one.folder.absolute(), one)
    return list(found.values())


def _places(scope: str) -> dict[str, tuple[str, ...]]:
    places: dict[str, tuple[str, ...]] = {}
    for agent in AGENTS:
        path = agent.project if scope == "project" else agent.user
        places[path] = (*places.get(path, ()), agent.name)
    return places


def _in(root: Path, agents: tuple[str, ...], scope: str) -> Iterator[Installed]:
    try:
        entries = sorted(os.scandir(root), key=lambda entry: entry.name)
    except OSError as error:
        raise GitError(f"cannot read {root}", why=str(error)) from error
    for entry in entries:
        folder = Path(entry.path)
        if not entry.name.startswith(".") and entry.is_dir():
            link = entry.is_symlink()
            yield Installed(folder, agents, scope, link, None if link else read_provenance(folder))
