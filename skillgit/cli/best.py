"""`skillgit best`."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import click

from skillgit.cli.app import App, complete_skill, json_option, pass_app, print_json
from skillgit.cli.cells import score


@click.command(short_help="Print the best version.")
@click.argument("skill", shell_complete=complete_skill)
@click.option("--run", default="", help="Of this run; by default the newest.")
@click.option("--export", type=click.Path(path_type=Path), help="Copy the skill's files into this folder.")
@json_option
@pass_app
def best(app: App, skill: str, run: str, export: Path | None, as_json: bool) -> None:
    """Print the best version of SKILL's newest (or named) run, and copy it out if asked."""
    from skillgit.git.deploy.install import Target, install
    from skillgit.report import history, packing

    repo = app.repo()
    place = history.place_of(repo, skill, app.folder)
    state = history.best_state(repo, place.name, run)
    mark, files = state.best, list[str]()
    if export:
        package, _ = packing.package_of_run(repo, state, run or packing.BEST)
        done = install(repo, package, Target.at(app.folder / export))
        files = [str(done.folder / name) for name in done.files]
    if as_json:
        print_json({"skill": place.name, "run": state.run, "best": dataclasses.asdict(mark), "exported": files})
        return
    app.console().print(
        f"{mark.commit}  step {mark.step}  val {score({'hard': mark.score})}  (run {state.run}, branch {state.branch})"
    )
    if not packing.in_clone(repo, state):
        click.echo(f"note: this clone does not have that commit; it is on {state.branch} elsewhere", err=True)
    for name in files:
        app.say(f"exported   {name}")
