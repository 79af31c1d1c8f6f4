"""Blocks: every byte is in one of them, and they are the rules people see."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.skills.blocks import split_blocks
from skillgit.skills.document import Document

TEXT = (
    "---\nname: x\n---\n\n# Top\n\nWrite so:\n- one\n  - nested\n\n  more\n* two\n\n## Sub\n[link]: http://e.invalid\n"
    "```\n- no item\n\n```\n> quote\n<!-- APPENDIX_START -->\n- kept\n\n# no heading\n<!-- APPENDIX_END -->\n\n"
    "Next\n====\n1. first\n\n\n"
)

_PLAIN = ("# a\n", "- x\n", "  y\n", "\n", "```\n", "> q\n", "1. n\n", "\r\n", "t", "---\n", "===\n", "| a |\n")
_MARKS = ("<!-- SLOW_UPDATE_START -->\n", "<!-- SLOW_UPDATE_END -->\n")
_ODD = ("|---|\n", *_MARKS, "\x0c\n", "\t\n", "    c\n", "\r", "\u2028")
_LINES = st.sampled_from((*_PLAIN, *_ODD))


def test_blocks_are_the_rules_people_see() -> None:
    blocks = split_blocks(Document(TEXT)).blocks
    assert [(block.kind, block.key.split("\n")[0], block.section) for block in blocks] == [
        ("head", "---", ()),
        ("heading", "# Top", ()),
        ("text", "Write so:", ("Top",)),
        ("item", "one", ("Top",)),
        ("item", "two", ("Top",)),
        ("heading", "## Sub", ("Top",)),
        ("text", "[link]: http://e.invalid", ("Top", "Sub")),
        ("text", "```", ("Top", "Sub")),
        ("text", "> quote", ("Top", "Sub")),
        ("region", "<!-- APPENDIX_START -->", ("Top", "Sub")),
        ("heading", ["Next", "===="][0], ()),
        ("item", "first", ("Next",)),
    ]
    assert [block.level for block in blocks if block.kind == "heading"] == [1, 2, 1]


def test_blank_lines_stand_before_blocks_or_at_the_end() -> None:
    found = split_blocks(Document(TEXT))
    assert found.tail == "\n\n"
    assert [block.gap for block in found.blocks[:5]] == ["", "\n", "\n", "", ""]
    assert all(TEXT[block.start :].startswith(block.text) for block in found.blocks)


@pytest.mark.parametrize("text", ["> - <!--\n>", "> 1. <pre>\n> ", "> - <pre>\n>"])
def test_html_in_a_list_in_a_quote_may_end_the_text(text: str) -> None:
    """The Markdown parser reads past the end of such a text when its last line does not end."""
    assert [(block.kind, block.text) for block in split_blocks(Document(text)).blocks] == [("text", text)]


def test_a_rule_is_the_same_whatever_its_list_marker_and_line_ending() -> None:
    keys = [split_blocks(Document(text)).blocks[0].key for text in ("- a\n  b\n", "* a  \r\n  b", "12) a\n  b\n")]
    assert keys == ["a\n  b"] * 3


@given(st.lists(_LINES, max_size=16).map("".join))
def test_no_byte_is_lost(text: str) -> None:
    found = split_blocks(Document(text))
    assert found.text == text
    assert all(block.text.strip() or block.kind == "head" for block in found.blocks)
