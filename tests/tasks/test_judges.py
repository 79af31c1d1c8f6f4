from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.tasks.base import Task
from skillgit.tasks.judges import JUDGES, resolve, score, versions


def judge(name, response, *answers, **settings):
    resolved, wrong = resolve({"type": name, **settings}, answers)
    assert not wrong
    return score(Task("t", "q", answers=answers, judge=resolved), response)


def hard(*args, **settings):
    return judge(*args, **settings).hard == 1


def wrong_with(spec, *answers):
    return "; ".join(resolve(spec, answers)[1])


def test_exact_is_strict_about_everything_but_spacing():
    assert hard("exact", " 2024-05-12\n", "2024-05-12")
    assert hard("exact", "a  b", "a b")
    assert hard("exact", "cafe\u0301", "café")
    assert not hard("exact", "paris", "Paris")
    assert hard("exact", "The paris.", "Paris", normalise="loose")


def test_exact_says_what_was_written_and_what_was_expected():
    got = judge("exact", "12 May 2024", "2024-05-12")
    assert got.reason == 'exact: wrote "12 May 2024", expected "2024-05-12"'
    assert got.predicted == "12 May 2024"
    assert "differs only in case" in judge("exact", "paris.", "Paris").reason
    assert "other text around it" in judge("exact", "It is Paris", "Paris").reason


def test_reasons_are_one_clipped_printable_line():
    got = judge("exact", "x\n\x1b[31m" * 500, "y" * 5000)
    assert got.reason.isprintable()
    assert len(got.reason) < 500
    assert len(got.predicted) <= 200


@pytest.mark.parametrize(
    ("extract", "response", "fine"),
    [
        ("auto", "so <answer> 4 </answer> or <ANSWER>5</ANSWER>", True),
        ("auto", "5", True),
        ("auto", "it is\n5", False),
        ("whole", "<answer>5</answer>", False),
        ("answer", "<answer>5</answer> done", True),
        ("answer", "5", False),
        ("last_line", "it is\n5\n\n", True),
        ("last_line", " ", False),
    ],
)
def test_extraction(extract, response, fine):
    for name in ("exact", "numeric", "f1"):
        assert hard(name, response, "5", extract=extract) is fine
    assert hard("choice", response, "5", extract=extract, choices=["4", "5"]) is fine


def test_a_missing_tag_is_named():
    assert "no <answer>…</answer> found" in judge("exact", "5", "5", extract="answer").reason


def test_many_unclosed_tags_are_no_trap():
    assert not hard("exact", "<answer>" * 50_000, "5")


def test_f1_has_partial_marks_and_a_threshold():
    got = judge("f1", "New York City", "New York")
    assert (got.hard, got.soft) == (0.0, 0.8)
    assert got.reason.startswith("f1: 0.80, ")
    assert hard("f1", "New York City", "New York", threshold=0.8)


def test_contains_any_or_all():
    assert hard("contains", "say HELLO", "hello", "bye")
    assert not hard("contains", "say HELLO", "hello", case=True)
    assert not hard("contains", "say hello", "hello", "bye", all=True)
    assert hard("contains", "hello and bye", "hello", "bye", all=True)
    assert judge("contains", "x", "hello").reason == 'contains: missing "hello"'
    assert judge("contains", "x", "a", "b").reason == 'contains: missing one of "a", "b"'
    assert judge("contains", "b", "a", "b", all=True).reason == 'contains: missing all of "a"'


def test_regex_flags_and_a_silent_reason():
    assert hard("regex", "ID: 42", pattern=r"^id: \d+$", flags="i")
    got = judge("regex", "nothing", pattern="SECRET[0-9]+")
    assert got.reason.startswith("regex: ")
    assert "SECRET" not in got.reason


def test_regex_searches_a_bounded_part():
    assert not hard("regex", "x" * 100_000 + "y", pattern="y")


@pytest.mark.parametrize(
    "response",
    ["B", "b", " (B) ", "**B**", "B.", "B) the second", "Option B", "option b.", "The answer is B", "Answer: (B)"],
)
def test_choice_reads_common_styles(response):
    assert hard("choice", response, "B", choices=["A", "B", "C"])


