from __future__ import annotations

import json
import logging
import math
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from skillgit.errors import (
    ConfigError,
    ContextLengthError,
    ModelConfigError,
    ModelError,
    RefusalError,
    TransientModelError,
)
from skillgit.models import retry
from skillgit.models.base import Message, ModelSpec, Request
from skillgit.models.http.client import OpenAICompatible
from skillgit.models.http.servers import openai_compatible as build

from . import server
from .server import Fake, serving

KEY = "sk-test-0123456789abcdef"
ASK = Request((Message("system", "Be brief."), Message("user", "Hi")))
SCHEMA = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "_FIRST_BACKOFF", 0.02)


def spec(url: str, **changes: Any) -> ModelSpec:
    values = {"role": "target", "backend": "openai_compatible", "model": "m1", "retries": 0, "timeout": 5.0}
    return ModelSpec(**{**values, "base_url": url, "api_key": KEY, **changes})


@contextmanager
def model(*moves: server.Move, **changes: Any) -> Iterator[tuple[OpenAICompatible, Fake]]:
    with serving(*moves) as fake:
        made = build(spec(fake.url, **changes))
        try:
            yield made, fake
        finally:
            made.close()


def failure(made: OpenAICompatible, request: Request = ASK, **how: Any) -> ModelError:
    with pytest.raises(ModelError) as caught:
        made.complete(request, **how)
    return caught.value


