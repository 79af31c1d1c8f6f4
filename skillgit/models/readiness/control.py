"""Positive controls: tiny questions with a known answer, which show that a role's model works before a run is paid."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from skillgit.errors import SkillgitError
from skillgit.models.base import Model, Preparable, Request, Role, Usage
from skillgit.models.prompt import render
from skillgit.models.readiness.backends import Readiness
from skillgit.models.readiness.needs import Need
from skillgit.models.structured import checked_json

_KNOWN = "paris"
"""The answer to both questions, in small letters."""

_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
_SECONDS = 120.0
_WITHOUT_MODEL = {"person": "a person answers", "script": "a script answers"}


@dataclass(frozen=True)
class Control:
    """What the calls of one role showed.

    Attributes:
        ok: the answer was the known one; `None` when nothing was asked.
        said: what is wrong, or why nothing was asked; blank when all is well.
        latency: seconds of the first call.
        schema: whether an answer followed a JSON schema; `None` when that was not asked.
        usage: tokens and dollars of the first call.
        calls: calls that were made.
        program: program and login behind it, when it is a command-line agent.
    """

    role: Role
    backend: str
    model: str = ""
    address: str = ""
    ok: bool | None = None
    said: str = ""
    fix: str = ""
    latency: float | None = None
    schema: bool | None = None
    schema_said: str = ""
    usage: Usage | None = None
    calls: int = 0
    program: tuple[Need, ...] = ()

    @property
    def used(self) -> str:
        """What the first call reported to have used, in words."""
        usage = self.usage or Usage()
        if usage.prompt_tokens is None and usage.completion_tokens is None:
            return "it reports no tokens"
        counts = [("?" if n is None else str(n)) for n in (usage.prompt_tokens, usage.completion_tokens)]
        cost = "" if usage.cost is None else f", ${usage.cost:.4f}"
        return f"{counts[0]} + {counts[1]} tokens{cost}"


def control(role: Role, ready: Readiness, make: Callable[[], Model]) -> Control:
    """Ask one role's model twice: for a word that everybody knows, and for the same as JSON.

    Args:
        ready: what its backend needs; nothing is asked when something is missing.
        make: makes the model.
    """
    program = ready.needs if ready.kind == "program" else ()
    nothing = Control(role, ready.backend, program=program)
    missing = next((need for need in ready.needs if need.ok is False), None)
    if missing is not None:
        return replace(nothing, ok=False, said=f"{missing.name}: {missing.detail}", fix=missing.fix)
    if without := _WITHOUT_MODEL.get(ready.kind):
        return replace(nothing, said=f"{without}: nothing was asked")
    if absent := next((need for need in ready.needs if need.name == "file" and need.ok is None), None):
        return replace(nothing, said=f"{absent.detail}: nothing was asked")
    try:
        model = make()
    except SkillgitError as error:
        return replace(nothing, ok=False, said=_words(error), fix=error.fix)
    try:
        return _asked(replace(nothing, ok=True, model=model.spec.model, address=model.spec.base_url), model)
    finally:
        model.close()


def _asked(found: Control, model: Model) -> Control:
    try:
        if isinstance(model, Preparable):
            model.prepare()
        started = time.monotonic()
        reply = model.complete(Request(render("control")), timeout=_SECONDS)
    except SkillgitError as error:
        return replace(found, ok=False, said=_words(error), fix=error.fix, calls=1)
    found = replace(found, latency=round(time.monotonic() - started, 3), usage=reply.usage, calls=1)
    if _KNOWN not in reply.text.lower():
        fix = f"check that model.{found.role} is the model you mean: it does not know what everybody knows"
        return replace(found, ok=False, said=f"asked for the capital of France, it said: {_short(reply.text)}", fix=fix)
    return _asked_for_json(found, model)


def _asked_for_json(found: Control, model: Model) -> Control:
    try:
        reply = model.complete(Request(render("control_json"), schema=_SCHEMA), timeout=_SECONDS)
    except SkillgitError as error:
        return replace(found, schema=False, schema_said=_words(error), calls=2)
    _, problem = checked_json(reply.text, _SCHEMA)
    said = f"it {problem}: {_short(reply.text)}" if problem else ""
    return replace(found, schema=not problem, schema_said=said, calls=2)


def _words(error: SkillgitError) -> str:
    return f"{error.what} ({error.why})" if error.why else error.what


def _short(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= 80 else f"{line[:80]}…")
