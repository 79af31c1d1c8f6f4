"""Fewer requests at once when a server is busy, more again as it answers."""

from __future__ import annotations

import json
import math
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request as Asked
from werkzeug import Response

from skillgit.models import registry, retry
from skillgit.models.base import Message, ModelSpec, Request
from skillgit.models.throttle import Throttle


def test_there_is_no_limit_until_the_server_refuses() -> None:
    throttle = Throttle()
    assert throttle.limit == math.inf
    throttle.answered()
    assert throttle.limit == math.inf


def test_refusals_halve_once_for_all_that_were_under_way_and_answers_raise_again() -> None:
    throttle = Throttle()
    turns = [throttle.turn(1) for _ in range(8)]
    assert all(turn.__enter__() for turn in turns)
    for _ in turns:
        throttle.refused()
    assert throttle.limit == 4
    for turn in turns:
        turn.__exit__(None, None, None)
    for _ in range(5):
        throttle.answered()
    assert 5 <= throttle.limit < 6


def test_who_waits_longer_than_there_is_time_is_told() -> None:
    throttle = Throttle()
    with throttle.turn(1):
        throttle.refused()
        assert throttle.limit == 1
        started = time.monotonic()
        with throttle.turn(0.05) as granted:
            assert not granted
        assert time.monotonic() - started < 5


def test_a_server_that_takes_two_at_once_gets_all_answers_out(
    httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sixteen callers at a server that refuses the third request at a time: all are answered, few refused."""
    monkeypatch.setattr(retry, "_FIRST_BACKOFF", 0.02)
    monkeypatch.setattr(retry, "_LAST_BACKOFF", 0.1)
    lock, seen = threading.Lock(), {"now": 0, "refused": 0}

    def handle(_: Asked) -> Response:
        with lock:
            seen["now"] += 1
            busy = seen["now"] > 2
            seen["refused"] += busy
        time.sleep(0.02)
        with lock:
            seen["now"] -= 1
        if busy:
            return Response(json.dumps({"error": {"message": "slow down"}}), 429, content_type="application/json")
        message = {"role": "assistant", "content": "ok"}
        return Response(json.dumps({"choices": [{"message": message}]}), 200, content_type="application/json")

    httpserver.expect_request("/v1/chat/completions").respond_with_handler(handle)
    spec = ModelSpec("target", "openai_compatible", "m", base_url=httpserver.url_for("/v1"), retries=20)
    model = registry.build(spec)
    ask = Request((Message("user", "hi"),))
    with ThreadPoolExecutor(16) as pool:
        texts = list(pool.map(lambda _: model.complete(ask).text, range(64)))
    model.close()
    assert texts == ["ok"] * 64
    assert seen["refused"] < 64
