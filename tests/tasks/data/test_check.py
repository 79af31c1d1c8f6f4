"""`skillgit data check`: what became of materialised data."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillgit.errors import TaskError
from skillgit.tasks.data.digest import SEAL, data_digest
from tests.tasks.data import made
from tests.tasks.data.conftest import Materialise

Check = Callable[..., tuple[int, list[tuple[str, str]]]]


@pytest.fixture
def check(tmp_path: Path, skillgit: Callable[..., tuple[int, str, str]]) -> Check:
    """Check `out`: exit code, and kind and place of every finding."""

    def call(name: str) -> tuple[int, list[tuple[str, str]]]:
        code, out, err = skillgit(tmp_path, "data", "check", name, "--dir", "out", "--json")
        found = json.loads(out)["findings"] if out else [("error", err)]
        return code, [(each["kind"], each["where"]) if isinstance(each, dict) else each for each in found]

    return call


@pytest.fixture
def docvqa(tmp_path: Path, materialise: Materialise) -> Path:
    made.source(tmp_path / "source", "docvqa", made.manifest(tmp_path / "manifest", "docvqa"))
    assert materialise("docvqa")[0] == 0
    return tmp_path / "out"


def _rewrite(folder: Path, **values: Any) -> None:
    seal = json.loads((folder / SEAL).read_text())
    (folder / SEAL).write_text(json.dumps({**seal, **values}))


def test_whole_data_passes(docvqa: Path, check: Check) -> None:
    assert check("docvqa") == (0, [])


def test_files_that_changed_or_went_are_named(docvqa: Path, check: Check) -> None:
    (docvqa / "data/docvqa_images/q1_d0.png").write_bytes(made.picture(99))
    (docvqa / "data/docvqa_images/q2_d1.png").unlink()
    code, found = check("docvqa")
    assert (code, sorted(found)) == (
        1,
        [("changed", "data/docvqa_images/q1_d0.png"), ("file", "data/docvqa_images/q2_d1.png")],
    )


def test_changed_splits_are_named_with_their_counts_and_overlap(docvqa: Path, check: Check) -> None:
    train = json.loads((docvqa / "train/items.json").read_text())
    (docvqa / "val/items.json").write_text(json.dumps([*train[:1], {"id": "new"}, {"id": "new"}]))
    code, found = check("docvqa")
    assert code == 1
    assert [kind for kind, _ in found] == ["changed", "overlap", "repeated", "count"]


def test_a_split_that_went_is_named(docvqa: Path, check: Check) -> None:
    (docvqa / "test/items.json").unlink()
    code, found = check("docvqa")
    assert (code, found[0]) == (1, ("file", "test/items.json"))
    assert ("unreadable", str(docvqa)) in found


def test_a_seal_that_does_not_go_with_its_digest_is_named(docvqa: Path, check: Check) -> None:
    _rewrite(docvqa, digest="0" * 64)
    assert check("docvqa") == (1, [("changed", SEAL)])
    assert data_digest(docvqa) == "0" * 64


def test_a_seal_cannot_have_files_read_elsewhere(docvqa: Path, check: Check, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    _rewrite(docvqa, files={"../secret": "0" * 64})
    assert ("file", "../secret") in check("docvqa")[1]


@pytest.mark.parametrize("text", ["[]", '{"v": 2}', '{"v": 1, "digest": "../x"}', "{", '{"v":1,"digest":7}'])
def test_a_damaged_seal_is_an_error_and_no_digest(text: str, docvqa: Path, check: Check) -> None:
    (docvqa / SEAL).write_text(text)
    assert check("docvqa")[0] == 2
    with pytest.raises(TaskError):
        data_digest(docvqa)


@pytest.mark.parametrize("values", [{"files": []}, {"files": {"a": 1}}, {"name": None}, {"counts": "3"}])
def test_a_seal_with_parts_of_another_kind_is_an_error(values: dict[str, Any], docvqa: Path, check: Check) -> None:
    _rewrite(docvqa, **values)
    assert check("docvqa")[0] == 2


def test_a_folder_that_was_not_materialised_has_no_digest(tmp_path: Path, check: Check) -> None:
    (tmp_path / "out").mkdir()
    assert data_digest(tmp_path / "out") == ""
    code, found = check("docvqa")
    assert (code, "skillgit data materialize docvqa --manifest DIR --source PATH" in found[0][1]) == (2, True)


def test_data_of_another_benchmark_is_refused(docvqa: Path, check: Check) -> None:
    code, found = check("searchqa")
    assert (code, "is the data of docvqa, not of searchqa" in found[0][1]) == (2, True)


def test_games_are_looked_at_where_they_are(
    tmp_path: Path, materialise: Materialise, check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = made.manifest(tmp_path / "manifest", "alfworld")
    games = made.source(tmp_path / "source", "alfworld", listed)
    materialise("alfworld")
    monkeypatch.delenv("ALFWORLD_DATA", raising=False)
    assert check("alfworld") == (1, [("file", str(Path.home() / ".cache/alfworld"))])
    monkeypatch.setenv("ALFWORLD_DATA", str(games))
    assert check("alfworld") == (0, [])
    first = listed["train"][0]["gamefile"]
    (games / first).write_text("{}")
    assert check("alfworld") == (1, [("changed", f"$ALFWORLD_DATA/{first}")])


def test_people_are_told_what_is_wrong_and_what_to_do(
    docvqa: Path, tmp_path: Path, skillgit: Callable[..., tuple[int, str, str]]
) -> None:
    code, out, _ = skillgit(tmp_path, "data", "check", "docvqa", "--dir", "out")
    assert (code, "10 files are as written: 3 train, 2 val, 2 test (not the released counts)" in out) == (0, True)
    (docvqa / "val/items.json").write_bytes((docvqa / "val/items.json").read_bytes() + b" ")
    code, out, err = skillgit(tmp_path, "data", "check", "docvqa", "--dir", "out")
    assert (code, out.split()) == (1, ["changed", "is", "not", "what", "was", "written", "(val/items.json)"])
    assert "1 finding: 1 changed since it was written" in err
