"""Reading single values of the `env` section."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillgit.errors import ConfigError


def text_option(options: Mapping[str, Any], name: str) -> str:
    """A text value; absent, null and blank all mean unset and give an empty string."""
    value = options.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ConfigError(f"env.{name} must be text, not {value!r}")
    return value.strip()


def whole_option(options: Mapping[str, Any], name: str, default: int = 0) -> int:
    """A whole number of at least 0; absent and null give `default`."""
    value = options.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ConfigError(f"env.{name} must be a whole number of at least 0, not {value!r}")
    return value


def flag_option(options: Mapping[str, Any], name: str) -> bool:
    """A yes-or-no value; absent and null give no."""
    value = options.get(name)
    if value is not None and not isinstance(value, bool):
        raise ConfigError(f"env.{name} must be true or false, not {value!r}")
    return bool(value)
