"""`skillgit log`, `show`, `status` and `best`: reading only, from commits, notes and journals."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skillgit.cli.app import App, complete_skill, json_option, pass_app, print_json
from skillgit.errors import ConfigError, GitError

if TYPE_CHECKING:
    from skillgit.train.state import RunState


@click.command(short_help="List a skill's versions.")
@click.argument("skill", shell_complete=complete_skill)
@click.argument("revisions", nargs=-1)
@click.option("--rejected", is_flag=True, help="Add candidates that were not accepted.")
@click.option("-n", "limit", type=click.IntRange(1), default=None, help="Show at most this many versions.")
@json_option
@pass_app
def log(app: App, skill: str, revisions: tuple[str, ...], rejected: bool, limit: int | None, as_json: bool) -> None:
    """List the versions of SKILL, newest first, with the scores measured on each.

    Without REVISIONS: HEAD's history and every training and proposal branch of the skill.
    """
    from skillgit.report import history

    repo = app.repo()
    place = history.place_of(repo, skill, app.folder)
    document: dict[str, Any] = {
        "skill": place.name,
        "versions": history.versions(repo, place, [repo.commit(r) for r in revisions], limit=limit or 0),
    }
    if rejected:
        document["rejected"] = history.rejected(repo, place)
    if as_json:
        print_json(document)
        return
    _print_versions(app, document["versions"])
    if rejected:
        app.console().print("[bold]not accepted[/]")
        _print_versions(app, document["rejected"])


def _print_versions(app: App, versions: Sequence[Mapping[str, Any]]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("commit", "val", "n", "test", "tokens", "step", "verdict", "what"):
        table.add_column(name, overflow="fold", no_wrap=name != "what")
    for version in versions:
        val, test = version["scores"].get("val", {}), version["scores"].get("test", {})
        step = "" if version["step"] is None else str(version["step"])
        cells = [(version["commit"] or version["object"] or "")[:10], _score(val), _count(val), _score(test)]
        cells.append("" if version.get("tokens") is None else str(version["tokens"]))
        table.add_row(*cells, step, version["verdict"] or "", _plain(version["subject"]))
    app.console().print(table)


def _score(part: Mapping[str, Any]) -> str:
    if "at_most" in part:
        return f"≤{part['at_most']:.3f}"
    return f"{part['hard']:.3f}" if part.get("hard") is not None else "–"


def _count(part: Mapping[str, Any]) -> str:
    return "" if part.get("n") is None else str(part["n"])


def _plain(text: str) -> str:
    from rich.markup import escape

    return escape(text)


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
        console.print(_plain(version["subject"]))
        for split, part in version["scores"].items():
            console.print(f"  {split:9} hard {_score(part)}, n={_count(part) or 'unknown'}")
    gate = step.get("gate")
    if gate:
        console.print(f"  gate      {gate['verdict']} (from {gate['base_score']})")
        for label in ("improved", "regressed"):
            console.print(f"  {label:9} {_plain(', '.join(gate.get(label) or ()) or '–')}")
    if step.get("record"):
        usage = step["record"]["usage"]
        console.print(f"  usage     {', '.join(f'{key} {value}' for key, value in usage.items() if value is not None)}")
    if step.get("reasoning"):
        console.print(f"\n[bold]why[/]\n{_plain(step['reasoning'])}")
    console.print()
    if console.is_terminal:
        console.print(Syntax(patch, "diff", background_color="default"))
    else:
        click.echo(patch)


@click.command(short_help="List training runs.")
@click.argument("skill", default="", shell_complete=complete_skill)
@json_option
@pass_app
def status(app: App, skill: str, as_json: bool) -> None:
    """List the training runs of SKILL (or of every skill) and where they stand."""
    from skillgit.report import history

    repo = app.repo()
    skills = [skill] if skill else history.trained_skills(repo)
    runs = [_run(state) for name in skills for state in history.states(repo, name)]
    if as_json:
        print_json({"runs": runs})
        return
    if not runs:
        app.say("no training runs yet; start one with: skillgit train SKILL")
    for run in runs:
        app.console().print(
            f"{run['skill']}  {run['run']}  [bold]{run['status']}[/]  step {run['step']}  "
            f"val {_score({'hard': run['baseline']})} -> {_score({'hard': run['best']['score']})}  "
            f"{run['accepted']} accepted, {run['rejected']} rejected, {run['skipped']} skipped"
        )
        if run["status"] == "unfinished":
            app.console().print(f"  go on: skillgit train {run['skill']} --resume {run['run']}")


def _run(state: RunState) -> dict[str, Any]:
    return {
        "skill": state.skill,
        "run": state.run,
        "status": "finished" if state.closed else "unfinished",
        "reason": state.reason or None,
        "branch": state.branch,
        "step": state.step,
        "baseline": state.initial.score,
        "best": dataclasses.asdict(state.best),
        "accepted": state.accepted,
        "rejected": state.rejected,
        "skipped": state.skipped,
    }


@click.command(short_help="Print the best version.")
@click.argument("skill", shell_complete=complete_skill)
@click.option("--run", default="", help="Of this run; by default the newest.")
@click.option("--export", type=click.Path(path_type=Path), help="Copy the skill's files into this folder.")
@json_option
@pass_app
def best(app: App, skill: str, run: str, export: Path | None, as_json: bool) -> None:
    """Print the best version of SKILL's newest (or named) run, and copy it out if asked."""
    from skillgit.report import history

    repo = app.repo()
    place = history.place_of(repo, skill, app.folder)
    state = history.best_state(repo, place.name, run)
    mark = state.best
    files = _export(app, mark.commit, state.path, app.folder / export) if export else []
    if as_json:
        print_json({"skill": place.name, "run": state.run, "best": dataclasses.asdict(mark), "exported": files})
        return
    app.console().print(
        f"{mark.commit}  step {mark.step}  val {_score({'hard': mark.score})}  (run {state.run}, branch {state.branch})"
    )
    for name in files:
        app.say(f"exported   {name}")


def _export(app: App, commit: str, path: str, folder: Path) -> list[str]:
    from skillgit.git.objects import contained, list_tree, read_blobs

    repo = app.repo()
    files = {
        name: blob for name, blob in list_tree(repo, commit).items() if name == path or name.startswith(f"{path}/")
    }
    written = []
    for (name, _), data in zip(files.items(), read_blobs(repo, list(files.values())), strict=True):
        place = folder / (contained(name).removeprefix(f"{path}/") if name != path else Path(name).name)
        if place.exists() and place.read_bytes() != data:
            raise GitError(f"{place} exists and differs", fix="export into an empty folder")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data or b"")
        written.append(str(place))
    return written
