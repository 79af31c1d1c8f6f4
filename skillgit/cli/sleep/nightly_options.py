"""The options of `skillgit sleep run` on the commands that start nights later: taken from that command itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from skillgit.cli.app import App
from skillgit.cli.sleep.options import overrides
from skillgit.cli.sleep.run import run

if TYPE_CHECKING:
    from skillgit.config.schema import Config
    from skillgit.git.repository import Repository

_OWN = {"dry_run", "as_json"}  # these mean the command at hand, not the night


def night_parameters() -> list[click.Parameter]:
    """Every option of a night."""
    return [each for each in run.params if isinstance(each, click.Option) and each.name not in _OWN]


def words(ctx: click.Context) -> list[str]:
    """The options of a night that were given, as the words to give them again."""
    found: list[str] = []
    for option in night_parameters():
        if option.name and ctx.get_parameter_source(option.name) == ParameterSource.COMMANDLINE:
            found += _words(option, ctx.params[option.name])
    return found


def _words(option: click.Parameter, value: Any) -> list[str]:
    name = max(option.opts, key=len)
    if isinstance(option, click.Option) and option.is_flag:
        return [name if value else option.secondary_opts[0]]
    values = value if option.multiple else (value,)
    return [f"{name}={each}" for each in values]


def settings(app: App, repo: Repository, options: Mapping[str, Any], report: Callable[[str], None]) -> Config:
    """The configuration as it is now: sessions and hours; what only a night goes by is left to it.

    Args:
        report: told what is read under another name.
    """
    from skillgit.config.load import load_config

    given = [*overrides(options, app.folder), *options["overrides"]]
    return load_config(repo.root, options["config"], given, report, app.folder)
