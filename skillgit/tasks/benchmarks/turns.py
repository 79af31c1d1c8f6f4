"""Questions that take one reply, or a few: after each the target may be asked to look again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from skillgit.errors import ConfigError
from skillgit.models.base import Message
from skillgit.models.prompt import render
from skillgit.tasks.base import Ask, BenchmarkContext, Score, Task, Trajectory
from skillgit.tasks.benchmarks.single import answer_to, max_tokens, trajectory
from skillgit.tasks.options import whole_option
from skillgit.tasks.text import last_tagged

_MOST = 20
"""More turns than that are a mistake in a configuration: no answer gets better by them."""


@dataclass(frozen=True)
class Turns:
    """How often one question is asked.

    Attributes:
        most: turns at most.
        least: turns before an answer in tags ends the conversation.
        tokens: most tokens of one reply; `None` leaves the limit to the backend.
    """

    most: int = 1
    least: int = 1
    tokens: int | None = None

    @classmethod
    def of(cls, ctx: BenchmarkContext, *, least: int = 1) -> Turns:
        """From `env.max_turns` (0 is 1) and `env.max_completion_tokens`. Raises `ConfigError`."""
        most = whole_option(ctx.options, "max_turns") or 1
        if most > _MOST:
            raise ConfigError(f"env.max_turns is {most}", fix=f"give a number up to {_MOST}, or leave it out")
        return cls(most, least, max_tokens(ctx))

    def identity(self) -> dict[str, object]:
        """What a benchmark's digest says of them; nothing for one turn."""
        again = [(turn.role, turn.content) for turn in render("look_again")]
        return {"turns": [self.most, self.least], "again": again} if self.most > 1 else {}

    def ask(self, messages: tuple[Message, ...], ask: Ask, judge: Callable[[str], Score]) -> Trajectory:
        """Ask until an answer comes in tags or the turns are used up; the last reply is the one that is judged.

        Each further turn goes on with the whole conversation, pictures included. Model errors pass through.
        """
        said: tuple[Message, ...] = ()
        for turn in range(1, self.most + 1):
            sent = (*messages, *(m for m in said if m.role != "reasoning"))
            answered, cut = answer_to(sent, self.tokens, ask)
            said += answered
            if turn == self.most or (turn >= self.least and last_tagged(said[-1].content) is not None):
                break
            said += render("look_again")
        turns = tuple(replace(m, images=()) for m in (*messages, *said) if m.role != "system")
        return trajectory(turns, judge(said[-1].content), cut)


def with_skill(name: str, skill: str, **values: str) -> tuple[Message, Message]:
    """The system and the user turn of prompt `name`, whose section for the skill is left out when there is none."""
    section = f"## Skill\n\n{skill}" if skill.strip() else ""
    system, user = render(name, skill_section=section, **values)
    return replace(system, content=system.content.rstrip()), user


def unusable(task: Task, why: str) -> Trajectory:
    """What becomes of a task that cannot be asked, for a fault of its own: it fails, and nothing is sent."""
    return Trajectory((Message("user", task.input),), "", Score.of_unusable(why))
