"""`skillgit status`."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import click

from skillgit.cli.app import App, complete_skill, json_option, pass_app, print_json
from skillgit.cli.cells import score

if TYPE_CHECKING:
    from skillgit.train.state import RunState


@click.command(short_help="List training runs.")
@click.argument("skill", default="", shell_complete=complete_skill)
@json_option
@pass_app
def status(app: App, skill: str, as_json: bool) -> None:
    """List the training runs of SKILL (or of every skill) and where they stand."""
    from skillgit.report import history

    repo = app.repo()
    skills = [skill] if skill else history.trained_skills(repo)
    runs = [_run(state) for name in skills for state in history.states(repo, name)]
    if as_json:
        print_json({"runs": runs})
        return
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
