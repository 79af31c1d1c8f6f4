"""`skillgit log`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from skillgit.cli.app import App, complete_skill, json_option, pass_app, print_json
from skillgit.cli.cells import count, plain, score


@click.command(short_help="List a skill's versions.")
@click.argument("skill", shell_complete=complete_skill)
@click.argument("revisions", nargs=-1)
@click.option("--rejected", is_flag=True, help="Add candidates that were not accepted.")
@click.option("-n", "limit", type=click.IntRange(1), default=None, help="Show at most this many versions.")
@json_option
@pass_app
def log(app: App, skill: str, revisions: tuple[str, ...], rejected: bool, limit: int | None, as_json: bool) -> None:
    """List the versions of SKILL, newest first, with the scores measured on each.

    Without REVISIONS: HEAD's history and every training and proposal branch of the skill.
    """
    from skillgit.report import history

    repo = app.repo()
    place = history.place_of(repo, skill, app.folder)
    document: dict[str, Any] = {
        "skill": place.name,
        "versions": history.versions(repo, place, [repo.commit(r) for r in revisions], limit=limit or 0),
    }
    if rejected:
        document["rejected"] = history.rejected(repo, place)
    if as_json:
        print_json(document)
        return
    _print_versions(app, document["versions"])
    if rejected:
        app.console().print("[bold]not accepted[/]")
        _print_versions(app, document["rejected"])


def _print_versions(app: App, versions: Sequence[Mapping[str, Any]]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("commit", "val", "n", "test", "tokens", "step", "verdict", "what"):
        table.add_column(name, overflow="fold", no_wrap=name != "what")
    for version in versions:
        val, test = version["scores"].get("val", {}), version["scores"].get("test", {})
        step = "" if version["step"] is None else str(version["step"])
        cells = [(version["commit"] or version["object"] or "")[:10], score(val), count(val), score(test)]
        cells.append("" if version.get("tokens") is None else str(version["tokens"]))
        table.add_row(*cells, step, version["verdict"] or "", plain(version["subject"]))
    app.console().print(table)
