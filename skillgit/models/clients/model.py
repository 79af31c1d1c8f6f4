"""A command-line agent as a model: one run per attempt, in an empty folder, with an allow-listed environment."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from skillgit.errors import ContextLengthError, ModelConfigError, ModelError, TransientModelError
from skillgit.models.base import ModelSpec, Reply, Request
from skillgit.models.budget import cost_of, prices
from skillgit.models.clients.base import Call, Client, flatten
from skillgit.models.clients.made import changed, listing
from skillgit.models.clients.process import Finished, clean_environment, run_program, scratch
from skillgit.models.prompt import render
from skillgit.models.retry import Clock, Failure, persist
from skillgit.models.throttle import Throttle

_MOST_WORDS = 300
_LOGIN = re.compile(
    r"not logged in|please (run )?/?log ?in|logged out|unauthori[sz]ed|authenticat|invalid (api|x-api)[ -]key"
    r"|no api key|api key (is )?(missing|not|required)|\b401\b|\b403\b|no credentials",
    re.IGNORECASE,
)
_MODEL = re.compile(
    r"model.{0,60}(not (found|supported|available|exist)|does ?n[o']t exist)|unknown model", re.IGNORECASE
)
_SECRET = re.compile("KEY|TOKEN|SECRET|PASSWORD|HEADERS")
_BUSY = re.compile(r"rate[ _-]?limit|too many requests|overloaded|\b429\b", re.IGNORECASE)
_LONG = re.compile(r"context (window|length)|prompt is too long|too many (input )?tokens", re.IGNORECASE)
_OPTION = re.compile(r"unknown option|unexpected argument|unrecognized (option|argument)|invalid value", re.IGNORECASE)


class CommandModel:
    """A client bound to one role.

    Args:
        environ: what the program's environment is taken from.

    Raises:
        ModelConfigError: the program is not installed, or a temperature is set, which it does not take.
    """

    def __init__(self, spec: ModelSpec, client: Client, environ: Mapping[str, str] | None = None) -> None:
        prices(spec)
        self.spec, self._client = spec, client
        self._environ = os.environ if environ is None else environ
        self._settings: Mapping[str, Any] = spec.options.get("client", {})
        self._program = find_program(spec, client, self._environ)
        if spec.temperature is not None:
            raise _config(
                f"{client.program} takes no temperature",
                f"model.{spec.role}_temperature is {spec.temperature:g}",
                f"leave model.{spec.role}_temperature blank for {spec.backend}",
            )
        self._throttle = Throttle()

    def complete(self, request: Request, *, timeout: float | None = None) -> Reply:
        """See `Model.complete`."""
        for wanted, unable in ((request.tools, "offers no tools to"), (self._unseen(request), "shows no pictures of")):
            if wanted:
                raise ModelConfigError(
                    f"{self._client.program} {unable} the tasks of this benchmark",
                    fix=f"use an HTTP backend for the {self.spec.role}",
                )
        clock = Clock(self.spec.timeout, timeout)
        reply = persist(lambda: self._in_turn(request, clock), clock, self.spec.retries)
        return replace(reply, usage=replace(reply.usage, cost=cost_of(self.spec, reply.usage)))

    def settings(self) -> dict[str, Any]:
        """See `Model.settings`."""
        return {"backend": self.spec.backend, "effort": self.spec.options.get("effort"), **self._settings_that_count()}

    def close(self) -> None:
        """Nothing is left running."""

    def _settings_that_count(self) -> dict[str, Any]:
        return {name: value for name, value in self._settings.items() if value and name not in ("path", "home")}

    def _unseen(self, request: Request) -> bool:
        """Whether the request has pictures, which a client without a folder to look into cannot see."""
        return any(turn.images for turn in request.messages)

    def _in_turn(self, request: Request, clock: Clock) -> Reply | Failure:
        late = partial(self._transient, "was not asked: it is busy, and no time is left", retry=False)
        return self._throttle.run(clock.left(), partial(self._attempt, request, clock), late)

    def _attempt(self, request: Request, clock: Clock) -> Reply | Failure:
        return self._once(partial(self._call, request), clock)

    def _once(self, make: Callable[[Path], Call], clock: Clock) -> Reply | Failure:
        """One run of the program for the call that `make` makes in an empty folder."""
        seconds = clock.attempt()
        if seconds <= 0:
            return self._transient("was not asked: no time left")
        with scratch() as folder:
            try:
                call = make(folder)
                since = listing(call.workspace) if call.writable and call.workspace else {}
                done = self._run(call, seconds)
            except TimeoutError:
                return self._transient(f"gave no answer within {seconds:.0f} s and was ended", retry=False)
            except OSError as error:
                return Failure(self._broken(str(error)))
            found = self._client.read(done, call)
            made = changed(call.workspace, since) if call.writable and call.workspace else {}
        if isinstance(found, Reply):
            text, thoughts = self._blotted(found.text), self._blotted(found.reasoning)
            return replace(found, text=text, reasoning=thoughts, files=made)
        return self._failure(found, done)

    def _call(self, request: Request, folder: Path) -> Call:
        system, prompt = flatten(request.messages)
        if request.schema is not None and not self._client.enforces_schema:
            prompt = render("json_reply", prompt=prompt, schema=_compact(request.schema))[0].content
        effort = request.effort or str(self.spec.options.get("effort") or "")
        model = "" if self.spec.model == self.spec.backend else self.spec.model
        environ = clean_environment(self._environ, self._client.variables)
        return Call(system, prompt, folder, model, request.schema, effort, self._settings, environ)

    def _run(self, call: Call, seconds: float) -> Finished:
        environ = {**call.environ, **self._client.environment(call)}
        argv = [self._program, *self._client.arguments(call)]
        return run_program(argv, folder=call.where, stdin=self._client.stdin(call), environ=environ, seconds=seconds)

    def _failure(self, said: str, done: Finished) -> Failure:
        """The failure that the program's words stand for."""
        words = self._clean(said)
        name, role, busy = self._client.program, self.spec.role, bool(_BUSY.search(said))
        if _LOGIN.search(said):
            return Failure(_config(f"{name} is not logged in", words, f"run {name} once by hand and log in"))
        if _MODEL.search(said):
            return Failure(_config(f"{name} does not know the model", words, f"check model.{role}"))
        if done.code and _OPTION.search(said):
            return Failure(_config(f"{name} does not know an option", words, f"update {name}"))
        if _LONG.search(said):
            return Failure(
                ContextLengthError(f"the request does not fit the context of {name}", why=words, fix="shorten it")
            )
        if done.code:
            return replace(self._transient(f"ended with exit code {done.code}", words), busy=busy)
        return replace(self._transient("sent an empty reply", words), empty=not said, busy=busy)

    def _transient(self, what: str, why: str = "", *, retry: bool = True) -> Failure:
        fix = "try it by hand, then run the same command again: finished work is kept"
        return Failure(TransientModelError(f"{self._client.program} {what}", why=why, fix=fix), retry)

    def _broken(self, why: str) -> ModelError:
        return _config(f"{self._client.program} cannot be run", why, f"check model.{self.spec.role}_backend")

    def _clean(self, text: str) -> str:
        """Words of a program on one line, without any value of its secret variables."""
        line = " ".join(self._blotted(text).split())
        return line if len(line) <= _MOST_WORDS else f"{line[:_MOST_WORDS]}…"

    def _blotted(self, text: str) -> str:
        for name, value in self._environ.items():
            if len(value) > 7 and name.startswith(self._client.variables) and _SECRET.search(name):
                text = text.replace(value, f"[{name}]")
        return text


def find_program(spec: ModelSpec, client: Client, environ: Mapping[str, str]) -> str:
    """Full path of a client's program: the configured one, the one a variable of its names, else the one on PATH.

    Raises:
        ModelConfigError: it is not there.
    """
    named = next((path for name in client.path_variables if (path := environ.get(name))), "")
    wanted = str(spec.options.get("client", {}).get("path") or named or client.program)
    found = shutil.which(wanted, path=environ.get("PATH"))
    if found is None:
        raise _config(
            f"{wanted} was not found", f"the {spec.role} is {spec.backend}", f"install it, or put it on PATH: {wanted}"
        )
    return found


def _compact(schema: Mapping[str, Any]) -> str:
    import json

    return json.dumps(dict(schema), ensure_ascii=False)


def _config(what: str, why: str, fix: str) -> ModelConfigError:
    return ModelConfigError(what, why=why, fix=fix)
