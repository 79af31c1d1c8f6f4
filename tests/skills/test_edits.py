from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.skills.document import Document
from skillgit.skills.edits import EDIT_SCHEMA, Edit, EditError, apply_edits

CASES = json.loads((Path(__file__).parents[1] / "data" / "edits.json").read_text())
SKILL = "# Skill\n\n## Rules\n- Be brief.\n- Cite the source.\n\n## Format\nUse plain text.\n"
REGION = "<!-- SLOW_UPDATE_START -->\nguidance\n<!-- SLOW_UPDATE_END -->"
FRONT = "---\nname: demo\ndescription: Be brief.\n---\n"


def run(text: str, op: Any, content: str = "", target: str = "") -> tuple[str, str, str]:
    after, (result,) = apply_edits(Document(text), [Edit(op, content, target)])
    assert result.outcome == "applied" or after.text == text
    return after.text, result.outcome, result.reason


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_conformance(case: dict[str, Any]) -> None:
    after, results = apply_edits(Document(case["skill"]), [Edit.from_json(edit) for edit in case["edits"]])
    assert after.text == case["result"]
    for result, status in zip(results, case["statuses"], strict=True):
        expected = {"skipped_protected_region": "protected"}.get(status, "unmatched")
        assert result.outcome == ("applied" if status.startswith("applied") else expected)


class TestFromJson:
    @pytest.mark.parametrize(
        ("value", "message"),
        [
            (None, "an edit is an object, not null"),
            ("append", "not text"),
            ([], "not a list"),
            (3, "not a number"),
            ({}, "unknown op None"),
            ({"op": "rewrite"}, "unknown op 'rewrite'; use one of append"),
            ({"op": ["append"]}, "unknown op"),
            ({"op": "append"}, "append needs content, which is missing"),
            ({"op": "append", "content": None}, "append needs content, which is missing"),
            ({"op": "append", "content": " \n"}, "append needs content, which is blank"),
            ({"op": "append", "content": ["a"]}, "content of append is a list, not text"),
            ({"op": "append", "content": "a", "target": 1}, "target of append is a number"),
            ({"op": "append", "content": True}, "content of append is a boolean"),
            ({"op": "insert_after", "content": "a"}, "insert_after needs target"),
            (
                {"op": "replace", "content": "", "target": "a"},
                "needs content, which is blank; to remove text use delete",
            ),
            ({"op": "replace", "content": "a", "target": None}, "replace needs target, which is missing"),
            ({"op": "delete", "target": "\n"}, "delete needs target, which is blank"),
            ({"op": "delete", "target": "a", "content": {}}, "content of delete is an object"),
        ],
    )
    def test_bad_input_says_why(self, value: object, message: str) -> None:
        with pytest.raises(EditError, match=message):
            Edit.from_json(value)

    def test_null_that_is_not_needed_is_absent(self) -> None:
        assert Edit.from_json({"op": "append", "content": "a", "target": None}) == Edit("append", "a")
        assert Edit.from_json({"op": "delete", "target": "a", "content": None}) == Edit("delete", target="a")

    def test_metadata(self) -> None:
        value = {"op": "append", "content": "a", "source_type": "failure", "support_count": 3, "merge_level": 1}
        edit = Edit.from_json(value)
        assert (edit.source_type, edit.support) == ("failure", 3)
        assert edit.to_json() == {"op": "append", "content": "a", "source_type": "failure", "support": 3}
        odd = Edit.from_json({"op": "append", "content": "a", "source_type": [], "support": True})
        assert (odd.source_type, odd.support) == ("", 1)

    @pytest.mark.parametrize(
        "edit",
        [Edit("append", "a"), Edit("delete", target="b"), Edit("replace", "a", "b", "success", 2)],
    )
    def test_round_trip_and_schema(self, edit: Edit) -> None:
        assert Edit.from_json(json.loads(json.dumps(edit.to_json()))) == edit
        jsonschema.validate(edit.to_json(), EDIT_SCHEMA)

    def test_schema_refuses_what_an_op_lacks(self) -> None:
        jsonschema.Draft202012Validator.check_schema(EDIT_SCHEMA)
        jsonschema.validate({"op": "append", "content": "a", "target": None}, EDIT_SCHEMA)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"op": "replace", "content": "a"}, EDIT_SCHEMA)


