"""The benchmark of harvesting runs, and a store is read completely, once."""

from __future__ import annotations

from pathlib import Path

from tests.bench import harvest


def test_a_store_is_read_once_and_in_little_memory(tmp_path: Path) -> None:
    repo, store = harvest.build(tmp_path, files=20, megabytes=6)
    first, again = harvest.measure(repo, store), harvest.measure(repo, store)
    size = sum(file.stat().st_size for file in store.rglob("*.jsonl")) / 1e6
    assert 5 < size < 7
    assert abs(first.megabytes - size) < 0.01
    assert (first.kept, first.new, again.kept, again.new) == (20, 20, 20, 0)
    assert again.megabytes == 0
    assert 0 < first.peak < harvest.MEMORY_AIM
