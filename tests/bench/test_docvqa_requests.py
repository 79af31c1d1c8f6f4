from __future__ import annotations

from tests.bench import docvqa_requests


def test_every_round_sends_every_page() -> None:
    times, sent = docvqa_requests.measure(pages=3, size=30_000, rounds=2)
    assert len(times) == 2
    assert 3 * 40_000 < sent < 3 * 50_000