class TestApplied:
    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("", "- a\n"),
            ("x", "x\n\n- a\n"),
            ("x\n\n", "x\n\n- a\n"),
            ("x  \n \n", "x  \n \n- a\n"),
            ("x\r\ny\r\n", "x\r\ny\r\n\r\n- a\r\n"),
            ("\ufeff", "\ufeff- a\n"),
            (FRONT, f"{FRONT}\n- a\n"),
            (REGION, f"- a\n\n{REGION}"),
            (f"{FRONT}{REGION}\nz", f"{FRONT}\n- a\n\n{REGION}\nz"),
            (f"x\n{REGION}", f"x\n\n- a\n\n{REGION}"),
            (f"x\n\n- y\n  {REGION}\nz\n", f"x\n\n- y\n\n- a\n\n  {REGION}\nz\n"),
            (f"```\n{REGION}\n```\n", f"```\n{REGION}\n```\n\n- a\n"),
        ],
    )
    def test_append(self, before: str, after: str) -> None:
        assert run(before, "append", "\n - a \n\n")[0] == after

    @pytest.mark.parametrize(
        ("before", "target", "after"),
        [
            ("a\nb\n", "a\n", "a\n\n- c\nb\n"),
            ("a\nb", "b", "a\nb\n\n- c\n"),
            ("a x\nb\n", "a", "a x\n\n- c\nb\n"),
            ("a\r\nb\r\n", "a\nb\n", "a\r\nb\r\n\r\n- c\r\n"),
            (f"Q\n{REGION}\n", "Q", f"Q\n\n- c\n{REGION}\n"),
            (f"{REGION} Q\nb\n", "Q", f"{REGION} Q\n\n- c\nb\n"),
        ],
    )
    def test_insert_after(self, before: str, target: str, after: str) -> None:
        assert run(before, "insert_after", "- c", target)[0] == after

    def test_inserted_text_keeps_its_indent(self) -> None:
        assert run("- a\n- b\n", "insert_after", "\n  - c\n", "- a")[0] == "- a\n\n  - c\n- b\n"

    @pytest.mark.parametrize(
        ("before", "target", "after"),
        [
            ("a\nb\nc\n", "b\n", "a\nX\nY\nc\n"),
            ("a b c", "b", "a X\nY c"),
            ("a\r\nb\r\nc", "a\nb", "X\r\nY\r\nc"),
            ("\ufeffa\rb\r", "b", "\ufeffa\rX\rY\r"),
            (FRONT + "x\n", "\nx", FRONT + "X\nY\n"),
        ],
    )
    def test_replace(self, before: str, target: str, after: str) -> None:
        assert run(before, "replace", "X\nY\n", target) == (after, "applied", "")

    @pytest.mark.parametrize(
        ("before", "target", "after"),
        [
            ("a\nb\nc\n", "b\n", "a\nc\n"),
            ("a\r\nb\r\nc\r\n", "b\n", "a\r\nc\r\n"),
            ("a\r\nb", "\nb", "a"),
            ("a\nb", "b\n", "a\n"),
            ("a b  c", "b ", "a  c"),
        ],
    )
    def test_delete(self, before: str, target: str, after: str) -> None:
        assert run(before, "delete", "", target)[0] == after

    def test_each_edit_sees_the_text_before_it(self) -> None:
        doc, results = apply_edits(
            Document("a\n"), [Edit("append", "b"), Edit("replace", "c", "b"), Edit("delete", target="zzz")]
        )
        assert doc.text == "a\n\nc\n"
        assert [result.outcome for result in results] == ["applied", "applied", "unmatched"]


