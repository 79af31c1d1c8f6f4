"""One game, action by action, as the published protocol has it: each action is a conversation of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skillgit.models.base import Message
from skillgit.models.prompt import render
from skillgit.tasks.base import Ask, Score, Task, Trajectory
from skillgit.tasks.benchmarks.alfworld.engine import Game, Seen
from skillgit.tasks.benchmarks.alfworld.items import goal_in
from skillgit.tasks.benchmarks.single import answer_to
from skillgit.tasks.benchmarks.turns import with_skill
from skillgit.tasks.text import clip

FALLBACK = "look"
"""What is done when a reply names no action."""

_SHOWN = 2
"""Earlier actions that the target is reminded of."""

_HIDDEN = "help"
"""An action that is always there and says nothing."""


@dataclass(frozen=True)
class Move:
    """One action.

    Attributes:
        before: what was seen before it.
        action: what was done.
        named: the reply named an action.
        possible: it was among those that could be done.
        cut: the reply was cut at the token limit.
    """

    before: str
    action: str
    named: bool
    possible: bool
    cut: bool


def action_in(response: str) -> str | None:
    """What stands between the first action tags, in lower case; `None` when there are none."""
    _, opened, rest = response.lower().partition("<action>")
    action, closed, _ = rest.partition("</action>")
    return action.strip() if opened and closed else None


def play(task: Task, skill: str, game: Game, ask: Ask, most: int, tokens: int | None) -> Trajectory:
    """Ask for an action and do it, until the game is over or `most` actions are done. Model errors pass through."""
    opening = game.seen
    goal = goal_in(opening.text) or task.input
    moves: list[Move] = []
    turns = [Message("tool", opening.text)]
    while not game.seen.over and len(moves) < most:
        before = game.seen
        answered, cut = answer_to(messages(skill, goal, moves, before), tokens, ask)
        named = action_in(answered[-1].content)
        action = FALLBACK if named is None else named
        moves.append(Move(before.text, action, named is not None, action in before.actions, cut))
        turns += [*answered, Message("tool", game.act(action).text)]
    said = [turn.content for turn in turns if turn.role == "assistant"]
    return Trajectory(tuple(turns), said[-1] if said else "", score(moves, game.seen))


def messages(skill: str, goal: str, moves: Sequence[Move], seen: Seen) -> tuple[Message, Message]:
    """What the target is sent for its next action. What is seen at first tells the task; later the task stands alone,
    with the last actions."""
    before = ""
    if moves:
        past = "\n\n".join(f"You saw: {move.before}\nYou did: {clip(move.action)}" for move in moves[-_SHOWN:])
        (so_far,) = render("alfworld_before", goal=goal, count=str(len(moves)), past=past)
        before = f"{so_far.content}\n\n"
    actions = "\n".join(f"- {action}" for action in seen.actions if action != _HIDDEN)
    return with_skill("alfworld", skill, before=before, seen=seen.text, actions=actions)


def score(moves: Sequence[Move], seen: Seen) -> Score:
    """1 for a game that is won, else 0."""
    last = clip(moves[-1].action) if moves else ""
    if seen.won:
        return Score(1.0, 1.0, last)
    counts = {
        "named no action": sum(not move.named for move in moves),
        "named one that was not possible": sum(move.named and not move.possible for move in moves),
        "cut at the token limit": sum(move.cut for move in moves),
    }
    faults = ", ".join(f"{number} {what}" for what, number in counts.items() if number)
    of_replies = f" (of its replies {faults})" if faults else ""
    return Score(0.0, 0.0, last, f"alfworld: not done after {len(moves)} actions{of_replies}")
