"""`skillgit export`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from skillgit.cli.app import App, complete_skill, json_option, pass_app, print_json
from skillgit.errors import GitError
from skillgit.skills.agents import AGENTS

if TYPE_CHECKING:
    from skillgit.git.deploy.install import Target
    from skillgit.git.repository import Repository

_NAMES = [agent.name for agent in AGENTS]


@click.command(short_help="Install a version.")
@click.argument("skill", shell_complete=complete_skill)
@click.argument("revision", default="HEAD", metavar="[REV]")
@click.option(
    "--to", type=click.Path(path_type=Path), metavar="DIR", help="A folder of skills, or the skill's folder in one."
)
@click.option("--agent", type=click.Choice(_NAMES), help="Where this agent looks in this repository.")
@click.option("--user", is_flag=True, help="With --agent: where it looks in the home folder.")
@click.option("--force", is_flag=True, help="Replace local edits; they are first committed to a ref.")
@click.option("--dry-run", is_flag=True, help="Say what would be done.")
@json_option
@pass_app
def export(
    app: App,
    skill: str,
    revision: str,
    to: Path | None,
    agent: str | None,
    user: bool,
    force: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Install SKILL as of REV where an agent finds it: the whole skill, checked against its object id.

    REV is HEAD by default; `best` is the best version of the newest run, the name of a run is that run's best.

    The folder is called after the skill's `name`: with --to DIR it is DIR/NAME, or DIR itself when it already ends
    in NAME. A bare Markdown file becomes NAME/SKILL.md. The file .skillgit.json in it says which version it is.

    Nothing of yours is lost: a folder that was edited since, or that skillgit did not make, is refused.
    """
    from skillgit.git.deploy.install import Target, install
    from skillgit.report import history, packing

    if (to is None) == (agent is None) or (user and to):
        raise click.UsageError("give either --to DIR, or --agent NAME (with --user for the home folder)")
    repo = app.repo()
    place = history.place_of(repo, skill, app.folder)
    package, warnings = packing.package(repo, place, revision)
    target = Target.at(app.folder / to, package.name) if to else _of_agent(repo, agent or "", package.name, user=user)
    done = install(repo, package, target, force=force, dry_run=dry_run)
    for warning in warnings:
        click.echo(f"note: {warning}", err=True)
    if as_json:
        print_json(
            {
                "skill": place.name,
                "name": package.name,
                "revision": revision,
                "commit": package.commit,
                "object": package.object,
                "val": package.val,
                "agent": agent,
                "folder": str(done.folder),
                "action": done.action,
                "files": sorted(done.files),
                "replaced": done.replaced,
                "backup": done.backup,
                "warnings": warnings,
                "dry_run": dry_run,
            }
        )
        return
    app.console().print(f"{'would be ' * dry_run}{done.action}", f"{package.object[:12]}  {done.folder}", markup=False)
    if done.backup:
        kept = f"{'would be ' * dry_run}kept"
        app.say(f"{kept}       what was there; git cherry-pick {done.backup} brings it into the repository")


def _of_agent(repo: Repository, agent: str, name: str, *, user: bool) -> Target:
    from skillgit.git.deploy.install import Target

    known = next(known for known in AGENTS if known.name == agent)
    if user:
        return Target(Path.home(), f"{known.user}/{name}")
    if repo.top is None:
        raise GitError("a bare repository has no folders for agents", fix="add --user, or use --to DIR")
    return Target(repo.top, f"{known.project}/{name}")
