from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.errors import SkillError
from skillgit.skills.document import Document

LINES = st.sampled_from(
    ["---", "name: x", "# A", "```", "`b", "> q", "", "text", "<!-- SLOW_UPDATE_START -->", "\ufeff"]
)
ENDINGS = st.sampled_from(["\n", "\r\n", "\r", ""])


@given(st.binary() | st.text().map(str.encode))
def test_bytes_round_trip_or_are_refused(data: bytes) -> None:
    try:
        doc = Document.parse(data)
    except SkillError:
        with pytest.raises(UnicodeDecodeError):
            data.decode()
    else:
        assert doc.encode() == data


@given(st.lists(st.tuples(LINES, ENDINGS)))
def test_any_text_can_be_read_as_structure(lines: list[tuple[str, str]]) -> None:
    doc = Document("".join(line + end for line, end in lines))
    assert Document.parse(doc.encode()) == doc
    assert 0 <= doc.body_start <= len(doc.text)
    for section in doc.sections:
        assert doc.body_start <= section.start < section.end <= len(doc.text)
    for region in doc.regions:
        assert doc.body_start <= region.start < region.inner_start <= region.inner_end < region.end
    assert all(line >= 1 for line, _ in doc.damage)


def test_bad_utf8_names_the_byte() -> None:
    with pytest.raises(SkillError, match=r"SKILL\.md: not UTF-8 text: byte 3 is 0xff"):
        Document.parse(b"abc\xff", where="SKILL.md")


@pytest.mark.parametrize(
    ("text", "newline"),
    [("", "\n"), ("a", "\n"), ("a\r\nb\r\nc\n", "\r\n"), ("a\rb\r", "\r"), ("a\nb\r\n", "\n")],
)
def test_newline_is_the_one_used_most(text: str, newline: str) -> None:
    assert Document(text).newline == newline


class TestFrontmatter:
    def test_values_stay_strings(self) -> None:
        doc = Document("---\nname: x\nversion: 1.10\non: yes\nmetadata:\n  tags: [1, 2]\n---\n# Body\n")
        assert doc.frontmatter == {
            "name": "x",
            "version": "1.10",
            "on": "yes",
            "metadata": {"tags": ["1", "2"]},
        }
        assert doc.text[doc.body_start :] == "# Body\n"

    @pytest.mark.parametrize(
        "text", ["", "# A\n", "---\n\ntext\n", "---\n---\n", "---\n# note\n---\n", " ---\nname: x\n---\n"]
    )
    def test_absent_or_empty(self, text: str) -> None:
        assert Document(text).frontmatter == {}

    @pytest.mark.parametrize("text", ["\ufeff---\r\nname: x\r\n---\r\nbody", "---\rname: x\r--- \rbody"])
    def test_byte_order_mark_and_any_line_ending(self, text: str) -> None:
        doc = Document(text)
        assert doc.frontmatter == {"name": "x"}
        assert doc.text[doc.body_start :] == "body"

    def test_byte_order_mark_is_not_body(self) -> None:
        assert Document("\ufeff# A\n").body_start == 1

    @pytest.mark.parametrize(
        ("text", "line", "message"),
        [
            ("---\nname: x\nname: y\n---\n", 3, "`name` is given twice"),
            ("---\na: 1\nm:\n  b: 1\n  b: 2\n---\n", 5, "`b` is given twice"),
            ("---\nname: x\nbad: [\n---\n", 4, "cannot be read"),
            ("---\nname: x\n", 1, "never closed"),
            ("---\njust text\n---\n", 2, "not a set of"),
            ("---\n- a\n---\n", 2, "not a set of"),
            ("---\nname: x\nb: \x01\n---\n", 3, "cannot be read"),
            ("---\na: &x\n  b: *x\n---\n", 2, "cannot be read"),
            ("---\n? [a]\n: b\n---\n", 2, "cannot be read"),
            (f"---\na: {'[' * 5000}\n---\n", 2, "frontmatter"),
        ],
    )
    def test_malformed_names_the_line(self, text: str, line: int, message: str) -> None:
        with pytest.raises(SkillError) as caught:
            _ = Document(text, where="SKILL.md").frontmatter
        assert caught.value.where == f"SKILL.md:{line}"
        assert message in str(caught.value)

    def test_malformed_frontmatter_does_not_hide_the_body(self) -> None:
        assert [s.title for s in Document("---\na: [\n---\n# T\n").sections] == ["T"]


