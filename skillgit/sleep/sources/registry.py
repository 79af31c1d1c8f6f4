"""Sources of sessions by name. Ours are found the same way as those of other packages: through entry points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint, entry_points

from skillgit.config.sleep import Sleep
from skillgit.errors import ConfigError
from skillgit.sleep.base import Source
from skillgit.sleep.sources.places import is_there
from skillgit.tasks.problems import suggest

GROUP = "skillgit.sources"
AUTO = "auto"
_DEFAULTS = Sleep()


def _quiet(_note: str) -> None:
    return None


def sources(config: Sleep, note: Callable[[str], None] = _quiet) -> list[Source]:
    """The sources that `sleep.source` names, in that order; for `auto`, by name, every one whose store is there.

    Args:
        note: told of a source that `auto` leaves out although it was asked for: it cannot be loaded, or its place is
            set and nothing is there. Who harvests passes it on.

    Raises:
        ConfigError: a name is unknown or claimed twice, a named source has no store here, or cannot be loaded.
    """
    known = installed()
    names = [name.strip() for name in config.source.split(",") if name.strip()]
    if names in ([], [AUTO]):
        return _present(known, config, note)
    return [_named(name, known, config) for name in dict.fromkeys(names)]


def installed() -> dict[str, list[EntryPoint]]:
    """All sources by name, with those who offer them."""
    found: dict[str, list[EntryPoint]] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        found.setdefault(point.name, []).append(point)
    return found


def _present(known: Mapping[str, list[EntryPoint]], config: Sleep, note: Callable[[str], None]) -> list[Source]:
    found = []
    for name in known:
        try:
            source = _build(name, known, config)
        except ConfigError as error:
            note(f"{error.what}: {error.why}")
        else:
            if _is_there(source):
                found.append(source)
            elif source.roots() != _build(name, known, _DEFAULTS).roots():
                note(f"{name}: there is nothing at the place that is set for it")
    return found


def _named(name: str, known: Mapping[str, list[EntryPoint]], config: Sleep) -> Source:
    if name not in known:
        raise ConfigError(f'there is no source of sessions "{name}"{suggest(name, [AUTO, *known])}')
    source = _build(name, known, config)
    if not _is_there(source):
        looked = ", ".join(map(str, source.roots())) or "nowhere: its folder is not set"
        raise ConfigError(
            f'there are no sessions of "{name}" here',
            why=f"looked in {looked}",
            fix="set the place with its option (skillgit sleep harvest --help), or use --source auto",
        )
    return source


def _is_there(source: Source) -> bool:
    return any(map(is_there, source.roots()))


def _build(name: str, known: Mapping[str, list[EntryPoint]], config: Sleep) -> Source:
    targets = list(dict.fromkeys(point.value for point in known[name]))
    if len(targets) > 1:
        raise ConfigError(f'two packages call a source "{name}"', why=f"they are {' and '.join(targets)}")
    return _factory(known[name][0])(config)


def _factory(point: EntryPoint) -> Callable[[Sleep], Source]:
    try:
        factory: Callable[[Sleep], Source] = point.load()
        return factory
    except (ImportError, AttributeError, SyntaxError) as error:
        raise ConfigError(
            f'the source "{point.name}" cannot be used',
            why=str(error),
            fix=f"reinstall or remove the package it comes from: it names {point.value}",
        ) from error
