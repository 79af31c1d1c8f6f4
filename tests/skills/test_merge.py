"""Merging skills by rule: what merges cleanly, what conflicts and how that looks, and what is left to git."""

from __future__ import annotations

import pytest

from skillgit.skills.document import Document
from skillgit.skills.merge.documents import Merged, NotUnderstoodError, merge

BASE = """\
---
name: x
description: Answers.
---

# Top

Intro for all.

## Style

Write so:
- Answer in lower case always.
- Use short words in answers.
- Never apologise to the user.

## Steps

1. Read the question twice.
2. Write the answer.

```
one = 1

two = 2
```

<!-- SLOW_UPDATE_START -->
guide one
guide two
<!-- SLOW_UPDATE_END -->

<!-- APPENDIX_START -->
## Notes

- kept
<!-- APPENDIX_END -->
"""
LAST = "- Never apologise to the user.\n"


def merged(ours: str, theirs: str, base: str = BASE, size: int = 7) -> Merged:
    """The merge, made both ways round."""
    result = merge(Document(base), Document(ours), Document(theirs), size)
    other = merge(Document(base), Document(theirs), Document(ours), size)
    assert result.conflicts == other.conflicts
    assert result.conflicts or result == other
    return result


def changed(*swaps: tuple[str, str], base: str = BASE) -> str:
    for old, new in swaps:
        assert base.count(old) == 1, old
        base = base.replace(old, new)
    return base


def after(line: str, new: str, base: str = BASE) -> str:
    return changed((line, line + new), base=base)


