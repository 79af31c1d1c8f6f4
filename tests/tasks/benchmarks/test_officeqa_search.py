"""OfficeQA: searches at a configured address."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skillgit.errors import ConfigError, ModelConfigError, ModelError, TransientModelError
from skillgit.tasks.benchmarks.officeqa import search as searching
from skillgit.tasks.benchmarks.officeqa.search import Search, queries_in, shown
from tests.models.server import Handler, body, error, hang, raw, serving
from tests.tasks.benchmarks.bulletins import Target, benchmark, task


@pytest.fixture
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    waited: list[float] = []
    monkeypatch.setattr(searching.time, "sleep", waited.append)
    return waited


def place(url: str, **more: Any) -> dict[str, Any]:
    return {"search_mode": "custom_search", "search_api_url": url, "search_provider": "p", **more}


RESULTS = {"results": [{"title": "T", "url": "https://a", "snippet": "receipts 12"}, {"link": "b", "content": "c"}, 7]}


def test_searches_go_to_the_configured_address_with_its_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", "Bearer abc")
    target = Target(
        'Hm <search_queries>["receipts 1941", "receipts 1941", "b", "c", "d"]</search_queries>',
        '<search_queries>["receipts 1941"]</search_queries>',
        "<answer>12</answer>",
    )
    with serving(body(RESULTS)) as fake:
        options = place(fake.url, search_auth_env="MY_TOKEN", max_queries_per_turn=2, search_max_num_results=4)
        bench = benchmark(tmp_path, **options)
        got = bench.rollout(task(), "", target)
        assert fake.bodies == [{"query": q, "max_num_results": 4, "provider": "p"} for q in ("receipts 1941", "b")]
        assert {headers["authorization"] for headers in fake.headers} == {"Bearer abc"}
    assert got.score.hard == 1.0
    assert [turn.role for turn in got.turns] == ["user", "assistant", "tool", "assistant", "tool", "assistant"]
    sent = target.requests[1].messages[-1]
    assert sent.role == "user"
    assert "### receipts 1941\n\nT\nhttps://a\nreceipts 12\n\nb\nc\n\n### b" in sent.content
    assert "abc" not in repr(bench._search)


def test_the_last_round_must_answer(tmp_path: Path) -> None:
    asks = '<search_queries>["x"]</search_queries>'
    with serving(body([])) as fake:
        target = Target(asks, asks)
        got = benchmark(tmp_path, max_tool_turns=2, **place(fake.url)).rollout(task(), "", target)
        assert fake.calls == 1
    assert "no more searches" in target.requests[1].messages[-1].content
    assert "nothing was found" in target.requests[1].messages[-1].content
    assert "no answer in tags" in got.score.reason


def test_a_search_that_recovers_is_repeated_and_one_that_does_not_is_an_error_and_no_score(
    tmp_path: Path, no_waiting: list[float]
) -> None:
    asks = '<search_queries>["x"]</search_queries>'
    with serving(error(429), error(503), body(RESULTS)) as fake:
        target = Target(asks, "<answer>12</answer>")
        assert benchmark(tmp_path, **place(fake.url)).rollout(task(), "", target).score.hard == 1.0
        assert no_waiting == [1.0, 2.0]
    with serving(error(500)) as fake:
        with pytest.raises(TransientModelError, match="gave no answer"):
            benchmark(tmp_path, **place(fake.url)).rollout(task(), "", Target(asks))
        assert fake.calls == 5
    with pytest.raises(TransientModelError, match="gave no answer"):
        benchmark(tmp_path, **place(fake.url)).rollout(task(), "", Target(asks))


def test_a_refused_token_is_told_at_once_and_the_address_is_not_left(tmp_path: Path) -> None:
    def elsewhere(handler: Handler) -> None:
        handler.send_json(302, {}, {"Location": "http://127.0.0.1:1/x"})

    for move in (error(401), error(404), elsewhere):
        with serving(move) as fake:
            with pytest.raises(ModelConfigError, match="refused the request"):
                Search.of(place(fake.url)).find("x")
            assert fake.calls == 1


def test_a_search_has_its_own_time_and_number_of_results(no_waiting: list[float]) -> None:
    with serving(hang) as fake:
        with pytest.raises(TransientModelError, match="timed out"):
            Search.of(place(fake.url, search_timeout_seconds=0.05)).find("x")
        assert fake.calls == 5
    with serving(body(RESULTS)) as fake:
        assert Search.of(place(fake.url, search_max_num_results=1)).find("x") == "T\nhttps://a\nreceipts 12"
        assert fake.bodies[0]["max_num_results"] == 1


def test_a_query_that_the_search_refuses_is_the_error_of_one_task() -> None:
    with serving(error(422)) as fake:
        with pytest.raises(ModelError, match="refused the request") as caught:
            Search.of(place(fake.url)).find("x")
        assert not isinstance(caught.value, (ModelConfigError, TransientModelError))
        assert fake.calls == 1


@pytest.mark.parametrize(
    "url", ["", "http://search.example.org/", "ftp://x", "file:///etc/passwd", "https://", "http://["]
)
def test_only_https_addresses_are_taken(tmp_path: Path, url: str) -> None:
    with pytest.raises(ConfigError, match=r"env\.search"):
        benchmark(tmp_path, **place(url))


def test_a_token_that_is_not_set_or_cannot_be_sent_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    options = place("https://s.example.org", search_auth_env="MY_TOKEN")
    with pytest.raises(ConfigError, match="MY_TOKEN is not set"):
        Search.of(options, {})
    with pytest.raises(ConfigError, match="cannot be sent") as caught:
        Search.of(options, {"MY_TOKEN": "geheim\n2"})
    assert "geheim" not in str(caught.value)


@pytest.mark.parametrize(
    ("said", "queries"),
    [
        ('["a b", " a  b ", "c"]', ["a b", "c"]),
        ('{"queries": ["a", "b"]}', ["a", "b"]),
        ("- a\n- b\n\n- c", ["a", "b", "c"]),
        ("a; b", ["a", "b"]),
        ("a, b", ["a", "b"]),
        ("just one", ["just one"]),
        ("[" * 50_000, ["[" * 400]),
        ("", []),
        ("[1, null]", []),
    ],
)
def test_queries_are_read_in_every_form(said: str, queries: list[str]) -> None:
    assert queries_in(f"x <search_queries>{said}</SEARCH_QUERIES>", 3) == queries


def test_results_in_other_forms_are_shown() -> None:
    assert shown(b"plain words", 3) == "plain words"
    assert shown(b'["a", "b"]', 1) == "a"
    assert shown(b'{"answer": 3}', 3) == '{"answer": 3}'
    assert shown(b"", 3) == shown(b"[]", 3) == "nothing was found"


def test_a_broken_answer_of_the_search_is_shown_and_ends_nothing(tmp_path: Path) -> None:
    with serving(raw(200, b"\xff{")) as fake:
        assert Search.of(place(fake.url)).find("x") == "�{"
