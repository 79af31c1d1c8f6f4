"""What is mended: few bytes, the same rendering, nothing protected, and nothing left to do the second time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from skillgit.skills.document import Document
from skillgit.skills.lint.fixes import FIXABLE, fixed
from tests.skills.lint.helpers import HEAD, found

PIECES = [
    *(
        "# Title",
        "- item",
        "  - nested",
        "1. one",
        "text",
        "more text",
        "> quote",
        "```",
        "~~~",
        "    code",
        "---",
        "===",
    ),
    *(
        "<div>",
        "</div>",
        "<!--",
        "-->",
        "| a | b |",
        "|---|---|",
        "[a]: b",
        "*",
        "",
        "a\\",
        "- ",
        "\t",
        "  ",
        "`a",
        "b`",
        "\u00a0",
    ),
    *("<!-- SLOW_UPDATE_START -->", "<!-- SLOW_UPDATE_END -->", "<!-- APPENDIX_START -->", "<!-- APPENDIX_END -->"),
]
LINES = st.builds(
    lambda piece, space, end: piece + space + end,
    st.sampled_from(PIECES),
    st.sampled_from(["", "", " ", "  ", "   ", "\t", " \t "]),
    st.sampled_from(["\n", "\n", "\r\n"]),
)
VALUES = st.sampled_from(
    ["Fills forms.", "Use when: asked", "it's: so", 'say "a": b', "a: b # c", "back\\slash: x", "end:"]
)
HEADS = st.builds(
    lambda bom, first, second, newline: newline.join(
        [f"{bom}---", f"name: {first}", f"description: {second}", "---", ""]
    ),
    st.sampled_from(["", "\ufeff"]),
    st.sampled_from(["demo", "de: mo"]),
    VALUES,
    st.sampled_from(["\n", "\r\n"]),
)
TEXTS = st.builds(
    lambda head, lines, cut: (head + "".join(lines))[: -cut or None], HEADS, st.lists(LINES), st.integers(0, 2)
)


def faults(text: str) -> list[tuple[str, str]]:
    return sorted((finding.rule, finding.message) for finding in found(text))


def render(text: str) -> str:
    shown = str(MarkdownIt("commonmark").render(text[Document(text).body_start :].rstrip("\r\n") + "\n"))
    # Code that was never closed ends with the file.
    return shown.rstrip("\n").replace("\n</code>", "</code>")


@given(TEXTS)
def test_mending_is_complete_and_happens_once(text: str) -> None:
    after = fixed(Document(text), FIXABLE)
    assert fixed(after, FIXABLE) == after
    left = found(after.text)
    assert not [finding for finding in left if finding.fixable and finding.rule != "unquoted-colon"]


@given(TEXTS)
def test_mending_brings_no_finding_that_the_frontmatter_did_not_hide(text: str) -> None:
    before, after = found(text), found(fixed(Document(text), FIXABLE).text)
    if not any(finding.rule.startswith(("frontmatter", "unquoted", "byte")) for finding in before):
        assert {finding.rule for finding in after} <= {finding.rule for finding in before}


@given(TEXTS)
def test_mending_keeps_what_is_rendered_and_what_is_protected(text: str) -> None:
    before, after = Document(text), fixed(Document(text), FIXABLE)
    assert render(after.text) == render(text)
    kept = [before.text[region.start : region.end] for region in before.regions]
    assert [after.text[region.start : region.end] for region in after.regions] == kept
    assert [message for _, message in after.damage] == [message for _, message in before.damage]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"{HEAD}a \nb  \nc\t\n\n\td\t\n", f"{HEAD}a\nb  \nc\n\n\td\t\n"),
        (f"{HEAD}a", f"{HEAD}a\n"),
        (f"{HEAD}`a \nb` \nc\n", f"{HEAD}`a \nb`\nc\n"),
        (f"{HEAD}a  \n\u00a0\n", f"{HEAD}a  \n\u00a0\n"),
        (f"\ufeff{HEAD}", HEAD),
        (HEAD.replace("\n", "\r\n"), HEAD),
        ("---\ndescription: Use when: asked\n---\n", '---\ndescription: "Use when: asked"\n---\n'),
        ("---\ndescription: it's: so\n---\n", '---\ndescription: "it\'s: so"\n---\n'),
        ('---\ndescription: say "it\'s": so\n---\n', "---\ndescription: 'say \"it''s\": so'\n---\n"),
    ],
)
def test_each_change_is_as_small_as_it_can_be(before: str, after: str) -> None:
    assert fixed(Document(before), FIXABLE).text == after


@pytest.mark.parametrize(
    "text",
    [
        "---\ndescription: a: b\n  goes on\n---\n",
        "---\ndescription: a: b # comment\n---\n",
        "---\ndescription: |\n  a: b\n---\n",
        f"{HEAD}```\ncode \n```\n",
        f"{HEAD}<pre>\nkept \n\n</pre>\n",
        f"{HEAD}<!-- APPENDIX_START --> \r\nkept \r\n<!-- APPENDIX_END -->\r\n".replace("--> \r\n", "-->\r\n"),
        f"{HEAD}<!-- APPENDIX_START -->\nnever ended ",
        "",
    ],
)
def test_what_is_uncertain_or_protected_stays(text: str) -> None:
    assert fixed(Document(text), FIXABLE).text == text


def test_a_rule_that_is_off_mends_nothing() -> None:
    assert fixed(Document(f"{HEAD}a \nb"), {"final-newline"}).text == f"{HEAD}a \nb\n"
