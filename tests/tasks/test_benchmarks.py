from __future__ import annotations

import json
from importlib.metadata import EntryPoint, EntryPoints

import pytest

from skillgit.errors import ConfigError, TaskError, TransientModelError
from skillgit.models.base import Reply
from skillgit.tasks import judges, registry
from skillgit.tasks.base import BenchmarkContext, Task
from skillgit.tasks.benchmarks.files import TaskFiles, task_text
from skillgit.tasks.benchmarks.searchqa import SearchQA, answer_in, cut_context, score
from skillgit.tasks.metrics import exact_match, token_f1
from skillgit.tasks.registry import build


class Asked:
    """A target that gives one reply and keeps what it was asked."""

    def __init__(self, text, finish="stop"):
        self.reply, self.requests = Reply(text, finish=finish), []

    def __call__(self, request):
        self.requests.append(request)
        return self.reply


def context(root, **options):
    return BenchmarkContext(root, "s", options)


TASK = Task("t", "Which day?", answers=("2024-05-12",), judge=judges.resolve("exact")[0])


def test_a_single_turn(tmp_path):
    ask = Asked("2024-05-12")
    got = TaskFiles(context(tmp_path, max_completion_tokens=64)).rollout(TASK, "Write ISO dates.", ask)
    (request,) = ask.requests
    assert [m.role for m in request.messages] == ["system", "user"]
    assert "Write ISO dates." in request.messages[0].content
    assert request.messages[1].content == "Which day?"
    assert request.max_tokens == 64
    assert (got.response, got.score.hard, got.score.reason) == ("2024-05-12", 1.0, "")
    assert [(m.role, m.content) for m in got.turns] == [("user", "Which day?"), ("assistant", "2024-05-12")]


def test_without_a_skill_there_is_no_system_turn(tmp_path):
    ask = Asked("12 May")
    got = TaskFiles(context(tmp_path, max_completion_tokens=0)).rollout(TASK, " \n", ask)
    assert [m.role for m in ask.requests[0].messages] == ["user"]
    assert ask.requests[0].max_tokens is None
    assert got.score.reason == 'exact: wrote "12 May", expected "2024-05-12"'


def test_a_cut_reply_says_so_only_when_it_failed(tmp_path):
    bench = TaskFiles(context(tmp_path))
    assert bench.rollout(TASK, "", Asked("12", "length")).score.reason.endswith("cut at the token limit)")
    assert bench.rollout(TASK, "", Asked("2024-05-12", "length")).score.reason == ""


def test_model_errors_pass_through(tmp_path):
    def ask(request):
        raise TransientModelError("no answer")

    with pytest.raises(TransientModelError):
        TaskFiles(context(tmp_path)).rollout(TASK, "", ask)


def test_the_layout_of_a_task():
    task = Task("t", "Sum it.", context="in euro", files={"a.csv": "1,2", "b.csv": "3"})
    assert task_text(task) == (
        '<file name="a.csv">\n1,2\n</file>\n\n<file name="b.csv">\n3\n</file>\n\n'
        "<context>\nin euro\n</context>\n\nSum it."
    )


def test_dollars_in_tasks_and_skills_are_text(tmp_path):
    ask = Asked("x")
    TaskFiles(context(tmp_path)).rollout(Task("t", "$skill?", answers=("x",), judge=TASK.judge), "$task", ask)
    assert ask.requests[0].messages[1].content == "$skill?"
    assert "$task" in ask.requests[0].messages[0].content


def test_digests_are_stable_and_follow_the_judges(tmp_path, monkeypatch):
    before = TaskFiles(context(tmp_path)).judge_digest()
    assert before == TaskFiles(context(tmp_path, limit=3)).judge_digest()
    monkeypatch.setattr(judges, "versions", lambda: {"exact": 2})
    assert before != TaskFiles(context(tmp_path)).judge_digest()
    assert SearchQA(context(tmp_path)).judge_digest() != before


@pytest.mark.parametrize("bad", [-1, "many", True, 1.5])
def test_a_bad_token_limit_is_refused(tmp_path, bad):
    with pytest.raises(ConfigError, match="max_completion_tokens"):
        TaskFiles(context(tmp_path, max_completion_tokens=bad))


def test_searchqa_scores_conform(conformance):
    for row in conformance("searchqa"):
        predicted = answer_in(row["response"])
        assert predicted == row["predicted_answer"], row
        assert exact_match(predicted, row["answers"]) == bool(row["em"]), row
        assert token_f1(predicted, row["answers"]) == pytest.approx(row["f1"]), row
        got = score(Task("t", "q", answers=tuple(row["answers"])), row["response"])
        assert (got.hard, got.soft) == (row["em"], pytest.approx(row["f1"])), row


