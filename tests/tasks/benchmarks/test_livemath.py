"""LiveMathematicianBench: its items, the order of choices, what is sent, and the scores."""

from __future__ import annotations

import hashlib
import json
import random
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from skillgit.errors import TaskError
from skillgit.models.base import Reply, Request
from skillgit.tasks.base import BenchmarkContext, Task
from skillgit.tasks.benchmarks.livemath import LiveMath, score
from tests.models.server import serving
from tests.tasks.benchmarks.project import FIRST, SECOND, Both, Run, command, events, make, verdicts

TEXTS = ["for every $n$", "for some $n$", "for no $n$", "for all but one $n$"]


def item(number: int, month: str = "202511", **changes: Any) -> dict[str, Any]:
    """An item as published: choices with labels, one of them correct."""
    choices = [{"label": label, "text": f"{text} of {number}"} for label, text in zip("ABCD", TEXTS, strict=True)]
    return {
        "month": month,
        "no": number,
        "paper_link": f"http://example.invalid/{number}",
        "theorem": f"Theorem {number}.",
        "sketch": f"Sketch {number}.",
        "theorem_type": ["Existence", "Bound"],
        "mcq": {"question": f"When does {number} hold?", "choices": choices, "correct_choice": choices[2]},
        **changes,
    }


def bench(root: Path, *items: Any, seed: int = 42, **options: Any) -> LiveMath:
    (root / "qa_202511_final.json").write_text(json.dumps(items))
    given = {"data_path": "qa_202511_final.json", "split_ratio": "1:0:0", "allow_missing_val": True, **options}
    return LiveMath(BenchmarkContext(root, "s", given, seed))


def one(root: Path, value: Any, **options: Any) -> Task:
    (task,) = bench(root, value, **options).load().train
    return task


def choices(task: Task) -> dict[str, str]:
    return dict(task.data["choices"])


# --- items


def test_a_published_item_is_read(tmp_path: Path) -> None:
    task = one(tmp_path, item(7), shuffle_choices=False)
    assert (task.id, task.tags, task.context) == ("202511:7", ("Existence", "Bound"), "")
    assert task.input.splitlines() == [
        "When does 7 hold?",
        "",
        *(f"{a}. {t} of 7" for a, t in zip("ABCD", TEXTS, strict=True)),
    ]
    assert task.answers == ("C", "for no $n$ of 7")


@pytest.mark.parametrize(
    "value",
    [
        {"id": "x:1/2 3", "question": "q?", "choices": ["one", "two"], "correct_choice": {"label": "B", "text": "two"}},
        {"id": "x:1/2 3", "question": "q?", "choices": {"a": "one", "b": "two"}, "correct_choice": "b"},
        {"id": "x:1/2 3", "question": "q?", "choices": ["one", "two"], "correct_label": "B"},
        {"id": "x:1/2 3", "question": "q?", "choices": ["one", "two"], "correct_choice": {"text": "two"}},
        {"id": "x:1/2 3", "question": "q?", "choices": ["one"], "correct_choice": {"label": "B", "text": "two"}},
        {"id": "x:1/2 3", "question": "q?", "choices": [{"text": "one"}, {"text": "two"}], "correct_label": " b "},
    ],
)
def test_normalised_items_are_read_and_the_correct_choice_is_completed(tmp_path: Path, value: Any) -> None:
    task = one(tmp_path, value, shuffle_choices=False)
    assert (task.id, choices(task), task.answers) == ("x:1/2 3", {"A": "one", "B": "two"}, ("B", "two"))


def test_an_item_without_a_month_is_known_by_its_number(tmp_path: Path) -> None:
    assert one(tmp_path, item(7, month="")).id == "7"


def test_any_number_of_choices_gets_labels(tmp_path: Path) -> None:
    texts = [f"choice {n}" for n in range(30)]
    value = {"id": "x", "question": "q?", "choices": texts, "correct_choice": {"label": "AC", "text": ""}}
    plain, mixed = (one(tmp_path, value, shuffle_choices=on) for on in (False, True))
    assert list(choices(plain))[24:] == ["Y", "Z", "AA", "AB", "AC", "AD"]
    assert plain.answers == ("AC", "choice 28")
    assert list(choices(mixed)) == list(choices(plain))
    assert choices(mixed)[mixed.answers[0]] == "choice 28"
    assert score(mixed, f"<answer>{mixed.answers[0].lower()}</answer>").hard == 1.0


