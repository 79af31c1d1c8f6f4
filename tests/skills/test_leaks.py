from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.skills.leaks import LEAK_KINDS, Leak, LeakIndex, LeakKind, Secret, new_leaks
from skillgit.skills.leaks_net import Windows
from skillgit.skills.leaks_rules import is_code, literal_parts, phrase_counts, reference_counts, verbatim_pattern
from skillgit.skills.leaks_words import fold, locate, readings, split_words, window_ends

TASK = "Which river carries the most water into the Caspian Sea every year?"
SPAN = "river carries the most water into the Caspian"
ENGLISH = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def spans(*texts: str) -> LeakIndex:
    return LeakIndex.build(task_texts=[(text, f"train task t{at}, input") for at, text in enumerate(texts)])


def graders(*texts: str) -> LeakIndex:
    return LeakIndex.build(grader_texts=[(text, f"task t{at}, check") for at, text in enumerate(texts)])


def references(*texts: str) -> LeakIndex:
    return LeakIndex.build(held_out_references=[(text, f"val task t{at}, answer") for at, text in enumerate(texts)])


def kinds(leaks: tuple[Leak, ...]) -> list[LeakKind]:
    return [leak.kind for leak in leaks]


# --- spans of tasks ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "copied",
    [
        SPAN,
        SPAN.upper(),
        "river, carries: the (most) water -- into the Caspian.",
        "river\n> carries\n> the most\r\n\r\nwater into\tthe Caspian",
        "**river** _carries_ `the` ~~most~~ *water* into the __Caspian__",
        "river_carries_the_most_water_into_the_Caspian",
        "ri\u200bver car\u00adries the\ufeff most wa\u2060ter into the Caspi\u200dan",
        "\uff52\uff49\uff56\uff45\uff52 carries the most water into the \U0001d402aspian",
        "rivér cärries thé most water into the Cas\u0301pian",
        "<b>river</b> carries <!-- a comment --> the most<br/>water into the Caspian",
        "[river](https://example.org/a-b) carries the [most](#x) water into the Caspian",
        "river&nbsp;carries the most w&#97;ter into&#x20;the Caspian",
        'a <span title="river carries the most water into the Caspian"></span> b',
    ],
)
def test_a_copied_span_is_found_however_it_is_dressed(copied: str) -> None:
    text = f"# Skill\n\nRemember: {copied}; always.\n"
    (leak,) = spans(TASK).find(text)
    assert (leak.kind, leak.source) == ("span", "train task t0, input")
    assert "themost" in "".join(split_words(text[leak.start : leak.end]))


def test_seven_words_are_no_span() -> None:
    assert spans(TASK).find("river carries the most water into the Black Sea every year") == ()


def test_markup_does_not_make_seven_words_eight() -> None:
    task = "<b>river</b> carries the most water into the"
    assert spans(task).find("river carries the most water into the sea") == ()
    assert spans(task).find(task)


def test_a_long_copy_is_one_leak_with_its_place() -> None:
    text = f"Before. {TASK} After."
    (leak,) = spans(TASK).find(text)
    assert text[leak.start : leak.end] == TASK.removesuffix("?")


def test_two_copies_apart_are_two_leaks_and_name_the_first_source() -> None:
    other = "Name the planet that has the greatest number of known moons"
    leaks = spans(TASK, other, TASK).find(f"{other}. And: {TASK}")
    assert [leak.source for leak in leaks] == ["train task t1, input", "train task t0, input"]


def test_numbers_are_words_and_their_separators_do_not_matter() -> None:
    task = "In 2019 the town had 1,234,567 trees and 12 parks"
    assert spans(task).find("in 2019 the town had 1234567 trees and 12 parks")
    assert spans(task).find("in 2019 the town had 1.234.567 trees & 12 parks")
    assert spans(task).find("in 2019 the town had 1’234’567 trees and 12 parks")


def test_scripts_without_spaces_count_two_characters_as_a_word() -> None:
    task = "世界上最深的湖是哪一个湖泊它位于哪个国家"
    assert spans(task).find(f"记住：{task[2:18]}。")
    assert spans(task).find(f"记住：{task[2:17]}。") == ()
    mixed = "use 世界上最深的湖 as the name of it"
    assert spans(mixed).find("USE **世界上最深的湖** as the name of")


WORDS = st.text("abcdeféßñжд0123456789", min_size=3, max_size=7).map(lambda word: f"k{word}")
NOISE = st.sampled_from(
    [
        " ",
        ", ",
        "\n",
        "\r\n\r\n- ",
        "** ",
        " `",
        "_",
        " — ",
        "\u200b ",
        "</b> <i>",
        "<!-- x -->",
        "&nbsp;",
        "](http://q.z/) [",
        "…\n> ",
        '."',
        "\t|",
        "\u2028",
        "\\\n",
    ]
)
IN_WORD = st.sampled_from(["", "", "\u200b", "\u00ad", "\u2060", "\ufe0f"])