class TestSections:
    def test_spans_nest_by_level(self) -> None:
        text = "---\nname: x\n# not: a heading\n---\nintro\n# One\na\n## Two\nb\n# Three\nc"
        found = [(s.level, s.title, text[s.start : s.end]) for s in Document(text).sections]
        assert found == [
            (1, "One", "# One\na\n## Two\nb\n"),
            (2, "Two", "## Two\nb\n"),
            (1, "Three", "# Three\nc"),
        ]

    def test_setext_and_other_line_endings(self) -> None:
        text = "\ufeffBig\r\ntitle\r\n===\r\ntext\r\nSmall\r\n---\r\n"
        found = [(s.level, s.title, text[s.start : s.end]) for s in Document(text).sections]
        assert found == [(1, "Big title", text[1:]), (2, "text Small", "text\r\nSmall\r\n---\r\n")]

    def test_code_comments_quotes_and_lists_have_none(self) -> None:
        text = "```\n# a\n```\n\n    # b\n\n<!--\n# c\n-->\n\n> # d\n\n- # e\n"
        assert Document(text).sections == ()


SLOW = "<!-- SLOW_UPDATE_START -->\nguidance\n<!-- SLOW_UPDATE_END -->"
APPENDIX = "<!-- APPENDIX_START -->\n- note\n<!-- APPENDIX_END -->"


class TestRegions:
    def test_both_kinds_in_any_order(self) -> None:
        doc = Document(f"# A\n\n{APPENDIX}\n\n{SLOW}\n")
        assert [region.kind for region in doc.regions] == ["APPENDIX", "SLOW_UPDATE"]
        assert [doc.text[r.start : r.end] for r in doc.regions] == [APPENDIX, SLOW]
        assert doc.text[doc.regions[1].inner_start : doc.regions[1].inner_end] == "\nguidance\n"
        assert doc.damage == ()

    @pytest.mark.parametrize(
        "text",
        [
            f"```\n{SLOW}\n```\n",
            f"~~~~md\n{SLOW}\n~~~\n~~~~\n",
            f"```\n{SLOW}\n",
            "    " + SLOW.replace("\n", "\n    "),
            "Use `<!-- SLOW_UPDATE_START -->` to begin.\n",
            "> Use ``a ` <!-- SLOW_UPDATE_START -->``\n> and `<!-- SLOW_UPDATE_END -->`.\n",
            "- ```\r\n  <!-- SLOW_UPDATE_START -->\r\n  ```\r\n",
            "## About `<!-- APPENDIX_END -->`\n",
            "[see `<!-- APPENDIX_END -->`](x)\n",
            "<!-- slow_update_start --> <!--SLOW_UPDATE_START-->\n",
        ],
    )
    def test_text_in_code_is_no_marker(self, text: str) -> None:
        doc = Document(text)
        assert (doc.regions, doc.damage) == ((), ())

    def test_marker_beside_a_quoted_one_counts(self) -> None:
        doc = Document("`<!-- APPENDIX_START -->` is opened by <!-- APPENDIX_START --> a ` b <!-- APPENDIX_END -->\n")
        assert [doc.text[r.inner_start : r.inner_end] for r in doc.regions] == [" a ` b "]

    @pytest.mark.parametrize(
        ("text", "damage"),
        [
            ("a\n<!-- SLOW_UPDATE_START -->\nb\n", [(2, "SLOW_UPDATE region never ends")]),
            ("a\n\n<!-- APPENDIX_END -->\nb\n", [(3, "APPENDIX region ends without a beginning")]),
            (f"{SLOW}\n\n{SLOW}\n", [(5, "second SLOW_UPDATE region")]),
            (SLOW.replace("guidance", "<!-- SLOW_UPDATE_START -->"), [(2, "SLOW_UPDATE region begins again")]),
            (SLOW.replace("guidance", APPENDIX), [(2, "APPENDIX region begins inside another region")]),
            (f"```\n{SLOW}\n```\n<!-- SLOW_UPDATE_END -->\n", [(6, "SLOW_UPDATE region ends without a beginning")]),
        ],
    )
    def test_damage_is_named(self, text: str, damage: list[tuple[int, str]]) -> None:
        assert list(Document(text).damage) == damage
