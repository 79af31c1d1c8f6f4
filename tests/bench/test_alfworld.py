"""The benchmark of text games runs."""

from __future__ import annotations

import pytest

from tests.bench import alfworld
from tests.tasks.benchmarks.games import PLAYABLE


@pytest.mark.skipif(not PLAYABLE, reason="alfworld and textworld are not installed")
def test_games_are_played_in_parallel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALFWORLD_DATA", "")
    measured = alfworld.measure(games=3, processes=2, workers=3)
    assert (measured.games, measured.actions) == (3, 16)
    assert 0 < measured.seconds < 120
