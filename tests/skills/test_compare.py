"""Comparing two versions follows rules, not lines: what was added, removed, reworded and moved."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.skills.compare import Change, compare
from skillgit.skills.document import Document
from skillgit.skills.words import bag, similarity, word_changes

BASE = """---
name: mail
description: Writes mail.
---

# Mail

Write short mails.

## Dates

- Write dates as YYYY-MM-DD in every mail.
- Name the time zone of every hour.

## Tone

- Never use irony when a customer is angry.
- Say please once.
"""


def _compare(after: str, before: str = BASE) -> list[Change]:
    return list(compare(Document(before), Document(after)).changes)


def _kinds(changes: list[Change]) -> list[tuple[str, str]]:
    return [(change.kind, change.block.key) for change in changes]


def test_equal_documents_have_no_changes() -> None:
    comparison = compare(Document(BASE), Document(BASE))
    assert (comparison.fields, comparison.changes, comparison.layout) == ((), (), False)


def test_an_added_and_a_removed_rule_are_named_with_their_section() -> None:
    after = BASE.replace("- Say please once.\n", "- Close with a greeting line.\n")
    changes = _compare(after)
    assert _kinds(changes) == [("removed", "Say please once."), ("added", "Close with a greeting line.")]
    assert {change.block.section for change in changes} == {("Mail", "Tone")}


def test_a_reworded_rule_shows_its_words() -> None:
    (change,) = _compare(BASE.replace("dates as YYYY-MM-DD", "dates as DD Month YYYY"))
    assert change.kind == "reworded"
    assert [(piece.op, piece.text) for piece in change.words] == [
        ("=", "Write dates as "),
        ("-", "YYYY-MM-DD"),
        ("+", "DD Month YYYY"),
        ("=", " in every mail."),
    ]
    assert 0.5 < change.similarity < 1


def test_a_rule_that_changes_its_section_is_moved_and_nothing_else_changes() -> None:
    rule = "- Say please once.\n"
    (change,) = _compare(BASE.replace(rule, "").replace("every hour.\n", f"every hour.\n{rule}"))
    assert change.kind == "moved"
    assert change.before
    assert change.after
    assert (change.before.section, change.after.section) == (("Mail", "Tone"), ("Mail", "Dates"))
    assert change.words == ()


def test_a_rule_may_move_and_be_reworded() -> None:
    after = BASE.replace("- Say please once.\n", "").replace("hour.\n", "hour.\n- Say please only once.\n")
    assert _kinds(_compare(after)) == [("moved+reworded", "Say please only once.")]


def test_of_two_swapped_rules_one_is_moved() -> None:
    one, two = "- Write dates as YYYY-MM-DD in every mail.\n", "- Name the time zone of every hour.\n"
    (change,) = _compare(BASE.replace(one + two, two + one))
    assert change.kind == "moved"
    assert change.before
    assert change.after
    assert change.before.section == change.after.section


def test_a_renamed_heading_does_not_move_its_rules() -> None:
    assert _kinds(_compare(BASE.replace("## Dates", "## Dates and times"))) == [("reworded", "## Dates and times")]


def test_a_renamed_top_heading_moves_nothing_below_it() -> None:
    assert _kinds(_compare(BASE.replace("# Mail", "# House letters"))) == [("reworded", "# House letters")]


def test_a_section_put_elsewhere_is_one_move() -> None:
    head, dates, tone = BASE.partition("## Dates")[0], BASE.partition("## Dates")[2].partition("## Tone")[0], ""
    tone = BASE.partition("## Tone")[2]
    swapped = f"{head}## Tone{tone}\n## Dates{dates}".rstrip() + "\n"
    assert len(_compare(swapped)) == 1
    assert _compare(swapped)[0].kind == "moved"


def test_list_markers_blank_lines_and_line_endings_are_layout() -> None:
    for after in (BASE.replace("\n- ", "\n* "), BASE.replace("\n\n", "\n\n\n"), BASE.replace("\n", "\r\n")):
        comparison = compare(Document(BASE), Document(after))
        assert comparison.changes == ()
        assert comparison.layout


def test_frontmatter_keys_are_compared_by_value() -> None:
    after = BASE.replace("Writes mail.", "Writes house mail.").replace("name: mail\n", "name: mail\nlicense: MIT\n")
    fields = compare(Document(BASE), Document(after)).fields
    assert [(field.key, field.before, field.after) for field in fields] == [
        ("description", "Writes mail.", "Writes house mail."),
        ("license", None, "MIT"),
    ]


def test_frontmatter_that_cannot_be_read_is_shown_whole() -> None:
    (field,) = compare(Document(BASE), Document(BASE.replace("name: mail", "name: [mail"))).fields
    assert field.key == "frontmatter"
    assert "[mail" in field.after


@pytest.mark.parametrize(("marker", "name"), [("SLOW_UPDATE", "guidance block"), ("APPENDIX", "appendix")])
def test_protected_regions_are_named(marker: str, name: str) -> None:
    region = f"\n<!-- {marker}_START -->\n{{}}\n<!-- {marker}_END -->\n"
    (added,) = _compare(BASE + region.format("Keep the form."))
    assert (added.kind, added.what) == ("added", name)
    (reworded,) = _compare(BASE + region.format("Other words stand here now."), BASE + region.format("Keep the form."))
    assert (reworded.kind, reworded.what) == ("reworded", name)


def test_a_new_document_adds_every_block() -> None:
    changes = _compare(BASE, "")
    assert {change.kind for change in changes} == {"added"}
    assert len(changes) == 8


def test_text_without_spaces_between_words_is_compared_by_sign() -> None:
    (change,) = _compare("# 規則\n\n- 日付は年月日で書く。\n", "# 規則\n\n- 日付は月日で書く。\n")
    assert change.kind == "reworded"
    assert [piece.text for piece in change.words if piece.op == "+"] == ["年"]


def test_long_rules_are_compared_by_line() -> None:
    old = "\n".join(f"line {n} of it" for n in range(900))
    pieces = word_changes(old, old.replace("line 7 of", "line seven of"))
    assert [piece.text for piece in pieces if piece.op != "="] == ["line 7 of it\n", "line seven of it\n"]


@pytest.mark.timeout(20)
@pytest.mark.parametrize("text", ["x\n" * 30_000, "x " * 450, "ab\n" * 1900])
def test_text_made_to_be_slow_to_compare_is_not(text: str) -> None:
    after = text.replace("x", "x y").replace("b", "b c ")
    pieces = word_changes(text, after)
    assert "".join(piece.text for piece in pieces if piece.op != "-") == after


@pytest.mark.timeout(20)
def test_thousands_of_new_rules_are_removed_and_added() -> None:
    old, new = ("\n".join(f"- the rule of the {word} {n}" for n in range(1500)) for word in ("old", "new"))
    kinds = [change.kind for change in _compare(new, old)]
    assert (kinds.count("removed"), kinds.count("added"), len(kinds)) == (1500, 1500, 3000)


# --- properties

rules = st.lists(st.text("abcdefg \n-#*>`", min_size=1, max_size=24), max_size=8)
texts = st.text(st.sampled_from("ab cd\n.,-年月 \t"), max_size=40)


@given(rules, rules)
def test_every_block_is_kept_changed_or_gone_exactly_once(old: list[str], new: list[str]) -> None:
    before, after = Document("\n".join(f"- {rule}" for rule in old)), Document("\n\n".join(new))
    changes = compare(before, after).changes
    for side in ("before", "after"):
        starts = [getattr(change, side).start for change in changes if getattr(change, side)]
        assert len(starts) == len(set(starts))
    assert not any(c.kind == "reworded" and c.before and c.after and c.before.key == c.after.key for c in changes)


@given(rules)
def test_a_document_equals_itself_and_the_order_of_sides_only_swaps_them(row: list[str]) -> None:
    doc = Document("\n\n".join(row))
    assert compare(doc, doc).changes == ()
    assert len(compare(doc, Document("")).changes) == len(compare(Document(""), doc).changes)


@given(texts, texts)
def test_word_changes_lose_nothing(before: str, after: str) -> None:
    pieces = word_changes(before, after)
    assert "".join(piece.text for piece in pieces if piece.op != "+") == before
    assert "".join(piece.text for piece in pieces if piece.op != "-") == after
    assert all(piece.text for piece in pieces)


@given(texts, texts)
def test_similarity_is_a_symmetric_share(one: str, other: str) -> None:
    share = similarity(bag(one), bag(other))
    assert 0 <= share <= 1
    assert share == similarity(bag(other), bag(one))
    assert similarity(bag(one), bag(one)) == 1
