"""From sessions to tasks: recurrence, splits without leaks, stable ids, attribution."""

from __future__ import annotations

import random
import re
import time
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgit.config.sleep import Sleep
from skillgit.sleep.base import Session
from skillgit.sleep.mine.alike import Essence, near
from skillgit.sleep.mine.mine import mine
from skillgit.tasks import judges
from tests.sleep.mine.conversations import habits, session

COAT = "What is the price of the coat in the window?"
BELT = "What is the price of the belt in the window?"
FIXED = "No, write it as {} and nothing else."


def asked(name: str, request: str, answer: str, *, at: float = 1000.0, **more: object) -> Session:
    return session(name, request, "As you see.", FIXED.format(answer), answer, "Perfect, thanks.", at=at, **more)


def test_twenty_corrected_answers_become_twenty_tasks_with_exact_judges_and_two_thirds_to_learn_from() -> None:
    mined = mine(habits(20), Sleep())
    assert (len(mined.tasks), mined.notes, mined.dropped) == (20, (), {})
    assert 5 <= Counter(task.split for task in mined.tasks)["val"] <= 8
    for task in mined.tasks:
        assert task.task.judge["type"] == "exact"
        assert len(task.said) == len(task.sessions) == 1
        (answer,) = task.task.answers
        assert re.fullmatch(r"\$\d+|2026-05-\d\d|ORD-\d+", answer)
        assert answer in task.said[0]
        assert judges.score(task.task, answer).hard == 1
        assert judges.score(task.task, f"It is {answer}.").hard == 0


def test_one_request_in_many_sessions_is_one_task_that_counts_them() -> None:
    rewordings = [COAT, f"Please, {COAT.lower()}", f"hi! {COAT}", "what is the price of a coat in our window"]
    sessions = [asked(f"s{n}", text, "$40", at=100.0 * n) for n, text in enumerate(rewordings * 3)]
    (task,) = mine(sessions, Sleep()).tasks
    assert task.task.input == COAT
    assert task.sessions == tuple(each.hashed for each in sessions)
    assert task.said == (FIXED.format("$40"),)


def test_the_same_request_twice_in_one_session_is_counted_once() -> None:
    twice = session("s", COAT, "40", "No, write $40.", "$40", COAT, "$40", "Thanks!")
    (task,) = mine([twice], Sleep()).tasks
    assert task.sessions == (twice.hashed,)


def test_another_fact_is_another_task_on_the_same_side() -> None:
    for seed in range(8):
        tasks = mine([asked("a", COAT, "$40"), asked("b", BELT, "$15"), *habits(6)], Sleep(), seed=seed).tasks
        found = {task.task.input: task.split for task in tasks}
        assert found[COAT] == found[BELT]


def test_of_answers_that_disagree_the_one_taken_most_wins_and_else_none() -> None:
    prices = ("$40", "$41", "$40")
    sessions = [asked(f"s{n}", COAT, price, at=100.0 * n) for n, price in enumerate(prices)]
    assert mine(sessions, Sleep()).tasks[0].task.answers == ("$40",)
    (task,) = mine(sessions[:2], Sleep()).tasks
    assert (task.task.answers, task.task.judge["type"]) == ((), "rubric")


def test_tasks_asked_most_often_come_first_and_the_rest_is_counted() -> None:
    often = [asked(f"s{n}", COAT, "$40", at=10.0 * n) for n in range(3)]
    mined = mine([*habits(10), *often], Sleep(max_tasks=4))
    assert len(mined.tasks) == 4
    assert len(mined.tasks[0].sessions) == 3
    assert mined.dropped == {"over_limit": 7}


def test_projects_are_kept_apart_but_share_a_side() -> None:
    pair = [asked("a", COAT, "$40"), asked("b", COAT, "$40", project="/w/other")]
    for seed in range(6):
        tasks = mine([*pair, *habits(5)], Sleep(), seed=seed).tasks
        two = [task for task in tasks if task.task.input == COAT]
        assert {task.project for task in two} == {"/w/shop", "/w/other"}
        assert len({task.task.id for task in two}) == 2
        assert len({task.split for task in two}) == 1


def test_outcomes_of_several_sessions_are_weighed_together() -> None:
    happy, sad = asked("a", COAT, "$40"), session("b", COAT, "40", "No, that is wrong.")
    assert mine([happy], Sleep()).tasks[0].outcome == "mixed"
    assert mine([happy, sad], Sleep()).tasks[0].outcome == "mixed"
    assert mine([happy, session("c", COAT, "Well.")], Sleep()).tasks[0].outcome == "mixed"


VARIANTS = st.lists(
    st.tuples(
        st.sampled_from(
            [
                COAT,
                BELT,
                f"Please {COAT}",
                "Tell me the price of the coat in the window",
                "When does the winter fair open its doors?",
                "when does the summer fair open its doors",
                "Which order has the north office placed?",
                "Which orders has the south office placed",
            ]
        ),
        st.sampled_from(["$40", "$41", "2026-05-03", "ORD-12"]),
        st.integers(0, 5),
    ),
    max_size=16,
)


