"""A failing endpoint, and limits: no score comes of a fault, nothing is lost, and nothing is spent past a limit."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import git
from tests.models import server
from tests.train.endpoint import Endpoint, endpoint
from tests.train.processes import SETTINGS, ledger, left_behind, make_repository, repeated, runs

Train = Callable[..., tuple[int, list[dict[str, Any]], str]]

FAULTS = {
    "busy": server.error(429, "slow down", {"retry-after": "0"}),
    "broken": server.error(500, "oh no"),
    "hanging": server.hang,
    "no choices": server.body({"choices": []}),
    "empty reply": server.answer(""),
    "half a body": server.half,
    "not JSON": server.raw(200, b"<html>"),
    "closed": server.slam,
}


@pytest.fixture
def place() -> Iterator[Endpoint]:
    with endpoint() as running:
        yield running


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "repo")


@pytest.fixture
def train(skillgit: Callable[..., tuple[int, str, str]]) -> Train:
    """Train over HTTP: exit code, events, standard error. A busy machine must not look like a fault of the server."""

    def call(repo: Path, url: str, *args: str, **settings: str) -> tuple[int, list[dict[str, Any]], str]:
        own = {"model.backend": "openai_compatible", "model.base_url": url}
        patience = {"model.timeout": "20", "model.retries": "1", "env.exec_timeout": "60"}
        changed = {key.replace("__", "."): value for key, value in settings.items()}
        pairs = {**SETTINGS, **own, **patience, **changed}.items()
        overrides = [part for key, value in pairs for part in ("--set", f"{key}={value}")]
        code, out, err = skillgit(repo, "train", "greeter", *overrides, "--json", *args)
        return code, [json.loads(line) for line in out.splitlines()], err

    return call


@pytest.fixture
def calm(tmp_path: Path, train: Train) -> tuple[Path, dict[str, Any], Endpoint]:
    """A run without any fault."""
    folder = make_repository(tmp_path / "calm")
    with endpoint() as running:
        code, events, err = train(folder, running.url)
        assert code == 0, err
        return folder, events[-1], running


def check_like(calm: tuple[Path, dict[str, Any], Endpoint], repo: Path, finished: dict[str, Any]) -> None:
    folder, expected, _ = calm
    [run], [other] = runs(repo), runs(folder)
    found, wanted = left_behind(repo, run), left_behind(folder, other)
    for side in (found, wanted):
        side["files"].pop("config.json")  # addresses differ
        state = json.loads(side["files"].pop("state.json"))
        side["state"] = {name: value for name, value in state.items() if name != "fingerprint"}
    assert found == wanted
    for name in ("calls", "usage", "accepted", "rejected", "test"):
        assert finished[name] == expected[name]


def records(repo: Path) -> list[dict[str, Any]]:
    lines = []
    for line in git(repo, "notes", "--ref=skillgit/evals", "list", check=False).splitlines():
        lines += git(repo, "cat-file", "blob", line.split()[0]).splitlines()
    return [json.loads(line) for line in lines]


def fault(kinds: set[str], move: server.Move, after: int = 0) -> Any:
    """Everything of these kinds goes wrong after the first `after`."""
    seen = 0

    def choose(number: int, kind: str, body: dict[str, Any]) -> server.Move | None:
        nonlocal seen
        seen += kind in kinds
        return move if kind in kinds and seen > after else None

    return choose


@pytest.mark.parametrize("name", FAULTS)
def test_a_target_that_never_answers_stops_the_run_at_once_and_scores_nothing(
    repo: Path, place: Endpoint, train: Train, name: str
) -> None:
    place.faulty = fault({"target"}, FAULTS[name])
    started = time.monotonic()
    code, events, err = train(repo, place.url, model__timeout="0.5", env__exec_timeout="3")
    assert time.monotonic() - started < 20
    assert code == 5, err
    assert place.url in err
    assert "run the same command again" in err
    assert [event["event"] for event in events] == ["run_planned"]
    assert records(repo) == []
    assert not git(repo, "branch", "--list", "train/*")
    assert ledger(repo) == []


def test_a_refused_connection_names_the_endpoint(repo: Path, train: Train) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        code, _, err = train(repo, url)
    assert code == 5
    assert url in err
    assert "cannot be reached" in err


def test_a_server_that_wants_a_long_wait_is_not_waited_for(repo: Path, place: Endpoint, train: Train) -> None:
    place.faulty = fault({"target"}, server.error(429, "quota", {"retry-after": "3600"}))
    started = time.monotonic()
    code, _, err = train(repo, place.url)
    assert time.monotonic() - started < 10
    assert code == 5
    assert "asks to wait 3600 s" in err


def test_a_wrong_key_stops_the_run_after_the_first_calls(tmp_path: Path, place: Endpoint, train: Train) -> None:
    repo = make_repository(tmp_path / "large", val=80)
    place.faulty = fault({"target"}, server.error(401, "bad key"))
    code, _, err = train(repo, place.url)
    assert code == 5
    assert "refused the API key" in err
    assert len(place.asked) < 40


INSTANTS = [("target", 5), ("target", 40), ("target", 90), ("analyst", 0), ("analyst", 7), ("merge", 0), ("merge", 3)]
INSTANTS += [("ranking", 0), ("slow_update", 0), ("meta_skill", 0)]


@pytest.mark.parametrize(("kind", "after"), INSTANTS)
def test_after_the_server_is_back_the_same_command_ends_as_if_nothing_had_been(
    repo: Path, place: Endpoint, train: Train, calm, kind: str, after: int
) -> None:
    place.faulty = fault({kind}, server.error(503, "away", {"retry-after": "0"}), after)
    code, _, err = train(repo, place.url)
    assert code == 5, err
    assert place.url in err
    before = len(ledger(repo))

    place.faulty = lambda number, kind, body: None
    code, events, err = train(repo, place.url)
    assert code == 0, err
    assert "going on with run" in events[0]["notes"][0]
    assert len(ledger(repo)) > before
    check_like(calm, repo, events[-1])
    assert not repeated(place.answered), "a call that was answered was asked again"


def test_faults_now_and_then_change_nothing(repo: Path, place: Endpoint, train: Train, calm) -> None:
    moves = [move for name, move in FAULTS.items() if name != "hanging"]
    at = {number: moves[n % len(moves)] for n, number in enumerate(range(4, 200, 13))}
    place.faulty = lambda number, kind, body: at.get(number)
    code, events, err = train(repo, place.url, model__retries="2", env__exec_timeout="20")
    assert code == 0, err
    assert len(place.asked) > len(place.answered)
    check_like(calm, repo, events[-1])


def stubborn(*names: str, move: server.Move) -> Any:
    """Tasks of these names never get an answer."""

    def choose(number: int, kind: str, body: dict[str, Any]) -> server.Move | None:
        return move if kind == "target" and body["messages"][-1]["content"][1:] in names else None

    return choose


@pytest.mark.parametrize("name", ["broken", "too long", "refused"])
def test_tasks_without_an_answer_are_left_out_and_said_to_be(
    repo: Path, place: Endpoint, train: Train, name: str
) -> None:
    move = {
        "broken": server.error(500, "oh no", {"retry-after": "0"}),
        "too long": server.error(400, "maximum context length is 10", code="context_length_exceeded"),
        "refused": server.answer("", refusal="no"),
    }[name]
    # val0 and val8 are kind A, so they would go from wrong to right; one or two of a wave of four are no majority.
    place.faulty = stubborn("val0", "val8", move=move)
    code, events, err = train(repo, place.url)
    assert code == 0, err
    found = [record for record in records(repo) if record["split"] == "val"]
    assert found
    for record in found:
        assert not record["complete"]
        assert {"val0", "val8"} >= set(record["errors"])
    full = {record["hard"] for record in found if record["n"] == 10}
    assert 0.0 in full
    assert max(full) >= 0.6
    assert all(hard * 10 == pytest.approx(round(hard * 10)) for hard in full), "means over the ten answered tasks"
    baseline = next(event for event in events if event["event"] == "baseline")
    assert baseline["n"] == 10
    for blob in git(repo, "notes", "--ref=skillgit/results", "list").splitlines():
        for line in git(repo, "cat-file", "blob", blob.split()[0]).splitlines():
            assert not {"val0", "val8"} & set(json.loads(line)["tasks"])


def test_many_tasks_that_fail_for_good_stop_the_run_only_past_the_limit(
    repo: Path, place: Endpoint, train: Train
) -> None:
    names = [f"val{number}" for number in range(6)]
    place.faulty = stubborn(*names, move=server.error(400, "too many input tokens", code="context_length_exceeded"))
    code, _, err = train(repo, place.url, evaluation__max_error_rate="0.49")
    assert code == 5
    assert "6 of 12 rollouts got no answer" in err
    code, events, err = train(repo, place.url, evaluation__max_error_rate="0.5")
    assert code == 0, err
    assert next(event for event in events if event["event"] == "baseline")["n"] == 6


def test_no_answer_at_all_is_no_baseline_whatever_the_limit(repo: Path, place: Endpoint, train: Train) -> None:
    place.faulty = fault({"target"}, server.error(400, "too long", code="context_length_exceeded"))
    code, events, err = train(repo, place.url, evaluation__max_error_rate="1")
    assert code == 5
    assert "no baseline" in err
    assert [event["event"] for event in events] == ["run_planned"]


@pytest.mark.parametrize(
    "text", ["I would rather not.", '{"edits": "none"}', '{"reasoning": "x"}', "[1, 2]", '{"edits": [']
)
def test_optimizer_replies_of_no_use_are_recorded_and_change_nothing(
    repo: Path, place: Endpoint, train: Train, text: str
) -> None:
    place.faulty = fault({"analyst"}, server.answer(text))
    code, events, err = train(repo, place.url, train__num_epochs="1")
    assert code == 0, err
    steps = [event for event in events if event["event"] == "step_finished" and event["kind"] == "step"]
    assert {event["verdict"] for event in steps} == {"skip_no_patches"}
    [run] = runs(repo)
    step = json.loads(git(repo, "show", f"refs/skillgit/runs/greeter/{run}:steps/0001.json"))
    assert step["drops"]
    assert all(drop["reason"].startswith("unusable reply: ") and not drop["failed"] for drop in step["drops"])
    assert place.asked.count("analyst") == 2 * sum(len(_drops(repo, run, number)) for number in (1, 2, 3)), (
        "asked twice"
    )


def _drops(repo: Path, run: str, number: int) -> list[Any]:
    return json.loads(git(repo, "show", f"refs/skillgit/runs/greeter/{run}:steps/{number:04d}.json"))["drops"]


def test_an_optimizer_reply_is_asked_for_once_more_with_the_error(repo: Path, place: Endpoint, train: Train) -> None:
    def choose(number: int, kind: str, body: dict[str, Any]) -> server.Move | None:
        again = "could not be used" in body["messages"][-1]["content"]
        return server.answer("Certainly!") if kind == "analyst" and not again else None

    place.faulty = choose
    code, events, err = train(repo, place.url, train__num_epochs="1")
    assert code == 0, err
    assert events[-1]["accepted"] > 0
    assert "analyst" not in [drop["stage"] for drop in _drops(repo, runs(repo)[0], 1)]


@pytest.mark.parametrize("limit", [1, 12, 33, 101])
def test_a_limit_on_calls_is_never_passed_and_a_higher_one_goes_on(
    repo: Path, place: Endpoint, train: Train, limit: int
) -> None:
    wide = {"env__workers": "16", "gradient__analyst_workers": "16"}
    code, _, err = train(repo, place.url, "--max-calls", str(limit), **wide)
    assert code == 6
    assert f"the limit of {limit} calls is reached" in err
    assert len(place.asked) == limit == len(ledger(repo))
    code, _, err = train(repo, place.url, "--max-calls", str(limit + 5), **wide)
    assert code == 6
    assert len(place.asked) == limit + 5

    code, events, err = train(repo, place.url, **wide)
    assert code == 0, err
    calls = events[-1]["calls"]
    assert calls["target"] + calls["optimizer"] == len(place.asked) == len(ledger(repo))
    code, _, err = train(repo, place.url, "--max-calls", str(len(place.asked)), "--fresh", **wide)
    assert code == 0, f"a second run of the same kind finds its rollouts and needs no more calls: {err}"


def test_a_run_cut_short_by_its_limit_ends_like_one_without(repo: Path, place: Endpoint, train: Train, calm) -> None:
    for limit in (5, 25, 60, 120):
        assert train(repo, place.url, "--max-calls", str(limit))[0] == 6
    code, events, err = train(repo, place.url)
    assert code == 0, err
    folder, expected, _ = calm
    assert events[-1]["calls"] == expected["calls"]
    [run], [other] = runs(repo), runs(folder)
    assert left_behind(repo, run)["notes"] == left_behind(folder, other)["notes"]


def test_a_limit_on_tokens_stops_the_run(repo: Path, place: Endpoint, train: Train) -> None:
    code, _, err = train(repo, place.url, "--max-tokens", "100")
    assert code == 6
    assert "the limit of 100 tokens is reached" in err
    # Twelve tokens a call: nine calls reach the limit, and at most the other workers' calls were under way.
    assert 9 <= len(place.asked) < 9 + int(SETTINGS["env.workers"])
