"""Thoughts are kept apart from answers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.models.reasoning import split_reasoning


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("<think>\nhm\n</think>\n\n42", ("hm", "42")),
        ("  <think></think>42", ("", "42")),
        ("hm, so\n</think>\n42", ("hm, so", "42")),
        ("<think>still at it", ("still at it", "")),
        ("42", ("", "42")),
        ("  42 ", ("", "  42 ")),
        ("Use <think> and </think> tags.", ("", "Use <think> and </think> tags.")),
        ("<think>a</think>Write </think> last.", ("a", "Write </think> last.")),
    ],
)
def test_reasoning_is_split_from_the_answer(text: str, parts: tuple[str, str]) -> None:
    assert split_reasoning(text) == parts


@given(st.text(alphabet="<think>/ x\n"))
def test_no_word_is_lost(text: str) -> None:
    thought, answer = split_reasoning(text)
    rest = text.replace("<think>", "").replace("</think>", "")
    assert "".join((thought + answer).replace("<think>", "").replace("</think>", "").split()) == "".join(rest.split())
