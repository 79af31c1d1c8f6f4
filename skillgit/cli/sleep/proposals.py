"""`skillgit sleep list` and `skillgit sleep show`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from skillgit.cli.app import App, complete_skill, json_option, load, pass_app, print_json
from skillgit.cli.cells import change, columns, faint, patch, score, styled, tell
from skillgit.report.safe import one_line

_HEADER = ("proposal", "status", "lessons", "val", "change", "sessions", "made")


def complete_proposal(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    """Names of the proposals whose branches are here, for shell completion."""
    from skillgit.errors import GitError
    from skillgit.git.repository import Repository
    from skillgit.sleep.proposals.branches import find_branches

    try:
        repo = Repository.open(Path(ctx.find_root().params.get("folder") or "."))
        names = [f"{skill}/{night}" for skill, night in find_branches(repo)]
    except GitError:
        return []
    return sorted(name for name in names if name.startswith(incomplete))


@click.command("list", short_help="List proposals.")
@click.argument("skill", default="", shell_complete=complete_skill)
@click.option("--all", "everything", is_flag=True, help="Also those that are decided, and branches that no night made.")
@json_option
@pass_app
def list_(app: App, skill: str, everything: bool, as_json: bool) -> None:
    """List the proposals that wait for you, newest first; with --all every one, and what became of it.

    \b
    open            waits
    stale           waits, but the skill has changed since it was measured
    adopted         merged, picked, or its rules were taken over by hand
    partly adopted  some of its lessons were
    reverted        its lessons were, and were undone
    rejected        turned down, with the reason
    deleted         its branch was deleted, which counts as turned down
    superseded      a later night tried its lessons again
    elsewhere       its branch was never in this clone
    """
    from skillgit.report.sleep.proposals import listing

    repo = app.repo()
    found = listing(repo, skill, also=(load(app, repo.root).sleep.auto_adopt,))
    if as_json:
        print_json(found)
        return
    rows = [row for row in found["proposals"] if everything or row["waiting"]]
    if rows:
        click.echo("\n".join(_table(rows)))
    if not rows:
        app.say(f"no proposal{f' for {one_line(skill)}' if skill else ''} waits for you")
    _remarks(app, found, shown=len(rows), everything=everything)


def _table(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    cells = [list(_HEADER), *(_cells(row) for row in rows)]
    header, *lines = columns(cells)
    return [faint(header), *lines]


def _cells(row: Mapping[str, Any]) -> list[str]:
    known = row["before"] is not None and row["after"] is not None
    marks = "".join([", unverified" if row["verdict"] == "unverified" else "", ", edited" if row["edited"] else ""])
    taken = f"{row['adopted']} of {row['lessons']}" if 0 < row["adopted"] < row["lessons"] else str(row["lessons"])
    return [
        one_line(row["name"]),
        f"{row['status']}{marks}",
        taken,
        score({"score": row["after"]}),
        change(row["after"] - row["before"] if known else None),
        str(row["sessions"]),
        one_line(row["at"][:10]),
    ]


def _remarks(app: App, found: Mapping[str, Any], *, shown: int, everything: bool) -> None:
    hidden = len(found["proposals"]) - shown
    if hidden:
        app.say(f"{hidden} more {'is' if hidden == 1 else 'are'} decided: skillgit sleep list --all")
    waiting = [row for row in found["proposals"] if row["next"]]
    if waiting:
        app.say(f"look at one: {one_line(waiting[0]['next'])}")
    for row in found["unmeasured"]:
        app.say(f"{one_line(row['skill'])} was never measured with what was adopted: {one_line(row['next'])}")
    for name in found["foreign"] if everything else ():
        app.say(f"no night made {one_line(name)}")
    bad = [f"{one_line(part['file'])} cannot be read: {one_line(part['why'])}" for part in found["unreadable"]]
    tell(bad, quiet=app.quiet)


@click.command(short_help="Show one proposal.")
@click.argument("proposal", shell_complete=complete_proposal)
@click.option("--patch", "with_patch", is_flag=True, help="Add the change as a patch.")
@json_option
@pass_app
def show(app: App, proposal: str, with_patch: bool, as_json: bool) -> None:
    """Show a proposal: each lesson with its rule, evidence, what it gained and which tasks it changed, and what was
    tried and not proposed.

    PROPOSAL is a branch, SKILL/NIGHT, or a skill, which means its newest one that waits.
    """
    from skillgit.report.sleep.proposals import shown
    from skillgit.sleep.proposals.choice import choose

    repo = app.repo()
    state = choose(repo, proposal, also=(load(app, repo.root).sleep.auto_adopt,))
    document = shown(repo, state, patch=with_patch)
    if as_json:
        print_json(document)
        return
    _print(document)


def _print(document: Mapping[str, Any]) -> None:
    from skillgit.report.sleep import proposal_text

    click.echo("\n".join(styled(proposal_text.lines(document))))
    if text := document.get("patch"):
        # What goes to a program stays as it is, so that the patch can be applied.
        text = patch(text) if sys.stdout.isatty() else text
        click.echo(f"\n{text}", nl=not text.endswith("\n"))
