"""ALFWorld without its engine: the protocol on a game of paper, the items, and every way in which one can be bad."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillgit.errors import TaskError, TransientModelError
from skillgit.models.base import Reply
from skillgit.tasks.base import BenchmarkContext, Foreseen, Task
from skillgit.tasks.benchmarks.alfworld import AlfWorld
from skillgit.tasks.benchmarks.alfworld.engine import GameFaultError, Seen
from skillgit.tasks.benchmarks.alfworld.items import find_game
from skillgit.tasks.benchmarks.alfworld.play import action_in

OPENING = "You see a box 1.\n\nYour task is to: open the box."
TASK = Task("train:0000", "open the box.", data={"gamefile": "a/game.tw-pddl", "sha256": "0"})


class Box:
    """A game that is won by opening the box after looking into the room."""

    def __init__(self) -> None:
        self.seen = Seen(OPENING, ("help", "look", "open box 1"), False, False)
        self.done, self.closed = [], 0

    def act(self, action):
        self.done.append(action)
        won = self.done[-2:] == ["look", "open box 1"]
        said = f"You did {len(self.done)}." if action in self.seen.actions else "Nothing happens."
        self.seen = Seen(said, self.seen.actions, won, won)
        return self.seen

    def close(self):
        self.closed += 1


class Shelf:
    """An engine with one game, or with a fault."""

    def __init__(self, fault=""):
        self.game, self.fault = Box(), fault

    def open(self, path):
        if self.fault:
            raise GameFaultError(self.fault)
        return self.game


class Says:
    """A target with one reply per turn; the last repeats. An exception is raised."""

    def __init__(self, *replies):
        self.replies, self.requests = replies, []

    def __call__(self, request):
        self.requests.append(request)
        reply = self.replies[min(len(self.requests), len(self.replies)) - 1]
        if isinstance(reply, Exception):
            raise reply
        return reply if isinstance(reply, Reply) else Reply(reply)


@pytest.fixture
def data(tmp_path, monkeypatch):
    """ALFWorld's data folder with one game file."""
    folder = tmp_path / "data"
    (folder / "a").mkdir(parents=True)
    (folder / "a/game.tw-pddl").write_text(json.dumps({"grammar": '"rhs": "Your task is to: open the box."'}))
    monkeypatch.setenv("ALFWORLD_DATA", str(folder))
    return folder


def alfworld(root, shelf=None, **options):
    return AlfWorld(BenchmarkContext(root, "s", options), shelf or Shelf())


def play(tmp_path, *replies, skill="", **options):
    shelf, says = Shelf(), Says(*replies)
    got = alfworld(tmp_path, shelf, **options).rollout(TASK, skill, says)
    return got, shelf.game, says


def act(action):
    return f"<think>so</think>\n<action>{action}</action>"


def test_the_first_request_shows_the_room_and_what_can_be_done(data, tmp_path):
    _, _, says = play(tmp_path, act("look"), act("open box 1"), skill="Look first.", max_completion_tokens=99)
    system, user = says.requests[0].messages
    assert (system.role, user.role) == ("system", "user")
    assert system.content.endswith("## Skill\n\nLook first.")
    assert user.content.startswith(
        f"## What you see now\n\n{OPENING}\n\n## What you can do now\n\n- look\n- open box 1\n"
    )
    assert says.requests[0].max_tokens == 99


def test_later_requests_tell_the_task_the_count_and_the_last_two_actions(data, tmp_path):
    _, _, says = play(tmp_path, act("open box 1"), act("jump"), act("look"), act("open box 1"))
    assert all("Skill" not in request.messages[0].content for request in says.requests)
    text = says.requests[-1].messages[1].content
    assert text.startswith("## Your task\n\nopen the box.\n\n")
    assert "Actions so far: 3." in text
    assert "You saw: You did 1.\nYou did: jump\n\nYou saw: Nothing happens.\nYou did: look\n" in text
    assert "You did: open box 1" not in text
    assert "## What you see now\n\nYou did 3.\n" in text


def test_a_won_game_scores_one_and_is_left(data, tmp_path):
    got, game, _ = play(tmp_path, Reply(act("look"), reasoning="hm"), act("OPEN box 1 "))
    assert (got.score.hard, got.score.soft, got.score.reason) == (1.0, 1.0, "")
    assert game.done == ["look", "open box 1"]
    assert game.closed == 1
    assert [turn.role for turn in got.turns] == ["tool", "reasoning", "assistant", "tool", "assistant", "tool"]
    assert got.turns[0].content == OPENING
    assert got.response == act("OPEN box 1 ")


