"""Reflect, aggregate, select: the same whatever finishes first, and no proposal is lost in silence."""

from __future__ import annotations

import dataclasses
import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.config.schema import Config
from skillgit.errors import ModelError, TransientModelError
from skillgit.evals.gate import Metric
from skillgit.evals.rollouts import Outcome
from skillgit.evals.store import StageUsage
from skillgit.optimizer.aggregate import aggregate
from skillgit.optimizer.boundary import compare
from skillgit.optimizer.contrast import pairs
from skillgit.optimizer.memory import BufferEntry
from skillgit.optimizer.modes import MODES
from skillgit.optimizer.patches import Patch, concatenate, parse_patch
from skillgit.optimizer.reflect import reflect, stop_if_many_failed
from skillgit.optimizer.select import select
from skillgit.optimizer.trajectories import minibatches, trim
from skillgit.skills.edits import Edit
from skillgit.tasks.base import Score
from skillgit.train.state import Mark, RunState
from tests.optimizer.fakes import Optimizer, advisor, outcome


def config(**sections: dict[str, Any]) -> Config:
    plain = Config()
    return dataclasses.replace(
        plain, **{name: dataclasses.replace(getattr(plain, name), **keys) for name, keys in sections.items()}
    )


def edit(text: str, support: int = 1) -> Edit:
    return Edit("append", text, support=support)


def patch(*texts: str, source: str = "failure") -> Patch:
    return Patch(tuple(edit(text) for text in texts), f"because of {texts}", source, (f"pattern {texts}",))


def reply(*texts: str) -> str:
    return json.dumps({"reasoning": "r", "edits": [{"op": "append", "content": text} for text in texts]})


# Minibatches


@given(st.integers(0, 30), st.integers(1, 9), st.integers(0, 5), st.randoms(), st.booleans())
def test_minibatches_do_not_depend_on_the_order_of_completion(
    count: int, size: int, seed: int, chance: random.Random, grouped: bool
) -> None:
    outcomes = [outcome(f"t{n}", 0, "xyz"[n % 3]) for n in range(count)]
    shuffled = list(outcomes)
    chance.shuffle(shuffled)
    batches = minibatches(outcomes, size, seed, group_by_tag=grouped)
    assert batches == minibatches(shuffled, size, seed, group_by_tag=grouped)
    assert sorted(o.task.id for batch in batches for o in batch) == sorted(o.task.id for o in outcomes)
    assert all(0 < len(batch) <= size for batch in batches)
    if grouped:
        assert all(len({o.task.tags for o in batch}) == 1 for batch in batches)


@given(st.text(min_size=1, max_size=300), st.integers(10, 200))
def test_trimming_keeps_head_and_tail_and_says_how_much_is_gone(text: str, limit: int) -> None:
    short = trim(text, limit)
    if len(text) <= limit:
        assert short == text
    else:
        assert f"[… {len(text) - limit} characters left out …]" in short
        assert text.startswith(short.split("\n[…")[0])
        assert text.endswith(short.rsplit("…]\n")[-1])


# Reflect


def test_patches_come_failures_first_in_an_order_of_their_own() -> None:
    optimizer = Optimizer(reply("x"))
    settings = config(gradient={"minibatch_size": 2, "analyst_workers": 8})
    outcomes = [outcome(f"t{n}", n % 2) for n in range(10)]
    found = reflect(advisor(optimizer), settings, "skill", outcomes, context="", budget=4, step=1)
    assert [p.source for p in found] == ["failure"] * 3 + ["success"] * 3
    assert [p.edits[0].support for p in found] == [2, 2, 1, 2, 2, 1]


def test_a_rollout_without_an_answer_or_a_question_is_shown_to_no_analyst() -> None:
    optimizer = Optimizer(reply("x"))
    lost = dataclasses.replace(outcome("lost", 0), trajectory=None, error="away")
    broken = outcome("broken", 0)
    assert broken.trajectory
    without = dataclasses.replace(broken.trajectory, score=Score.of_unusable("its picture is not there"))
    broken = dataclasses.replace(broken, trajectory=without)
    found = reflect(advisor(optimizer), Config(), "skill", [lost, broken], context="", budget=4, step=1)
    assert pairs([broken, dataclasses.replace(outcome("broken", 1), sample=1)], Metric()) == []
    assert (found, optimizer.requests) == ([], [])


