"""A command-line agent as the target: it works in a folder that holds the skill, and its last words are the answer."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from skillgit.models.base import ModelSpec, Reply, Request, Workspace
from skillgit.models.clients.base import Agent, Call
from skillgit.models.clients.model import CommandModel
from skillgit.models.clients.workspace import fill, instructions
from skillgit.models.retry import Clock, Failure

_LAYOUT = 1
"""Version of the workspace."""


class AgentModel(CommandModel):
    """An agent bound to the target. A request without a workspace is answered as by the client without tools.

    Args:
        environ: what the program's environment is taken from.

    Raises:
        ModelConfigError: the program is not installed.
    """

    def __init__(self, spec: ModelSpec, agent: Agent, environ: Mapping[str, str] | None = None) -> None:
        super().__init__(spec, agent, environ)
        self._agent = agent

    def sandbox(self, *, edits: bool) -> str:
        """See `ExecTarget.sandbox`."""
        return self._agent.sandbox(self._settings, edits)

    def settings(self) -> dict[str, Any]:
        """See `Model.settings`; what the agent is told of its workspace is one of them."""
        kinds = (Workspace("skill", "", {}), Workspace("skill", "", {}, attachments={"file": ""}, writable=True))
        told = [instructions(work, self._agent.skills, again=work.writable) for work in kinds]
        said = hashlib.sha256("\n".join(told).encode()).hexdigest()[:16]
        return {**super().settings(), "workspace": [_LAYOUT, said]}

    def _attempt(self, request: Request, clock: Clock) -> Reply | Failure:
        work = request.workspace
        if work is None:
            return super()._attempt(request, clock)
        found = self._once(partial(self._work, request, work, False), clock)
        if isinstance(found, Failure) and found.empty:
            # Once more with a reminder; what is silent then stays silent, and each try is a whole piece of work.
            found = self._once(partial(self._work, request, work, True), clock)
            return replace(found, retry=found.retry and not found.empty) if isinstance(found, Failure) else found
        return found

    def _work(self, request: Request, work: Workspace, again: bool, folder: Path) -> Call:
        call = self._call(request, folder)
        where = folder / "work"
        work = _with_pictures(work, request)
        fill(where, work, call.whole, self._agent.skills)
        told = instructions(work, self._agent.skills, again=again)
        return replace(call, system="", prompt=told, workspace=where, writable=work.writable)

    def _unseen(self, request: Request) -> bool:
        return request.workspace is None and super()._unseen(request)


def _with_pictures(work: Workspace, request: Request) -> Workspace:
    """The workspace with the pictures of the request among its attachments."""
    pictures = {
        image.name: base64.b64decode(image.uri.partition(",")[2]) for turn in request.messages for image in turn.images
    }
    return replace(work, attachments={**work.attachments, **pictures}) if pictures else work
