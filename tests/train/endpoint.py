"""The counted model behind HTTP, with faults that come and go."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from skillgit.models.base import Message, Request
from tests.models.server import Fake, Handler, Move, body, serving
from tests.train import counted_model

Choose = Callable[[int, str, dict[str, Any]], Move | None]
"""Number of the request (from 1), its kind, its body: a fault, or `None` for the right answer."""


class Endpoint:
    """Answers both roles; `faulty` decides which requests go wrong."""

    def __init__(self) -> None:
        self.faulty: Choose = lambda number, kind, body: None
        self.asked: list[str] = []
        self.answered: list[int] = []
        self.fake: Fake
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        return self.fake.url

    def __call__(self, handler: Handler) -> None:
        request = self._request(handler.body)
        kind = kind_of(handler.body["model"], request)
        with self._lock:
            self.asked.append(kind)
            fault = self.faulty(len(self.asked), kind, handler.body)
        if fault:
            return fault(handler)
        right = counted_model.target(request) if kind == "target" else json.dumps(counted_model.optimizer(request))
        name = counted_model.identity(handler.body["model"], request)
        with self._lock:
            self.answered.append(name)
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": right}}
        usage = {"prompt_tokens": 10, "completion_tokens": 2, "cost": name}
        return body({"choices": [choice], "usage": usage})(handler)

    @staticmethod
    def _request(body: dict[str, Any]) -> Request:
        schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
        turns = tuple(Message(turn["role"], turn["content"]) for turn in body["messages"])
        return Request(turns, schema=schema, seed=body.get("seed"))


def kind_of(model: str, request: Request) -> str:
    """`target`, `analyst`, `merge`, `ranking`, `slow_update` or `meta_skill`."""
    if model == "t":
        return "target"
    fields = request.schema["properties"]
    for field, kind in (("selected_indices", "ranking"), ("slow_update_content", "slow_update")):
        if field in fields:
            return kind
    if "meta_skill_content" in fields:
        return "meta_skill"
    return "merge" if any("### Patch 1 (" in turn.content for turn in request.messages) else "analyst"


@contextmanager
def endpoint() -> Iterator[Endpoint]:
    place = Endpoint()
    with serving(place) as fake:
        place.fake = fake
        yield place