def test_a_task_that_cannot_be_asked_makes_no_pair_at_the_end_of_an_epoch() -> None:
    class Fixed:
        workers = 1

        def run(self, version: Any, tasks: Any, **more: Any) -> list[Outcome]:
            whole, broken = outcome("whole", 1), outcome("broken", 0)
            assert broken.trajectory
            lost = dataclasses.replace(broken.trajectory, score=Score.of_unusable("no such file"))
            return [whole, dataclasses.replace(broken, trajectory=lost)]

    fixed: Any = Fixed()
    version: Any = None
    tasks = [outcome("whole", 1).task, outcome("broken", 0).task]
    found = compare(fixed, version, version, tasks, samples=2, seed=1, step=1)
    assert [pair.task.id for pair in found] == ["whole"]


@pytest.mark.parametrize("shown", [True, False])
def test_what_the_target_did_before_it_answered_is_shown_to_analysts_unless_configured(shown: bool) -> None:
    asked = Optimizer(reply("x"))
    cases = [outcome("t1", 0, thought="read skill.md", response="Ada")]
    reflect(advisor(asked), config(model={"trace_to_optimizer": shown}), "s", cases, context="", budget=4, step=1)
    told = asked.requests[0].messages[-1].content
    assert ("[reasoning] read skill.md" in told) == shown
    assert "[assistant] Ada" in told


def test_an_analyst_proposes_no_more_than_the_budget() -> None:
    found = reflect(advisor(Optimizer(reply(*"abcdef"))), Config(), "", [outcome("t", 0)], context="", budget=2, step=1)
    assert [e.content for e in found[0].edits] == ["a", "b"]


@pytest.mark.parametrize(
    ("failed", "calls", "stops"), [(0, 0, False), (0, 5, False), (1, 5, False), (2, 5, True), (1, 1, True)]
)
def test_more_failed_analysts_than_the_error_rate_stop_the_step(failed: int, calls: int, stops: bool) -> None:
    if stops:
        with pytest.raises(ModelError, match=f"{failed} of {calls} analyst calls"):
            stop_if_many_failed(["away"] * failed, calls, 0.2)
    else:
        stop_if_many_failed(["away"] * failed, calls, 0.2)


def test_one_bad_edit_does_not_cost_the_others() -> None:
    value = {
        "edits": [{"op": "append", "content": "good"}, {"op": "explode"}, "text", {"op": "replace", "content": "x"}]
    }
    found = parse_patch(MODES["patch"], value, "failure", 3, None)
    assert [e.content for e in found.edits] == ["good"]
    assert len(found.malformed) == 3


# Aggregate


def test_one_patch_needs_no_merge() -> None:
    optimizer = Optimizer(reply("never"))
    assert aggregate(advisor(optimizer), Config(), "", [patch("a"), patch()], memory="", step=1).edits == (edit("a"),)
    assert optimizer.requests == []


def test_no_patch_is_an_empty_patch() -> None:
    assert aggregate(advisor(Optimizer("x")), Config(), "", [], memory="", step=1).edits == ()


@pytest.mark.parametrize("text", ["no", '{"edits": "x"}', reply(), '{"edits": [{"op": "explode"}]}'])
def test_a_merge_of_no_use_keeps_every_edit(text: str) -> None:
    asked = advisor(Optimizer(text))
    found = aggregate(asked, Config(), "", [patch("a"), patch("b"), patch("a")], memory="", step=1)
    assert [(e.content, e.support) for e in found.edits] == [("a", 2), ("b", 1)]
    assert len(found.patterns) == 3
    assert [drop.stage for drop in asked.take_drops()] == ["merge"]
    assert len(found.malformed) == ("explode" in text)


def test_a_merge_that_gets_no_answer_stops_the_step() -> None:
    with pytest.raises(TransientModelError):
        aggregate(
            advisor(Optimizer(TransientModelError("away"))), Config(), "", [patch("a"), patch("b")], memory="", step=1
        )


def test_merges_run_in_groups_until_one_patch_is_left_and_sides_come_together_last() -> None:
    optimizer = Optimizer(reply("merged"))
    settings = config(gradient={"merge_batch_size": 2, "analyst_workers": 1})
    patches = [patch(f"f{n}") for n in range(4)] + [patch(f"s{n}", source="success") for n in range(2)]
    found = aggregate(advisor(optimizer), settings, "", patches, memory="", step=1)
    assert len(optimizer.requests) == 2 + 1 + 1 + 1
    assert (found.source, [e.content for e in found.edits]) == ("mixed", ["merged"])
    assert len(found.patterns) == 6


