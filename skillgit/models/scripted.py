"""A deterministic model: replies come from a script file or a Python function.

It needs no network and no weights: for tests, examples, and trying out a training loop before paying for one.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skillgit.errors import ConfigError, ModelConfigError, TransientModelError
from skillgit.models.base import ModelSpec, Reply, Request, Usage
from skillgit.models.budget import cost_of, prices

Respond = Callable[[Request], Reply | str]

_TOP_KEYS = {"latency", "flip", "rules", "default"}
_RULE_KEYS = {"role", "system", "user", "unless", "reply", "replies"}
_FLAGS = re.DOTALL | re.MULTILINE


def build(spec: ModelSpec) -> Scripted:
    """The model whose script file `spec.options["script"]` names.

    Raises:
        ConfigError: no script, or one that cannot be used; the message names file and rule.
    """
    path = spec.options.get("script")
    if not path:
        raise ConfigError("the scripted backend has no script", fix="set model.script to a JSON file with rules")
    script = load(Path(path))
    return Scripted(spec, Replies(script, spec), latency=script.latency, identity=script.digest)


class Scripted:
    """A model that answers with what `respond` returns.

    Args:
        respond: called from many threads at once; a plain string gets an estimated usage of four characters a token.
        latency: seconds each call takes.
        identity: says which answers these are, for `settings`.
    """

    def __init__(self, spec: ModelSpec, respond: Respond, *, latency: float = 0.0, identity: str = "") -> None:
        prices(spec)
        self.spec = spec
        self._respond, self._latency, self._identity = respond, latency, identity

    def complete(self, request: Request, *, timeout: float | None = None) -> Reply:
        """See `Model.complete`."""
        self._wait(self.spec.timeout if timeout is None else timeout)
        answer = self._respond(request)
        reply = answer if isinstance(answer, Reply) else Reply(answer, _estimate(request, answer))
        if not reply.text.strip() and not reply.tool_calls:
            raise TransientModelError("the scripted model sent an empty reply", fix="look at its script")
        return replace(reply, usage=replace(reply.usage, cost=cost_of(self.spec, reply.usage)))

    def settings(self) -> dict[str, Any]:
        """See `Model.settings`."""
        spec = self.spec
        sampling = {"temperature": spec.temperature, "max_tokens": spec.max_tokens, "seed": spec.seed}
        return {"backend": spec.backend, **sampling, "script": self._identity}

    def close(self) -> None:
        """Nothing to release."""

    def _wait(self, seconds: float) -> None:
        time.sleep(max(0.0, min(self._latency, seconds)))
        if self._latency > seconds:
            raise TransientModelError(
                "the scripted model did not answer in time", why=f"its latency is {self._latency} s"
            )


def _estimate(request: Request, text: str) -> Usage:
    prompt = sum(len(message.content) for message in request.messages)
    return Usage(prompt_tokens=math.ceil(prompt / 4), completion_tokens=math.ceil(len(text) / 4))


@dataclass(frozen=True)
class Rule:
    """One rule of a script; a pattern that is `None` is always found (`unless`: never)."""

    role: str | None
    system: re.Pattern[str] | None
    user: re.Pattern[str] | None
    unless: re.Pattern[str] | None
    replies: tuple[Any, ...]

    def answer(self, request: Request, spec: ModelSpec) -> str | None:
        """This rule's reply, or `None` when it does not apply."""
        if self.role not in (None, spec.role):
            return None
        turns = request.messages
        system = "\n".join(turn.content for turn in turns if turn.role == "system")
        user = next((turn.content for turn in reversed(turns) if turn.role == "user"), "")
        if self.system is not None and not self.system.search(system):
            return None
        if self.unless is not None and any(self.unless.search(turn.content) for turn in turns):
            return None
        found = (self.user or _ANYTHING).search(user)
        return None if found is None else self._fill(found, _seed(request, spec))

    def _fill(self, found: re.Match[str], seed: int) -> str:
        reply = self.replies[seed % len(self.replies)]
        return found.expand(reply) if isinstance(reply, str) else _dump(reply)


_ANYTHING = re.compile("")


@dataclass(frozen=True)
class Script:
    """A checked script file."""

    path: str
    rules: tuple[Rule, ...]
    default: str | None
    flip: float
    latency: float
    digest: str


