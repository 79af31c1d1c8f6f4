"""The archive is safe to delete, private, and never used when it is not what it should be."""

from __future__ import annotations

import os
import sqlite3
import stat
from contextlib import suppress
from pathlib import Path

import pytest

from skillgit.errors import GitError
from skillgit.git.repository import Repository
from skillgit.sleep.base import Position
from skillgit.sleep.harvest.archive import Archive
from skillgit.sleep.harvest.collect import archive_of
from tests.sleep.harvest.common import NOW, TURNS, archive, prompts, reap, said
from tests.sleep.stores import claude


@pytest.fixture
def file(repo_dir: Path, tmp_path: Path) -> Path:
    """The archive after a harvest of one session."""
    claude.write_session(tmp_path / "claude", "s1", TURNS, cwd=str(repo_dir))
    reap(repo_dir, tmp_path / "claude")
    return archive_of(Repository.open(repo_dir))


def _again(repo_dir: Path, tmp_path: Path) -> tuple[list[str], str]:
    found = reap(repo_dir, tmp_path / "claude")
    return said(found), "".join(found.notes)


def test_only_its_owner_can_read_it(file: Path) -> None:
    with Archive(file) as archive:
        archive.put("something", "to have a log")
        for path in file.parent.glob("sleep.db*"):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


def test_one_that_others_can_read_is_closed_to_them(file: Path) -> None:
    file.chmod(0o644)
    with Archive(file) as archive:
        archive.put("something", "to have a log")
        assert {stat.S_IMODE(path.stat().st_mode) for path in file.parent.glob("sleep.db*")} == {0o600}


def test_deleted_it_is_made_again(repo_dir: Path, tmp_path: Path, file: Path) -> None:
    file.unlink()
    assert _again(repo_dir, tmp_path) == (prompts(), "")


@pytest.mark.parametrize(
    ("content", "why"),
    [(b"no database at all " * 100, "damaged"), (b"SQLite format 3\0" + b"\xff" * 5000, "damaged")],
)
def test_a_damaged_file_is_moved_aside_and_told(
    repo_dir: Path, tmp_path: Path, file: Path, content: bytes, why: str
) -> None:
    file.write_bytes(content)
    words, note = _again(repo_dir, tmp_path)
    assert words == prompts()
    assert why in note
    assert "sleep.db.unused-1" in note
    assert file.with_name("sleep.db.unused-1").read_bytes() == content
    assert _again(repo_dir, tmp_path) == (prompts(), "")


def test_a_file_that_lost_its_end_is_moved_aside(repo_dir: Path, tmp_path: Path, file: Path) -> None:
    os.truncate(file, 4096)
    words, note = _again(repo_dir, tmp_path)
    assert words == prompts()
    assert "damaged" in note


@pytest.mark.parametrize(("version", "word"), [(99, "newer"), (0, "older")])
def test_another_layout_is_moved_aside(repo_dir: Path, tmp_path: Path, file: Path, version: int, word: str) -> None:
    with sqlite3.connect(file) as db:
        db.execute(f"PRAGMA user_version = {version}")
    db.close()
    words, note = _again(repo_dir, tmp_path)
    assert words == prompts()
    assert word in note


def test_damage_deep_inside_names_the_way_out(file: Path) -> None:
    with Archive(file) as kept:
        kept.put("room", "x" * 100_000)
    size = file.stat().st_size
    with file.open("r+b") as stream:
        stream.seek(size - 40_000)
        stream.write(b"\xff" * 40_000)
    with pytest.raises(GitError) as error, Archive(file) as kept:
        kept.get("room")
    assert "damaged" in error.value.what
    assert f"delete {file}" in error.value.fix


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(GitError, match="cannot use"):
        Archive(tmp_path / "missing" / "sleep.db")


def test_a_transaction_leaves_all_or_nothing(file: Path) -> None:
    with Archive(file) as kept:
        with suppress(RuntimeError), kept.transaction():
            kept.put("one", "1")
            raise RuntimeError
        assert kept.get("one") == ""
        with kept.transaction():
            kept.put("one", "1")
        assert kept.get("one") == "1"


def test_positions_come_back_as_they_were(file: Path) -> None:
    at = Position("stamp", "identity", 12, {"command": "k", "list": [1, {"a": None}]})
    with Archive(file) as kept:
        kept.set_position("claude", "f", at)
        assert kept.position("claude", "f") == at
        assert kept.stamps("claude")["f"] == "stamp"
        kept.forget_file("claude", "f")
        assert kept.position("claude", "f") is None


def test_sessions_are_given_by_time_and_number(repo_dir: Path, tmp_path: Path) -> None:
    for n in range(4):
        claude.write_session(tmp_path / "claude", f"s{n}", TURNS, cwd=str(repo_dir), at=NOW - 4000 + 1000 * n)
    first = reap(repo_dir, tmp_path / "claude")
    claude.write_session(
        tmp_path / "claude", "s1", (("More.", "Yes."),), cwd=str(repo_dir), at=NOW, append=True, first=5
    )
    second = reap(repo_dir, tmp_path / "claude")
    with archive(repo_dir) as kept:
        assert [session.id for session in kept.sessions()] == ["s0", "s2", "s3", "s1"]
        assert [session.id for session in kept.sessions(limit=2)] == ["s3", "s1"]
        assert [session.id for session in kept.sessions(since=NOW - 2000)] == ["s2", "s3", "s1"]
        assert [session.id for session in kept.sessions(chosen=lambda head: head.id < "s2")] == ["s0", "s1"]
        harvests = [session.harvested for session in kept.sessions()]
        assert harvests == [first.number] * 3 + [second.number]
        number, ended = kept.last()
        assert (number, ended is not None) == (second.number, True)