def test_an_answer_comes_back_whole() -> None:
    with model(server.answer("hello")) as (made, fake):
        reply = made.complete(ASK)
    assert (reply.text, reply.finish) == ("hello", "stop")
    usage = reply.usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens, usage.cost) == (10, 2, 4, None)
    assert fake.bodies == [{"model": "m1", "messages": [
        {"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]}]  # fmt: skip
    assert fake.paths == ["/v1/chat/completions"]
    assert fake.headers[0]["authorization"] == f"Bearer {KEY}"


def test_request_settings_win_over_the_models() -> None:
    tools = ({"type": "function", "function": {"name": "look"}},)
    request = Request(ASK.messages, seed=7, temperature=0.5, max_tokens=9, tools=tools)
    with model(server.answer(), seed=1, temperature=0.0, max_tokens=100) as (made, fake):
        made.complete(ASK)
        made.complete(request)
    first, second = fake.bodies
    assert (first["seed"], first["temperature"], first["max_tokens"]) == (1, 0.0, 100)
    assert (second["seed"], second["temperature"], second["max_tokens"]) == (7, 0.5, 9)
    assert second["tools"] == [dict(tools[0])]
    assert "tools" not in first


def test_fields_of_one_kind_of_server_are_sent_along() -> None:
    with serving(server.answer()) as fake:
        made = OpenAICompatible(spec(fake.url), lambda request: {"cache_prompt": len(request.messages) > 1})
        made.complete(ASK)
        made.close()
    assert fake.bodies[0]["cache_prompt"] is True


def test_length_and_tool_calls_are_told() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    with model(server.answer("cut", "length"), server.answer(None, "tool_calls", tool_calls=[call])) as (made, _):
        assert made.complete(ASK).finish == "length"
        reply = made.complete(ASK)
    assert (reply.finish, reply.tool_calls) == ("tool_calls", (call,))


def test_content_in_parts_is_joined() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    with model(server.answer(parts)) as (made, _):  # type: ignore[arg-type]
        assert made.complete(ASK).text == "ab"


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": None}, {"prompt_tokens": "12"}, 3])
def test_usage_that_is_not_reported_is_unknown(usage: Any) -> None:
    data = {"choices": [{"message": {"content": "x"}}], "usage": usage}
    with model(server.body(data)) as (made, _):
        found = made.complete(ASK).usage
    assert (found.prompt_tokens, found.completion_tokens, found.cached_tokens, found.cost) == (None,) * 4


def test_cost_is_as_reported_or_from_prices() -> None:
    choice = {"message": {"content": "x"}}
    counts = {"prompt_tokens": 1_000_000, "completion_tokens": 500_000}
    moves = [server.body({"choices": [choice], "usage": {**counts, **extra}}) for extra in ({}, {"cost": 0.5})]
    with model(*moves, options={"price": {"prompt": 1, "completion": 4}}) as (made, _):
        assert made.complete(ASK).usage.cost == pytest.approx(3.0)
        assert made.complete(ASK).usage.cost == 0.5


@pytest.mark.parametrize(
    "move",
    [
        server.error(500, "boom"),
        server.error(503, "loading"),
        server.error(429, "slow down"),
        server.error(408, "late"),
        server.raw(502, b"<html>bad gateway</html>"),
        server.body({"choices": []}),
        server.body({}),
        server.body({"choices": None}),
        server.body([1]),
        server.body({"error": {"code": 503, "message": "upstream"}}),
        server.answer(None),
        server.answer("  \n"),
        server.raw(200, b'{"choices": [{"mess'),
        server.raw(200, b"\xff\xfe"),
        server.raw(200, b"[" * 100_000),
        server.half,
        server.slam,
    ],
)
def test_trouble_is_retried_and_then_an_error_never_an_answer(move: server.Move) -> None:
    with model(move, retries=1) as (made, fake):
        error = failure(made)
    assert isinstance(error, TransientModelError)
    assert fake.calls == 2
    assert fake.url in str(error)
    assert "'m1'" in str(error)
    assert "next:" in str(error)
    assert "2 attempts" in str(error)


@pytest.mark.parametrize("move", [server.error(500), server.half, server.answer(""), server.body({"choices": []})])
def test_a_second_try_may_succeed(move: server.Move) -> None:
    with model(move, server.answer("fine"), retries=1) as (made, fake):
        assert made.complete(ASK).text == "fine"
    assert fake.calls == 2


def test_different_troubles_share_one_count() -> None:
    moves = (server.error(500), server.answer(""), server.half, server.answer("too late"))
    with model(*moves, retries=2) as (made, fake):
        assert isinstance(failure(made), TransientModelError)
    assert fake.calls == 3


def test_a_reply_cut_off_before_any_text_is_not_repeated() -> None:
    with model(server.answer("", "length"), retries=3) as (made, fake):
        error = failure(made)
    assert fake.calls == 1
    assert "max_tokens" in str(error)


def test_nobody_listens() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    made = build(spec(url, retries=1))
    error = failure(made)
    made.close()
    assert isinstance(error, TransientModelError)
    assert "refused" in str(error)
    assert url in str(error)


@pytest.mark.parametrize(
    ("move", "kind", "word"),
    [
        (server.error(401, "no"), ModelConfigError, "api_key_env"),
        (server.error(403, "no"), ModelConfigError, "api_key_env"),
        (server.error(404, "The model `m1` does not exist", code="model_not_found"), ModelConfigError, "model.target"),
        (server.error(400, "temperature must be 1"), ModelConfigError, "temperature must be 1"),
        (server.raw(422, b'{"detail": [{"loc": ["body"], "msg": "odd"}]}'), ModelConfigError, "odd"),
        (server.error(501, "not done"), ModelConfigError, "not done"),
        (server.error(429, "pay", code="insufficient_quota"), ModelConfigError, "quota"),
        (server.error(400, "too long", code="context_length_exceeded"), ContextLengthError, "shorten"),
        (server.error(400, "n", code=400, type="exceed_context_size_error"), ContextLengthError, "shorten"),
        (server.error(400, "This model's maximum context length is 4096 tokens"), ContextLengthError, "4096"),
        (server.raw(400, b'{"message": "maximum context length is 8", "code": 400}'), ContextLengthError, "8"),
        (server.error(500, "the request exceeds the available context size"), ContextLengthError, "context"),
        (server.error(413, "big"), ContextLengthError, "context"),
        (server.error(400, "filtered", code="content_filter"), RefusalError, "declined"),
        (server.answer("partial", "content_filter"), RefusalError, "filter"),
        (server.answer(None, refusal="I cannot help"), RefusalError, "I cannot help"),
        (server.body({"error": {"code": 401, "message": "no"}}), ModelConfigError, "api_key_env"),
    ],
)
def test_what_cannot_get_better_is_not_tried_again(move: server.Move, kind: type[ModelError], word: str) -> None:
    with model(move, retries=3) as (made, fake):
        error = failure(made)
    assert type(error) is kind
    assert fake.calls == 1
    assert word in str(error)
    assert fake.url in str(error)
    assert "next:" in str(error)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 429, 500])
def test_the_key_is_never_shown(status: int, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with model(server.echo_key(status)) as (made, _):
        error = failure(made)
        shown = f"{error} {error!r} {error.args} {made!r} {made.spec!r} {made.__dict__} {made.settings()} {caplog.text}"
    assert KEY not in shown
    assert error.__cause__ is None
    assert error.__context__ is None


def test_the_key_is_not_in_a_traceback_of_broken_bodies() -> None:
    with model(server.raw(200, f"Bearer {KEY} {KEY}".encode())) as (made, _):
        error = failure(made)
    assert KEY not in str(error)
    assert "[key]" in str(error)


def test_address_secrets_are_not_shown_and_the_query_is_sent() -> None:
    with serving(server.error(500)) as fake:
        host = fake.url.removeprefix("http://")
        made = build(spec(f"http://ann:pa55@{host}?api-version=7&code=hush"))
        error = failure(made)
        made.close()
    assert all(secret not in f"{error}{made!r}" for secret in ("ann", "pa55", "hush"))
    assert fake.paths == ["/v1/chat/completions?api-version=7&code=hush"]


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://x/v1", "http://", "http://[::1", "http://x:99999/v1"])
def test_addresses_that_cannot_work_are_refused_at_once(url: str) -> None:
    with pytest.raises(ModelConfigError, match="base_url"):
        build(spec(url))


def test_keys_that_cannot_be_sent_are_refused_and_blanks_around_them_dropped() -> None:
    with pytest.raises(ModelConfigError, match="characters") as caught:
        build(spec("http://127.0.0.1:1/v1", api_key="schlüssel-geheim"))
    assert "geheim" not in str(caught.value)
    with model(server.answer(), api_key=f" {KEY}\n") as (made, fake):
        made.complete(ASK)
    assert fake.headers[0]["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    "changes",
    [{"retries": -1}, {"timeout": 0.0}, {"timeout": math.nan}, {"options": {"price": {"prompt": 1}}}],
)
def test_numbers_that_cannot_be_used(changes: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"model\."):
        build(spec("http://127.0.0.1:1/v1", **changes))


def test_a_model_needs_a_name() -> None:
    with pytest.raises(ModelConfigError, match="no model named"):
        build(spec("http://127.0.0.1:1/v1", model=" "))


def test_no_key_and_a_proxy_for_the_world_do_not_matter_here(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-someone-else")
    with model(server.answer(), api_key="") as (made, fake):
        assert made.complete(ASK).text == "hello"
    assert "someone" not in fake.headers[0]["authorization"]


def test_text_that_cannot_be_encoded_does_not_cost_the_call() -> None:
    with model(server.answer()) as (made, fake):
        made.complete(Request((Message("user", "a\ud800b"),)))
    assert fake.bodies[0]["messages"][0]["content"] == "a?b"


# --- time ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("move", [server.hang, server.drip])
@pytest.mark.parametrize("how", [{"timeout": 0.6}, {}])
def test_the_time_limit_holds(move: server.Move, how: dict[str, float]) -> None:
    with model(move, timeout=0.6) as (made, fake):
        start = time.monotonic()
        error = failure(made, **how)
        took = time.monotonic() - start
    assert isinstance(error, TransientModelError)
    assert "in time" in str(error)
    assert 0.5 < took < 1.6
    assert fake.calls == 1


def test_the_deadline_covers_all_attempts() -> None:
    with model(server.hang, timeout=0.3, retries=50) as (made, fake):
        start = time.monotonic()
        failure(made, timeout=1.5)
        took = time.monotonic() - start
    assert took < 2.3
    assert 3 <= fake.calls <= 6


def test_no_time_no_call() -> None:
    with model(server.answer()) as (made, fake):
        assert isinstance(failure(made, timeout=0.0), TransientModelError)
    assert fake.calls == 0


@pytest.mark.parametrize("headers", [{"Retry-After": "1"}, {"retry-after-ms": "1000"}])
def test_retry_after_is_honoured(headers: dict[str, str]) -> None:
    with model(server.error(429, "", headers), server.answer(), retries=1) as (made, fake):
        made.complete(ASK, timeout=10.0)
    assert 0.95 < fake.times[1] - fake.times[0] < 2.5


@pytest.mark.parametrize(("asked", "timeout"), [("3600", None), ("30", 5.0)])
def test_a_wait_that_does_not_fit_ends_the_call_at_once(asked: str, timeout: float | None) -> None:
    with model(server.error(429, "busy", {"Retry-After": asked}), retries=3) as (made, fake):
        start = time.monotonic()
        error = failure(made, timeout=timeout)
    assert time.monotonic() - start < 2.0
    assert fake.calls == 1
    assert f"{asked} s" in str(error)


def test_a_server_may_forbid_retries() -> None:
    with model(server.error(500, "", {"x-should-retry": "false"}), retries=3) as (made, fake):
        failure(made)
    assert fake.calls == 1


# --- what servers do not know -------------------------------------------------------------------------------------


def test_a_schema_is_sent_strictly() -> None:
    with model(server.understands("json_schema")) as (made, fake):
        made.complete(Request(ASK.messages, schema=SCHEMA))
    sent = fake.bodies[0]["response_format"]
    assert sent["type"] == "json_schema"
    assert sent["json_schema"]["strict"] is True
    assert sent["json_schema"]["schema"] == SCHEMA
    assert fake.bodies[0]["messages"][-1]["content"] == "Hi"


@pytest.mark.parametrize("status", [400, 422, 501])
@pytest.mark.parametrize(("known", "first_calls"), [(("json_object",), 2), ((), 3)])
def test_weaker_formats_are_learned_once(status: int, known: tuple[str, ...], first_calls: int) -> None:
    request = Request(ASK.messages, schema=SCHEMA)
    with model(server.understands(*known, status=status)) as (made, fake):
        made.complete(request)
        assert fake.calls == first_calls
        made.complete(request)
        assert fake.calls == first_calls + 1
        made.complete(ASK)
    assert json.dumps(SCHEMA) in fake.bodies[-2]["messages"][-1]["content"]
    assert "response_format" not in fake.bodies[-1]
    assert fake.bodies[-1]["messages"][-1]["content"] == "Hi"


def test_the_other_name_of_the_token_limit_is_learned() -> None:
    request = Request(ASK.messages, schema=SCHEMA, max_tokens=5)
    with model(server.understands(limit="max_completion_tokens")) as (made, fake):
        made.complete(request)
        made.complete(request)
    assert fake.calls == 5  # three rejections, an answer, an answer
    assert fake.bodies[-1]["max_completion_tokens"] == 5
    assert "max_tokens" not in fake.bodies[-1]


def test_a_rejection_with_another_cause_teaches_nothing() -> None:
    with model(server.error(422, "odd"), server.error(422, "odd"), server.error(422, "odd"), server.answer()) as (
        made,
        fake,
    ):
        request = Request(ASK.messages, schema=SCHEMA)
        assert isinstance(failure(made, request), ModelConfigError)
        made.complete(request)
    assert fake.bodies[-1]["response_format"]["type"] == "json_schema"


def test_many_threads_learn_together() -> None:
    request = Request(ASK.messages, schema=SCHEMA, max_tokens=5)
    with model(server.understands(limit="max_completion_tokens")) as (made, fake):
        texts: list[str] = []
        threads = [threading.Thread(target=lambda: texts.append(made.complete(request).text)) for _ in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        before = fake.calls
        made.complete(request)
        assert fake.calls == before + 1
    assert texts == ['{"ok": true}'] * 12


# --- the rest -----------------------------------------------------------------------------------------------------


def test_settings_hold_what_changes_answers_and_no_address() -> None:
    made = build(spec("http://127.0.0.1:1/v1", temperature=0.3, max_tokens=7, seed=3))
    assert made.settings() == {"backend": "openai_compatible", "temperature": 0.3, "max_tokens": 7, "seed": 3}


def test_close_may_be_repeated_and_a_call_reopens() -> None:
    with model(server.answer()) as (made, fake):
        made.complete(ASK)
        made.close()
        made.close()
        made.complete(ASK)
    assert fake.calls == 2


def test_importing_and_building_does_not_load_the_sdk() -> None:
    code = (
        "import sys; from skillgit.models.base import ModelSpec; from skillgit.models.registry import build;"
        "build(ModelSpec('target', 'openai_compatible', 'm', api_key='k'));"
        "bad = [n for n in sys.modules if n.partition('.')[0] in ('openai', 'httpx', 'httpx2', 'pydantic')];"
        "sys.exit(', '.join(bad) or None)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "message",
    [
        {"content": "<think>hm</think>42"},
        {"content": "42", "reasoning_content": "hm"},
        {"content": "42", "reasoning": " hm "},
    ],
)
def test_reasoning_is_kept_apart_from_the_answer(message: dict[str, str]) -> None:
    with model(server.answer(message["content"], **{k: v for k, v in message.items() if k != "content"})) as (made, _):
        reply = made.complete(ASK)
    assert (reply.text, reply.reasoning) == ("42", "hm")


def test_thoughts_cut_at_the_token_limit_are_no_answer() -> None:
    with model(server.answer("<think>so far", "length")) as (made, _):
        error = failure(made)
    assert "token limit" in error.why
