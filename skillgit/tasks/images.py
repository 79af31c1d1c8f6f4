"""Pictures of tasks: found, checked, and encoded once."""

from __future__ import annotations

import base64
import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

from skillgit.errors import TaskError
from skillgit.models.base import Image
from skillgit.tasks.text import clip

MOST_BYTES = 20_000_000
"""Size of the largest picture that is sent; none is ever made smaller, for that changes what can be read on it."""

_KEPT = 256_000_000  # characters of encoded pictures that stay in memory


class Pictures:
    """Reads pictures from below some folders. Safe to call from many threads.

    Args:
        folders: where the names of pictures start; what leads out of all of them is refused, links included.
        detail: how closely a model looks: `auto`, `low` or `high`.
    """

    def __init__(self, folders: Sequence[Path], detail: str = "auto") -> None:
        self._folders = [folder.resolve() for folder in dict.fromkeys(folders)]
        self._detail = detail
        self._images: OrderedDict[tuple[str, int, int], Image] = OrderedDict()
        self._size, self._lock = 0, threading.Lock()

    def image(self, name: str) -> Image:
        """The picture called `name`. Raises `TaskError`."""
        path = self._find(name)
        try:
            known = path.stat()
            key = (str(path), known.st_mtime_ns, known.st_size)
            with self._lock:
                if found := self._images.get(key):
                    self._images.move_to_end(key)
                    return Image(name, found.sha256, found.uri, self._detail)
            return self._keep(key, _read(path, name, known.st_size, self._detail))
        except OSError as error:
            raise TaskError(f"the picture {name} cannot be read ({error.strerror})") from error

    def sha256(self, name: str) -> str:
        """Of the bytes of a picture, however they look; blank when there is none of a size that is sent."""
        try:
            path = self._find(name)
            return hashlib.sha256(path.read_bytes()).hexdigest() if path.stat().st_size <= MOST_BYTES else ""
        except (OSError, TaskError):
            return ""

    def _find(self, name: str) -> Path:
        out = False
        for folder in self._folders:
            try:
                path = (folder / name).resolve()
                if not any(path.is_relative_to(top) for top in self._folders):
                    out = True
                elif path.is_file():  # not a folder, and not a pipe, which would be waited for
                    return path
            except (OSError, RuntimeError, ValueError):  # a circle of links, or a name that no file can have
                continue
        raise TaskError(f"the picture {clip(name)} " + ("is outside the data's folder" if out else "is not there"))

    def _keep(self, key: tuple[str, int, int], image: Image) -> Image:
        with self._lock:
            if key not in self._images:
                self._images[key] = image
                self._size += len(image.uri)
            while self._size > _KEPT and len(self._images) > 1:
                _, gone = self._images.popitem(last=False)
                self._size -= len(gone.uri)
        return image


def _read(path: Path, name: str, size: int, detail: str) -> Image:
    if size > MOST_BYTES:
        raise TaskError(f"the picture {name} is too large ({size / 1e6:.0f} MB of at most {MOST_BYTES / 1e6:.0f})")
    data = path.read_bytes()
    uri = f"data:{_kind(data, name)};base64,{base64.b64encode(data).decode()}"
    return Image(name, hashlib.sha256(data).hexdigest(), uri, detail)


def _kind(data: bytes, name: str) -> str:
    """The media type that the bytes themselves tell; the name of a file may lie."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        kind, whole = "image/png", b"IEND" in data[-16:]
    elif data.startswith(b"\xff\xd8\xff"):
        kind, whole = "image/jpeg", b"\xff\xd9" in data[3:]
    elif data[:6] in (b"GIF87a", b"GIF89a"):
        kind, whole = "image/gif", data.rstrip(b"\0").endswith(b";")
    elif data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        kind, whole = "image/webp", len(data) >= int.from_bytes(data[4:8], "little") + 8
    else:
        raise TaskError(f"{name} is no picture that models take (PNG, JPEG, GIF or WebP)")
    if not whole:
        raise TaskError(f"the picture {name} ends too early")
    return kind
