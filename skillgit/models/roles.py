"""From configuration and environment to the two models of a run."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skillgit.config.schema import Config
from skillgit.errors import ConfigError
from skillgit.models import registry
from skillgit.models.base import ModelSpec, Role
from skillgit.models.http import addresses
from skillgit.models.http.addresses import Where
from skillgit.models.http.families import FAMILIES, Family

_PROGRAMS = {
    "claude_chat": "claude",
    "claude_code_exec": "claude",
    "codex_exec": "codex",
    "copilot_chat": "copilot",
    "copilot_exec": "copilot",
    "cursor_chat": "cursor",
    "cursor_exec": "cursor",
    "opencode": "opencode",
    "pi": "pi",
}
"""Backend to the section of the configuration with the settings of its program."""
_NAMELESS = ("scripted", "handoff", *_PROGRAMS)  # without a model to choose, or with a default of their own
_FOR_ANY_USE = {"codex": ("path", "profile"), "copilot": ("path", "home")}  # the others: the path; the rest is for work
_MODES = "choose one of: server_default, enabled, disabled"
_EFFORTLESS = ("openai_compatible", "qwen_chat", "minimax_chat")  # whose protocol has no word for it


def role_spec(config: Config, role: Role, environ: Mapping[str, str], root: Path) -> ModelSpec:
    """How one role's model is reached.

    The configuration wins over the environment, and a role's own setting over the shared one. See `families` for the
    names of the variables. `OPENAI_API_KEY` is only ever sent to OpenAI.

    Args:
        root: the repository's top folder, where relative paths start from.

    Raises:
        ConfigError: no such backend, no model is named for the role, or a named variable is not set.
    """
    section: Any = config.model
    backend = getattr(section, f"{role}_backend") or section.backend
    registry.check(backend)
    family = FAMILIES.get(backend)
    model = getattr(section, role)
    if family and not model:
        model = family.model(environ, role)
    if not model and backend not in _NAMELESS and not section.local.path:
        raise ConfigError(
            f"no {role} model is configured",
            fix=f"--set model.{role}=NAME (and model.backend), or try it without a model: skillgit demo --scripted",
        )
    where = addresses.find(section, role, family, environ) if family else _anywhere(section, role, backend)
    temperature = getattr(section, f"{role}_temperature")
    if temperature is None and family:
        temperature = addresses.number(family, environ, role, "TEMPERATURE", family.temperature)
    timeout = getattr(section, f"{role}_timeout") or section.timeout
    if family and not getattr(section, f"{role}_timeout"):
        timeout = addresses.number(family, environ, role, "TIMEOUT_SECONDS", None) or timeout
    target = role == "target"
    return ModelSpec(
        role=role,
        backend=backend,
        model=model or backend,
        base_url=where.url,
        api_key=where.key,
        timeout=timeout,
        temperature=temperature,
        max_tokens=(config.env.max_completion_tokens if target else section.optimizer_max_tokens) or None,
        retries=section.retries,
        options=_environment_options(family, environ, role)
        | _options(config, role, root, backend)
        | dict(where.options),
    )


def _client(section: Any, role: Role, backend: str) -> dict[str, Any]:
    """Settings of the program behind a backend that it has a use for, without blank ones."""
    if backend not in _PROGRAMS:
        return {}
    name = _PROGRAMS[backend]
    settings = dataclasses.asdict(getattr(section, name))
    works = backend.endswith("_exec") and role == "target"
    asked = _FOR_ANY_USE.get(name, ("path",))
    return {key: value for key, value in settings.items() if value and (works or key in asked)}


def _anywhere(section: Any, role: Role, backend: str) -> Where:
    """The address as configured, for a plugin; our other backends have none."""
    return Where("" if backend in (*_NAMELESS, "local") else _own(section, role, "base_url"))


def _own(section: Any, role: Role, name: str) -> Any:
    """A role's own setting, or the shared one where the role says nothing."""
    return getattr(section, f"{role}_{name}") or getattr(section, name)


def _environment_options(family: Family | None, environ: Mapping[str, str], role: Role) -> dict[str, Any]:
    """What only the environment says of a kind of server: the most tokens of any reply, and the switch for thinking."""
    if family is None:
        return {}
    cap = addresses.number(family, environ, role, "MAX_TOKENS", None)
    return {**({"cap": int(cap)} if cap else {}), **_thinking(family, environ, role)}


def _thinking(family: Family, environ: Mapping[str, str], role: Role) -> dict[str, str]:
    """The switch for thinking: its word, or the older one, which asks for thinking or says nothing."""
    mode = family.environment(environ, role, "THINKING_MODE").lower()
    older = family.environment(environ, role, "ENABLE_THINKING").lower() in ("1", "true", "yes", "on")
    if mode not in ("", "server_default", "enabled", "disabled"):
        raise ConfigError(f"{family.prefix}_THINKING_MODE in the environment is {mode!r}", fix=_MODES)
    if older and mode not in ("", "enabled"):
        raise ConfigError(f"{family.prefix}_ENABLE_THINKING and _THINKING_MODE in the environment differ", fix=_MODES)
    mode = "enabled" if older else mode
    return {"thinking": mode} if mode in ("enabled", "disabled") else {}


def _options(config: Config, role: Role, root: Path, backend: str) -> dict[str, Any]:
    section: Any = config.model
    effort = getattr(section, f"{role}_reasoning_effort")
    options: dict[str, Any] = {
        "path": str(root / section.local.path) if section.local.path else "",
        "context": section.local.context,
        "threads": section.local.threads,
        "script": str(root / section.script) if section.script else "",
        "client": _client(section, role, backend),
        "price": dict(section.target_price if role == "target" else section.optimizer_price),
        "effort": effort or ("" if backend in _EFFORTLESS else section.reasoning_effort),
        "thinking": _own(section, role, "thinking").removeprefix("server_default"),
    }
    return {name: value for name, value in options.items() if value}
