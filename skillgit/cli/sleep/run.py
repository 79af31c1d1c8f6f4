"""`skillgit sleep run`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from skillgit.cli.app import App, complete_skill, config_options, events_option, load, pass_app
from skillgit.cli.cells import tell
from skillgit.cli.sleep.options import command, overrides, session_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgit.config.schema import Config
    from skillgit.events import Sink
    from skillgit.git.repository import Repository
    from skillgit.sleep.mine.base import MinedTask

_MODELS = ("backend", "target", "optimizer")
_SLEEP = ("edit_budget", "preferences", "auto_adopt")


@click.command(short_help="Run a night.")
@session_options
@config_options
@click.option("--backend", help="Model backend of both roles.")
@click.option("--target", help="Model that does the tasks.")
@click.option("--optimizer", help="Model that proposes lessons.")
@click.option("--tasks-file", metavar="FILE", help="Replay the reviewed tasks of a file instead of harvesting.")
@click.option("--unreviewed", is_flag=True, help="Use a tasks file that nobody marked as reviewed.")
@click.option("--skill", "skills", multiple=True, shell_complete=complete_skill, help="Only this skill; repeatable.")
@click.option("--edit-budget", type=click.IntRange(1), help="Most lessons to try per document.")
@click.option("--preferences", metavar="TEXT", help="What lessons should respect, in your words.")
@click.option("--auto-adopt", metavar="BRANCH", help="Merge verified proposals onto this branch.")
@click.option("--again", is_flag=True, help="Work on documents for which nothing changed since their last night, too.")
@click.option("--max-calls", type=click.IntRange(1), help="Stop before more model calls than this.")
@click.option("--max-tokens", type=click.IntRange(1), help="Stop once this many tokens are used.")
@click.option("--max-cost", type=click.FloatRange(0, min_open=True), help="Stop once this many dollars are spent.")
@click.option("--max-minutes", type=click.FloatRange(0, min_open=True), help="Stop after this many minutes.")
@click.option("--dry-run", is_flag=True, help="Show what would be learned from, and the most calls; call nothing.")
@events_option
@click.pass_context
@pass_app
def run(app: App, ctx: click.Context, /, **options: Any) -> None:
    """Run one night now: read new sessions, replay the tasks people asked, try lessons, and propose what helps.

    Every document that tasks speak of gets its own branch sleep/SKILL/DATE from the live commit, one commit per lesson.
    Your HEAD, index and files are not touched. Finished calls are never paid twice: after a kill, run it again.

    \b
    Examples:
      skillgit sleep run --dry-run
      skillgit sleep run --max-calls 300
      skillgit sleep harvest --output tasks.jsonl     review it, set "reviewed": true, then
      skillgit sleep run --tasks-file tasks.jsonl
    """
    from skillgit.sleep.night.start import plan, run_nights
    from skillgit.sleep.watch.nights import seen

    repo = app.repo()
    config = night_config(app, repo, options)
    reviewed = _reviewed(app, config, options)
    sink = _sink(app, command(ctx, "harvest"), as_json=options["as_json"])
    try:
        if options["dry_run"]:
            for event in plan(repo, config, sink, reviewed=reviewed, only=options["skills"], again=options["again"]):
                sink(event)
        else:
            run_nights(repo, config, sink, reviewed=reviewed, only=options["skills"], again=options["again"])
            if reviewed is None and not options["skills"]:
                seen(repo)
    finally:
        if close := getattr(sink, "close", None):
            close()


def night_config(app: App, repo: Repository, options: dict[str, Any]) -> Config:
    """The configuration of a night with these options."""
    import dataclasses
    import json

    given = [f"model.{name}={options[name]}" for name in _MODELS if options[name]]
    given += [f"sleep.{name}={json.dumps(options[name])}" for name in _SLEEP if options[name] is not None]
    session = overrides(options, app.folder)
    config: Config = load(app, repo.root, options["config"], [*given, *session, *options["overrides"]])
    limits = {name: options[f"max_{name}"] for name in ("calls", "tokens", "cost") if options[f"max_{name}"]}
    if options["max_minutes"]:
        limits["time"] = options["max_minutes"] * 60
    return dataclasses.replace(config, budget=dataclasses.replace(config.budget, **limits))


def _reviewed(app: App, config: Config, options: dict[str, Any]) -> Sequence[MinedTask] | None:
    if not options["tasks_file"]:
        return None
    from skillgit.errors import ConfigError
    from skillgit.sleep.mine.tasksfile import read

    found = read(app.folder / options["tasks_file"], config.sleep, seed=config.train.seed)
    tell(found.notes, quiet=app.quiet)
    backends = (config.model.backend, config.model.target_backend, config.model.optimizer_backend)
    real = any(backend not in ("", "scripted") for backend in backends)
    if real and not (found.reviewed or options["unreviewed"]):
        raise ConfigError(
            f"nobody reviewed {options['tasks_file']}",
            why="its tasks come from transcripts and would be sent to a model",
            fix='read it, then set "reviewed": true in its first line, or pass --unreviewed',
        )
    return found.tasks


def _sink(app: App, look: str, *, as_json: bool) -> Sink:
    if as_json:
        from skillgit.report.events import json_sink

        return json_sink
    from skillgit.report.sleep.night import NightView

    return NightView(app.console(), look, quiet=app.quiet, verbose=app.verbose)