@pytest.mark.parametrize(
    ("mcq", "why"),
    [
        ({"choices": ["a"], "correct_choice": "A"}, 'has no "question"'),
        ({"question": "q?", "choices": [], "correct_choice": "A"}, 'has no "choices"'),
        ({"question": "q?", "choices": "ab", "correct_choice": "A"}, '"choices" must be a list'),
        ({"question": "q?", "choices": ["a", 3], "correct_choice": "A"}, '"choices" must hold texts'),
        ({"question": "q?", "choices": [{"label": "A", "text": "a"}] * 2, "correct_choice": "A"}, "a label of its own"),
        ({"question": "q?", "choices": ["a", "b"]}, '"correct_choice" must be'),
        ({"question": "q?", "choices": ["a", "b"], "correct_choice": "E"}, '"correct_choice" must be'),
        ({"question": "q?", "choices": ["a", "b"], "correct_choice": ["A"]}, '"correct_choice" must be'),
    ],
)
def test_a_faulty_item_is_named_with_its_line(tmp_path: Path, mcq: Any, why: str) -> None:
    with pytest.raises(TaskError) as caught:
        bench(tmp_path, {"id": "x", "mcq": mcq}).load()
    assert str(caught.value).startswith("qa_202511_final.json:1: ")
    assert why in str(caught.value)


def test_an_id_manifest_names_the_command_that_makes_the_data(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match="ids, but no questions") as caught:
        bench(tmp_path, {"id": "202602:22", "month": "202602", "no": 22, "paper_link": "http://x"}).load()
    assert "skillgit data materialize livemathematicianbench --manifest" in caught.value.fix


# --- the order of choices


def test_the_order_is_that_of_the_published_rule(tmp_path: Path) -> None:
    task = one(tmp_path, item(7), seed=3)
    order = [f"{text} of 7" for text in TEXTS]
    random.Random(int(hashlib.sha256(b"3:202511:7").hexdigest()[:16], 16)).shuffle(order)
    assert list(choices(task).values()) == order
    assert list(choices(task)) == ["A", "B", "C", "D"]
    assert choices(task)[task.answers[0]] == task.answers[1] == "for no $n$ of 7"


def test_an_order_is_the_tasks_own_and_the_same_every_time(tmp_path: Path) -> None:
    many = [item(number) for number in range(20)]
    first, again, other = (bench(tmp_path, *many, seed=seed).load().train for seed in (1, 1, 2))
    assert first == again
    assert {task.answers[0] for task in first} == {"A", "B", "C", "D"}
    assert [task.answers[0] for task in first] != [task.answers[0] for task in other]
    assert [task.digest() for task in first] != [task.digest() for task in other]


# --- what is sent


class Asked:
    def __init__(self, *texts: str) -> None:
        self.texts, self.requests = list(texts), []

    def __call__(self, request: Request) -> Reply:
        self.requests.append(request)
        return Reply(self.texts[min(len(self.requests), len(self.texts)) - 1])


@pytest.mark.parametrize(("theorem", "sketch"), [(False, False), (True, False), (False, True), (True, True)])
def test_theorem_and_sketch_are_shown_when_they_are_wanted(tmp_path: Path, theorem: bool, sketch: bool) -> None:
    math = bench(tmp_path, item(7), use_theorem=theorem, use_sketch=sketch)
    (task,) = math.load().train
    ask = Asked("<answer>A</answer>")
    math.rollout(task, "Mind the quantifiers.", ask)
    system, user = ask.requests[0].messages
    assert system.content.endswith("## Skill\n\nMind the quantifiers.")
    assert ("Theorem 7." in user.content, "Sketch 7." in user.content) == (theorem, sketch)
    assert user.content.endswith(task.input)
    assert user.content.startswith("## Question") == (not theorem and not sketch)
    math.rollout(task, "", ask)
    assert "Skill" not in ask.requests[1].messages[0].content


def test_the_first_answer_in_tags_ends_the_turns(tmp_path: Path) -> None:
    math = bench(tmp_path, item(7), max_turns=3)
    (task,) = math.load().train
    ask = Asked("Hm.", f"<answer>{task.answers[0]}</answer>", "never")
    got = math.rollout(task, "", ask)
    assert len(ask.requests) == 2
    assert task.input in ask.requests[1].messages[1].content
    assert got.score.hard == 1.0


def test_the_digest_follows_the_prompt_and_the_turns(tmp_path: Path) -> None:
    plain = bench(tmp_path, item(7)).judge_digest()
    assert plain == bench(tmp_path, item(8), use_theorem=True, seed=1).judge_digest()
    assert plain != bench(tmp_path, item(7), max_turns=2).judge_digest()


# --- scores


def test_scores_conform(conformance: Any) -> None:
    for case in conformance("livemath"):
        pairs = [[choice["label"], choice["text"]] for choice in case["choices"]]
        task = Task("t", "q", answers=(case["correct"], ""), data={"choices": pairs})
        got = score(task, case["response"])
        assert (got.hard, got.soft, got.predicted) == (case["score"], case["score"], case["predicted_label"]), case
        assert got.lenient is not None
        assert got.lenient >= got.hard, case


