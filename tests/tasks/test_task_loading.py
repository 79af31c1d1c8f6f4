from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skillgit.errors import ConfigError, TaskError
from skillgit.tasks.base import BenchmarkContext, Splits
from skillgit.tasks.benchmarks.files import TaskFiles
from skillgit.tasks.splits import assign

GOOD = {"id": "t1", "input": "what?", "answers": ["a"]}


def refusal(load, *args, **options) -> str:
    with pytest.raises(TaskError) as caught:
        load(*args, **options)
    return str(caught.value)


def test_a_task_with_every_field(load_train):
    row = {
        "id": 7,
        "question": "what?",
        "context": "here",
        "files": ["notes/a.txt"],
        "answers": ["x", "y"],
        "tags": ["hard"],
        "judge": {"type": "f1", "threshold": 0.5},
    }
    (task,) = load_train([row], {"notes/a.txt": "café"}).train
    assert (task.id, task.input, task.context, task.files) == ("7", "what?", "here", {"notes/a.txt": "café"})
    assert (task.answers, task.tags, task.where) == (("x", "y"), ("hard",), "evals/s/train.jsonl:1")
    assert task.judge == {"type": "f1", "threshold": 0.5, "extract": "auto"}


def test_the_default_judge_is_exact_or_what_judge_json_says(load_train):
    assert load_train([GOOD]).train[0].judge["type"] == "exact"
    (task,) = load_train([GOOD], {"judge.json": '{"type": "contains", "case": true}'}).train
    assert task.judge == {"type": "contains", "case": True, "all": False}


def test_checks_are_a_judge_and_win_over_the_default(load_train):
    row = {"id": "a", "input": "q", "checks": [{"op": "contains", "arg": "x"}]}
    (task,) = load_train([row], {"judge.json": '"exact"'}).train
    assert task.judge == {"type": "checks", "checks": [{"op": "contains", "arg": "x"}]}


def test_byte_order_mark_crlf_and_blank_lines_are_fine(load_train):
    lines = b"\xef\xbb\xbf" + json.dumps(GOOD).encode() + b"\r\n\r\n  \n" + json.dumps({**GOOD, "id": "t2"}).encode()
    first, second = load_train(lines).train
    assert (first.where, second.where) == ("evals/s/train.jsonl:1", "evals/s/train.jsonl:4")


def test_other_line_separators_do_not_end_a_line(load_train):
    line = json.dumps({**GOOD, "input": "a\u2028b"}, ensure_ascii=False)
    assert load_train(line).train[0].input == "a\u2028b"


def test_a_json_array_knows_its_lines(load):
    text = '[\n {"id": "a", "input": "q [1]", "answer": "x"},\n\n {"id": "b", "input": "r", "answer": "x"}\n]\n'
    splits = load({"train.json": text, "val/items.json": '[{"id": "v", "input": "s", "answer": "x"}]'})
    assert [task.where for task in splits.train] == ["evals/s/train.json:2", "evals/s/train.json:4"]
    assert splits.val[0].where == "evals/s/val/items.json:1"


def test_one_file_is_split_by_ratio(load):
    rows = [{"id": f"t{i}", "input": f"q{i}", "answer": "a"} for i in range(10)]
    splits = load({"tasks.jsonl": rows})
    want = assign([row["id"] for row in rows], (4, 3, 3), 42)
    assert tuple([t.id for t in s] for s in (splits.train, splits.val, splits.test)) == want
    again = load({"tasks.jsonl": rows}, split_ratio="8:1:1", split_seed=7)
    assert [t.id for t in again.train] == assign([row["id"] for row in rows], (8, 1, 1), 7)[0]
    zero = load({"tasks.jsonl": rows}, split_seed=0)
    assert zero == splits  # a zero seed means the run's own, 42 here


def test_limit_cuts_every_split(load):
    rows = [{"id": f"t{i}", "input": f"q{i}", "answer": "a"} for i in range(10)]
    splits = load({"tasks.jsonl": rows}, limit=2)
    assert [len(s) for s in (splits.train, splits.val, splits.test)] == [2, 2, 2]


