"""What an agent may give a tool: short texts that are no options, and paths inside the repository."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from skillgit.git.objects import inside

# Commands get these behind `--`; that none looks like an option is a second lock on the same door.
_WORD = r"^[^-\x00-\x1f\x7f][^\x00-\x1f\x7f]*$"
_MAYBE = r"^([^-\x00-\x1f\x7f][^\x00-\x1f\x7f]*)?$"
_LONGEST = 300

Skill = Annotated[
    str, Field(pattern=_WORD, max_length=_LONGEST, description="Name of a skill, or its path in the repository.")
]
AnySkill = Annotated[
    str,
    Field(pattern=_MAYBE, max_length=_LONGEST, description="Name of a skill, or its path; blank: whichever it is."),
]
Revision = Annotated[
    str, Field(pattern=_WORD, max_length=_LONGEST, description="A revision as git takes them: a branch, tag or commit.")
]
Proposal = Annotated[
    str,
    Field(
        pattern=_WORD,
        max_length=_LONGEST,
        description="A proposal: its branch (sleep/SKILL/NIGHT), SKILL/NIGHT, or SKILL for its newest open one.",
    ),
]
Where = Annotated[str, Field(pattern=_WORD, max_length=1_000, description="A path inside the repository.")]
Paths = Annotated[
    tuple[Where, ...],
    Field(max_length=50, description="Skill folders, or folders with skills below; none: the whole repository."),
]
Limit = Annotated[int, Field(ge=1, le=200, description="The most versions to list.")]
Calls = Annotated[int, Field(ge=1, le=2_000, description="The most model calls the night may make.")]


def contained(folder: Path, top: Path, path: str) -> str:
    """A path given by an agent, as seen from `folder`, with symbolic links followed.

    Args:
        folder: the resolved folder that the server works in.
        top: the resolved top of its repository.

    Raises:
        ToolError: it leads out of the repository, or into git's own folder.
    """
    found = (folder / path).resolve()
    if found != top and not (found.is_relative_to(top) and inside(found.relative_to(top).as_posix())):
        raise ToolError(f"{path!r} is outside the repository")
    return os.path.relpath(found, folder)
