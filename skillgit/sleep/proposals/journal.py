"""The nights of a skill, as git keeps them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skillgit.evals.shapes import count, many, maybe, number, of, text
from skillgit.git import notes
from skillgit.git.objects import Change, Commit, inside, list_tree, read_blobs, write_commits
from skillgit.git.publish import RefUpdate
from skillgit.git.repository import Repository
from skillgit.sleep.proposals.names import NIGHTS, branch_of, copies, in_order, is_night, is_skill
from skillgit.sleep.proposals.record import NightRecord

_UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, RecursionError)
_ID = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?|")

_TEXTS = ("night", "skill", "path", "document", "base", "base_object", "verdict")
_is_lesson = of(
    {
        "edit": of({"op": text}, "op"),
        **dict.fromkeys(("tasks", "sessions", "improved", "regressed"), many(text)),
        **dict.fromkeys(("verdict", "why", "reasoning", "commit"), text),
        **dict.fromkeys(("base_score", "score"), maybe(number)),
        "n": count,
    },
    "edit",
)
_is_night = of(
    {
        **dict.fromkeys((*_TEXTS, "fingerprint", "branch", "tip", "optimizer", "target", "at"), text),
        **dict.fromkeys(("supersedes", "notes"), many(text)),
        **dict.fromkeys(("counts", "test", "usage", "splits"), of({})),
        "lessons": many(_is_lesson),
    },
    *_TEXTS,
    "lessons",
)


@dataclass(frozen=True)
class Nights:
    """Records of nights, oldest first of each skill; and `ref:file` of those that cannot be read, with the reason."""

    records: tuple[NightRecord, ...]
    unreadable: Mapping[str, str]


def read(repo: Repository, skill: str = "") -> Nights:
    """The nights of a skill, or of all. One that cannot be read costs no other one."""
    files: dict[tuple[str, str], tuple[str, str]] = {}
    for ref, tip in copies(repo, "nights", skill or "*").items():
        for path, blob in list_tree(repo, tip).items():
            if path.startswith("nights/"):
                # What was made here comes first; a night of the same name that was made elsewhere is told once.
                files.setdefault((ref.rsplit("/", 1)[1], path), (ref, blob))
    blobs = read_blobs(repo, [blob for _, blob in files.values()])
    found = {
        f"{ref}:{path}": _night(owner, path, blob)
        for ((owner, path), (ref, _)), blob in zip(files.items(), blobs, strict=True)
    }
    records = [record for record in found.values() if isinstance(record, NightRecord)]
    return Nights(
        tuple(sorted(records, key=lambda record: (record.skill, in_order(record.night)))),
        {file: why for file, why in found.items() if isinstance(why, str)},
    )


def read_nights(repo: Repository, skill: str = "") -> list[NightRecord]:
    """The nights of a skill, or of all, that can be read; oldest first of each skill."""
    return list(read(repo, skill).records)


def written(repo: Repository, record: NightRecord, tasks: bytes | None) -> RefUpdate:
    """Write the commit that adds a night to its skill's; the move that makes it visible."""
    ref = f"{NIGHTS}/{record.skill}"
    old = repo.resolve(ref)
    first = old or write_commits(repo, [Commit(f"nights of {record.skill}\n")])[0].commit
    files: dict[str, Change] = {f"nights/{record.night}.json": _json(record.to_json())}
    if tasks is not None:
        files[f"tasks/{record.night}.jsonl"] = tasks
    subject = f"night {record.night}: {record.verdict}, {len(record.taken)} of {len(record.lessons)} lessons proposed\n"
    # The second parent keeps the proposal's commits when its branch is deleted.
    parents = (first, record.tip) if record.tip else (first,)
    return RefUpdate(ref, write_commits(repo, [Commit(subject, parents, files)])[0].commit, old)


def _night(skill: str, path: str, blob: bytes | None) -> NightRecord | str:
    try:
        value = notes.DECODER.decode((blob or b"").decode())
        if not _is_night(value):
            return "it is not laid out as the record of a night"
        json.dumps(value, ensure_ascii=False).encode()
        record = NightRecord.from_json(value)
    except _UNREADABLE as error:
        return f"{type(error).__name__}: {error}"
    return _unsound(record, skill, path) or record


def _unsound(record: NightRecord, skill: str, path: str) -> str:
    """What is wrong with names and ids in a record: anyone may have written it, and git is asked for them."""
    names = path == f"nights/{record.night}.json" and is_night(record.night) and record.skill == skill
    if not names or not is_skill(skill) or not all(map(is_night, record.supersedes)):
        return "its names are not those of its place"
    if record.branch not in ("", branch_of(skill, record.night)):
        return "its branch is not called as it is"
    if not inside(record.document) or record.document not in (record.path, f"{record.path}/SKILL.md"):
        return "its document is no skill's"
    if not record.document.endswith(".md") or not record.base:
        return "it has no document, or no commit that it begins with"
    ids = [record.base, record.base_object, record.tip, *(lesson.commit for lesson in record.lessons)]
    return "" if all(map(_ID.fullmatch, ids)) else "an id in it is none"


def _json(value: Mapping[str, Any]) -> bytes:
    return (json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")
