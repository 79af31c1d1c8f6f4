"""Claude Code: a hook at the end of every session, in the project's own settings, that wakes the watcher.

It only touches a file: no session is read by it, and nothing is asked of a model.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Collection
from functools import partial
from pathlib import Path
from typing import Any

from skillgit.git.hooks.install import Change
from skillgit.sleep.files import write_whole
from skillgit.sleep.watch.schedule.base import UNSCHEDULE, Entry, Job, foreign, words_of

_EVENT = "SessionEnd"
_SECONDS = 5
_OURS = re.compile(r"\bsleep signal$")
_INDENT = re.compile(r'^\{\s*?\n([ \t]+)"')


class SessionEnd:
    """`.claude/settings.local.json` of one project.

    Args:
        top: the project's top folder; `None` where there is none (a bare repository).
        job: id of its repository.
    """

    name = "claude-code"

    def __init__(self, top: Path | None, job: str) -> None:
        self._job = job
        self._path = top / ".claude" / "settings.local.json" if top else None

    def missing(self) -> str:
        """Why it cannot be used here; blank when it can."""
        return "" if self._path else "a bare repository has no project settings"

    def install(self, job: Job) -> list[Change]:
        """What adds the hook; everything else in the settings stays."""
        path = self._place()
        text, settings = _read(path)
        command = shlex.join([*job.command[: job.command.index("sleep")], "sleep", "signal"])
        hook = {"type": "command", "command": command, "timeout": _SECONDS}
        if [each["command"] for each in _ours(settings)] == [command]:
            return []
        rest = _without(settings)
        groups = [*rest.get("hooks", {}).get(_EVENT, []), {"hooks": [hook]}]
        new = {**rest, "hooks": {**rest.get("hooks", {}), _EVENT: groups}}
        return [self._write(path, text, new, "a hook that wakes skillgit sleep watch")]

    def remove(self, jobs: Collection[str] | None) -> list[Change]:
        """What takes the hook out, and whatever held nothing but it."""
        if self._path is None or (jobs is not None and self._job not in jobs) or not os.path.lexists(self._path):
            return []
        text, settings = _read(self._path)
        if not _ours(settings):
            return []
        rest = _without(settings)
        return [
            self._write(self._path, text, rest, "")
            if rest
            else Change("remove", str(self._path), act=self._path.unlink)
        ]

    def entries(self) -> list[Entry]:
        """The hook, when it is there."""
        if self._path is None or not os.path.lexists(self._path):
            return []
        return [
            Entry(self.name, self._job, str(self._path), "session end", words_of(hook["command"], self._path))
            for hook in _ours(_read(self._path)[1])
        ]

    def _place(self) -> Path:
        assert self._path is not None, "missing() was not asked"
        return self._path

    @staticmethod
    def _write(path: Path, text: str, settings: dict[str, Any], detail: str) -> Change:
        found = _INDENT.match(text)
        indent = (found[1] if found else "  ") if "\n" in text.strip() or not text else None
        data = json.dumps(settings, indent=indent, ensure_ascii=False) + "\n"
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
        return Change("write", str(path), detail or UNSCHEDULE, partial(write_whole, path, data.encode(), mode))


def _read(path: Path) -> tuple[str, dict[str, Any]]:
    """The settings' text and values. Raises `NeedsPersonError` for what cannot be merged into."""
    if path.is_symlink() or path.parent.is_symlink():
        raise foreign(path, "it is a link")
    if not os.path.lexists(path):
        return "", {}
    if not path.is_file():
        raise foreign(path, "it is no ordinary file")
    try:
        text = path.read_text("utf-8")
        settings = json.loads(text, object_pairs_hook=_unique)
    except (OSError, ValueError, RecursionError) as error:
        raise foreign(path, str(error)) from error
    if not isinstance(settings, dict) or not _is_shaped(settings):
        raise foreign(path, f"its hooks.{_EVENT} is not a list of groups with hooks")
    return text, settings


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys all differ: the others would be lost in writing."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is there twice")
    return found


def _is_shaped(settings: dict[str, Any]) -> bool:
    hooks = settings.get("hooks", {})
    groups = hooks.get(_EVENT, []) if isinstance(hooks, dict) else None
    return isinstance(groups, list) and all(
        isinstance(group, dict)
        and isinstance(group.get("hooks"), list)
        and all(isinstance(hook, dict) for hook in group["hooks"])
        for group in groups
    )


def _ours(settings: dict[str, Any]) -> list[dict[str, Any]]:
    groups = settings.get("hooks", {}).get(_EVENT, [])
    return [hook for group in groups for hook in group["hooks"] if _is_ours(hook)]


def _is_ours(hook: dict[str, Any]) -> bool:
    command = hook.get("command")
    return isinstance(command, str) and "skillgit" in command and bool(_OURS.search(command))


def _without(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings without our hook, and without the containers that held nothing else."""
    if not _ours(settings):
        return settings
    groups = []
    for group in settings["hooks"][_EVENT]:
        kept = [hook for hook in group["hooks"] if not _is_ours(hook)]
        if kept or not group["hooks"]:
            groups.append({**group, "hooks": kept})
    hooks = {name: value for name, value in settings["hooks"].items() if name != _EVENT}
    if groups:
        hooks = {name: groups if name == _EVENT else value for name, value in settings["hooks"].items()}
    rest = {name: value for name, value in settings.items() if name != "hooks"}
    return {name: hooks if name == "hooks" else value for name, value in settings.items()} if hooks else rest
