"""A person who answers handed-off prompts by a script, reading nothing but the prompt files."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from skillgit.models.base import Message, ModelSpec, Request
from skillgit.models.scripted import Replies, load

_TURN = re.compile(r"^## (system|user|assistant)\n\n(`{3,})text\n(.*?)\n\2$", re.DOTALL | re.MULTILINE)


def turns(prompt: str) -> tuple[Message, ...]:
    """The conversation in a prompt file."""
    return tuple(Message(role, text) for role, _, text in _TURN.findall(prompt))


class Person:
    """Answers as `script` says, and counts what was asked."""

    def __init__(self, script: Path) -> None:
        self._script = load(script)
        self.asked = Counter[str]()

    def answer(self, pending: dict[str, Any]) -> None:
        """Write one answer."""
        prompt = Path(pending["prompt"])
        self.asked[prompt.name] += 1
        replies = Replies(self._script, ModelSpec(pending["role"], "scripted", "scripted"))
        text = replies(Request(turns(prompt.read_text())))
        Path(pending["answer"]).write_text(f"{text}\n")

    def round(self, out: str) -> int:
        """Answer all that a command with `--json` asked for; how much that was."""
        pending = json.loads(out.splitlines()[-1])["pending"]
        for each in pending:
            self.answer(each)
        return len(pending)
