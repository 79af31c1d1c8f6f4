"""`skillgit log`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from skillgit.cli.app import App, complete_skill, json_option, pass_app, print_json
from skillgit.cli.cells import columns, count, faint, score, tell
from skillgit.report.safe import one_line

if TYPE_CHECKING:
    from skillgit.git.skillstore import Place

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
    from skillgit.report.steps import StepRecords

    repo = app.repo()
    commits = [repo.commit(revision) for revision in revisions]
    place = history.place_of(repo, skill, app.folder, *commits[:1])
    document: dict[str, Any] = {
        "skill": place.name,
        "versions": history.versions(repo, place, commits, limit=limit or 0, graph=graph),
    }
    oldest = document["versions"][-1]["commit"] if document["versions"] and not limit else ""
    source = history.renamed_from(repo, place, oldest) if oldest else ""
    document["renamed"] = {"from": source, "in": oldest} if source else None
    if rejected:
        journals = StepRecords(repo, place.name)
        document |= {"rejected": history.rejected(journals), "unreadable": journals.unreadable}
    if as_json:
        print_json(document)
        return
    lines = [*(_curve(document["versions"]) if graph else ()), *_table(document["versions"])]
    if rejected:
        lines += ["not accepted (skillgit show STEP tells all of one)", *_table(document["rejected"])]
    click.echo("\n".join(lines))
    tell(_remarks(place, document), quiet=app.quiet)


def _remarks(place: Place, document: Mapping[str, Any]) -> Iterator[str]:
    from skillgit.report.steps import problems

    if not document["versions"]:
        yield f"no commit holds {one_line(place.path)} here: git add it and git commit, or name another REVISION"
    if renamed := document["renamed"]:
        name, before = one_line(renamed["from"].rpartition("/")[2]), f"{renamed['in'][:10]}^"
        yield f"it was renamed from {one_line(renamed['from'])}; for what was before: skillgit log {name} {before}"
    yield from problems(place.name, (), document.get("unreadable", ()))
    other = [version["commit"][:10] for version in document["versions"] if version["other_conditions"]]
    if other:
        what = "1 version has" if len(other) == 1 else f"{len(other)} versions have"
        told = f"git notes --ref=skillgit/evals show {other[0]}:{one_line(place.path)}"
        yield f"{what} scores from other tasks, judge or target, which cannot stand beside these: {told}"


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
    if version.get("kind") == "step":
        step = f"{version['run']}:{step}"  # as `show` takes it: several runs have a step of this number
    name = (version["commit"] or version["object"] or "")[:10]
    what = (one_line(version["verdict"] or ""), one_line(version["subject"]))
    return (name, score(val), count(val), score(test), tokens, step, *what)
