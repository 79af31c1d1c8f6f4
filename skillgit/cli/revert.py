"""`skillgit revert`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from skillgit.cli.app import App, complete_skill, json_option, pass_app, print_json
from skillgit.cli.cells import patch
from skillgit.errors import NeedsPersonError

if TYPE_CHECKING:
    from skillgit.git.repository import Repository
    from skillgit.git.revert import Inverse


@click.command(short_help="Undo one step or lesson in a new commit.")
@click.argument("revision")
@click.argument("skill", default="", shell_complete=complete_skill)
@click.option("--no-edit", is_flag=True, help="Take the message as it is, without opening an editor.")
@click.option("--dry-run", is_flag=True, help="Show the patch and the predicted record; change nothing.")
@json_option
@pass_app
def revert(app: App, revision: str, skill: str, no_edit: bool, dry_run: bool, as_json: bool) -> None:
    """Undo the commit REVISION to a skill in a new commit on top of HEAD.

    Edits to other rules that were made since stay. When the resulting text was measured before, its record is shown.
    The commit is made by git commit with your hooks, signing and identity; nothing else that is staged gets into it.
    What cannot be undone without a person is left alone (exit 7).

    SKILL may be left out when the commit changed only one. If the process is killed before the commit is there, git
    status shows the files, and git restore --staged --worktree -- PATH puts them back.
    """
    from skillgit.git.revert import invert
    from skillgit.git.usercommit import refuse_unready
    from skillgit.report.revert import changed_skill, describe

    repo = app.repo()
    commit = repo.commit(revision)
    place = changed_skill(repo, commit, skill, app.folder)
    inverse = invert(repo, place, commit)
    document = describe(repo, inverse)
    commits = document["status"] == "planned" and not dry_run
    if commits:
        refuse_unready(repo, place)
    if not as_json:
        _print_plan(document)
    if commits:
        document |= _commit(repo, inverse, edit=not (no_edit or as_json))
        if not as_json:
            click.echo(f"commit     {document['commit']}")
    if as_json:
        print_json(document)
    if inverse.conflicts:
        raise NeedsPersonError(
            f"{commit[:12]} cannot be undone by itself: {inverse.conflicts[0].why}",
            why="nothing was changed",
            fix=f"git revert {commit[:12]}, then settle what git marks",
        )


def _commit(repo: Repository, inverse: Inverse, *, edit: bool) -> dict[str, Any]:
    """Make the commit; a hook may have changed what is in it."""
    from skillgit.git.usercommit import commit_files
    from skillgit.report.revert import message, predicted

    text = message(inverse)
    editor = repo.git.text("var", "GIT_EDITOR") if edit and sys.stdin.isatty() else ":"
    if editor != ":":  # git's word for none
        # Nothing comes back when the editor was left without saving: the text is then taken as it is.
        edited = click.edit(text, editor=editor)
        text = text if edited is None else edited
    commit = commit_files(repo, inverse.place, inverse.after, text, inverse.head)
    found = repo.resolve(f"{commit}:{inverse.place.path}") or inverse.object
    told: dict[str, Any] = {"status": "reverted", "commit": commit, "object": found}
    if found != inverse.object:
        told["predicted"] = predicted(repo, inverse.head_object, found)
    return told


def _print_plan(document: Mapping[str, Any]) -> None:
    from skillgit.report.revert import line
    from skillgit.report.safe import visible

    def echo(text: str) -> None:
        click.echo(visible(text))

    if document["status"] == "nothing_to_do":
        echo(f"nothing to do: {document['reverts'][:12]} is undone already")
        return
    for conflict in document["conflicts"]:
        echo(f"{conflict['path']}: {conflict['why']}{' (ours: HEAD, theirs: without it)' if conflict['hunks'] else ''}")
        for hunk in conflict["hunks"]:
            echo(hunk)
    if document["conflicts"]:
        return
    click.echo(patch(document["patch"]))
    prediction = document["predicted"]
    name = document["skill"]
    echo(f"predicted  {line(prediction)}" if prediction else f"predicted  unmeasured until: skillgit eval {name}")