@given(VARIANTS, st.integers(0, 5), st.randoms())
@settings(max_examples=60)
def test_order_does_not_matter_and_near_duplicates_never_stand_on_two_sides(  # type: ignore[no-untyped-def]
    variants: list[tuple[str, str, int]], seed: int, shuffler
) -> None:
    sessions = [asked(f"s{n}", text, answer, at=100.0 * at) for n, (text, answer, at) in enumerate(variants)]
    mined = mine(sessions, Sleep(), seed=seed)
    essences = [(Essence.of(task.task.input), task.split) for task in mined.tasks]
    assert all(mine_ == theirs or not near(a, b) for a, mine_ in essences for b, theirs in essences)
    assert len({task.task.id for task in mined.tasks}) == len(mined.tasks)
    assert sum(len(task.sessions) for task in mined.tasks) == len(sessions)
    shuffler.shuffle(sessions)
    assert mine(sessions, Sleep(), seed=seed) == mined


def test_ids_and_splits_of_earlier_nights_stay() -> None:
    first = mine(habits(12), Sleep())
    known = {task.task.id: task.split for task in first.tasks}
    # An earlier wording of a known task turns up, and many more tasks.
    earlier = asked("old", f"Please, {first.tasks[0].task.input}", first.tasks[0].task.answers[0], at=-5.0)
    again = {task.task.id: task.split for task in mine([*habits(24), earlier], Sleep(), known=known).tasks}
    assert {name: again[name] for name in known} == known
    assert len(again) == 24


def test_a_new_request_that_is_near_known_tasks_on_two_sides_moves_all_to_train() -> None:
    middle = "What is the price of the hat in the window?"
    first = mine([asked("a", COAT, "$40"), asked("b", BELT, "$15")], Sleep()).tasks
    known = {first[0].task.id: "val", first[1].task.id: "train"}
    tasks = mine([asked("a", COAT, "$40"), asked("b", BELT, "$15"), asked("c", middle, "$9")], Sleep(), known=known)  # type: ignore[arg-type]
    assert {task.split for task in tasks.tasks} == {"train"}


SKILLS = {"pricing": "skills/pricing", "dates": "skills/dates"}


@pytest.mark.parametrize(
    ("in_play", "skill"),
    [
        (("pricing",), "pricing"),
        (("shop-plugin:pricing",), "pricing"),
        (("team/Pricing",), "pricing"),
        (("elsewhere",), ""),
        ((), ""),
        (("elsewhere", "pricing"), "pricing"),
        (("pricing", "dates"), ""),
    ],
)
def test_a_task_belongs_to_the_skill_in_play(in_play: tuple[str, ...], skill: str) -> None:
    assert mine([asked("a", COAT, "$40", skills=in_play)], Sleep(), skills=SKILLS).tasks[0].skill == skill


def test_of_several_skills_in_play_the_one_that_is_named_counts() -> None:
    text = f"{COAT} Use the pricing skill."
    assert (
        mine([asked("a", text, "$40", skills=("dates", "pricing"))], Sleep(), skills=SKILLS).tasks[0].skill == "pricing"
    )


def test_sessions_that_disagree_about_the_skill_attribute_to_none() -> None:
    def skill(*in_play: tuple[str, ...]) -> str:
        sessions = [asked(f"s{n}", COAT, "$40", skills=names) for n, names in enumerate(in_play)]
        return mine(sessions, Sleep(), skills=SKILLS).tasks[0].skill

    assert skill(("pricing",), ("pricing",), ()) == "pricing"
    assert skill(("pricing",), ("dates",)) == ""


def test_a_last_part_that_two_skills_share_attributes_to_none() -> None:
    skills = {"a:pricing": "a/pricing", "b:pricing": "b/pricing"}
    assert mine([asked("s", COAT, "$40", skills=("c:pricing",))], Sleep(), skills=skills).tasks[0].skill == ""


def test_sessions_without_times_are_mined_too() -> None:
    mined = mine(
        [replace(asked("a", COAT, "$40"), started=None), session("b", COAT, "$40", "Thanks!", at=None)], Sleep()
    )
    assert len(mined.tasks[0].sessions) == 2


def test_thousands_of_sessions_take_seconds() -> None:
    pick = random.Random(5)
    words = [f"word{n}" for n in range(3000)]
    texts = [f"{' '.join(pick.choices(words, k=pick.randint(4, 60)))} please" for _ in range(600)]
    sessions = [asked(f"s{n}", pick.choice(texts), f"${n % 7}", at=float(n)) for n in range(2000)]
    began = time.monotonic()
    mined = mine(sessions, Sleep(max_tasks=10_000))
    assert time.monotonic() - began < 20
    assert len(mined.tasks) >= 500
