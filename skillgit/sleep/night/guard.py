"""What a lesson must not carry into a document: parts of tasks, answers, credentials; and how long it may be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from skillgit.config.schema import Leaks
from skillgit.skills.edits import Guard
from skillgit.skills.leaks import LeakIndex, new_leaks
from skillgit.skills.secrets import find_secrets
from skillgit.sleep.mine.base import MinedTask
from skillgit.sleep.proposals.record import Lesson
from skillgit.tasks.leakage import leak_kinds

MOST_CHARS = 1200
"""Most characters that one lesson may add: a longer one is an essay, and nobody would review it."""

_UNTRIED = frozenset({"refused", "known", "over_budget"})
_UNTOLD = "[left out: it repeats a task]"


def lesson_guard(tasks: Sequence[MinedTask], switches: Leaks) -> Guard:
    """Refuses a change that leaks, that brings a credential, or that is too long or removes too much.

    The words by which people corrected an answer are no secret, even where they serve as a rubric or a check: they are
    what a rule is made of.
    """
    index = _index(tasks, switches)

    def guard(before: str, after: str) -> str:
        if len(after) - len(before) > MOST_CHARS:
            return f"it adds more than {MOST_CHARS} characters"
        if len(before) - len(after) > MOST_CHARS:
            return f"it removes more than {MOST_CHARS} characters"
        known = {before[hit.start : hit.end] for hit in find_secrets(before)}
        if hits := [hit for hit in find_secrets(after) if after[hit.start : hit.end] not in known]:
            return f"it holds what looks like a credential: {hits[0].name}"
        return "; ".join(leak.reason for leak in new_leaks(index, before, after)) if index else ""

    return guard


def untold(lessons: Iterable[Lesson], tasks: Sequence[MinedTask]) -> Iterator[Lesson]:
    """The lessons without words of a task where no guard has refused these, for the record of a night goes into git.

    What was tried has passed the guard; what was not, and what the optimizer thought, may hold any text it was shown.
    """
    texts = LeakIndex.build(task_texts=[pair for mined in tasks for pair in _texts(mined)])
    spoken = LeakIndex.build(task_texts=[(said, _source(mined)) for mined in tasks for said in mined.said])
    for lesson in lessons:
        if texts.find(lesson.reasoning) or spoken.find(lesson.reasoning):
            lesson = replace(lesson, reasoning=_UNTOLD)
        edit = lesson.edit
        if lesson.verdict in _UNTRIED and (texts.find(edit.content) or texts.find(edit.target)):
            content, target = (_UNTOLD if text else "" for text in (edit.content, edit.target))
            lesson = replace(lesson, edit=replace(edit, content=content, target=target))
        yield lesson


def _index(tasks: Sequence[MinedTask], switches: Leaks) -> LeakIndex | None:
    kinds = leak_kinds(switches)
    if not kinds:
        return None
    return LeakIndex.build(
        [pair for mined in tasks for pair in _graders(mined)],
        [pair for mined in tasks for pair in _texts(mined)],
        [(answer, _source(mined)) for mined in tasks if mined.split != "train" for answer in mined.task.answers],
        kinds=kinds,
    )


def _graders(mined: MinedTask) -> Iterator[tuple[str, str]]:
    judge, said = mined.task.judge, [words.casefold() for words in mined.said]
    for check in judge.get("checks") or ():
        arg = check.get("arg")
        if isinstance(arg, str) and not any(arg.casefold() in words for words in said):
            yield arg, _source(mined)
    rubric = judge.get("rubric")
    if rubric and not any(words in rubric for words in mined.said):
        yield rubric, _source(mined)


def _texts(mined: MinedTask) -> Iterator[tuple[str, str]]:
    for text in (mined.task.input, mined.task.context, *mined.task.answers):
        if text:
            yield text, _source(mined)


def _source(mined: MinedTask) -> str:
    return f"{mined.split} task {mined.task.id}"
