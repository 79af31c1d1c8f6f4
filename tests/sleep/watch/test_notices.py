"""The system's notices, and what cannot be noticed."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from watchdog.events import FileSystemEventHandler
from watchdog.observers.api import BaseObserver, EventEmitter, ObservedWatch

from skillgit.sleep.watch.notices import Notices, remote_kind


@pytest.fixture
def wake() -> threading.Event:
    return threading.Event()


@pytest.fixture
def store(tmp_path: Path) -> Path:
    folder = tmp_path / "store"
    folder.mkdir()
    return folder


@pytest.fixture
def notices(wake: threading.Event, store: Path) -> Iterator[Notices]:
    with Notices(wake.set) as found:
        found.follow([store])
        assert found.followed == (store,)
        yield found


def _woken(wake: threading.Event) -> bool:
    woken = wake.wait(5)
    wake.clear()
    return woken


def _drain(wake: threading.Event) -> None:
    while wake.wait(0.2):
        wake.clear()


def test_new_grown_replaced_moved_and_deleted_files_are_all_noticed(
    notices: Notices, wake: threading.Event, store: Path, tmp_path: Path
) -> None:
    file = store / "a.jsonl"
    file.write_text("1\n")
    assert _woken(wake)
    _drain(wake)
    with file.open("a") as stream:
        stream.write("2\n")
    assert _woken(wake)
    _drain(wake)
    other = tmp_path / "new"
    other.write_text("3\n")
    other.replace(file)
    assert _woken(wake)
    _drain(wake)
    file.rename(store / "b.jsonl")
    assert _woken(wake)
    _drain(wake)
    (store / "b.jsonl").unlink()
    assert _woken(wake)


def test_files_in_new_folders_are_noticed(notices: Notices, wake: threading.Event, store: Path) -> None:
    (store / "project").mkdir()
    assert _woken(wake)
    (store / "project" / "a.jsonl").write_text("1\n")
    assert _woken(wake)


def test_reading_is_no_change(notices: Notices, wake: threading.Event, store: Path) -> None:
    file = store / "a.jsonl"
    file.write_text("1\n")
    assert _woken(wake)
    _drain(wake)
    file.read_text()
    list(store.iterdir())
    assert not wake.wait(0.3)


def test_a_store_that_comes_later_is_found(wake: threading.Event, store: Path) -> None:
    root = store / "projects"
    with Notices(wake.set) as notices:
        notices.follow([root])
        assert notices.followed == (store,)
        root.mkdir()
        assert _woken(wake)
        notices.follow([root])
        assert notices.followed == (root,)
        (root / "a.jsonl").write_text("1\n")
        assert _woken(wake)


def test_a_folder_that_was_replaced_is_watched_anew(notices: Notices, wake: threading.Event, store: Path) -> None:
    shutil.rmtree(store)
    notices.follow([store])
    store.mkdir()
    notices.follow([store])
    _drain(wake)
    (store / "a.jsonl").write_text("1\n")
    assert _woken(wake)


def test_a_database_is_watched_by_its_folder(wake: threading.Event, store: Path) -> None:
    file = store / "sessions.db"
    file.write_text("")
    with Notices(wake.set) as notices:
        notices.follow([file])
        assert notices.followed == (store,)
        (store / "sessions.db-wal").write_text("x")
        assert _woken(wake)


class _Full(BaseObserver):
    """An observer of a system that has reached a limit."""

    def __init__(self, number: int) -> None:
        super().__init__(EventEmitter)
        self._number = number

    def schedule(self, handler: FileSystemEventHandler, path: str, **options: object) -> ObservedWatch:  # type: ignore[override]
        raise OSError(self._number, os.strerror(self._number))


@pytest.mark.parametrize(
    ("number", "why"),
    [(errno.ENOSPC, "max_user_watches"), (errno.EMFILE, "max_user_instances"), (errno.EACCES, "denied")],
)
def test_a_limit_is_told_with_what_raises_it(wake: threading.Event, store: Path, number: int, why: str) -> None:
    with Notices(wake.set, lambda: _Full(number)) as notices:
        notices.follow([store])
        assert notices.followed == ()
        assert why in notices.refused[store]
        notices.follow([])
        assert notices.refused == {}


def test_no_file_descriptor_left_is_no_crash(wake: threading.Event, store: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    open_ = [int(path.name) for path in Path("/proc/self/fd").iterdir()]
    used = max(open_)
    filler = [os.open(os.devnull, os.O_RDONLY) for _ in range(used + 2 - len(open_))]
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (used, hard))
        notices = Notices(wake.set).__enter__()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for descriptor in filler:
            os.close(descriptor)
    notices.follow([store])
    assert "max_user_instances" in notices.refused[store]
    notices.__exit__(None, None, None)


@pytest.mark.parametrize(
    ("kind", "remote"),
    [
        ("9p", True),
        ("drvfs", True),
        ("cifs", True),
        ("nfs4", True),
        ("fuse.sshfs", True),
        ("ext4", False),
        ("overlay", False),
    ],
)
def test_foreign_file_systems_are_known_by_their_mount(tmp_path: Path, kind: str, remote: bool) -> None:
    mounts = tmp_path / "mounts"
    place = tmp_path / "a mount"
    (place / "deep").mkdir(parents=True)
    escaped = str(place).replace(" ", "\\040")
    mounts.write_text(f"/dev/root / ext4 rw 0 0\nnodev {escaped} {kind} rw 0 0\n")
    assert remote_kind(place / "deep", mounts) == (kind if remote else "")
    assert remote_kind(tmp_path, mounts) == ""


def test_where_nothing_is_told_of_mounts_nothing_is_remote(tmp_path: Path) -> None:
    assert remote_kind(tmp_path, tmp_path / "missing") == ""


def test_a_folder_that_may_not_be_looked_at_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    locked, stat = tmp_path / "locked", os.stat

    def refused(path: object, *more: object, **options: object) -> os.stat_result:
        if str(path).startswith(str(locked)):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return stat(path, *more, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "stat", refused)
    with Notices(threading.Event().set) as found:
        found.follow([locked / "store"])
        assert (found.followed, found.refused) == ((), {})
