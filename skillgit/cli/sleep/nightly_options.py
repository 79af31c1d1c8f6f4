"""The options of `skillgit sleep run` on the commands that start nights later: taken from that command itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from skillgit.cli.app import App
from skillgit.cli.sleep import options
from skillgit.cli.sleep.run import run
from skillgit.errors import ConfigError

if TYPE_CHECKING:
    from skillgit.config.schema import Config
    from skillgit.git.repository import Repository

_OWN = {"dry_run", "as_json"}  # these mean the command at hand, not the night


def night_parameters() -> list[click.Parameter]:
    """Every option of a night."""
    return [each for each in run.params if isinstance(each, click.Option) and each.name not in _OWN]


def words(ctx: click.Context) -> list[str]:
    """The options of a night that were given, as the words to give them again."""
    return options.words(ctx, night_parameters())


def lacking(repo: Repository, config: Config) -> Iterator[str]:
    """What every night would end with: better told now than found in the log tomorrow."""
    import os

    from skillgit.models.base import ROLES
    from skillgit.models.roles import role_spec

    for role in ROLES:
        try:
            role_spec(config, role, os.environ, repo.root)
        except ConfigError as error:
            yield f"nights cannot run yet: {error.what}"


def settings(app: App, repo: Repository, given: Mapping[str, Any]) -> Config:
    """The configuration as it is now: sessions and hours; what only a night goes by is left to it.

    Args:
        given: the options of the command.
    """
    from skillgit.config.load import load_config

    values = [*options.overrides(given, app.folder), *given["overrides"]]
    return load_config(repo.root, given["config"], values, lambda _: None, app.folder)
