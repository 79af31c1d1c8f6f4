"""Whether materialised data is still what was written."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from skillgit.errors import TaskError
from skillgit.tasks.benchmarks.alfworld.items import DATA
from skillgit.tasks.data.digest import SEAL, Seal, read_seal
from skillgit.tasks.data.findings import Finding, Findings
from skillgit.tasks.data.folder import file_digest, plain
from skillgit.tasks.data.kinds import kind
from skillgit.tasks.data.manifests import read_manifest
from skillgit.tasks.data.sources import games_folder


@dataclass(frozen=True)
class Checked:
    """What a check found.

    Attributes:
        digest: of what was written.
        released: whether the counts are those of the released list.
    """

    name: str
    folder: Path
    digest: str
    counts: dict[str, int]
    released: bool
    files: int
    findings: tuple[Finding, ...]

    def to_json(self) -> dict[str, Any]:
        """The result as JSON values."""
        return {**asdict(self), "folder": str(self.folder), "findings": [asdict(each) for each in self.findings]}


def check(name: str, folder: Path) -> Checked:
    """Compare ids, overlap, counts and every file's hash with the seal.

    Raises:
        TaskError: there is no materialised data, or it is that of another benchmark.
    """
    what, findings = kind(name), Findings()
    found = read_seal(folder)
    if found is None:
        raise TaskError(
            "there is no materialised data",
            why=f"{SEAL} is not there",
            where=str(folder),
            fix=f"skillgit data materialize {name} --manifest DIR --source PATH",
        )
    seal, told = found
    if seal.name != name:
        raise TaskError(f"is the data of {seal.name}, not of {name}", where=str(folder))
    if seal.digest != told:
        findings.add("changed", "does not go with the digest in it", where=SEAL)
    _check_files(folder, seal, findings)
    _check_outside(seal, findings)
    counts = _counts(folder, what.title, findings)
    for split, count in counts.items():
        if seal.counts.get(split) != count:
            findings.add("count", f"holds {count} items, and the seal says {seal.counts.get(split)}", where=split)
    released = tuple(counts.values()) == what.released
    files = len(seal.files) + len(seal.outside)
    return Checked(name, folder, told, counts, released, files, tuple(findings.found))


def _counts(folder: Path, title: str, findings: Findings) -> dict[str, int]:
    try:
        return read_manifest(folder, title, findings).counts
    except TaskError as error:
        findings.add("unreadable", error.why.strip() or error.what, where=error.where)
        return {}


def _check_files(folder: Path, seal: Seal, findings: Findings) -> None:
    for name, known in seal.files.items():
        if plain(name):
            _compare(folder / name, name, known, findings)
        else:
            findings.add("file", "leads out of the data's folder", where=name)


def _check_outside(seal: Seal, findings: Findings) -> None:
    top = games_folder()
    if seal.outside and not top.is_dir():
        findings.add("file", f"its {len(seal.outside)} files cannot be looked at: set {DATA}", where=str(top))
        return
    for name, known in seal.outside.items():
        if plain(name):
            _compare(top / name, f"${DATA}/{name}", known, findings)
        else:
            findings.add("file", f"leads out of ${DATA}", where=name)


def _compare(path: Path, name: str, known: str, findings: Findings) -> None:
    if not path.is_file():
        findings.add("file", "is not there", where=name)
        return
    try:
        if file_digest(path) != known:
            findings.add("changed", "is not what was written", where=name)
    except OSError as error:
        findings.add("file", f"cannot be read ({error.strerror})", where=name)
