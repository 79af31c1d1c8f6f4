"""`skillgit bisect`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from skillgit.cli.app import App, complete_skill, config_options, json_option, load, pass_app, print_json
from skillgit.cli.cells import patch

if TYPE_CHECKING:
    from skillgit.config.schema import Config
    from skillgit.evals.regression import Known
    from skillgit.git.repository import Repository


@click.command(short_help="Find the commit that broke a task or lowered the score.")
@click.argument("skill", shell_complete=complete_skill)
@click.option("--good", required=True, metavar="REV", help="A revision that was good; an ancestor of the bad one.")
@click.option("--bad", required=True, metavar="REV", help="A later revision that is bad.")
@click.option("--task", default="", metavar="ID", help="Look at this task alone, not at the score of a whole split.")
@click.option(
    "--metric",
    type=click.Choice(["hard", "soft", "score"]),
    default="score",
    show_default=True,
    help="What is compared; score is the gate's (evaluation.gate_metric).",
)
@click.option("--split", default="", help="train, val or test.  [default: val, or where the task is]")
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    default=None,
    help="A version is bad when it scores below this.  [default: halfway between good and bad]",
)
@config_options
@click.option("--max-calls", type=click.IntRange(1), default=None, help="Make at most this many target calls.")
@click.option("--dry-run", is_flag=True, help="Say what is known and how many calls it would take; call nothing.")
@json_option
@pass_app
def bisect(app: App, /, skill: str, **options: Any) -> None:
    """Find the commit that broke a task of SKILL, or lowered its score.

    Searches the versions between a good and a bad revision by halving. What was measured before under the present
    configuration is taken from the records, and only what is missing is measured: whole splits are kept as records,
    as by eval; of single tasks only the calls are kept. Stopped at any moment, the same command goes on from there.

    Calls saved are those that measuring every version in the range would take, less those spent.
    """
    from skillgit.evals import regression, setup
    from skillgit.report import bisect as report

    repo = app.repo()
    limit = options["max_calls"]
    overrides = [*options["overrides"], *([f"budget.calls={limit}"] if limit else [])]
    config = load(app, repo.root, options["config"], overrides)
    place = setup.locate(repo, config, skill, app.folder)
    known = regression.look_up(repo, config, place, _question(repo, options), os.environ)
    document = report.plan(known) if options["dry_run"] else _found(app, repo, config, known)
    if options["as_json"]:
        print_json(document)
    elif options["dry_run"]:
        _print_plan(app, document)
    else:
        _print_answer(document)


def _question(repo: Repository, options: Mapping[str, Any]) -> Any:
    from skillgit.evals.regression import Question
    from skillgit.tasks.splits import split_name

    return Question(
        repo.commit(options["good"]),
        repo.commit(options["bad"]),
        options["task"],
        options["metric"],
        split_name(options["split"]) if options["split"] else None,
        options["threshold"],
    )


def _found(app: App, repo: Repository, config: Config, known: Known) -> dict[str, Any]:
    from skillgit.evals.regression import find
    from skillgit.report.bisect import BisectView, answer

    view = BisectView(app.console(stderr=True), quiet=app.quiet)
    try:
        return answer(repo, find(repo, config, known, view, os.environ))
    finally:
        view.close()


def _print_plan(app: App, plan: Mapping[str, Any]) -> None:
    from skillgit.report.bisect import plan_line

    known = sum(version["score"] is not None for version in plan["versions"])
    click.echo(plan_line(len(plan["versions"]), known, plan["measurements"], plan["calls"]["per_version"]))
    for version in plan["versions"]:
        score = "unknown" if version["score"] is None else f"{version['score']:.3f}"
        app.say(f"  {version['commit'][:12]}  {score}")


def _print_threshold(found: Mapping[str, Any]) -> None:
    """Where the line was, and whether the score had fallen before."""
    good, limit = found["good"], found["threshold"]
    click.echo(f"bad means below {limit:.3f}; good {good['score']:.3f}, bad {found['bad']['score']:.3f}")
    for part in found["first_bad"]["before"]:
        if limit <= part["score"] < good["score"]:
            click.echo(f"note: a part of the fall came earlier; to find it: --bad {part['commit'][:12]}")


def _print_answer(found: Mapping[str, Any]) -> None:
    from skillgit.report.safe import visible

    first, calls = found["first_bad"], found["calls"]
    click.echo(f"first bad commit: {first['commit']}")
    click.echo(f"  {visible(first['subject'])}")
    if first["run"]:
        step = "" if first["step"] is None else f", step {first['step']}"
        click.echo(f"  run {visible(first['run'])}{step}")
    before = " and ".join(f"{part['score']:.3f} ({part['commit'][:12]})" for part in first["before"])
    what = f"task {visible(found['task'])}" if found["task"] else found["split"]
    click.echo(f"  {what} {found['metric']} {before} -> {first['score']:.3f}")
    for part in first["brought"]:
        click.echo(f"  merged {part['commit'][:12]} {visible(part['subject'])}")
    click.echo(f"\n{patch(first['patch'])}\n")
    _print_threshold(found)
    for pair in found["ups_and_downs"]:
        bad, good = pair["bad"], pair["good"]
        click.echo(
            f"note: {bad['commit'][:12]} ({bad['score']:.3f}) was bad too, and the later {good['commit'][:12]} "
            f"({good['score']:.3f}) good again; the commit above is the last fall"
        )
    if found["left_out"]:
        names = ", ".join(commit[:12] for commit in found["left_out"])
        click.echo(f"note: passed over, for they hold no readable skill: {names}")
    click.echo(
        f"calls      {calls['spent']} spent, {calls['saved']} saved "
        f"({calls['all_versions']} to measure all {found['versions']} versions)"
    )
