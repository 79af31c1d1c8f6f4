from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.models.retry import asked_wait


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "x", "retry-after": "9"}, 9.0),
        ({"retry-after": "Wed, 01 Jan 2020 00:00:00 GMT"}, 0.0),
    ],
)
def test_asked_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert asked_wait(headers) == seconds


def test_a_date_is_time_from_now() -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    wait = asked_wait({"retry-after": date})
    assert wait is not None
    assert 27 < wait <= 30


@given(st.text())
def test_any_header_is_survived(text: str) -> None:
    wait = asked_wait({"retry-after": text, "retry-after-ms": text})
    assert wait is None or wait >= 0
