"""The journal of a run: one commit per tick, written together with branch and notes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from skillgit.errors import GitError
from skillgit.evals.shapes import GATE, Shape, count, many, maybe, number, of, sound_record, text
from skillgit.git import notes
from skillgit.git.objects import Change, Commit, list_tree, read_blobs
from skillgit.git.publish import Publication, RefUpdate, publish
from skillgit.git.repository import Repository
from skillgit.train.state import IMPORTED, RunState, journal_ref

RUNS = "refs/skillgit/runs"

_UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, RecursionError)

_MARK = of({"commit": text, "object": text, "step": count, "score": maybe(number)}, "commit", "object")
_STATE: Shape = {
    **dict.fromkeys(("run", "skill", "path", "document", "fingerprint", "reason"), text),
    **dict.fromkeys(("initial", "current", "best", "epoch_start"), _MARK),
    **dict.fromkeys(("step", "accepted", "rejected", "skipped"), count),
    "tick": number,
    "seconds": number,
    "report": of({}),
}
_is_state = of(_STATE)
_STEP: Shape = {
    "kind": text,
    "step": count,
    "epoch": maybe(count),
    "verdict": maybe(text),
    "title": maybe(text),
    "commit": maybe(text),
    "tokens": maybe(count),
    "proposed": count,
    "patterns": many(text),
    "edits": many(of({})),
    "rewrite": maybe(of({})),
    "gate": maybe(of(GATE)),
    "record": maybe(sound_record),
}
_is_step = of(_STEP, "kind", "step", "epoch")


@dataclass(frozen=True)
class Entry:
    """What one tick leaves behind.

    Attributes:
        state: the state after it.
        record: its step record (JSON values), empty for the opening entry.
        subject: first line of the journal commit.
        files: further journal files: path to content.
        notes: lines for the notes.
        branch_from, branch_to: the branch's move, when it moves.
    """

    state: RunState
    record: Mapping[str, Any]
    subject: str
    files: Mapping[str, Change] = field(default_factory=dict)
    notes: Mapping[str, notes.Additions] = field(default_factory=dict)
    branch_from: str | None = None
    branch_to: str | None = None


def begin(repo: Repository, state: RunState, config: Mapping[str, Any]) -> str:
    """Open the journal of a new run before anything is paid, so that a kill at any later instant leaves its name."""
    entry = Entry(state, {}, f"begin at {state.initial.commit[:12]}", files={"config.json": _json(config)})
    return write(repo, entry, None)


def write(repo: Repository, entry: Entry, tip: str | None) -> str:
    """Make a tick visible: branch, journal and notes in one transaction. Returns the journal's new tip.

    Args:
        tip: the journal's commit as this process left it, `None` for a new run.
    """
    state = entry.state
    files: dict[str, Change] = {"state.json": _json(state.to_json()), **entry.files}
    if entry.record:
        files[f"steps/{state.tick:04d}.json"] = _json(entry.record)
    commit = Commit(f"{entry.subject}\n", (tip,) if tip else (), files)
    moves = [RefUpdate(f"refs/heads/{state.branch}", entry.branch_to, entry.branch_from)] if entry.branch_to else []
    return publish(repo, Publication(moves, {state.journal: commit}, entry.notes))[state.journal]


def load(repo: Repository, skill: str, run: str) -> tuple[RunState, dict[str, Any], str]:
    """State, resolved configuration and tip of a run.

    Raises:
        GitError: no such run, or a journal that cannot be read.
    """
    ref = journal_ref(skill, run)
    tip = repo.resolve(ref)
    if tip is None:
        known = ", ".join(runs(repo, skill)) or "none"
        raise GitError(f"no run {run!r} of {skill}", why=f"runs: {known}", fix=f"skillgit status {skill}")
    state, config = read_blobs(repo, [f"{tip}:state.json", f"{tip}:config.json"])
    try:
        return _state_of(state), json.loads(config or b""), tip
    except _UNREADABLE as error:
        raise GitError(
            f"the journal {ref} cannot be read",
            why=f"{type(error).__name__}: {error}",
            fix=f"git log -p {ref} -- state.json config.json shows what changed it",
        ) from error


def skill_of(repo: Repository, run: str, skill: str = "") -> str:
    """Name of the skill that a run is of; `skill` (a name or path, may be blank) decides between equal run names.

    Raises:
        GitError: no such run, or several.
    """
    parts = [ref.removeprefix(f"{RUNS}/").split("/", 1) for ref in repo.refs(RUNS)]
    named = [part[0] for part in parts if len(part) == 2 and part[1] == run]
    wanted = skill.rstrip("/").rsplit("/", 1)[-1].removesuffix(".md")
    found = [name for name in named if name == wanted] if wanted else named
    if len(found) != 1:
        known = ", ".join("/".join(part) for part in parts) or "none"
        raise GitError(
            f"no run {run!r}{f' of {wanted}' if wanted else ''}", why=f"runs: {known}", fix="skillgit status"
        )
    return found[0]


def runs(repo: Repository, skill: str) -> dict[str, str]:
    """Run name to journal tip, oldest first; imported runs count as older than those made here."""
    tips = {ref.rsplit("/", 1)[1]: tip for ref, tip in repo.refs(f"{RUNS}/{skill}").items()}
    return {name: tips[name] for name in sorted(tips, key=lambda name: (not name.startswith(IMPORTED), name))}


@dataclass(frozen=True)
class Journals:
    """The runs of a skill by name, oldest first: the state of each, or why its journal cannot be read."""

    states: Mapping[str, RunState]
    unreadable: Mapping[str, str]


def read_states(repo: Repository, skill: str) -> Journals:
    """The state of every run; a journal that cannot be read costs no other one."""
    tips = runs(repo, skill)
    blobs = read_blobs(repo, [f"{tip}:state.json" for tip in tips.values()])
    found = {run: _state(blob) for run, blob in zip(tips, blobs, strict=True)}
    return Journals(
        {run: state for run, state in found.items() if isinstance(state, RunState)},
        {run: why for run, why in found.items() if isinstance(why, str)},
    )


def open_runs(repo: Repository, skill: str) -> list[tuple[RunState, str]]:
    """State and tip of every run that is not closed, oldest first, of those whose journals can be read."""
    tips = runs(repo, skill)
    return [(state, tips[run]) for run, state in read_states(repo, skill).states.items() if not state.closed]


def _state(blob: bytes | None) -> RunState | str:
    if blob is None:
        return "it holds no state.json"
    try:
        return _state_of(blob)
    except _UNREADABLE as error:
        return f"{type(error).__name__}: {error}"


def _state_of(blob: bytes | None) -> RunState:
    value = notes.DECODER.decode((blob or b"").decode())
    if not _is_state(value):
        raise TypeError("it is not laid out as the state of a run")
    # Paths in it are asked of git: half a surrogate pair is no text that git could be given.
    json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogateescape")
    return RunState.from_json(value)


@dataclass(frozen=True)
class Steps:
    """The step records of a run, in order: path in the journal to record, or to why it cannot be read."""

    records: Mapping[str, dict[str, Any]]
    unreadable: Mapping[str, str]


def read_steps(repo: Repository, tip: str) -> Steps:
    """The step records of a journal; one that cannot be read costs no other one."""
    files = {path: blob for path, blob in list_tree(repo, tip).items() if path.startswith("steps/")}
    found = {path: _step(blob) for path, blob in zip(files, read_blobs(repo, list(files.values())), strict=True)}
    return Steps(
        {path: step for path, step in found.items() if isinstance(step, dict)},
        {path: why for path, why in found.items() if isinstance(why, str)},
    )


def _step(blob: bytes | None) -> dict[str, Any] | str:
    try:
        step = notes.DECODER.decode((blob or b"").decode())
    except (ValueError, RecursionError) as error:
        return f"{type(error).__name__}: {error}"
    return step if _is_step(step) else "it is not laid out as a step record"


def steps(repo: Repository, tip: str) -> list[dict[str, Any]]:
    """Every step record of a journal, in order. Raises `GitError` when one cannot be read."""
    found = read_steps(repo, tip)
    for path, why in found.unreadable.items():
        raise GitError(
            f"a step record cannot be read: {path} of journal {tip[:12]}",
            why=why,
            fix=f"git log -p {tip[:12]} -- {path} shows what changed it",
        )
    return list(found.records.values())


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode("utf-8", "surrogateescape")
