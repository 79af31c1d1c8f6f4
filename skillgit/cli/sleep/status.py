"""`skillgit sleep status`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from skillgit.cli.app import App, config_options, json_option, load, pass_app, print_json
from skillgit.cli.cells import columns, tell
from skillgit.cli.sleep.options import command, overrides, session_options
from skillgit.report.diff_text import counted
from skillgit.report.safe import one_line, visible


@click.command(short_help="Show sources, harvest, watcher, schedule and open proposals.")
@session_options
@config_options
@json_option
@click.pass_context
@pass_app
def status(app: App, ctx: click.Context, /, **options: Any) -> None:
    """Show which stores of sessions were found, what the last harvest brought, what waits for you, and what runs.

    Nothing is read from the stores, and no model is asked.
    """
    from skillgit.report.sleep.status import overview

    repo = app.repo()
    given = [*overrides(options, app.folder), *options["overrides"]]
    found = overview(repo, load(app, repo.root, options["config"], given))
    if options["as_json"]:
        print_json(found)
        return
    click.echo("\n".join(columns([*_sources(found), *_harvest(found["harvest"]), *_waiting(found), *_running(found)])))
    tell(map(visible, found["notes"]), quiet=app.quiet)
    for words in dict.fromkeys(_next(found, ctx)):
        app.say(f"go on: {one_line(words)}")


def _sources(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for source in found["sources"]:
        yield f"source {one_line(source['name'])}", one_line(", ".join(source["stores"]))
    for label, key in (("not asked for", "not_read"), ("not found", "without_store")):
        if names := found[key]:
            yield label, one_line(", ".join(names))


def _harvest(harvest: Mapping[str, Any] | None) -> Iterator[tuple[str, str]]:
    from skillgit.report.sleep.harvest import counts, damage

    if harvest is None or harvest["at"] is None:
        yield "harvest", "none yet"
        return
    new = f"{harvest['new']} of them since the last night"
    yield "harvest", f"{_time(harvest['at'])}: {counted(harvest['sessions'], 'session')} kept, {new}"
    if harvest["excluded"]:
        yield "left out", f"{counts(harvest['excluded'])} (records)"
    if harvest["damaged"]:
        first, *more = damage(harvest["damaged"])
        yield "damaged", first.removeprefix("damaged: ")
        yield from (("", line) for line in more)


def _waiting(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for row in found["proposals"]:
        yield "proposal", f"{one_line(row['name'])}: {row['status']}, {counted(row['lessons'], 'lesson')}"
    if not found["proposals"]:
        yield "proposal", "none waits"
    for row in found["unmeasured"]:
        yield "unmeasured", one_line(row["skill"])


def _running(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "watcher", one_line(found["watcher"] or "none")
    if night := found["night"]:
        paused = " (nights wait until the configuration changes)" if night["paused"] else ""
        why = f": {one_line(night['why'], 200)}" if night["why"] else ""
        yield "last night", f"{_time(night['at'])}, exit code {night['code']}{why}{paused}"
    for entry in found["schedule"]:
        yield "schedule", one_line(_entry(entry))
    if not found["schedule"]:
        yield "schedule", "none"
    if found["log"]:
        yield "log", one_line(found["log"])


def _entry(entry: Mapping[str, Any]) -> str:
    if entry["problem"]:
        return f"{entry['scheduler']} cannot be read: {entry['problem']}"
    return f"{entry['scheduler']} {entry['when']}{'' if entry['active'] else ', not active'} ({entry['place']})"


def _next(found: Mapping[str, Any], ctx: click.Context) -> Sequence[str]:
    commands = [row["next"] for row in (*found["proposals"], *found["unmeasured"]) if row["next"]]
    if not (found["sources"] or commands):
        return ["skillgit sleep harvest --help   (options that name a store)"]
    if found["harvest"] is None or found["harvest"]["at"] is None:
        return [command(ctx, "harvest"), *commands]
    return commands or ([command(ctx, "run")] if found["harvest"]["new"] else [])


def _time(at: str) -> str:
    return f"{at[:16].replace('T', ' ')} UTC"