def test_a_reply_without_an_action_looks_and_is_counted(data, tmp_path):
    got, game, _ = play(tmp_path, "I open the box.", act("jump"), Reply(act("open"), finish="length"), max_steps=3)
    assert game.done == ["look", "jump", "open"]
    assert (got.score.hard, got.score.soft) == (0.0, 0.0)
    assert got.score.reason == (
        "alfworld: not done after 3 actions"
        " (of its replies 1 named no action, 2 named one that was not possible, 1 cut at the token limit)"
    )


def test_a_model_error_is_no_action(data, tmp_path):
    shelf, says = Shelf(), Says(act("open box 1"), TransientModelError("no answer"))
    with pytest.raises(TransientModelError):
        alfworld(tmp_path, shelf).rollout(TASK, "", says)
    assert shelf.game.done == ["open box 1"]
    assert shelf.game.closed == 1


def test_the_published_number_of_actions_is_fifty(data, tmp_path):
    _, game, says = play(tmp_path, act("jump"))
    assert len(game.done) == len(says.requests) == 50
    assert len(play(tmp_path, act("jump"), max_steps=0)[1].done) == 50


def test_a_very_long_action_is_shown_clipped(data, tmp_path):
    _, _, says = play(tmp_path, act("x" * 10_000), max_steps=2)
    assert len(says.requests[1].messages[1].content) < 2000


@pytest.mark.parametrize(
    ("response", "action"),
    [
        ("<action>go to desk 1</action>", "go to desk 1"),
        ("<think>a</think><Action>\n Go To Desk 1 \n</ACTION>", "go to desk 1"),
        ("<action>one</action> or <action>two</action>", "one"),
        ("</action><action>one</action>", "one"),
        ("<action></action>", ""),
        ("<action>open", None),
        ("open</action>", None),
        ("go to desk 1", None),
    ],
)
def test_the_action_of_a_response(response, action):
    assert action_in(response) == action


def test_a_run_is_estimated_without_opening_a_game(data, tmp_path):
    bench = alfworld(tmp_path, Shelf(fault="opened"), max_steps=7, max_completion_tokens=9)
    assert isinstance(bench, Foreseen)
    first = bench.first(TASK, "Look first.")
    assert [turn.role for turn in first.messages] == ["system", "user"]
    assert "Look first." in first.messages[0].content
    assert (first.max_tokens, bench.requests) == (9, 7)


def test_the_digest_follows_what_changes_a_game(data, tmp_path, monkeypatch):
    base = alfworld(tmp_path).judge_digest()
    assert base == alfworld(tmp_path, limit=3).judge_digest()
    assert base != alfworld(tmp_path, max_steps=30).judge_digest()
    monkeypatch.setattr("skillgit.tasks.benchmarks.alfworld.FALLBACK", "inventory")
    assert base != alfworld(tmp_path).judge_digest()


def items(tmp_path, *rows):
    for split, rows_of in (("train", rows), ("val", [row("val:1", "./a/game.tw-pddl")])):
        place = tmp_path / "split" / split
        place.mkdir(parents=True)
        (place / "items.json").write_text(json.dumps(rows_of, indent=0))
    return alfworld(tmp_path, split_dir="split")


def row(name, gamefile, **more):
    return {"id": name, "gamefile": gamefile, **more}


def test_items_have_the_goal_of_their_game_and_their_type(data, tmp_path):
    file = "a/game.tw-pddl"
    loaded = items(tmp_path, row("train:0/1 x", file, task_type="pick_and_place"), row("2", f"$ALFWORLD_DATA/{file}"))
    first, second = loaded.load().train
    assert (first.id, first.input, first.tags) == ("train:0/1 x", "open the box.", ("pick_and_place",))
    assert first.data["gamefile"] == file
    assert first.data["sha256"] == second.data["sha256"] != ""
    assert second.tags == ()


def test_the_type_is_read_off_the_file_when_it_is_not_given(data, tmp_path):
    loaded = items(tmp_path, row("1", "b/pick_heat_then_place_in_recep-Egg-None-Bin-1/t/game.tw-pddl"))
    assert loaded.load().train[0].tags == ("pick_heat_then_place_in_recep",)


