"""`skillgit sleep nightly`: what schedulers and the watcher start."""

from __future__ import annotations

import click

from skillgit.cli.app import App, pass_app
from skillgit.errors import ConfigError


@click.command(hidden=True, add_help_option=False, context_settings={"ignore_unknown_options": True})
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
@pass_app
def nightly(app: App, /, options: tuple[str, ...]) -> None:
    """Run a night as `skillgit sleep run OPTIONS` does; how it went is kept in the log, not printed."""
    from skillgit.cli.sleep.run import run
    from skillgit.report.events import json_sink
    from skillgit.sleep.watch.nights import kept

    with kept(app.repo(), json_sink):
        try:
            run.main([*options, "--json"], prog_name="skillgit sleep run", standalone_mode=False, obj=app)
        except click.ClickException as error:
            raise ConfigError(error.format_message(), fix="skillgit sleep run --help") from error
