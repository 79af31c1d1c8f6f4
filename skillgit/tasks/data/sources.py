"""Where a benchmark's data is: a file, a folder, a packed folder, or the hub."""

from __future__ import annotations

import os
import re
import tarfile
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from skillgit.errors import ConfigError, TaskError
from skillgit.tasks.benchmarks.alfworld.items import DATA, data_folder
from skillgit.tasks.data.digest import SEAL
from skillgit.tasks.data.kinds.base import Kind
from skillgit.tasks.data.tables import SUFFIXES

HUB = "hf"
_UNPACKED = 8 << 30  # most bytes of a packed source


@dataclass(frozen=True)
class Place:
    """A source that was found.

    Attributes:
        folder: everything that belongs to it lies below.
        files: those with rows, in order; empty for a benchmark without rows.
        said: what it is, for people; without this machine's folders.
    """

    folder: Path
    files: tuple[Path, ...]
    said: str


@contextmanager
def open_source(kind: Kind, source: str, base: Path, about: Mapping[str, Any]) -> Iterator[Place]:
    """The source that a user named.

    Args:
        source: a path, or `hf`; blank means `$ALFWORLD_DATA` for a benchmark that has no rows.
        base: folder that relative paths start from.
        about: what the manifest says of itself, for the revision on the hub.

    Raises:
        ConfigError: it is not there, or cannot be fetched.
        TaskError: it holds no file with rows.
    """
    if source == HUB:
        folder, said = _fetched(kind, about)
    else:
        folder = _given(kind, source, base)
        said = folder.name if kind.patterns else f"${DATA}"
    if folder.is_file() and tarfile.is_tarfile(folder):
        with tempfile.TemporaryDirectory(prefix="skillgit-data-") as scratch:
            _unpack(folder, Path(scratch))
            yield _place(kind, Path(scratch), said)
    else:
        yield _place(kind, folder, said)


def games_folder() -> Path:
    """`$ALFWORLD_DATA`, else where ALFWorld's own download puts the games; it need not exist."""
    return data_folder(os.environ)


def _given(kind: Kind, source: str, base: Path) -> Path:
    if kind.patterns and not source:
        raise ConfigError(f"where is the data of {kind.title}?", fix="give your copy of the data with --source")
    path = base / Path(source).expanduser() if source else games_folder()
    if not path.exists():
        fix = "correct --source" if source else f"set {DATA}, or give --source"
        raise ConfigError("there is no such source", where=str(path), fix=fix)
    return path


def _place(kind: Kind, path: Path, said: str) -> Place:
    if path.is_file() and not kind.patterns:
        raise TaskError("is a file; the source must be the folder of the games", where=str(path))
    if path.is_file():
        if path.suffix.lower() not in SUFFIXES:
            raise TaskError("is no data set that can be read", why=f"read are {', '.join(SUFFIXES)}", where=str(path))
        return Place(path.parent, (path,), said)
    for pattern in kind.patterns:
        files = tuple(sorted(file for file in path.glob(pattern) if file.is_file() and not _ours(file)))
        if files:
            return Place(path, files, said)
    if kind.patterns:
        raise TaskError(f"holds no data of {kind.title}", why=f"looked for {', '.join(kind.patterns)}", where=str(path))
    return Place(path, (), said)


def _ours(file: Path) -> bool:
    return file.name in (SEAL, "split_manifest.json", "dataset_info.json", "dataset_infos.json")


def _fetched(kind: Kind, about: Mapping[str, Any]) -> tuple[Path, str]:
    if not kind.repo:
        fix = f"run `alfworld-download`, set {DATA}, and leave --source out"
        raise ConfigError(f"{kind.title} is not on the hub", fix=fix)
    try:
        snapshot_download = import_module("huggingface_hub").snapshot_download
    except ImportError as error:
        fix = "pip install 'skillgit[data]', or give your copy of the data with --source PATH"
        raise ConfigError("--source hf needs the package datasets", why=str(error), fix=fix) from error
    revision = str(about.get("source_revision", ""))
    if not re.fullmatch("[0-9a-f]{40}", revision) or about.get("source_repo") != kind.repo:
        revision = "main"
    said = f"{HUB}:{kind.repo}@{revision}"
    try:
        folder = snapshot_download(kind.repo, repo_type="dataset", revision=revision, allow_patterns=list(kind.hub))
    except (OSError, ValueError) as error:
        fix = "log in with `hf auth login` where access must be granted, or give your copy with --source PATH"
        raise ConfigError(f"cannot fetch {said}", why=str(error).strip().split("\n")[0], fix=fix) from error
    path = Path(folder)
    packed = [path / name for name in kind.hub if name.endswith(".tar.gz")]
    return (packed[0] if packed else path), said


def _unpack(archive: Path, folder: Path) -> None:
    """Python's own rules for data keep links, devices and paths that lead out from being written."""
    if not hasattr(tarfile, "data_filter"):
        raise ConfigError(
            "this Python cannot unpack safely", fix="unpack the archive, and give the folder with --source"
        )
    try:
        with tarfile.open(archive) as tar:
            size = 0
            for member in tar:
                size += member.size
                if size > _UNPACKED:
                    raise TaskError(f"unpacks to more than {_UNPACKED >> 30} GB", where=str(archive))
                tar.extract(member, folder, filter="data")
    except (tarfile.TarError, zlib.error, OSError, EOFError) as error:
        raise TaskError("cannot be unpacked", why=str(error), where=str(archive)) from error
