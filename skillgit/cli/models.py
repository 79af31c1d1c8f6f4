"""`skillgit models`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from skillgit.cli.app import App, config_options, json_option, load, pass_app, print_json
from skillgit.cli.cells import plain

if TYPE_CHECKING:
    from skillgit.models.readiness.backends import Readiness
    from skillgit.models.readiness.needs import Need, Place

_MARKS = {True: "[green]ready[/]    ", False: "[red]not ready[/]", None: "[dim]unknown[/]  "}
_NEEDS = {True: "has  ", False: "lacks", None: "?    "}


@click.command(short_help="List backends.")
@config_options
@json_option
@pass_app
def models(app: App, config: str, overrides: tuple[str, ...], as_json: bool) -> None:
    """List every backend, what it needs, and whether that is here; in full for those in use, and for all with -v.

    Nothing is sent anywhere: programs are only asked for their version. `unknown` means that only a call can tell;
    `skillgit doctor --models` makes one. Values of variables are never shown.
    """
    from skillgit.models.readiness.backends import backends

    found = backends(place(app, config, overrides))
    if as_json:
        print_json({"backends": [asdict(each) for each in found]})
        return
    for each in found:
        for line in _lines(each, full=app.verbose or bool(each.roles)):
            app.console().print(line)


def place(app: App, config: str = "", overrides: tuple[str, ...] = ()) -> Place:
    """Where backends are looked for: in the repository, or in the folder when there is none."""
    import os

    from skillgit.errors import GitError
    from skillgit.models.handoff import FOLDER
    from skillgit.models.readiness.needs import Place

    try:
        repo = app.repo()
    except GitError:
        return Place(load(app, app.folder, config, overrides), app.folder, None, os.environ)
    return Place(load(app, repo.root, config, overrides), repo.root, repo.common_dir / FOLDER, os.environ)


def _lines(found: Readiness, *, full: bool) -> Iterator[str]:
    users = f"  [bold]{' and '.join(found.roles)}[/]" if found.roles else ""
    lacking = "" if full else ", ".join(f"{need.name}: {need.detail}" for need in found.needs if need.ok is False)
    yield f"{_MARKS[found.ready]}  {plain(found.backend):18}{users}{plain(f'  {lacking}' if lacking else '')}"
    for need in found.needs if full else ():
        yield f"             {_NEEDS[need.ok]}  {plain(f'{need.name}: {need.detail}{_looked(need)}')}"
        if need.fix and need.ok is not True:
            yield f"                    next: {plain(need.fix)}"


def _looked(need: Need) -> str:
    names = [f"{name}{' is set' if there else ''}" for name, there in need.variables.items()]
    return f" ({', '.join(names)})" if names else ""
