"""`skillgit data materialize|check`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from skillgit.cli.app import App, json_option, pass_app, print_json
from skillgit.cli.cells import tell
from skillgit.errors import CheckFailedError

if TYPE_CHECKING:
    from skillgit.tasks.data.findings import Finding
    from skillgit.tasks.data.kinds.base import Kind


@click.group(short_help="Data of published benchmarks.")
def data() -> None:
    """Make the data of published benchmarks runnable, and check it.

    The benchmarks release lists of ids, not the data. Names are searchqa, docvqa, alfworld, officeqa,
    livemathematicianbench and spreadsheetbench.
    """


@data.command(short_help="Build splits from an id list and your copy of the data.")
@click.argument("name")
@click.option("--manifest", required=True, metavar="DIR", help="Released id list: a folder with train, val and test.")
@click.option("--source", default="", metavar="PATH|hf", help="Your copy of the data, or hf to fetch it from the hub.")
@click.option("--out", default="", metavar="DIR", help="Where to write; by default where the packaged recipe looks.")
@click.option("--force", is_flag=True, help="Make data again that is there already.")
@click.option("--dry-run", is_flag=True, help="Check everything; write nothing.")
@json_option
@pass_app
def materialize(
    app: App, name: str, manifest: str, source: str, out: str, force: bool, dry_run: bool, as_json: bool
) -> None:
    """Build train, val and test of benchmark NAME.

    PATH is a parquet, JSON, JSON Lines or CSV file, a folder of such files, or a packed folder (.tar.gz). Every
    missing, repeated or unusable id is reported, and then nothing is written. Without a fault the splits appear whole,
    with a digest that goes into every record made from them. ALFWorld's games stay below $ALFWORLD_DATA.
    """
    from skillgit.tasks.data.kinds import kind
    from skillgit.tasks.data.materialize import materialize as make

    folder = _folder(app, out, kind(name).folder)
    made = make(name, app.folder / manifest, source, folder, app.folder, force=force, dry_run=dry_run)
    if as_json:
        print_json({"dry_run": dry_run, **made.to_json()})
    else:
        _list(made.findings)
    absent = sum(each.kind == "missing" for each in made.findings)
    other = ", and none of the ids is in the source" if absent == sum(made.seal.counts.values()) else ""
    _fail(
        made.findings, f"nothing was written{other}", "correct the source or the manifest, then run the command again"
    )
    if as_json:
        return
    app.say(f"{'would write' if dry_run else 'wrote'} {folder}: {_counts(made.seal.counts)}")
    app.say(f"digest {made.seal.digest}")
    if not made.released:
        tell(["not the counts of the released list: scores do not compare with published ones"], quiet=app.quiet)
    if not dry_run:
        _say_next(app, kind(name), folder)


@data.command(short_help="Check that materialised data is whole.")
@click.argument("name")
@click.option("--dir", "place", default="", metavar="DIR", help="The data; by default where the packaged recipe looks.")
@json_option
@pass_app
def check(app: App, name: str, place: str, as_json: bool) -> None:
    """Check ids, overlap between splits, counts and the hash of every file of benchmark NAME. Exits 1 for a fault."""
    from skillgit.tasks.data.check import check as look
    from skillgit.tasks.data.kinds import kind

    checked = look(name, _folder(app, place, kind(name).folder))
    if as_json:
        print_json(checked.to_json())
    else:
        _list(checked.findings)
    _fail(checked.findings, "", f"make it again: skillgit data materialize {name} --force …")
    if not as_json:
        released = "the released counts" if checked.released else "not the released counts"
        app.say(f"{checked.files} files are as written: {_counts(checked.counts)} ({released})")
        app.say(f"digest {checked.digest}")


def _folder(app: App, given: str, usual: str) -> Path:
    return app.folder / given if given else _top(app) / usual


def _top(app: App) -> Path:
    from skillgit.git.skillfiles import top_of

    return top_of(app.folder) or app.folder


def _say_next(app: App, kind: Kind, folder: Path) -> None:
    place = _from_top(app, folder)
    sets = "" if place == kind.folder else "".join(f" --set {shlex.quote(f'{key}={place}')}" for key in kind.keys)
    app.say(f"next: skillgit train SKILL --config {kind.name}{sets}")
    if kind.also:
        app.say(f"      {kind.also}")


def _from_top(app: App, folder: Path) -> str:
    top, place = _top(app).resolve(), folder.resolve()
    return (place.relative_to(top) if place.is_relative_to(top) else place).as_posix()


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {split}" for split, count in counts.items())


def _list(findings: Sequence[Finding]) -> None:
    from skillgit.report.safe import one_line
    from skillgit.tasks.problems import LISTED

    for each in findings[:LISTED]:
        said = f"{each.kind:10} {one_line(each.id)}  {one_line(each.text)}"
        click.echo(f"{said}  ({one_line(each.where)})" if each.where else said)
    if len(findings) > LISTED:
        click.echo(f"… and {len(findings) - LISTED} more; --json lists all")


def _fail(findings: Sequence[Finding], why: str, fix: str) -> None:
    from skillgit.tasks.data.findings import counted

    if findings:
        count = f"{len(findings)} finding{'' if len(findings) == 1 else 's'}"
        raise CheckFailedError(f"{count}: {counted(findings)}", why=why, fix=fix)
