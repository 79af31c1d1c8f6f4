"""DocVQA: its rows and pictures, what is sent, and the scores."""

from __future__ import annotations

import base64
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from skillgit.errors import ConfigError, TaskError, TransientModelError
from skillgit.models.base import Reply, Request
from skillgit.tasks import images
from skillgit.tasks.base import BenchmarkContext, Task
from skillgit.tasks.benchmarks.docvqa import DocVQA, score
from skillgit.tasks.images import Pictures
from skillgit.tasks.registry import build
from skillgit.tasks.scorers import anls
from tests.tasks.benchmarks.pages import SIZES, files, page, row, table


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for name, content in files().items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    return tmp_path


def bench(root: Path, **options: Any) -> DocVQA:
    return DocVQA(BenchmarkContext(root, "docvqa", {"split_dir": "data/docvqa/splits", **options}))


class Asked:
    """A target that gives replies in order and keeps what it was asked."""

    def __init__(self, *texts: str) -> None:
        self.texts, self.requests = list(texts), []

    def __call__(self, request: Request) -> Reply:
        self.requests.append(request)
        return Reply(self.texts[min(len(self.requests), len(self.texts)) - 1])


# --- rows


def test_the_published_table_is_read(data: Path) -> None:
    splits = bench(data).load()
    assert {name: len(tasks) for name, tasks in vars(splits).items()} == {**SIZES, "confirm": 0}
    task = splits.train[1]
    assert (task.id, task.input) == ("train 1", "What is the total of train 1?")
    assert task.answers == ("Total train 1", "total train 1 eur")
    assert task.tags == ("form", "table/list")
    assert task.data["image"] == "pages/train 1.png"
    assert task.where == "data/docvqa/splits/train/items.csv:3"


def one(data: Path, content: bytes, suffix: str = "csv") -> Task:
    (data / f"one.{suffix}").write_bytes(content)
    options = {"split_dir": "", "data_path": f"one.{suffix}", "split_ratio": "1:0:0", "allow_missing_val": True}
    (task,) = bench(data, **options).load().train
    return task


@pytest.mark.parametrize(
    ("changes", "answers"),
    [
        ({"answer": "12 May"}, ("12 May",)),
        ({"answer": '["a", "b"]'}, ("a", "b")),
        ({"answer": "['it\\'s', \"x\"]"}, ("it's", "x")),
        ({"answer": "[sic]"}, ("[sic]",)),
    ],
)
def test_answers_are_a_list_in_either_spelling_or_one_text(data: Path, changes: Any, answers: Any) -> None:
    assert one(data, table(row("q", **changes))).answers == answers


def test_a_picture_may_be_named_at_the_end_of_the_question(data: Path) -> None:
    task = one(data, table(row("q", question="How much?\ndocument_path: scans/p 1.png", image_path="")))
    assert (task.input, task.data["image"]) == ("How much?", "scans/p 1.png")
    both = one(data, table(row("q", question="How much? document_path: other.png")))
    assert (both.input, both.data["image"]) == ("How much?", "pages/q.png")


@pytest.mark.parametrize(
    "item",
    [
        {"id": "a/b:c d", "question": "q?", "answers": ["x"], "image_path": "p.png", "topic": "form"},
        {"questionId": "a/b:c d", "question": "q?", "answer": "x", "image_paths": ["p.png"], "category": "form"},
        {
            "id": 1,
            "questionId": "a/b:c d",
            "question": "q?",
            "ground_truth": "['x']",
            "image_path": "p.png",
            "topic": "form",
        },
    ],
)
def test_the_same_as_json_is_read_under_every_published_name(data: Path, item: Any) -> None:
    task = one(data, json.dumps([item]).encode(), "json")
    assert (task.id, task.answers, task.tags, task.data["image"]) == ("a/b:c d", ("x",), ("form",), "p.png")


def test_another_picture_is_another_task(data: Path) -> None:
    before = {task.id: task.digest() for task in bench(data).load().val}
    (data / "data/docvqa/splits/pages/val 1.png").write_bytes(page("something else"))
    (data / "data/docvqa/splits/pages/val 2.png").unlink()
    after = {task.id: task.digest() for task in bench(data).load().val}
    assert {name for name in before if before[name] != after[name]} == {"val 1", "val 2"}


