"""`skillgit notes`."""

from __future__ import annotations

from dataclasses import asdict

import click

from skillgit.cli.app import App, json_option, pass_app, print_json
from skillgit.cli.cells import plain


@click.group(short_help="Render or repair notes.")
def notes() -> None:
    """Render gate lines again, or repair records.

    Records are notes on skill objects; gate lines are notes on commits, made from them.
    """


@notes.command(short_help="Write gate lines from records.")
@click.argument("revisions", nargs=-1)
@click.option("--dry-run", is_flag=True, help="Print the lines that would change; write nothing.")
@json_option
@pass_app
def render(app: App, revisions: tuple[str, ...], dry_run: bool, as_json: bool) -> None:
    """Write the gate lines of commits anew, so that plain `git log` shows scores after a squash, rebase or cherry-pick.

    Lines that tell of a text the commit does not hold go; lines of people stay. REVISIONS are commits or ranges, as git
    log takes them; by default the history of HEAD and of every branch.
    """
    from skillgit.evals import gatelines
    from skillgit.git.rewrite import commits_of

    repo = app.repo()
    commits = commits_of(repo, revisions)
    changes = gatelines.planned(repo, commits)
    if not dry_run:
        gatelines.render_gate_lines(repo, list(changes))
    if as_json:
        rows = [{"commit": name, "before": old, "after": new} for name, (old, new) in changes.items()]
        print_json({"dry_run": dry_run, "commits": len(commits), "changed": rows})
        return
    for name, (old, new) in changes.items():
        for mark, lines in (("-", [line for line in old if line not in new]), ("+", [n for n in new if n not in old])):
            for line in lines:
                app.console().print(f"{name[:10]} {mark} {plain(line)}")
    app.say(f"{len(changes)} of {len(commits)} commits {'would change' if dry_run else 'changed'}")


@notes.command(short_help="Mend records and results.")
@click.option("--dry-run", is_flag=True, help="Say what would be mended; write nothing.")
@json_option
@pass_app
def repair(app: App, dry_run: bool, as_json: bool) -> None:
    """Mend the notes that hold records: lost ones come back from journals, damaged text becomes lines again.

    Records on another object than they measured move there. What cannot be read stays, and is named.
    """
    from skillgit.train.noterepair import CHANGING, repair_notes

    findings = repair_notes(app.repo(), dry_run=dry_run)
    if as_json:
        print_json({"dry_run": dry_run, "findings": [asdict(finding) for finding in findings]})
        return
    for finding in findings:
        where = f"{finding.ref.removeprefix('refs/notes/')} {finding.object[:12]}"
        app.console().print(f"{finding.kind:12} {plain(where)}  {plain(finding.detail)}")
    mended = sum(finding.kind in CHANGING for finding in findings)
    app.say(f"{mended} {'would be ' if dry_run else ''}mended, {len(findings) - mended} for a person to look at")