PAIRS = [["A", "alpha"], ["B", "beta"], ["C", "x^2 + 1"], ["D", "None of the above"]]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("(A)", "A"),
        ("**A**", "A"),
        ("$B$", "B"),
        (r"\boxed{D}", "D"),
        (r"\(B\)", "B"),
        ("Option C", "C"),
        ("Option: (d)", "D"),
        ("The answer is (B).", "B"),
        ("I choose (B) because of the bound", "B"),
        ("B: beta", "B"),
        ("None of the above.", "D"),
        ("(A) or (B)", ""),
        ("beta is right", ""),
        ("E", ""),
        ("", ""),
    ],
)
def test_what_is_form_and_what_is_knowledge(written: str, meant: str) -> None:
    for label in "ABCD":
        got = score(Task("t", "q", answers=(label, ""), data={"choices": PAIRS}), f"<answer>{written}</answer>")
        assert (got.hard, got.lenient) == (0.0, float(label == meant)), label


@pytest.mark.parametrize(
    ("response", "meant"),
    [
        ("The correct answer is:\n\nB. beta\n\nFor so it is.", "B"),
        ("The correct answer is B. beta. For so it is.", "B"),
        ("**(C) x^2 + 1**\n\nThis is why.", ""),
        ("A. alpha\nB. beta\nIt is one of them.", ""),
        ("B. beta\n<answer>alpha or beta</answer>", ""),
    ],
)
def test_without_tags_one_choice_that_is_written_out_is_meant(response: str, meant: str) -> None:
    for label in "ABCD":
        got = score(Task("t", "q", answers=(label, ""), data={"choices": PAIRS}), response)
        assert (got.hard, got.lenient) == (0.0, float(label == meant)), label


def test_long_responses_take_no_time() -> None:
    start = time.monotonic()
    for part in ("(A) ", "B. beta, ", "A. \n", "<answer>", "\\boxed{"):
        score(Task("t", "q", answers=("C", ""), data={"choices": PAIRS}), part * 50_000)
    assert time.monotonic() - start < 5


def test_the_reason_tells_what_was_picked() -> None:
    got = score(Task("t", "q", answers=("C", "x"), data={"choices": PAIRS}), "<answer>(c)</answer>")
    assert (got.reason, got.lenient) == ('livemathematicianbench: picked "(C", expected "C"', 1.0)


# --- whole runs

SPLIT = "data/livemathematicianbench_split"


def files() -> dict[str, Any]:
    sizes = {"train": range(4), "val": range(10, 13), "test": range(20, 22)}
    return {f"{SPLIT}/{split}/items.json": [item(n) for n in numbers] for split, numbers in sizes.items()}


def solver(turns: list[dict[str, Any]], system: str) -> str:
    """Knows each answer; writes it as a bare label for some by the first rule, and for all by both."""
    asked = next(turn["content"] for turn in turns if turn["role"] == "user")
    found = re.search(r"^([A-D])\. for no \$n\$ of (\d+)$", asked, re.MULTILINE)
    assert found
    bare = SECOND in system or (FIRST in system and found[2] in ("10", "11"))
    return f"It is so. <answer>{found[1] if bare else f'({found[1]})'}</answer>"


@pytest.fixture
def both() -> Iterator[tuple[Both, Any]]:
    played = Both(solver)
    with serving(played) as fake:
        yield played, fake


def test_two_steps_of_training_and_a_report(tmp_path: Path, skillgit: Run, both: Any) -> None:
    played, fake = both
    name = "livemathematicianbench"
    folder = make(tmp_path / "repo", name, files())
    steps = ("train.num_epochs=1", "train.batch_size=2")
    code, out, err = skillgit(folder, *command(fake, "train", name, *steps, more=["--json"]))
    assert code == 0, err
    told = events(out)
    assert verdicts(told) == ["accept_new_best", "accept_new_best"]
    assert told[-1]["best"]["score"] == 1.0
    paid = len(played.asked)
    given = command(fake, "eval", name, more=["--split", "all", "--json"])
    code, out, err = skillgit(folder, *given)
    assert code == 0, err
    # The seed skill fails by its form alone, and the record says so.
    assert [(r["n"], r["hard"], r["lenient"]) for r in json.loads(out)["records"]] == [(4, 0, 1), (3, 0, 1), (2, 0, 1)]
    assert len(played.asked) - paid <= 4  # train; val and test were measured by the run
    before = len(played.asked)
    assert skillgit(folder, *given)[0] == 0
    assert len(played.asked) == before
