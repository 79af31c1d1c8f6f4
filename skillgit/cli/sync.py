"""`skillgit sync`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from skillgit.cli.app import App, json_option, pass_app, print_json
from skillgit.cli.cells import plain

if TYPE_CHECKING:
    from skillgit.git.sync.notes import RefReport
    from skillgit.git.sync.runs import RunReport


@click.command(short_help="Exchange records with a remote.")
@click.argument("remote", default="")
@click.option("--runs", is_flag=True, help="Exchange the journals of runs and rejected lessons, too.")
@click.option("--dry-run", is_flag=True, help="Say what would move; move no ref on either side.")
@json_option
@pass_app
def sync(app: App, remote: str, runs: bool, dry_run: bool, as_json: bool) -> None:
    """Exchange evaluation records, results and gate lines with REMOTE.

    Lines of both sides are united, and pushed without force. Without REMOTE: that of the current branch, else origin,
    else the only one. Exits 7 when a journal went on differently here and there.
    """
    from skillgit.git.sync import notes as syncing
    from skillgit.git.sync import runs as syncruns
    from skillgit.git.sync import transport

    repo = app.repo()
    name = transport.choose(repo, remote)

    def say(text: str) -> None:
        if not app.quiet:
            click.echo(text, err=True)

    reports = syncing.sync_notes(repo, name, say, dry_run=dry_run)
    journals = syncruns.sync_runs(repo, name, say, dry_run=dry_run) if runs else []
    if as_json:
        document = {"remote": name, "dry_run": dry_run, "notes": [asdict(report) for report in reports]}
        print_json(document | {"runs": [asdict(report) for report in journals]})
    else:
        _print(app, name, reports, journals, dry_run)
    if failed := syncing.refused(reports, name) or syncruns.failure(journals, name):
        raise failed


def _print(app: App, remote: str, notes: Sequence[RefReport], runs: Sequence[RunReport], dry_run: bool) -> None:
    would = "would be " if dry_run else ""
    for report in notes:
        lines = [f"{report.received} lines {would}received", f"{report.sent} {would}sent"]
        lines += [f"{report.removed} {would}removed, as on the other side"] if report.removed else []
        lines += ["pushed"] if report.pushed else ["refused"] if report.refused else []
        app.console().print(f"{report.ref}  {', '.join(lines)}")
    for run in runs:
        moved = would if run.action in ("received", "sent") else ""
        app.console().print(f"{plain(run.ref)}  {moved}{run.action}{f': {plain(run.why)}' if run.why else ''}")
    if not runs and not any(report.received or report.sent or report.removed or report.refused for report in notes):
        app.say(f"nothing new here or on {remote}")
