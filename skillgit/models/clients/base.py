"""What a command-line agent looks like from here: one prompt in, one answer out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from skillgit.models.base import Message, Reply
from skillgit.models.clients.process import Finished
from skillgit.models.prompt import render


@dataclass(frozen=True)
class Call:
    """One question to a command-line agent.

    Attributes:
        system, prompt: the standing instructions and what is asked.
        folder: an empty folder for the files of this call; the program runs in it, unless there is a workspace.
        model: its own name for the model; blank takes its default.
        schema: of the answer, when it must be JSON.
        effort: how much to think; blank takes its default.
        settings: the client's section of the configuration.
        environ: what the program is given of our environment.
        workspace: the folder that an agent works in, when it is asked to work and not only to talk.
        writable: the agent is to change files there.
    """

    system: str
    prompt: str
    folder: Path
    model: str = ""
    schema: Mapping[str, Any] | None = None
    effort: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    workspace: Path | None = None
    writable: bool = False

    @property
    def where(self) -> Path:
        """The folder that the program runs in."""
        return self.workspace or self.folder

    @property
    def whole(self) -> str:
        """Instructions and question as one text, for programs that take one."""
        return f"{self.system}\n\n---\n\n{self.prompt}" if self.system else self.prompt


class Client(Protocol):
    """One command-line agent; without a workspace in its call, it is a model without tools."""

    program: str
    """Name of its executable."""

    path_variables: tuple[str, ...]
    """Environment variables that say where it is, when the configuration does not."""

    variables: tuple[str, ...]
    """Prefixes of the environment variables that are its own: logins, addresses."""

    enforces_schema: bool
    """Whether it makes its answer follow a JSON schema; others are asked in words."""

    def arguments(self, call: Call) -> list[str]:
        """Arguments after the program's name. Files may be written into `call.folder`."""
        ...

    def stdin(self, call: Call) -> str:
        """What it reads."""
        ...

    def environment(self, call: Call) -> dict[str, str]:
        """Variables that it is given besides."""
        ...

    def read(self, done: Finished, call: Call) -> Reply | str:
        """The answer of a run, whatever its exit code, or why there is none."""
        ...


class Agent(Client, Protocol):
    """A client that can also work in a folder."""

    skills: tuple[str, ...]
    """Folders of the workspace where it looks for skills; the first is named in the prompt."""

    def sandbox(self, settings: Mapping[str, Any], edits: bool) -> str:
        """See `ExecTarget.sandbox`."""
        ...


BYPASSED = "permissions bypassed"
"""How a record says that nothing but the agent itself kept it from doing harm."""


def flatten(messages: Sequence[Message]) -> tuple[str, str]:
    """System text and one prompt; a longer conversation is written out turn by turn."""
    system = "\n\n".join(m.content for m in messages if m.role == "system")
    turns = [m for m in messages if m.role != "system"]
    if len(turns) == 1:
        return system, turns[0].content
    told = "\n\n".join(f"## {m.role}\n\n{m.content}" for m in turns)
    return system, render("conversation", turns=told)[0].content


def json_lines(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects among the lines of a text."""
    # Not `splitlines`: a JSON text may hold U+2028 and the like as they are.
    for line in text.split("\n"):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield value
