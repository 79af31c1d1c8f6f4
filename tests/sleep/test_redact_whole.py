"""Cleaned text is as people see it, clipped text holds no part of a secret, and none of it takes long."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.sleep.redact import clean, clip, redact
from tests.sleep.test_redact import SHAPES


@given(st.lists(st.sampled_from([*SHAPES.values(), "some words, ", "\n", "é"]), max_size=30), st.integers(1, 900))
def test_what_is_clipped_after_redaction_holds_no_part_of_a_secret(parts: list[str], limit: int) -> None:
    cut = clip(redact(" ".join(parts)), limit)
    assert len(cut) <= limit
    assert cut.count("[redacted:") == len([*_marks(cut)])
    for part in parts:
        assert not any(part[at : at + 12] in cut for at in range(0, len(part) - 11, 4) if len(part) > 20)


@given(st.text(max_size=400), st.integers(1, 200))
def test_clipping_keeps_head_and_tail_and_is_done_once(text: str, limit: int) -> None:
    cut = clip(text, limit)
    assert len(cut) <= limit
    assert clip(cut, limit) == cut
    assert cut == text or (len(text) > limit and "…" in cut)


def test_a_clip_says_how_much_is_left_out() -> None:
    cut = clip("a" * 5000 + "b" * 5000, 1000)
    head, note, tail = cut.split("\n")
    assert note == f"[… {10_000 - len(head) - len(tail):,} characters left out …]"
    assert set(head) == {"a"}
    assert set(tail) == {"b"}
    assert abs(len(head) - 2 * len(tail)) < 3


def test_a_clip_never_parts_a_pair_of_surrogates() -> None:
    text = "\ud83d\ude00" * 200
    for limit in range(1, 300):
        assert clean(clip(text, limit)).count("\ufffd") == 0


@given(st.text(st.characters(), max_size=300))
def test_cleaning_twice_changes_nothing_more_and_gives_writable_text(text: str) -> None:
    once = clean(text)
    assert clean(once) == once
    assert not set(once) & {"\x00", "\x1b", "\r", "\u202e", "\u200b"}
    once.encode()


def test_cleaning_keeps_what_people_write() -> None:
    text = "Ünïcode, 漢字, עברית\tand 👨‍👩‍👧 with می‌خواهم\n"
    assert clean(text) == text
    assert clean("a\r\nb\rc\x1b[1;31mred\x1b[0m\x1b]0;title\x07!") == "a\nb\ncred!"
    assert clean("\ud83d\ude00 \ud83d") == "😀 �"


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        " ",
        "=",
        "\\",
        '"',
        "{",
        "-",
        "\n",
        "://",
        "://a:",
        "sk-",
        "eyJ",
        "eyJa.",
        "AKIA",
        "password",
        "password=",
        "password is ",
        'password="',
        "password: x, ",
        "token for a b c ",
        ";pwd={",
        "pwd=a;",
        "curl -u ",
        "mysql ",
        "bearer ",
        "cookie:a=",
        "?sig=",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nab\n",
        "a@b",
        "a.b-",
        "name: password",
        "<password>",
        "<a",
        "pin ",
        "пароль",
        "密码是",
        "\u200c",
        "\x1b]",
        "/home/a",
        "$1$",
        "[redacted:",
        "password[redacted:password]",
        "ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa ",
        "api key api key ",
        "Authorization: a ",
        "authorization: a b=",
        "Basic ",
        "_auth",
        "token=self.",
        "token:f(",
        "password=$",
        "passphrase ",
        "my seed phrase is ",
    ],
)
def test_time_grows_with_the_text_and_no_faster(piece: str) -> None:
    taken = [
        _seconds(partial(redact, piece * (size // len(piece)), email=True, home=True)) for size in (12_500, 100_000)
    ]
    # 8 times the text; a quadratic pattern would take 64 times as long.
    assert taken[1] < max(taken[0], 0.003) * 28


@pytest.mark.parametrize(
    ("before", "piece", "after"),
    [("", "sk-", "sk "), ("é", "\u200d", "é"), ("é", "\u200d\u200c", "é"), ("token", "=self.token", ".....")],
)
def test_so_it_does_between_others(before: str, piece: str, after: str) -> None:
    taken = [_seconds(partial(redact, f"{before}{piece * (size // len(piece))}{after}")) for size in (12_500, 100_000)]
    assert taken[1] < max(taken[0], 0.003) * 28


def test_text_full_of_names_of_secrets_is_read_at_a_quarter_of_a_megabyte_a_second() -> None:
    words = [
        "the",
        "token",
        "password",
        "is",
        "=",
        ":",
        "user's",
        "key",
        "/home/x/y",
        "session_id",
        "\n",
        '"name"',
        "return",
        "https://x.io/?a=b",
        "(",
        "sk-learn",
        "12",
    ]
    chance = random.Random(1)
    text = " ".join(chance.choices(words, k=60_000))[:250_000]
    assert min(_seconds(lambda: redact(text)) for _ in range(2)) < 1.0


def _marks(text: str) -> list[str]:
    return [part for part in text.split("[redacted:")[1:] if "]" in part]


def _seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started