def test_every_faulty_row_is_named(data: Path) -> None:
    rows = [row("a", answer=""), row("b", image_path=""), row("c", question=" "), row("", question="x"), row("ok")]
    with pytest.raises(TaskError) as caught:
        one(data, table(*rows, row("ok", question="again?")))
    for told in (
        'one.csv:2: has no "answer"',
        'one.csv:3: has no "image_path"',
        "one.csv:4: ",
        "one.csv:5: ",
        'one.csv:7: the id "ok" is already used at one.csv:6',
    ):
        assert told in str(caught.value)


def test_an_id_manifest_names_the_command_that_makes_the_data(data: Path) -> None:
    with pytest.raises(TaskError, match="ids, but no questions") as caught:
        one(data, b'[{"id": "50877", "questionId": "50877", "image_path": "data/x.png", "topic": "form"}]', "json")
    assert "skillgit data materialize docvqa --manifest DIR --source PATH" in caught.value.fix


# --- what is sent


def test_the_page_goes_with_the_question_as_it_is_on_the_disk(data: Path) -> None:
    ask = Asked("I read. <answer>total train 0</answer>")
    docvqa = bench(data)
    task = docvqa.load().train[0]
    got = docvqa.rollout(task, "Read twice.", ask)
    system, user = ask.requests[0].messages
    assert system.content.endswith("## Skill\n\nRead twice.")
    assert user.content.endswith("What is the total of train 0?")
    (image,) = user.images
    kind, _, coded = image.uri.partition(";base64,")
    assert (kind, base64.b64decode(coded)) == ("data:image/png", page("train 0"))
    assert (image.name, image.detail) == ("pages/train 0.png", "auto")
    assert (got.score.hard, got.score.soft, got.score.lenient) == (1.0, 1.0, 1.0)
    assert not any(turn.images for turn in got.turns)
    assert not any(answer in system.content + user.content for answer in task.answers)


def test_without_a_skill_its_section_is_left_out(data: Path) -> None:
    ask = Asked("x")
    docvqa = bench(data)
    docvqa.rollout(docvqa.load().train[0], " \n", ask)
    assert "Skill" not in ask.requests[0].messages[0].content


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
def test_what_a_picture_is_its_bytes_tell(data: Path, kind: str) -> None:
    (data / "lies.txt").write_bytes(page("x", kind))
    assert Pictures([data]).image("lies.txt").uri.startswith(f"data:image/{kind.lower()};base64,")


