"""What tests of the harvest share: a Claude Code store beside a repository, and harvesting it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from skillgit.config.schema import Config
from skillgit.events import ignore
from skillgit.git.repository import Repository
from skillgit.sleep.harvest.archive import Archive
from skillgit.sleep.harvest.collect import Harvest, harvest, open_archive
from tests.sleep.stores import START

NOW = START + 3600
TURNS = (("Sort the table by date.", "Sorted."), ("No, newest first.", "Newest first now."), ("Thanks!", ""))


def config_of(store: Path, **values: Any) -> Config:
    """A configuration that reads only this store of Claude Code."""
    plain = Config()
    given = {"source": "claude", "claude_home": str(store)} | values
    return dataclasses.replace(plain, sleep=dataclasses.replace(plain.sleep, **given))


def reap(repo: Path, store: Path, *, now: float = NOW, **values: Any) -> Harvest:
    """Harvest the store."""
    return harvest(Repository.open(repo), config_of(store, **values), ignore, now=now)


def archive(repo: Path) -> Archive:
    """The repository's archive."""
    return open_archive(Repository.open(repo))


def said(found: Harvest) -> list[str]:
    """What people said in the kept sessions, in order."""
    return [text for session in found.sessions for text in session.prompts]


def prompts(turns: Sequence[tuple[str, str]] = TURNS) -> list[str]:
    """What a person says in these turns."""
    return [text for text, _ in turns]