ITEMS = [
    {"id": f"q{i}", "question": f"Who is {i}?", "context": "[DOC] one [DOC] two", "answers": ["X"], "task_type": "qa"}
    for i in range(10)
]


@pytest.fixture
def searchqa(tmp_path):
    for name, items in (("train", ITEMS[:4]), ("val", ITEMS[4:6]), ("test", ITEMS[6:])):
        (tmp_path / "d" / name).mkdir(parents=True)
        (tmp_path / "d" / name / "items.json").write_text(json.dumps(items))
    (tmp_path / "all.jsonl").write_text("\n".join(map(json.dumps, ITEMS)))
    return lambda **options: SearchQA(context(tmp_path, **options))


def test_searchqa_reads_a_split_folder_or_splits_a_file(searchqa):
    splits = searchqa(split_mode="split_dir", split_dir="d").load()
    assert [len(s) for s in (splits.train, splits.val, splits.test)] == [4, 2, 4]
    assert [len(s) for s in vars(searchqa(split_dir="d", limit=1).load()).values()] == [1, 1, 1, 0]
    ratio = searchqa(split_mode="ratio", data_path="all.jsonl").load()
    assert [len(s) for s in (ratio.train, ratio.val, ratio.test)] == [2, 1, 7]


def test_searchqa_rollout(searchqa):
    bench, ask = searchqa(split_dir="d"), Asked("I think <answer>the x!</answer>")
    task = bench.load().train[0]
    got = bench.rollout(task, "Be brief.", ask)
    system, user = ask.requests[0].messages
    assert "<answer>" in system.content
    assert system.content.endswith("## Skill\n\nBe brief.")
    assert "[DOC] one [DOC] two" in user.content
    assert user.content.endswith("Who is 0?")
    assert (got.score.hard, got.score.soft, got.score.predicted) == (1.0, 1.0, "the x!")
    bench.rollout(task, "", ask)
    assert "Skill" not in ask.requests[1].messages[0].content


def test_searchqa_reason():
    got = score(Task("t", "q", answers=("New York",)), "New York City")
    assert got.reason == 'searchqa: wrote "New York City", expected "New York" (F1 0.80)'


def test_contexts_are_cut_between_documents_and_keep_the_first_marker():
    context = "".join(f"[DOC] {i} " + "x" * 1500 for i in range(9))
    shown = cut_context(context)
    assert shown.startswith("[DOC] 0")
    assert shown.count("[DOC]") == 3
    assert context.startswith(shown)
    assert cut_context("[DOC] short") == "[DOC] short"
    assert cut_context("") == ""
    long = cut_context("[DOC] " + "y" * 9000 + "[DOC] z")
    assert long.startswith("[DOC] y")
    assert long.endswith("[cut]")
    assert len(long) == 6000


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ({"id": "a"}, "all.jsonl:1: the file holds ids, but no questions"),
        ({"id": "a", "question": "q", "answers": []}, "all.jsonl:1: has no answers"),
        ({"id": "a", "answers": ["x"]}, 'all.jsonl:1: has no "question"'),
        ({"question": "q", "answers": ["x"]}, 'all.jsonl:1: has no "id"'),
        (["a"], "all.jsonl:1: is not an object"),
    ],
)
def test_searchqa_refuses_bad_items(searchqa, tmp_path, item, message):
    bench = searchqa(data_path="all.jsonl")
    (tmp_path / "all.jsonl").write_text(json.dumps(item))
    with pytest.raises(TaskError) as caught:
        bench.load()
    assert str(caught.value).startswith(message)


def test_searchqa_says_what_it_needs(searchqa):
    with pytest.raises(TaskError, match="needs its data"):
        searchqa(split_mode="ratio", data_path=" ").load()
    with pytest.raises(ConfigError, match="max_turns is 21"):
        searchqa(max_turns=21)


def test_benchmarks_are_found_by_name(tmp_path):
    assert build("", context(tmp_path)).name == "tasks"
    assert build("searchqa", context(tmp_path)).name == "searchqa"
    with pytest.raises(ConfigError, match='"serchqa"; did you mean "searchqa"') as caught:
        build("serchqa", context(tmp_path))
    assert "tasks" in caught.value.why


def test_a_name_claimed_twice_and_a_missing_package(tmp_path, monkeypatch):
    points = [("x", "one:A"), ("x", "two:B"), ("y", "no_such_module_here:C")]
    group = EntryPoints(EntryPoint(name, value, registry.GROUP) for name, value in points)
    monkeypatch.setattr(registry, "entry_points", lambda **params: group.select(**params))
    with pytest.raises(ConfigError, match="two packages"):
        build("x", context(tmp_path))
    with pytest.raises(ConfigError, match="cannot be used") as caught:
        build("y", context(tmp_path))
    assert "no_such_module_here" in caught.value.why
