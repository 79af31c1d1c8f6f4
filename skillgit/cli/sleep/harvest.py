"""`skillgit sleep harvest`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skillgit.cli.app import App, config_options, json_option, load, pass_app, print_json
from skillgit.cli.cells import columns, faint, tell
from skillgit.cli.sleep.options import command, overrides, session_options
from skillgit.errors import ConfigError
from skillgit.report.safe import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from skillgit.config.schema import Config
    from skillgit.events import Event, Sink
    from skillgit.git.repository import Repository


@click.command(short_help="Read new sessions and show the tasks mined from them.")
@session_options
@config_options
@click.option("--output", metavar="FILE", help="Write the tasks here, to review them before a night.")
@click.option("--dry-run", is_flag=True, help="Show what there is, and write nothing.")
@json_option
@click.pass_context
@pass_app
def harvest(app: App, ctx: click.Context, /, **options: Any) -> None:
    """Read what is new in your agents' sessions, keep it redacted, and show the tasks that people asked.

    No model is asked. What is kept stays in the git folder of this repository, and out of its history. Sessions of
    programs and sub-agents, of other repositories and of skillgit itself are left out, and counted. With -v, --json
    has the text of every turn.

    \b
    Examples:
      skillgit sleep harvest --lookback-hours 0           whatever its age
      skillgit sleep harvest --source claude,codex --scope all
      skillgit sleep harvest --output tasks.jsonl         to read and correct, then
      skillgit sleep run --tasks-file tasks.jsonl
    """
    repo = app.repo()
    given = [*overrides(options, app.folder), *options["overrides"]]
    config = load(app, repo.root, options["config"], given)
    output = _output(app, options["output"]) if options["output"] and not options["dry_run"] else None
    document = _document(app, repo, config, output, dry_run=options["dry_run"])
    if options["as_json"]:
        print_json(document)
        return
    click.echo("\n".join(_lines(document)))
    tell(map(visible, document["notes"]), quiet=app.quiet)
    if not document["sessions"] and "other_project" in document["excluded_sessions"]:
        app.say("go on: --scope FOLDER or --scope all takes sessions of other projects as well")
    if document["tasks"]:
        first = f'read {options["output"]}, set "reviewed": true in its first line, then ' if output else ""
        app.say(f"go on: {first}{command(ctx, 'run', options['output'] if output else '')}")


def _output(app: App, name: str) -> Path:
    """Where tasks are to be written; what is there already may hold a person's corrections."""
    path = app.folder / name
    if path.exists():
        raise ConfigError(
            f"{name} is there already",
            why="it may hold tasks that somebody corrected",
            fix="give --output another name, or move the file away",
        )
    return path


def _lines(document: Mapping[str, Any]) -> Iterator[str]:
    from skillgit.report.sleep import harvest as report

    yield report.head(document)
    yield from table(report.session_rows(document))
    yield from report.left_out(document)
    yield from report.mined(document)
    yield from table(report.task_rows(document))


def table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Aligned lines, the first a header; none for no rows."""
    header, *body = columns(rows) if rows else [""]
    if header:
        yield faint(header)
    yield from body


def _document(app: App, repo: Repository, config: Config, output: Path | None, *, dry_run: bool) -> dict[str, Any]:
    from contextlib import nullcontext

    from skillgit.report.sleep.harvest import document
    from skillgit.sleep.harvest.collect import copied_archive
    from skillgit.sleep.harvest.collect import harvest as collect
    from skillgit.sleep.mine.mine import mine
    from skillgit.sleep.mine.tasksfile import write
    from skillgit.sleep.night.find import splits_of
    from skillgit.sleep.night.subjects import skill_paths
    from skillgit.sleep.proposals import journal

    with copied_archive(repo) if dry_run else nullcontext() as path:
        found = collect(repo, config, _progress(app), path=path)
        known = splits_of(journal.read_nights(repo))
        mined = mine(found.sessions, config.sleep, skills=skill_paths(repo), known=known, seed=config.train.seed)
        if output:
            write(
                output,
                mined.tasks,
                project=str(repo.root),
                sources=sorted({session.source for session in found.sessions}),
            )
        return document(found, mined, texts=app.verbose)


def _progress(app: App) -> Sink:
    """Shows how far it is, where a terminal is attached."""
    import sys

    from skillgit.events import Progress

    def sink(event: Event) -> None:
        if isinstance(event, Progress) and sys.stderr.isatty() and not app.quiet:
            end = "\n" if event.done == event.total else ""
            click.echo(f"\r{event.stage}: {event.done} of {event.total} files{end}", err=True, nl=False)

    return sink
