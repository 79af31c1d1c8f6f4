"""`skillgit show`."""

from __future__ import annotations

import sys

import click

from skillgit.cli.app import App, complete_skill, json_option, pass_app, print_json
from skillgit.cli.cells import patch, styled


@click.command(short_help="Show one version.")
@click.argument("revision")
@click.argument("skill", default="", shell_complete=complete_skill)
@json_option
@pass_app
def show(app: App, revision: str, skill: str, as_json: bool) -> None:
    """Show the version REVISION: its patch, the gate's decision, flipped tasks, the analysts' reasoning, and usage.

    A candidate that was not accepted has no commit: skillgit log SKILL --rejected lists them, and RUN:STEP, or the id
    printed there, shows one. SKILL may be left out when only one skill is changed.
    """
    from skillgit.report import show_text
    from skillgit.report.show import show as described

    shown = described(app.repo(), revision, skill, app.folder)
    if as_json:
        print_json(shown)
        return
    click.echo("\n".join(styled(show_text.lines(shown))))
    if shown["patch"]:
        # What goes to a program stays as it is, so that the patch can be applied.
        text = patch(shown["patch"]) if sys.stdout.isatty() else shown["patch"]
        click.echo(f"\n{text}", nl=not text.endswith("\n"))
