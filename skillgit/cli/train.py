"""`skillgit train`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from skillgit.cli.app import App, complete_skill, config_options, events_option, load, pass_app
from skillgit.cli.published import PublishedCommand
from skillgit.errors import ConfigError

if TYPE_CHECKING:
    from skillgit.config.schema import Config
    from skillgit.events import Sink
    from skillgit.git.repository import Repository
    from skillgit.train.start import Prepared

_LIMITS = {"calls": "max_calls", "tokens": "max_tokens", "cost": "max_cost", "time": "max_time"}


@click.command(cls=PublishedCommand, short_help="Train a skill.")
@click.argument("skill", default="", shell_complete=complete_skill)
@config_options
@click.option("--backend", help="Model backend of both roles.")
@click.option("--target", help="Model that does the tasks.")
@click.option("--optimizer", help="Model that proposes edits.")
@click.option("--resume", metavar="RUN", help="Go on with a run, by its name.")
@click.option("--fresh", is_flag=True, help="Start a new run even when this command left one unfinished.")
@click.option("--dry-run", is_flag=True, help="Show the plan and the most calls it can make; call nothing.")
@click.option("--max-calls", type=click.IntRange(1), help="Stop before more model calls than this.")
@click.option("--max-tokens", type=click.IntRange(1), help="Stop once this many tokens are used.")
@click.option("--max-cost", type=click.FloatRange(0, min_open=True), help="Stop once this many dollars are spent.")
@click.option("--max-time", type=click.FloatRange(0, min_open=True), help="Stop after this many seconds.")
@events_option
@pass_app
def train(app: App, /, skill: str, **options: Any) -> None:
    """Train SKILL: every accepted patch becomes a commit on train/SKILL/RUN, every measured score a git note.

    SKILL is a name, a folder or a Markdown file; with one skill under evals/ it may be left out. Its tasks are
    evals/SKILL/train.jsonl and val.jsonl (and test.jsonl). Your HEAD, index and files are not touched.

    A run that was cut short goes on when the same command is repeated: finished calls are never paid twice.

    \b
    Examples:
      skillgit train my-skill --backend local --target qwen2.5-coder-0.5b --optimizer qwen2.5-coder-1.5b
      skillgit train my-skill --config my.yaml --set train.num_epochs=2 --max-calls 500
      skillgit train my-skill --dry-run
    """
    from skillgit.train.start import planned

    repo = app.repo()
    prepared = _prepare(app, repo, skill, options)
    sink = _sink(app, as_json=options["as_json"])
    if options["dry_run"]:
        import os

        sink(planned(prepared, os.environ, models_needed=False))
        return
    run_training(prepared, sink)
    if folder := prepared.config.env.out_root:
        from skillgit.report.history import best_state
        from skillgit.train.export import export_run

        state = best_state(repo, prepared.state.skill, prepared.state.run)
        files = export_run(repo, state, app.folder / folder)
        if not options["as_json"]:
            app.say(f"copied     {len(files)} files to {folder}")


def run_training(prepared: Prepared, sink: Sink) -> None:
    """Train and tell the end to the sink."""
    from skillgit.report.training import TrainingView
    from skillgit.train.ending import summary
    from skillgit.train.loop import train as loop
    from skillgit.train.start import opened

    try:
        with opened(prepared, sink) as run:
            loop(run)
            sink(summary(run))
    finally:
        if isinstance(sink, TrainingView):
            sink.close()


def _prepare(app: App, repo: Repository, skill: str, options: dict[str, Any]) -> Prepared:
    import dataclasses

    from skillgit.train.start import prepare, prepare_resume

    limits = {key: options[name] for key, name in _LIMITS.items() if options[name] is not None}
    if options["resume"]:
        if options["config"] or options["fresh"] or _shortcuts(options) or options["overrides"]:
            raise ConfigError(
                "a run goes on with its own configuration", fix="drop all options but --resume and limits"
            )
        return prepare_resume(repo, skill, options["resume"], limits)
    config: Config = load(app, repo.root, options["config"], [*_shortcuts(options), *options["overrides"]])
    config = dataclasses.replace(config, budget=dataclasses.replace(config.budget, **limits))
    return prepare(repo, config, skill, cwd=app.folder, fresh=options["fresh"])


def _shortcuts(options: dict[str, Any]) -> list[str]:
    names = ("backend", "target", "optimizer")
    return [f"model.{name}={options[name]}" for name in names if options[name]]


def _sink(app: App, *, as_json: bool) -> Sink:
    if as_json:
        from skillgit.report.events import json_sink

        return json_sink
    from skillgit.report.training import TrainingView

    return TrainingView(app.console(), quiet=app.quiet, verbose=app.verbose)
