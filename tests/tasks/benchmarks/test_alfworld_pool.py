"""The processes that games are played in, with a stand-in for the engine: how they share, end and are replaced."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from skillgit.errors import ConfigError, ModelError
from skillgit.tasks.benchmarks.alfworld.engine import GameFaultError
from skillgit.tasks.benchmarks.alfworld.pool import Pool, cores

ENGINE = """
import json, os, time

class EnvInfos:
    def __init__(self, **wanted):
        assert wanted == {"won": True, "admissible_commands": True}

class State(dict):
    feedback = ""

class Game:
    def __init__(self, path):
        self.first, self.done = json.load(open(path))["first"], []
        print("noise", flush=True)

    def seen(self, text, won=False):
        state = State(won=won, admissible_commands=["look", "win"])
        state.feedback = str(text)
        return state

    def reset(self):
        return self.seen(eval(self.first))

    def step(self, action):
        os.system("echo more noise")
        self.done.append(action)
        if action == "crash":
            os._exit(9)
        if action == "hang":
            time.sleep(60)
        if action == "break":
            raise KeyError("of the game")
        return self.seen(", ".join(self.done), action == "win"), 0, False

    def close(self):
        pass

def start(path, request_infos, wrappers):
    assert len(wrappers) == 1
    return Game(path)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A data folder, and a stand-in for TextWorld and ALFWorld that processes of ours find first."""
    place = tmp_path / "packages/alfworld/agents/environment"
    place.mkdir(parents=True)
    (place / "alfred_tw_env.py").write_text("class AlfredDemangler:\n    pass\n")
    (tmp_path / "packages/textworld.py").write_text(ENGINE)
    for name in ("alfworld", "alfworld/agents", "alfworld/agents/environment"):
        (tmp_path / "packages" / name / "__init__.py").touch()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "packages"))
    return tmp_path


@pytest.fixture
def pool(folder):
    with closing(Pool(folder, 2)) as running:
        yield running


def game(folder, first="'a room'"):
    path = folder / f"{len(list(folder.iterdir()))}.tw-pddl"
    path.write_text(json.dumps({"first": first}))
    return path


def test_a_game_is_played_whatever_the_engine_prints(folder, pool):
    with closing(pool.open(game(folder))) as played:
        assert (played.seen.text, played.seen.actions, played.seen.over) == ("a room", ("look", "win"), False)
        assert played.act("look").text == "look"
        seen = played.act("win")
    assert (seen.text, seen.won, seen.over) == ("look, win", True, True)


def test_games_share_the_processes_evenly_and_leave_them(folder, pool):
    def play(number):
        with closing(pool.open(path)) as played:
            return [played.act(f"{number}{step}").text for step in "abc"][-1]

    path = game(folder)
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(play, range(24))) == [f"{n}a, {n}b, {n}c" for n in range(24)]
    assert len(pool._processes) == 2
    assert [process.games for process in pool._processes] == [0, 0]


def test_one_game_needs_one_process(folder, pool):
    for _ in range(3):
        pool.open(game(folder)).close()
    assert len(pool._processes) == 1


def test_a_game_goes_on_in_another_process_when_its_own_ends(folder, pool):
    with closing(pool.open(game(folder))) as played:
        played.act("one")
        played._process.end()
        assert played.act("two").text == "one, two"


@pytest.mark.parametrize("how", ["crash", "hang"])
def test_a_game_that_takes_its_process_along_is_an_error_and_no_score(folder, how):
    with closing(Pool(folder, 1)) as pool:
        neighbour, bad = pool.open(game(folder)), pool.open(game(folder))
        neighbour.act("one")
        pool.seconds, started = (1.0 if how == "hang" else 30.0), time.monotonic()
        with pytest.raises(ModelError, match=r"ended its process|longer than 1 s") as caught:
            bad.act(how)
        assert "after 1 actions" in caught.value.why
        assert time.monotonic() - started < 20
        pool.seconds = 30.0
        bad.close()
        assert neighbour.act("two").text == "one, two"
        neighbour.close()


def test_a_game_that_never_opens_is_an_error(folder, pool):
    with pytest.raises(ModelError, match="ended its process"):
        pool.open(game(folder, "os._exit(9)"))
    assert sum(process.games for process in pool._processes) == 0


def test_a_game_that_breaks_is_its_own_fault(folder, pool):
    with closing(pool.open(game(folder))) as played, pytest.raises(GameFaultError, match="KeyError: 'of the game'"):
        played.act("break")
    with pytest.raises(GameFaultError, match="ZeroDivisionError"):
        pool.open(game(folder, "1 / 0"))
    with pytest.raises(GameFaultError, match="cannot be played"):
        pool.open(folder / "missing")


def test_games_see_no_secret_of_ours(folder, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "hunter2")
    monkeypatch.setenv("GITHUB_TOKEN", "hunter2")
    with closing(Pool(folder, 1)) as pool, closing(pool.open(game(folder, "dict(os.environ)"))) as played:
        assert "'PYTHONHASHSEED': '0'" in played.seen.text
        assert f"'ALFWORLD_DATA': '{folder}'" in played.seen.text
        assert "hunter2" not in played.seen.text


def test_the_words_of_a_room_do_not_differ_by_process(folder, monkeypatch):
    told = set()
    for seed in ("1", "2"):
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        with closing(Pool(folder, 1)) as pool:
            told.add(pool.open(game(folder, "{'cup', 'mug', 'pan', 'pot', 'egg'}")).seen.text)
    assert len(told) == 1


def test_without_the_engine_the_extra_is_named(folder, pool):
    (folder / "packages/textworld.py").write_text("raise ImportError('No module named textworld')")
    with pytest.raises(ConfigError) as caught:
        pool.open(game(folder))
    assert "pip install 'skillgit[alfworld]'" in str(caught.value)


def test_the_processes_end_with_the_pool(folder):
    pool = Pool(folder, 2)
    games = [pool.open(game(folder)) for _ in range(2)]
    processes = [played._process for played in games]
    assert [process.alive for process in processes] == [True, True]
    pool.close()
    pool.close()
    assert [process.alive for process in processes] == [False, False]


def test_at_least_one_core_is_ours():
    assert cores() >= 1
