"""`skillgit eval`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skillgit.cli.app import App, complete_skill, config_options, json_option, load, pass_app, print_json
from skillgit.cli.published import PublishedCommand

if TYPE_CHECKING:
    from skillgit.config.schema import Config
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
    config = load(app, repo.root, options["config"], options["overrides"])
    place, version = _subject(app, repo, config, skill, revision, file)
    names = ("train", "val", "test") if split == "all" else (split_name(split),)
    dry = options["dry_run"]
    subject = (repo, config, place, version, names)
    results = _planned(*subject) if dry else _measure(app, *subject)
    if not results:
        raise TaskError(f"there are no {split} tasks", fix="add them, or name another split")
    if options["as_json"]:
        print_json(results[0] if len(results) == 1 else {"records": results})
        return
    for result in results:
        if options["dry_run"]:
            app.say(f"{result['split']}: {result['calls']} target calls at most")
        else:
            click.echo(_line(result))
    if not options["dry_run"]:
        app.say(f"record     git notes --ref=skillgit/evals show {version.object[:12]}")


def _line(record: dict[str, Any]) -> str:
    missing = len(record.get("errors", ()))
    note = f" ({missing} tasks got no answer and are left out)" if missing else ""
    lenient = f" lenient {record['lenient']:.3f}" if record.get("lenient") is not None else ""
    return f"{record['split']} hard {record['hard']:.3f} soft {record['soft']:.3f}{lenient} n={record['n']}{note}"


def _planned(
    repo: Repository, config: Config, place: Place, version: Version, names: Sequence[str]
) -> list[dict[str, Any]]:
    from skillgit.evals import setup
    from skillgit.train.estimate import requests

    benchmark, splits = setup.load_tasks(repo, config, place)
    each, sizes = requests(benchmark), {name: len(getattr(splits, name)) for name in names}
    return [
        {"split": name, "n": size, "calls": each * size * setup.samples(config, name), "skill": version.object}
        for name, size in sizes.items()
        if size
    ]


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
    app: App, repo: Repository, config: Config, place: Place, version: Version, names: Sequence[str]
) -> list[dict[str, Any]]:
    """Measure the named splits, those that hold tasks, within one budget, and keep the records."""
    import os
    from functools import partial

    from skillgit.evals import meter, setup
    from skillgit.models.pending import answered, held
    from skillgit.report.training import TrainingView

    view = TrainingView(app.console(stderr=True), quiet=app.quiet)
    run, budget = f"eval-{version.object}", setup.make_budget(config)
    try:
        with meter.opened(repo, config, place, run, budget, view, os.environ) as measuring:
            measure = held(partial(measuring.split, version))
            return answered(measure(name) for name in names if getattr(measuring.splits, name))
    finally:
        view.close()
