"""`skillgit noise`."""

from __future__ import annotations

import os
from typing import Any

import click

from skillgit.cli.app import App, complete_skill, config_options, json_option, load, pass_app, print_json


@click.command(short_help="Measure how noisy a skill's score is.")
@click.argument("skill", shell_complete=complete_skill)
@click.argument("revision", default="HEAD")
@config_options
@click.option(
    "--confidence", type=click.FloatRange(0.5, 0.9999), default=0.9, show_default=True, help="How sure to be."
)
@click.option("--dry-run", is_flag=True, help="Say how many calls it would take; call nothing.")
@json_option
@pass_app
def noise(app: App, /, skill: str, revision: str, confidence: float, **options: Any) -> None:
    """Measure SKILL against itself: the same text twice on val.

    Prints the share of tasks whose result flips although nothing changed, and the smallest change of the mean score
    that can be believed at this number of tasks. The result is kept as a note, and the gate quotes it.
    """
    from skillgit.errors import GitError
    from skillgit.evals.noise import measure_noise
    from skillgit.evals.setup import load_tasks
    from skillgit.git.skillstore import find, read_version
    from skillgit.report.training import TrainingView

    repo = app.repo()
    config = load(app, repo.root, options["config"], options["overrides"])
    place = find(repo, skill, path=config.skill.path, cwd=app.folder)
    version = read_version(repo, repo.commit(revision), place)
    if version is None:
        raise GitError(f"{revision} holds no {place.document}", fix=f"git log -- {place.path}")
    if options["dry_run"]:
        _, splits = load_tasks(repo, config, place)
        app.say(f"{2 * len(splits.val)} target calls at most")
        return
    view = TrainingView(app.console(stderr=True), quiet=app.quiet)
    found = measure_noise(repo, config, place, version, confidence, view, os.environ)
    view.close()
    if options["as_json"]:
        print_json(found)
        return
    change = found["believable_change"]
    click.echo(f"flip rate          {found['flip_rate']:.3f} (same text twice, {found['n']} val tasks)")
    shown = "none: more tasks or samples are needed" if change is None else f"{change:.3f}"
    click.echo(f"believable change  {shown} (confidence {confidence:g})")
