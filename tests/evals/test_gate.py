"""The gate: the published rule, and the same decision with fewer calls."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgit.evals.gate import Metric, cannot_win, decide, flips, mean
from skillgit.evals.measure import Measurement, measure, measure_against
from skillgit.evals.rule import Rule
from skillgit.tasks.base import Score
from tests.evals.fakes import rollouts, table_of, tasks, version

CASES = json.loads((Path(__file__).parents[1] / "data/gate.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_decisions_are_the_published_ones(case: dict[str, Any]) -> None:
    metric = Metric(case["metric"], case["mixed_weight"])
    score = metric.of(case["candidate_hard"], case["candidate_soft"])
    verdict = decide(score, case["current_score"], case["best_score"])
    assert verdict == case["action"]
    accepted, best = verdict != "reject", verdict == "accept_new_best"
    assert (score if accepted else case["current_score"]) == case["new_current_score"]
    assert (score if best else case["best_score"]) == case["new_best_score"]
    assert (case["step"] if best else case["best_step"]) == case["new_best_step"]


def test_without_a_gate_everything_is_accepted() -> None:
    assert decide(0.0, 1.0, 1.0, use_gate=False) == "force_accept"


def test_nothing_has_no_mean() -> None:
    assert mean([]) is None
    assert mean([0.0]) == 0.0


@given(st.lists(st.sampled_from([0.1, 0.2, 0.3, 1 / 3, 0.7]), min_size=1, max_size=30), st.randoms())
def test_a_mean_does_not_depend_on_the_order(values: list[float], chance: Any) -> None:
    shuffled = list(values)
    chance.shuffle(shuffled)
    assert mean(values) == mean(shuffled)


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.floats(0, 1)),
    st.dictionaries(st.sampled_from("abcdef"), st.floats(0, 1)),
)
def test_flips_are_the_tasks_measured_on_both_sides_that_changed(
    before: dict[str, float], after: dict[str, float]
) -> None:
    improved, regressed = flips(before, after)
    assert flips(after, before) == (tuple(t for t in after if t in regressed), tuple(t for t in after if t in improved))
    for task in before.keys() & after.keys():
        assert (task in improved, task in regressed) == (after[task] > before[task], after[task] < before[task])
    assert {*improved, *regressed} <= before.keys() & after.keys()


UNIT = st.one_of(st.sampled_from([0.0, 1.0, 0.5, 0.1, 0.3, 1 / 3]), st.floats(0, 1))
HARD = st.builds(lambda hard, soft: Score(float(hard), max(float(hard), soft)), st.booleans(), UNIT)
SOFT = st.builds(Score, UNIT, UNIT)
METRIC = st.one_of(
    st.sampled_from([Metric("hard"), Metric("soft")]), st.builds(Metric, st.just("mixed"), st.floats(0, 1))
)


@st.composite
def tables(draw: Any) -> tuple[list[Score], list[Score]]:
    count, kind = draw(st.integers(1, 12)), draw(st.sampled_from([HARD, SOFT]))
    row = st.lists(kind, min_size=count, max_size=count)
    return draw(row), draw(row)


PLAIN = st.builds(Rule, METRIC)
BONUS = st.sampled_from([-1.0, -0.3, -0.1, 0.0, 0.1, 0.25, 1.0])
STRICT = st.builds(
    lambda metric, confidence, pinned, ties, bonus: Rule(
        metric, True, confidence, pinned, ties, lambda text: bonus if text == "after" else 0.0
    ),
    METRIC,
    st.sampled_from([0.0, 0.5, 0.8]),
    st.frozensets(st.sampled_from(["t0", "t1", "t5"])),
    st.booleans(),
    BONUS,
)
"""Rules with everything a configuration can add; `after` is the shorter text."""


def verdict(rule: Rule, candidate: Measurement, base: Measurement) -> str:
    contest = rule.contest(candidate.version.document.text, base.version.document.text)
    missing = [task for task in {*base.scores, *base.errors} if task not in candidate.scores]
    best = base.score(rule.metric) or 0.0
    return rule.verdict(candidate.values(rule.metric), base.values(rule.metric), missing, contest, best)[0]


def verdicts(before: list[Score], after: list[Score], rule: Rule, workers: int) -> tuple[str, str, int, int]:
    """Verdict of the early-stopping and of the full comparison, and the calls each made for the candidate."""
    table, questions = table_of(before, after), tasks(len(before))
    runner = rollouts(table, workers=workers)
    base = measure(runner, version("before"), questions, step=0, stage="val")
    table.rolled.clear()
    early = measure_against(runner, version("after"), questions, base, rule, step=1, stage="val")
    first = len(table.rolled)
    full = measure(runner, version("after"), questions, step=1, stage="val")
    assert list(early.scores) == [task.id for task in questions if task.id in early.scores], "in task order"
    if early.complete:
        assert early == full
    return verdict(rule, early, base), verdict(rule, full, base), first, len(table.rolled) - first


@settings(max_examples=150, deadline=None)
@given(tables(), PLAIN, st.integers(1, 5))
def test_stopping_early_decides_like_measuring_everything_and_never_asks_more(
    table: tuple[list[Score], list[Score]], rule: Rule, workers: int
) -> None:
    early, full, calls, most = verdicts(*table, rule, workers)
    assert early == full
    assert calls <= most


@settings(max_examples=150, deadline=None)
@given(tables(), STRICT, st.integers(1, 5))
def test_stopping_early_decides_the_same_under_every_rule(
    table: tuple[list[Score], list[Score]], rule: Rule, workers: int
) -> None:
    early, full, calls, most = verdicts(*table, rule, workers)
    assert early == full
    assert calls <= most


def test_a_candidate_that_mends_nothing_costs_only_the_failed_tasks() -> None:
    before = [Score(1, 1)] * 30 + [Score(0, 0)] * 10
    early, full, calls, most = verdicts(before, before, Rule(Metric()), workers=4)
    assert (early, full, calls, most) == ("reject", "reject", 10, 40)


@given(tables(), st.integers(0, 12))
def test_cannot_win_is_true_exactly_when_full_marks_for_the_rest_would_not_do(
    table: tuple[list[Score], list[Score]], measured: int
) -> None:
    names = [f"t{n}" for n in range(len(table[0]))]
    current = {name: score.hard for name, score in zip(names, table[0], strict=True)}
    candidate = {name: score.hard for name, score in zip(names[:measured], table[1], strict=False)}
    waiting = names[measured:]
    from fractions import Fraction

    best_case = sum(Fraction(candidate.get(name, 1.0)) for name in names)
    assert cannot_win(candidate, current, waiting) == (best_case <= sum(map(Fraction, current.values())))


def test_an_unanswered_task_is_granted_to_the_candidate_while_it_is_waiting() -> None:
    assert not cannot_win({"a": 0.0}, {"a": 0.0, "b": 0.0}, ["b"])
    assert cannot_win({"a": 0.0}, {"a": 0.0, "b": 1.0}, ["b"])
    assert not cannot_win({"a": 0.0}, {"a": 0.0}, ["b"]), "unknown on the other side too"


def test_nothing_in_common_is_unverified() -> None:
    base = Measurement(version("before"), {"a": Score(0, 0)}, {"b": "gone"}, 2)
    candidate = Measurement(version("after"), {"b": Score(1, 1)}, {"a": "gone"}, 2)
    for use_gate in (True, False):
        assert verdict(Rule(Metric(), use_gate), candidate, base) == "unverified"
