"""Notes as sets of lines on any object: read many at once, add without losing anyone's.

Plain `git notes add` loses notes when two processes write at once; here a note tree is rewritten under the
repository's lock and moved with its expected old value, and lines are only ever added or replaced by key.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any

from skillgit.git.objects import Change, list_tree, read_blobs
from skillgit.git.repository import Repository

EVALS = "refs/notes/skillgit/evals"
RESULTS = "refs/notes/skillgit/results"
GATES = "refs/notes/skillgit/gates"

_MANY = 32  # from so many notes of one tree on, listing the tree is faster than looking each one up

_DIGITS = 300  # of a whole number that still is a float

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
    return {name: [record for line in lines if (record := record_of(line))] for name, lines in found.items()}


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
        new = united(old, additions[ref][name])
        if new != old:
            out.setdefault(ref, {})[path] = encode(new)
    return out


def table(repo: Repository, revision: str) -> dict[str, dict[str, str]]:
    """Every object with a note in a note tree, with the note's path and blob id; two when git left it at two depths."""
    found: dict[str, dict[str, str]] = {}
    for path, blob in list_tree(repo, revision).items():
        name = path.replace("/", "")
        if len(name) == len(repo.zero) and set(name) <= set("0123456789abcdef"):
            found.setdefault(name, {})[path] = blob
    return found


def contents(repo: Repository, blobs: Iterable[str]) -> dict[str, list[str]]:
    """Blob id to its lines, for notes found by `table`."""
    names = list(dict.fromkeys(blobs))
    return {name: _lines(blob) for name, blob in zip(names, read_blobs(repo, names), strict=True)}


def united(old: Sequence[str], added: Sequence[str]) -> list[str]:
    """Old lines as they are, then the new ones; a measurement repeated from the store is no new measurement."""
    known = {identity(line) for line in old}
    new = {key: line for line in added if (key := identity(line)) not in known}
    return [*old, *new.values()]


def joined(parts: Sequence[list[str]]) -> list[str]:
    """One note of those that git left on one object: none, one, or (a tree that was never gathered) two."""
    return reduce(united, parts[1:], parts[0]) if parts else []


def encode(lines: Sequence[str]) -> bytes:
    """A note of these lines, as its blob holds it."""
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")


def identity(line: str) -> str:
    """What makes a line the same as another."""
    record = record_of(line)
    if record is None:
        return line
    # When it was written, and what was still to be paid for it, do not make it another measurement.
    return canonical({key: value for key, value in record.items() if key not in ("at", "usage")})


def _find(repo: Repository, wanted: Sequence[tuple[str, str]]) -> dict[tuple[str, str], tuple[str, bytes]]:
    """Path and bytes of each existing note, for pairs of note revision and object.

    git spreads a big note tree over folders of two digits and gathers a small one, so each note is looked for at
    every depth that occurs. Where many are wanted of one tree, its listing tells at once where they are.
    """
    counts = Counter(revision for revision, _ in wanted)
    tables = {name: table(repo, name) for name, n in counts.items() if n >= _MANY and repo.resolve(name)}
    probes: list[tuple[tuple[str, str], str, str]] = []
    for key in wanted:
        revision, name = key
        if revision in tables:
            paths = sorted(tables[revision].get(name, {}).items(), key=lambda place: place[0].count("/"))
            probes += [(key, path, blob) for path, blob in paths]
        elif counts[revision] < _MANY:
            probes += [(key, path, f"{revision}:{path}") for path in _depths(name)]
    blobs = read_blobs(repo, [place for *_, place in probes])
    return {key: (path, blob) for (key, path, _), blob in zip(probes, blobs, strict=True) if blob is not None}


def _fanned(name: str) -> str:
    return f"{name[:2]}/{name[2:]}"


def _depths(name: str) -> tuple[str, ...]:
    return name, _fanned(name), f"{name[:2]}/{name[2:4]}/{name[4:]}"


def _lines(blob: bytes | None) -> list[str]:
    text = (blob or b"").decode("utf-8", "surrogateescape")
    lines = [line for line in text.split("\n") if line.strip()]
    return list(_gathered(lines)) if any(_opens(line) for line in lines) else lines


def _opens(line: str) -> bool:
    """True for a line that may begin a JSON object of several lines."""
    return line.startswith("{") and not line.rstrip().endswith("}")


def _gathered(lines: Sequence[str]) -> Iterator[str]:
    """JSON objects that a person spread over several lines become one line each: parts of two must never mix."""
    at = 0
    while at < len(lines):
        size, line = _spread(lines, at) if _opens(lines[at]) else (1, lines[at])
        yield line
        at += size


def _spread(lines: Sequence[str], at: int) -> tuple[int, str]:
    """Number of lines of the object that begins at `at`, and the object as one line; the line itself if there is none.

    An object laid out by hand ends at the first line that closes at the margin.
    """
    end = next((n for n in range(at + 1, len(lines)) if lines[n][0] in "{}"), at)
    record = record_of("\n".join(lines[at : end + 1])) if end > at and lines[end].rstrip() == "}" else None
    return (end - at + 1, canonical(record)) if record else (1, lines[at])


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"{digits} is too large")
    return value


def _whole(digits: str) -> int:
    if len(digits) > _DIGITS:
        raise ValueError(f"{digits[:_DIGITS]}… is too large")
    return int(digits)


DECODER = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite, parse_int=_whole)
"""Reads what `canonical` can write again and arithmetic can use; other JSON is refused with `ValueError`."""


def record_of(line: str) -> dict[str, Any] | None:
    """The JSON object that a line is, or `None` when it is none."""
    try:
        value = DECODER.decode(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