class Replies:
    """The answers of one script for one model."""

    def __init__(self, script: Script, spec: ModelSpec) -> None:
        self._script, self._spec = script, spec

    def __call__(self, request: Request) -> str:
        default = self._script.default
        if default is not None and self._flips(request):
            return default
        answers = (rule.answer(request, self._spec) for rule in self._script.rules)
        answer = next((text for text in answers if text is not None), default)
        if answer is None:
            last = request.messages[-1].content[:200] if request.messages else ""
            raise ModelConfigError(
                f"no rule answers the {self._spec.role}'s request: {last!r}",
                where=self._script.path,
                fix='add a rule, or a "default"',
            )
        return answer

    def _flips(self, request: Request) -> bool:
        """Chance without a generator: the same messages and seed always fall the same way, in any order of calls."""
        turns = [[turn.role, turn.content] for turn in request.messages]
        drawn = hashlib.sha256(_dump([_seed(request, self._spec), turns]).encode("utf-8", "replace")).digest()
        return int.from_bytes(drawn[:8], "big") / 2**64 < self._script.flip


def _seed(request: Request, spec: ModelSpec) -> int:
    return (request.seed if request.seed is not None else spec.seed) or 0


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def load(path: Path) -> Script:
    """Read and check a script file.

    Raises:
        ConfigError: unreadable file, unknown key, pattern or template that cannot be used.
    """
    try:
        raw = path.read_bytes()
        data = json.loads(raw)
    except OSError as err:
        raise ConfigError("the script cannot be read", where=str(path), why=str(err.strerror)) from err
    except ValueError as err:
        raise ConfigError("the script is not JSON", where=str(path), why=str(err)) from err
    return _script(str(path), data, hashlib.sha256(raw).hexdigest())


def _script(path: str, data: Any, digest: str) -> Script:
    top = _object(path, "the script", data, _TOP_KEYS)
    rules = top.get("rules", [])
    if not isinstance(rules, list):
        raise ConfigError("rules must be a list", where=path)
    default = top.get("default")
    flip = _number(path, "flip", top.get("flip", 0.0), 1.0)
    if flip and default is None:
        raise ConfigError('"flip" needs a "default" to answer with', where=path)
    return Script(
        path=path,
        rules=tuple(_rule(path, index, rule) for index, rule in enumerate(rules)),
        default=default if default is None or isinstance(default, str) else _dump(default),
        flip=flip,
        latency=_number(path, "latency", top.get("latency", 0.0), math.inf),
        digest=digest,
    )


def _rule(path: str, index: int, data: Any) -> Rule:
    name = f"rule {index}"
    rule = _object(path, name, data, _RULE_KEYS)
    role = rule.get("role")
    if role not in (None, "target", "optimizer"):
        raise ConfigError(f"{name}: role is {role!r}", where=path, fix="use target or optimizer, or leave it out")
    patterns = {key: _pattern(path, f"{name}: {key}", rule.get(key)) for key in ("system", "user", "unless")}
    replies = _replies(path, name, rule)
    for reply in replies:
        _check_template(path, name, patterns["user"] or _ANYTHING, reply)
    return Rule(role, patterns["system"], patterns["user"], patterns["unless"], replies)


def _replies(path: str, name: str, rule: Mapping[str, Any]) -> tuple[Any, ...]:
    if ("reply" in rule) == ("replies" in rule):
        raise ConfigError(f'{name}: give either "reply" or "replies"', where=path)
    if "reply" in rule:
        return (rule["reply"],)
    replies = rule["replies"]
    if not isinstance(replies, list) or not replies:
        raise ConfigError(f'{name}: "replies" must be a list with at least one reply', where=path)
    return tuple(replies)


def _check_template(path: str, name: str, user: re.Pattern[str], reply: Any) -> None:
    if not isinstance(reply, str):
        return
    try:
        user.sub(reply, "")  # compiles the template, whether or not anything matches
    except (re.error, IndexError) as err:
        raise ConfigError(f"{name}: the reply does not fit its user pattern", where=path, why=str(err)) from err


def _pattern(path: str, name: str, text: Any) -> re.Pattern[str] | None:
    if text is None:
        return None
    if not isinstance(text, str):
        raise ConfigError(f"{name} must be a regular expression", where=path)
    try:
        return re.compile(text, _FLAGS)
    except re.error as err:
        raise ConfigError(f"{name} is not a regular expression", where=path, why=str(err)) from err


def _object(path: str, name: str, data: Any, known: set[str]) -> Mapping[str, Any]:
    if not isinstance(data, Mapping):
        raise ConfigError(f"{name} must be a JSON object", where=path)
    unknown = sorted(set(data) - known)
    if unknown:
        raise ConfigError(f"{name}: unknown key {unknown[0]!r}", where=path, fix=f"known: {', '.join(sorted(known))}")
    return data


def _number(path: str, name: str, value: Any, most: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        raise ConfigError(f"{name} is {value!r}", where=path, fix=f"give a number from 0 to {most:g}")
    return float(value)
