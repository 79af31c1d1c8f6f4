from __future__ import annotations

from pathlib import Path

from tests.bench import officeqa_index


def test_the_index_of_documents_is_measured(tmp_path: Path) -> None:
    officeqa_index.write(tmp_path, count=120, size=500)
    indexed, found, count = officeqa_index.measure(tmp_path, rounds=1)
    assert count == 120
    assert 0 < indexed < 10
    assert 0 < found < 10
