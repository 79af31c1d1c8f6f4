"""`skillgit best`."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import click

from skillgit.cli.app import App, complete_skill, json_option, pass_app, print_json
from skillgit.cli.cells import score
from skillgit.errors import GitError


@click.command(short_help="Print the best version.")
@click.argument("skill", shell_complete=complete_skill)
@click.option("--run", default="", help="Of this run; by default the newest.")
@click.option("--export", type=click.Path(path_type=Path), help="Copy the skill's files into this folder.")
@json_option
@pass_app
def best(app: App, skill: str, run: str, export: Path | None, as_json: bool) -> None:
    """Print the best version of SKILL's newest (or named) run, and copy it out if asked."""
    from skillgit.report import history

    repo = app.repo()
    place = history.place_of(repo, skill, app.folder)
    state = history.best_state(repo, place.name, run)
    mark = state.best
    files = _export(app, mark.commit, state.path, app.folder / export) if export else []
    if as_json:
        print_json({"skill": place.name, "run": state.run, "best": dataclasses.asdict(mark), "exported": files})
        return
    app.console().print(
        f"{mark.commit}  step {mark.step}  val {score({'hard': mark.score})}  (run {state.run}, branch {state.branch})"
    )
    for name in files:
        app.say(f"exported   {name}")


def _export(app: App, commit: str, path: str, folder: Path) -> list[str]:
    from skillgit.git.objects import contained, list_tree, read_blobs

    repo = app.repo()
    files = {
        name: blob for name, blob in list_tree(repo, commit).items() if name == path or name.startswith(f"{path}/")
    }
    written = []
    for (name, _), data in zip(files.items(), read_blobs(repo, list(files.values())), strict=True):
        place = folder / (contained(name).removeprefix(f"{path}/") if name != path else Path(name).name)
        if place.exists() and place.read_bytes() != data:
            raise GitError(f"{place} exists and differs", fix="export into an empty folder")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data or b"")
        written.append(str(place))
    return written
