"""`skillgit lint`."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from skillgit.cli.app import App, load, pass_app, print_json
from skillgit.errors import CheckFailedError, ConfigError

if TYPE_CHECKING:
    from skillgit.git.repository import Repository
    from skillgit.report.linting import Report


@click.command(short_help="Check skills.")
@click.argument("paths", nargs=-1, type=click.Path())
@click.option("--staged", is_flag=True, help="Judge what is staged for the next commit.")
@click.option("--profile", default="", metavar="NAME", help="Who reads the skills: spec, claude-code, codex, …")
@click.option("--fix", is_flag=True, help="Mend what can be mended safely, in the working tree.")
@click.option("--dry-run", is_flag=True, help="With --fix: print the patch and write nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--format", "form", type=click.Choice(["text", "json", "github", "sarif"]), help="How to print findings.")
@click.option("--explain", "rule", default="", metavar="RULE", help="Print what a rule is about; `list` names all.")
@click.option("--strict", is_flag=True, help="Fail on warnings too.")
@pass_app
def lint(
    app: App,
    paths: tuple[str, ...],
    staged: bool,
    profile: str,
    fix: bool,
    dry_run: bool,
    as_json: bool,
    form: str | None,
    rule: str,
    strict: bool,
) -> None:
    """Check skills: format, links, size, repeated rules, secrets, leaked tasks, hidden text, names.

    PATHS are skill folders, files in skills, or folders with skills below; without any, the current folder. Exits 1
    when there is an error.
    """
    if rule:
        _explain(rule, as_json or form == "json")
        return
    if as_json and form not in (None, "json"):
        raise ConfigError("--json and --format ask for different forms", fix="give one of them")
    if fix and staged:
        raise ConfigError("--fix changes the working tree, not what is staged", fix="skillgit lint --fix, then git add")
    if dry_run and not fix:
        raise ConfigError("--dry-run goes with --fix", fix="linting alone writes nothing")
    report = _staged(app, paths, profile) if staged else _folders(app, paths, profile, fix, dry_run)
    _show(app, report, "json" if as_json else form or "text")
    _check(report, strict)


def check_staged(app: App, repo: Repository, env: Mapping[str, str], paths: Sequence[str]) -> None:
    """Judge and show what is staged, for a hook. Raises `CheckFailedError` for an error."""
    report = _judged(app, repo, env, paths)
    _show(app, report, "text")
    _check(report, strict=False)


def _explain(name: str, as_json: bool) -> None:
    from dataclasses import asdict

    from skillgit.report.lint import explained, listed
    from skillgit.skills.lint.rules import nearest, rules

    if name != "list" and name not in rules():
        raise ConfigError(f"no rule {name!r}", fix=f"did you mean {nearest(name)}? `--explain list` names all")
    if as_json:
        chosen = rules().values() if name == "list" else [rules()[name]]
        print_json({"rules": [asdict(rule) for rule in chosen]})
    else:
        click.echo(listed() if name == "list" else explained(rules()[name]))


def _folders(app: App, paths: tuple[str, ...], profile: str, fix: bool, dry_run: bool) -> Report:
    from dataclasses import replace

    from skillgit.git.skillfiles import top_of
    from skillgit.report.linting import lint_folders, mend, policy_of

    root = top_of(app.folder) or app.folder
    config = load(app, root)
    policy = policy_of(config, profile)
    names, patch = mend(app.folder, paths, policy, write=not dry_run) if fix else ((), "")
    report = lint_folders(app.folder, root, paths, config, policy)
    return replace(report, fixed=() if dry_run else names, patch=patch if dry_run else "")


def _staged(app: App, paths: tuple[str, ...], profile: str) -> Report:
    from skillgit.git.hooks.indexed import index_env

    # Opening a repository forgets the variables of the hook that calls us.
    environ = dict(os.environ)
    repo = app.repo()
    return _judged(app, repo, index_env(repo, environ), paths, profile)


def _judged(app: App, repo: Repository, env: Mapping[str, str], paths: Sequence[str], profile: str = "") -> Report:
    from skillgit.report.linting import lint_staged, policy_of

    config = load(app, repo.root)
    return lint_staged(repo, app.folder, paths, env, config, policy_of(config, profile))


def _show(app: App, report: Report, form: str) -> None:
    from skillgit.report.lint import FORMATS, on_terminal, summary
    from skillgit.report.safe import visible

    if form in ("github", "sarif"):
        report = _for_platform(app, report)
    if form == "text":
        for name in report.fixed:
            app.say(f"mended {visible(name)}")
        if report.patch:
            # With colour allowed, click takes nothing out of what is piped on.
            click.echo(on_terminal(report.patch) if sys.stdout.isatty() else report.patch, nl=False, color=True)
    text = FORMATS[form](report)
    if text:
        click.echo(text)
    if form == "text":
        app.say(summary(report))


def _for_platform(app: App, report: Report) -> Report:
    """GitHub knows files by their paths from the top folder only."""
    from skillgit.git.skillfiles import top_of
    from skillgit.report.linting import seen_from

    top = top_of(app.folder)
    return report if top is None else seen_from(report, app.folder, top)


def _check(report: Report, strict: bool) -> None:
    from skillgit.report.linting import counts

    found = counts(report)
    failed = found["error"] + (found["warning"] if strict else 0)
    if failed:
        raise CheckFailedError(
            f"{failed} finding{'' if failed == 1 else 's'} must be mended",
            fix="skillgit lint --explain RULE tells why a rule is there",
        )
