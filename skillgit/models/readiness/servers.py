"""What the Chat Completions servers need: a model, an address, and a key that is bound to it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from skillgit.errors import ConfigError, ModelError
from skillgit.models import registry
from skillgit.models.base import ModelSpec, Role
from skillgit.models.http.addresses import key_variables
from skillgit.models.http.families import FAMILIES, OPENAI_URL, REGIONS, Family
from skillgit.models.readiness.needs import Need, Place, package

_PUBLIC = {OPENAI_URL, *REGIONS.values(), *(family.url for family in FAMILIES.values())}
"""Addresses that nobody reaches without a key, when they are https."""


def server_needs(place: Place, name: str, family: Family, role: Role) -> Iterator[Need]:
    """Model, address and key (or login) of one kind of server, as a role would find them."""
    section: Any = place.config.model
    own = f"{role.upper()}_{family.model_variable}"
    variables = (own,) if family.model_variable else family.variables(role, "MODEL")
    configured = getattr(section, role)
    model = configured or next((v for name in variables if (v := place.environ.get(name, "").strip())), "")
    fix = "" if model else f"--set model.{role}=NAME"
    yield Need("model", bool(model), model or "none named", fix, place.looked(variables))
    # The rest can be looked at whether or not a model is named.
    spec = place.spec(name, role, model or "any")
    if isinstance(spec, Need):
        yield spec
    else:
        yield from _reached(place, family, spec)


def _reached(place: Place, family: Family, spec: ModelSpec) -> Iterator[Need]:
    """Address and key of a server."""
    azure, address = spec.options.get("azure", {}), spec.base_url or family.url
    mode = azure.get("auth_mode", "api_key")
    asks = mode == "api_key" and (bool(azure) or (address.startswith("https") and address in _PUBLIC))
    looked = family.variables(spec.role, "BASE_URL")
    looked += family.variables(spec.role, "ENDPOINT") if family.prefix == "AZURE_OPENAI" else ()
    try:
        # A missing key is told below, and not as a fault of the address.
        registry.build(dataclasses.replace(spec, api_key="-") if asks and not spec.api_key else spec).close()
        yield Need("address", True, address, variables=place.looked(looked))
    except (ModelError, ConfigError) as error:
        yield Need("address", False, error.what, error.fix, place.looked(looked))
    if mode != "api_key":
        yield package("azure-identity", "azure.identity", "azure")
        yield Need("login", None, f"a token by {mode}: only a call can tell")
        return
    keys = place.looked(key_variables(place.config.model, spec.role, address, family, place.environ))
    if spec.api_key or not asks:
        yield Need("key", True, "set" if spec.api_key else "none set; this server may need none", variables=keys)
    else:
        yield Need("key", False, "none set", f"export {[*keys][-1]}=…", keys)
