"""Code spans hold any text without ending early."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from skillgit.report.diff_markdown import code
from skillgit.report.safe import one_line


@given(st.text(st.sampled_from("ab`|<&*_[] @#"), min_size=1, max_size=20))
def test_a_code_span_in_a_table_cell_is_one_cell_with_this_text(text: str) -> None:
    parsed = MarkdownIt("commonmark").enable("table").parse(f"| a |\n|---|\n| {code(text)} |\n")
    cells = [token for token in parsed if token.type == "inline"][1:]
    assert len(cells) == 1
    (span,) = [child for child in cells[0].children or () if child.type != "text" or child.content]
    assert span.type == "code_inline"
    assert span.content.strip() == one_line(text)
