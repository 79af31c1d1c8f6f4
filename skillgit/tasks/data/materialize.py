"""From a released id list and a copy of the data to splits that can be run."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from skillgit.errors import SkillgitError
from skillgit.tasks.data.digest import Seal
from skillgit.tasks.data.findings import Finding, Findings
from skillgit.tasks.data.folder import Staging, check_place, staged, swap_in
from skillgit.tasks.data.kinds import kind
from skillgit.tasks.data.kinds.base import Found, Kind, UnusableError
from skillgit.tasks.data.manifests import Manifest, Wanted, read_manifest
from skillgit.tasks.data.sources import Place, open_source
from skillgit.tasks.data.tables import Filter, read_table
from skillgit.tasks.rows import shown

Items = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Made:
    """What came of it. With findings, nothing was written.

    Attributes:
        folder: where the splits are, or would be.
        written: whether they are there now.
        seal: what they hold; without meaning when there are findings.
        released: whether the counts are those of the released list.
    """

    folder: Path
    written: bool
    seal: Seal
    released: bool
    findings: tuple[Finding, ...]

    def to_json(self) -> dict[str, Any]:
        """The result as JSON values."""
        head = {"name": self.seal.name, "folder": str(self.folder), "written": self.written}
        about = {"counts": dict(self.seal.counts), "released": self.released, "source": self.seal.source}
        files = {"files": len(self.seal.files), "outside": len(self.seal.outside)}
        found = {"findings": [asdict(finding) for finding in self.findings]}
        return {**head, "digest": "" if self.findings else self.seal.digest, **about, **files, **found}


def materialize(
    name: str, manifest: Path, source: str, out: Path, base: Path, *, force: bool = False, dry_run: bool = False
) -> Made:
    """Build the splits of a benchmark in `out`. All or nothing: one fault, and nothing is written.

    Args:
        manifest: folder with train, val and test of ids.
        source: path of the data, or `hf`; blank takes `$ALFWORLD_DATA`.
        base: folder that a relative source starts from.
        force: replace materialised data that is there.

    Raises:
        TaskError, ConfigError: manifest or source cannot be read at all, or the place is taken.
    """
    what, findings, out = kind(name), Findings(), out.resolve()
    check_place(out, force=force)
    listed = read_manifest(manifest, what.title, findings)
    with open_source(what, source, base, listed.about) as place:
        if dry_run:
            return _made(what, listed, place, Staging(out, dry_run=True), out, findings)
        with staged(out) as folder:
            try:
                return _written(what, listed, place, Staging(folder, dry_run=False), out, findings, force)
            except SkillgitError:
                shutil.rmtree(folder, ignore_errors=True)
                raise


def _made(what: Kind, listed: Manifest, place: Place, staging: Staging, out: Path, findings: Findings) -> Made:
    items = _items(what, listed, place, staging, findings)
    for split, wanted in listed.items.items():
        staging.put(f"{split}/items.json", _json([items[each.id] for each in wanted if each.id in items]))
    seal = Seal(what.name, listed.counts, place.said, dict(staging.files), dict(staging.outside))
    released = tuple(listed.counts.values()) == what.released
    return Made(out, False, seal, released, tuple(findings.found))


def _written(
    what: Kind, listed: Manifest, place: Place, staging: Staging, out: Path, findings: Findings, force: bool
) -> Made:
    staging.ignore()
    made = _made(what, listed, place, staging, out, findings)
    if made.findings:
        shutil.rmtree(staging.folder)
        return made
    staging.seal(_json(made.seal.to_json()))
    staging.sweep()
    check_place(out, force=force)  # another run may have been here meanwhile
    swap_in(staging.folder, out)
    return replace(made, written=True)


def _items(what: Kind, listed: Manifest, place: Place, staging: Staging, findings: Findings) -> Items:
    wanted = listed.by_id()
    places: dict[str, str] = {}
    items: Items = {}
    for item, where, found in _found(what, wanted, place, findings):
        if item.id in places:
            findings.add("duplicate", f"is already at {places[item.id]}", id=item.id, where=where)
            continue
        places[item.id] = where
        try:
            items[item.id] = what.build(item.value, found, staging)
        except UnusableError as error:
            findings.add(error.kind, str(error), id=item.id, where=where)
    for item in wanted.values():
        if item.id not in places:
            findings.add("missing", "is not in the source", id=item.id, where=item.where)
    return items


def _found(
    what: Kind, wanted: Mapping[str, Wanted], place: Place, findings: Findings
) -> Iterator[tuple[Wanted, str, Found]]:
    """What the source has for the items, with its place, in the source's order."""
    if not what.patterns:
        yield from ((item, item.where, Found({}, (place.folder,))) for item in wanted.values())
    for file in place.files:
        folders = _folders(file, place.folder)

        def keep(row: Mapping[str, Any], name: str = file.name) -> bool:
            return what.row_id(row, name) in wanted

        for row in read_table(file, shown(file, place.folder), Filter(what.id_fields, keep), findings):
            yield wanted[what.row_id(row.value, file.name)], row.where, Found(row.value, folders)


def _folders(file: Path, top: Path) -> tuple[Path, ...]:
    """Where paths in a file's rows may start: its own folder, then those above it within the source."""
    return tuple(folder for folder in file.parents if folder.is_relative_to(top))


def _json(value: Any) -> bytes:
    return f"{json.dumps(value, ensure_ascii=False, indent=1)}\n".encode()