def test_configured_places(load, tmp_path):
    (tmp_path / "d").mkdir()
    rows = [{"id": f"t{i}", "input": f"q{i}", "answer": "a"} for i in range(4)]
    (tmp_path / "d" / "all.json").write_text(json.dumps({"data": rows}))
    assert load({}, data_path="d", split_dir="").train[0].where.startswith("d/all.json item ")
    assert len(load({}, data_path="d/all.json", split_mode="ratio").val) == 1
    assert "d/train.jsonl is not there" in refusal(load, {}, split_dir="d")
    assert "there is no such folder" in refusal(load, {}, split_dir="nowhere")
    assert "there is no such file" in refusal(load, {}, data_path="nowhere")
    for options in ({"split_mode": "split_dir"}, {"split_mode": "ration"}, {"limit": -1}, {"split_dir": 3}):
        with pytest.raises(ConfigError, match=r"env\."):
            load({}, **options)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"id": "a", ', "is not valid JSON"),
        (b'["a"]', "is not an object"),
        (b'"text"', "is not an object"),
        (b'{"id": "\xff"}', "is not UTF-8 text (byte 9 is 0xff)"),
        (b'{"id": "a", "id": "b"}', 'has the field "id" twice'),
        (b'{"id": NaN}', "holds NaN"),
        (b'{"id": 1e999}', "too large"),
        (b'{"id": "\\ud800"}', "surrogate"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"input": "q", "answer": "a"}', 'has no "id"'),
        (b'{"id": " ", "input": "q", "answer": "a"}', '"id" must be one line of text or a whole number'),
        (b'{"id": true, "input": "q", "answer": "a"}', '"id" must be'),
        (b'{"id": "a\\nb", "input": "q", "answer": "a"}', '"id" must be'),
        (b'{"id": "a", "answer": "a"}', 'has no "input"'),
        (b'{"id": "a", "input": " ", "answer": "a"}', '"input" must be text that is not blank'),
        (b'{"id": "a", "input": "q", "prompt": "q", "answer": "a"}', 'has both "input" and "prompt"'),
        (b'{"id": "a", "input": "q", "answer": "a", "answers": ["a"]}', 'has both "answer" and "answers"'),
        (b'{"id": "a", "input": "q", "anwsers": ["a"]}', 'unknown field "anwsers"; did you mean "answers"?'),
        (b'{"id": "a", "input": "q", "answers": [4]}', 'not 4 (write "4")'),
        (b'{"id": "a", "input": "q", "answers": "a"}', '"answers" must be a list of texts'),
        (b'{"id": "a", "input": "q", "answers": []}', "needs answers"),
        (b'{"id": "a", "input": "q", "answers": [""]}', "not an empty text"),
        (b'{"id": "a", "input": "q", "answer": 4}', '"answer" must be text'),
        (b'{"id": "a", "input": "q", "answer": "a", "context": 3}', '"context" must be text'),
        (b'{"id": "a", "input": "q", "answer": "a", "tags": "x"}', '"tags" must be a list'),
        (b'{"id": "a", "input": "q", "answer": "a", "judge": "exat"}', 'unknown judge "exat"; did you mean "exact"?'),
        (b'{"id": "a", "input": "q", "answer": "a", "judge": false}', "judge must be a name or an object"),
        (b'{"id": "a", "input": "q", "judge": {"type": "regex", "pattern": "("}}', "not a valid regular"),
        (b'{"id": "a", "input": "q", "answer": "x", "judge": "numeric"}', "is not a number"),
        (b'{"id": "a", "input": "q", "checks": []}', "at least one"),
        (b'{"id": "a", "input": "q", "checks": [{"op": "rgex"}]}', 'did you mean "regex"?'),
        (b'{"id": "a", "input": "q", "checks": [1], "judge": "exact"}', 'both "judge" and "checks"'),
        (b'{"id": "a", "input": "q", "answer": "a", "files": ["../x"]}', "outside the folder"),
        (b'{"id": "a", "input": "q", "answer": "a", "files": ["/etc/passwd"]}', "outside the folder"),
        (b'{"id": "a", "input": "q", "answer": "a", "files": ["none"]}', "cannot be read (No such file"),
        (b'{"id": "a", "input": "q", "answer": "a", "files": ["a\\u0000b"]}', "cannot be read"),
        (b'{"id": "a", "input": "q", "answer": "a", "files": ["val.jsonl"]}', "holds answers"),
        (b'{"id": "a", "input": "q", "answer": "a", "files": {"x": 1}}', "text of each file"),
        (b'{"id": "a", "input": "q", "answer": "a", "files": "x"}', '"files" must be a list'),
    ],
)
def test_a_bad_task_is_refused_at_its_line(load_train, line, message):
    said = refusal(load_train, json.dumps(GOOD).encode() + b"\n\n" + line + b"\n")
    assert "evals/s/train.jsonl:3: " in said
    assert message in said
    assert "next:" in said


def test_a_link_out_of_the_folder_is_refused(load_train, tmp_path):
    (tmp_path / "secret.txt").write_text("x")
    (tmp_path / "evals" / "s").mkdir(parents=True)
    (tmp_path / "evals" / "s" / "link.txt").symlink_to(tmp_path / "secret.txt")
    assert "outside the folder" in refusal(load_train, [{**GOOD, "files": ["link.txt"]}])


def test_a_file_that_is_not_text_is_refused(load_train):
    said = refusal(load_train, [{**GOOD, "files": ["a.bin"]}], {"a.bin": b"ab\xff"})
    assert 'evals/s/train.jsonl:1: the file "a.bin" is not UTF-8 text (byte 3)' in said


def test_a_bad_default_judge_is_named_once(load_train):
    rows = [{**GOOD, "id": f"t{i}"} for i in range(3)]
    assert refusal(load_train, rows, {"judge.json": '"exat"'}).startswith("evals/s/judge.json: unknown judge")
    assert refusal(load_train, rows, {"judge.json": '{"type":\n oops}'}).startswith("evals/s/judge.json:2: is not")


