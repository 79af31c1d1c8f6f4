"""`skillgit import-run`."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skillgit.cli.app import App, json_option, load, pass_app, print_json

if TYPE_CHECKING:
    from skillgit.train.import_records import Step
    from skillgit.train.import_run import Imported

_STATUS = {
    "new": ("imported", "would import"),
    "grown": ("took further", "would take further"),
    "known": ("already there", "already there"),
}


@click.command(short_help="Import a SkillOpt run.")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--skill", default="", help="Name of the skill; by default the environment's, or the directory's.")
@click.option("--path", default="", help="Folder or Markdown file of the skill in the repository.")
@click.option("--dry-run", is_flag=True, help="Show what would be written; write nothing.")
@json_option
@pass_app
def import_run(app: App, directory: Path, skill: str, path: str, dry_run: bool, as_json: bool) -> None:
    """Import DIR, the output directory of a SkillOpt run, as if it had been trained here.

    Its versions become commits on train/SKILL/skillopt-…, its scores git notes, its step records and candidates the
    run's journal. Nothing in DIR is executed, credentials in its configuration are left out, and damaged files are
    named and passed over. Importing again adds nothing; a directory that has grown since is taken further.

    \b
    Examples:
      skillgit import-run outputs/searchqa
      skillgit import-run outputs/searchqa --skill qa --dry-run
    """
    from skillgit.train.import_run import import_run as take_over

    repo = app.repo()
    sign = load(app, repo.root).git.sign == "auto"
    found = take_over(repo, directory, skill=skill, path=path, dry_run=dry_run, sign=sign)
    if as_json:
        print_json(_document(found, dry_run=dry_run))
        return
    for problem in found.problems:
        click.echo(f"warning: {directory / problem.file}: {problem.what}", err=True)
    _print(app, found, dry_run=dry_run)


def _document(found: Imported, *, dry_run: bool) -> dict[str, Any]:
    return {
        "skill": found.place.name,
        "document": found.place.document,
        "run": found.run,
        "branch": found.branch,
        "status": found.status,
        "dry_run": dry_run,
        "versions": [_version(step) for step in found.versions],
        "rejected": sum(step.tick.verdict == "reject" for step in found.steps),
        "records": found.records,
        "left_out": list(found.left_out),
        "problems": [dataclasses.asdict(problem) for problem in found.problems],
    }


def _version(step: Step) -> dict[str, Any]:
    tick, measured = step.tick, step.tick.scores
    return {
        "commit": step.commit,
        "object": step.object,
        "step": tick.step,
        "epoch": tick.epoch,
        "verdict": tick.verdict,
        "title": step.title,
        "scores": {"val": {"hard": measured.hard, "soft": measured.soft, "n": measured.n}} if step.measured else {},
    }


def _print(app: App, found: Imported, *, dry_run: bool) -> None:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("commit", "val", "step", "verdict", "what"):
        table.add_column(name, overflow="fold", no_wrap=name != "what")
    for step in found.versions:
        hard = step.tick.scores.hard if step.measured else None
        score = "–" if hard is None else f"{hard:.3f}"
        table.add_row((step.commit or "")[:10], score, str(step.tick.step), step.tick.verdict, escape(step.title))
    app.console().print(table)
    rejected = sum(step.tick.verdict == "reject" for step in found.steps)
    click.echo(
        f"{_STATUS[found.status][dry_run]}: {found.branch}, {len(found.versions)} versions, {rejected} rejected, "
        f"{found.records} records"
    )
    for name in found.left_out:
        app.say(f"left out   {name} (a credential)")
    if not dry_run:
        app.say(f"next: skillgit log {found.place.name}")
