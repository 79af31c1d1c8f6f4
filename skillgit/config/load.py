"""From files and overrides to a checked `Config`."""

from __future__ import annotations

import dataclasses
import difflib
import math
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from skillgit.config.layers import Layer, Value, find_file, load_file, parse_override
from skillgit.config.rules import check
from skillgit.config.schema import Config
from skillgit.errors import ConfigError

DEFAULT_FILE = "skillgit.yaml"


def load_config(root: Path, config: str = "", overrides: Sequence[str] = ()) -> Config:
    """The configuration of one command.

    Args:
        root: the repository's top folder.
        config: file or recipe name; blank takes `skillgit.yaml` of `root` when there is one.
        overrides: `section.key=value` texts, applied last and in order.

    Raises:
        ConfigError: with file and line (or `--set`), and the nearest key for an unknown one.
    """
    layer: Layer = {}
    if config:
        layer = load_file(find_file(config, root))
    elif (root / DEFAULT_FILE).is_file():
        layer = load_file(root / DEFAULT_FILE)
    layer |= dict(parse_override(text) for text in overrides)
    return build(layer)


def build(layer: Mapping[str, Value]) -> Config:
    """A checked `Config` from dotted keys. Raises `ConfigError` naming the first bad key."""
    known = dict(_leaves(Config, ""))
    for key, value in layer.items():
        if key not in known:
            raise _unknown(key, value, known)
    values = {key: _typed(key, layer[key], known[key]) for key in known if key in layer}
    config: Config = _assemble(Config, "", values)
    check(config, {key: value.where for key, value in layer.items()})
    return config


def resolved(config: Config) -> dict[str, Any]:
    """The configuration as nested dictionaries of JSON values; it never holds a secret."""
    return dataclasses.asdict(config)


def from_resolved(config: Mapping[str, Any]) -> Config:
    """Inverse of `resolved`, checked again: it may have come from another machine or version."""
    return build({key: Value(value, "recorded configuration") for key, value in _flat(config, "")})


def _flat(section: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    known = dict(_leaves(Config, ""))
    for name, value in section.items():
        key = f"{prefix}{name}"
        if isinstance(value, Mapping) and key not in known:
            yield from _flat(value, f"{key}.")
        else:
            yield key, value


def _leaves(section: type, prefix: str) -> Iterator[tuple[str, Any]]:
    for name, hint in get_type_hints(section).items():
        if dataclasses.is_dataclass(hint) and isinstance(hint, type):
            yield from _leaves(hint, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", hint


def _assemble(section: Any, prefix: str, values: Mapping[str, Any]) -> Any:
    given = {}
    for name, hint in get_type_hints(section).items():
        key = f"{prefix}{name}"
        if dataclasses.is_dataclass(hint):
            given[name] = _assemble(hint, f"{key}.", values)
        elif key in values:
            given[name] = values[key]
    return section(**given)


def _unknown(key: str, value: Value, known: Mapping[str, Any]) -> ConfigError:
    leaf = key.rsplit(".", 1)[-1]
    if leaf.lower().endswith(("api_key", "token", "secret", "password")):
        return ConfigError(
            f"{key} would put a secret into a file",
            where=value.where,
            fix="export it in the environment and name the variable with model.api_key_env",
        )
    by_leaf = {name.rsplit(".", 1)[-1]: name for name in known}
    near = difflib.get_close_matches(key, known, 1, 0.7)
    near = near or [by_leaf[n] for n in difflib.get_close_matches(leaf, by_leaf, 1, 0.7)]
    fix = f"did you mean {near[0]}?" if near else "sections: " + ", ".join(f.name for f in dataclasses.fields(Config))
    return ConfigError(f"unknown key {key}", where=value.where, fix=fix)


def _typed(key: str, value: Value, hint: Any) -> Any:
    optional = get_origin(hint) is types.UnionType and types.NoneType in get_args(hint)
    if optional:
        if value.value is None or value.value == "":
            return None
        hint = next(arg for arg in get_args(hint) if arg is not types.NoneType)
    if get_origin(hint) is not None:
        return _mapping(key, value)
    if hint is float and isinstance(value.value, int) and not isinstance(value.value, bool):
        return float(value.value)
    if hint is str and value.value is None:
        return ""
    if type(value.value) is not hint or (hint is float and not math.isfinite(value.value)):
        expected = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}[hint]
        raise ConfigError(f"{key} must be {expected}, not {value.value!r}", where=value.where)
    return value.value


def _mapping(key: str, value: Value) -> dict[str, float]:
    entries = value.value or {}
    if not isinstance(entries, dict) or set(entries) - {"prompt", "completion"}:
        raise ConfigError(f"{key} takes the keys prompt and completion", where=value.where)
    return {
        name: typing.cast(float, _typed(f"{key}.{name}", Value(v, value.where), float)) for name, v in entries.items()
    }
