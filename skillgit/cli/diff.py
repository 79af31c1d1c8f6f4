"""`skillgit diff`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from skillgit.cli.app import App, complete_skill, json_option, pass_app, print_json
from skillgit.cli.cells import styled, tell
from skillgit.errors import ConfigError

if TYPE_CHECKING:
    from skillgit.git.repository import Repository
    from skillgit.report.sides import Side


@click.command(short_help="Compare two versions rule by rule.")
@click.argument("before", metavar="A")
@click.argument("after", metavar="[B]", default="")
@click.argument("skill", default="", shell_complete=complete_skill)
@click.option("--stat", is_flag=True, help="One line for each skill.")
@click.option(
    "--format", "form", type=click.Choice(["text", "markdown"]), default="text", help="markdown: for a pull request."
)
@json_option
@pass_app
def diff(app: App, before: str, after: str, skill: str, stat: bool, form: str, as_json: bool) -> None:
    """Compare the skills of revision A with those of B: rules added, removed, reworded and moved, other files, length
    in tokens, scores, and the tasks that flipped.

    Without B: with the working tree. A..B and A...B are taken as git takes them, REVISION:PATH names one skill.
    Without SKILL: every skill folder that differs.
    """
    from skillgit.report.diff import differences
    from skillgit.report.sides import sides

    if stat and form != "text":
        raise ConfigError("--stat is plain text", fix="leave out --stat or --format")
    repo = app.repo()
    named, (after, skill) = after, _told(repo, after, skill)
    if named and named == after and not skill:
        tell(_ambiguous(app, repo, before, after), quiet=app.quiet)
    one, other = sides(repo, before, after, named=_file(app, repo, skill))
    skills = differences(repo, one, other, skill, app.folder)
    if as_json:
        print_json({"before": _json(one), "after": _json(other), "skills": skills})
        return
    _print(app, skills, form="stat" if stat else form)


def _told(repo: Repository, after: str, skill: str) -> tuple[str, str]:
    """B and SKILL: of two arguments the second is a revision when git knows it as one, else a skill."""
    if skill or not after:
        return after, skill
    known = repo.resolve(f"{after}^{{commit}}") or (":" in after and repo.resolve(after))
    return (after, "") if known else ("", after)


def _ambiguous(app: App, repo: Repository, before: str, name: str) -> list[str]:
    """What to say of a name that is both a revision's and a skill's."""
    from skillgit.errors import SkillError
    from skillgit.git.skillstore import find

    try:
        path = find(repo, name, cwd=app.folder).path
    except SkillError:
        return []
    return [f"{name} is taken as a revision; for the skill of that name: skillgit diff {before} {path}"]


def _file(app: App, repo: Repository, skill: str) -> str:
    """The path of a named bare file, from the top; it counts as a skill though it is not called `SKILL.md`."""
    from skillgit.errors import SkillError
    from skillgit.report.history import place_of

    try:
        return place_of(repo, skill, app.folder).path if skill.endswith(".md") else ""
    except SkillError:
        return ""  # it may still be on the other side


def _json(side: Side) -> dict[str, Any]:
    return {"revision": side.name or None, "commit": side.commit}


def _print(app: App, skills: list[Any], form: str) -> None:
    from skillgit.report import diff_markdown, diff_text

    if form == "markdown":
        click.echo(diff_markdown.document(skills), nl=False)
    elif not skills:
        app.say("no skill differs")
    elif form == "stat":
        click.echo("\n".join(diff_text.stat(skill) for skill in skills))
    else:
        click.echo("\n".join(styled(line for skill in skills for line in diff_text.lines(skill))))