class TestRefused:
    @pytest.mark.parametrize(
        ("text", "content"),
        [
            (SKILL, "- Be brief."),
            (SKILL, "- Be brief.  \n- Cite the source.\n"),
            (SKILL.replace("\n", " \r\n"), "- Be brief.\n- Cite the source."),
            (f"x\n{REGION}", "guidance"),
        ],
    )
    def test_duplicate_block(self, text: str, content: str) -> None:
        assert run(text, "append", content)[1] == "duplicate"
        assert run(text + "\nq\n", "insert_after", content, "q")[1] == "duplicate"

    def test_part_of_a_line_is_no_duplicate(self) -> None:
        assert run(SKILL, "append", "- Be")[1] == "applied"
        assert run(FRONT, "append", "name: demo")[1] == "applied"

    def test_duplicate_replacement(self) -> None:
        assert run(SKILL, "replace", "- Be brief.", "- Be brief.\n")[1:] == ("duplicate", "the text already reads so")

    def test_unmatched_names_the_closest_line(self) -> None:
        _, outcome, reason = run(SKILL, "insert_after", "- x", "- Be brief")
        assert outcome == "applied"
        _, outcome, reason = run(SKILL, "insert_after", "- x", "- Be  brief.")
        assert (outcome, reason) == ("unmatched", "not in the text; closest is line 4: '- Be brief.'")
        assert run(SKILL, "delete", "", "quantum")[2] == "nothing like it is in the text"
        assert run(SKILL, "delete", "", "## Rules\nUse plain")[2] == "its lines are in the text, but not together"
        assert run(SKILL, "delete")[1:] == ("unmatched", "the edit names no target")

    def test_ambiguous_names_the_lines(self) -> None:
        assert run("a\nb\na\r\na", "delete", "", "a")[1:] == ("ambiguous", "occurs 3 times: lines 1, 3, 4")
        assert run("a\n" * 9, "delete", "", "a")[2] == "occurs 9 times: lines 1, 2, 3, 4, 5, …"
        assert run("aaa", "delete", "", "aa")[1] == "ambiguous"

    @pytest.mark.parametrize(
        "target", ["guidance", "text.\n\n<!-- SLOW", "END -->\nlast", "<!-- SLOW_UPDATE_START -->", "UPDATE_END"]
    )
    @pytest.mark.parametrize("op", ["replace", "delete", "insert_after"])
    def test_protected_wherever_it_overlaps(self, op: str, target: str) -> None:
        assert run(f"Use text.\n\n{REGION}\nlast\n", op, "x", target)[1] == "protected"

    @pytest.mark.parametrize("text", [f"a {REGION}\n", "a <!-- APPENDIX_START -->"])
    def test_insertion_point_inside_a_region(self, text: str) -> None:
        assert run(text, "insert_after", "x", "a ")[1] == "protected"
        assert run(text, "replace", "x", "a ")[1] == "applied"

    @pytest.mark.parametrize(
        ("text", "op", "content", "target"),
        [
            (f"a\n\n{REGION}\n", "append", "```\nopen", ""),
            (f"Q\n\n{REGION}\n", "replace", "~~~", "Q"),
            (f"```\n{REGION}\n~~~\nb\n```\n", "replace", "``", "```\n<!--"),
            ("a <!-- SLOW_UPDATE_b\n", "replace", "START -->", "b"),
            ("a <!-- SLOW_xUPDATE_START -->", "delete", "", "x"),
        ],
    )
    def test_regions_cannot_be_made_or_hidden(self, text: str, op: str, content: str, target: str) -> None:
        assert run(text, op, content, target)[1] == "protected"

    def test_damage_protects_from_an_orphan_start_on(self) -> None:
        text = "a\n<!-- APPENDIX_START -->\nlost\n"
        assert run(text, "delete", "", "lost")[1] == "protected"
        assert run(text, "append", "x")[0] == "\nx\n\n".join(["a\n", text[2:]])
        assert run(text, "delete", "", "a\n")[0] == text[2:]

    def test_damage_protects_an_orphan_end_itself(self) -> None:
        text = "a\n<!-- APPENDIX_END -->\nb\n"
        assert run(text, "delete", "", "-->\nb")[1] == "protected"
        assert run(text, "append", "x")[0] == text + "\nx\n"
        assert run(text, "delete", "", "b\n")[1] == "applied"

    @pytest.mark.parametrize("target", ["name: demo", "demo\ndescription", "---\n# T", "---\nname"])
    def test_frontmatter_is_forbidden(self, target: str) -> None:
        for op in ("replace", "delete", "insert_after"):
            assert run(f"{FRONT}# T\n", op, "x", target)[1] == "forbidden"

    @pytest.mark.parametrize(
        ("text", "op", "content", "target"),
        [
            ("", "append", "---\nname: x\n---\nbody", ""),
            ("", "append", "---\nname: x", ""),
            ("a\n", "replace", "---\nname: x\n---", "a"),
            ("\ufeffa\n---\n", "replace", "---\nb", "a"),
            ("---\ntext\n", "append", "x\n---", ""),
            ("a\n---\nname: x\n---\n", "delete", "", "a\n"),
            ("\ufeffa\n", "delete", "", "\ufeffa"),
        ],
    )
    def test_frontmatter_cannot_be_made(self, text: str, op: str, content: str, target: str) -> None:
        assert run(text, op, content, target)[1] == "forbidden"

    @pytest.mark.parametrize("char", ["\x00", "\x1b", "\x85", "\x7f", "\ud800", "\f"])
    def test_control_characters_are_forbidden(self, char: str) -> None:
        for op in ("append", "replace", "insert_after"):
            _, outcome, reason = run(SKILL, op, f"a{char}b", "## Rules")
            assert (outcome, reason) == ("forbidden", f"the content has the control character U+{ord(char):04X}")

    def test_only_markers_is_no_content(self) -> None:
        nested = "<!-- APPENDIX<!-- APPENDIX_END -->_END -->"
        assert run(SKILL, "append", nested)[1:] == ("forbidden", "there is no content besides region markers")
        assert run(SKILL, "append")[1:] == ("forbidden", "there is no content")

    def test_unknown_op(self) -> None:
        assert run(SKILL, "rewrite", "x")[1] == "forbidden"


