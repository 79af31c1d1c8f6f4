"""`skillgit eval`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from skillgit.cli.app import App, complete_skill, config_options, json_option, load, pass_app, print_json

if TYPE_CHECKING:
    from skillgit.config.schema import Config
    from skillgit.evals.measure import Measurement
    from skillgit.git.repository import Repository
    from skillgit.git.skillstore import Place, Version


@click.command("eval", short_help="Measure a skill.")
@click.argument("skill", shell_complete=complete_skill)
@click.argument("revision", default="HEAD")
@config_options
@click.option("--split", default="val", help="train, val (valid_seen) or test (valid_unseen).", show_default=True)
@click.option("--dry-run", is_flag=True, help="Say how many calls it would take; call nothing.")
@json_option
@pass_app
def evaluate(app: App, /, skill: str, revision: str, split: str, **options: Any) -> None:
    """Measure SKILL as of REVISION on one split and keep the record as a git note on the skill object.

    What was measured before under the same conditions is not paid again.
    """
    from skillgit.errors import GitError
    from skillgit.git.skillstore import find, read_version
    from skillgit.tasks.splits import split_name

    repo = app.repo()
    config = load(app, repo, options["config"], options["overrides"])
    place = find(repo, skill, path=config.skill.path, cwd=app.folder)
    version = read_version(repo, repo.commit(revision), place)
    if version is None:
        raise GitError(f"{revision} holds no {place.document}", fix=f"git log -- {place.path}")
    result = _measure(app, repo, config, place, version, split_name(split), dry_run=options["dry_run"])
    if options["as_json"]:
        print_json(result)
    elif options["dry_run"]:
        app.say(f"{result['n']} target calls at most")
    else:
        click.echo(f"{result['split']} hard {result['hard']:.3f} soft {result['soft']:.3f} n={result['n']}")
        click.echo(f"record     git notes --ref=skillgit/evals show {result['skill'][:12]}")


def _measure(
    app: App, repo: Repository, config: Config, place: Place, version: Version, split: str, *, dry_run: bool
) -> dict[str, Any]:
    import os

    from skillgit.evals import setup
    from skillgit.evals.measure import measure
    from skillgit.report.training import TrainingView

    benchmark, splits = setup.load_tasks(repo, config, place)
    tasks = getattr(splits, split)
    if dry_run:
        return {"split": split, "n": len(tasks), "skill": version.object}
    view = TrainingView(app.console(stderr=True), quiet=app.quiet)
    with setup.open_store(repo) as store:
        run = f"eval-{version.object}"
        with setup.open_caller(
            repo, config, "target", store, setup.make_budget(config), run, view, os.environ
        ) as target:
            rollouts = setup.make_rollouts(config, benchmark, target, view)
            measured = measure(rollouts, version, tasks, step=0, stage=split)
            view.close()
            return _record(repo, measured, setup.conditions(config, benchmark, splits, split, target))


def _record(repo: Repository, measured: Measurement, conditions: Any) -> dict[str, Any]:
    from skillgit.evals import records
    from skillgit.git.publish import Publication, publish

    record = records.build(measured, conditions, usage={})
    publish(repo, Publication(notes=records.note_lines(record, records.results(measured, conditions))))
    return record
