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
        folder: an empty folder that the program runs in.
        model: its own name for the model; blank takes its default.
        schema: of the answer, when it must be JSON.
        effort: how much to think; blank takes its default.
        settings: the client's section of the configuration.
    """

    system: str
    prompt: str
    folder: Path
    model: str = ""
    schema: Mapping[str, Any] | None = None
    effort: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def whole(self) -> str:
        """Instructions and question as one text, for programs that take one."""
        return f"{self.system}\n\n---\n\n{self.prompt}" if self.system else self.prompt


class Client(Protocol):
    """One command-line agent, used as a model without tools."""

    program: str
    """Name of its executable."""

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
    for line in text.splitlines():
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield value