# --- properties ---------------------------------------------------------------------------------------------------

WORDS = st.sampled_from(
    ["a", "b", "- a", "# H", "```", "~~~", "`", "> ", "---", "name: x", "", " ", "    ", "<!--", "-->", "é", "\x00",
     "<!-- APPENDIX_START -->", "<!-- APPENDIX_END -->", "<!-- SLOW_UPDATE_START -->", "<!-- SLOW_UPDATE_END -->",
     "_START -->"]
)  # fmt: skip
NEWLINES = st.sampled_from(["\n", "\n", "\r\n", "\r", ""])
TEXTS = st.lists(st.tuples(WORDS, NEWLINES), max_size=12).map(lambda parts: "".join(a + b for a, b in parts))
HEADS = st.sampled_from(["", "", "\ufeff", FRONT, "\ufeff" + FRONT.replace("\n", "\r\n"), "---\n"])
OPS = st.sampled_from(["append", "insert_after", "replace", "delete"])


@st.composite
def edits_of(draw: st.DrawFn, text: str) -> Edit:
    start = draw(st.integers(0, max(len(text) - 1, 0)))
    target = text[start : start + draw(st.integers(1, 25))]
    if draw(st.booleans()):
        target = target.replace("\r\n", "\n")
    return Edit(draw(OPS), draw(TEXTS), draw(st.sampled_from([target, target, draw(TEXTS)])))


