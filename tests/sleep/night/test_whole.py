"""From transcripts to a merged lesson: a shop's user corrects the same habits again and again."""

from __future__ import annotations

import re
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillgit.config.load import load_config
from skillgit.models.base import Request
from skillgit.sleep.events import Harvested, NightPlanned
from skillgit.sleep.night.start import plan
from skillgit.sleep.proposals import reject
from skillgit.sleep.proposals.states import proposals
from tests.conftest import git
from tests.sleep.night.lab import SETTINGS, NightLab, proposing, words

EXAMPLE = Path(__file__).parents[3] / "examples/night/sessions.py"
PRICES = "- Write a price as its sign and its number, and no more."
ORDERS = "- Write an order as ORD, a dash and its number, and no more."


def target(request: Request) -> str:
    """A small model: says it in a sentence, unless a rule tells it otherwise."""
    question, text = request.messages[-1].content, words(request)
    if (cost := re.search(r"costs (\d+) dollars", question)) and PRICES in text:
        return f"${cost[1]}"
    if (order := re.search(r"order number (\d+)", question)) and ORDERS in text:
        return f"ORD-{order[1]}"
    return "It is as you say."


def optimizer(*rules: str) -> Callable[[Request], Any]:
    """Proposes the rule for the kind of case that it is shown, or else `rules`."""

    def propose(request: Request) -> Any:
        cases = words(request).partition("## Failed cases")[2]
        found = [PRICES] if "dollars" in cases else [ORDERS] if "order number" in cases else []
        return proposing(*(rules or found))

    return propose


@pytest.fixture
def lab(tmp_path: Path) -> NightLab:
    made = NightLab.at(tmp_path / "shop")
    runpy.run_path(str(EXAMPLE))["write"](tmp_path / "home", made.folder, 14)
    return made


def stores(lab: NightLab) -> tuple[str, ...]:
    return ("sleep.source=claude", f"sleep.claude_home={lab.folder.parent / 'home'}")


def test_a_night_from_transcripts_to_a_merge_and_the_night_after(lab: NightLab) -> None:
    (record,) = lab.run(None, target, optimizer(), *stores(lab))
    assert record.verdict == "verified"
    assert {lesson.rule for lesson in record.taken} == {PRICES, ORDERS}
    assert record.counts["train"] + record.counts["val"] == 40
    prices = next(lesson for lesson in record.taken if lesson.rule == PRICES)
    # Every session in which the habit was corrected speaks for its rule.
    assert len(prices.sessions) == len(prices.tasks) > 5
    assert all(re.fullmatch(r"[0-9a-f]{12}", name) for name in prices.sessions)

    git(lab.folder, "merge", "--quiet", "--no-edit", record.branch)
    assert [one.status for one in proposals(lab.repo, "learned")] == ["adopted"]
    (second,) = lab.run(None, target, optimizer(), *stores(lab))
    assert [lesson for lesson in second.lessons if lesson.taken] == []
    assert git(lab.folder, "branch", "--list", "sleep/*").split() == [record.branch]


def test_a_lesson_that_a_person_turned_down_stays_turned_down(lab: NightLab) -> None:
    (record,) = lab.run(None, target, optimizer(), *stores(lab))
    rejection = reject.plan(lab.repo, proposals(lab.repo, "learned")[0], (), "we want words", keep_branch=False)
    reject.carry_out(lab.repo, rejection)
    (second,) = lab.run(None, target, optimizer(), *stores(lab), again=True)
    assert {(lesson.verdict, lesson.rule) for lesson in second.lessons if lesson.rule in (PRICES, ORDERS)} == {
        ("known", PRICES),
        ("known", ORDERS),
    }
    assert all("we want words" in lesson.why for lesson in second.lessons if lesson.verdict == "known")
    assert second.branch == ""
    assert record.branch not in git(lab.folder, "branch", "--list")


def test_no_word_of_a_transcript_is_kept_in_git(lab: NightLab) -> None:
    lab.run(None, target, optimizer(), *stores(lab))
    objects = git(lab.folder, "rev-list", "--all", "--objects").splitlines()
    texts = "\n".join(git(lab.folder, "cat-file", "-p", line.split()[0]) for line in objects)
    assert "grey coat" not in texts
    assert "The shop opens at nine" not in texts


def test_a_plan_calls_no_model_and_writes_no_ref(lab: NightLab) -> None:
    before = git(lab.folder, "for-each-ref")
    config = load_config(lab.folder, "", [*SETTINGS, *stores(lab)])
    (planned,) = plan(lab.repo, config, lab.events.append, environ={})
    assert isinstance(planned, NightPlanned)
    assert sum(planned.tasks.values()) == 40
    assert any(isinstance(event, Harvested) and event.sessions == 42 for event in lab.events)
    assert git(lab.folder, "for-each-ref") == before


def test_a_plan_tells_of_the_calls_that_mining_takes(lab: NightLab) -> None:
    config = load_config(lab.folder, "", [*SETTINGS, *stores(lab), "sleep.miner=llm"])
    (planned,) = plan(lab.repo, config, lab.events.append, environ={})
    assert any("at most 84 calls" in note for note in planned.notes)


def test_a_verified_night_is_adopted_unasked_only_onto_the_named_branch(lab: NightLab) -> None:
    git(lab.folder, "branch", "lessons")
    head = git(lab.folder, "rev-parse", "HEAD")
    (record,) = lab.run(None, target, optimizer(), *stores(lab), "sleep.auto_adopt=lessons")
    assert PRICES in lab.text("lessons")
    assert git(lab.folder, "rev-parse", "HEAD") == head
    assert git(lab.folder, "merge-base", "--is-ancestor", record.tip, "lessons", check=True) == ""
