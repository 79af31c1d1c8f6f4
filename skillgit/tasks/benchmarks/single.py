"""Tasks that take one request and one reply."""

from __future__ import annotations

from dataclasses import replace

from skillgit.models.base import Message, Request
from skillgit.tasks.base import Ask, BenchmarkContext, Score, Trajectory
from skillgit.tasks.options import whole_option


def max_tokens(ctx: BenchmarkContext) -> int | None:
    """`env.max_completion_tokens`; 0 or nothing leaves the limit to the backend."""
    return whole_option(ctx.options, "max_completion_tokens") or None


def ask_once(messages: tuple[Message, ...], limit: int | None, ask: Ask) -> tuple[tuple[Message, ...], bool]:
    """Ask, and give the turns after the skill and whether the reply was cut short. Model errors pass through."""
    answered, cut = answer_to(messages, limit, ask)
    return (*(m for m in messages if m.role != "system"), *answered), cut


def answer_to(messages: tuple[Message, ...], limit: int | None, ask: Ask) -> tuple[tuple[Message, ...], bool]:
    """Ask, and give the turns that this adds and whether the reply was cut short. Model errors pass through."""
    reply = ask(Request(messages=messages, max_tokens=limit))
    thoughts = (Message("reasoning", reply.reasoning),) if reply.reasoning else ()
    return (*thoughts, Message("assistant", reply.text)), reply.finish == "length"


def trajectory(turns: tuple[Message, ...], score: Score, cut: bool) -> Trajectory:
    """The record; a failure of a reply that hit the token limit says so, for it teaches nothing else."""
    if cut and score.reason:
        score = replace(score, reason=f"{score.reason} (the reply was cut at the token limit)")
    return Trajectory(turns, turns[-1].content, score)
