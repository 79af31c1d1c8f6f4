"""Where a role's server is and which key it gets: a key is bound to the server it was made for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from skillgit.errors import ConfigError
from skillgit.models.base import Role
from skillgit.models.families import OPENAI_URL, REGIONS, Family

_AZURE_DEFAULTS = {
    "api_version": "2024-12-01-preview",
    "auth_mode": "azure_cli",
    "ad_scope": "https://cognitiveservices.azure.com/.default",
}
_AUTH_MODES = {
    **dict.fromkeys(("azure_cli", "cli"), "azure_cli"),
    **dict.fromkeys(("managed_identity", "aad", "azure_ad"), "managed_identity"),
    **dict.fromkeys(("api_key", "key"), "api_key"),
    **dict.fromkeys(("openai_compatible", "compat", "openai"), "openai_compatible"),
}
"""Way to log in to the words for it."""


@dataclass(frozen=True)
class Where:
    """A server's address, its key, and what else its backend is told."""

    url: str = ""
    key: str = field(default="", repr=False)
    options: Mapping[str, Any] = field(default_factory=dict)


def find(section: Any, role: Role, family: Family, environ: Mapping[str, str]) -> Where:
    """The server of one role.

    Args:
        section: the `model` section of the configuration.

    Raises:
        ConfigError: an address that carries a secret, a named variable that is not set, or an unknown way to log in.
    """
    own = getattr(section, f"{role}_base_url")
    azure = _azure(section, role, family, environ) if family.prefix == "AZURE_OPENAI" else {}
    if azure and not own:
        return _at_azure(section, role, family, environ, azure)
    url = (
        own
        or section.base_url
        or family.environment(environ, role, "BASE_URL")
        or _of_region(section, role, family, environ)
    )
    _check(role, url)
    return Where(url, _key(section, role, url, family, environ))


def number(family: Family, environ: Mapping[str, str], role: Role, name: str, default: float | None) -> float | None:
    """A number from the environment; the words `none`, `off` and `null` say that nothing is sent.

    Raises:
        ConfigError: it is none of these.
    """
    text = family.environment(environ, role, name)
    if not text:
        return default
    if text.lower() in ("none", "off", "null"):
        return None
    try:
        return float(text)
    except ValueError:
        raise ConfigError(f"{family.prefix}_{name} in the environment is {text!r}, not a number") from None


def _of_region(section: Any, role: Role, family: Family, environ: Mapping[str, str]) -> str:
    if family.prefix != "MINIMAX":
        return family.url
    region = getattr(section, f"{role}_region") or family.environment(environ, role, "REGION") or "global_en"
    if region not in REGIONS:
        raise ConfigError(f"MINIMAX_REGION is {region!r}", fix=f"choose one of: {', '.join(REGIONS)}")
    return REGIONS[region]


def _azure(section: Any, role: Role, family: Family, environ: Mapping[str, str]) -> dict[str, str]:
    """The Azure settings of a role, or nothing when no resource is named."""
    own, shared = getattr(section, f"{role}_azure"), section.azure
    out = {}
    for name in ("endpoint", "api_version", "auth_mode", "ad_scope", "managed_identity_client_id"):
        value = getattr(own, name) or getattr(shared, name) or family.environment(environ, role, name.upper())
        out[name] = value or _AZURE_DEFAULTS.get(name, "")
    return out if out["endpoint"] else {}


def _at_azure(section: Any, role: Role, family: Family, environ: Mapping[str, str], azure: Mapping[str, str]) -> Where:
    url = azure["endpoint"].rstrip("/")
    _check(role, url)
    mode = _AUTH_MODES.get(azure["auth_mode"].strip().lower())
    if mode is None:
        raise ConfigError(f"auth_mode is {azure['auth_mode']!r}", fix=f"choose one of: {', '.join(_AUTH_MODES)}")
    if mode == "openai_compatible":
        return Where(url, _key(section, role, url, family, environ))
    key = _key(section, role, url, family, environ) if mode == "api_key" else ""
    return Where(url, key, {"azure": {**azure, "auth_mode": mode}})


def _check(role: Role, url: str) -> None:
    """Refuse an address that carries anything secret-like; the address itself is not repeated."""
    parts = urlsplit(url)
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ConfigError(
            f"the {role}'s base_url holds a user, a password or a query",
            why="addresses are shown and kept in the journal, and must not carry a secret",
            fix="give scheme, host and path only, and the key with model.api_key_env",
        )


def _key(section: Any, role: Role, url: str, family: Family, environ: Mapping[str, str]) -> str:
    variable = getattr(section, f"{role}_api_key_env") or section.api_key_env
    if variable:
        if not environ.get(variable):
            raise ConfigError(f"the environment variable {variable} is not set", fix=f"export {variable}=…")
        return environ[variable]
    at_openai = urlsplit(url).hostname == urlsplit(OPENAI_URL).hostname
    if family.prefix == "AZURE_OPENAI" and at_openai:
        return environ.get("OPENAI_API_KEY", "")
    own = family.environment(environ, role, "API_KEY")
    # A key is bound to its host: one made for OpenAI must not reach whatever server the configuration names.
    return own or (environ.get("OPENAI_API_KEY", "") if at_openai else "")
