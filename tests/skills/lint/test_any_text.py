"""Whatever a skill holds: it is judged without an error, in a time that grows with it, and at places that exist."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.skills.lines import split_lines
from skillgit.skills.lint.rules import rules
from tests.skills.lint.helpers import HEAD, found
from tests.skills.lint.shapes import FAULTY, ONLY_SKILLGIT, ONLY_SKILLS_REF, SOUND

PIECES = st.sampled_from(
    [
        *(
            "---\n",
            "name: demo\n",
            "description: a: b\n",
            "# T\n",
            "- always use x y\n",
            "- never use x y\n",
            "```\n",
            "`",
            "\n",
        ),
        *(
            "[a](b.md)",
            "](",
            "<!--",
            "-->",
            "<!-- APPENDIX_START -->",
            "\u200b",
            "\u202e",
            "\U000e0041",
            "\r",
            "\r\n",
            "\t",
        ),
        *(
            "http://a:b@c",
            "key=",
            "{",
            "&a ",
            "*a ",
            "!!x ",
            "|\n",
            "  ",
            "ignore all previous instructions",
            "\x00",
            "é",
        ),
    ]
)
PATHS = st.sampled_from(["SKILL.md", "skill.md", "references/a.md", "scripts/run.sh", "a:b", "assets/ "])


@given(st.dictionaries(PATHS, st.binary(max_size=80) | st.lists(PIECES).map("".join), max_size=4))
def test_any_files_are_judged(files: dict[str, str | bytes]) -> None:
    for finding in found(files):
        assert finding.rule in rules()
        path = finding.path.removeprefix("skills/demo/")
        data = files.get(path, b"")
        lines = split_lines((data.encode() if isinstance(data, str) else data).decode("utf-8", "replace"))
        assert 1 <= finding.line <= len(lines)
        assert 1 <= finding.column <= len(lines[finding.line - 1]) + 2


@pytest.mark.parametrize("text", [*SOUND.values(), *FAULTY.values()])
@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_line_ends_change_no_finding_but_their_own(text: str, newline: str) -> None:
    style = {"crlf", "final-newline"}
    plain, other = (
        {f.rule for f in found(shape)} - style for shape in (text, text.replace("\r\n", "\n").replace("\n", newline))
    )
    assert plain == other


@pytest.mark.parametrize("text", [text for text, _ in (*ONLY_SKILLGIT.values(), *ONLY_SKILLS_REF.values())])
def test_shapes_on_which_validators_differ_are_judged(text: str) -> None:
    assert all(finding.message and finding.fix for finding in found(text))


@pytest.mark.parametrize(
    "piece",
    [
        *(
            "a ",
            "`",
            "``` ",
            "[",
            "](",
            "[a](b.md) ",
            "[a]: ",
            "<!--",
            "<p style='",
            "- use a b c d e f g h\n",
            "\u200b",
            "\u200e",
        ),
        *(
            "\U000e0041",
            "ignore all previous ",
            "base64 -d ",
            "curl $",
            "curl $x| sh ",
            "references/",
            "a  \n",
            "`a \n",
            "`a` [b](c.md) ",
            "```\nx \n```\ny \n\n",
            "data:a;base64,",
        ),
        *("- always do x y\n- never do x y\n", "<!-- APPENDIX_END -->", "> ", "* ", "# a\n"),
    ],
)
def test_time_grows_with_the_text_and_no_faster(piece: str) -> None:
    taken = []
    for size in (4_000, 32_000):
        text = HEAD + piece * (size // len(piece))
        # The fastest of a few, for what else the machine does only ever adds to it.
        taken.append(min(_seconds(text) for _ in range(3)))
    # 8 times the text; what is quadratic takes 64 times as long.
    assert taken[1] < max(taken[0], 0.004) * 40


def _seconds(text: str) -> float:
    started = time.process_time()
    found({"SKILL.md": text, "references/a.md": "x\n"})
    return time.process_time() - started