@st.composite
def dressed(draw: st.DrawFn, words: list[str]) -> str:
    """Words as somebody could write them to hide where they come from."""
    out = []
    for word in words:
        form = draw(st.sampled_from([word, _swapped(word), _wide(word), unicodedata.normalize("NFD", word)]))
        out.append(form[:1] + draw(IN_WORD) + form[1:] + draw(NOISE))
    return "".join(out)


def _swapped(word: str) -> str:
    return "".join(char.swapcase() if char.isascii() else char for char in word)


def _wide(word: str) -> str:
    return "".join(chr(ord(char) + 0xFEE0) if char.isascii() else char for char in word)


@given(st.data())
def test_any_eight_words_of_a_task_are_found_in_any_dress(data: st.DataObject) -> None:
    task = data.draw(st.lists(WORDS, min_size=8, max_size=20))
    first = data.draw(st.integers(0, len(task) - 8))
    around = [data.draw(st.lists(WORDS, max_size=3).flatmap(dressed)) for _ in range(2)]
    copied = data.draw(dressed(task[first : first + 8]))
    index = spans(" ".join(task))
    leaks = index.find(f"{around[0]} {copied} {around[1]}")
    assert any(leak.start <= len(around[0]) + 1 and leak.end > len(around[0]) + 1 for leak in leaks)
    assert new_leaks(index, f"{around[0]} {copied}", copied) == ()


@given(
    st.lists(st.text("abcdefghijklm", min_size=3, max_size=9), min_size=1, max_size=30),
    st.lists(st.text("nopqrstuvwxyz", min_size=3, max_size=9), max_size=30).flatmap(dressed),
)
def test_text_of_another_vocabulary_is_never_flagged(secret: list[str], skill: str) -> None:
    text = " ".join(secret)
    assert LeakIndex.build([(text, "g")], [(text, "t")], [(text, "r")]).find(skill) == ()


@given(st.text(max_size=40))
def test_both_ways_to_split_words_agree(text: str) -> None:
    found = locate(text)
    assert list(found.words) == split_words(text)
    for word, start, end in zip(found.words, found.starts, found.ends, strict=True):
        assert word in fold(text[start:end])
    assert all(len(reading) == len(text) for reading in readings(text))


@given(st.lists(st.sampled_from(["word", "湖", "か"]), max_size=40))
def test_windows_are_the_shortest_of_eight_words(words: list[str]) -> None:
    def weight(part: list[str]) -> float:
        return sum(1 if word == "word" else 0.5 for word in part)

    wanted = []
    for first in range(len(words)):
        ends = [end for end in range(first, len(words) + 1) if weight(words[first:end]) >= 8]
        wanted += ends[:1]
    assert list(window_ends(words)) == wanted


# --- grader text ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("grader", "skill"),
    [
        ("Next steps", "End with a section **next  Steps**."),
        (r"^##\s+Final\s+answer\b", "Write `## Final answer` at the top."),
        (r"^##\s+Findings\b", r"It must match ^##\s+Findings\b to pass."),
        (r"^##\s+Findings\b", r"It must match `##\\s+Findings` to pass."),
        (r"\b\d{4}-\d{2}-\d{2}\b", r"Dates have the form `\d{4}-\d{2}-\d{2}`."),
        (r"Total(?:\s+amount)?:\s*[Ii]nvoice total due.*", "print Invoice total due"),
        ("order_total", "Give the field `order_total`."),
        (r"\border\_total\s*=", r"Set order\_total first"),
        ("RULE_A7x", "always follow rule_a7x"),
        (
            "The reply names the refund window in days. It cites the policy by its number.",
            "- the reply names the *refund window* in days",
        ),
        (
            "The reply names the refund window in days. It cites the policy by its number.",
            "it cites the Policy by its number!",
        ),
        ("最终答案和理由", "请写出最终答案和理由。"),
    ],
)
def test_grader_text_is_found(grader: str, skill: str) -> None:
    (leak,) = graders(grader).find(skill)
    assert (leak.kind, leak.source) == ("grader", "task t0, check")


@pytest.mark.parametrize(
    "grader",
    [
        r"\d+",
        r"[A-Z]+",
        r"[A-Za-z0-9]+",
        ".*",
        "yes",
        "Findings",
        r"^Findings?:",
        "in the summary",
        "for example",
        "step-by-step",
        "and/or",
        "a b c d e f",
        "(yes|no)",
        "",
        " ",
        "[",
        "(",
        "\\",
        "a{",
        "don't",
        "approximately",
    ],
)
def test_trivial_grader_text_is_no_secret(grader: str) -> None:
    skill = (
        f"{grader} Findings: yes, in the summary, for example step-by-step 12 and/or a b c d e f approximately don't"
    )
    assert graders(grader).find(skill) == ()


