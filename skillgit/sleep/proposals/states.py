"""What became of proposals, read from git alone: however they were merged, picked, reworded or thrown away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from skillgit.git.objects import resolve_many
from skillgit.git.repository import Repository
from skillgit.skills.words import words_of
from skillgit.sleep.proposals import ledger
from skillgit.sleep.proposals.adoption import Adoptions
from skillgit.sleep.proposals.branches import Branch, find_branches
from skillgit.sleep.proposals.journal import read_nights
from skillgit.sleep.proposals.ledger import Rejected
from skillgit.sleep.proposals.live import live_commits
from skillgit.sleep.proposals.names import PROPOSED, in_order
from skillgit.sleep.proposals.record import Lesson, NightRecord
from skillgit.sleep.proposals.recovery import recovered

Status = Literal[
    "open", "stale", "adopted", "partly adopted", "reverted", "rejected", "deleted", "superseded", "elsewhere"
]
"""Of a proposal.

- `open`: waits for a person; `stale`: does, and the skill has changed since, so that its scores say nothing any more.
- `adopted`, `partly adopted`: all, or some, of its lessons are in what people work with; `reverted`: all were.
- `rejected`: with the reason; `deleted`: the branch is gone and nothing of it was taken.
- `superseded`: a later night tried its lessons again. `elsewhere`: its branch was never in this clone.
"""
Fate = Literal["open", "adopted", "reverted", "rejected", "dropped", "superseded"]
"""Of a lesson. `reverted`: adopted, and undone; `dropped`: left out of what was merged, or deleted with its branch;
`superseded`: a later night tried it again."""

UNDECIDED = frozenset({"open", "stale", "partly adopted"})


@dataclass(frozen=True)
class LessonState:
    """A lesson of a proposal and what became of it.

    Attributes:
        number: within the proposal, from 1.
        commit: the one that brought it to where it was adopted; blank when only its text tells.
        why: the reason it was rejected.
    """

    number: int
    lesson: Lesson
    fate: Fate
    commit: str = ""
    why: str = ""


@dataclass(frozen=True)
class State:
    """A proposal and what became of it.

    Attributes:
        branch: its name, `origin/sleep/…` where only a remote has it; blank when there is none.
        tip: where the branch is, or was.
        live: the commit that it was compared with.
        edited: a person has added commits to the branch or changed them.
        recorded: its night's record is in this clone; else its lessons are told from its commits.
    """

    record: NightRecord
    status: Status
    lessons: tuple[LessonState, ...]
    branch: str = ""
    tip: str = ""
    live: str = ""
    edited: bool = False
    stale: bool = False
    recorded: bool = True

    @property
    def name(self) -> str:
        """`SKILL/NIGHT`."""
        return f"{self.record.skill}/{self.record.night}"

    @property
    def waiting(self) -> tuple[Lesson, ...]:
        """Its lessons that nobody has decided on."""
        if self.status not in UNDECIDED:
            return ()
        return tuple(one.lesson for one in self.lessons if one.fate == "open")


def proposals(repo: Repository, skill: str = "", *, also: Sequence[str] = ()) -> list[State]:
    """Every proposal of a skill, or of all, oldest first of each skill.

    Args:
        also: branches that count as adopting, besides HEAD and the main branches.
    """
    lives = live_commits(repo, also)
    branches = find_branches(repo, skill)
    nights = read_nights(repo, skill)
    records = [(record, True) for record in nights if record.branch]
    told = {(record.skill, record.night) for record, _ in records}
    for key, branch in branches.items():
        if key not in told and (record := recovered(repo, branch, lives)):
            records.append((record, False))
    records.sort(key=lambda pair: (pair[0].skill, in_order(pair[0].night)))
    replaced = {(record.skill, night) for record in nights for night in record.supersedes}
    view = _View(repo, lives, branches, replaced)
    view.prepare([record for record, _ in records])
    return [view.state(record, known) for record, known in records]


def foreign(repo: Repository, skill: str = "") -> list[str]:
    """Branches under sleep/ that no night made."""
    lives = live_commits(repo)
    known = {(record.skill, record.night) for record in read_nights(repo, skill) if record.branch}
    found = find_branches(repo, skill)
    return [one.name for key, one in found.items() if key not in known and recovered(repo, one, lives) is None]


def dropped(repo: Repository, skill: str, *, also: Sequence[str] = ()) -> list[Rejected]:
    """Lessons that a person did not want without saying so: deleted with the branch, left out, or reverted.

    Args:
        also: see `proposals`.
    """
    reasons = {"dropped": "branch deleted", "reverted": "adopted, and reverted"}
    return [
        Rejected.of(one.lesson, state.record, reasons[one.fate], "deleted")
        for state in proposals(repo, skill, also=also)
        for one in state.lessons
        if one.fate in reasons
    ]


def changed_since(repo: Repository, path: str, tip: str, target: str, base: str) -> bool:
    """True when the skill at commit `target` is not what it was where the branch of `tip` began.

    Args:
        base: where it began when git does not tell.
    """
    common = repo.git.text("merge-base", target, tip, ok=(0, 1, 128)).split("\n")[0] or base
    before, now = resolve_many(repo, [f"{common}:{path}", f"{target}:{path}"])
    return before != now


class _View:
    """What is known of the repository while proposals are judged."""

    def __init__(
        self,
        repo: Repository,
        lives: Sequence[str],
        branches: Mapping[tuple[str, str], Branch],
        replaced: set[tuple[str, str]],
    ) -> None:
        self._repo, self._lives, self._branches, self._replaced = repo, lives, branches, replaced
        self._adoptions = Adoptions(repo, lives)
        self._rejected: dict[str, list[Rejected]] = {}
        self._made_here = set(repo.refs(PROPOSED))

    def prepare(self, records: Sequence[NightRecord]) -> None:
        """Read at once what the states of these need."""
        self._adoptions.read_texts(records)

    def state(self, record: NightRecord, known: bool) -> State:
        """The state of one proposal."""
        branch = self._branches.get((record.skill, record.night))
        lessons = self._lessons(record, self._rest(record, branch))
        tip = branch.tip if branch else record.tip
        status = _status(lessons, branch)
        # A merged branch has nothing that could be stale.
        stale = status in UNDECIDED and self._is_stale(record, tip)
        return State(
            record,
            "stale" if stale and status == "open" else status,
            lessons,
            branch.name if branch else "",
            tip,
            self._lives[0] if self._lives else record.base,
            edited=branch is not None and branch.tip != record.tip,
            stale=stale,
            recorded=known,
        )

    def _rest(self, record: NightRecord, branch: Branch | None) -> Fate:
        """What became of the lessons that were neither adopted nor turned down."""
        if (record.skill, record.night) in self._replaced:
            return "superseded"
        made_here = f"{PROPOSED}/{record.skill}/{record.night}" in self._made_here
        gone = made_here if branch is None else self._adoptions.holds(branch.tip)
        return "dropped" if gone else "open"

    def _lessons(self, record: NightRecord, rest: Fate) -> tuple[LessonState, ...]:
        return tuple(self._lesson(record, number, lesson, rest) for number, lesson in enumerate(record.taken, 1))

    def _lesson(self, record: NightRecord, number: int, lesson: Lesson, rest: Fate) -> LessonState:
        if adopted := self._adoptions.find(record, number, lesson):
            return LessonState(number, lesson, "reverted" if adopted.reverted else "adopted", adopted.commit)
        if row := self._turned_down(record, lesson):
            return LessonState(number, lesson, "rejected", why=row.reason)
        return LessonState(number, lesson, rest)

    def _turned_down(self, record: NightRecord, lesson: Lesson) -> Rejected | None:
        if record.skill not in self._rejected:
            self._rejected[record.skill] = ledger.recorded(self._repo, record.skill)
        rows = [row for row in self._rejected[record.skill] if (row.night, row.by) == (record.night, "person")]
        same = (row for row in rows if row.edit.op == lesson.edit.op and words_of(row.rule) == words_of(lesson.rule))
        return next(same, None)

    def _is_stale(self, record: NightRecord, tip: str) -> bool:
        return bool(self._lives) and changed_since(self._repo, record.path, tip, self._lives[0], record.base)


def _status(lessons: Sequence[LessonState], branch: Branch | None) -> Status:
    """The status of a proposal, as if its base had not changed."""
    fates = {one.fate for one in lessons}
    if fates & {"adopted", "reverted"}:
        return "adopted" if fates == {"adopted"} else "reverted" if fates == {"reverted"} else "partly adopted"
    if fates == {"rejected"}:
        return "rejected"
    if "superseded" in fates:
        return "superseded"
    if branch is None:
        return "deleted" if "dropped" in fates else "elsewhere"
    return "open"
