"""Prompts: Markdown files in `skillgit/prompts`, one chat turn per role marker, `$name` placeholders.

<!-- system -->
You improve skills.
<!-- user -->
$skill
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from string import Template

from skillgit.models.base import Message

_MARKER = re.compile(r"^<!-- (system|user|assistant) -->\n", re.MULTILINE)


def render(name: str, **values: str) -> tuple[Message, ...]:
    """The turns of prompt `name` with every placeholder filled.

    A placeholder without a value raises `KeyError`: a prompt and its caller must agree. Values are inserted as
    they are and never expanded again, so text from tasks or models cannot reach other placeholders.
    """
    return tuple(Message(role, Template(body).substitute(values)) for role, body in _turns(name))


def text(name: str) -> str:
    """The one turn of a prompt that is a part of others, without placeholders."""
    ((_, body),) = _turns(name)
    return body


@cache
def _turns(name: str) -> tuple[tuple[str, str], ...]:
    source = files("skillgit").joinpath("prompts", f"{name}.md").read_text(encoding="utf-8")
    parts = _MARKER.split(source)
    if parts[0].strip() or len(parts) < 3:
        raise ValueError(f"prompt {name}.md must begin with a role marker")
    return tuple((role, body.strip("\n")) for role, body in zip(parts[1::2], parts[2::2], strict=True))
