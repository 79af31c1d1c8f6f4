"""Reading a store in tests."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from skillgit.sleep.base import Position, Record, Source


@dataclass(frozen=True)
class Reading:
    """Everything that one reading of a file gave."""

    records: list[Record]
    position: Position
    damaged: dict[str, int]

    def said(self, role: str) -> list[str]:
        return [record.text for record in self.records if record.role == role and record.text and not record.reason]

    @property
    def keys(self) -> set[str]:
        return {record.key for record in self.records}


def read(source: Source, file: Path, since: Position | None = None) -> Reading:
    batches = list(source.read(file, since))
    damaged: Counter[str] = Counter()
    for batch in batches:
        damaged.update(batch.damaged)
    records = [record for batch in batches for record in batch.records]
    for record in records:
        record.text.encode()
    return Reading(records, batches[-1].position, dict(damaged))
