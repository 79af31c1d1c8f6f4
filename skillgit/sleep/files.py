"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from skillgit.errors import ConfigError


def write_whole(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Replace a file by a finished one; its folder is made when it is missing.

    Raises:
        ConfigError: the folder cannot be written to.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".skillgit-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            Path(name).chmod(mode)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise ConfigError(f"cannot write {path}", why=str(error)) from error
