"""Trajectories as analysts read them: grouped into minibatches, trimmed, the skill never repeated."""

from __future__ import annotations

import random
from collections.abc import Sequence

from skillgit.evals.rollouts import Outcome
from skillgit.models.base import Message
from skillgit.tasks.base import Task, Trajectory

_SMALL_CHARS = 200  # of what was written: a small optimizer needs its form, and drifts with its length


def minibatches(
    outcomes: Sequence[Outcome], size: int, seed: int, *, group_by_tag: bool = False
) -> list[list[Outcome]]:
    """Shuffled groups of at most `size`, the same for the same outcomes whatever order they finished in.

    With `group_by_tag` a group holds tasks of one first tag only.
    """
    ordered = sorted(outcomes, key=lambda outcome: outcome.task.id)
    random.Random(seed).shuffle(ordered)  # noqa: S311 - reproducible, not secret
    groups: dict[str, list[Outcome]] = {}
    for outcome in ordered:
        tag = outcome.task.tags[0] if group_by_tag and outcome.task.tags else ""
        groups.setdefault(tag, []).append(outcome)
    return [group[n : n + size] for group in groups.values() for n in range(0, len(group), size)]


def failed(outcome: Outcome) -> bool:
    """True when the rollout was scored and its hard score is zero."""
    return outcome.trajectory is not None and outcome.trajectory.score.hard < 1e-9


def format_cases(outcomes: Sequence[Outcome], limit: int, *, reasoning: bool = True) -> str:
    """The trajectories as numbered sections, each of at most about `limit` characters.

    Args:
        reasoning: show what the target thought or did before it answered.
    """
    unseen = ("system", "user") if reasoning else ("system", "user", "reasoning")
    cases = [_case(n, o.task, o.trajectory, limit, unseen) for n, o in enumerate(outcomes, 1) if o.trajectory]
    return "\n\n".join(cases)


def format_small_cases(outcomes: Sequence[Outcome], limit: int) -> str:
    """The same for a small optimizer: text, what was written, what was expected, in that order, a line each."""
    cases = []
    for number, outcome in enumerate((o for o in outcomes if o.trajectory), 1):
        assert outcome.trajectory is not None
        expected = outcome.task.answers[0] if outcome.task.answers else outcome.trajectory.score.reason
        texts = (question(outcome.task), outcome.trajectory.response, expected)
        asked, written, wanted = (" ".join(text.split()) for text in texts)
        cases.append(
            f"Case {number}\nText: {trim(asked, limit)}\n"
            f"Written: {_clipped(written, _SMALL_CHARS)}\nExpected: {trim(wanted, limit)}"
        )
    return "\n\n".join(cases)


def _clipped(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit].rstrip()}…"


def question(task: Task) -> str:
    """What the target was asked, without attached files' contents."""
    files = [f"(file {name}, {len(text)} characters)" for name, text in task.files.items()]
    return "\n".join([*files, *([task.context] if task.context else []), task.input])


def trim(text: str, limit: int) -> str:
    """At most about `limit` characters: the head and the tail, with a note of what was left out between."""
    if len(text) <= limit:
        return text
    head = limit * 2 // 3
    tail = limit - head
    return f"{text[:head]}\n[… {len(text) - head - tail} characters left out …]\n{text[-tail:]}"


def _case(number: int, task: Task, trajectory: Trajectory, limit: int, unseen: Sequence[str]) -> str:
    score = trajectory.score
    tags = f" ({', '.join(task.tags)})" if task.tags else ""
    lines = [f"### Case {number}: task {task.id}{tags}", f"Asked: {trim(question(task), limit // 2)}"]
    if task.answers:
        lines.append("Expected: " + trim(" | ".join(task.answers), limit // 4))
    lines.append(f"Score: hard {score.hard:g}, soft {score.soft:.2f}{f' – {score.reason}' if score.reason else ''}")
    answers = [_told(turn) for turn in trajectory.turns if turn.role not in unseen]
    lines.append("Transcript:\n" + trim("\n".join(answers) or trajectory.response, limit))
    return "\n".join(lines)


def _told(turn: Message) -> str:
    """What one turn said, and the tools that it called."""
    functions = [call.get("function", {}) for call in turn.tool_calls]
    calls = [f"[call] {function.get('name')} {function.get('arguments')}" for function in functions]
    said = [f"[{turn.role}] {turn.content}"] if turn.content or not calls else []
    return "\n".join([*said, *calls])
