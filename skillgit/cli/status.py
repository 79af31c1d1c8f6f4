"""`skillgit status`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from skillgit.cli.app import App, complete_skill, json_option, pass_app, print_json
from skillgit.cli.cells import columns, faint, plain, score
from skillgit.report.safe import one_line

if TYPE_CHECKING:
    from skillgit.train.state import RunState

_HEADER = ("skill", "agents", "state", "val", "HEAD", "folder")


@click.command(short_help="List runs and installed skills.")
@click.argument("skill", default="", shell_complete=complete_skill)
@json_option
@pass_app
def status(app: App, skill: str, as_json: bool) -> None:
    """List the training runs of SKILL (or of every skill), proposals that wait, what agents have of it, and what was
    never measured.

    \b
    Folders of agents, in this repository and in the home folder:
      current     as in HEAD
      behind      an older version of HEAD's history
      ahead       a version that is on another branch
      removed     a version of a skill that HEAD has no more
      edited      changed since it was exported
      unknown     a version that this clone does not have
      foreign     of the same name, but not exported from here
      linked      a symbolic link, which is not followed
      unreadable  see the reason beside it
    """
    from skillgit.report import deployed, history
    from skillgit.report.sleep.proposals import overview
    from skillgit.train.journal import read_states

    repo = app.repo()
    skills = [skill] if skill else history.trained_skills(repo)
    journals = {name: read_states(repo, name) for name in skills}
    runs = [_run(state) for found in journals.values() for state in reversed(list(found.states.values()))]
    unreadable = [
        {"skill": name, "run": run, "why": why}
        for name, found in journals.items()
        for run, why in found.unreadable.items()
    ]
    places = deployed.places(repo)
    folders = deployed.deployed(repo, places, skill)
    proposals, open_ = overview(repo, places.values(), skill)
    if as_json:
        found = {"runs": runs, "unreadable": unreadable, "folders": folders, "unmeasured": open_}
        print_json(found | {"proposals": proposals})
        return
    _print_runs(app, runs)
    for bad in unreadable:
        where = f"{plain(bad['skill'])}  {plain(bad['run'])}"
        app.console().print(f"{where}  [bold]unreadable[/]  {plain(bad['why'])}")
    _print_folders(folders)
    for row in proposals:
        stale = "; the skill has changed since" if row["stale"] else ""
        app.console().print(
            f"{plain(row['skill'])}  proposal {plain(row['night'])} waits: "
            f"{row['waiting']} of {row['lessons']} lessons, {row['verdict']}{stale}\n  go on: {plain(row['next'])}"
        )
    for row in open_:
        last = row["measured"]
        earlier = f"; {last['commit'][:10]} had val {score({'hard': last['val']})}" if last else ""
        app.console().print(
            f"{plain(row['skill'])}  HEAD's version was never measured{earlier}\n  go on: {plain(row['next'])}"
        )


def _print_runs(app: App, runs: Sequence[Mapping[str, Any]]) -> None:
    if not runs:
        app.say("no training runs yet; start one with: skillgit train SKILL")
    for run in runs:
        app.console().print(
            f"{run['skill']}  {run['run']}  [bold]{run['status']}[/]  step {run['step']}  "
            f"val {score({'hard': run['baseline']})} -> {score({'hard': run['best']['score']})}  "
            f"{run['accepted']} accepted, {run['rejected']} rejected, {run['skipped']} skipped"
        )
        if run["status"] == "unfinished":
            app.console().print(f"  go on: skillgit train {run['skill']} --resume {run['run']}")


def _print_folders(rows: Sequence[Mapping[str, Any]]) -> None:
    cells = [
        [row["skill"], ", ".join(row["agents"]), _state(row), *(_val(row[key]) for key in ("val", "head_val"))]
        for row in rows
    ]
    shown = [[*map(one_line, line), one_line(row["folder"])] for line, row in zip(cells, rows, strict=True)]
    if rows:
        header, *lines = columns([_HEADER, *shown])
        click.echo("\n".join([faint(header), *lines]))
    for command in dict.fromkeys(row["next"] for row in rows if row["next"]):
        click.echo(f"  go on: {one_line(command)}")


def _val(value: float | None) -> str:
    return score({"hard": value})


def _state(row: Mapping[str, Any]) -> str:
    from skillgit.git.deploy.package import shown

    more = {
        "behind": f" by {row['versions_behind']}",
        "ahead": f" on {row['branch']}",
        "edited": f" {shown(row['edited'])}" if row["edited"] else "",
        "unreadable": f": {row['problem']}",
    }
    return f"{row['state']}{more.get(row['state'], '')}"


def _run(state: RunState) -> dict[str, Any]:
    return {
        "skill": state.skill,
        "run": state.run,
        "status": "finished" if state.closed else "unfinished",
        "reason": state.reason or None,
        "branch": state.branch,
        "step": state.step,
        "baseline": state.initial.score,
        "best": dataclasses.asdict(state.best),
        "accepted": state.accepted,
        "rejected": state.rejected,
        "skipped": state.skipped,
    }
