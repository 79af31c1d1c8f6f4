"""Configuration as layers of dotted keys, each value with the place it came from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from skillgit.config.packaged import packaged
from skillgit.errors import ConfigError

# Keys whose value is a mapping as a whole, not a section of further keys.
_MAPPINGS = {"model.optimizer_price", "model.target_price"}


@dataclass(frozen=True)
class Value:
    """One configured value and its `file:line` (or `--set`)."""

    value: Any
    where: str


Layer = dict[str, Value]


class _Loader(yaml.SafeLoader):
    """YAML with the numbers of YAML 1.2: `2:1:7` is a text, not a count of seconds, and `1e-3` is a number."""


_NUMBERS = {
    "tag:yaml.org,2002:int": r"[-+]?[0-9]+$",
    "tag:yaml.org,2002:float": r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)(e[-+]?[0-9]+)?$",
}
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in _NUMBERS]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
for _tag, _pattern in _NUMBERS.items():
    _Loader.add_implicit_resolver(_tag, re.compile(_pattern, re.IGNORECASE), list("-+.0123456789"))


def load_file(path: Path, chain: tuple[Path, ...] = ()) -> Layer:
    """Read a YAML file on top of its `_base_` chain.

    Raises:
        ConfigError: unreadable, not a mapping, bad YAML, duplicate keys, or a circular `_base_`.
    """
    path = path.resolve()
    if path in chain:
        raise ConfigError("circular _base_", where=str(path), why=" -> ".join(p.name for p in (*chain, path)))
    values = dict(_entries(path))
    base = values.pop("_base_", None)
    if base is None:
        return values
    if not isinstance(base.value, str):
        raise ConfigError("_base_ must be one path", where=base.where)
    return load_file(path.parent / base.value, (*chain, path)) | values


def find_file(name: str, root: Path) -> Path:
    """The file of `--config NAME`: a path (from the current folder or `root`), else a packaged recipe's name."""
    for candidate in (Path(name), root / name):
        if candidate.is_file():
            return candidate
    recipe = packaged("configs") / f"{name}.yaml"
    if "/" not in name and recipe.is_file():
        return recipe
    recipes = ", ".join(sorted(p.stem for p in packaged("configs").glob("*.yaml")))
    raise ConfigError(f"no configuration file or recipe {name!r}", fix=f"recipes: {recipes}")


def parse_override(text: str) -> tuple[str, Value]:
    """`section.key=value` of `--set`; the value is read as YAML, so `null`, lists and quotes work."""
    key, equals, raw = text.partition("=")
    if not equals or not key.strip():
        raise ConfigError(f"override {text!r} is not section.key=value", where="--set")
    try:
        value = yaml.load(raw, _Loader) if raw else ""  # noqa: S506 - a SafeLoader
    except yaml.YAMLError as error:
        raise ConfigError(f"the value of {key} is not YAML", where="--set", why=_problem(error)) from error
    return key.strip(), Value(value, "--set")


def _entries(path: Path) -> Iterator[tuple[str, Value]]:
    try:
        root = yaml.compose(path.read_text(encoding="utf-8-sig"), Loader=_Loader)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError("cannot be read", where=str(path), why=str(error)) from error
    except yaml.YAMLError as error:
        raise ConfigError("is not YAML", where=str(path), why=_problem(error)) from error
    if root is None:
        return
    if not isinstance(root, yaml.MappingNode):
        raise ConfigError("must hold sections with keys", where=f"{path}:1")
    seen: dict[str, str] = {}
    for key, value in _walk(root, "", path):
        if key in seen:
            raise ConfigError(f"{key} is given twice", where=value.where, why=f"first at {seen[key]}")
        seen[key] = value.where
        yield key, value


def _walk(node: yaml.MappingNode, prefix: str, path: Path) -> Iterator[tuple[str, Value]]:
    for key_node, value_node in node.value:
        key = f"{prefix}{key_node.value}"
        where = f"{path}:{key_node.start_mark.line + 1}"
        if isinstance(value_node, yaml.MappingNode) and key not in _MAPPINGS:
            yield from _walk(value_node, f"{key}.", path)
        else:
            yield key, Value(_construct(value_node), where)


def _construct(node: yaml.Node) -> Any:
    loader = _Loader("")
    try:
        return loader.construct_object(node, deep=True)
    finally:
        loader.dispose()


def _problem(error: yaml.YAMLError) -> str:
    return " ".join(str(error).split())


def as_mapping(values: Mapping[str, Any]) -> dict[str, Any]:
    """Dotted keys as nested dictionaries."""
    out: dict[str, Any] = {}
    for key, value in values.items():
        *sections, leaf = key.split(".")
        place = out
        for section in sections:
            place = place.setdefault(section, {})
        place[leaf] = value
    return out
