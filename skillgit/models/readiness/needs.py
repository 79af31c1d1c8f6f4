"""What a backend needs, as far as this machine can tell."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from skillgit.config.schema import Config
from skillgit.errors import ConfigError
from skillgit.models.base import ModelSpec, Role
from skillgit.models.roles import role_spec


@dataclass(frozen=True)
class Need:
    """One thing that a backend needs.

    Attributes:
        ok: `None` when it cannot be told without a call.
        fix: what to do when it is missing.
        variables: the environment variables that were looked at, and whether each is set.
    """

    name: str
    ok: bool | None
    detail: str
    fix: str = ""
    variables: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True)
class Place:
    """Where backends are looked for.

    Attributes:
        root: where relative paths of the configuration start from.
        exchange: folder of handed-off prompts; `None` outside a repository.
    """

    config: Config
    root: Path
    exchange: Path | None
    environ: Mapping[str, str]

    def uses(self, role: Role) -> str:
        """The backend of a role."""
        section = self.config.model
        return str(getattr(section, f"{role}_backend") or section.backend)

    def looked(self, names: Iterable[str]) -> dict[str, bool]:
        """Variables, and whether each is set."""
        return {name: bool(self.environ.get(name, "").strip()) for name in names}

    def spec(self, name: str, role: Role, model: str) -> ModelSpec | Need:
        """How a role would reach a model of a backend, or the setting that cannot be used."""
        chosen: dict[str, Any] = {f"{role}_backend": name, role: model}
        section = dataclasses.replace(self.config.model, **chosen)
        try:
            return role_spec(dataclasses.replace(self.config, model=section), role, self.environ, self.root)
        except ConfigError as error:
            return Need("settings", False, error.what, error.fix)


def package(name: str, module: str, extra: str) -> Need:
    """A Python package that an extra of ours brings."""
    try:
        found = find_spec(module) is not None
    except ModuleNotFoundError:
        found = False
    detail = f"{name} is {'' if found else 'not '}installed"
    return Need("package", found, detail, "" if found else f"pip install 'skillgit[{extra}]'")
