from __future__ import annotations

from pathlib import Path

import pytest

from skillgit.git.repository import Repository


@pytest.fixture
def repo(repo_dir: Path) -> Repository:
    return Repository.open(repo_dir)
