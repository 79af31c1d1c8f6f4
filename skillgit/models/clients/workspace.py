"""The folder that an agent works in: the skill as a skill folder, the task, and its attachments."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

from skillgit.errors import ModelConfigError
from skillgit.models.base import Workspace
from skillgit.models.prompt import render

_ODD = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST = 80
TASK, ATTACHMENTS = "task.md", "ATTACHMENTS.md"


def fill(folder: Path, work: Workspace, task: str, skills: tuple[str, ...]) -> None:
    """Write a workspace into `folder`, which must not exist yet.

    Args:
        task: what is asked.
        skills: the folders that hold skills.

    Raises:
        ModelConfigError: a file of the skill would be outside its folder.
    """
    folder.mkdir()
    for place in skills:
        for name, data in work.files.items():
            written = _write(folder / place / plain(work.skill), name, data)
            written.chmod(0o755 if name in work.executables else 0o644)
    (folder / TASK).write_text(task, encoding="utf-8")
    if work.attachments:
        names = {f"attachments/{n:02d}_{plain(name)}": name for n, name in enumerate(work.attachments, 1)}
        for path, name in names.items():
            content = work.attachments[name]
            _write(folder, path, content if isinstance(content, bytes) else content.encode("utf-8", "replace"))
        listed = "\n".join(f"- `{path}`: {' '.join(name.split())}" for path, name in names.items())
        (folder / ATTACHMENTS).write_text(render("attachments", files=listed)[0].content + "\n", encoding="utf-8")


def instructions(work: Workspace, skills: tuple[str, ...], *, again: bool) -> str:
    """What the agent is told of a workspace.

    Args:
        again: it was told before, and gave no answer.
    """
    parts = [render("workspace", skill=f"{skills[0]}/{plain(work.skill)}/SKILL.md")[0].content]
    parts += [render("workspace_attachments")[0].content] if work.attachments else []
    parts += [render("workspace_edits" if work.writable else "workspace_no_edits")[0].content]
    parts += [render("workspace_again")[0].content] if again else []
    return "\n\n".join(parts)


def plain(name: str) -> str:
    """A name as that of one file: without folders, and of few kinds of characters."""
    kept = _ODD.sub("_", PurePosixPath(name.replace("\\", "/")).name).lstrip(".")
    return kept[-_LONGEST:] or "file"


def _write(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    # Nothing here is a link yet: what stays inside by its name stays inside.
    if not path.resolve().is_relative_to(folder.resolve()):
        raise ModelConfigError(f"{name!r} is no path inside a skill", fix="take it out of the skill")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path
