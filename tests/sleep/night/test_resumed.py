"""A night of every kind of call, ended at each of them: taken up again, it pays for nothing twice."""

from __future__ import annotations

import json
import runpy
from collections import Counter
from pathlib import Path
from typing import Any

from skillgit.models.base import Request
from tests.conftest import git
from tests.sleep.night.lab import NightLab, proposing, words
from tests.sleep.night.test_whole import EXAMPLE, PRICES, stores

SETTINGS = ("sleep.miner=llm", "sleep.dream_factor=1", "sleep.rollouts=2", "sleep.recall=2", "sleep.max_tasks=8")


class Ended(BaseException):
    """As a kill: nothing catches it."""


def target(request: Request) -> str:
    """Good on every other try, and always once the rule is there."""
    if PRICES in words(request):
        return "$40"
    return "$40" if request.seed == 1 and len(request.messages[-1].content) % 2 else "It is as you say."


def optimizer(request: Request) -> Any:
    text = words(request)
    if "You read parts of conversations" in text:
        rows = [json.loads(line) for line in text.splitlines() if line.startswith('{"session": ') and '"who"' in line]
        asked = {(row["session"], row["request"]): row["text"] for row in reversed(rows) if row["who"] == "person"}
        items = [
            {"session": s, "request": r, "intent": words, "rubric": f"Short: {words}", "satisfied": True}
            for (s, r), words in asked.items()
        ]
        return {"tasks": items}
    if "You reword requests" in text:
        return {"requests": [text.partition("<request>\n")[2].partition("\n</request>")[0] + " Please."]}
    if "You grade one answer" in text:
        return {"score": float("$" in text.partition("<answer>\n")[2])}
    return proposing(PRICES)


def make(folder: Path) -> NightLab:
    lab = NightLab.at(folder / "shop")
    runpy.run_path(str(EXAMPLE))["write"](folder / "home", lab.folder, 4)
    for file in (folder / "home").rglob("*.jsonl"):
        # Answers of two lines are no value that any other answer would miss, so a model has to say what is wanted.
        file.write_text("".join(f"{json.dumps(_longer(json.loads(line)))}\n" for line in file.read_text().splitlines()))
    return lab


def _longer(row: dict[str, Any]) -> dict[str, Any]:
    if row.get("type") == "assistant":
        for block in row["message"]["content"]:
            if block.get("type") == "text":
                block["text"] += "\nSo it is."
    return row


def kinds(asked: list[Request]) -> Counter[str]:
    openings = {"You read parts": "mine", "You reword": "dream", "You grade": "judge", "answered each task": "contrast"}
    return Counter(next((kind for words_, kind in openings.items() if words_ in words(one)), "other") for one in asked)


def test_no_call_is_paid_twice_wherever_a_night_is_ended(tmp_path: Path) -> None:
    whole = make(tmp_path / "whole")
    (record,) = whole.run(None, target, optimizer, *stores(whole), *SETTINGS)
    assert record.taken
    assert {"mine", "dream", "judge", "contrast"} <= kinds(whole.asked).keys()
    lab = make(tmp_path / "ended")
    paid: list[Request] = []

    def ending(respond: Any, most: int) -> Any:
        def answer(request: Request) -> Any:
            if len(paid) >= most:
                raise Ended
            reply = respond(request)
            paid.append(request)
            return reply

        return answer

    total = len(whole.asked)
    for most in (*range(3, total, 7), 10 * total):
        settings = (*stores(lab), *SETTINGS, "env.workers=1", "gradient.analyst_workers=1")
        try:
            (resumed,) = lab.run(None, ending(target, most), ending(optimizer, most), *settings)
        except Ended:
            assert git(lab.folder, "for-each-ref", "refs/heads/sleep", "refs/skillgit") == ""
    assert [one.edit for one in resumed.taken] == [one.edit for one in record.taken]
    assert not [one for one, times in Counter(map(str, paid)).items() if times > 1 and "You do the task" not in one]
    assert len(paid) == total
