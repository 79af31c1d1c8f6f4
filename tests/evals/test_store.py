"""The store of finished calls, and what it says a run has spent."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.errors import BudgetReachedError, TransientModelError
from skillgit.evals.store import Payer, StageUsage, Store, add_up
from skillgit.models.base import Message, Reply, Request, Usage
from tests.evals.fakes import caller, disk

PAYER = Payer("run", 1, "target", "val", "skill")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    with_file = disk(tmp_path)
    yield with_file
    with_file.close()


def test_a_reply_comes_back_whole(store: Store, tmp_path: Path) -> None:
    reply = Reply("Ünï\ud800", Usage(1, None, 0, 0.5), "length", ({"id": "1", "function": {"name": "f"}},))
    store.put("key", reply, PAYER)
    assert store.get("key") == (reply, "run", 1)
    assert store.get("other") is None
    second = disk(tmp_path)
    assert second.get("key") == (reply, "run", 1)
    second.close()
    second.close()


def test_unknown_is_not_zero(store: Store) -> None:
    store.put("a", Reply("x", Usage()), PAYER)
    assert store.spent("run") == [StageUsage("target", "val", 1, None, None, None, None)]
    store.put("b", Reply("x", Usage(3, 0)), PAYER)
    assert store.spent("run") == [StageUsage("target", "val", 2, 3, 0, None, None)]
    assert store.spent("another") == []


def test_spending_is_told_by_step_and_skill(store: Store) -> None:
    for step in range(4):
        store.put(f"k{step}", Reply("x", Usage(1, 1)), Payer("run", step, "target", "val", f"skill{step % 2}"))
    assert store.spent("run", 1)[0].calls == 2
    assert store.spent("run", -1, "skill1")[0].calls == 2
    assert store.spent("run", 2, "skill0") == []


def test_the_first_answer_counts_for_everyone_and_the_second_is_still_paid(store: Store) -> None:
    first, second = Reply("first", Usage(1, 1)), Reply("second", Usage(2, 2))
    assert store.put("key", first, PAYER) == first
    assert store.put("key", second, Payer("other", 0, "target", "val")) == first
    assert store.get("key") == (first, "run", 1)
    assert store.spent("other") == [StageUsage("target", "val", 1, 2, 2, None, None)]


COUNT = st.none() | st.integers(0, 1000)
PART = st.builds(
    StageUsage,
    st.sampled_from(["target", "optimizer"]),
    st.sampled_from("ab"),
    st.integers(1, 5),
    COUNT,
    COUNT,
    COUNT,
    st.none(),
)


@given(st.lists(PART))
def test_adding_up_keeps_what_is_known_and_says_what_is_not(parts: list[StageUsage]) -> None:
    sums = add_up(parts)
    assert [(s.role, s.stage) for s in sums] == sorted({(p.role, p.stage) for p in parts})
    for total in sums:
        mine = [p for p in parts if (p.role, p.stage) == (total.role, total.stage)]
        assert total.calls == sum(p.calls for p in mine)
        known = [p.prompt_tokens for p in mine if p.prompt_tokens is not None]
        assert total.prompt_tokens == (sum(known) if known else None)
    assert add_up([*add_up(parts[:2]), *parts[2:]]) == sums


def ask(text: str) -> Request:
    return Request((Message("user", text),))


def test_a_failed_call_is_neither_stored_nor_counted(store: Store) -> None:
    def fail(request: Request) -> str:
        raise TransientModelError("away")

    bad = caller(fail, store, limit=1)
    for _ in range(3):
        with pytest.raises(TransientModelError):
            bad.call(ask("x"), scope=(1,), step=0, stage="val")
    assert store.spent("r") == []


def test_a_call_is_known_by_model_settings_scope_and_request(store: Store) -> None:
    made: list[str] = []
    one = caller(lambda request: made.append("one") or "1", store)
    for text, scope in (("a", (1,)), ("a", (1,)), ("b", (1,)), ("a", (2,))):
        one.call(ask(text), scope=scope, step=0, stage="val")
    assert len(made) == 3
    other = caller(lambda request: made.append("other") or "2", store, role="optimizer")
    assert other.call(ask("a"), scope=(1,), step=0, stage="val").text == "2"


def test_a_stored_answer_needs_no_budget(store: Store) -> None:
    limited = caller(lambda request: "1", store, limit=1)
    for _ in range(3):
        assert limited.call(ask("a"), scope=(1,), step=0, stage="val").text == "1"
    with pytest.raises(BudgetReachedError):
        limited.call(ask("b"), scope=(1,), step=0, stage="val")


def test_reuse_counts_what_other_steps_and_runs_paid_and_not_ones_own(store: Store) -> None:
    first = caller(lambda request: "1", store, run="first")
    first.call(ask("a"), scope=(1,), step=1, stage="val")
    first.call(ask("a"), scope=(1,), step=1, stage="val")
    assert first.reused(1) == 0, "a step that is done again after a crash"
    first.call(ask("a"), scope=(1,), step=2, stage="val")
    assert first.reused(2) == 1
    second = caller(lambda request: "1", store, run="second")
    second.call(ask("a"), scope=(1,), step=1, stage="val")
    assert second.reused(1) == 1
