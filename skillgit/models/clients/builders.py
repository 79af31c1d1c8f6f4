"""The command-line agents as backends."""

from __future__ import annotations

from skillgit.errors import ModelConfigError
from skillgit.models.base import ModelSpec
from skillgit.models.clients.agent import AgentModel
from skillgit.models.clients.base import Agent
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
    """Codex: likewise as the optimizer, and at work in a folder as the target."""
    return AgentModel(spec, Codex()) if spec.role == "target" else CommandModel(spec, Codex())


def claude_code_exec(spec: ModelSpec) -> AgentModel:
    """Claude Code at work in a folder."""
    return _at_work(spec, Claude(), "claude_chat")


def copilot_exec(spec: ModelSpec) -> AgentModel:
    """GitHub Copilot at work in a folder."""
    return _at_work(spec, Copilot(), "copilot_chat")


def cursor_exec(spec: ModelSpec) -> AgentModel:
    """Cursor at work in a folder."""
    return _at_work(spec, Cursor(), "cursor_chat")


def _at_work(spec: ModelSpec, agent: Agent, talking: str) -> AgentModel:
    if spec.role != "target":
        raise ModelConfigError(f"{spec.backend} is only a target", fix=f"set model.{spec.role}_backend={talking}")
    return AgentModel(spec, agent)


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
