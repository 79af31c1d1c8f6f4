"""The file in an installed skill that says which version it was made from."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from skillgit import __version__
from skillgit.git.deploy.folder import PROVENANCE
from skillgit.git.deploy.package import Package
from skillgit.git.notes import canonical
from skillgit.git.repository import Repository

_MOST_BYTES = 1 << 16
_OBJECT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def read_provenance(folder: Path) -> dict[str, Any] | None:
    """What the provenance file says; `None` when there is none that names a skill, its path and its object."""
    path = folder / PROVENANCE
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > _MOST_BYTES:
            return None
        value = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not all(isinstance(value.get(key), str) for key in ("skill", "path", "object")):
        return None
    return value if _OBJECT.fullmatch(value["object"]) else None


def write_provenance(repo: Repository, package: Package, folder: Path) -> None:
    """Write the file, whole or not at all."""
    value = {
        "v": 1,
        "skill": package.name,
        "path": package.place.path,
        "object": package.object,
        "commit": package.commit,
        "revision": package.revision,
        "remote": _remote(repo),
        "val": package.val,
        "exported_at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "harness": f"skillgit {__version__}",
    }
    written = folder / f"{PROVENANCE}.new"
    written.write_text(f"{canonical(value)}\n", encoding="utf-8")
    written.replace(folder / PROVENANCE)


def _remote(repo: Repository) -> str | None:
    """Where the repository comes from, without user, password and query."""
    url = repo.config("remote.origin.url")
    if "://" in url:
        parts = urlsplit(url)
        url = parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()
    return url or None
