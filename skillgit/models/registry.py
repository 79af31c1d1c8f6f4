"""From a backend's name to a model: built-ins and plugins come through the same entry points."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from typing import cast

from skillgit.errors import ConfigError
from skillgit.models.base import Model, ModelSpec

GROUP = "skillgit.backends"


def build(spec: ModelSpec) -> Model:
    """The model that `spec` describes. Only the chosen backend is imported.

    Raises:
        ConfigError: no such backend, a backend that cannot be loaded, or options it cannot use.
        ModelConfigError: an endpoint or model that cannot work.
    """
    return builder(spec.backend)(spec)


def backend_names() -> tuple[str, ...]:
    """Every installed backend, sorted."""
    return tuple(sorted(_entries()))


def check(name: str) -> None:
    """Raise `ConfigError` for a backend that is not installed, without loading any."""
    if name not in _entries():
        raise _unknown(name)


def builder(name: str) -> Callable[[ModelSpec], Model]:
    """What makes models of a backend, loaded from its package. Raises `ConfigError` as `build` does."""
    entry = _entries().get(name)
    if entry is None:
        raise _unknown(name)
    try:
        return cast("Callable[[ModelSpec], Model]", entry.load())
    except (ImportError, AttributeError) as err:
        raise ConfigError(
            f"backend {name!r} cannot be loaded",
            why=f"{entry.value}: {err}",
            fix="reinstall the package that provides it, or set model.backend to another one",
        ) from err


def _entries() -> dict[str, EntryPoint]:
    # Reversed so that of two packages claiming one name the first on the path wins, as with imports.
    return {entry.name: entry for entry in reversed(list(entry_points(group=GROUP)))}


def _unknown(name: str) -> ConfigError:
    names = backend_names()
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.4)
    return ConfigError(
        f"unknown backend {name!r}",
        why=f"installed backends: {', '.join(names) or 'none'}",
        fix=f"set model.backend={near[0]}" if near else _advice(names),
    )


def _advice(names: tuple[str, ...]) -> str:
    return "set model.backend to one of them" if names else "install the package (pip install skillgit)"
