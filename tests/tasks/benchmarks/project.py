"""A repository with one published benchmark, and a server on the loopback interface that plays both roles."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skillgit.config.packaged import packaged
from skillgit.models.base import Message, Request
from tests.conftest import git
from tests.models.server import Fake, Handler, Move, answer, error
from tests.train.lab import RULE, append, kind_of, words

Run = Callable[..., tuple[int, str, str]]
Target = Callable[[list[dict[str, Any]], str], str]
"""The turns of a request and the text of the system turn, to the target's reply."""

SMALL = (
    *("model.backend=openai_compatible", "model.target=t", "model.optimizer=o", "model.retries=0"),
    *("train.train_size=0", "optimizer.use_slow_update=false", "optimizer.use_meta_skill=false", "env.workers=4"),
    "gradient.failure_only=true",  # else what failures and successes teach would have to be merged
)
FIRST, SECOND = RULE["A"], RULE["B"]
"""What the optimizer proposes in the first step, and in the second."""


@dataclass
class Both:
    """Answers both roles: the target as told, the optimizer with one rule a step."""

    target: Target
    asked: list[list[dict[str, Any]]] = field(default_factory=list)
    faulty: Callable[[int], bool] = lambda number: False
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, handler: Handler) -> None:
        body = handler.body
        if body["model"] == "o":
            schema = body["response_format"]["json_schema"]["schema"]
            request = Request(tuple(Message(t["role"], t["content"]) for t in body["messages"]), schema=schema)
            return answer(json.dumps(_edit(request)))(handler)
        with self.lock:
            self.asked.append(body["messages"])
            wrong = self.faulty(len(self.asked))
        system = next((turn["content"] for turn in body["messages"] if turn["role"] == "system"), "")
        move: Move = error(500) if wrong else answer(self.target(body["messages"], system))
        return move(handler)


def _edit(request: Request) -> Any:
    assert kind_of(request) == "analyst"
    said = words(request)
    return append(FIRST) if FIRST not in said else append(SECOND)


def make(folder: Path, name: str, files: Mapping[str, Any], seed_skill: bool = True) -> Path:
    """A repository with the benchmark's example skill and its data: path to bytes or to a JSON value."""
    place = folder / "skills" / name
    place.mkdir(parents=True)
    if seed_skill:
        shutil.copytree(packaged("examples") / "benchmarks" / name, place, dirs_exist_ok=True)
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        (folder / path).write_bytes(data)
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "start")
    return folder


def command(server: Fake, what: str, name: str, *settings: str, more: Sequence[str] = ()) -> list[str]:
    """Arguments of `skillgit train` or `eval` with the packaged recipe of a benchmark."""
    given = (*SMALL, f"model.base_url={server.url}", *settings)
    return [what, name, "--config", name, *more, *(part for text in given for part in ("--set", text))]


def events(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def verdicts(told: Sequence[Mapping[str, Any]]) -> list[str]:
    return [event["verdict"] for event in told if event["event"] == "step_finished" and event["kind"] == "step"]
