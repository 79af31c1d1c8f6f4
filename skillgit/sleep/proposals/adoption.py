"""Whether a lesson has come into what people work with: by its commit, a copy of that, or just its text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from skillgit.git import history
from skillgit.git.objects import read_blobs
from skillgit.git.repository import Repository
from skillgit.sleep.proposals.messages import is_of
from skillgit.sleep.proposals.record import Lesson, NightRecord
from skillgit.sleep.proposals.standing import carried_out

_REVERTS = re.compile(r"This reverts commit ([0-9a-f]{40,64})")


@dataclass(frozen=True)
class Adopted:
    """How a lesson was adopted: the commit that brought it, blank when only its text tells; whether it was undone."""

    commit: str = ""
    reverted: bool = False


@dataclass(frozen=True)
class _Past:
    """The history of one path: commits of lessons by night and number, newest first; commits by what they revert."""

    lessons: dict[tuple[str, int], list[history.Logged]] = field(default_factory=dict)
    reverts: dict[str, list[str]] = field(default_factory=dict)

    def undone(self, commit: str) -> bool:
        """True when a later commit reverts this one, and none reverts that."""
        return any(not self.undone(later) for later in self.reverts.get(commit, ()))


class Adoptions:
    """Looks lessons up in the histories and texts of some commits; each history is read once.

    Args:
        lives: the commits that stand for what people work with.
    """

    def __init__(self, repo: Repository, lives: Sequence[str]) -> None:
        self._repo, self._lives = repo, lives
        self._pasts: dict[str, _Past] = {}
        self._texts: dict[str, str] = {}

    def holds(self, commit: str) -> bool:
        """True when a commit is in the history of one of them."""
        return any(self._repo.git.succeeds("merge-base", "--is-ancestor", commit, live) for live in self._lives)

    def find(self, record: NightRecord, number: int, lesson: Lesson) -> Adopted | None:
        """How the lesson `number` of a night, whose texts were read, was adopted; `None` when it was not.

        The trailers of its commit stay with it when it is merged, rebased, cherry-picked or amended. Squashing loses
        them, and there the text tells: what the edit does is done, and was not when the night began.
        """
        past = self._past(record.path)
        before = self._text(record.base, record.document)
        stands = any(carried_out(lesson.edit, before, self._text(live, record.document)) for live in self._lives)
        # Two clones may have had a night of the same name, of other sessions.
        named = past.lessons.get((record.night, number), ())
        if commit := next((one.commit for one in named if is_of(lesson, one.evidence)), ""):
            return Adopted(commit, reverted=not stands and past.undone(commit))
        return Adopted() if stands else None

    def _past(self, path: str) -> _Past:
        if path not in self._pasts:
            entries = history.log(self._repo, self._lives, path)
            lessons: dict[tuple[str, int], list[history.Logged]] = {}
            for one in entries:
                lessons.setdefault((one.run, one.step or 0), []).append(one)
            self._pasts[path] = _Past(lessons, self._reverts(path))
        return self._pasts[path]

    def _reverts(self, path: str) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        if self._lives:
            says = ("--fixed-strings", "--grep=This reverts commit ", "--no-show-signature", "--format=%H%n%B%x00")
            plain = ("-c", "log.follow=false")
            out = self._repo.git.text(*plain, "log", *says, *self._lives, "--", f":(top,literal){path}")
            for message in out.split("\0"):
                commit = message.strip().split("\n", 1)[0]
                for name in _REVERTS.findall(message):
                    for undone in (name, *self._brought(name, path)):
                        found.setdefault(undone, []).append(commit)
        return found

    def _brought(self, merge: str, path: str) -> list[str]:
        """Commits of a path that came in with a merge; none when it is no merge."""
        if not self._repo.resolve(f"{merge}^2"):
            return []
        args = ("rev-list", "--no-merges", merge, f"^{merge}^1", "--", f":(top,literal){path}")
        return self._repo.git.text(*args).split()

    def read_texts(self, records: Iterable[NightRecord]) -> None:
        """Read the documents that `find` compares for these nights, in one process."""
        places = [
            f"{commit}:{record.document}"
            for record in records
            for commit in (record.base, *self._lives)
            if f"{commit}:{record.document}" not in self._texts
        ]
        unique = list(dict.fromkeys(places))
        for place, data in zip(unique, read_blobs(self._repo, unique), strict=True):
            self._texts[place] = (data or b"").decode("utf-8", "replace")

    def _text(self, commit: str, document: str) -> str:
        """A document that was read; empty when the commit has none."""
        return self._texts[f"{commit}:{document}"]
