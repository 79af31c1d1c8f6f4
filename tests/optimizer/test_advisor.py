"""Asking for JSON: repaired, asked again once, else dropped and recorded; a silent endpoint is no reply."""

from __future__ import annotations

import pytest

from skillgit.errors import (
    BudgetReachedError,
    ContextLengthError,
    ModelConfigError,
    RefusalError,
    TransientModelError,
)
from skillgit.models.base import Message
from skillgit.optimizer.advisor import Drop
from tests.optimizer.fakes import Optimizer, advisor

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
QUESTION = (Message("user", "how many?"),)


def ask(optimizer: Optimizer, **more):  # type: ignore[no-untyped-def]
    asked = advisor(optimizer)
    return asked.ask(QUESTION, SCHEMA, stage="analyst", step=3, **more), asked.take_drops()


def test_a_good_reply_is_used_and_the_schema_is_sent() -> None:
    optimizer = Optimizer('Sure: {"n": 3}')
    assert ask(optimizer) == ({"n": 3}, [])
    assert optimizer.requests[0].schema == SCHEMA


def test_small_damage_is_repaired_without_another_call() -> None:
    optimizer = Optimizer("{'n': 3,}")
    assert ask(optimizer) == ({"n": 3}, [])
    assert len(optimizer.requests) == 1


@pytest.mark.parametrize(
    ("bad", "why"), [("no", "no JSON object was found"), ('{"n": "x"}', "$.n: 'x' is not of type")]
)
def test_a_bad_reply_is_asked_for_again_with_the_error(bad: str, why: str) -> None:
    optimizer = Optimizer(bad, '{"n": 3}')
    assert ask(optimizer) == ({"n": 3}, [])
    again = optimizer.requests[1].messages
    assert again[0] == QUESTION[0]
    assert (again[1].role, again[1].content) == ("assistant", bad)
    assert why in again[2].content
    assert optimizer.requests[0].seed != optimizer.requests[1].seed


def test_a_second_bad_reply_is_dropped_and_recorded() -> None:
    optimizer = Optimizer("no", '{"m": 1}')
    value, drops = ask(optimizer, index=7)
    assert value is None
    assert drops == [Drop("analyst", 7, "unusable reply: $: 'n' is a required property")]
    assert len(optimizer.requests) == 2


def test_less_may_be_accepted_than_is_asked_for() -> None:
    assert ask(Optimizer('{"m": 1}'), accept={"type": "object"}) == ({"m": 1}, [])


@pytest.mark.parametrize("error", [ContextLengthError("too long"), RefusalError("no"), TransientModelError("away")])
def test_a_call_that_others_can_stand_for_is_dropped_as_failed(error: Exception) -> None:
    value, drops = ask(Optimizer(error), spare=True)
    assert value is None
    assert drops == [Drop("analyst", 0, str(error), failed=True)]


@pytest.mark.parametrize("error", [TransientModelError("away"), ModelConfigError("key"), BudgetReachedError("limit")])
def test_a_call_that_nothing_stands_for_stops_the_step(error: Exception) -> None:
    with pytest.raises(type(error)):
        ask(Optimizer(error))


@pytest.mark.parametrize("error", [ContextLengthError("too long"), RefusalError("no")])
def test_a_call_that_can_never_be_answered_does_not_stop_the_run(error: Exception) -> None:
    value, drops = ask(Optimizer(error))
    assert value is None
    assert drops[0].failed


def test_drops_come_in_order_and_once() -> None:
    asked = advisor(Optimizer("no"))
    for stage, index in (("b", 0), ("a", 2), ("a", 1)):
        asked.ask(QUESTION, SCHEMA, stage=stage, step=1, index=index)
    assert [(drop.stage, drop.index) for drop in asked.take_drops()] == [("a", 1), ("a", 2), ("b", 0)]
    assert asked.take_drops() == []


def test_equal_questions_of_one_step_are_separate_samples_and_a_repeated_step_asks_nothing() -> None:
    optimizer = Optimizer('{"n": 1}')
    asked = advisor(optimizer)
    for _ in range(2):
        for index in range(3):
            asked.ask(QUESTION, SCHEMA, stage="analyst", step=1, index=index)
    assert len(optimizer.requests) == 3
    assert len({request.seed for request in optimizer.requests}) == 3
