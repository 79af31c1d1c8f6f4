"""Finding files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skillgit.sleep.sources.walk import walk


def test_files_come_by_name_and_nothing_but_plain_ones(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a/z.jsonl", "a/b/c.jsonl", "c.jsonl", "c.txt", "d.jsonl/e.jsonl"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "b.jsonl")
    (tmp_path / "folder").symlink_to(tmp_path / "a")
    found = [file.relative_to(tmp_path).as_posix() for file in walk(tmp_path, ".jsonl")]
    assert found == ["a/b/c.jsonl", "a/z.jsonl", "b.jsonl", "c.jsonl", "d.jsonl/e.jsonl"]


def test_folders_may_lie_deeper_than_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "z.jsonl").touch()
    monkeypatch.chdir(tmp_path)
    for _ in range(1500):
        Path("d").mkdir()
        os.chdir("d")
    os.chdir(tmp_path)
    try:
        assert tmp_path / "z.jsonl" in walk(tmp_path, ".jsonl")
    finally:
        _flatten(tmp_path / "d")


def _flatten(folder: Path) -> None:
    """Take a deep folder away: Python's own way to do so calls itself for every level."""
    while folder.exists():
        inner = folder / "d"
        if inner.exists():
            inner.rename(folder.with_name("e"))
        folder.rmdir()
        if folder.with_name("e").exists():
            folder.with_name("e").rename(folder)