CLEAN = {
    "both append to a list": (after(LAST, "- B.\n"), after(LAST, "- A.\n"), after(LAST, "- A.\n- B.\n")),
    "both append the same": (after(LAST, "- A.\n"), after(LAST, "- A.\n"), after(LAST, "- A.\n")),
    "one rule in common": (after(LAST, "- A.\n- C.\n"), after(LAST, "- B.\n- C.\n"), after(LAST, "- A.\n- B.\n- C.\n")),
    "the same with another list marker": (
        after(LAST, "- A.\n- B.\n"),
        after(LAST, "* A.\n"),
        after(LAST, "- A.\n- B.\n"),
    ),
    "neighbours reworded": (
        changed(("lower case always", "upper case always")),
        changed(("short words", "long words")),
        changed(("lower case always", "upper case always"), ("short words", "long words")),
    ),
    "neighbours reworded and deleted": (
        changed(("lower case always", "upper case always")),
        changed(("- Use short words in answers.\n", "")),
        changed(("lower case always", "upper case always"), ("- Use short words in answers.\n", "")),
    ),
    "both reword alike": (
        changed(("lower case", "upper case")),
        changed(("lower case", "upper case")),
        changed(("lower case", "upper case")),
    ),
    "moved here and reworded there": (
        changed((LAST, ""), ("- Answer in lower", LAST + "- Answer in lower")),
        changed(("apologise to the user", "apologise to the user twice")),
        changed((LAST, ""), ("- Answer in lower", "- Never apologise to the user twice.\n- Answer in lower")),
    ),
    "a section renamed here and grown there": (
        changed(("## Style", "## Manner")),
        after(LAST, "- A.\n"),
        after(LAST, "- A.\n", changed(("## Style", "## Manner"))),
    ),
    "both add a section of the same title": (
        changed(("## Steps\n", "## New\n\n- A.\n\n## Steps\n")),
        changed(("## Steps\n", "## New\n\n- B.\n\n## Steps\n")),
        changed(("## Steps\n", "## New\n\n- A.\n- B.\n\n## Steps\n")),
    ),
    "both add sections": (
        changed(("## Steps\n", "## Z\n\n- A.\n\n## Steps\n")),
        changed(("## Steps\n", "## Y\n\n- B.\n\n## Steps\n")),
        changed(("## Steps\n", "## Y\n\n- B.\n\n## Z\n\n- A.\n\n## Steps\n")),
    ),
    "a section before the regions and a text at the end": (
        changed(("\n<!-- SLOW_UPDATE_START", "\n## New\n\n- A.\n\n<!-- SLOW_UPDATE_START")),
        changed(("\n<!-- SLOW_UPDATE_START", "\nLast words.\n\n<!-- SLOW_UPDATE_START")),
        changed(("\n<!-- SLOW_UPDATE_START", "\nLast words.\n\n## New\n\n- A.\n\n<!-- SLOW_UPDATE_START")),
    ),
    "paragraphs do not run together": (
        after("Intro for all.\n", "\nMore B.\n"),
        after("Intro for all.\n", "\nMore A.\n"),
        after("Intro for all.\n", "\nMore A.\n\nMore B.\n"),
    ),
    "a list stays with its lead-in": (
        after(LAST, "\nAlways:\n- A.\n- B.\n"),
        after(LAST, "\nAlways:\n- A.\n- C.\n"),
        after(LAST, "\nAlways:\n- A.\n- B.\n\nAlways:\n- A.\n- C.\n"),
    ),
    "an item goes to the list above before a new text does": (
        after(LAST, "\nA text.\n"),
        after(LAST, "- Z.\n"),
        after(LAST, "- Z.\n\nA text.\n"),
    ),
    "numbers go on": (
        after("2. Write the answer.\n", "3. B.\n"),
        after("2. Write the answer.\n", "3. A.\n4. C.\n"),
        after("2. Write the answer.\n", "3. A.\n4. C.\n5. B.\n"),
    ),
    "lines of one code block": (
        changed(("one = 1", "one = 11")),
        changed(("two = 2", "two = 22")),
        changed(("one = 1", "one = 11"), ("two = 2", "two = 22")),
    ),
    "two keys of the frontmatter": (
        changed(("Answers.", "Answers well.")),
        after("description: Answers.\n", "license: MIT\nmetadata:\n  a: b\n"),
        changed(("Answers.\n", "Answers well.\nlicense: MIT\nmetadata:\n  a: b\n")),
    ),
    "slow guidance of one side": (
        changed(("guide one", "guide new")),
        after(LAST, "- A.\n"),
        after(LAST, "- A.\n", changed(("guide one", "guide new"))),
    ),
    "reminders of both": (
        after("- kept\n", "- B\n- C\n"),
        after("- kept\n", "- A\n- C\n"),
        after("- kept\n", "- A\n- B\n- C\n"),
    ),
    "a reminder dropped and one added": (
        changed(("- kept\n", "- kept in short\n")),
        after("- kept\n", "- A\n"),
        changed(("- kept\n", "- A\n- kept in short\n")),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CLEAN)
def test_it_merges_cleanly(case: str) -> None:
    ours, theirs, wanted = CLEAN[case]
    assert merged(ours, theirs) == Merged(wanted)


def conflict(ours: str, theirs: str, size: int = 7) -> str:
    return f"{'<' * size} ours\n{ours}{'=' * size}\n{theirs}{'>' * size} theirs\n"


def test_two_rewordings_of_a_rule_conflict_there_only() -> None:
    ours, theirs = (changed(("lower case always", f"{case} case always")) for case in ("upper", "any"))
    both = conflict("- Answer in upper case always.\n", "- Answer in any case always.\n", 9)
    assert merged(ours, theirs, size=9) == Merged(changed(("- Answer in lower case always.\n", both)), 1)


def test_a_rule_deleted_and_reworded_conflicts() -> None:
    ours, theirs = changed((LAST, "")), changed(("apologise to the user", "apologise to the user twice"))
    wanted = changed((LAST, conflict("", "- Never apologise to the user twice.\n")))
    assert merged(ours, theirs) == Merged(wanted, 1)


def test_what_is_put_in_the_place_of_a_reworded_rule_stays_out_of_the_conflict() -> None:
    """It may be a lesson of its own, which nobody should lose by choosing the other side."""
    ours, theirs = (
        changed((LAST, "- Something else.\n")),
        changed(("apologise to the user", "apologise to the user twice")),
    )
    both = "- Something else.\n" + conflict("", "- Never apologise to the user twice.\n")
    assert merged(ours, theirs) == Merged(changed((LAST, both)), 1)


def test_two_new_rules_in_the_place_of_one_conflict() -> None:
    ours, theirs = changed((LAST, "- Something else.\n")), changed((LAST, "- Be kind when asked.\n"))
    wanted = changed((LAST, conflict("- Something else.\n", "- Be kind when asked.\n")))
    assert merged(ours, theirs) == Merged(wanted, 1)


def test_a_section_deleted_and_grown_conflicts_as_a_whole() -> None:
    section = BASE[BASE.index("## Style") : BASE.index("\n## Steps")]
    grown = after(LAST, "- A.\n", section)
    result = merged(changed((f"{section}\n", "")), changed((section, grown)))
    assert result == Merged(changed((section, conflict("", grown))), 1)


def test_lines_that_both_changed_alike_are_outside_the_conflict() -> None:
    ours, theirs = (changed(("one = 1\n\ntwo = 2", f"one = 9\n\ntwo = {two}")) for two in "34")
    wanted = changed(("one = 1\n\ntwo = 2\n", f"one = 9\n\n{conflict(f'two = 3{chr(10)}', f'two = 4{chr(10)}')}"))
    assert merged(ours, theirs) == Merged(wanted, 1)


def test_a_key_of_the_frontmatter_conflicts_around_its_lines() -> None:
    ours, theirs = changed(("Answers.", "A.")), changed(("Answers.", "B.\nlicense: MIT"))
    wanted = changed(
        ("description: Answers.\n", f"{conflict(*(f'description: {x}.{chr(10)}' for x in 'AB'))}license: MIT\n")
    )
    assert merged(ours, theirs) == Merged(wanted, 1)


def test_slow_guidance_conflicts_as_a_whole_and_never_by_line() -> None:
    ours, theirs = changed(("guide one", "guide a")), changed(("guide two", "guide b"))
    wanted = changed(("guide one\nguide two\n", conflict("guide a\nguide two\n", "guide one\nguide b\n")))
    assert merged(ours, theirs) == Merged(wanted, 1)


@pytest.mark.parametrize("form", ["crlf", "bom", "no final newline", "all"])
def test_the_form_of_the_file_stays(form: str) -> None:
    def formed(text: str) -> str:
        text = text.removesuffix("\n") if form in ("no final newline", "all") else text
        text = text.replace("\n", "\r\n") if form in ("crlf", "all") else text
        return "\ufeff" + text if form in ("bom", "all") else text

    for ours, theirs, wanted in CLEAN.values():
        assert merged(*(formed(text) for text in (ours, theirs, BASE))) == Merged(formed(wanted))


def test_a_change_of_line_endings_wins() -> None:
    ours, theirs = BASE.replace("\n", "\r\n"), after(LAST, "- A.\n")
    assert merged(ours, theirs) == Merged(theirs.replace("\n", "\r\n"))


def test_a_conflict_is_written_in_the_line_endings_of_the_file() -> None:
    texts = [changed(("lower", word)).replace("\n", "\r\n") for word in ("upper", "any")]
    result = merged(*texts, BASE.replace("\n", "\r\n"))
    assert result.conflicts == 1
    assert result.text.count("\n") == result.text.count("\r\n")


@pytest.mark.parametrize(
    ("ours", "why"),
    [
        (changed(("<!-- SLOW_UPDATE_END -->\n", "")), "never ends"),
        (changed(("Answers.\n---\n", "Answers.\n")), "never closed"),
        (after(LAST, conflict("- a\n", "- b\n")), "conflict markers"),
        (after(LAST, "- a\r- b\n"), "carriage return"),
        (changed(("---\nname: x\ndescription: Answers.\n---\n", "")), "removed the frontmatter"),
        (changed(("description: Answers.", "description: [")), "cannot be read"),
        (
            changed(
                ("Write so:\n", ""), ("- Answer in lower case always.\n- Use short words in answers.\n" + LAST, "")
            ),
            "leads in",
        ),
    ],
)
def test_what_is_not_understood_is_said(ours: str, why: str) -> None:
    theirs = after(LAST, "- A.\n", changed(("Answers.", "Answers well.")))
    with pytest.raises(NotUnderstoodError, match=why):
        merged(ours, theirs)


@pytest.mark.parametrize("ours", [BASE, "", "# Damaged\n<!-- APPENDIX_END -->\n", "---\nname: x\n"])
def test_a_side_without_change_has_no_say_even_in_what_is_not_understood(ours: str) -> None:
    assert merged(ours, BASE) == merged(ours, ours) == Merged(ours)


def test_what_was_merged_before_is_not_doubled() -> None:
    """A branch that already has some of our rules, in an order of its own, merges again without a copy of any."""
    ours, theirs = after(LAST, "- A.\n", changed(("- Use short words in answers.\n", ""))), after(LAST, "- B.\n")
    once = merged(ours, theirs).text
    assert merged(once, theirs).text == merged(once, ours).text == once


def test_a_section_that_one_side_cut_in_two_conflicts_no_more_than_by_lines() -> None:
    """A new heading moves the rules below it to another section, while the other side rewords one of them."""
    ours = BASE.replace("- Use short", "\n## Manners\n\n- Use short")
    theirs = changed(("Never apologise to the user.", "Never apologise to the user twice."))
    assert merged(ours, theirs) == Merged(ours.replace("to the user.", "to the user twice."))
    assert merged(theirs, ours) == merged(ours, theirs)


def test_a_region_is_not_mixed_by_lines() -> None:
    ours = changed(("guide one", "guide 1"), ("- Never apologise", "\n## Manners\n\n- Never apologise"))
    theirs = changed(("guide two", "guide 2"), ("to the user.", "to the user twice."))
    assert merged(ours, theirs).conflicts > 1


def test_text_that_repeats_without_end_is_left_to_git_at_once() -> None:
    base = "# T\n\n" + "- x\n" * 1500
    with pytest.raises(NotUnderstoodError, match="too many equal"):
        merged(base + "- a\n", base + "- b\n", base)


def test_a_long_paragraph_takes_no_longer_than_a_short_one() -> None:
    base = "word " * 20_000 + "\n"
    assert merged(base.replace("word", "werd", 1), base + "\nMore.\n", base).conflicts == 0
