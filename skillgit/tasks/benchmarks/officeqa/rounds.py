"""A conversation in which the target asks for searches in words, until it answers."""

from __future__ import annotations

from skillgit.models.base import Message
from skillgit.models.prompt import render, text
from skillgit.tasks.base import Ask, Task, Trajectory
from skillgit.tasks.benchmarks.officeqa.scoring import first_tagged, score
from skillgit.tasks.benchmarks.officeqa.search import Search, queries_in
from skillgit.tasks.benchmarks.single import answer_to, trajectory


def search_rounds(
    task: Task, messages: tuple[Message, ...], search: Search, ask: Ask, limits: tuple[int, int, int | None]
) -> Trajectory:
    """Ask, search, and ask again, until there is an answer or nothing more to search. Model errors pass through, and
    so does the failure of a search.

    Args:
        limits: most rounds, most queries of one round, and most tokens of one reply.
    """
    most, queries, tokens = limits
    said: tuple[Message, ...] = ()  # what is sent; what is kept says where the results came from
    kept: tuple[Message, ...] = ()
    for number in range(1, most + 1):
        answered, cut = answer_to((*messages, *said), tokens, ask)
        said, kept = (*said, answered[-1]), (*kept, *answered)
        response = answered[-1].content
        wanted = [] if number == most else queries_in(response, queries)
        if first_tagged(response) is not None or not wanted:
            break
        found = "\n\n".join(f"### {query}\n\n{search.find(query)}" for query in wanted)
        following = text("officeqa_last" if number == most - 1 else "officeqa_more")
        said += render("officeqa_results", results=found, next=following)
        kept += (Message("tool", found),)
    turns = (*(turn for turn in messages if turn.role != "system"), *kept)
    return trajectory(turns, score(task, response), cut)
