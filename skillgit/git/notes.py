"""Notes as sets of lines on any object: read many at once, add without losing anyone's.

Plain `git notes add` loses notes when two processes write at once; here a note tree is rewritten under the
repository's lock and moved with its expected old value, and lines are only ever added or replaced by key.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from skillgit.git.objects import Change, read_blobs
from skillgit.git.repository import Repository

EVALS = "refs/notes/skillgit/evals"
RESULTS = "refs/notes/skillgit/results"
GATES = "refs/notes/skillgit/gates"

Additions = Mapping[str, tuple[str, ...]]
"""Object id to the lines to add to its note."""


def canonical(record: Mapping[str, Any]) -> str:
    """One line of JSON: sorted keys, no spaces, UTF-8. Raises `ValueError` for NaN or infinity."""
    text = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    # Half a surrogate pair has no UTF-8, but an escape in JSON, which is what this makes of it.
    return text.encode("utf-8", "backslashreplace").decode()


def read(repo: Repository, ref: str, objects: Iterable[str]) -> dict[str, list[str]]:
    """Lines of the notes on `objects`; an object without a note has no entry."""
    names = list(dict.fromkeys(objects))
    found = _find(repo, [(ref, name) for name in names])
    return {name: _lines(found[ref, name][1]) for name in names if (ref, name) in found}


def read_records(repo: Repository, ref: str, objects: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
    """JSON objects of the notes on `objects`. A line that is not a JSON object (a hand-written note) is left out."""
    found = read(repo, ref, objects)
    return {name: [record for line in lines if (record := _record(line))] for name, lines in found.items()}


def changes(
    repo: Repository, additions: Mapping[str, Additions], tips: Mapping[str, str]
) -> dict[str, dict[str, Change]]:
    """Per note ref, the tree changes that add lines to the notes at `tips`; a ref where nothing is new has no entry.

    Args:
        additions: note ref to the lines added per object.
        tips: note ref to its commit; a ref that does not exist yet has no entry.
    """
    wanted = [(ref, name) for ref, lines in additions.items() for name in lines]
    found = _find(repo, [(tips[ref], name) for ref, name in wanted if ref in tips])
    out: dict[str, dict[str, Change]] = {}
    for ref, name in wanted:
        path, blob = found.get((tips.get(ref, ""), name), (_fanned(name), None))
        old = _lines(blob)
        new = _united(old, additions[ref][name])
        if new != old:
            content = "".join(f"{line}\n" for line in new).encode("utf-8", "surrogateescape")
            out.setdefault(ref, {})[path] = content
    return out


def _united(old: Sequence[str], added: Sequence[str]) -> list[str]:
    """Old lines, then the new ones; a measurement repeated from the store is no new measurement."""
    lines = {_identity(line): line for line in [*added, *old]}
    return [lines[key] for key in dict.fromkeys(_identity(line) for line in [*old, *added])]


def _identity(line: str) -> str:
    record = _record(line)
    if record is None:
        return line
    # When it was written, and what was still to be paid for it, do not make it another measurement.
    return canonical({key: value for key, value in record.items() if key not in ("at", "usage")})


def _find(repo: Repository, wanted: Sequence[tuple[str, str]]) -> dict[tuple[str, str], tuple[str, bytes]]:
    """Path and bytes of each existing note, for pairs of note revision and object, in one process.

    git spreads a big note tree over folders of two digits and gathers a small one, so each note is looked for at
    every depth that occurs.
    """
    probes = [(key, path) for key in wanted for path in _depths(key[1])]
    blobs = read_blobs(repo, [f"{key[0]}:{path}" for key, path in probes])
    return {key: (path, blob) for (key, path), blob in zip(probes, blobs, strict=True) if blob is not None}


def _fanned(name: str) -> str:
    return f"{name[:2]}/{name[2:]}"


def _depths(name: str) -> tuple[str, ...]:
    return name, _fanned(name), f"{name[:2]}/{name[2:4]}/{name[4:]}"


def _lines(blob: bytes | None) -> list[str]:
    text = (blob or b"").decode("utf-8", "surrogateescape")
    return [line for line in text.split("\n") if line.strip()]


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _record(line: str) -> dict[str, Any] | None:
    try:
        value = json.loads(line, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
