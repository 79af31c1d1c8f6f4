"""What every backend needs, and whether it is here. Nothing is sent anywhere, and no value of a variable is told."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from skillgit.errors import ConfigError, SkillgitError
from skillgit.models import handoff, registry
from skillgit.models.base import ROLES, Role
from skillgit.models.http.families import FAMILIES
from skillgit.models.readiness.needs import Need, Place, package
from skillgit.models.readiness.programs import PROGRAMS, program_needs
from skillgit.models.readiness.servers import server_needs

Look = Callable[[Role], Iterable[Need]]


@dataclass(frozen=True)
class Readiness:
    """One backend.

    Attributes:
        kind: `server`, `program`, `local`, `script`, `person` or `plugin`.
        ready: `None` when that cannot be told without a call.
        roles: roles of the present configuration that use it.
    """

    backend: str
    kind: str
    ready: bool | None
    roles: tuple[Role, ...]
    needs: tuple[Need, ...]


def backends(place: Place) -> list[Readiness]:
    """Every backend that is installed or in use, sorted by name."""
    names = sorted({*registry.backend_names(), *map(place.uses, ROLES)})
    with ThreadPoolExecutor(len(names) or 1, "readiness") as pool:
        return list(pool.map(partial(readiness, place), names))


def readiness(place: Place, name: str, only: Role | None = None) -> Readiness:
    """One backend, as the roles that use it would find it; one that none uses, as both would.

    Args:
        only: look for this role alone.
    """
    roles = (only,) if only else tuple(role for role in ROLES if place.uses(role) == name)
    kind, look = _kind(place, name)
    needs = tuple(_joined({role: tuple(look(role)) for role in roles or ROLES}))
    states = {need.ok for need in needs}
    return Readiness(name, kind, False if False in states else None if None in states else True, roles, needs)


def _kind(place: Place, name: str) -> tuple[str, Look]:
    if family := FAMILIES.get(name):
        return "server", partial(server_needs, place, name, family)
    if name in PROGRAMS:
        needs = program_needs(name, _path(place, name), place.environ)
        return "program", lambda _: needs
    kinds: dict[str, tuple[str, Look]] = {
        "local": ("local", partial(_local, place)),
        "scripted": ("script", lambda _: [_script(place)]),
        "handoff": ("person", lambda _: [_person(place)]),
    }
    return kinds.get(name, ("plugin", lambda _: [_plugin(name)]))


def _joined(by_role: Mapping[Role, Sequence[Need]]) -> Iterator[Need]:
    """Needs of all roles; those that are not the same for each are told with their role."""
    lists = list(by_role.values())
    for role, needs in by_role.items():
        for need in needs:
            if all(need in others for others in lists):
                if needs is lists[0]:
                    yield need
            else:
                yield dataclasses.replace(need, name=f"{role} {need.name}")


def _path(place: Place, name: str) -> str:
    spec = place.spec(name, "target", name)
    return "" if isinstance(spec, Need) else str(spec.options.get("client", {}).get("path") or "")


def _local(place: Place, role: Role) -> Iterator[Need]:
    from skillgit.models.local import catalog, store
    from skillgit.models.local.fetch import user_file

    yield package("xllamacpp", "xllamacpp", "local")
    section = place.config.model
    model = getattr(section, role)
    given = user_file(model, str(place.root / section.local.path) if section.local.path else None)
    if given is not None:
        yield Need("file", given.is_file(), str(given), "" if given.is_file() else "correct model.local.path")
        return
    known = catalog.find(model)
    names = ", ".join(entry.name for entry in catalog.MODELS)
    fix = "" if known else f"--set model.{role}=NAME, one of: {names}"
    yield Need("model", known is not None, model or "none named", fix)
    if known is not None:
        path = store.folder(place.environ) / known.file
        there = path.is_file() and path.stat().st_size == known.size
        size = f"{known.size / 1e6:.0f} MB"
        yield Need("file", there or None, str(path) if there else f"{known.file} is fetched at first use ({size})")


def _script(place: Place) -> Need:
    from skillgit.models.scripted import load

    if not place.config.model.script:
        return Need("script", False, "none named", "--set model.script=FILE")
    path = place.root / place.config.model.script
    try:
        return Need("script", True, f"{path}, {len(load(path).rules)} rules")
    except SkillgitError as error:
        return Need("script", False, str(error).splitlines()[0], error.fix)


def _person(place: Place) -> Need:
    if place.exchange is None:
        return Need("repository", False, "prompts are kept in a repository", "git init, then skillgit init")
    waiting = len(list((place.exchange / "prompts").glob("*.md")))
    index = place.exchange / handoff.INDEX
    return Need("person", True, f"{waiting} prompts wait: {index}" if waiting else "no prompt waits for an answer")


def _plugin(name: str) -> Need:
    try:
        registry.builder(name)
    except ConfigError as error:
        return Need("package", False, error.why or error.what, error.fix)
    return Need("package", None, "its package is installed; what else it needs is for its own documentation")
