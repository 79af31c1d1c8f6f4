"""`skillgit show`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from skillgit.cli.app import App, complete_skill, json_option, pass_app, print_json
from skillgit.cli.cells import count, plain, score
from skillgit.errors import ConfigError


@click.command(short_help="Show one version.")
@click.argument("revision")
@click.argument("skill", default="", shell_complete=complete_skill)
@json_option
@pass_app
def show(app: App, revision: str, skill: str, as_json: bool) -> None:
    """Show the version REVISION: its patch, the gate's decision, flipped tasks, the analysts' reasoning, and usage.

    SKILL may be left out for a branch or commit that skillgit made.
    """
    from skillgit.report import history

    repo = app.repo()
    commit = repo.commit(revision)
    place = history.place_of(repo, skill or _skill_of(repo.git.text("log", "-1", "--format=%s", commit)), app.folder)
    versions = history.versions(repo, place, [commit], limit=1)
    _, step = history.find_step(repo, place, commit)
    patch = repo.git.text("show", "--no-ext-diff", "--format=", commit, "--", f":(top,literal){place.path}")
    version = versions[0] if versions and versions[0]["commit"] == commit else None
    if as_json:
        print_json({"skill": place.name, "commit": commit, "version": version, "step": step, "patch": patch})
        return
    _print_show(app, commit, version, step, patch)


def _skill_of(subject: str) -> str:
    head, _, rest = subject.partition("):")
    if not rest or not head.startswith("skill("):
        raise ConfigError("this commit does not name a skill", fix="skillgit show REVISION SKILL")
    return head.removeprefix("skill(")


def _print_show(app: App, commit: str, version: Mapping[str, Any] | None, step: Mapping[str, Any], patch: str) -> None:
    from rich.syntax import Syntax

    console = app.console()
    console.print(f"[bold]commit[/] {commit}")
    if version:
        console.print(plain(version["subject"]))
        for split, part in version["scores"].items():
            console.print(f"  {split:9} hard {score(part)}, n={count(part) or 'unknown'}")
    gate = step.get("gate")
    if gate:
        console.print(f"  gate      {gate['verdict']} (from {gate['base_score']})")
        for label in ("improved", "regressed"):
            console.print(f"  {label:9} {plain(', '.join(gate.get(label) or ()) or '–')}")
    if step.get("record"):
        usage = step["record"]["usage"]
        console.print(f"  usage     {', '.join(f'{key} {value}' for key, value in usage.items() if value is not None)}")
    if step.get("reasoning"):
        console.print(f"\n[bold]why[/]\n{plain(step['reasoning'])}")
    console.print()
    if console.is_terminal:
        console.print(Syntax(patch, "diff", background_color="default"))
    else:
        click.echo(patch)
