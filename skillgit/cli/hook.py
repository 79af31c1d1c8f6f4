"""`skillgit hook NAME`: what git and the pre-commit framework call. The shims know only this."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from skillgit.cli.app import App, pass_app
from skillgit.errors import CheckFailedError, GitError, SkillgitError
from skillgit.report.safe import visible

if TYPE_CHECKING:
    from skillgit.git.repository import Repository


def _lint(app: App, args: Sequence[str]) -> None:
    """Lint the skills with staged changes, and those of the files that the framework names (`--all-files`)."""
    from skillgit.git.hooks.indexed import changed, index_env, touches_skills

    # Opening a repository forgets the variables that git exports to its hooks.
    environ = dict(os.environ)
    repo = app.repo()
    env = index_env(repo, environ)
    paths = list(changed(repo, env))
    if not args and not touches_skills(repo, env, paths):
        return
    # Only now: most commits touch no skill, and need not wait for all that linting loads.
    from skillgit.cli.lint import check_staged

    quiet = App(app.folder, quiet=True, verbose=app.verbose)
    # The framework names no file that is removed, or that its pattern does not know as one of a skill.
    check_staged(quiet, repo, env, [*args, *paths] if args else [])


def _commit_msg(app: App, args: Sequence[str]) -> None:
    from skillgit.skills.commit_message import Message, check_message, needs_git

    if not args:
        raise click.UsageError("the commit-msg hook needs the message file")
    file = args[0]
    raw = _read(app.folder / file)
    if needs_git(raw):
        from skillgit.git.hooks.staged import check_commit

        problems = check_commit(app.folder, raw, os.environ)
    else:
        problems = check_message(Message.read(raw, comment="#"))
    for problem in problems:
        where = f"{file}:{problem.line}: " if problem.line else ""
        click.echo(f"{problem.level}: {where}{visible(problem.message)}", err=True)
        if problem.fix:
            click.echo(f"  next: {visible(problem.fix)}", err=True)
    if any(problem.level == "error" for problem in problems):
        fix = f"git commit --edit --file={file} brings the message back"
        raise CheckFailedError("the commit was not made", fix=fix)


def _pre_push(app: App, args: Sequence[str]) -> None:
    from skillgit.cli.app import load
    from skillgit.cli.gate import judge_pushes
    from skillgit.git.hooks.pushes import from_framework, from_lines

    repo = app.repo()
    policy = load(app, repo.root).git.push_gate
    if policy == "off":
        return
    # git gives the remote's name and URL; the framework gives no arguments, and has read standard input itself.
    pushes = from_lines(repo, _told(), args[0]) if args else from_framework(repo, os.environ)
    judge_pushes(app, repo, pushes, policy)


def _post_merge(app: App, args: Sequence[str]) -> None:  # noqa: ARG001 - every hook's shape
    from skillgit.git.hooks.pushes import merged

    _render(app, merged)


def _post_rewrite(app: App, args: Sequence[str]) -> None:  # noqa: ARG001 - every hook's shape
    # One line per rewritten commit: the old id, the new one, and what git may add.
    rows = [line.split() for line in _told()]
    _render(app, lambda _: list(dict.fromkeys(row[1] for row in rows if len(row) > 1)))


def _render(app: App, commits: Callable[[Repository], list[str]]) -> None:
    """Write the gate lines of new commits; a merge or rewrite that is done must not seem to fail for them."""
    from skillgit.evals.gatelines import render_gate_lines

    try:
        repo = app.repo()
        render_gate_lines(repo, commits(repo))
    except SkillgitError as error:
        click.echo(f"note: gate lines were not rendered: {visible(error.what)}", err=True)


def _told() -> list[str]:
    """The lines that git writes to a hook; names of refs are bytes to git."""
    return sys.stdin.buffer.read().decode("utf-8", "surrogateescape").split("\n")


def _read(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise GitError(f"cannot read the commit message {file}", why=str(error)) from error


_HOOKS: dict[str, Callable[[App, Sequence[str]], None]] = {
    "pre-commit": _lint,
    "pre-merge-commit": _lint,
    "commit-msg": _commit_msg,
    "pre-push": _pre_push,
    "post-merge": _post_merge,
    "post-rewrite": _post_rewrite,
}


@click.command(hidden=True, context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("name", type=click.Choice(list(_HOOKS)))
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
@pass_app
def hook(app: App, name: str, args: tuple[str, ...]) -> None:
    """Do the work of the git hook NAME, with the arguments and standard input that git gives it."""
    _HOOKS[name](app, args)
