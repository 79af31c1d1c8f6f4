"""Flipping any key of the `env` section that single benchmarks read changes what they ask or where they look."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillgit.config.load import load_config
from skillgit.config.schema import Env
from skillgit.errors import ModelError
from skillgit.evals.setup import load_tasks, locate
from skillgit.git.repository import Repository
from skillgit.models.base import Message, Reply, Request
from skillgit.tasks.base import Ask, BenchmarkContext, Score, Splits, Task, Trajectory
from skillgit.tasks.benchmarks.alfworld import AlfWorld
from skillgit.tasks.benchmarks.officeqa import search
from tests.conftest import SKILL
from tests.models.server import Handler, serving
from tests.tasks.benchmarks import bulletins, pages, sheets, test_alfworld, test_livemath
from tests.tasks.benchmarks.project import make

Settings = tuple[str, ...]
Observe = Callable[[Path, Settings], Any]


# --- benchmarks beside the packaged ones, found by their entry points


class Greeting:
    """A benchmark of another package, with a setting of its own."""

    name = "greeting"

    def __init__(self, ctx: BenchmarkContext) -> None:
        self._word = ctx.options["options"].get("word", "Hello")

    def load(self) -> Splits:
        return Splits((Task("t", "Anna"),), (Task("v", "Ben"),))

    def judge_digest(self) -> str:
        return self._word

    def rollout(self, task: Task, skill: str, ask: Ask) -> Trajectory:
        asked = Message("user", f"{self._word}, {task.input}!")
        reply = ask(Request((asked,)))
        return Trajectory((asked, Message("assistant", reply.text)), reply.text, Score(1.0, 1.0))


def paper(ctx: BenchmarkContext) -> AlfWorld:
    """ALFWorld on a game of paper."""
    return AlfWorld(ctx, test_alfworld.Shelf())


POINTS = f"[skillgit.benchmarks]\ngreeting = {__name__}:Greeting\npaper = {__name__}:paper\n"


# --- what can be observed; each takes a repository and settings, and gives something to compare


def asking(*replies: str | Reply) -> Observe:
    """What one rollout asks a target that gives these replies, the last again and again, and what becomes of it."""

    def observe(root: Path, settings: Settings) -> Any:
        asked: list[Request] = []

        def ask(request: Request) -> Reply:
            asked.append(request)
            reply = replies[min(len(asked), len(replies)) - 1]
            return Reply(reply) if isinstance(reply, str) else reply

        repo, config = Repository.open(root), load_config(root, "", settings)
        benchmark, splits = load_tasks(repo, config, locate(repo, config, "s"))
        return asked, benchmark.rollout(splits.train[0], "Be brief.", ask)

    return observe


said = asking("hm")
called = asking(Reply("", tool_calls=(bulletins.call("glob", pattern="*"),)))
looked = asking(test_alfworld.act("look"))
_searched = asking('<search_queries>["a", "b", "c", "d", "e"]</search_queries>', "<answer>12</answer>")


def searched(root: Path, settings: Settings) -> Any:
    """What a target learns by searching, and what the place where it searches is sent; `SERVER` is its address."""

    def slow(handler: Handler) -> None:
        handler.fake.stopping.wait(0.05)
        handler.send_json(200, [{"title": f"result {n} for {handler.body['query']}"} for n in range(9)])

    with serving(slow) as fake:
        try:
            seen = _searched(root, tuple(setting.replace("SERVER", fake.url) for setting in settings))
        except ModelError as error:
            seen = error.why
        return seen, fake.bodies, fake.paths, [headers.get("authorization") for headers in fake.headers]


def _of(name: str, *settings: str) -> Settings:
    return (f"env.name={name}", f"env.split_dir=data/{name}", *settings)


DOCS = "env.data_dirs=docs"
SEARCH = _of("officeqa", "env.search_mode=custom_search", "env.search_api_url=SERVER/one")
TABLE: dict[str, tuple[str, Observe, Settings]] = {
    "env.max_turns": ("3", said, _of("searchqa")),
    "env.max_steps": ("3", looked, _of("paper")),
    "env.max_tool_turns": ("3", called, _of("officeqa", DOCS)),
    "env.use_local_tools": ("false", said, _of("officeqa", DOCS)),
    "env.data_dirs": ("[more, docs]", said, _of("officeqa", DOCS)),
    "env.search_mode": ("custom_search", searched, _of("officeqa", DOCS, "env.search_api_url=SERVER/one")),
    "env.search_api_url": ("SERVER/two", searched, SEARCH),
    "env.search_auth_env": ("SEARCH_TOKEN", searched, SEARCH),
    "env.search_provider": ("other", searched, SEARCH),
    "env.search_max_num_results": ("2", searched, SEARCH),
    "env.search_timeout_seconds": ("0.01", searched, SEARCH),
    "env.max_queries_per_turn": ("2", searched, SEARCH),
    "env.image_detail": ("high", said, _of("docvqa")),
    "env.shuffle_choices": ("false", said, _of("livemathematicianbench")),
    "env.use_theorem": ("true", said, _of("livemathematicianbench")),
    "env.use_sketch": ("true", said, _of("livemathematicianbench")),
    "env.data_root": ("elsewhere", said, _of("spreadsheetbench")),
    "env.mode": ("single", said, _of("spreadsheetbench")),
    "env.options": ("{word: Goodbye}", said, _of("greeting")),
}


def test_every_key_that_single_benchmarks_read_is_in_the_table() -> None:
    # They are the last of the section; those before them have their rows in tests/config/test_every_key.py.
    names = [field.name for field in dataclasses.fields(Env)]
    assert set(TABLE) == {f"env.{name}" for name in names[names.index("max_turns") :]}


def _data() -> dict[str, Any]:
    """Path to content of a small data set of each benchmark."""
    items: dict[str, list[Any]] = {
        "searchqa": [{"id": f"q{n}", "question": f"Which city is {n}?", "answers": ["New York"]} for n in range(2)],
        "paper": [{"id": f"g{n}", "gamefile": f"{n}/game.tw-pddl"} for n in range(2)],
        "livemathematicianbench": [test_livemath.item(n) for n in range(2)],
    }
    files: dict[str, Any] = {"skills/s/SKILL.md": SKILL.replace("greeter", "s").encode()}
    for name, (train, val) in items.items():
        files |= {f"data/{name}/train/items.json": [train], f"data/{name}/val/items.json": [val]}
    files |= {name.replace("docvqa/splits", "docvqa"): content for name, content in pages.files().items()}
    files |= {f"data/spreadsheetbench/{name}": content for name, content in sheets.data(["t"], ["v"], cases=1).items()}
    other = sheets.workbook([["name", "amount"], ["lamp", 9]])
    files |= {f"elsewhere/spreadsheet/t/1_t_{kind}.xlsx": other for kind in ("input", "answer")}
    return {**files, "more/more.txt": b"more"}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a skill, data for every benchmark, and documents."""
    folder = make(tmp_path_factory.mktemp("repo"), "s", _data(), seed_skill=False)
    bulletins.write_items(folder / "data/officeqa")
    bulletins.write_documents(folder / "docs")
    return folder