@pytest.mark.parametrize(
    ("pattern", "parts"),
    [
        (r"^##\s+Final\s+answer\b", ["## Final answer"]),
        (r"\bFinal answers?:", ["Final answer"]),
        (r"Results?\s*Overview", ["Overview"]),
        (r"(?i)(?P<a>Summary of|Overview of) results{2}", ["Summary of", "Overview of"]),
        (r"(?!Executive summary)(?<=long text)", ["Executive summary", "long text"]),
        (r"[Rr]esult[.]{1}Tables[\s]+here", ["Tables here"]),
        (r"[^a]bcdefgh", []),
        (r"[]a]12345678", ["12345678"]),
        (r"Total+ amount.of (?:the )?invoice", ["the invoice"]),
        (r"price \$\d+ per litre\.", ["per litre."]),
        ("unclosed [set of words", ["unclosed [set of words"]),
    ],
)
def test_literal_parts_of_a_pattern(pattern: str, parts: list[str]) -> None:
    assert list(literal_parts(pattern)) == parts


@given(st.text("ab .+*?[](){}|^$\\-#&~_", min_size=8, max_size=20))
def test_an_escaped_text_is_its_own_literal_part(text: str) -> None:
    plain = " ".join(text.split())
    assert list(literal_parts(re.escape(text))) == ([plain] if len(plain) >= 8 else [])


@given(st.text(max_size=30), st.text(max_size=30))
def test_any_grader_text_is_accepted(grader: str, skill: str) -> None:
    assert isinstance(graders(grader).find(skill), tuple)


def test_rules_of_distinctiveness() -> None:
    assert phrase_counts(["next", "steps"])
    assert not phrase_counts(["the", "findings"])
    assert [
        text for text in ("snake_case", "x@example", "camelCase", "version2", "a::bcdefg") if not is_code(text)
    ] == []
    assert [text for text in ("some_long text", "well-known", "Findings:", "a_b") if is_code(text)] == []
    assert verbatim_pattern(r"^(?:Answer|Result):\s*.+$") == r"(?:Answer|Result):\s*.+"
    assert verbatim_pattern("What is the result?") == ""


# --- references of val and test tasks ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reference", "skill"),
    [
        ("New York City", "The answer may be **new york** city."),
        ("Constantinople", "Say CONSTANTINOPLE."),
        ("15 January 2026", "on 15 january, 2026"),
        ("2026-01-15 10:30", "at 2026/01/15 10:30"),
        ("1234567890123", "it is 1,234,567,890,123 units"),
        ("1,234,567,890", "it is 1234567890 units"),
        ("1 234 567 890", "it is 1 234 567 890 units"),
        ("O'Neill & Sons, Ltd.", "o’neill sons ltd"),
        ("ΑΛΦΑΒΗΤΙΚΟΣ ΚΑΤΑΛΟΓΟΣ", "αλφαβητικος καταλογος"),
        (
            "Paris is the capital of France and has been since the tenth century",
            "capital of France and has been since the",
        ),
        ("贝加尔湖西岸", "答案是贝加尔湖西岸。"),
    ],
)
def test_a_held_out_reference_is_found(reference: str, skill: str) -> None:
    (leak,) = references(reference).find(skill)
    assert (leak.kind, leak.source) == ("reference", "val task t0, answer")


@pytest.mark.parametrize(
    ("reference", "skill"),
    [
        ("Paris", "Paris"),
        ("A, B and C", "a, b and c"),
        ("2026-01-15", "2026-01-15"),
        ("3.14159", "3.14159"),
        ("because of this", "because of this"),
        ("1 2 3 4 5 6 7 8", "1 2 3 4 5 6 7 8 9"),
        ("New York City", "New York cityscape"),
        ("New York City", "New York, the City"),
        ("Constantinople", "Constantinopolean"),
        ("[Paris](https://example.org/paris-city-of-light)", "Paris"),
        ("<b>Rome</b> <i>Italy</i>", "Rome, Italy"),
        ("", "anything"),
    ],
)
def test_common_or_partial_references_are_not(reference: str, skill: str) -> None:
    assert references(reference).find(skill) == ()


def test_rule_for_references_reads_words_with_letters() -> None:
    assert reference_counts(["new", "york", "city"])
    assert not reference_counts(["10", "km", "5"])
    assert reference_counts(["1234567", "12345"])


# --- the index --------------------------------------------------------------------------------------------------


ALL = "Next steps. New York City. " + SPAN


