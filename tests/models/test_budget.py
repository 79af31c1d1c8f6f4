from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.errors import BudgetReachedError, ConfigError
from skillgit.models.base import ModelSpec, Usage
from skillgit.models.budget import Budget, Limits, Spent, cost_of

CALL = Usage(prompt_tokens=6, completion_tokens=4, cost=0.25)
usages = st.builds(
    Usage,
    prompt_tokens=st.none() | st.integers(0, 50),
    completion_tokens=st.none() | st.integers(0, 50),
    cost=st.none() | st.floats(0, 1),
)


def test_no_limits_only_count() -> None:
    budget = Budget(Limits())
    for usage in (CALL, Usage()):
        budget.reserve()
        budget.settle(usage)
    spent = budget.spent
    assert (spent.calls, spent.tokens, spent.cost) == (2, 10, 0.25)
    assert (spent.unknown_tokens, spent.unknown_cost) == (1, 1)


@pytest.mark.parametrize(
    ("limits", "calls", "words"),
    [
        (Limits(calls=3), 3, ["3 calls", "budget.calls=6"]),
        (Limits(tokens=25), 3, ["25 tokens", "30 tokens", "budget.tokens=50"]),
        (Limits(cost=0.5), 2, ["0.5 dollars", "budget.cost=1"]),
        (Limits(calls=0), 0, ["0 calls", "budget.calls=N"]),
        (Limits(tokens=4_000_000, calls=2), 2, ["budget.calls=4"]),
    ],
)
def test_a_limit_stops_the_next_call(limits: Limits, calls: int, words: list[str]) -> None:
    budget = Budget(limits)
    for _ in range(calls):
        budget.reserve()
        budget.settle(CALL)
    with pytest.raises(BudgetReachedError) as caught:
        budget.reserve()
    assert all(word in str(caught.value) for word in words)
    assert caught.value.exit_code == 6
    assert budget.spent.calls == calls


def test_large_limits_are_written_out() -> None:
    with pytest.raises(BudgetReachedError, match="4000000 tokens"):
        Budget(Limits(tokens=4_000_000), Spent(tokens=4_000_000)).reserve()


def test_time_counts_earlier_parts_of_the_run() -> None:
    now = [100.0]
    budget = Budget(Limits(seconds=60), Spent(seconds=50.0), clock=lambda: now[0])
    budget.reserve()
    now[0] += 10
    with pytest.raises(BudgetReachedError, match="60 seconds"):
        budget.reserve()
    assert budget.spent.seconds == 60.0


def test_a_failed_call_is_given_back() -> None:
    budget = Budget(Limits(calls=1))
    for _ in range(5):
        budget.reserve()
        budget.release()
    budget.reserve()
    with pytest.raises(BudgetReachedError):
        budget.reserve()


def test_a_run_goes_on_where_it_stopped() -> None:
    budget = Budget(Limits(calls=3), Spent(calls=2, tokens=20))
    budget.reserve()
    budget.settle(CALL)
    assert budget.spent.tokens == 30
    with pytest.raises(BudgetReachedError):
        budget.reserve()


def test_sixteen_threads_never_start_one_call_too_many() -> None:
    budget, started, lock = Budget(Limits(calls=100)), [0], threading.Lock()

    def work(number: int) -> None:
        for turn in range(20):
            try:
                budget.reserve()
            except BudgetReachedError:
                return
            with lock:
                started[0] += 1
            time.sleep(0.0005)
            if (turn + number) % 5:
                budget.settle(CALL)
            else:
                with lock:
                    started[0] -= 1
                budget.release()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert started[0] == budget.spent.calls <= 100


@given(st.lists(usages, max_size=30), st.integers(0, 20), st.integers(0, 300))
def test_no_call_starts_at_or_above_a_limit(calls: list[Usage], most_calls: int, most_tokens: int) -> None:
    budget, used = Budget(Limits(calls=most_calls, tokens=most_tokens)), Spent()
    for usage in calls:
        open_ = used.calls < most_calls and used.tokens < most_tokens
        try:
            budget.reserve()
        except BudgetReachedError:
            assert not open_
            break
        assert open_
        budget.settle(usage)
        used = used.plus(usage)
    assert budget.spent.calls == used.calls
    assert budget.spent.tokens == used.tokens


def test_a_cost_limit_needs_known_costs() -> None:
    budget = Budget(Limits(cost=1.0))
    budget.reserve()
    with pytest.raises(ConfigError, match="target_price"):
        budget.settle(Usage(prompt_tokens=1, completion_tokens=1))
    assert budget.spent.calls == 1


def test_one_unknown_cost_among_known_ones_is_reported_not_refused() -> None:
    budget = Budget(Limits(cost=1.0))
    for usage in (CALL, Usage()):
        budget.reserve()
        budget.settle(usage)
    assert budget.spent.unknown_cost == 1


def spec(price: Any) -> ModelSpec:
    return ModelSpec("target", "scripted", "m", options={"price": price})


def test_cost_of() -> None:
    price = {"prompt": 2, "completion": 10.0}
    assert cost_of(spec(price), Usage(1000, 100)) == pytest.approx(0.003)
    assert cost_of(spec(price), Usage(1000, 100, cost=0.0)) == 0.0
    assert cost_of(spec(price), Usage(1000, None)) is None
    assert cost_of(spec({}), Usage(1000, 100)) is None
    assert cost_of(ModelSpec("target", "scripted", "m"), Usage(1000, 100)) is None


@pytest.mark.parametrize(
    "price",
    [3, {"prompt": 1}, {"prompt": 1, "completion": -1}, {"prompt": "1", "completion": 1},
     {"prompt": True, "completion": 1}, {"prompt": 1, "completion": 1, "x": 1},
     {"prompt": float("nan"), "completion": 1}],
)  # fmt: skip
def test_prices_that_cannot_be_used(price: Any) -> None:
    with pytest.raises(ConfigError, match="target_price"):
        cost_of(spec(price), Usage(1, 1))
