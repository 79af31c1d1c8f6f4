"""From released id lists and copies of data to splits, for every benchmark."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

from skillgit.tasks.data.digest import data_digest
from skillgit.tasks.data.kinds import KINDS
from skillgit.tasks.data.materialize import materialize
from tests.tasks.data import made
from tests.tasks.data.conftest import Materialise, ids, read

Run = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize("name", KINDS)
def test_a_list_of_the_released_size_becomes_splits_in_its_order(
    name: str, tmp_path: Path, materialise: Materialise, skillgit: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = made.manifest(tmp_path / "manifest", name, KINDS[name].released)
    made.source(tmp_path / "source", name, listed)
    monkeypatch.setenv("ALFWORLD_DATA", str(tmp_path / "source"))
    code, document, err = materialise(name)
    assert (code, document["released"], tuple(document["counts"].values())) == (0, True, KINDS[name].released), err
    for split, items in listed.items():
        assert [item["id"] for item in read(tmp_path / "out", split)] == [item["id"] for item in items]
    assert data_digest(tmp_path / "out") == document["digest"]
    code, out, _ = skillgit(tmp_path, "data", "check", name, "--dir", "out", "--json")
    assert (code, json.loads(out)["findings"], json.loads(out)["released"]) == (0, [], True)


@pytest.mark.parametrize("name", KINDS)
def test_every_missing_and_repeated_id_is_named_and_nothing_is_written(
    name: str, tmp_path: Path, materialise: Materialise
) -> None:
    listed = made.manifest(tmp_path / "manifest", name)
    gone = [listed["train"][0]["id"], listed["test"][1]["id"]]
    twice = listed["val"][0]["id"]

    def change(rows: made.Rows) -> None:
        kept = [row for row in rows if _id(name, row) not in gone]
        again = [] if name == "alfworld" else [row for row in kept if _id(name, row) == twice]
        rows[:] = [*kept, *again]

    made.source(tmp_path / "source", name, listed, change)
    code, document, err = materialise(name)
    assert code == 1
    if name == "alfworld":  # its list names files
        assert ids(document, "file") == gone
        assert "2 with a file that cannot be used" in err
    else:
        assert (ids(document, "missing"), ids(document, "duplicate")) == (gone, [twice])
        assert "2 missing from the source, 1 more than once in the source" in err
    assert not document["written"]
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == ["manifest", "source"]


def _id(name: str, row: dict[str, object]) -> str:
    return KINDS[name].row_id(row, "qa_202601_final.json")


@pytest.mark.parametrize("name", ["searchqa", "officeqa", "livemathematicianbench", "docvqa"])
def test_the_order_of_the_source_makes_no_difference(name: str, tmp_path: Path) -> None:
    listed = made.manifest(tmp_path / "manifest", name)
    made.source(tmp_path / "a", name, listed)
    made.source(tmp_path / "b", name, listed, lambda rows: rows.reverse())
    digests = {
        materialize(name, tmp_path / "manifest", source, tmp_path / f"out-{source}", tmp_path).seal.digest
        for source in ("a", "b")
    }
    assert len(digests) == 1


def test_another_answer_makes_another_digest(tmp_path: Path) -> None:
    listed = made.manifest(tmp_path / "manifest", "searchqa")
    made.source(tmp_path / "a", "searchqa", listed)
    made.source(tmp_path / "b", "searchqa", listed, lambda rows: [row.update(answers=["other"]) for row in rows])
    one, other = (
        materialize("searchqa", tmp_path / "manifest", source, tmp_path / "out", tmp_path, dry_run=True).seal.digest
        for source in ("a", "b")
    )
    assert one != other


def test_faults_of_the_list_itself_are_named_by_line(tmp_path: Path, materialise: Materialise) -> None:
    listed = made.manifest(tmp_path / "manifest", "searchqa")
    made.source(tmp_path / "source", "searchqa", listed)
    first, second = listed["train"][:2]
    faulty = {"train": [*listed["train"], second], "val": [first, *listed["val"]], "test": listed["test"]}
    made.write_manifest(tmp_path / "manifest", "searchqa", faulty, counts={"train": 4, "val": 3, "test": 9})
    code, document, _ = materialise("searchqa")
    assert code == 1
    assert [(found["kind"], found["id"], found["where"]) for found in document["findings"]] == [
        ("repeated", second["id"], "train/items.json:11"),
        ("overlap", first["id"], "val/items.json:2"),
        ("count", "", "test"),
    ]


def test_a_list_of_another_benchmark_is_refused(tmp_path: Path, materialise: Materialise) -> None:
    made.source(tmp_path / "source", "docvqa", made.manifest(tmp_path / "manifest", "docvqa"))
    code, _, err = materialise("searchqa")
    assert (code, "is a manifest of 'DocVQA', not of SearchQA" in err) == (2, True)


def test_a_list_without_one_of_the_splits_is_refused(tmp_path: Path, materialise: Materialise) -> None:
    listed = made.manifest(tmp_path / "manifest", "searchqa")
    made.source(tmp_path / "source", "searchqa", listed)
    (tmp_path / "manifest/val/items.json").unlink()
    code, _, err = materialise("searchqa")
    assert (code, "has no val/items.json" in err) == (2, True)


def test_an_unknown_name_is_answered_with_the_nearest(tmp_path: Path, materialise: Materialise) -> None:
    code, _, err = materialise("docvq")
    assert (code, 'did you mean "docvqa"' in err) == (2, True)


def test_ids_with_slashes_colons_and_blanks_work(tmp_path: Path, materialise: Materialise) -> None:
    listed = made.manifest(tmp_path / "manifest", "searchqa")
    listed["train"][0]["id"], listed["val"][0]["id"], listed["test"][0]["id"] = "a/../b", "C:x: y", " two words"
    made.write_manifest(tmp_path / "manifest", "searchqa", listed)
    made.source(tmp_path / "source", "searchqa", listed)
    code, document, err = materialise("searchqa")
    assert code == 0, (document, err)
    assert read(tmp_path / "out", "train")[0]["id"] == "a/../b"
    assert read(tmp_path / "out", "test")[0]["id"] == " two words"


def test_a_dry_run_checks_everything_and_writes_nothing(tmp_path: Path, materialise: Materialise) -> None:
    made.source(tmp_path / "source", "docvqa", made.manifest(tmp_path / "manifest", "docvqa"))
    before = sorted(tmp_path.rglob("*"))
    code, tried, _ = materialise("docvqa", "--dry-run")
    assert (code, tried["written"], sorted(tmp_path.rglob("*"))) == (0, False, before)
    _, wrote, _ = materialise("docvqa")
    assert (wrote["digest"], wrote["files"]) == (tried["digest"], tried["files"])


def test_data_that_is_there_is_made_again_only_by_force(tmp_path: Path, materialise: Materialise) -> None:
    listed = made.manifest(tmp_path / "manifest", "searchqa")
    made.source(tmp_path / "source", "searchqa", listed)
    assert materialise("searchqa")[0] == 0
    code, _, err = materialise("searchqa")
    assert (code, "is there already" in err) == (2, True)
    assert f"`skillgit data check searchqa --dir {tmp_path / 'out'}`" in err
    (tmp_path / "out/val/items.json").write_text("[]")
    assert materialise("searchqa", "--force")[0] == 0
    assert len(read(tmp_path / "out", "val")) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["manifest", "out", "source"]


def test_force_never_takes_what_skillgit_did_not_write(tmp_path: Path, materialise: Materialise) -> None:
    listed = made.manifest(tmp_path / "manifest", "searchqa")
    made.source(tmp_path / "source", "searchqa", listed)
    (tmp_path / "out").mkdir()
    (tmp_path / "out/thesis.txt").write_text("mine")
    assert "did not make" in materialise("searchqa", "--force")[2]
    (tmp_path / "out/thesis.txt").rename(tmp_path / "thesis.txt")
    assert materialise("searchqa")[0] == 0
    (tmp_path / "thesis.txt").rename(tmp_path / "out/thesis.txt")
    code, _, err = materialise("searchqa", "--force")
    assert (code, "thesis.txt is not among the files it wrote" in err) == (2, True)
    assert (tmp_path / "out/thesis.txt").read_text() == "mine"


def test_the_place_may_be_a_link_to_another_disk(tmp_path: Path, materialise: Materialise) -> None:
    made.source(tmp_path / "source", "searchqa", made.manifest(tmp_path / "manifest", "searchqa"))
    (tmp_path / "disk").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "disk/data")
    assert materialise("searchqa")[0] == 0
    assert materialise("searchqa", "--force")[0] == 0
    assert (tmp_path / "out").is_symlink()
    assert [path.name for path in (tmp_path / "disk").iterdir()] == ["data"]


def test_an_interrupted_run_leaves_no_data_and_the_next_goes_on(
    tmp_path: Path, materialise: Materialise, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = made.manifest(tmp_path / "manifest", "docvqa")
    made.source(tmp_path / "source", "docvqa", listed)
    kept = tmp_path / ".out.partial"
    from skillgit.tasks.data.folder import Staging

    put = Staging.put
    monkeypatch.setattr(Staging, "put", lambda *args: put(*args) if len(args[0].files) < 3 else _stop())
    assert materialise("docvqa")[0] == 130
    monkeypatch.undo()
    written = {path: path.stat().st_mtime_ns for path in kept.rglob("*.png")}
    assert (len(written), (tmp_path / "out").exists()) == (3, False)
    (kept / "stale.png").write_bytes(b"of a run with another list")
    assert materialise("docvqa")[0] == 0
    after = {kept / path.relative_to(tmp_path / "out"): path for path in (tmp_path / "out").rglob("*.png")}
    assert {path: after[path].stat().st_mtime_ns for path in written} == written
    assert (len(after), kept.exists()) == (7, False)


def _stop() -> None:
    raise KeyboardInterrupt


def test_two_runs_at_once_do_not_write_one_folder(tmp_path: Path, materialise: Materialise) -> None:
    made.source(tmp_path / "source", "searchqa", made.manifest(tmp_path / "manifest", "searchqa"))
    with FileLock(tmp_path / ".out.partial.lock"):
        code, _, err = materialise("searchqa")
    assert (code, "another process is writing" in err) == (2, True)


def test_without_out_the_data_lies_where_the_recipe_looks_and_git_leaves_it_alone(
    repo_dir: Path, skillgit: Run, tmp_path: Path
) -> None:
    from tests.conftest import git

    made.source(tmp_path / "source", "searchqa", made.manifest(tmp_path / "manifest", "searchqa"))
    paths = ("--manifest", str(tmp_path / "manifest"), "--source", str(tmp_path / "source"))
    code, out, err = skillgit(repo_dir / "skills", "data", "materialize", "searchqa", *paths)
    assert (code, "next: skillgit train SKILL --config searchqa\n" in out) == (0, True), err
    assert "not the counts of the released list" in err
    assert git(repo_dir, "status", "--porcelain") == ""
    assert skillgit(repo_dir, "data", "check", "searchqa")[0] == 0


def test_elsewhere_the_next_command_names_the_place(tmp_path: Path, skillgit: Run) -> None:
    made.source(tmp_path / "source", "spreadsheetbench", made.manifest(tmp_path / "manifest", "spreadsheetbench"))
    args = ("--manifest", "manifest", "--source", "source", "--out", "my data")
    _, out, _ = skillgit(tmp_path, "data", "materialize", "spreadsheetbench", *args)
    assert "--config spreadsheetbench --set 'env.split_dir=my data' --set 'env.data_root=my data'" in out


def test_people_see_the_first_findings_and_how_many_more(tmp_path: Path, skillgit: Run) -> None:
    listed = made.manifest(tmp_path / "manifest", "searchqa", (20, 10, 10))
    listed["train"][0]["id"] = "bad\u202eid"
    made.write_manifest(tmp_path / "manifest", "searchqa", listed)
    (tmp_path / "none.jsonl").write_text('{"key": "other"}\n')
    args = ("--manifest", "manifest", "--source", "none.jsonl", "--out", "out")
    code, out, err = skillgit(tmp_path, "data", "materialize", "searchqa", *args)
    assert code == 2
    listed["train"][0]["id"] = "x" * 8
    made.write_manifest(tmp_path / "manifest", "searchqa", listed)
    code, out, err = skillgit(tmp_path, "data", "materialize", "searchqa", *args)
    assert (code, len(out.splitlines()), out.splitlines()[-1]) == (1, 21, "… and 20 more; --json lists all")
    assert "40 findings: 40 missing from the source" in err
    assert "nothing was written, and none of the ids is in the source" in err
