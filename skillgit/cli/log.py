"""`skillgit log`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from skillgit.cli.app import App, complete_skill, json_option, pass_app, print_json
from skillgit.cli.cells import columns, count, faint, score
from skillgit.report.safe import one_line

_HEADER = ("commit", "val", "n", "test", "tokens", "step", "verdict", "what")


@click.command(short_help="List a skill's versions.")
@click.argument("skill", shell_complete=complete_skill)
@click.argument("revisions", nargs=-1)
@click.option("--graph", is_flag=True, help="Draw how versions hang together, and their scores on val as a curve.")
@click.option("--rejected", is_flag=True, help="Add candidates that were not accepted.")
@click.option("-n", "limit", type=click.IntRange(1), default=None, help="Show at most this many versions.")
@json_option
@pass_app
def log(
    app: App, skill: str, revisions: tuple[str, ...], graph: bool, rejected: bool, limit: int | None, as_json: bool
) -> None:
    """List the versions of SKILL, newest first, with the scores measured on each.

    Without REVISIONS: HEAD's history and every training and proposal branch of the skill.
    """
    from skillgit.report import history

    repo = app.repo()
    place = history.place_of(repo, skill, app.folder)
    commits = [repo.commit(revision) for revision in revisions]
    document: dict[str, Any] = {
        "skill": place.name,
        "versions": history.versions(repo, place, commits, limit=limit or 0, graph=graph),
    }
    if rejected:
        document["rejected"] = history.rejected(repo, place)
    if as_json:
        print_json(document)
        return
    lines = [*(_curve(document["versions"]) if graph else ()), *_table(document["versions"])]
    if rejected:
        lines += ["not accepted", *_table(document["rejected"])]
    click.echo("\n".join(lines))


def _curve(versions: Sequence[Mapping[str, Any]]) -> list[str]:
    from skillgit.report.graph import curve, val_scores

    line = curve(val_scores(versions), sys.stdout.encoding or "ascii")
    return [line] if line else []


def _table(versions: Sequence[Mapping[str, Any]]) -> list[str]:
    head, *lines = columns([_HEADER, *(_cells(version) for version in versions)])
    width = max((len(version["graph"][-1]) for version in versions if "graph" in version), default=-1) + 1
    return [faint(f"{'':{width}}{head}"), *_drawn(versions, lines, width)]


def _drawn(versions: Sequence[Mapping[str, Any]], lines: Sequence[str], width: int) -> Iterator[str]:
    """The lines with git's drawing on their left, where there is one."""
    for version, line in zip(versions, lines, strict=True):
        *between, mark = version.get("graph", ("",))
        yield from between
        yield f"{mark:{width}}{line}"


def _cells(version: Mapping[str, Any]) -> tuple[str, ...]:
    val, test = version["scores"].get("val", {}), version["scores"].get("test", {})
    step, tokens = ("" if version.get(key) is None else str(version[key]) for key in ("step", "tokens"))
    name = (version["commit"] or version["object"] or "")[:10]
    what = (one_line(version["verdict"] or ""), one_line(version["subject"]))
    return (name, score(val), count(val), score(test), tokens, step, *what)
