"""Small language models on this machine: no key, no network once the file is there."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

from skillgit.errors import ConfigError
from skillgit.models.base import ModelSpec, Reply, Request
from skillgit.models.budget import prices
from skillgit.models.http.client import OpenAICompatible
from skillgit.models.local import catalog
from skillgit.models.local.fetch import resolve, user_file
from skillgit.models.local.server import Server, release, share
from skillgit.models.local.store import Progress, fingerprint
from skillgit.models.retry import Clock

_CONTEXT = 4096


def build(spec: ModelSpec) -> Local:
    """The model of `spec`; nothing is downloaded or loaded yet.

    `spec.options`: `path` (a GGUF file instead of the name), `context` (tokens), `threads` (0 is all cores but one),
    `offline` (never download), `progress` (a callable, told about downloads) and `cache_sampled` (let requests with
    a temperature above 0 use the prompt cache: faster, but their answers then depend on what was asked before).
    """
    return Local(spec)


class Local:
    """A model in an embedded server. The first call (or `prepare`) finds the file and loads it."""

    def __init__(self, spec: ModelSpec) -> None:
        # Greedy unless asked otherwise: the same question then gets the same answer.
        self.spec = replace(spec, temperature=0.0) if spec.temperature is None else spec
        self._path = str(spec.options.get("path") or "") or None
        self._context = _whole(spec, "context", _CONTEXT, least=256)
        self._threads = _whole(spec, "threads", 0, least=0)
        self._cache_sampled = bool(spec.options.get("cache_sampled"))
        prices(spec)
        if user_file(spec.model, self._path) is None:
            catalog.entry(spec.model)
        self._lock = threading.Lock()
        self._running: tuple[Server, OpenAICompatible] | None = None

    def prepare(self, progress: Progress | None = None) -> None:
        """Fetch the file and load the model now, outside of any call's time limit.

        Raises:
            ModelConfigError: the file cannot be had or loaded.
        """
        self._open(progress)

    def complete(self, request: Request, *, timeout: float | None = None) -> Reply:
        """See `Model.complete`. `timeout` covers waiting for other requests, but not the loading of the model."""
        server, model = self._open()
        clock = Clock(self.spec.timeout, timeout)
        with server.turn(clock.left()):
            reply = model.complete(request, timeout=None if timeout is None else clock.left())
        # Known to be free, unless the user counts the machine's time.
        return reply if prices(self.spec) else replace(reply, usage=replace(reply.usage, cost=0.0))

    def settings(self) -> dict[str, Any]:
        """See `Model.settings`; the model file counts by content, not by name."""
        spec = self.spec
        sampling = {"temperature": spec.temperature, "max_tokens": spec.max_tokens, "seed": spec.seed}
        server = {"context": self._context, "cache_sampled": self._cache_sampled, "file": self._identity()}
        return {"backend": spec.backend, **sampling, **server}

    def close(self) -> None:
        """Stop the server unless another model uses it; a later call starts it again."""
        with self._lock:
            running, self._running = self._running, None
        if running is not None:
            running[1].close()
            release(running[0])

    def _open(self, progress: Progress | None = None) -> tuple[Server, OpenAICompatible]:
        with self._lock:
            if self._running is None:
                options = self.spec.options
                told = progress or options.get("progress")
                file = resolve(self.spec.model, self._path, told, bool(options.get("offline")))
                server = share(file, self._context, self._threads)
                spec = replace(self.spec, base_url=server.url, api_key="")
                self._running = server, OpenAICompatible(spec, self._extra)
            return self._running

    def _extra(self, request: Request) -> dict[str, Any]:
        # A prompt read from the cache gives logits that differ in the last bits. At temperature 0 that was never
        # seen to matter, but a sampled answer can tip over, so that one seed would not mean one answer.
        temperature = self.spec.temperature if request.temperature is None else request.temperature
        return {"cache_prompt": not temperature or self._cache_sampled}

    def _identity(self) -> str:
        given = user_file(self.spec.model, self._path)
        if given is None:
            return f"sha256:{catalog.entry(self.spec.model).sha256}"
        return f"ends:{fingerprint(resolve(self.spec.model, self._path))}"


def _whole(spec: ModelSpec, name: str, default: int, *, least: int) -> int:
    value = spec.options.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ConfigError(f"model.local.{name} is {value!r}", fix=f"give a whole number of {least} or more")
    return value