# Select


def chosen(text: Any, count: int = 4, budget: int = 2, **sections: Any) -> tuple[list[str], list[str], int]:
    edits = tuple(edit(f"e{n}", support=1 + (n == 2)) for n in range(count))
    optimizer = Optimizer(text if isinstance(text, str) else json.dumps({"reasoning": "r", "selected_indices": text}))
    asked = advisor(optimizer)
    found = select(asked, config(**sections), "", Patch(edits), memory="", budget=budget, step=1)
    return [e.content for e in found], [drop.stage for drop in asked.take_drops()], len(optimizer.requests)


def test_what_fits_is_taken_without_a_call() -> None:
    assert chosen([0], count=2) == (["e0", "e1"], [], 0)


def test_the_ranking_decides_in_its_order() -> None:
    assert chosen([3, 1, 0]) == (["e3", "e1"], [], 1)


@pytest.mark.parametrize(
    ("indices", "expected"),
    [([3, 3, 3, 1], ["e3", "e1"]), ([99, 1, 7], ["e1"]), ([2.0, 0], ["e2", "e0"]), ([1], ["e1"])],
)
def test_repeated_and_unknown_indices_are_passed_over(indices: list[Any], expected: list[str]) -> None:
    assert chosen(indices)[0] == expected


@pytest.mark.parametrize("reply_", [[], [99], [4, 5]])
def test_a_ranking_that_names_nothing_falls_back_to_support_and_is_recorded(reply_: list[int]) -> None:
    assert chosen(reply_) == (["e2", "e0"], ["ranking"], 1)


@pytest.mark.parametrize("reply_", [[-1], ["0"], [True], [0.5], [None], "no", '{"selected_indices": 1}'])
def test_an_unusable_ranking_falls_back_to_support_and_is_recorded(reply_: Any) -> None:
    assert chosen(reply_) == (["e2", "e0"], ["ranking"], 2)


def test_a_small_optimizer_ranks_nothing() -> None:
    assert chosen([3], optimizer={"profile": "small"}) == (["e2", "e0"], [], 0)


# State


TEXT = st.text(max_size=20)
SCORE = st.none() | st.floats(0, 1)
MARK = st.builds(Mark, TEXT, TEXT, st.integers(0, 99), SCORE)
ENTRY = st.builds(
    BufferEntry, st.integers(1, 99), TEXT, st.integers(0, 9), st.integers(0, 9),
    st.lists(TEXT, max_size=3).map(tuple), st.lists(TEXT, max_size=3).map(tuple), SCORE, SCORE,
)  # fmt: skip
USAGE = st.builds(StageUsage, TEXT, TEXT, st.integers(0, 9), *[st.none() | st.integers(0, 9)] * 3, SCORE)
STATE = st.builds(
    RunState, run=TEXT, skill=TEXT, path=TEXT, document=TEXT, fingerprint=TEXT, tick=st.integers(-1, 99), initial=MARK,
    current=MARK, best=MARK, epoch_start=MARK, buffer=st.lists(ENTRY, max_size=3).map(tuple), meta_skill=TEXT,
    accepted=st.integers(0, 9), usage=st.lists(USAGE, max_size=3).map(tuple), reason=TEXT, closed=st.booleans(),
    report=st.dictionaries(TEXT, st.dictionaries(TEXT, SCORE, max_size=2), max_size=2),
)  # fmt: skip


@given(ENTRY)
def test_a_buffer_entry_survives_its_journal(entry: BufferEntry) -> None:
    assert BufferEntry.from_json(json.loads(json.dumps(entry.to_json()))) == entry


@given(STATE)
def test_a_state_survives_its_journal(state: RunState) -> None:
    assert RunState.from_json(json.loads(json.dumps(state.to_json()))) == state


@given(st.lists(st.lists(st.sampled_from("abcd"), max_size=4), max_size=4))
def test_concatenating_keeps_each_edit_once_and_all_support(groups: list[list[str]]) -> None:
    merged = concatenate([patch(*texts) for texts in groups])
    flat = [text for texts in groups for text in texts]
    assert [e.content for e in merged.edits] == list(dict.fromkeys(flat))
    assert {e.content: e.support for e in merged.edits} == {text: flat.count(text) for text in flat}
