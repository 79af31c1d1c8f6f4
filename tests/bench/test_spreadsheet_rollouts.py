from __future__ import annotations

from pathlib import Path

from tests.bench import spreadsheet_rollouts


def test_rollouts_per_second_are_measured(tmp_path: Path) -> None:
    first, later = spreadsheet_rollouts.measure(tmp_path, tasks=2, rounds=2, cases=1, workers=2)
    assert first > 0
    assert later > 0