@pytest.mark.parametrize("response", ["A", "A or B", "Both", "", "optional"])
def test_choice_refuses_the_rest(response):
    assert not hard("choice", response, "B", choices=["A", "B", "C"])


def test_choice_reasons():
    assert judge("choice", "A", "B", choices=["A", "B"]).reason == 'choice: chose "A", expected "B"'
    assert 'expected one of "A", "B"' in judge("choice", "maybe", "B", choices=["A", "B"]).reason


def test_choices_that_look_like_decoration_are_told_apart():
    assert hard("choice", "C*", "C*", choices=["C", "C*"])


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ("1,234.5", "1234.5"),
        ("$1,234.50", "1234.5"),
        ("-$5", "-5"),
        ("$-5", "-5"),
        ("−5", "-5"),
        ("+.5", "0.5"),
        ("42.", "42"),
        ("**42**", "42"),
        ("1.5e3", "1500"),
        ("12 km", "12"),
        ("12 km", "12 KM"),
        ("12%", "12"),
        ("12 percent", "0.12"),
        ("12%", "0.12"),
        ("0.12", "12%"),
        ("$5 million", "5,000,000"),
        ("20 °C", "20"),
        ("12345678901234567890", "12345678901234567890"),
    ],
)
def test_numeric_equal(response, answer):
    assert hard("numeric", response, answer)


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ("12345678901234567891", "12345678901234567890"),
        ("12 or 13", "12"),
        ("12 km", "12 kg"),
        ("€5", "$5"),
        ("1,23", "123"),
        ("12%", "13%"),
        ("nan", "1"),
        ("inf", "1"),
        ("--5", "-5"),
        ("9" * 500, "9"),
        ("twelve", "12"),
    ],
)
def test_numeric_different(response, answer):
    assert not hard("numeric", response, answer)


def test_numeric_tolerances_are_exact_at_the_edge():
    assert hard("numeric", "1.1", "1", abs=0.1)
    assert not hard("numeric", "1.1001", "1", abs=0.1)
    assert hard("numeric", "99", "100", rel=0.01)
    assert not hard("numeric", "98.9", "100", rel=0.01)


def test_checks_conform(conformance):
    compared = 0
    for row in conformance("rule_judge"):
        spec = {"type": "checks", "checks": row["checks"]}
        if resolve(spec, ())[1]:
            assert row["checks"] in ([], [{"op": "regex", "arg": "("}])
            continue
        got = judge("checks", row["response"], checks=row["checks"])
        assert (got.hard, got.soft) == (row["hard"], row["soft"]), row
        compared += 1
    assert compared >= 28


@pytest.mark.parametrize(
    ("op", "arg", "response", "fine"),
    [
        ("section_present", "Next steps", "## My next steps\n", True),
        ("section_present", "Next steps", "next steps : go", True),
        ("section_present", "Next steps", "the next steps are", False),
        ("section_contains", "risk", "## Key Risks and more", True),
        ("section_contains", "risk", "#risk", False),
        ("tool_called", "search", "TOOL_CALL: search", True),
        ("tool_called", "search", "tool_call: SEARCH(x)", True),
        ("tool_called", "search", "TOOL_CALL: search_web", False),
        ("no_refusal", None, "**Sorry, I can’t** help", False),
        ("no_refusal", None, "I cannot say more. " + "x" * 600, True),
        ("no_refusal", None, "  ", False),
        ("regex", "a.c", "xabcx", True),
        ("max_chars", 3, "abc", True),
        ("min_chars", 4, "abc", False),
    ],
)
def test_check_operators(op, arg, response, fine):
    assert hard("checks", response, checks=[{"op": op, "arg": arg}]) is fine


