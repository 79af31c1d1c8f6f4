"""What the tests of proposals share."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgit.git.repository import Repository
from skillgit.sleep.proposals.states import State, proposals
from tests.sleep.proposals.nights import DATES, UNITS, lesson, night


@pytest.fixture
def state(repo_dir: Path) -> Callable[..., State]:
    """The newest proposal's state."""

    def look(folder: Path | None = None) -> State:
        return proposals(Repository.open(folder or repo_dir))[-1]

    return look


@pytest.fixture(scope="session")
def _two_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("two") / "repo"


@pytest.fixture
def two(_two_once: Path, repo_dir: Path) -> Path:
    """The greeter repository with a proposal of two lessons; the night itself is published once per session."""
    if not _two_once.exists():
        night(repo_dir, lesson(DATES), lesson(UNITS, score=1.0))
        shutil.copytree(repo_dir, _two_once)
    shutil.rmtree(repo_dir)
    shutil.copytree(_two_once, repo_dir)
    return repo_dir