def test_a_picture_is_encoded_once_until_it_changes(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pictures, read = Pictures([data]), []
    real = images._read
    monkeypatch.setattr(images, "_read", lambda *args: read.append(args) or real(*args))
    path = data / "p.png"
    path.write_bytes(page("one"))
    first = pictures.image("p.png")
    assert pictures.image("p.png") == first
    assert len(read) == 1
    path.write_bytes(page("another one"))
    assert pictures.image("p.png").sha256 != first.sha256
    assert len(read) == 2


def test_pictures_in_memory_are_bounded(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(6):
        (data / f"{n}.png").write_bytes(page(str(n)))
    pictures = Pictures([data])
    monkeypatch.setattr(images, "_KEPT", 3 * len(pictures.image("0.png").uri))
    for n in range(6):
        pictures.image(f"{n}.png")
    assert 1 <= len(pictures._images) <= 4
    assert pictures._size == sum(len(image.uri) for image in pictures._images.values()) <= images._KEPT


def test_further_turns_show_the_page_again_and_stop_at_an_answer(data: Path) -> None:
    docvqa = bench(data, max_turns=3)
    task = docvqa.load().train[0]
    ask = Asked("Let me see.", "<answer>Total train 0</answer>", "never")
    got = docvqa.rollout(task, "", ask)
    assert [[turn.role for turn in request.messages] for request in ask.requests] == [
        ["system", "user"],
        ["system", "user", "assistant", "user"],
    ]
    first, second = ask.requests
    assert second.messages[:2] == first.messages
    assert second.messages[1].images
    assert second.messages[2].content == "Let me see."
    assert [turn.role for turn in got.turns] == ["user", "assistant", "user", "assistant"]
    assert got.score.hard == 1.0


def test_too_many_turns_are_refused(data: Path) -> None:
    with pytest.raises(ConfigError, match="max_turns is 99"):
        bench(data, max_turns=99)


def test_the_digest_follows_what_is_asked(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = bench(data).judge_digest()
    assert plain == bench(data, limit=1, max_turns=1).judge_digest() == bench(data, max_turns=0).judge_digest()
    others = [bench(data, image_detail="high").judge_digest(), bench(data, max_turns=2).judge_digest()]
    seal = {"v": 1, "name": "docvqa", "digest": "0" * 64, "counts": {}, "source": "x"}
    (data / "data/docvqa/splits/skillgit-data.json").write_text(json.dumps(seal))
    others.append(bench(data).judge_digest())
    assert len({plain, *others}) == 4


# --- scores


def test_scores_conform(conformance: Any) -> None:
    for case in conformance("docvqa"):
        got = score(Task("t", "q", answers=anls.gold_answers(case["answers"])), case["response"])
        assert got.soft == pytest.approx(case["anls"]), case
        assert got.hard == float(case["anls"] >= 0.999), case
        assert got.lenient is not None
        assert got.lenient >= got.hard, case


@pytest.mark.parametrize(
    ("written", "wanted", "hard", "lenient"),
    [
        ("$1,200.00", "1200", 0, 1),
        ("5%", "5", 0, 1),
        ("12.0", "12", 0, 1),
        ("**ITC Limited**", "itc limited", 0, 1),
        ("ITC  limited", "itc limited", 1, 1),
        ("0.28", "0.29", 0, 0),
        ("ITC", "ITC Limited", 0, 0),
    ],
)
def test_what_is_form_and_what_is_knowledge(written: str, wanted: str, hard: int, lenient: int) -> None:
    got = score(Task("t", "q", answers=(wanted,)), f"<answer>{written}</answer>")
    assert (got.hard, got.lenient) == (hard, lenient)


def test_the_reason_tells_what_was_written_and_wanted() -> None:
    got = score(Task("t", "q", answers=("invoice 123",)), "<answer>Invoice 124</answer>")
    assert got.reason == 'docvqa: wrote "Invoice 124", expected "invoice 123" (ANLS 0.91)'


@given(st.text(max_size=30), st.text(max_size=30))
@example("\ud800x", "x\U0001f600")
def test_the_score_is_the_same_with_and_without_rapidfuzz(left: str, right: str) -> None:
    rapid = pytest.importorskip("rapidfuzz.distance.Levenshtein")
    assert anls.edit_distance(left, right) == anls.slow_distance(left, right) == rapid.distance(left, right)


def test_rapidfuzz_is_not_needed(conformance: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(anls, "_rapid", lambda: None)
    test_scores_conform(conformance)


# --- accidents and malice


def test_a_bad_picture_fails_its_own_task_alone(data: Path) -> None:
    outside = data.parent / f"{data.name}-secret.png"
    outside.write_bytes(page("secret"))
    (data / "link.png").symlink_to(outside)
    (data / "loop.png").symlink_to("loop.png")
    (data / "text.png").write_text("no picture at all")
    (data / "cut.png").write_bytes(page("cut")[:60])
    (data / "tiff.png").write_bytes(page("x", "TIFF"))
    (data / "folder.png").mkdir()
    os.mkfifo(data / "pipe.png")
    with (data / "huge.png").open("wb") as file:
        file.truncate(images.MOST_BYTES + 1)
    told = {
        "link.png": "is outside the data's folder",
        f"../{outside.name}": "is outside the data's folder",
        str(outside): "is outside the data's folder",
        "/etc/hostname": "is outside the data's folder",
        "loop.png": "is not there",
        "text.png": "is no picture that models take",
        "tiff.png": "is no picture that models take",
        "cut.png": "ends too early",
        "folder.png": "is not there",
        "pipe.png": "is not there",
        "huge.png": "is too large (20 MB of at most 20)",
        "missing.png": "is not there",
        "x" * 5000: "is not there",
    }
    docvqa, ask = bench(data), Asked("<answer>Total train 0</answer>")
    task = docvqa.load().train[0]
    for name, why in told.items():
        got = docvqa.rollout(replace(task, data={"image": name}), "", ask)
        assert (got.score.hard, got.score.soft, got.score.lenient, got.response) == (0.0, 0.0, 0.0, "")
        assert got.score.reason.startswith("setup: "), name
        assert why in got.score.reason, name
    assert ask.requests == []
    assert docvqa.rollout(task, "", ask).score.hard == 1.0


def test_a_model_error_is_no_score(data: Path) -> None:
    def ask(request: Request) -> Reply:
        raise TransientModelError("no answer")

    docvqa = bench(data)
    with pytest.raises(TransientModelError):
        docvqa.rollout(docvqa.load().train[0], "", ask)


def test_it_is_found_by_name(data: Path) -> None:
    assert build("docvqa", BenchmarkContext(data, "s", {})).name == "docvqa"
