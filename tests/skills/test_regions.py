from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.errors import SkillError
from skillgit.skills.document import Document
from skillgit.skills.regions import region_text, set_region

SLOW = "<!-- SLOW_UPDATE_START -->\nguidance\n<!-- SLOW_UPDATE_END -->"
APPENDIX = "<!-- APPENDIX_START -->\n- note\n<!-- APPENDIX_END -->"
PIECES = st.sampled_from(
    ["x", "\n", "\r\n", "```", "~~~", "`", "- ", "    ", "---\n", "<!-- ", "<script>", "> ", "# A"]
)


def test_reading() -> None:
    doc = Document(f"# A\n{SLOW}\n{APPENDIX}\n")
    assert region_text(doc, "SLOW_UPDATE") == "guidance"
    assert region_text(doc, "APPENDIX") == "- note"
    assert region_text(Document("# A\n"), "APPENDIX") == ""


def test_replaced_where_it_stands() -> None:
    doc = set_region(Document(f"# A\n\n{SLOW}\n\nlast  \n{APPENDIX}"), "SLOW_UPDATE", " new\nlines \n")
    assert doc.text == f"# A\n\n{SLOW.replace('guidance', 'new' + chr(10) + 'lines')}\n\nlast  \n{APPENDIX}"


def test_emptied_but_not_moved() -> None:
    doc = set_region(Document(f"{SLOW}\ntail"), "SLOW_UPDATE", "")
    assert doc.text == "<!-- SLOW_UPDATE_START -->\n<!-- SLOW_UPDATE_END -->\ntail"
    assert set_region(doc, "SLOW_UPDATE", "guidance").text == f"{SLOW}\ntail"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", f"{SLOW}\n"),
        ("# A", f"# A\n\n{SLOW}\n"),
        ("# A\n", f"# A\n\n{SLOW}\n"),
        ("# A\n\n", f"# A\n\n{SLOW}\n"),
        ("# A\r\nb\r\n", f"# A\nb\n\n{SLOW}\n".replace("\n", "\r\n")),
        ("```\ncode", f"```\ncode\n```\n\n{SLOW}\n"),
        (f"{APPENDIX}\n", f"{APPENDIX}\n\n{SLOW}\n"),
    ],
)
def test_added_at_the_end(before: str, after: str) -> None:
    assert set_region(Document(before), "SLOW_UPDATE", "guidance").text == after


@pytest.mark.parametrize("content", ["", "  \n", "<!-- APPENDIX_END -->"])
def test_nothing_adds_no_region(content: str) -> None:
    doc = Document("# A\n")
    assert set_region(doc, "APPENDIX", content) is doc


@pytest.mark.parametrize(
    "text",
    [
        f"a\n{SLOW}\n",
        f"a\r\n{SLOW}  ".replace("\n", "\r\n"),
        "<!-- SLOW_UPDATE_START --> guidance <!-- SLOW_UPDATE_END -->",
    ],
)
def test_same_content_changes_no_byte(text: str) -> None:
    assert set_region(Document(text), "SLOW_UPDATE", "guidance\n").text == text


def test_markers_and_controls_in_content_are_removed() -> None:
    content = "a <!-- APPENDIX_END -->b\x00 <!-- SLOW_UPDATE<!-- SLOW_UPDATE_END -->_END -->\ud800c"
    assert region_text(set_region(Document(""), "SLOW_UPDATE", content), "SLOW_UPDATE") == "a b c"


def test_an_open_fence_in_content_cannot_swallow_the_end() -> None:
    doc = set_region(Document("# A\n"), "APPENDIX", "~~~~\ncode")
    assert region_text(doc, "APPENDIX") == "~~~~\ncode\n~~~~"
    assert doc.damage == ()


@pytest.mark.parametrize(
    "text", ["a\n<!-- SLOW_UPDATE_START -->\nlost\n", f"---\ntitle\n{SLOW}\n", "a\n<!-- SLOW_UPDATE_START -->\n"]
)
def test_what_cannot_be_read_back_is_refused(text: str) -> None:
    with pytest.raises(SkillError, match="SLOW_UPDATE region cannot be written"):
        set_region(Document(text), "SLOW_UPDATE", "x\n---\ny")


@given(
    before=st.lists(PIECES, max_size=6).map("".join),
    between=st.booleans(),
    content=st.lists(PIECES, max_size=6).map("".join),
)
def test_written_text_is_read_back_and_the_rest_stays(before: str, between: bool, content: str) -> None:
    doc = Document(f"{before}\n\n{SLOW}\n\n{APPENDIX}\nend" if between else before)
    try:
        after = set_region(doc, "SLOW_UPDATE", content)
    except SkillError:
        return
    assert set_region(after, "SLOW_UPDATE", region_text(after, "SLOW_UPDATE")) == after
    if doc.regions:
        region = doc.regions[0]
        assert after.text.startswith(doc.text[: region.inner_start])
        assert after.text.endswith(doc.text[region.inner_end :])
    else:
        assert after.text.startswith(doc.text)
    wanted = content.strip().replace("\r\n", "\n").replace("\r", "\n")
    assert region_text(after, "SLOW_UPDATE").replace("\r\n", "\n").replace("\r", "\n").startswith(wanted)
