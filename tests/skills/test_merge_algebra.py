"""The algebra of merging skills: what both sides did is there, nothing else is, and it does not matter who merges."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from hypothesis import assume, given
from hypothesis import strategies as st

from skillgit.skills.blocks import split_blocks
from skillgit.skills.document import Document
from skillgit.skills.merge.documents import Merged, NotUnderstoodError, merge

_WORDS = (
    "ask",
    "check",
    "cite",
    "count",
    "draft",
    "file",
    "keep",
    "list",
    "name",
    "note",
    "order",
    "print",
    "quote",
    "sort",
)


def text_of(base: str, ours: str, theirs: str) -> Merged:
    return merge(Document(base), Document(ours), Document(theirs))


def rules(text: str) -> Counter[str]:
    return Counter(block.key for block in split_blocks(Document(text)).blocks)


def lines(text: str) -> set[str]:
    text = text[Document(text).body_start :]
    return {line.strip().lstrip("-*0123456789. ") for line in text.splitlines()} - {""}


@dataclass
class Outline:
    """Sections, each a title and rules; rules are (number, version) and say so in words of their own."""

    sections: list[tuple[str, list[str]]] = field(default_factory=list)

    def text(self, newline: str, mark: str, final: bool, loose: bool) -> str:
        gap = "\n" if loose else ""
        parts = ["---\nname: x\ndescription: d\n---\n\n# Top\n"]
        for title, lines in self.sections:
            parts.append(f"\n## {title}\n\n{gap.join(f'- {line}{chr(10)}' for line in lines)}")
        whole = "".join(parts)
        whole = whole if final else whole.removesuffix("\n")
        return mark + whole.replace("\n", newline)


def rule(number: int, version: str = "") -> str:
    """A rule unlike every other one, and like its own versions."""
    words = [_WORDS[(number * 7 + step * (3 + number % 5)) % len(_WORDS)] + str(number) for step in range(6)]
    return " ".join([*words, version]).strip()


@st.composite
def proposals(draw: st.DrawFn) -> tuple[str, str, str, set[str], bool]:
    """Base, ours, theirs with changes of different rules, the rules to expect, and whether there may be a conflict."""
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    number = 0
    base = Outline()
    for at, size in enumerate(sizes):
        base.sections.append((f"Part {at}", [rule(number + step) for step in range(size)]))
        number += size
    sides = (Outline([(title, list(lines)) for title, lines in base.sections]) for _ in range(2))
    ours, theirs = sides
    expected = {line for _, lines in base.sections for line in lines}
    kinds = st.sampled_from(["keep", "keep", "keep", "reword", "delete"])
    for at in range(number):
        side = draw(st.sampled_from([ours, theirs]))
        kind, old = draw(kinds), rule(at)
        for _, lines in side.sections:
            if old in lines and kind == "reword":
                lines[lines.index(old)] = rule(at, "more")
                expected = expected - {old} | {rule(at, "more")}
            elif old in lines and kind == "delete" and len(lines) > 1:
                lines.remove(old)
                expected.discard(old)
    for fresh in range(draw(st.integers(0, 5))):
        side = draw(st.sampled_from([ours, theirs]))
        _, lines = draw(st.sampled_from(side.sections))
        lines.insert(draw(st.integers(0, len(lines))), rule(100 + fresh))
        expected.add(rule(100 + fresh))
    form = (
        draw(st.sampled_from(["\n", "\r\n"])),
        draw(st.sampled_from(["", "\ufeff"])),
        draw(st.booleans()),
        draw(st.booleans()),
    )
    return (*(outline.text(*form) for outline in (base, ours, theirs)), expected, form)


@given(proposals())
def test_changes_of_different_rules_are_all_there_and_nothing_else_is(given_: tuple) -> None:
    base, ours, theirs, expected, form = given_
    merged = text_of(base, ours, theirs)
    assert merged.conflicts == 0
    items = [block.key for block in split_blocks(Document(merged.text)).blocks if block.kind == "item"]
    assert sorted(items) == sorted(expected)
    newline, mark, final, _ = form
    assert merged.text.startswith(mark + "---")
    assert merged.text.count("\n") == merged.text.count(newline)
    assert merged.text.endswith(newline) == final
    assert {*merged.text.splitlines()} <= {*ours.splitlines()} | {*theirs.splitlines()}


@given(proposals())
def test_it_commutes(given_: tuple) -> None:
    base, ours, theirs, *_ = given_
    assert text_of(base, ours, theirs) == text_of(base, theirs, ours)


@given(proposals())
def test_merging_again_changes_nothing(given_: tuple) -> None:
    base, ours, theirs, *_ = given_
    merged = text_of(base, ours, theirs).text
    assert text_of(base, merged, merged).text == merged
    assert text_of(base, ours, ours).text == ours
    assert text_of(base, base, theirs).text == theirs
    assert text_of(base, ours, base).text == ours
    assert text_of(ours, merged, ours).text == merged
    assert text_of(base, merged, theirs) == Merged(merged)


_PLAIN = ("# a", "## b", "## c", "### d", "- x", "- y", "- z", "  y", "* w", "", "", "1. n", "2. m", "t", "u v w", "t:")
_ODD = (
    "```",
    "> q",
    "---",
    "===",
    "| a |",
    "    c",
    "<b>",
    "<!-- k",
    "-->",
    "[l]: http://e.invalid",
    "name: v",
    "\u2028",
)
_MARKS = tuple(f"<!-- {kind}_{edge} -->" for kind in ("SLOW_UPDATE", "APPENDIX") for edge in ("START", "END"))
_LINES = (*_PLAIN, *_ODD, *_MARKS)


@st.composite
def soups(draw: st.DrawFn) -> tuple[str, str, str]:
    """Three texts that may be no sensible Markdown: two are made from the first by cutting and adding lines."""
    line = st.sampled_from(_LINES)
    base = draw(st.lists(line, max_size=14))

    def edited() -> list[str]:
        lines = list(base)
        for _ in range(draw(st.integers(0, 4))):
            at = draw(st.integers(0, len(lines)))
            lines[at : at + draw(st.integers(0, 2))] = draw(st.lists(line, max_size=3))
        return lines

    endings = st.sampled_from(["\n", "\n", "\n", "\r\n"])
    last = st.sampled_from(["\n", "\n", "", "\n\n"])
    mixed = draw(st.booleans())
    sides = [(lines, draw(endings)) for lines in (base, edited(), edited())]
    texts = [
        "".join(f"{line}{draw(endings) if mixed else ending}" for line in lines) + draw(last) for lines, ending in sides
    ]
    return texts[0], texts[1], texts[2]


@st.composite
def skills(draw: st.DrawFn) -> tuple[str, str, str]:
    """Three sound skills with headings, lists under lead-ins, code and regions, changed block by block."""
    blocks = [f"{'#' * draw(st.integers(1, 3))} Part {at % 4}\n\n" for at in range(draw(st.integers(0, 4)))]
    for at in range(draw(st.integers(1, 6))):
        items = "".join(f"- lead{at} item{step}\n" for step in range(draw(st.integers(1, 3))))
        form = draw(
            st.sampled_from([f"Lead{at}:\n{items}\n", f"{items}\n", f"Text {at}.\n\n", f"```\ncode {at}\n```\n\n"])
        )
        blocks.insert(draw(st.integers(0, len(blocks))), form)
    regions = "".join(
        f"<!-- {kind}_START -->\n{{}}<!-- {kind}_END -->\n\n"
        for kind in ("SLOW_UPDATE", "APPENDIX")
        if draw(st.booleans())
    )

    def edited(side: str) -> str:
        parts = list(blocks)
        for step in range(draw(st.integers(0, 3))):
            at = draw(st.integers(0, len(parts) - 1)) if parts else 0
            new = draw(
                st.sampled_from([f"- new{step}{side}\n\n", f"## New{step}{side}\n\n", "- same\n\n", "Same:\n- a\n\n"])
            )
            match draw(st.sampled_from(["insert", "insert", "item", "delete", "move", "reword"])):
                case "insert":
                    parts.insert(at, new)
                case "item" if parts and parts[at].startswith("Lead"):
                    lead = parts[at].split(":")[0].lower()
                    parts[at] = parts[at].removesuffix("\n") + f"- {lead} new{step}{side}\n\n"
                case "delete" if parts:
                    parts.pop(at)
                case "move" if parts:
                    parts.insert(draw(st.integers(0, len(parts) - 1)), parts.pop(at))
                case "reword" if parts:
                    parts[at] = parts[at].replace("item0", f"item0 reworded by {side}")
        inner = draw(st.sampled_from(["- kept\n", "- kept\n- other\n", f"- kept\n- {side}\n"]))
        return "".join([*parts, regions.replace("{}", inner)])

    return "".join([*blocks, regions.replace("{}", "- kept\n")]), edited("ours"), edited("theirs")


def outcome(base: str, ours: str, theirs: str) -> Merged | None:
    try:
        return text_of(base, ours, theirs)
    except NotUnderstoodError:
        return None


@given(skills())
def test_no_new_item_leaves_its_lead_in(texts: tuple[str, str, str]) -> None:
    merged = outcome(*texts)
    assume(merged is not None and not merged.conflicts)
    above = ""
    for block in split_blocks(Document(merged.text)).blocks:
        above = above if block.kind == "item" else block.key
        for text in texts[1:]:
            if block.kind == "item" and "new" in block.key and block.key.startswith("lead") and block.key in text:
                assert above == block.key.split()[0].capitalize() + ":"


@given(st.one_of(soups(), skills()))
def test_from_any_text_a_clean_result_keeps_every_rule(texts: tuple[str, str, str]) -> None:
    base, ours, theirs = texts
    merged = outcome(base, ours, theirs)
    assume(merged is not None and not merged.conflicts)
    b, o, t, m = (rules(text) for text in (base, ours, theirs, merged.text))
    assert all(m[key] for key in set(o) & set(t) if o[key] + t[key] > b[key])
    # New rules: a rule of several lines may have been changed by both sides at different lines, so this goes by line.
    b, o, t, m = (lines(text) for text in (base, ours, theirs, merged.text))
    assert (o - b) | (t - b) <= m
    assert m <= (o & t) | (o - b) | (t - b)


@given(st.one_of(soups(), skills()))
def test_from_any_text_it_commutes_and_sides_without_change_have_no_say(texts: tuple[str, str, str]) -> None:
    base, ours, theirs = texts
    one, other = outcome(base, ours, theirs), outcome(base, theirs, ours)
    assert (one is None) == (other is None)
    if one is not None and other is not None:
        assert one.conflicts == other.conflicts
        assert one.conflicts or one.text == other.text
        marks = [line.rstrip("\r") for line in one.text.split("\n")]
        assert [marks.count(mark) for mark in ("<<<<<<< ours", "=======", ">>>>>>> theirs")] == [one.conflicts] * 3
    assert text_of(base, base, theirs).text == theirs
    assert text_of(base, ours, base).text == ours
    assert text_of(base, ours, ours).text == ours
