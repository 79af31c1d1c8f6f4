"""One model behind a server that speaks OpenAI's Chat Completions (or, where a model needs it, Responses).

The SDK is imported when the first call is made, so that commands without a model start fast.
"""

from __future__ import annotations

import importlib
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from skillgit.errors import ConfigError
from skillgit.models.base import ModelSpec, Reply, Request
from skillgit.models.budget import cost_of, prices
from skillgit.models.http import azure, responses, wire
from skillgit.models.http.failures import Endpoint, endpoint, from_status, is_loopback, transient
from skillgit.models.http.families import OPENAI_URL, is_openai
from skillgit.models.retry import Clock, Failure, persist
from skillgit.models.throttle import Throttle

if TYPE_CHECKING:
    import openai

_NO_KEY = "none"  # the SDK wants a key, servers without one ignore it


class OpenAICompatible:
    """One model behind one Chat Completions endpoint.

    Args:
        extra: fields beyond the API that a request needs on this server.

    Raises:
        ModelConfigError: the address, model name or key cannot work.
        ConfigError: timeout, retries or prices cannot be used.
    """

    def __init__(self, spec: ModelSpec, extra: Callable[[Request], Mapping[str, Any]] | None = None) -> None:
        _check(spec)
        self.spec = spec
        self._extra = extra
        self._place = endpoint(spec, OPENAI_URL)
        self._responses = spec.backend == "openai_chat" and responses.needed(spec.model)
        self._habits = wire.Habits(limit="max_completion_tokens" if spec.backend == "openai_chat" else "max_tokens")
        self._throttle = Throttle()
        self._client: openai.OpenAI | None = None
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"OpenAICompatible({self._place.name})"

    def complete(self, request: Request, *, timeout: float | None = None) -> Reply:
        """See `Model.complete`."""
        clock = Clock(self.spec.timeout, timeout)
        reply = persist(lambda: self._in_turn(request, clock), clock, self.spec.retries)
        text, thought = self._place.blotted(reply.text), self._place.blotted(reply.reasoning)
        usage = replace(reply.usage, cost=cost_of(self.spec, reply.usage))
        return replace(reply, text=text, reasoning=thought, usage=usage)

    def settings(self) -> dict[str, Any]:
        """See `Model.settings`."""
        spec = self.spec
        sampling = {"temperature": spec.temperature, "max_tokens": spec.max_tokens, "seed": spec.seed}
        options = {name: spec.options[name] for name in ("effort", "thinking", "cap") if name in spec.options}
        return {"backend": spec.backend, **sampling, **options}

    def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _in_turn(self, request: Request, clock: Clock) -> Reply | Failure:
        late = partial(transient, self._place, "was not asked: it is busy, and no time is left", retry=False)
        return self._throttle.run(clock.left(), partial(self._attempt, request, clock), late)

    def _attempt(self, request: Request, clock: Clock) -> Reply | Failure:
        """One attempt. Leaving out a field the server does not know is part of it, not another one."""
        habits = self._habits
        while True:
            sent = (responses if self._responses else wire).body(request, self.spec, habits)
            if self._extra is not None and not self._responses:
                sent["extra_body"] = dict(self._extra(request))
            outcome = self._post(sent, clock.attempt())
            weaker = habits.without(outcome.rejects, sent) if isinstance(outcome, Failure) else None
            if weaker is None:
                self._learn(habits, outcome)
                return outcome
            habits = weaker

    def _learn(self, habits: wire.Habits, outcome: Reply | Failure) -> None:
        # Only habits that got the request accepted are kept: a rejection may have had another cause.
        if isinstance(outcome, Reply) or outcome.retry:
            with self._lock:
                self._habits = self._habits.join(habits)

    def _post(self, sent: dict[str, Any], seconds: float) -> Reply | Failure:
        import openai

        if seconds <= 0:
            return transient(self._place, "was not asked: no time left", fix="raise the time limit", retry=False)
        broken, late = _transport_errors()
        try:
            client = self._open()
            if self._responses:
                return responses.read(_exchange(client.responses, sent, seconds), self._place)
            return wire.read(_exchange(client.chat.completions, sent, seconds), self._place)
        except openai.APIStatusError as err:
            return from_status(self._place, err.status_code, err.body, err.response.headers)
        except (openai.APITimeoutError, late, _LateError):
            fix = "raise model.timeout or the time limit, or use a faster model; finished work is kept"
            return transient(self._place, "did not answer in time", f"no reply within {seconds:.1f} s", fix)
        except openai.APIConnectionError as err:
            return transient(self._place, "cannot be reached", str(err.__cause__ or err))
        except broken as err:
            return transient(self._place, "broke off its reply", str(err))

    def _open(self) -> openai.OpenAI:
        with self._lock:
            if self._client is None:
                self._client = self._connect()
            return self._client

    def _connect(self) -> openai.OpenAI:
        import openai

        # A proxy set for the outside world must not catch calls to this machine, and another server must not get what
        # this one was asked.
        http = openai.DefaultHttpxClient(trust_env=not is_loopback(self._place.url), follow_redirects=False)
        if resource := self.spec.options.get("azure"):
            return _as_told(azure.connect(self._place, resource, http), self._place)
        client = openai.OpenAI(
            base_url=self._place.url,
            api_key=self._place.key or _NO_KEY,
            default_query=dict(self._place.query),
            max_retries=0,  # see retry.py
            http_client=http,
        )
        return _as_told(client, self._place)


def _as_told(client: openai.OpenAI, place: Endpoint) -> openai.OpenAI:
    """The client without what the SDK takes from the environment on its own, whatever server it is for.

    `OPENAI_CUSTOM_HEADERS` can hold a key, even in place of ours; organization and project are OpenAI's own affair.
    """
    client._custom_headers = {}  # it has no other way
    if not is_openai(place.url):
        client.organization = client.project = None
    return client


class _LateError(Exception):
    """The body did not end within the attempt's time."""


def _check(spec: ModelSpec) -> None:
    if spec.retries < 0:
        raise ConfigError(f"model.retries is {spec.retries}", fix="set model.retries=0 or more")
    if not spec.timeout > 0:
        raise ConfigError(f"model.timeout is {spec.timeout}", fix="set model.timeout to seconds above 0")
    prices(spec)


def _exchange(resource: Any, sent: dict[str, Any], seconds: float) -> bytes:
    """The whole response body, within `seconds` even when it comes in drops.

    The timeout of a socket starts anew with every byte, and gateways send blanks to keep a waiting client, so the
    body is read piece by piece against a clock of its own.
    """
    end = time.monotonic() + seconds
    pieces = []
    with resource.with_streaming_response.create(**sent, timeout=seconds) as response:
        for piece in response.iter_bytes():
            pieces.append(piece)
            if time.monotonic() > end:
                raise _LateError
    return b"".join(pieces)


def _transport_errors() -> tuple[type[Exception], type[Exception]]:
    """(any error, timeout) of the HTTP library below the SDK, which is not the same in all of its majors."""
    import openai

    name = openai.DefaultHttpxClient.__mro__[1].__module__.partition(".")[0]
    library = importlib.import_module(name)
    return library.HTTPError, library.TimeoutException