@st.composite
def documents_and_edits(draw: st.DrawFn) -> tuple[Document, list[Edit]]:
    text = draw(HEADS) + draw(TEXTS)
    return Document(text), draw(st.lists(edits_of(text), min_size=1, max_size=4))


def units(text: str) -> list[str]:
    """Characters, with a CRLF as one."""
    found: list[str] = []
    for char in text:
        if char == "\n" and found and found[-1] == "\r":
            found[-1] = "\r\n"
        else:
            found.append(char)
    return found


def changed_span(before: str, after: str) -> tuple[int, int]:
    """The smallest span of `before` outside of which `after` is the same."""
    start = common_prefix(before, after)
    return start, len(before) - common_prefix(before[start:][::-1], after[start:][::-1])


def common_prefix(left: str, right: str) -> int:
    pairs = zip(left, right, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(left), len(right)))


@given(documents_and_edits())
def test_bytes_outside_the_target_stay(given_: tuple[Document, list[Edit]]) -> None:
    before, edits = given_
    for edit in edits:
        after, (result,) = apply_edits(before, [edit])
        if result.outcome != "applied":
            assert after == before
            continue
        start, end = changed_span(before.text, after.text)
        if edit.op in ("append", "insert_after"):
            assert start == end
            assert after.text != before.text
        else:
            assert "".join(units(before.text)) == before.text
            same = [unit if unit not in ("\r\n", "\r") else "\n" for unit in units(before.text)]
            wanted = [unit if unit not in ("\r\n", "\r") else "\n" for unit in units(edit.target)]
            places = [at for at in range(len(same)) if same[at : at + len(wanted)] == wanted]
            if not places:  # the target's last line ending stands for the end of the text
                places, wanted = [len(same) - len(wanted) + 1], wanted[:-1]
            assert len(places) == 1
            low = len("".join(units(before.text)[: places[0]]))
            high = len("".join(units(before.text)[: places[0] + len(wanted)]))
            assert after.text.startswith(before.text[:low])
            assert after.text.endswith(before.text[high:])


@given(documents_and_edits())
def test_what_is_guarded_never_changes(given_: tuple[Document, list[Edit]]) -> None:
    before, edits = given_
    after, results = apply_edits(before, edits)
    assert len(results) == len(edits)
    assert after.head == before.head
    assert [after.text[a:b] for a, b in after.marks.spans] == [before.text[a:b] for a, b in before.marks.spans]
    assert [message for _, message in after.damage] == [message for _, message in before.damage]


@given(
    head=HEADS.filter(lambda head: head != "---\n"),
    above=st.lists(st.sampled_from(["a\n", "# H\n", "- a\r\n", "`b`\n"])),
    tail=TEXTS,
    data=st.data(),
)
def test_a_region_survives_any_edits(head: str, above: list[str], tail: str, data: st.DataObject) -> None:
    before = Document(f"{head}x\n{''.join(above)}\n{REGION}\n{tail}")
    edits = data.draw(st.lists(edits_of(before.text), min_size=1, max_size=4))
    after, _ = apply_edits(before, edits)
    kept = next(region for region in after.regions if region.kind == "SLOW_UPDATE")
    assert after.text[kept.start : kept.end] == next(
        before.text[region.start : region.end] for region in before.regions if region.kind == "SLOW_UPDATE"
    )


@given(text=TEXTS, content=TEXTS)
def test_append_keeps_the_text_as_prefix(text: str, content: str) -> None:
    before = Document(text)
    after, (result,) = apply_edits(before, [Edit("append", content)])
    if before.marks.limit is None:
        assert after.text.startswith(text)
    if result.outcome == "applied":
        again, (second,) = apply_edits(after, [Edit("append", content)])
        assert (again, second.outcome) == (after, "duplicate")


@given(documents_and_edits())
def test_documents_stay_writable(given_: tuple[Document, list[Edit]]) -> None:
    after, _ = apply_edits(*given_)
    assert Document.parse(after.encode()) == after
