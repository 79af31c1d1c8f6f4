"""`skillgit hooks install|uninstall|status`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from skillgit import __version__
from skillgit.cli.app import App, F, json_option, pass_app, print_json
from skillgit.errors import CheckFailedError
from skillgit.git.hooks.install import NAMES, Change, carry_out, plan_install, plan_uninstall

if TYPE_CHECKING:
    from skillgit.git.repository import Repository

_FRAMEWORK = ".pre-commit-config.yaml"

_PLACES = {
    "tracked": "core.hooksPath is a folder of the working tree: commit the hooks there, or leave them out",
    "husky": "husky runs the scripts in .husky: commit the blocks there, or leave them out",
    "outer": "core.hooksPath is not this repository's: a folder of skillgit's own runs its hooks too",
}


@click.group(short_help="Git hooks.")
def hooks() -> None:
    """Install, remove or inspect the git hooks that check skills, messages and pushes.

    They judge what is staged and change nothing. Hooks that are there already are kept and run first.
    """


def _options(function: F) -> F:
    for option in (
        json_option,
        click.option("--dry-run", is_flag=True, help="Show what would be changed."),
        _hook_option,
    ):
        function = option(function)
    return function


_hook_option = click.option(
    "--hook", "names", multiple=True, type=click.Choice(NAMES), help="Only this hook; repeatable. Without it: all."
)


@hooks.command(short_help="Install hooks; safe to repeat.")
@_options
@pass_app
def install(app: App, names: tuple[str, ...], dry_run: bool, as_json: bool) -> None:
    """Make git run skillgit's checks. Safe to repeat; what is there is kept and run first."""
    from skillgit.git.hooks.place import find_place

    repo = app.repo()
    kind = find_place(repo).kind
    notes = [note for note in (_PLACES.get(kind, ""), _framework(repo)) if note]
    _change(app, repo, plan_install, names or NAMES, notes, dry_run=dry_run, as_json=as_json)


@hooks.command(short_help="Remove hooks, and put back what they replaced.")
@_options
@pass_app
def uninstall(app: App, names: tuple[str, ...], dry_run: bool, as_json: bool) -> None:
    """Remove what `install` wrote, and nothing else; hooks it renamed get their names back."""
    _change(app, app.repo(), plan_uninstall, names or NAMES, [], dry_run=dry_run, as_json=as_json)


@hooks.command(short_help="Show which hooks git runs in each worktree.")
@_hook_option
@json_option
@pass_app
def status(app: App, names: tuple[str, ...], as_json: bool) -> None:
    """Show where each worktree looks for hooks and whether skillgit's are run there. Exits 1 when one is not."""
    from skillgit.git.hooks.state import standings

    found = standings(app.repo(), names or NAMES)
    if as_json:
        print_json({"worktrees": [asdict(standing) for standing in found]})
    else:
        for standing in found:
            click.echo(f"{standing.worktree}\n  hooks in {standing.path} ({standing.kind})")
            for name, state in standing.hooks.items():
                click.echo(f"  {name:17} {state}")
    idle = [s for s in found if not set(s.hooks.values()) <= {"ours", "chained"}]
    if idle:
        raise CheckFailedError(
            f"hooks are missing or not run in {len(idle)} of {len(found)} worktrees",
            fix=f"skillgit -C {idle[0].worktree} hooks install",
        )


def _change(
    app: App,
    repo: Repository,
    plan: Callable[[Repository, Sequence[str]], list[Change]],
    names: Sequence[str],
    notes: Sequence[str],
    *,
    dry_run: bool,
    as_json: bool,
) -> None:
    changes = plan(repo, names)
    if not dry_run:
        carry_out(changes)
    if as_json:
        rows: list[dict[str, Any]] = [{"verb": c.verb, "what": c.what, "detail": c.detail or None} for c in changes]
        print_json({"dry_run": dry_run, "changes": rows, "notes": list(notes)})
        return
    for change in changes:
        detail = f"  ({change.detail})" if change.detail else ""
        app.say(f"{'would ' if dry_run else ''}{change.verb:7} {change.what}{detail}")
    if not changes:
        app.say("nothing to do")
    for note in notes:
        app.say(f"note    {note}")


def _framework(repo: Repository) -> str:
    if repo.top is None or not (repo.top / _FRAMEWORK).is_file():
        return ""
    ids = ", ".join(f"{{id: skillgit-{name}}}" for name in ("lint", "commit-msg", "gate"))
    return (
        f"{_FRAMEWORK} is there: the pre-commit framework can run these checks instead\n"
        f"  next: add to its repos: - {{repo: ADDRESS-OF-SKILLGIT, rev: v{__version__}, hooks: [{ids}]}}\n"
        f"        and at its top:   default_install_hook_types: [{', '.join(NAMES[:4])}]"
    )
