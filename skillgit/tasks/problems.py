"""What is wrong with a set of task files, collected so that one run names everything."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches

from skillgit.errors import TaskError

LISTED = 20
"""Most problems that one message lists; the count is always exact."""


@dataclass(frozen=True)
class Problem:
    """One reason why a task cannot be used; `where` is `file` or `file:line`."""

    where: str
    text: str


@dataclass
class Problems:
    """A growing list of problems."""

    found: list[Problem] = field(default_factory=list)

    def add(self, where: str, text: str) -> None:
        """Note one problem."""
        self.found.append(Problem(where, text))

    def raise_if_any(self) -> None:
        """Raise one `TaskError` that lists the first `LISTED` problems, in the order they were found."""
        if not self.found:
            return
        fix = "correct the places named above; no task was run"
        if len(self.found) == 1:
            raise TaskError(self.found[0].text, where=self.found[0].where, fix=fix)
        lines = [f"{problem.where}: {problem.text}" for problem in self.found[:LISTED]]
        if len(self.found) > LISTED:
            lines.append(f"… and {len(self.found) - LISTED} more")
        what = f"{len(self.found)} problems in the task files"
        raise TaskError(what, why="\n        ".join(lines), fix=fix)


def nearest(word: str, known: Iterable[str]) -> str:
    """The nearest known name as `; did you mean "x"?`, or an empty string."""
    near = get_close_matches(word, sorted(known), n=1)
    return f'; did you mean "{near[0]}"?' if near else ""


def suggest(word: str, known: Collection[str]) -> str:
    """The nearest known name, or all of them when none is near."""
    return nearest(word, known) or f"; known: {', '.join(sorted(known))}"
