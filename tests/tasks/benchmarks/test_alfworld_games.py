"""ALFWorld with its engine: real games, stepped by TextWorld in processes of their own, trained on over HTTP."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from skillgit.models.base import Message, Reply, Request
from skillgit.tasks.base import BenchmarkContext
from skillgit.tasks.benchmarks.alfworld import AlfWorld
from skillgit.tasks.benchmarks.alfworld.engine import GameFaultError
from skillgit.tasks.benchmarks.alfworld.pool import Pool
from tests.conftest import git
from tests.models.server import body, serving
from tests.tasks.benchmarks.games import HEAT, PLACE, PLAYABLE, way, write_game
from tests.train.lab import append

pytestmark = pytest.mark.skipif(not PLAYABLE, reason="alfworld and textworld are not installed")

RULE = "- RULE_HEAT: what shall be hot goes through the microwave first"


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """ALFWorld's data folder with games of two kinds: `hot` ones, and others."""
    folder = tmp_path_factory.mktemp("alfworld")
    things = ("apple", "bread", "egg", "potato", "tomato")
    games = {thing: write_game(folder, HEAT, thing, "diningtable", others=("fork",)) for thing in things}
    games["mug"] = write_game(folder, PLACE, "mug", "diningtable")
    return folder, games


@pytest.fixture
def data(written, monkeypatch):
    monkeypatch.setenv("ALFWORLD_DATA", str(written[0]))
    return written[0]


@pytest.fixture(scope="module")
def pool(written):
    with closing(Pool(written[0], 2)) as running:
        yield running


def test_a_game_is_won_by_its_plan(written, pool):
    with closing(pool.open(written[1]["egg"])) as game:
        assert game.seen.text.endswith("Your task is to: put a hot egg in diningtable.")
        assert "go to microwave 1" in game.seen.actions
        assert game.act("dance").text == "Nothing happens."
        seen = [game.act(action) for action in way(HEAT, "egg")]
    assert seen[1].text == "You pick up the egg 1 from the countertop 1."
    assert [each.won for each in seen] == [False] * 5 + [True]
    assert seen[-1].over


def test_many_games_share_two_processes_and_none_disturbs_another(written, pool):
    def play(thing):
        with closing(pool.open(written[1][thing])) as game:
            for action in way(PLACE if thing == "mug" else HEAT, thing):
                seen = game.act(action)
            return thing, seen.won, seen.text

    with ThreadPoolExecutor(6) as threads:
        done = list(threads.map(play, written[1]))
    assert done == [(thing, True, f"You move the {thing} 1 to the diningtable 1.") for thing in written[1]]
    assert len(pool._processes) == 2
    assert [process.games for process in pool._processes] == [0, 0]


@pytest.mark.parametrize(
    "raw", ["{}", "[]", "no json", '{"pddl_domain": "(define", "pddl_problem": "(", "grammar": "x"}']
)
def test_what_is_no_game_is_its_own_fault(written, pool, tmp_path, raw):
    path = tmp_path / "x.tw-pddl"
    path.write_text(raw)
    with pytest.raises(GameFaultError, match="cannot be played"):
        pool.open(path)


class Player:
    """A target that knows where everything is, and heats things only when the skill says so."""

    def __init__(self):
        self.asked = []

    def __call__(self, request: Request) -> str:
        system, user = (turn.content for turn in request.messages)
        self.asked.append(user)
        goal = re.search(r"put a (hot )?(\w+) in", user)
        count = int(found[1]) if (found := re.search(r"Actions so far: (\d+)", user)) else 0
        if goal[2] == "bread" and count == 0:
            return "I start at the counter."
        plan = way(HEAT if goal[1] and "RULE_HEAT" in system else PLACE, goal[2])
        done = count - (goal[2] == "bread")
        return f"<think>step</think><action>{plan[done] if done < len(plan) else 'inventory'}</action>"


def both_roles(player):
    def move(handler):
        turns = tuple(Message(turn["role"], turn["content"]) for turn in handler.body["messages"])
        if "response_format" in handler.body:
            # The second proposal harms nothing and helps nothing, so the gate rejects it.
            learned = "RULE_HEAT" in "\n".join(turn.content for turn in turns)
            text = json.dumps(append("- Be quick." if learned else RULE))
        else:
            text = player(Request(turns))
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
        body({"choices": [choice], "usage": {"prompt_tokens": 100, "completion_tokens": 5}})(handler)

    return move


