"""SearchQA beyond one turn, its lenient score, and whole runs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from skillgit.errors import TaskError
from skillgit.models.base import Reply, Request
from skillgit.tasks.base import BenchmarkContext, Task
from skillgit.tasks.benchmarks.searchqa import SearchQA, score
from tests.models.server import serving
from tests.tasks.benchmarks.project import FIRST, SECOND, Both, Run, command, events, make, verdicts

TASK = Task("t", "Which city?", context="[DOC] Paris is one.", answers=("New York",))


def bench(root: Path, **options: Any) -> SearchQA:
    return SearchQA(BenchmarkContext(root, "s", options))


class Asked:
    def __init__(self, *replies: Reply) -> None:
        self.replies, self.requests = replies, []

    def __call__(self, request: Request) -> Reply:
        self.requests.append(request)
        return self.replies[min(len(self.requests), len(self.replies)) - 1]


def test_the_first_answer_is_always_looked_at_again_and_an_answer_then_ends_it(tmp_path: Path) -> None:
    first = Reply("<answer>Paris</answer>", reasoning="I guess.")
    ask = Asked(first, Reply("<answer>New York</answer>"), Reply("never"))
    got = bench(tmp_path, max_turns=3, max_completion_tokens=7).rollout(TASK, "Be brief.", ask)
    assert [[turn.role for turn in request.messages] for request in ask.requests] == [
        ["system", "user"],
        ["system", "user", "assistant", "user"],
    ]
    again = ask.requests[1].messages
    assert again[:2] == ask.requests[0].messages
    assert "[DOC] Paris is one." in again[1].content
    assert again[2].content == "<answer>Paris</answer>"
    assert {request.max_tokens for request in ask.requests} == {7}
    assert [turn.role for turn in got.turns] == ["user", "reasoning", "assistant", "user", "assistant"]
    assert (got.response, got.score.hard) == ("<answer>New York</answer>", 1.0)


def test_the_turns_end_when_they_are_used_up(tmp_path: Path) -> None:
    ask = Asked(Reply("no"), Reply("no"), Reply("new york", finish="length"))
    got = bench(tmp_path, max_turns=3).rollout(TASK, "", ask)
    assert len(ask.requests) == 3
    assert (got.response, got.score.hard) == ("new york", 1.0)
    wrong = bench(tmp_path, max_turns=2).rollout(TASK, "", Asked(Reply("no"), Reply("x", finish="length")))
    assert wrong.score.reason.endswith("cut at the token limit)")


@pytest.mark.parametrize("turns", [0, 1])
def test_one_turn_is_one_request(tmp_path: Path, turns: int) -> None:
    ask = Asked(Reply("no tags"))
    bench(tmp_path, max_turns=turns).rollout(TASK, "", ask)
    assert len(ask.requests) == 1


def test_records_of_one_turn_stay_comparable(tmp_path: Path) -> None:
    assert bench(tmp_path, max_turns=1).judge_digest() == bench(tmp_path).judge_digest()
    assert bench(tmp_path, max_turns=2).judge_digest() != bench(tmp_path).judge_digest()
    # As it was before there were further turns and lenient scores: neither changes what one turn is worth.
    assert bench(tmp_path).judge_digest() == "f7fc3a27705e832debfc335abe3695481cf26ed41d5eb00fbd09182895fb2a7f"


@pytest.mark.parametrize(
    ("written", "wanted", "hard", "lenient"),
    [
        ("New York", "New York", 1, 1),
        ("new-york", "New York", 0, 1),
        ("Answer: New York", "New York", 0, 1),
        ("**The answer is New York.**", "New York", 0, 1),
        ("Beyonce", "Beyoncé", 0, 1),
        ("R and B", "R&B", 0, 1),
        ("don’t", "don't", 0, 1),
        ("1,000", "1000.0", 0, 1),
        ("New York City", "New York", 0, 0),
        ("1.5", "15", 1, 1),  # the published rule deletes the point
        ("15", "16", 0, 0),
        ("C", "C++", 1, 1),
        ("", "x", 0, 0),
    ],
)
def test_what_is_form_and_what_is_knowledge(written: str, wanted: str, hard: int, lenient: int) -> None:
    got = score(Task("t", "q", answers=(wanted,)), f"<answer>{written}</answer>")
    assert (got.hard, got.lenient) == (hard, lenient)


def test_an_id_manifest_names_the_command_that_makes_the_data(tmp_path: Path) -> None:
    (tmp_path / "ids.json").write_text('[{"id": "0123"}]')
    with pytest.raises(TaskError, match="ids, but no questions") as caught:
        bench(tmp_path, data_path="ids.json").load()
    assert "skillgit data materialize searchqa --manifest DIR --source PATH" in caught.value.fix


# --- whole runs


def files() -> dict[str, Any]:
    def item(name: str) -> dict[str, Any]:
        question, context = f"Who lives in {name}?", f"[DOC] {name}: the home of Ada {name}."
        return {"id": f"{name}/a:b c", "question": question, "context": context, "answers": [f"Ada {name}"]}

    sizes = {"train": 4, "val": 3, "test": 2}
    return {f"data/searchqa_split/{s}/items.json": [item(f"{s}{n}") for n in range(size)] for s, size in sizes.items()}


def quizzed(turns: list[dict[str, Any]], system: str) -> str:
    asked = re.search(r"lives in (\w+)\?", next(turn["content"] for turn in turns if turn["role"] == "user"))
    assert asked
    if SECOND in system or (FIRST in system and asked[1] in ("val0", "val1")) or turns[-1] is not turns[1]:
        return f"<answer>Ada {asked[1]}</answer>"
    return "<answer>nobody</answer>"


@pytest.fixture
def both() -> Iterator[tuple[Both, Any]]:
    played = Both(quizzed)
    with serving(played) as fake:
        yield played, fake


def test_two_steps_of_training(tmp_path: Path, skillgit: Run, both: Any) -> None:
    _, fake = both
    folder = make(tmp_path / "repo", "searchqa", files())
    steps = ("train.num_epochs=1", "train.batch_size=2")
    code, out, err = skillgit(folder, *command(fake, "train", "searchqa", *steps, more=["--json"]))
    assert code == 0, err
    assert verdicts(events(out)) == ["accept_new_best", "accept_new_best"]
    assert events(out)[-1]["best"]["score"] == 1.0


def test_only_the_turns_that_are_missing_are_asked_again(tmp_path: Path, skillgit: Run, both: Any) -> None:
    played, fake = both
    folder = make(tmp_path / "repo", "searchqa", files())
    given = command(fake, "eval", "searchqa", "env.max_turns=2", "env.workers=1", more=["--json"])
    played.faulty = lambda number: number > 1  # the first task's second turn
    assert skillgit(folder, *given)[0] == 5
    played.faulty = lambda number: False
    played.asked.clear()
    code, out, err = skillgit(folder, *given)
    assert code == 0, err
    assert (json.loads(out)["hard"], json.loads(out)["n"]) == (1.0, 3)
    assert sorted(len(turns) for turns in played.asked) == [2, 2, 4, 4, 4]
    played.asked.clear()
    assert skillgit(folder, *given)[0] == 0
    assert played.asked == []
