"""`skillgit sleep watch`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skillgit.cli.app import App, events_option, pass_app
from skillgit.cli.sleep.nightly_options import lacking, night_parameters, settings, words
from skillgit.cli.sleep.run import night_config

if TYPE_CHECKING:
    from skillgit.config.schema import Config
    from skillgit.events import Event, Sink
    from skillgit.git.repository import Repository
    from skillgit.sleep.watch.watcher import Watcher


@click.command(short_help="Watch for finished sessions and run nights.")
@click.option("--once", is_flag=True, help="Look once, run a night if one is due, and end.")
@events_option
@click.pass_context
@pass_app
def watch(app: App, ctx: click.Context, /, once: bool, as_json: bool, **options: Any) -> None:
    """Read sessions as they end, and run a night when enough is new or the hour has come. Ctrl-C ends it.

    A session has ended when nothing was written to it for sleep.quiet_minutes, or when an agent says so
    (skillgit sleep schedule --with claude-code). A night runs after sleep.min_sessions new sessions, and once a day
    at sleep.hour when anything is new; it takes the options given here. What happens is logged in the git folder
    (skillgit sleep status names the file). One watcher per repository.

    \b
    Examples:
      skillgit sleep watch
      skillgit sleep watch --set sleep.hour=4 --set sleep.min_sessions=0 --max-calls 300
      skillgit sleep watch --set sleep.hour=-1 --set sleep.min_sessions=0     read only, no nights
    """
    from skillgit.sleep.watch.events import WatchEnded
    from skillgit.sleep.watch.log import log_sink

    repo = app.repo()
    sink = log_sink(repo, _view(app, as_json=as_json))
    watcher = _watcher(app, repo, options, words(ctx), sink)
    if once:
        watcher.once()
        return
    try:
        watcher.run()
    except KeyboardInterrupt:
        sink(WatchEnded("it was told to"))


watch.params += night_parameters()


def _watcher(app: App, repo: Repository, options: dict[str, Any], night: list[str], sink: Sink) -> Watcher:
    from skillgit.cli.cells import tell
    from skillgit.sleep.watch.base import Work
    from skillgit.sleep.watch.nights import start, waiting
    from skillgit.sleep.watch.watcher import Watcher

    folder = Path(app.folder).resolve()
    config = night_config(app, repo, options)
    if config.sleep.hour >= 0 or config.sleep.min_sessions:
        tell(lacking(repo, config), quiet=app.quiet)

    def harvest(config: Config) -> int:
        return waiting(repo, config, sink)

    work = Work(lambda: settings(app, repo, options), harvest, lambda: start(repo, folder, night))
    return Watcher(repo, work, sink)


def _view(app: App, *, as_json: bool) -> Sink:
    if as_json:
        from skillgit.report.events import json_sink

        return json_sink
    from skillgit.report.sleep.watching import line

    def view(event: Event) -> None:
        if (text := line(event)) and not app.quiet:
            app.console().print(text)

    return view
