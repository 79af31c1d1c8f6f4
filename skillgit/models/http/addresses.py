"""Where a role's server is and which key it gets: a key is bound to the server it was made for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from skillgit.errors import ConfigError
from skillgit.models.base import ROLES, Role
from skillgit.models.http.families import FAMILIES, REGIONS, Family, is_openai

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
    """A server's address, its key and the variable that holds it, and what else its backend is told."""

    url: str = ""
    key: str = field(default="", repr=False)
    variable: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)


def find(section: Any, role: Role, family: Family, environ: Mapping[str, str]) -> Where:
    """The server of one role.

    Args:
        section: the `model` section of the configuration.

    Raises:
        ConfigError: an address that carries a secret, a named variable that is not set, an unknown way to log in, or
            one key for the servers of both roles.
    """
    found = _found(section, role, family, environ)
    _check_sharing(section, role, found, environ)
    return found


def key_variables(section: Any, role: Role, url: str, family: Family, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The variables that may hold the key for an address, the first that is set wins.

    A key is bound to its host: one made for OpenAI, for an Azure resource, or for the address that stands beside it in
    the environment must not reach whatever server the configuration names. A role's own key stands beside the role's
    own address, a shared one beside any.
    """
    if named := getattr(section, f"{role}_api_key_env") or section.api_key_env:
        return (named,)
    azure = family.prefix == "AZURE_OPENAI"
    beside = [environ.get(name, "").strip() for name in family.variables(role, "ENDPOINT" if azure else "BASE_URL")]
    mine, shared = next(filter(None, beside[:-1]), ""), next(filter(None, beside), "")
    resource = _endpoint(section, role) or shared
    names = family.variables(role, "API_KEY") if not azure or _host(resource) == _host(url) else ()
    own_fits, shared_fits = (_host(place) in ("", _host(url)) for place in (mine, shared))
    fitting = (*(names[:-1] if own_fits else ()), *(names[-1:] if shared_fits else ()))
    return (*fitting, "OPENAI_API_KEY") if is_openai(url) else fitting


def _found(section: Any, role: Role, family: Family, environ: Mapping[str, str]) -> Where:
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
    return Where(url, *_key(section, role, url, family, environ))


def _check_sharing(section: Any, role: Role, found: Where, environ: Mapping[str, str]) -> None:
    """Refuse one key for two hosts, unless each role names it on purpose."""
    (other,) = set(ROLES) - {role}
    family = FAMILIES.get(getattr(section, f"{other}_backend") or section.backend)
    meant = all(getattr(section, f"{each}_api_key_env") for each in ROLES)
    if not found.key or family is None or meant or not (getattr(section, other) or family.model(environ, other)):
        return
    try:
        beside = _found(section, other, family, environ)
    except ConfigError:
        return  # told when that role is asked
    if beside.variable == found.variable and _host(beside.url) != _host(found.url):
        raise ConfigError(
            f"the key in {found.variable} would go to two servers: {found.url} and {beside.url}",
            why="a key is for one server, and the other must not see it",
            fix=f"name it for its own role alone: model.{role}_api_key_env or model.{other}_api_key_env",
        )


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


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
    """The Azure settings of a role, or nothing when no resource is named, or only by the environment."""
    if section.base_url and not _endpoint(section, role):
        return {}
    own, shared = getattr(section, f"{role}_azure"), section.azure
    out = {}
    for name in ("endpoint", "api_version", "auth_mode", "ad_scope", "managed_identity_client_id"):
        value = getattr(own, name) or getattr(shared, name) or family.environment(environ, role, name.upper())
        out[name] = value or _AZURE_DEFAULTS.get(name, "")
    return out if out["endpoint"] else {}


def _endpoint(section: Any, role: Role) -> str:
    return str(getattr(section, f"{role}_azure").endpoint or section.azure.endpoint)


def _at_azure(section: Any, role: Role, family: Family, environ: Mapping[str, str], azure: Mapping[str, str]) -> Where:
    url = azure["endpoint"].rstrip("/")
    _check(role, url)
    mode = _AUTH_MODES.get(azure["auth_mode"].strip().lower())
    if mode is None:
        raise ConfigError(f"auth_mode is {azure['auth_mode']!r}", fix=f"choose one of: {', '.join(_AUTH_MODES)}")
    if mode == "openai_compatible":
        return Where(url, *_key(section, role, url, family, environ))
    key = _key(section, role, url, family, environ) if mode == "api_key" else ("", "")
    return Where(url, *key, {"azure": {**azure, "auth_mode": mode}})


def _check(role: Role, url: str) -> None:
    """Refuse an address that carries anything secret-like; the address itself is not repeated."""
    try:
        parts = urlsplit(url)
    except ValueError:
        raise ConfigError(
            f"the {role}'s base_url is not a URL", fix="give an address such as http://127.0.0.1:8000/v1"
        ) from None
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ConfigError(
            f"the {role}'s base_url holds a user, a password or a query",
            why="addresses are shown and kept in the journal, and must not carry a secret",
            fix="give scheme, host and path only, and the key with model.api_key_env",
        )


def _key(section: Any, role: Role, url: str, family: Family, environ: Mapping[str, str]) -> tuple[str, str]:
    """The key for an address, and the variable that it is in."""
    names = key_variables(section, role, url, family, environ)
    name = next((name for name in names if environ.get(name, "").strip()), "")
    named = getattr(section, f"{role}_api_key_env") or section.api_key_env
    if named and not name:
        raise ConfigError(f"the environment variable {named} is not set", fix=f"export {named}=…")
    return environ.get(name, "").strip(), name
