"""The gate's rule beyond the published one, on scores alone."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.evals.gate import ACCEPTED, Metric, decide, mean
from skillgit.evals.rule import LEADING_WORDS, Contest, Rule, semantic_density, text_bonus
from skillgit.evals.stats import minimum_n
from skillgit.skills.size import tokens
from tests.bench.noise_table import share_accepted, table

HARD = Metric()
SCORE = st.sampled_from([0.0, 0.5, 1.0])
SCORES = st.dictionaries(st.sampled_from("abcdefgh"), SCORE, min_size=1)


def of(*scores: float) -> dict[str, float]:
    return {f"t{n}": float(score) for n, score in enumerate(scores)}


def verdict(rule: Rule, candidate: Any, current: Any, contest: Contest | None = None, best: float = 0.0) -> str:
    return rule.verdict(candidate, current, [], contest or Contest(), best)[0]


@given(SCORES, SCORES, st.floats(0, 1))
def test_by_default_it_is_the_published_rule(candidate: Any, current: Any, best: float) -> None:
    common = [task for task in candidate if task in current]
    said = Rule(HARD).verdict(candidate, current, [], Contest(), best)
    if not common:
        assert said[0] == "unverified"
    else:
        new, old = (mean([scores[task] for task in common]) or 0.0 for scores in (candidate, current))
        assert said[0] == decide(new, old, best)
        assert bool(said[1]) == (said[0] == "reject")


@given(SCORES, SCORES, st.booleans(), st.sampled_from([0.0, 0.8]), st.floats(-0.3, 0.3), st.booleans(), st.data())
def test_nothing_is_ruled_out_early_that_the_full_comparison_accepts(
    candidate: Any, current: Any, ties: bool, confidence: float, bonus: float, shorter: bool, data: st.DataObject
) -> None:
    full = {task: candidate.get(task, 0.0) for task in current}
    pinned = frozenset(data.draw(st.sets(st.sampled_from(sorted(current)))))
    rule = Rule(HARD, confidence=confidence, pinned=pinned, shorter_ties=ties)
    contest = Contest(candidate_bonus=bonus, shorter=shorter)
    seen = data.draw(st.sets(st.sampled_from(sorted(current))))
    partial = {task: full[task] for task in seen}
    waiting = [task for task in full if task not in seen]
    if rule.ruled_out(partial, current, waiting, contest):
        assert verdict(rule, full, current, contest) not in ACCEPTED


def test_a_gain_that_luck_explains_is_rejected_and_a_clear_one_is_not() -> None:
    rule = Rule(HARD, confidence=0.9)
    old = of(*[0] * 10)
    assert verdict(rule, of(*[1] * 3, *[0] * 7), old) == "reject"
    assert rule.verdict(of(*[1] * 3, *[0] * 7), old, [], Contest(), 0.0)[1].startswith("the gain is not certain")
    assert verdict(rule, of(*[1] * 4, *[0] * 6), old) == "accept_new_best"
    mixed = of(1, 1, 1, 1, 0, 0, 0, 0, 0, 0)
    assert verdict(rule, mixed, of(0, 0, 0, 0, 1, 0, 0, 0, 0, 0)) == "reject", "four better, one worse"


@pytest.mark.parametrize("confidence", [0.8, 0.9, 0.95, 0.99])
def test_too_few_tasks_are_underpowered_whatever_the_scores(confidence: float) -> None:
    rule, least = Rule(HARD, confidence=confidence), minimum_n(confidence)
    assert verdict(rule, of(*[1] * (least - 1)), of(*[0] * (least - 1))) == "underpowered"
    assert verdict(rule, of(*[1] * least), of(*[0] * least)) == "accept_new_best"


def test_tasks_that_were_not_needed_count_as_tasks() -> None:
    """An early stop is a rejection, not a sign of too few tasks."""
    rule = Rule(HARD, confidence=0.9)
    assert rule.verdict(of(0), of(1, 1, 1, 1), ["t1", "t2", "t3"], Contest(), 0.0)[0] == "reject"


def test_pinned_tasks_win_over_any_gain() -> None:
    rule = Rule(HARD, pinned=frozenset({"t0"}))
    assert rule.verdict(of(0, 1, 1), of(1, 0, 0), [], Contest(), 0.0) == ("reject", "pinned tasks got worse: t0")
    assert verdict(rule, of(1, 0, 1), of(1, 1, 0)) == "reject", "a tie is no gain"
    assert verdict(rule, of(1, 1, 1), of(1, 1, 0)) == "accept_new_best"


def test_without_a_gate_anything_measured_is_accepted() -> None:
    rule = Rule(HARD, use_gate=False, confidence=0.9, pinned=frozenset({"t0"}))
    assert verdict(rule, of(0), of(1)) == "force_accept"
    assert verdict(rule, {}, of(1)) == "unverified"


def test_a_shorter_text_wins_a_tie_and_needs_no_certain_gain() -> None:
    shorter = Contest(shorter=True)
    assert verdict(Rule(HARD), of(1, 0), of(0, 1), shorter) == "reject"
    assert verdict(Rule(HARD, shorter_ties=True), of(1, 0), of(0, 1), shorter) == "accept"
    assert verdict(Rule(HARD, shorter_ties=True), of(1, 0), of(0, 1)) == "reject"
    sure = Rule(HARD, shorter_ties=True, confidence=0.9)
    assert verdict(sure, of(1, 1, 0, 0), of(0, 1, 0, 0), shorter) == "accept_new_best"
    assert verdict(sure, of(1, 1, 0, 0), of(0, 1, 0, 0)) == "reject"


def test_what_a_text_adds_counts_on_both_sides() -> None:
    rule, old = Rule(HARD), of(0, 1)
    assert verdict(rule, old, old, Contest(0.01, 0.0)) == "accept_new_best"
    assert verdict(rule, old, old, Contest(0.01, 0.01)) == "reject"
    assert verdict(rule, of(1, 1), old, Contest(0.0, 0.6)) == "reject"
    assert verdict(rule, of(1, 1), old, Contest(0.1, 0.1), best=1.05) == "accept_new_best"
    assert verdict(rule, of(1, 1), old, Contest(0.1, 0.1), best=1.2) == "accept"


def test_bonuses_are_those_documented() -> None:
    text = "You MUST verify. Nothing else counts here ok."
    assert semantic_density(text) == 2 / 8
    assert text_bonus((), 0.05, 0.0)(text) == pytest.approx(0.05 * 2 / 8)
    assert text_bonus(("OK", "here"), 0.4, 0.0)(text) == pytest.approx(0.4 * 2 / 8)
    assert text_bonus((), 0.0, 0.2)("x" * 4000) == pytest.approx(-0.2)
    assert text_bonus((), 0.0, 0.0)(text) == 0.0
    assert tokens("12345") == 2
    assert len(LEADING_WORDS) == 11


@pytest.mark.parametrize("n", [20, 50, 200])
def test_confidence_keeps_equal_texts_out_where_the_published_rule_lets_many_in(n: int) -> None:
    published, sure = (share_accepted(n, confidence=confidence) for confidence in (0.0, 0.9))
    assert published > 0.25
    assert sure <= 0.1


def test_the_table_has_a_row_per_size() -> None:
    lines = table(candidates=20).splitlines()
    assert [line.split("|")[1].strip() for line in lines] == ["val tasks", "---:", "20", "50", "200"]
