"""Taking the fields of one task record, with every fault noted at its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skillgit.tasks.problems import Problems, suggest
from skillgit.tasks.rows import Row


@dataclass(frozen=True)
class Record:
    """One JSON object of a task file. A reader that finds a fault notes it and gives `None`."""

    where: str
    value: Mapping[str, Any]
    problems: Problems

    @classmethod
    def of(cls, row: Row, problems: Problems) -> Record | None:
        """The row as an object, or `None` after a problem."""
        if isinstance(row.value, dict):
            return cls(row.where, row.value, problems)
        problems.add(row.where, "is not an object: a task is one JSON object")
        return None

    def bad(self, text: str) -> None:
        """Note one fault of this record."""
        self.problems.add(self.where, text)

    def only(self, known: frozenset[str]) -> None:
        """Note every field that is not known."""
        for name in sorted(set(self.value) - known):
            self.bad(f'unknown field "{name}"{suggest(name, known)}')

    def id(self) -> str | None:
        """The task's id: text that is not blank and has no control characters, or a whole number."""
        value = self.value.get("id")
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if isinstance(value, str) and value.strip() and value.isprintable():
            return value
        self.bad('"id" must be one line of text or a whole number' if "id" in self.value else 'has no "id"')
        return None

    def text(self, *names: str) -> str | None:
        """Text that is not blank, under exactly one of the names."""
        given = [name for name in names if name in self.value]
        if not given:
            self.bad(f'has no "{names[0]}"')
        elif len(given) > 1:
            self.bad(f'has both "{given[0]}" and "{given[1]}", which mean the same')
        elif isinstance(value := self.value[given[0]], str) and value.strip():
            return value
        else:
            self.bad(f'"{given[0]}" must be text that is not blank')
        return None

    def optional_text(self, name: str) -> str:
        """Text, or an empty string when the field is absent or null."""
        value = self.value.get(name)
        if value is not None and not isinstance(value, str):
            self.bad(f'"{name}" must be text')
        return value if isinstance(value, str) else ""

    def texts(self, name: str) -> tuple[str, ...] | None:
        """A list of texts, none of them blank; empty when the field is absent or null."""
        value = self.value.get(name)
        if value is None:
            return ()
        if not isinstance(value, list):
            self.bad(f'"{name}" must be a list of texts')
            return None
        wrong = [item for item in value if not (isinstance(item, str) and item.strip())]
        if wrong:
            self.bad(f'"{name}" must hold texts that are not blank, not {_json(wrong[0])}')
        return None if wrong else tuple(value)


def _json(value: Any) -> str:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return f'{value} (write "{value}")' if number else "an empty text" if isinstance(value, str) else "other values"
