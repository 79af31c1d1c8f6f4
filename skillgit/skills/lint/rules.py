"""The rules as data, and what a reader of skills asks of them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, get_args

from skillgit.errors import ConfigError

if TYPE_CHECKING:
    from skillgit.skills.leaks import LeakIndex

Level = Literal["error", "warning", "advice"]
LEVELS: tuple[Level, ...] = get_args(Level)
"""From the gravest to the mildest."""


@dataclass(frozen=True)
class Rule:
    """One rule. `fix` is an instruction; `example` what is found and, after an arrow, what is right."""

    id: str
    level: Level
    title: str
    why: str
    fix: str
    example: str


@dataclass(frozen=True)
class Profile:
    """Who reads the skills.

    Attributes:
        keys: frontmatter keys beside the six of the format.
        lists: fields that may be a list of texts.
        levels: levels of rules that differ from their own.
    """

    name: str
    title: str
    keys: tuple[str, ...]
    lists: tuple[str, ...]
    levels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Policy:
    """What is checked, and how strictly.

    Attributes:
        levels: level of every rule that is on.
        max_description_tokens, max_body_tokens: budgets; 0 is no limit.
        leaks: what must not stand in the skill; `None` when it has no tasks.
    """

    profile: Profile
    levels: Mapping[str, Level]
    max_description_tokens: int = 0
    max_body_tokens: int = 0
    leaks: LeakIndex | None = None


@cache
def rules() -> Mapping[str, Rule]:
    """Every rule by its id, in the order they are listed."""
    return MappingProxyType({name: Rule(name, **entry) for name, entry in _table("rules.toml").items()})


@cache
def profiles() -> Mapping[str, Profile]:
    """Every profile by its name."""
    return MappingProxyType({name: _profile(name, entry) for name, entry in _table("profiles.toml").items()})


def make_policy(
    profile: str, levels: Mapping[str, str], *, max_description_tokens: int = 0, max_body_tokens: int = 0
) -> Policy:
    """The policy of a profile with some levels changed.

    Args:
        levels: rule to `off`, `advice`, `warning` or `error`.

    Raises:
        ConfigError: an unknown profile, rule or level.
    """
    if profile not in profiles():
        raise ConfigError(f"unknown profile {profile!r}", fix=f"profiles: {', '.join(profiles())}")
    chosen = profiles()[profile]
    for name, level in levels.items():
        if name not in rules():
            raise ConfigError(f"lint.levels names no rule {name!r}", fix=f"did you mean {nearest(name)}?")
        if level not in (*LEVELS, "off"):
            raise ConfigError(f"lint.levels gives {name} the level {level!r}", fix="use error, warning, advice or off")
    own: dict[str, Any] = {name: rule.level for name, rule in rules().items()}
    wanted = {**own, **chosen.levels, **levels}
    on = {name: level for name, level in wanted.items() if level != "off"}
    return Policy(chosen, on, max_description_tokens, max_body_tokens)


def nearest(name: str) -> str:
    """The rule whose id is most like `name`."""
    from difflib import get_close_matches

    return get_close_matches(name, rules(), 1, 0.0)[0]


def _profile(name: str, entry: Mapping[str, Any]) -> Profile:
    return Profile(name, entry["title"], tuple(entry["keys"]), tuple(entry["lists"]), entry.get("levels", {}))


def _table(name: str) -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath(name).read_text(encoding="utf-8"))
