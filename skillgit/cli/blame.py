"""`skillgit blame`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from skillgit.cli.app import App, complete_skill, json_option, pass_app, print_json
from skillgit.cli.cells import change, columns, styled, tell
from skillgit.errors import ConfigError, GitError
from skillgit.report.safe import one_line, visible

if TYPE_CHECKING:
    from skillgit.git.repository import Repository
    from skillgit.git.skillstore import Place

_PATTERNS = 3  # shown of a step; `--json` has all
_WIDTH = 72
_RANGE = re.compile(r"\d+(,\d*)?|,\d+")


@click.command(short_help="Explain each line.")
@click.argument("skill", shell_complete=complete_skill)
@click.argument("revision", default="")
@click.option("-L", "lines", default="", metavar="FIRST,LAST", help="Only these lines.")
@json_option
@pass_app
def blame(app: App, skill: str, revision: str, lines: str, as_json: bool) -> None:
    """Show for each line of SKILL who or what wrote it: commit, step or night, verdict, change of score, and the
    failures it answers.

    Without REVISION: the skill as it is in the working tree.
    """
    from skillgit.report import history
    from skillgit.report.blame import explain
    from skillgit.report.steps import problems

    if lines and not _RANGE.fullmatch(lines):
        raise ConfigError(f"-L {lines!r} is no range of lines", fix="give two line numbers: -L 10,20")
    repo = app.repo()
    commit = repo.commit(revision) if revision else ""
    place = history.place_of(repo, skill, app.folder, commit)
    found = explain(repo, place, commit or _start(repo, place), lines)
    if as_json:
        print_json({"skill": place.name, **found})
        return
    click.echo("\n".join(_headed(found) if sys.stdout.isatty() else _rows(found)))
    tell(problems(place.name, found["missing_runs"], found["unreadable"]), quiet=app.quiet)


def _start(repo: Repository, place: Place) -> str:
    """The commit to start from; empty for the working tree."""
    if repo.top and (repo.top / place.document).is_file():
        if not repo.head() or not repo.git.text("ls-files", "--", f":(top,literal){place.document}"):
            raise GitError(f"{place.document} is not in git yet", fix=f"git add {place.document}, and git commit")
        return ""
    if repo.resolve(f"HEAD:{place.document}"):
        return repo.commit("HEAD")
    raise GitError(f"{place.document} is not in HEAD", fix=f"skillgit blame {place.name} BRANCH")


def _headed(found: Mapping[str, Any]) -> Iterator[str]:
    """One header for each run of lines of the same commit."""
    width = len(str(found["lines"][-1]["line"])) if found["lines"] else 0
    for (commit, step), rows in groupby(found["lines"], key=lambda row: (row["commit"], row["step_commit"])):
        yield from styled(_header(commit, found["commits"].get(step or commit)))
        yield from (f"{row['line']:>{width + 2}}  {visible(row['text'])}" for row in rows)


def _header(commit: str | None, facts: Mapping[str, Any] | None) -> Iterator[tuple[str, str]]:
    if commit is None or facts is None:
        yield "title", "not committed"
        return
    words = [commit[:10], facts["date"], _who(facts), one_line(facts["verdict"] or "")]
    gain = "" if facts["change"] is None else f" ({change(facts['change'])})"
    words.append("unmeasured" if facts["score"] is None else f"val {facts['score']:.3f}{gain}")
    yield "title", "  ".join(word for word in words if word)
    yield "faint", f"  {one_line(facts['subject'])}"
    if why := _why(facts):
        yield "faint", f"  why: {why}"


def _rows(found: Mapping[str, Any]) -> list[str]:
    """The same columns on every line."""
    told = {commit: _cells(facts) for commit, facts in found["commits"].items()}
    nothing = ("–", "not committed", "–", "–", "–")
    rows = [
        (
            str(row["line"]),
            (row["commit"] or "–")[:10],
            *told.get(row["step_commit"] or row["commit"], nothing),
            visible(row["text"]),
        )
        for row in found["lines"]
    ]
    return columns([("line", "commit", "date", "from", "verdict", "val", "why", "text"), *rows])


def _cells(facts: Mapping[str, Any]) -> tuple[str, ...]:
    verdict = one_line(facts["verdict"] or "–")
    return (facts["date"], _who(facts), verdict, change(facts["change"]), _why(facts) or "–")


def _who(facts: Mapping[str, Any]) -> str:
    """The step, the night, or the person."""
    if facts["run"]:
        name, place = (f"night {facts['run']}", "lesson") if facts["evidence"] else (facts["run"], "step")
        return one_line(name if facts["step"] is None else f"{name} {place} {facts['step']}")
    return f"sleep: {one_line(facts['evidence'])}" if facts["evidence"] else one_line(facts["author"])


def _why(facts: Mapping[str, Any]) -> str:
    """The failures that led to the change, else the analysts' first words."""
    patterns = list(dict.fromkeys(facts["patterns"]))
    more = f" and {len(patterns) - _PATTERNS} more" if len(patterns) > _PATTERNS else ""
    return one_line("; ".join(patterns[:_PATTERNS]), _WIDTH) + more or one_line(facts["reasoning"] or "", _WIDTH)