@pytest.fixture(autouse=True)
def _around(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A game file, a token, the benchmarks of this file, and searches that fail fast."""
    (tmp_path / "games/0").mkdir(parents=True)
    (tmp_path / "games/0/game.tw-pddl").write_text(json.dumps({"grammar": "Your task is to: open the box."}))
    monkeypatch.setenv("ALFWORLD_DATA", str(tmp_path / "games"))
    monkeypatch.setenv("SEARCH_TOKEN", "Bearer abc")
    monkeypatch.setattr(search, "_WAIT", 0.001)
    info = tmp_path / "plugins/more_benchmarks-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: more-benchmarks\nVersion: 1\n")
    (info / "entry_points.txt").write_text(POINTS)
    monkeypatch.syspath_prepend(str(info.parent))


@pytest.mark.parametrize("key", list(TABLE))
def test_flipping_a_key_changes_what_is_observed(key: str, root: Path) -> None:
    value, observe, around = TABLE[key]
    before = observe(root, around)
    assert observe(root, around) == before
    assert observe(root, (*around, f"{key}={value}")) != before


@pytest.mark.parametrize("name", ["searchqa", "docvqa", "livemathematicianbench", "spreadsheetbench"])
def test_every_benchmark_with_turns_takes_as_many_as_are_set(name: str, root: Path) -> None:
    asked, _ = said(root, _of(name, "env.max_turns=3"))
    assert len(asked) == 3