@pytest.mark.parametrize("off", sorted(LEAK_KINDS))
def test_each_kind_has_its_own_switch(off: LeakKind) -> None:
    given_texts = ([("Next steps", "g")], [(TASK, "t")], [("New York City", "r")])
    index = LeakIndex.build(*given_texts, kinds=LEAK_KINDS - {off})
    assert set(kinds(index.find(ALL))) == LEAK_KINDS - {off}
    assert LeakIndex.build(*given_texts, kinds=()).find(ALL) == ()
    assert kinds(LeakIndex.build(*given_texts).find(ALL)) == ["grader", "reference", "span"]


def test_built_from_secrets() -> None:
    index = LeakIndex([Secret("reference", "New York City", "test task q, answer")])
    assert [leak.source for leak in index.find(ALL)] == ["test task q, answer"]


def test_nothing_to_look_for() -> None:
    assert LeakIndex.build().find(ALL) == ()


def test_only_what_a_change_adds_is_new() -> None:
    index = LeakIndex.build([("Next steps", "g")], [(TASK, "t")], [("New York City", "r"), ("Lake Baikal shore", "r2")])
    assert new_leaks(index, ALL, f"{ALL} And more.") == ()
    assert new_leaks(index, ALL, f"{SPAN.upper()} -- moved and repeated: {ALL}") == ()
    after = f"{ALL} Lake Baikal shore."
    (leak,) = new_leaks(index, ALL, after)
    assert after[leak.start : leak.end] == "Lake Baikal shore"
    assert kinds(new_leaks(index, "", ALL)) == ["grader", "reference", "span"]


def test_a_span_that_grows_is_new() -> None:
    index = spans(TASK)
    after = f"{SPAN} Sea"
    (leak,) = new_leaks(index, SPAN, after)
    assert after[leak.start : leak.end] == "carries the most water into the Caspian Sea"


def test_a_span_that_is_completed_by_a_small_edit_is_new() -> None:
    before = SPAN.replace("water", "mud")
    assert spans(TASK).find(before) == ()
    assert kinds(new_leaks(spans(TASK), before, SPAN)) == ["span"]


def test_the_reason_says_less_than_the_edit() -> None:
    index = LeakIndex.build(
        [("Next steps", "t1, check")],
        [(TASK, "t2, input")],
        [("New York City", "val task t3"), ("New York City Hall", "t4")],
    )
    skill = f"Next steps: {SPAN}, then New York City Hall."
    for leak in index.find(skill):
        shown = leak.excerpt.removesuffix("…")
        assert leak.reason.endswith(f': "{leak.excerpt}"')
        assert skill[leak.start :].startswith(shown)
        assert leak.source not in leak.reason
        assert not re.search("Next steps|New York City|every year|Caspian", leak.reason)


@given(st.lists(WORDS, min_size=3, max_size=7), st.data())
def test_an_excerpt_never_holds_the_whole_secret(words: list[str], data: st.DataObject) -> None:
    index = references(" ".join(words), " ".join(words[:3]))
    for leak in index.find(data.draw(dressed(words))):
        assert references(" ".join(words[:3])).find(leak.reason) == ()


def test_an_excerpt_is_one_printable_line() -> None:
    (leak,) = references("New York City").find("new\x1b[\r\n\tYork  " + "\n" * 20 + "City")
    assert leak.excerpt.isprintable()


def test_ordinary_prose_is_left_alone() -> None:
    index = LeakIndex.build(
        [("Next steps", "g"), (r"\bFinal\s+Answer:\s*\d+", "g"), ("The reply must be polite and short.", "g")],
        [(TASK, "t"), ("Use the context below to answer the question in one word.", "t")],
        [("New York City", "r"), ("Constantinople", "r"), ("15 January 2026", "r")],
    )
    assert index.find(ENGLISH) == ()


class Counting(Windows):
    """Windows that count how often they are asked."""

    def __init__(self, texts: object = ()) -> None:
        super().__init__(texts)  # type: ignore[arg-type]
        self.asked = 0

    def owner(self, key: int) -> int | None:
        self.asked += 1
        return super().owner(key)


@pytest.mark.parametrize("tasks", [1, 300])
def test_work_grows_with_the_skill_and_not_with_the_tasks(monkeypatch: pytest.MonkeyPatch, tasks: int) -> None:
    monkeypatch.setattr("skillgit.skills.leaks_net.Windows", Counting)
    index = spans(*(" ".join(f"w{task}x{at}" for at in range(20)) for task in range(tasks)))
    windows = index._nets["span"].windows
    assert isinstance(windows, Counting)
    for words in (100, 200, 400):
        windows.asked = 0
        index.find("same " * words)
        assert windows.asked == words - 7


def test_a_span_is_stored_once_and_phrases_have_few_lengths() -> None:
    index = spans(*[TASK] * 50)
    assert len(index._nets["span"].windows) == len(split_words(TASK)) - 7
    many = references(*(" ".join(f"word{at}" for at in range(size)) for size in range(3, 60)))
    assert max(many._nets["reference"].lengths) == 7
