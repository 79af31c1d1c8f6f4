"""`skillgit eval`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skillgit.cli.app import App, complete_skill, config_options, json_option, load, pass_app, print_json
from skillgit.cli.published import PublishedCommand

if TYPE_CHECKING:
    from skillgit.config.schema import Config
    from skillgit.evals.measure import Measurement
    from skillgit.git.repository import Repository
    from skillgit.git.skillstore import Place, Version


@click.command("eval", cls=PublishedCommand, short_help="Measure a skill.")
@click.argument("skill", default="", shell_complete=complete_skill)
@click.argument("revision", default="HEAD")
@config_options
@click.option("--skill", "file", type=click.Path(path_type=Path), help="Measure this Markdown file instead.")
@click.option("--split", default="val", help="train, val (valid_seen), test (valid_unseen) or all.", show_default=True)
@click.option("--dry-run", is_flag=True, help="Say how many calls it would take; call nothing.")
@json_option
@pass_app
def evaluate(app: App, /, skill: str, revision: str, file: Path | None, split: str, **options: Any) -> None:
    """Measure SKILL as of REVISION on one split and keep the record as a git note on the skill object.

    What was measured before under the same conditions is not paid again.
    """
    from skillgit.errors import TaskError
    from skillgit.tasks.splits import split_name

    repo = app.repo()
    config = load(app, repo, options["config"], options["overrides"])
    place, version = _subject(app, repo, config, skill, revision, file)
    names = ("train", "val", "test") if split == "all" else (split_name(split),)
    found = (_measure(app, repo, config, place, version, name, dry_run=options["dry_run"]) for name in names)
    results = [result for result in found if result]
    if not results:
        raise TaskError(f"there are no {split} tasks", fix="add them, or name another split")
    if options["as_json"]:
        print_json(results[0] if len(results) == 1 else {"records": results})
        return
    for result in results:
        if options["dry_run"]:
            app.say(f"{result['split']}: {result['calls']} target calls at most")
        else:
            click.echo(f"{result['split']} hard {result['hard']:.3f} soft {result['soft']:.3f} n={result['n']}")
    if not options["dry_run"]:
        app.say(f"record     git notes --ref=skillgit/evals show {version.object[:12]}")


def _subject(
    app: App, repo: Repository, config: Config, skill: str, revision: str, file: Path | None
) -> tuple[Place, Version]:
    """What is measured: a version in git, or a file as it is."""
    from skillgit.errors import GitError, SkillError
    from skillgit.evals.setup import locate
    from skillgit.git.skillstore import Place, read_version, store_file

    if file is not None:
        path = app.folder / file
        if not path.is_file():
            raise SkillError(f"no file {file}", fix="give the Markdown file to measure")
        name = skill or config.env.name or path.stem
        return Place(name, file.as_posix(), file.as_posix()), store_file(repo, path)
    place = locate(repo, config, skill, app.folder)
    version = read_version(repo, repo.commit(revision), place)
    if version is None:
        raise GitError(f"{revision} holds no {place.document}", fix=f"git log -- {place.path}")
    return place, version


def _measure(
    app: App, repo: Repository, config: Config, place: Place, version: Version, split: str, *, dry_run: bool
) -> dict[str, Any]:
    import os

    from skillgit.evals import setup
    from skillgit.evals.measure import measure
    from skillgit.report.training import TrainingView

    benchmark, splits = setup.load_tasks(repo, config, place)
    tasks = getattr(splits, split)
    if not tasks:
        return {}
    if dry_run:
        calls = len(tasks) * setup.samples(config, split)
        return {"split": split, "n": len(tasks), "calls": calls, "skill": version.object}
    view = TrainingView(app.console(stderr=True), quiet=app.quiet)
    with setup.open_store(repo) as store:
        run = f"eval-{version.object}"
        with setup.open_caller(
            repo, config, "target", store, setup.make_budget(config), run, view, os.environ
        ) as target:
            rollouts = setup.make_rollouts(config, benchmark, target, view)
            conditions = setup.conditions(config, benchmark, splits, split, target)
            measured = measure(rollouts, version, tasks, step=0, stage=split, samples=conditions.samples)
            view.close()
            return _record(repo, measured, conditions)


def _record(repo: Repository, measured: Measurement, conditions: Any) -> dict[str, Any]:
    from skillgit.evals import records
    from skillgit.git.publish import Publication, publish

    record = records.build(measured, conditions, usage={})
    publish(repo, Publication(notes=records.note_lines(record, records.results(measured, conditions))))
    return record