def test_a_broken_array_is_named_at_its_line(load):
    said = refusal(load, {"train.json": b'[\n {"id": 1},\n {"id" 2}\n]', "val.json": b'["\n\xff"]'})
    assert "evals/s/train.json:3: is not valid JSON" in said
    assert "evals/s/val.json:2: is not UTF-8" in said


def test_repeated_ids_name_both_places(load):
    rows = [GOOD, {"id": "t2", "input": "r", "answer": "x"}, {"id": "t1", "input": "s", "answer": "x"}]
    said = refusal(load, {"train.jsonl": rows, "val.jsonl": [{"id": "t2", "input": "v", "answer": "x"}]})
    assert 'evals/s/train.jsonl:3: the id "t1" is already used at evals/s/train.jsonl:1' in said
    assert 'evals/s/val.jsonl:1: the id "t2" is already used at evals/s/train.jsonl:2' in said


@pytest.mark.parametrize("split", ["val", "test"])
def test_the_same_question_in_two_splits_names_both_places(load, split):
    files = {"val.jsonl": [{"id": "v", "input": "validate", "answer": "x"}]}
    files[f"{split}.jsonl"] = [{"id": "other", "input": " what?\n", "answer": "x"}]
    said = refusal(load, {"train.jsonl": [GOOD], **files})
    where = f"evals/s/{split}.jsonl:1"
    assert f"{where}: the same question is in {split} here and in train at evals/s/train.jsonl:1" in said


def test_number_and_text_ids_are_the_same_id(load_train):
    said = refusal(load_train, [{**GOOD, "id": 1}, {**GOOD, "id": "1"}])
    assert 'the id "1" is already used' in said


def test_every_problem_is_counted_and_twenty_are_listed(load_train):
    said = refusal(load_train, b"{\n" * 25)
    assert said.startswith("25 problems in the task files")
    assert "train.jsonl:20:" in said
    assert "train.jsonl:21:" not in said
    assert "and 5 more" in said


@pytest.mark.parametrize(
    ("files", "messages"),
    [
        ({}, ["no training tasks", "evals/s/train.jsonl is not there", "evals/s/tasks.jsonl", '"answers"']),
        ({"train.jsonl": "\n"}, ["no training tasks", "evals/s/train.jsonl is empty"]),
        ({"train.jsonl": [GOOD]}, ["no validation tasks", "evals/s/val.jsonl is not there"]),
        ({"train.jsonl": [GOOD], "val.json": "[]"}, ["no validation tasks", "evals/s/val.json is empty"]),
        ({"tasks.jsonl": [GOOD]}, ["evals/s/tasks.jsonl: there are no validation tasks", "1 tasks", "4:3:3"]),
        ({"tasks.jsonl": [GOOD], "train.jsonl": [GOOD]}, ["both say which tasks there are"]),
        ({"train.jsonl": [GOOD], "train.json": "[]"}, ["could both be meant"]),
        ({"train.json": "3", "val.jsonl": [GOOD]}, ["evals/s/train.json:1: must hold an array"]),
    ],
)
def test_missing_and_doubtful_files(load, files, messages):
    said = refusal(load, files)
    assert all(message in said for message in messages), said


def test_validation_may_be_missing_when_allowed(load):
    assert load({"train.jsonl": [GOOD]}, allow_missing_val=True) == Splits(
        load({"train.jsonl": [GOOD]}, allow_missing_val=True).train, ()
    )


@pytest.mark.parametrize("skill", ["", "..", "a/b", "a\0b"])
def test_a_skill_name_is_never_a_path(tmp_path, skill):
    with pytest.raises(TaskError, match="is not the name of a skill"):
        TaskFiles(BenchmarkContext(tmp_path, skill, {})).load()


def _fuzz(tmp_path_factory, name: str, data: bytes) -> None:
    root = tmp_path_factory.mktemp("fuzz")
    folder = root / "evals" / "s"
    folder.mkdir(parents=True)
    (folder / name).write_bytes(data)
    (folder / "val.jsonl").write_text('{"id": "v", "input": "validate?", "answer": "yes"}\n')
    with contextlib.suppress(TaskError):
        assert TaskFiles(BenchmarkContext(root, "s", {})).load().train


quick = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@quick
@given(st.sampled_from(["train.jsonl", "train.json"]), st.binary() | st.text().map(str.encode))
def test_any_bytes_load_or_are_refused(tmp_path_factory, name, data):
    _fuzz(tmp_path_factory, name, data)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
FIELDS = ["id", "input", "context", "files", "answers", "answer", "tags", "judge", "checks"]
JUDGE = st.dictionaries(
    st.sampled_from(["type", "pattern", "flags", "choices", "abs", "extract", "checks"]),
    JSON | st.sampled_from(["exact", "regex", "choice", "numeric", "checks"]),
)


@quick
@given(st.lists(st.dictionaries(st.sampled_from(FIELDS), JSON | JUDGE | st.lists(JUDGE)), max_size=4))
def test_any_fields_load_or_are_refused(tmp_path_factory, rows):
    base = {"id": "a", "input": "q", "answers": ["x"]}
    lines = [json.dumps({**base, "id": f"r{i}", **row}) for i, row in enumerate(rows)]
    _fuzz(tmp_path_factory, "train.jsonl", "\n".join(lines).encode())
