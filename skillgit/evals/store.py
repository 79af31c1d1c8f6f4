"""Every finished model call, durable before anything is decided from it.

One SQLite file (WAL) in the repository's common git folder serves as cache and as ledger of what each run paid. It
is safe to delete: calls are then made again, and a run's totals up to its last finished step stand in its journal.
"""

from __future__ import annotations

import base64
import json
import sqlite3
import threading
from collections.abc import Iterable
from dataclasses import asdict, astuple, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from skillgit.models.base import Reply, Usage

_SCHEMA = """
CREATE TABLE IF NOT EXISTS calls (
    key TEXT PRIMARY KEY,
    run TEXT NOT NULL, step INTEGER NOT NULL, role TEXT NOT NULL, stage TEXT NOT NULL, skill TEXT NOT NULL,
    prompt_tokens INTEGER, completion_tokens INTEGER, cached_tokens INTEGER, cost REAL,
    reply TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS calls_by_run ON calls (run, step);
"""


@dataclass(frozen=True)
class Payer:
    """Who pays for a call: the run, its step, the role, the stage, and the skill object under test (if any)."""

    run: str
    step: int
    role: str
    stage: str
    skill: str = ""


@dataclass(frozen=True)
class StageUsage:
    """Calls and tokens of one role and stage. `None` means that no call reported the number."""

    role: str
    stage: str
    calls: int
    prompt_tokens: int | None
    completion_tokens: int | None
    cached_tokens: int | None
    cost: float | None


class Store:
    """Thread-safe; several processes may have the same file open."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        self._db = sqlite3.connect(path, timeout=60, isolation_level=None, check_same_thread=False)
        self._db.execute("PRAGMA journal_mode=WAL")
        # Survives the death of the process at any instant; only a power cut may take the last moments.
        self._db.execute("PRAGMA synchronous=NORMAL")
        self._db.executescript(_SCHEMA)

    def get(self, key: str) -> tuple[Reply, str, int] | None:
        """The stored reply with the run and step that paid for it, or `None`."""
        with self._lock:
            row = self._db.execute("SELECT reply, run, step FROM calls WHERE key = ?", (key,)).fetchone()
        return (_reply(row[0]), row[1], row[2]) if row else None

    def put(self, key: str, reply: Reply, payer: Payer) -> Reply:
        """Keep a reply and return the one that counts: the first for its key, which another process may have made.

        The second is in the ledger all the same, for it was paid.
        """
        if self._insert(key, reply, payer):
            return reply
        self._insert(f"{key} {payer.run}", reply, payer)
        first = self.get(key)
        return first[0] if first else reply

    def _insert(self, key: str, reply: Reply, payer: Payer) -> bool:
        usage = reply.usage
        tokens = (usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens, usage.cost)
        row = (key, *astuple(payer), *tokens, _text(reply))
        with self._lock:
            return self._db.execute("INSERT OR IGNORE INTO calls VALUES (?,?,?,?,?,?,?,?,?,?,?)", row).rowcount == 1

    def spent(self, run: str, after_step: int = -1, skill: str = "%") -> list[StageUsage]:
        """What `run` paid in the steps after `after_step` (for one skill object), by role and stage."""
        query = (
            "SELECT role, stage, count(*), sum(prompt_tokens), sum(completion_tokens), sum(cached_tokens), sum(cost)"
            " FROM calls WHERE run = ? AND step > ? AND skill LIKE ? GROUP BY role, stage ORDER BY role, stage"
        )
        with self._lock:
            return [StageUsage(*row) for row in self._db.execute(query, (run, after_step, skill))]

    def close(self) -> None:
        """Close the file. Idempotent."""
        with self._lock:
            self._db.close()


def add_up(parts: Iterable[StageUsage]) -> list[StageUsage]:
    """One entry per role and stage; a number stays `None` only when no part knows it."""
    sums: dict[tuple[str, str], StageUsage] = {}
    for part in parts:
        key = (part.role, part.stage)
        sums[key] = _plus(sums[key], part) if key in sums else part
    return [sums[key] for key in sorted(sums)]


def totals(usage: Iterable[StageUsage]) -> dict[str, Any]:
    """Calls and tokens over all roles and stages, as a record keeps them."""
    total = add_up(replace(part, role="", stage="") for part in usage)
    if not total:
        return {"calls": 0}
    return {name: value for name, value in asdict(total[0]).items() if name not in ("role", "stage")}


def _plus(a: StageUsage, b: StageUsage) -> StageUsage:
    return StageUsage(
        a.role,
        a.stage,
        a.calls + b.calls,
        _add(a.prompt_tokens, b.prompt_tokens),
        _add(a.completion_tokens, b.completion_tokens),
        _add(a.cached_tokens, b.cached_tokens),
        _add(a.cost, b.cost),
    )


N = TypeVar("N", int, float)


def _add(a: N | None, b: N | None) -> N | None:
    return b if a is None else a if b is None else a + b


def _text(reply: Reply) -> str:
    files = {path: base64.b64encode(data).decode() for path, data in reply.files.items()}
    return json.dumps({**asdict(replace(reply, files={})), "files": files})


def _reply(text: str) -> Reply:
    value = json.loads(text)
    files = {path: base64.b64decode(data) for path, data in value.get("files", {}).items()}
    calls, thoughts = tuple(value["tool_calls"]), value.get("reasoning", "")
    return Reply(value["text"], Usage(**value["usage"]), value["finish"], calls, thoughts, files)