def test_another_game_under_the_same_name_is_another_task(data, tmp_path):
    loaded = items(tmp_path, row("1", "a/game.tw-pddl"))
    before = loaded.load().train[0].digest()
    (data / "a/game.tw-pddl").write_text(json.dumps({"grammar": "Your task is to: close it."}))
    assert loaded.load().train[0].digest() != before


def test_every_faulty_row_is_named(data, tmp_path):
    loaded = items(tmp_path, {"id": "1"}, row("2", ""), row("3", "a/game.tw-pddl"), row("3", "b"), 7)
    with pytest.raises(TaskError) as caught:
        loaded.load()
    assert str(caught.value).splitlines()[0] == "4 problems in the task files"
    for part in (
        'items.json:2: has no "gamefile"',
        '"gamefile" must be text',
        'the id "3" is already used',
        "is not an",
    ):
        assert part in str(caught.value)


def test_the_same_game_in_two_splits_is_refused(data, tmp_path):
    with pytest.raises(TaskError, match="the same question is in"):
        items(tmp_path, row("1", "./a/game.tw-pddl")).load()


def test_without_a_single_game_nothing_starts(data, tmp_path):
    (data / "a/game.tw-pddl").unlink()
    with pytest.raises(TaskError) as caught:
        items(tmp_path, row("1", "a/game.tw-pddl")).load()
    assert "ALFWORLD_DATA" in str(caught.value)
    assert "alfworld-download" in str(caught.value)


BAD = {
    "missing/game.tw-pddl": "is not below $ALFWORLD_DATA",
    "../secret.tw-pddl": "leads out of $ALFWORLD_DATA",
    "a/../../secret.tw-pddl": "leads out of $ALFWORLD_DATA",
    "$SECRET/game.tw-pddl": "is not below $ALFWORLD_DATA",
    "~/secret.tw-pddl": "leads out of $ALFWORLD_DATA",
    "a": "is not below $ALFWORLD_DATA",
    "a/\0": "is not below $ALFWORLD_DATA",
    "x" * 5000: "is not below $ALFWORLD_DATA",
    "~nobody-of-that-name/x": "is not below $ALFWORLD_DATA",
}


@pytest.mark.parametrize("given", BAD, ids=lambda given: given[:30].replace("\0", "0"))
def test_a_game_that_is_not_there_fails_alone_and_tells_no_secret(data, tmp_path, monkeypatch, given):
    monkeypatch.setenv("SECRET", "hunter2")
    (tmp_path / "secret.tw-pddl").write_text("{}")
    (Path("~").expanduser() / "secret.tw-pddl").write_text("{}")
    loaded = items(tmp_path, row("bad", given), row("good", "a/game.tw-pddl"))
    bad, good = loaded.load().train
    assert bad.data["sha256"] == ""
    got = loaded.rollout(bad, "", Says(act("look")))
    assert got.score.hard == 0.0
    assert got.score.reason.startswith("setup: the game file")
    assert BAD[given] in got.score.reason
    assert "hunter2" not in got.score.reason
    assert loaded.rollout(good, "", Says(act("look"), act("open box 1"))).score.hard == 1.0


def test_an_absolute_path_must_lie_in_the_data_folder(data, tmp_path):
    (tmp_path / "elsewhere").write_text("{}")
    with pytest.raises(GameFaultError, match="leads out"):
        find_game(str(tmp_path / "elsewhere"), data)
    assert find_game(str(data / "a/game.tw-pddl"), data) == data / "a/game.tw-pddl"


def test_links_of_the_data_folder_are_the_users_own(data, tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "disk/game.tw-pddl").write_text("{}")
    (data / "linked").symlink_to(tmp_path / "disk")
    assert find_game("linked/game.tw-pddl", data).is_file()


@pytest.mark.parametrize("raw", [b"\xff\xfe", b"{", b'{"a": 1, "a": 2}', b"[1]", b"[" * 100_000], ids=range(5))
def test_a_file_that_is_no_game_loads_as_a_task_of_its_own(data, tmp_path, raw):
    (data / "bad.tw-pddl").write_bytes(raw)
    loaded = items(tmp_path, row("bad", "bad.tw-pddl"))
    (task,) = loaded.load().train
    assert task.input == "Do the household task that the game tells."


def test_what_the_engine_cannot_play_is_a_failed_task(data, tmp_path):
    got = alfworld(tmp_path, Shelf(fault="the game cannot be played (KeyError)")).rollout(TASK, "", Says("x"))
    assert (got.score.hard, got.score.reason) == (0.0, "setup: the game cannot be played (KeyError)")
