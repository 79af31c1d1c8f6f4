"""What every command shares: the folder it works in, its repository, and how it prints."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from rich.console import Console

    from skillgit.config.schema import Config
    from skillgit.git.repository import Repository

_PIPE_WIDTH = 200

F = TypeVar("F", bound=Callable[..., Any])


class App:
    """The global options of one command."""

    def __init__(self, folder: Path, *, quiet: bool = False, verbose: bool = False) -> None:
        self.folder, self.quiet, self.verbose = folder, quiet, verbose

    def repo(self) -> Repository:
        """The repository around the folder. Raises `GitError`."""
        from skillgit.git.repository import Repository

        return Repository.open(self.folder)

    def console(self, *, stderr: bool = False) -> Console:
        """A console that honours NO_COLOR, TERM=dumb and pipes."""
        from rich.console import Console

        stream = sys.stderr if stderr else sys.stdout
        # A pipe has no width; what reads it must not get lines folded at 80.
        width = None if stream.isatty() or "COLUMNS" in os.environ else _PIPE_WIDTH
        return Console(stderr=stderr, highlight=False, soft_wrap=True, width=width)

    def say(self, text: str) -> None:
        """Print a line that is no result, unless `-q`."""
        if not self.quiet:
            click.echo(text)


def print_json(value: Any) -> None:
    """One JSON document on standard output."""
    from skillgit.report.safe import json_text

    click.echo(json_text(value))


def load(app: App, root: Path, config: str = "", overrides: Sequence[str] = ()) -> Config:
    """The configuration of a command; what is read under another name is told on standard error.

    Args:
        root: the repository's `root`, or the folder where there is none.
    """
    from skillgit.config.load import load_config

    def report(line: str) -> None:
        if not app.quiet:
            click.echo(f"note: {line}", err=True)

    return load_config(root, config, overrides, report, app.folder)


def complete_skill(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    """Names of the skills in the working tree, for shell completion."""
    folder = Path(ctx.find_root().params.get("folder") or ".")
    found = {path.parent.name for path in folder.glob("skills/*/SKILL.md")}
    return sorted(name for name in found if name.startswith(incomplete))


pass_app = click.make_pass_decorator(App)

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
events_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON event per line.")


def config_options(function: F) -> F:
    """`--config` and `--set`."""
    function = click.option(
        "--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override a configuration key; repeatable."
    )(function)
    return click.option(
        "--config", default="", metavar="FILE|RECIPE", help="Configuration file, or a packaged recipe by name."
    )(function)
