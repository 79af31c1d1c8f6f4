"""`skillgit merge-driver`, which git calls."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from skillgit.errors import NeedsPersonError

if TYPE_CHECKING:
    from skillgit.skills.merge.documents import Merged

_FILE = click.Path(path_type=Path)


@click.command(short_help="Merge three versions of a skill, for git.")
@click.argument("base", type=_FILE)
@click.argument("ours", type=_FILE)
@click.argument("theirs", type=_FILE)
@click.argument("marker_size", type=click.IntRange(min=1))
@click.argument("name")
def merge_driver(base: Path, ours: Path, theirs: Path, marker_size: int, name: str) -> None:
    """Merge THEIRS into OURS by section and rule; git calls this as `%O %A %B %L %P`.

    What skills' rules do not decide is merged by lines, as git would do it. Exits 0 without and 7 with conflicts, which
    then stand between markers in OURS.
    """
    from skillgit.report.safe import visible

    merged = _merged((base, ours, theirs), marker_size)
    if isinstance(merged, str):
        from skillgit.git.mergefile import merge_file

        click.echo(f"skillgit: {visible(name)} is merged as plain text: {visible(merged)}", err=True)
        conflicts = 0 if merge_file(base, ours, theirs, marker_size) else 1
    else:
        _write(ours, merged.text)
        conflicts = merged.conflicts
    if conflicts:
        raise NeedsPersonError(f"{visible(name)} has conflicts", fix="settle them in the file, then git add it")


def _merged(paths: tuple[Path, Path, Path], marker_size: int) -> Merged | str:
    """The merge, or why there is none."""
    from skillgit.errors import SkillError
    from skillgit.skills.document import Document
    from skillgit.skills.merge.documents import NotUnderstoodError, merge

    try:
        base, ours, theirs = (Document.parse(path.read_bytes()) for path in paths)
        return merge(base, ours, theirs, marker_size)
    except NotUnderstoodError as error:
        return str(error)
    except SkillError as error:
        return error.what
    except Exception as error:  # noqa: BLE001 - a fault of ours must not stop a merge that git can do
        return f"unexpected {type(error).__name__}: {error}"


def _write(path: Path, text: str) -> None:
    """Replace a file at once: a kill leaves the old or the new one."""
    new = path.with_name(f"{path.name}.skillgit")
    new.write_bytes(text.encode())
    new.replace(path)
