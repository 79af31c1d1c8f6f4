"""`skillgit gate`, and how the pre-push hook tells what it found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from skillgit.cli.app import App, json_option, pass_app, print_json
from skillgit.errors import CheckFailedError
from skillgit.report.safe import visible

if TYPE_CHECKING:
    from skillgit.evals.pushgate import Finding
    from skillgit.git.hooks.pushes import Push
    from skillgit.git.repository import Repository

_SHOWN = 10


@click.command(short_help="Check that changed skills are measured.")
@click.argument("revision", default="HEAD")
@click.option("--against", default="", metavar="UPSTREAM", help="What to compare with; default: the branch's upstream.")
@click.option(
    "--policy",
    type=click.Choice(["off", "warn", "block"]),
    default="block",
    show_default=True,
    help="What to do about a skill that fails; block exits 1.",
)
@json_option
@pass_app
def gate(app: App, revision: str, against: str, policy: str, as_json: bool) -> None:
    """Check the skills that REVISION changes, from records alone: no model is called, nothing is fetched.

    A skill passes when its content was measured on val and did not get worse, in the mean or in any task, than the
    content it replaces. A skill without tasks and records passes too.
    """
    from skillgit.git.hooks.pushes import against as onto

    repo = app.repo()
    judge_pushes(app, repo, [onto(repo, revision, against)], policy, as_json=as_json)


def judge_pushes(app: App, repo: Repository, pushes: Sequence[Push], policy: str, *, as_json: bool = False) -> None:
    """Print what is found for each push. Raises `CheckFailedError` when a skill fails and the policy is `block`."""
    from skillgit.evals.pushgate import check

    found = [(push, check(repo, push)) for push in pushes] if policy != "off" else []
    if as_json:
        print_json({"policy": policy, "pushes": [_document(push, findings) for push, findings in found]})
    else:
        for _, findings in found:
            _print(app, findings)
    failed = sorted({f.skill for _, findings in found for f in findings if not f.judgement.ok})
    if failed and policy == "block":
        raise CheckFailedError(
            f"unmeasured, or worse than before: {', '.join(map(visible, failed))}",
            fix=_next(next(f for _, findings in found for f in findings if not f.judgement.ok)),
        )


def _print(app: App, findings: Sequence[Finding]) -> None:
    for finding in findings:
        judgement = finding.judgement
        if judgement.ok and app.quiet:
            continue
        click.echo(f"{judgement.verdict:10} {visible(finding.path)}  {judgement.why}")
        if judgement.regressed:
            more = len(judgement.regressed) - _SHOWN
            names = ", ".join(map(visible, judgement.regressed[:_SHOWN]))
            click.echo(f"{'':10} worse: {names}{f' and {more} more' if more > 0 else ''}")
        if not judgement.ok:
            click.echo(f"{'':10} next: {_next(finding)}")


def _next(finding: Finding) -> str:
    name = visible(finding.skill)
    if finding.judgement.verdict == "regressed":
        return f"skillgit log {name}"
    return f"skillgit eval {name} (measured elsewhere: skillgit sync)"


def _document(push: Push, findings: Sequence[Finding]) -> Mapping[str, Any]:
    rows = [
        {
            "skill": finding.skill,
            "path": finding.path,
            "before": finding.before,
            "after": finding.after,
            "verdict": finding.judgement.verdict,
            "ok": finding.judgement.ok,
            "why": finding.judgement.why,
            "score_before": finding.judgement.before,
            "score_after": finding.judgement.after,
            "regressed": list(finding.judgement.regressed),
        }
        for finding in findings
    ]
    return {"branch": push.branch, "head": push.head, "base": push.base, "skills": rows}
