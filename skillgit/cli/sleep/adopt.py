"""`skillgit sleep adopt` and `skillgit sleep reject`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from skillgit.cli.app import App, json_option, load, pass_app, print_json
from skillgit.cli.sleep.proposals import complete_proposal
from skillgit.report.diff_text import counted
from skillgit.report.safe import one_line

if TYPE_CHECKING:
    from skillgit.git.repository import Repository
    from skillgit.sleep.proposals.adopt import Adoption
    from skillgit.sleep.proposals.reject import Rejection
    from skillgit.sleep.proposals.states import State

_LESSON = click.option(
    "--lesson", "numbers", type=click.IntRange(1), multiple=True, metavar="N", help="Only this lesson; repeatable."
)
_DRY = click.option("--dry-run", is_flag=True, help="Say what would be done; change nothing.")


@click.command(short_help="Merge a proposal.")
@click.argument("proposal", shell_complete=complete_proposal)
@_LESSON
@click.option("--onto", default="", metavar="BRANCH", help="A branch that is checked out nowhere, instead of yours.")
@click.option("--stale", is_flag=True, help="Even when the skill has changed since the lessons were measured.")
@click.option("--unverified", is_flag=True, help="Even when no gate has confirmed it.")
@_DRY
@json_option
@pass_app
def adopt(
    app: App,
    proposal: str,
    numbers: tuple[int, ...],
    onto: str,
    stale: bool,
    unverified: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Take a proposal over: its branch is merged into the one you are on, by git, with your hooks and identity.

    With --lesson, chosen lessons become commits of their own on top, without the rest. With --onto, nothing is checked
    out, and hooks do not run. On a conflict everything stays as it was (exit 7). git merge does the same by hand.

    \b
    Examples:
      skillgit sleep adopt greeter --dry-run
      skillgit sleep adopt greeter/2026-05-17 --lesson 1 --lesson 3
    """
    from skillgit.sleep.proposals.adopt import carry_out, plan

    repo = app.repo()
    adoption = plan(repo, _choose(app, repo, proposal), numbers, onto=onto, stale=stale, unverified=unverified)
    commit = carry_out(repo, adoption) if adoption.lessons and not dry_run else ""
    document = _adopted(repo, adoption, commit, dry_run=dry_run)
    if as_json:
        print_json(document)
        return
    for line in _told(document, adoption.state, chosen=bool(numbers)):
        click.echo(line)


@click.command(short_help="Turn a proposal down.")
@click.argument("proposal", shell_complete=complete_proposal)
@_LESSON
@click.option("--why", required=True, metavar="TEXT", help="The reason; later nights are told.")
@click.option("--keep-branch", is_flag=True, help="Do not delete the branch.")
@_DRY
@json_option
@pass_app
def reject(
    app: App, proposal: str, numbers: tuple[int, ...], why: str, keep_branch: bool, dry_run: bool, as_json: bool
) -> None:
    """Turn a proposal down, or chosen lessons of it. The reason is kept, later nights do not try the same again, and
    the branch is deleted when nothing of it waits any more; its commits stay with the record of the night.

    \b
    Example:
      skillgit sleep reject greeter --lesson 2 --why "prices have cents"
    """
    from skillgit.sleep.proposals.reject import carry_out, plan

    repo = app.repo()
    rejection = plan(repo, _choose(app, repo, proposal), numbers, why, keep_branch=keep_branch)
    if rejection.lessons and not dry_run:
        carry_out(repo, rejection)
    document = _rejected(rejection, dry_run=dry_run)
    if as_json:
        print_json(document)
        return
    name, count = one_line(document["name"]), len(document["lessons"])
    if document["status"] == "nothing_to_do":
        click.echo(f"nothing to do: {name} is {rejection.state.status}")
        return
    lessons = counted(len(rejection.state.lessons), "lesson")
    click.echo(f"{'would turn down' if dry_run else 'turned down'} {count} of {lessons} of {name}")
    if document["branch"]:
        click.echo(f"branch {one_line(document['branch'])} {'would be' if dry_run else 'was'} deleted")
    elif document["kept"]:
        click.echo(f"the branch stays: {document['kept']}")


def _choose(app: App, repo: Repository, proposal: str) -> State:
    from skillgit.sleep.proposals.choice import choose

    return choose(repo, proposal, also=(load(app, repo.root).sleep.auto_adopt,))


def _adopted(repo: Repository, adoption: Adoption, commit: str, *, dry_run: bool) -> dict[str, Any]:
    from skillgit.evals.evidence import read_records
    from skillgit.report.sleep.proposals import other_files
    from skillgit.report.unmeasured import measuring

    found = (repo.resolve(f"{commit}:{adoption.place.path}") or "") if commit else ""
    measured = bool(found) and any(one.get("split") == "val" for one in read_records(repo, [found])[found])
    return {
        "name": adoption.state.name,
        "status": "nothing_to_do" if not adoption.lessons else "planned" if dry_run else "adopted",
        "lessons": [{"number": one.number, "rule": one.lesson.rule} for one in adoption.lessons],
        "whole": adoption.whole,
        "other_files": other_files(repo, adoption.state) if adoption.whole and adoption.lessons else [],
        "onto": adoption.onto or None,
        "base": adoption.target,
        "commit": commit or None,
        "object": found or None,
        "measured": measured if found else None,
        "next": measuring(repo, adoption.place) if found and not measured else None,
    }


def _told(document: dict[str, Any], state: State, *, chosen: bool) -> list[str]:
    name = one_line(document["name"])
    if document["status"] == "nothing_to_do":
        return [f"nothing to do: {_nothing_left(name, state, chosen=chosen)}"]
    lines = [f"  {one['number']}. {one_line(one['rule'], 100)}" for one in document["lessons"]]
    if others := document["other_files"]:
        lines.append(f"  and changes of {', '.join(map(one_line, others))}")
    count = counted(len(document["lessons"]), "lesson")
    verb = "merge" if document["whole"] else "commit"
    if document["status"] == "planned":
        return [f"would {verb} {count} of {name} on top of {document['base'][:12]}", *lines]
    said = [f"adopted {count} of {name} in {document['commit'][:12]}", *lines]
    if document["next"]:
        said.append(f"the text as it is now was never measured; measure it with: {document['next']}")
    return said


def _nothing_left(name: str, state: State, *, chosen: bool) -> str:
    if chosen:
        return f"these lessons of {name} are adopted already"
    turned_down = " ".join(f"--lesson {one.number}" for one in state.lessons if one.fate == "rejected")
    if turned_down:
        return f"{name} is {state.status}; what was turned down can still be adopted with {turned_down}"
    return f"{name} is adopted already"


def _rejected(rejection: Rejection, *, dry_run: bool) -> dict[str, Any]:
    lessons = rejection.lessons
    return {
        "name": rejection.state.name,
        "status": "nothing_to_do" if not lessons else "planned" if dry_run else "rejected",
        "lessons": [{"number": one.number, "rule": one.lesson.rule} for one in lessons],
        "why": rejection.why,
        "branch": (rejection.branch or None) if lessons else None,
        "kept": rejection.kept or None,
    }
