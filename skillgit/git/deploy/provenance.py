"""The file in an installed skill that says which version it was made from."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from skillgit import __version__
from skillgit.git.deploy.package import Package
from skillgit.git.notes import canonical
from skillgit.git.remote_url import public_url
from skillgit.git.repository import Repository
from skillgit.git.skillstore import PROVENANCE

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
        "remote": public_url(repo.config("remote.origin.url")) or None,
        "val": package.val,
        "exported_at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "harness": f"skillgit {__version__}",
    }
    written = folder / f"{PROVENANCE}.new"
    written.write_text(f"{canonical(value)}\n", encoding="utf-8")
    written.replace(folder / PROVENANCE)
