"""Code spans hold any text without ending early."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from skillgit.report.diff_markdown import code, document
from skillgit.report.safe import one_line


@given(st.text(st.sampled_from("ab`|<&*_[] @#"), min_size=1, max_size=20))
def test_a_code_span_in_a_table_cell_is_one_cell_with_this_text(text: str) -> None:
    parsed = MarkdownIt("commonmark").enable("table").parse(f"| a |\n|---|\n| {code(text)} |\n")
    cells = [token for token in parsed if token.type == "inline"][1:]
    assert len(cells) == 1
    (span,) = [child for child in cells[0].children or () if child.type != "text" or child.content]
    assert span.type == "code_inline"
    assert span.content.strip() == one_line(text)


def _skill(path: str, rules: int, text: str) -> dict[str, Any]:
    none = {"before": None, "after": None, "change": None, "improved": [], "regressed": [], "tasks_known": False}
    rule = {"change": "added", "what": "item", "section": ["S"], "from": None, "before": None, "after": text}
    return {
        "path": path,
        "old_path": None,
        "status": "added",
        "scores": dict.fromkeys(("val", "test", "train"), none | {"problem": "unmeasured"}),
        "tokens": {key: {"always": 1, "on_invoke": 2, "references": 0} for key in ("before", "after")},
        "frontmatter": [],
        "rules": [rule] * rules,
        "layout": False,
        "files": [{"path": path, "change": "added", "mode": [None, "100644"]}] * rules,
    }


@given(
    st.integers(0, 700),
    st.integers(0, 300),
    st.text(st.sampled_from("ab`ü日\n"), max_size=500),
    st.text(st.sampled_from("a`|日"), min_size=1, max_size=2000),
)
@settings(max_examples=15, deadline=None)
def test_the_whole_is_bounded_and_the_last_line_counts_what_is_missing(
    skills: int, rules: int, text: str, path: str
) -> None:
    made = document([_skill(path, rules, text)] * skills)
    assert len(made.encode()) < 60_000
    shown = made.count("\n#### ")
    assert (f"the changes of {skills - shown} more skills" in made.splitlines()[-1]) == (shown < skills)
