"""The command-line agents as backends."""

from __future__ import annotations

from skillgit.models.base import ModelSpec
from skillgit.models.clients.claude import Claude
from skillgit.models.clients.codex import Codex
from skillgit.models.clients.copilot import Copilot
from skillgit.models.clients.cursor import Cursor
from skillgit.models.clients.model import CommandModel
from skillgit.models.clients.opencode import OpenCode
from skillgit.models.clients.pi import Pi


def claude_chat(spec: ModelSpec) -> CommandModel:
    """Claude Code, asked once and without tools."""
    return CommandModel(spec, Claude())


def codex_exec(spec: ModelSpec) -> CommandModel:
    """Codex, likewise."""
    return CommandModel(spec, Codex())


def copilot_chat(spec: ModelSpec) -> CommandModel:
    """GitHub Copilot, likewise."""
    return CommandModel(spec, Copilot())


def cursor_chat(spec: ModelSpec) -> CommandModel:
    """Cursor, likewise."""
    return CommandModel(spec, Cursor())


def opencode(spec: ModelSpec) -> CommandModel:
    """OpenCode, likewise."""
    return CommandModel(spec, OpenCode())


def pi(spec: ModelSpec) -> CommandModel:
    """Pi, likewise."""
    return CommandModel(spec, Pi())