SETTINGS = (
    "model.backend=openai_compatible",
    "model.target=m",
    "model.optimizer=m",
    "env.name=alfworld",
    "env.split_dir=data/split",
    "env.max_steps=7",
    "env.workers=4",
    "train.batch_size=2",
    "train.num_epochs=1",
    "optimizer.use_slow_update=false",
    "optimizer.use_meta_skill=false",
    "evaluation.eval_test=false",
)


def repository(folder, written):
    top, games = written
    cup = write_game(top, PLACE, "cup", "fridge")  # to where the player does not know the way
    splits = {"train": ("apple", "mug", "bread", "egg"), "val": ("potato", "cup"), "test": ("tomato",)}
    for split, things in splits.items():
        rows = [
            {
                "id": f"{split}:{n:04}",
                "gamefile": (games | {"cup": cup})[t].relative_to(top).as_posix(),
                "task_type": HEAT,
            }
            for n, t in enumerate(things)
        ]
        place = folder / "data/split" / split
        place.mkdir(parents=True)
        (place / "items.json").write_text(json.dumps(rows))
    skill = folder / "skills/alfworld"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: alfworld\ndescription: Household games.\n---\n\n# Games\n\nNo rules.\n")
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "start")
    return folder


def test_two_steps_of_training_and_an_evaluation_over_http(written, data, tmp_path, skillgit, monkeypatch):
    folder, player = repository(tmp_path / "repo", written), Player()
    given = [part for setting in SETTINGS for part in ("--set", setting)]
    with serving(both_roles(player)) as fake:
        monkeypatch.setenv("OPENAI_COMPATIBLE_BASE_URL", fake.url)
        monkeypatch.setenv("OPENAI_COMPATIBLE_API_KEY", "k")
        code, out, err = skillgit(folder, "train", "alfworld", *given, "--json")
        assert code == 0, err
        events = [json.loads(line) for line in out.splitlines()]
        done = [event for event in events if event.get("kind") == "step"]
        assert [(step["verdict"], step["base_score"]) for step in done] == [("accept_new_best", 0.0), ("reject", 0.5)]
        # Two val games at the start; two of train and two of val in each step; seven actions in each.
        (planned,) = [event["calls"]["target"] for event in events if event["event"] == "run_planned"]
        assert len(player.asked) <= planned == 7 * (2 + 2 * 4)
        analyst = next(sent for sent in fake.bodies if "response_format" in sent)["messages"][-1]["content"]
        assert "Asked: put a hot" in analyst
        assert "[tool] You pick up the" in analyst

        best = git(folder, "branch", "--list", "train/*", "--format=%(refname:short)")
        before, evaluate = len(player.asked), ("eval", "alfworld", best, "--split", "test", *given, "--json")
        code, _, err = skillgit(folder, *evaluate, "--set", "budget.calls=4")
        assert (code, len(player.asked) - before) == (6, 4), err
        code, out, err = skillgit(folder, *evaluate)
        assert (code, json.loads(out)["hard"]) == (0, 1.0), err
        # The game went on where it had stopped: its first four actions were not asked for again.
        assert len(player.asked) - before == 6


def test_a_rollout_that_was_paid_for_is_played_again_for_nothing(written, data, tmp_path):
    benchmark = AlfWorld(BenchmarkContext(repository(tmp_path / "repo", written), "s", {"split_dir": "data/split"}))
    task, player, store = benchmark.load().train[0], Player(), {}

    def ask(request):
        key = tuple(turn.content for turn in request.messages)
        if key not in store:
            store[key] = Reply(player(request))
        return store[key]

    first = benchmark.rollout(task, RULE, ask)
    paid = len(player.asked)
    assert first.score.hard == 1.0
    assert benchmark.rollout(task, RULE, ask) == first
    assert len(player.asked) == paid == 6


def test_two_processes_tell_a_room_in_the_same_words(written, pool):
    games = [pool.open(written[1]["egg"]) for _ in range(2)]
    assert games[0]._process is not games[1]._process
    told = [[game.seen, game.act("go to diningtable 1"), game.act("look")] for game in games]
    assert told[0] == told[1]
    for game in games:
        game.close()
