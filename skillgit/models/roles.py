"""From configuration and environment to the two models of a run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from skillgit.config.schema import Config
from skillgit.errors import ConfigError
from skillgit.models.base import ModelSpec, Role

OPENAI_URL = "https://api.openai.com/v1"


def role_spec(config: Config, role: Role, environ: Mapping[str, str], root: Path) -> ModelSpec:
    """How one role's model is reached.

    The configuration wins over the environment: `TARGET_OPENAI_COMPATIBLE_BASE_URL` (or `OPTIMIZER_…`), then
    `OPENAI_COMPATIBLE_BASE_URL`; likewise `…_API_KEY` and `…_MODEL`. `OPENAI_API_KEY` is only ever sent to OpenAI.

    Args:
        root: the repository's top folder, where relative paths start from.

    Raises:
        ConfigError: no model is named for the role, or a named variable is not set.
    """
    section: Any = config.model

    def own(name: str) -> Any:
        return getattr(section, f"{role}_{name}")

    backend = own("backend") or section.backend
    http = backend == "openai_compatible"
    model = getattr(section, role) or (_environment(environ, role, "MODEL") if http else "")
    if not model and backend != "scripted" and not section.local.path:
        raise ConfigError(
            f"no {role} model is configured",
            fix=f"--set model.{role}=NAME (and model.backend), or try it without a model: skillgit demo --scripted",
        )
    base_url = own("base_url") or section.base_url
    if http and not base_url:
        base_url = _environment(environ, role, "BASE_URL") or OPENAI_URL
    _check_address(role, base_url)
    target = role == "target"
    return ModelSpec(
        role=role,
        backend=backend,
        model=model or backend,
        base_url=base_url,
        api_key=_api_key(own("api_key_env") or section.api_key_env, role, base_url, environ) if http else "",
        timeout=section.timeout,
        temperature=own("temperature"),
        max_tokens=(config.env.max_completion_tokens if target else section.optimizer_max_tokens) or None,
        retries=section.retries,
        options=_options(config, role, root),
    )


def _check_address(role: Role, base_url: str) -> None:
    """Refuse an address that carries anything secret-like; the address itself is not repeated."""
    parts = urlsplit(base_url)
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ConfigError(
            f"the {role}'s base_url holds a user, a password or a query",
            why="addresses are shown and kept in the journal, and must not carry a secret",
            fix="give scheme, host and path only, and the key with model.api_key_env",
        )


def _options(config: Config, role: Role, root: Path) -> dict[str, Any]:
    section = config.model
    options: dict[str, Any] = {
        "path": str(root / section.local.path) if section.local.path else "",
        "context": section.local.context,
        "threads": section.local.threads,
        "script": str(root / section.script) if section.script else "",
        "price": dict(section.target_price if role == "target" else section.optimizer_price),
    }
    return {name: value for name, value in options.items() if value}


def _environment(environ: Mapping[str, str], role: Role, name: str) -> str:
    key = f"OPENAI_COMPATIBLE_{name}"
    return environ.get(f"{role.upper()}_{key}") or environ.get(key) or ""


def _api_key(variable: str, role: Role, base_url: str, environ: Mapping[str, str]) -> str:
    if variable:
        if not environ.get(variable):
            raise ConfigError(f"the environment variable {variable} is not set", fix=f"export {variable}=…")
        return environ[variable]
    own = _environment(environ, role, "API_KEY")
    # A key is bound to its host: one made for OpenAI must not reach whatever server the configuration names.
    at_openai = urlsplit(base_url).hostname == urlsplit(OPENAI_URL).hostname
    return own or (environ.get("OPENAI_API_KEY", "") if at_openai else "")
