"""Configuration as layers of dotted keys, each value with the place it came from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from skillgit.config.packaged import packaged
from skillgit.errors import ConfigError

# Keys whose value is a mapping as a whole, not a section of further keys.
_MAPPINGS = {"model.optimizer_price", "model.target_price", "lint.levels", "env.options"}


@dataclass(frozen=True)
class Value:
    """One configured value and its `file:line` (or `--set`)."""

    value: Any
    where: str


Layer = dict[str, Value]

# A number too long for Python is a ValueError; what holds itself, or is nested beyond reason, a RecursionError.
_BAD_YAML = (yaml.YAMLError, ValueError, RecursionError)


class _Loader(yaml.SafeLoader):
    """YAML with the numbers of YAML 1.2: `2:1:7` is a text, not a count of seconds, `1e-3` is a number, `010` is ten,
    `2026-01-02` is a text, not a date, and `off` is a word (`yes` and `no` stay what SkillOpt takes them for)."""


def _whole_number(_: _Loader, node: yaml.ScalarNode) -> int:
    return int(node.value)


_NUMBERS = {
    "tag:yaml.org,2002:int": r"[-+]?[0-9]+$",
    "tag:yaml.org,2002:float": r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)(e[-+]?[0-9]+)?$",
}
_BOOL = "tag:yaml.org,2002:bool"
_OLD = {*_NUMBERS, _BOOL, "tag:yaml.org,2002:timestamp"}
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in _OLD]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
for _tag, _pattern in _NUMBERS.items():
    _Loader.add_implicit_resolver(_tag, re.compile(_pattern, re.IGNORECASE), list("-+.0123456789"))
_Loader.add_implicit_resolver(_BOOL, re.compile("(true|false|yes|no)$", re.IGNORECASE), list("tTfFyYnN"))
_Loader.add_constructor("tag:yaml.org,2002:int", _whole_number)


def load_layers(path: Path, chain: tuple[Path, ...] = ()) -> list[Layer]:
    """A YAML file's layer after those of its `_base_` chain; later layers win.

    Raises:
        ConfigError: unreadable, not a mapping, bad YAML, duplicate keys, or a circular `_base_`.
    """
    path = path.resolve()
    if path in chain:
        raise ConfigError("circular _base_", where=str(path), why=" -> ".join(p.name for p in (*chain, path)))
    values = dict(_entries(path))
    base = values.pop("_base_", None)
    if base is None:
        return [values]
    if not isinstance(base.value, str):
        raise ConfigError("_base_ must be one path", where=base.where)
    return [*load_layers(path.parent / base.value, (*chain, path)), values]


def find_file(name: str, *folders: Path) -> Path:
    """The file of `--config NAME`: a path from one of `folders`, else a packaged recipe's name."""
    for candidate in [folder / name for folder in folders]:
        if candidate.is_file():
            return candidate
    recipes = _recipes()
    if name in recipes:
        return recipes[name]
    raise ConfigError(f"no configuration file or recipe {name!r}", fix=f"recipes: {', '.join(sorted(recipes))}")


def _recipes() -> dict[str, Path]:
    """Name to file of the packaged configurations; that of a benchmark is `default.yaml` in its folder."""
    top = packaged("configs")
    own = {path.parent.name: path for path in top.glob("*/default.yaml")}
    return {path.stem: path for path in top.glob("*.yaml")} | own


def parse_override(text: str) -> tuple[str, Value]:
    """`section.key=value` of `--set`; the value is read as YAML, so `null`, lists and quotes work."""
    key, equals, raw = text.partition("=")
    if not equals or not key.strip():
        raise ConfigError(f"override {text!r} is not section.key=value", where="--set")
    try:
        value = yaml.load(raw, _Loader) if raw else ""  # noqa: S506 - a SafeLoader
    except _BAD_YAML as error:
        raise ConfigError(f"the value of {key} is not YAML", where="--set", why=_problem(error)) from error
    return key.strip(), Value(value, "--set")


def _entries(path: Path) -> list[tuple[str, Value]]:
    try:
        root = yaml.compose(path.read_text(encoding="utf-8-sig"), Loader=_Loader)
        entries = [] if root is None or root.tag.endswith(":null") else list(_walk(root, "", path))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError("cannot be read", where=str(path), why=str(error)) from error
    except _BAD_YAML as error:
        raise ConfigError("is not YAML", where=_place(path, error), why=_problem(error)) from error
    seen: dict[str, str] = {}
    for key, value in entries:
        if key in seen:
            raise ConfigError(f"{key} is given twice", where=value.where, why=f"first at {seen[key]}")
        seen[key] = value.where
    return entries


def _place(path: Path, error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    return f"{path}:{mark.line + 1}" if mark else str(path)


def _walk(node: yaml.Node, prefix: str, path: Path) -> Iterator[tuple[str, Value]]:
    if not isinstance(node, yaml.MappingNode):
        raise ConfigError("must hold sections with keys", where=f"{path}:{node.start_mark.line + 1}")
    for key_node, value_node in node.value:
        where = f"{path}:{key_node.start_mark.line + 1}"
        if not isinstance(key_node, yaml.ScalarNode):
            raise ConfigError("a key must be a word", where=where)
        key = f"{prefix}{key_node.value}"
        # An empty mapping goes on as a value, so that it is refused where a key wants something else.
        if isinstance(value_node, yaml.MappingNode) and value_node.value and key not in _MAPPINGS:
            yield from _walk(value_node, f"{key}.", path)
        else:
            yield key, Value(_construct(value_node), where)


def _construct(node: yaml.Node) -> Any:
    loader = _Loader("")
    try:
        return loader.construct_object(node, deep=True)
    finally:
        loader.dispose()


def _problem(error: Exception) -> str:
    return " ".join(str(error).split())
