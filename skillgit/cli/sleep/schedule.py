"""`skillgit sleep schedule|unschedule`."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skillgit.cli.app import App, json_option, pass_app, print_json
from skillgit.cli.sleep.nightly_options import lacking, night_parameters, words
from skillgit.cli.sleep.run import night_config
from skillgit.errors import SkillgitError
from skillgit.sleep.watch.schedule.jobs import NAMES

if TYPE_CHECKING:
    from skillgit.git.hooks.install import Change
    from skillgit.git.repository import Repository
    from skillgit.sleep.watch.schedule.base import Entry

_HOUR, _MINUTE = 3, 17

# Schedulers start programs without what a shell has exported.
_KEYS = {
    "cron": "set API keys at the top of the crontab (crontab -e)",
    "systemd": "set API keys in ~/.config/environment.d/*.conf",
    "launchd": "set API keys with launchctl setenv",
    "task-scheduler": "set API keys as variables of the user",
}

_dry_run = click.option("--dry-run", is_flag=True, help="Show what would be changed.")


@click.command(short_help="Run a night every day, by the system's scheduler.")
@click.option("--hour", type=click.IntRange(0, 23), help=f"Local hour; by default sleep.hour, else {_HOUR}.")
@click.option("--minute", type=click.IntRange(0, 59), default=_MINUTE, show_default=True, help="Minute of the hour.")
@click.option("--with", "name", type=click.Choice(NAMES), help="Which scheduler; by default the system's own.")
@click.option("--show", is_flag=True, help="Show what is set up; change nothing.")
@_dry_run
@json_option
@click.pass_context
@pass_app
def schedule(
    app: App,
    ctx: click.Context,
    /,
    hour: int | None,
    minute: int,
    name: str | None,
    show: bool,
    dry_run: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Have a night run every day, with exactly the options of skillgit sleep run that are given here.

    Safe to repeat: an earlier entry of this repository is replaced. Only skillgit's own lines and files are touched,
    and nothing is when what is there cannot be read. No secret is kept in an entry.

    --with claude-code adds a hook to this project's .claude/settings.local.json instead: at the end of a session it
    tells skillgit sleep watch, and does nothing else.

    \b
    Examples:
      skillgit sleep schedule --max-calls 300
      skillgit sleep schedule --hour 4 --with cron --source claude --dry-run
      skillgit sleep schedule --with claude-code
    """
    from skillgit.sleep.watch.schedule import jobs

    repo = app.repo()
    if show:
        _show(app, jobs.scheduled(repo), as_json=as_json)
        return
    config = night_config(app, repo, options)
    if hour is None:
        hour = config.sleep.hour if config.sleep.hour >= 0 else _HOUR
    scheduler = jobs.chosen(repo, name) if name else jobs.default(repo)
    job = jobs.make_job(repo, Path(app.folder).resolve(), words(ctx), hour, minute)
    plan = scheduler.install(job)
    notes = [_KEYS[scheduler.name], *lacking(repo, config)] if scheduler.name in _KEYS else []
    _change(app, repo, plan, notes, dry_run=dry_run, as_json=as_json)


schedule.params += night_parameters()


@click.command(short_help="Remove what schedule set up.")
@click.option("--with", "name", type=click.Choice(NAMES), help="From this scheduler only.")
@click.option("--all", "every", is_flag=True, help="Of all your repositories.")
@_dry_run
@json_option
@pass_app
def unschedule(app: App, /, name: str | None, every: bool, dry_run: bool, as_json: bool) -> None:
    """Remove what `schedule` set up for this repository, and nothing else. Without --with: from every scheduler."""
    from skillgit.sleep.watch.schedule import jobs

    repo = app.repo()
    which = None if every else {jobs.job_id(repo)}
    plan: list[Change] = []
    failed: list[SkillgitError] = []
    chosen = [jobs.schedulers(repo)[name]] if name else jobs.schedulers(repo).values()
    for scheduler in chosen:
        try:
            plan += scheduler.remove(which)
        except SkillgitError as error:
            failed.append(error)
    _change(app, repo, plan, [error.what for error in failed[1:]], dry_run=dry_run, as_json=as_json)
    if failed:
        raise failed[0]


def _change(
    app: App, repo: Repository, plan: Sequence[Change], notes: Sequence[str], *, dry_run: bool, as_json: bool
) -> None:
    from skillgit.git.hooks.install import carry_out
    from skillgit.sleep.watch.schedule.jobs import scheduled

    if not dry_run:
        carry_out(plan)
    if as_json:
        rows = [{"verb": each.verb, "what": each.what, "detail": each.detail or None} for each in plan]
        entries = [asdict(entry) for entry in scheduled(repo)]
        print_json({"dry_run": dry_run, "changes": rows, "notes": list(notes), "entries": entries})
        return
    for each in plan:
        detail = f"  ({each.detail})" if each.detail else ""
        app.say(f"{'would ' if dry_run else ''}{each.verb:7} {each.what}{detail}")
    for note in notes:
        app.say(f"note    {note}")
    if not plan:
        app.say("nothing to do")


def _show(app: App, entries: Sequence[Entry], *, as_json: bool) -> None:
    if as_json:
        print_json({"entries": [asdict(entry) for entry in entries]})
        return
    for entry in entries:
        app.console().print("\n".join(_lines(entry)))
    if not entries:
        app.say("nothing is scheduled (skillgit sleep schedule)")


def _lines(entry: Entry) -> list[str]:
    from skillgit.cli.cells import plain

    if entry.problem:
        return [f"{entry.scheduler}  cannot be read: {plain(entry.problem)}"]
    off = "" if entry.active else "  (not active)"
    return [
        f"{entry.scheduler}  {plain(entry.when)}  {plain(entry.place)}{off}",
        f"  {plain(shlex.join(entry.command))}",
    ]
