"""What an agent as the target is given to work with: a version's files and a task's attachments."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from functools import lru_cache

from skillgit.errors import GitError
from skillgit.git.deploy.folder import DOCUMENT
from skillgit.git.deploy.package import Package, files_of
from skillgit.git.objects import read_blobs
from skillgit.git.repository import Repository
from skillgit.git.skillstore import Place, Version
from skillgit.models.base import Workspace
from skillgit.tasks.base import Task


class Workspaces:
    """Makes the workspaces of one skill. Safe to call from many threads.

    Args:
        edits: the tasks ask for changes to files.
    """

    def __init__(self, repo: Repository, place: Place, *, edits: bool) -> None:
        self._repo, self._place, self._edits = repo, place, edits
        self._files, self._lock = lru_cache(maxsize=4)(self._read), threading.Lock()

    def of(self, version: Version, task: Task, attachments: Mapping[str, str | bytes] | None = None) -> Workspace:
        """The workspace of one rollout.

        Args:
            attachments: in place of the task's files.

        Raises:
            GitError: the version holds something that is no plain file, or a name that leads out of its folder.
        """
        with self._lock:
            files, executables = self._files(version)
        found = dict(task.files if attachments is None else attachments)
        return Workspace(self._place.name, version.object, files, executables, found, self._edits)

    def _read(self, version: Version) -> tuple[Mapping[str, bytes], frozenset[str]]:
        # A candidate is not written yet: its other files are those of the version it was made from.
        package = Package(self._place, self._place.name, version.base or version.object, "", "")
        listing = files_of(self._repo, package)
        blobs = read_blobs(self._repo, [str(entry.object) for entry in listing.values()])
        files = {}
        for name, data in zip(listing, blobs, strict=True):
            if data is None:
                raise GitError(f"{self._place.path}/{name} is missing", fix="git fsck, then fetch what is missing")
            files[name] = data
        executables = frozenset(name for name, entry in listing.items() if entry.mode == "100755")
        return files | {DOCUMENT: version.document.encode()}, executables
