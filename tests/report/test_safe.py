"""Text of others cannot act on a terminal or look like something else."""

from __future__ import annotations

import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from skillgit.report.safe import json_text, one_line, visible

text = st.text(st.characters(exclude_categories=()))


@given(text)
def test_nothing_invisible_is_left(value: str) -> None:
    seen = visible(value)
    assert all(char in "\t\n" or unicodedata.category(char) not in ("Cc", "Cs") for char in seen)
    seen.encode("utf-8")
    assert visible(seen) == seen


@given(st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E)))
def test_plain_text_stays_as_it_is(value: str) -> None:
    assert visible(value) == value


@given(text, st.integers(2, 40))
def test_one_line_is_one_line_of_at_most_its_width(value: str, width: int) -> None:
    line = one_line(value, width)
    assert len(line) <= width
    assert "\n" not in line
    assert "\t" not in line


@given(st.recursive(text | st.none(), lambda inner: st.lists(inner) | st.dictionaries(text, inner), max_leaves=5))
def test_json_says_the_same_without_what_a_terminal_obeys(value: object) -> None:
    seen = json_text(value)
    assert json.loads(seen) == value
    assert all(char == "\n" or unicodedata.category(char) not in ("Cc", "Cs") for char in seen)


def test_escapes_can_be_read() -> None:
    assert visible("a\x1b[31m\r\n\u202eb\u200b") == "a\\x1b[31m\n\\u202eb\\u200b"
