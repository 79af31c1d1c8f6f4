"""`skillgit demo`."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import click

from skillgit.cli.app import App, config_options, events_option, load, pass_app
from skillgit.errors import ConfigError

_SKILL = "house-rules"


@click.command(short_help="Train an example skill.")
@click.argument("folder", type=click.Path(path_type=Path), required=False)
@config_options
@click.option("--scripted", is_flag=True, help="A tour in seconds: scripted replies instead of models.")
@events_option
@pass_app
def demo(app: App, folder: Path | None, config: str, overrides: tuple[str, ...], scripted: bool, as_json: bool) -> None:
    """Create a repository with an example skill in FOLDER (or a new temporary folder) and train the skill there.

    The skill is an assistant that knows none of its house rules yet. Two small models run on this machine, one does
    the tasks and a larger one proposes edits: keyless, and offline once the models are here (1.6 GB, fetched on first
    use). The repository is left for you to look at.
    """
    from skillgit.cli.train import _sink, run_training
    from skillgit.git.repository import Repository
    from skillgit.report.demo import tell
    from skillgit.train.start import prepare

    place = _create(app.folder / folder if folder else None)
    app.say(f"repository {place}")
    repo = Repository.open(place)
    extra = ["model.backend=scripted", f"model.script={place / 'script.json'}"] if scripted else []
    settings = load(app, repo.root, config or "demo", [*extra, *overrides])
    prepared = prepare(repo, settings, _SKILL, cwd=place)
    run_training(prepared, _sink(app, as_json=as_json))
    if not as_json and not app.quiet:
        tell(app.console(), repo, prepared.place, prepared.state.branch)


def _create(folder: Path | None) -> Path:
    from skillgit.config.packaged import packaged
    from skillgit.git.bootstrap import first_commit

    if folder is not None and folder.exists() and any(folder.iterdir()):
        raise ConfigError(f"{folder} is not empty", fix="name a new folder, or none for a temporary one")
    place = folder or Path(tempfile.mkdtemp(prefix="skillgit-demo-"))
    shutil.copytree(packaged("examples") / _SKILL, place, dirs_exist_ok=True)
    first_commit(place, "An assistant that knows none of its house rules yet\n")
    return place.resolve()