def test_the_reason_of_checks_names_operators_only():
    checks = [{"op": "regex", "arg": "SECRET"}, {"op": "max_chars", "arg": 2}, {"op": "contains", "arg": "a"}]
    got = judge("checks", "aaaa", checks=checks)
    assert got.reason == "checks: 2 of 3 checks failed (regex, max_chars)"
    assert got.soft == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("spec", "answers", "message"),
    [
        ("exat", ("a",), 'unknown judge "exat"; did you mean "exact"?'),
        ("exact", (), "needs answers"),
        ({"type": "exact", "normalize": "loose"}, ("a",), 'no setting "normalize"; did you mean "normalise"?'),
        ({"type": "exact", "extract": "first"}, ("a",), "extract must be one of auto, whole"),
        ({"type": "f1", "threshold": 2}, ("a",), "threshold must be a number in 0.01 to 1"),
        ({"type": "contains", "case": "yes"}, ("a",), "case must be true or false"),
        ({"type": "numeric", "abs": -1}, ("1",), "abs must be a number of at least 0"),
        ({"type": "numeric", "abs": math.inf}, ("1",), "abs must be a number"),
        ({"type": "numeric", "rel": math.nan}, ("1",), "rel must be a number"),
        ("numeric", ("1", "about 2"), 'answer "about 2" is not a number'),
        ({"type": "choice"}, ("A",), "choices must be a list of texts"),
        ({"type": "choice", "choices": ["A", "a"]}, ("A",), "must differ in more than case"),
        ({"type": "choice", "choices": ["A", "B"]}, ("C",), 'answer "C" is not among the choices'),
        ({"type": "regex"}, (), "pattern must be a regular expression"),
        ({"type": "regex", "pattern": "("}, (), "not a valid regular expression"),
        ({"type": "regex", "pattern": "a{99999999999999999999}"}, (), "not a valid regular expression"),
        ({"type": "regex", "pattern": "a", "flags": "x"}, (), "only the letters"),
        ({"type": "checks"}, (), "at least one"),
        ({"type": "checks", "checks": ["x"]}, (), 'check 1: must be an object with "op"'),
        ({"type": "checks", "checks": [{"op": "contain", "arg": "x"}]}, (), 'did you mean "contains"?'),
        ({"type": "checks", "checks": [{"op": "contains"}]}, (), "contains: arg must be text"),
        ({"type": "checks", "checks": [{"op": "max_chars", "arg": "9"}]}, (), "must be a whole number"),
        ({"type": "checks", "checks": [{"op": "no_refusal", "arg": "x"}]}, (), "must be absent"),
        ({"type": "checks", "checks": [{"op": "regex", "arg": "("}]}, (), "not a valid regular"),
        ({"type": "checks", "checks": [{"op": "contains", "args": "x"}]}, (), 'unknown field "args"'),
        ({"name": "exact"}, ("a",), 'an object with "type"'),
        (3, ("a",), 'an object with "type"'),
    ],
)
def test_bad_judges_are_refused(spec, answers, message):
    assert message in wrong_with(spec, *answers)


def test_resolved_settings_hold_every_default():
    assert resolve("exact", ("a",)) == ({"type": "exact", "extract": "auto", "normalise": "strict"}, [])


def test_every_judge_has_a_version():
    assert versions().keys() == JUDGES.keys()


SPECS = [
    {"type": "exact"},
    {"type": "exact", "normalise": "loose", "extract": "answer"},
    {"type": "f1", "threshold": 0.5},
    {"type": "contains", "all": True},
    {"type": "numeric", "rel": 0.5, "abs": 1},
    {"type": "choice", "choices": ["1", "2"], "extract": "last_line"},
    {"type": "regex", "pattern": "a+b"},
    {"type": "checks", "checks": [{"op": "section_present", "arg": "a"}, {"op": "no_refusal"}]},
]


@given(st.sampled_from(SPECS), st.text() | st.from_regex(r"[-$]?[0-9.,]+ ?[%a-z]*"))
def test_scores_stay_in_range_on_any_text(spec, response):
    got = judge(spec["type"], response, "1", "2", **{k: v for k, v in spec.items() if k != "type"})
    assert 0 <= got.hard <= 1
    assert 0 <= got.soft <= 1
    assert bool(got.reason) is (got.hard < 1)
    assert got.reason == "" or got.reason.startswith(f"{spec['type']}: ")
