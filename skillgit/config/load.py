"""From files and overrides to a checked `Config`."""

from __future__ import annotations

import dataclasses
import difflib
import math
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from skillgit.config.backends import settle
from skillgit.config.layers import Layer, Value, find_file, load_layers, parse_override
from skillgit.config.published import of_whole_tasks, translate
from skillgit.config.rules import check
from skillgit.config.schema import Config
from skillgit.errors import ConfigError

DEFAULT_FILE = "skillgit.yaml"

_SECRETS = ("api_key", "token", "secret", "password")
"""How names end whose values belong into the environment."""


def load_config(
    root: Path,
    config: str = "",
    overrides: Sequence[str] = (),
    report: Callable[[str], None] = lambda _: None,
    cwd: Path = Path(),
) -> Config:
    """The configuration of one command.

    Args:
        root: the repository's top folder.
        config: file or recipe name; blank takes `skillgit.yaml` of `root` when there is one.
        overrides: `section.key=value` texts, applied last and in order.
        report: told about everything that was accepted under another name, or that has no effect.
        cwd: folder where a relative `config` is looked for first.

    Raises:
        ConfigError: with file and line (or `--set`), and the nearest key for an unknown one.
    """
    layers: list[Layer] = []
    if config:
        layers = load_layers(find_file(config, cwd, root))
    elif (root / DEFAULT_FILE).is_file():
        layers = load_layers(root / DEFAULT_FILE)
    layers += [dict([parse_override(text)]) for text in overrides]
    known = dict(_leaves(Config, ""))
    merged: Layer = {}
    for layer in layers:
        translated, reports = translate(layer, known)
        for line in [*reports, *_give_way(merged, translated)]:
            report(line)
        merged |= translated
    for line in of_whole_tasks(merged):
        report(line)
    return build(settle(merged, report))


def _give_way(merged: Layer, layer: Layer) -> Iterator[str]:
    """Take an inherited floor of the rate out where a later layer sets a lower rate and no floor; tell of it."""
    rate, floor = layer.get("optimizer.learning_rate"), merged.get("optimizer.min_learning_rate")
    if rate is None or floor is None or "optimizer.min_learning_rate" in layer:
        return
    if isinstance(rate.value, int) and isinstance(floor.value, int) and floor.value > rate.value:
        del merged["optimizer.min_learning_rate"]
        yield f"{floor.where}: optimizer.min_learning_rate gives way to the lower rate at {rate.where}"


def build(layer: Mapping[str, Value]) -> Config:
    """A checked `Config` from dotted keys. Raises `ConfigError` naming the first bad key."""
    known = dict(_leaves(Config, ""))
    for key, value in layer.items():
        # `budget:` with nothing below it, or with every key commented out, is an empty section.
        if key not in known and not (_is_section(key, known) and value.value in (None, {})):
            raise _unknown(key, value, known)
    values = {key: _typed(key, layer[key], known[key]) for key in known if key in layer}
    config: Config = _assemble(Config, "", values)
    check(config, {key: value.where for key, value in layer.items()})
    # A default floor gives way to a lower rate; a stated one was checked above.
    optimizer = config.optimizer
    lowest = min(optimizer.min_learning_rate, optimizer.learning_rate)
    return dataclasses.replace(config, optimizer=dataclasses.replace(optimizer, min_learning_rate=lowest))


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


def _is_section(key: str, known: Mapping[str, Any]) -> bool:
    return any(name.startswith(f"{key}.") for name in known)


def _unknown(key: str, value: Value, known: Mapping[str, Any]) -> ConfigError:
    leaf = key.rsplit(".", 1)[-1]
    if leaf.lower().endswith(_SECRETS):
        return ConfigError(
            f"{key} would put a secret into a file",
            where=value.where,
            fix="export it in the environment and name the variable with model.api_key_env",
        )
    if _is_section(key, known):
        inside = ", ".join(name.removeprefix(f"{key}.") for name in known if name.startswith(f"{key}."))
        return ConfigError(f"{key} is a section of keys, not a value", where=value.where, fix=f"its keys: {inside}")
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
    if get_origin(hint) is tuple:
        return _words(key, value)
    if get_origin(hint) is not None:
        of = get_args(hint)[1]
        return _settings(key, value) if of is Any else _texts(key, value) if of is str else _mapping(key, value)
    if hint is float and isinstance(value.value, int) and not isinstance(value.value, bool):
        # A whole number beyond every float is refused below, like infinity.
        value = Value(float(value.value) if abs(value.value) < 1e300 else math.inf, value.where)
    if hint is bool and value.value in ("on", "off"):
        return value.value == "on"
    if hint is str and value.value is None:
        return ""
    if type(value.value) is not hint or (hint is float and not math.isfinite(value.value)):
        expected = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}[hint]
        raise ConfigError(f"{key} must be {expected}, not {value.value!r}", where=value.where)
    return value.value


def _words(key: str, value: Value) -> tuple[str, ...]:
    items = value.value.split(",") if isinstance(value.value, str) else value.value or []
    if not isinstance(items, list | tuple) or not all(isinstance(item, str) for item in items):
        raise ConfigError(f"{key} must be a list of words, or words separated by commas", where=value.where)
    return tuple(item.strip() for item in items if item.strip())


def _texts(key: str, value: Value) -> dict[str, str]:
    entries = value.value or {}
    if not isinstance(entries, dict) or not all(isinstance(text, str) for pair in entries.items() for text in pair):
        raise ConfigError(f"{key} must map words to words", where=value.where)
    return dict(entries)


def _settings(key: str, value: Value) -> dict[str, Any]:
    entries = value.value or {}
    if not isinstance(entries, dict) or not all(isinstance(name, str) for name in entries):
        raise ConfigError(f"{key} must map names to values", where=value.where)
    for name in entries:
        if name.lower().endswith(_SECRETS):
            raise _unknown(f"{key}.{name}", value, {})
    return dict(entries)


def _mapping(key: str, value: Value) -> dict[str, float]:
    entries = value.value or {}
    if not isinstance(entries, dict) or set(entries) - {"prompt", "completion"}:
        raise ConfigError(f"{key} takes the keys prompt and completion", where=value.where)
    return {
        name: typing.cast(float, _typed(f"{key}.{name}", Value(v, value.where), float)) for name, v in entries.items()
    }
