"""The forms that data comes in, the files that belong to items, and what is wrong with either."""

from __future__ import annotations

import io
import json
import sys
import tarfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from skillgit.tasks.base import BenchmarkContext
from skillgit.tasks.data.folder import plain
from skillgit.tasks.data.kinds import KINDS
from skillgit.tasks.data.materialize import materialize
from skillgit.tasks.registry import build
from tests.tasks.data import made
from tests.tasks.data.conftest import Materialise, ids, read


def test_parquet_json_lines_json_and_csv_give_the_same_data(tmp_path: Path) -> None:
    listed = made.manifest(tmp_path / "manifest", "searchqa")
    rows = made.rows_of("searchqa", listed)
    made.source(tmp_path / "parquet", "searchqa", listed)
    (tmp_path / "rows.jsonl").write_text("\ufeff" + "".join(f"{json.dumps(row)}\n\n" for row in rows), "utf-8")
    (tmp_path / "rows.json").write_text(json.dumps({"data": rows}))
    cells = ["key,question,context,answers"]
    for row in rows:
        # One list as JSON writes it, the others as Python does.
        answers = json.dumps(row["answers"]) if row is rows[0] else repr(row["answers"])
        cells.append(",".join('"' + text.replace('"', '""') + '"' for text in [*list(row.values())[:3], answers]))
    (tmp_path / "rows.csv").write_text("\r\n".join(cells))
    (tmp_path / "parts").mkdir()
    for number, part in enumerate((rows[:3], rows[3:])):
        (tmp_path / f"parts/train-{number}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in part))
    made_of = {
        source: materialize("searchqa", tmp_path / "manifest", source, tmp_path / "out", tmp_path, dry_run=True)
        for source in ("parquet", "rows.jsonl", "rows.json", "rows.csv", "parts")
    }
    assert {source: result.findings for source, result in made_of.items()} == dict.fromkeys(made_of, ())
    assert len({result.seal.digest for result in made_of.values()}) == 1


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("rows.jsonl", b'{"key": "a"\n', "is not valid JSON"),
        ("rows.jsonl", b'{"key": "\xff"}\n', "is not valid JSON"),
        ("rows.json", b'[{"key": 1}', "is not valid JSON"),
        ("rows.csv", b'key,question\n"a', "is not valid CSV"),
        ("rows.csv", b"key,question\n\xff,b\n", "is not UTF-8 text"),
        ("rows.parquet", b"PAR1 cut short", "is not a sound parquet file"),
    ],
)
def test_a_broken_file_is_a_finding_with_its_place(
    name: str, content: bytes, said: str, tmp_path: Path, materialise: Materialise
) -> None:
    made.manifest(tmp_path / "manifest", "searchqa")
    (tmp_path / name).write_bytes(content)
    code, document, _ = materialise("searchqa", source=name)
    found = [finding for finding in document["findings"] if finding["kind"] == "unreadable"]
    assert (code, len(found)) == (1, 1)
    assert said in found[0]["text"]
    assert found[0]["where"].startswith(name)


@pytest.mark.parametrize(
    ("name", "change", "kind", "said"),
    [
        ("searchqa", {"answers": []}, "unusable", 'has no "answers"'),
        ("searchqa", {"answers": ["a", ""]}, "unusable", "is not a list of texts"),
        ("searchqa", {"context": None}, "unusable", 'has no "context"'),
        ("officeqa", {"answer": " "}, "unusable", '"answer" is not text'),
        ("officeqa", {"source_files": "other.txt"}, "mismatch", "other source_files"),
        ("livemathematicianbench", {"paper_link": "http://example.invalid/x"}, "mismatch", "paper_link is"),
        ("livemathematicianbench", {"mcq": {"question": "?", "choices": []}}, "unusable", 'has no "choices"'),
        ("docvqa", {"docId": 77}, "mismatch", "docId is 77, and the manifest says 0"),
        ("docvqa", {"image": {"bytes": b"<html>", "path": None}}, "file", "no picture"),
        ("docvqa", {"image": {"bytes": None, "path": "../secret.png"}}, "file", "outside the source"),
        ("docvqa", {"image": None}, "file", "has no image"),
        ("spreadsheetbench", {"instruction": ""}, "unusable", '"instruction" is not text'),
    ],
)
def test_a_row_that_gives_no_task_is_named(
    name: str, change: dict[str, object], kind: str, said: str, tmp_path: Path, materialise: Materialise
) -> None:
    listed = made.manifest(tmp_path / "manifest", name)
    first = listed["train"][0]["id"]
    (tmp_path / "secret.png").write_bytes(made.picture(1))

    def spoil(rows: made.Rows) -> None:
        for row in rows:
            if first in (
                row.get("key"),
                row.get("uid"),
                row.get("questionId"),
                row.get("id"),
                f"202601:{row.get('no')}",
            ):
                row.update(change)

    made.source(tmp_path / "source", name, listed, spoil)
    code, document, _ = materialise(name)
    assert code == 1
    assert [(found["kind"], found["id"]) for found in document["findings"]] == [(kind, first)]
    assert said in document["findings"][0]["text"]


def test_pictures_may_lie_beside_the_rows_and_links_out_are_refused(tmp_path: Path, materialise: Materialise) -> None:
    listed = made.manifest(tmp_path / "manifest", "docvqa")
    rows = made.rows_of("docvqa", listed)
    (tmp_path / "source/pages").mkdir(parents=True)
    for number, row in enumerate(rows):
        row["image"] = f"pages/{number}.png"
        (tmp_path / "source" / row["image"]).write_bytes(made.picture(number))
    (tmp_path / "source/rows.json").write_text(json.dumps(rows))
    assert materialise("docvqa", "--dry-run")[0] == 0
    (tmp_path / "secret.png").write_bytes(made.picture(9))
    (tmp_path / "source/pages/0.png").unlink()
    (tmp_path / "source/pages/0.png").symlink_to(tmp_path / "secret.png")
    (tmp_path / "source/pages/1.png").unlink()
    (tmp_path / "source/pages/2.png").unlink()
    (tmp_path / "source/pages/2.png").mkdir()
    _, document, _ = materialise("docvqa")
    assert [finding["text"] for finding in document["findings"]] == [
        "pages/0.png is outside the source",
        "pages/1.png is not in the source",
        "pages/2.png is no file",
    ]


@pytest.mark.parametrize("path", ["../out.png", "/tmp/out.png", "a/../../b.png", "train/x.png", "skillgit-data.json"])
def test_a_list_cannot_have_files_written_elsewhere(path: str, tmp_path: Path, materialise: Materialise) -> None:
    listed = made.manifest(tmp_path / "manifest", "docvqa")
    made.source(tmp_path / "source", "docvqa", listed)
    listed["val"][0]["image_path"] = path
    made.write_manifest(tmp_path / "manifest", "docvqa", listed)
    code, document, _ = materialise("docvqa")
    assert (code, ids(document, "file")) == (1, [listed["val"][0]["id"]])


@pytest.mark.parametrize("name", ["C:/x", "c:x", "a\\b", "", "a//b", "./a", "a/\n"])
def test_names_that_mean_something_else_on_some_system_are_not_plain(name: str) -> None:
    assert not plain(name)


def test_questions_may_share_a_page_but_not_a_name(tmp_path: Path, materialise: Materialise) -> None:
    listed = made.manifest(tmp_path / "manifest", "docvqa")
    shared = listed["train"][0]["image_path"]
    listed["train"][1]["image_path"] = listed["train"][2]["image_path"] = shared
    made.write_manifest(tmp_path / "manifest", "docvqa", listed)

    def change(rows: made.Rows) -> None:
        for row in rows:
            if row["questionId"] in ("0", "1"):
                row["image"]["bytes"] = made.picture(5)
        rows.sort(key=lambda row: int(row["questionId"]))

    made.source(tmp_path / "source", "docvqa", listed, change)
    code, document, _ = materialise("docvqa")
    assert (code, ids(document, "file")) == (1, ["2"])


def test_numbers_of_an_export_are_answers_too(tmp_path: Path, materialise: Materialise) -> None:
    listed = made.manifest(tmp_path / "manifest", "officeqa")
    rows = [{**row, "answer": 12.5 if row["uid"] == "UID0000" else 0} for row in made.rows_of("officeqa", listed)]
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    assert materialise("officeqa", source="rows.json")[0] == 0
    assert [item["ground_truth"] for item in read(tmp_path / "out", "train")] == ["12.5", "0", "0"]


def test_an_archive_that_is_cut_short_is_an_error(tmp_path: Path, materialise: Materialise) -> None:
    listed = made.manifest(tmp_path / "manifest", "spreadsheetbench")
    made.source(tmp_path / "source", "spreadsheetbench", listed)
    with tarfile.open(tmp_path / "all.tar.gz", "w:gz") as tar:
        tar.add(tmp_path / "source/all", "all")
    whole = (tmp_path / "all.tar.gz").read_bytes()
    (tmp_path / "all.tar.gz").write_bytes(whole[: len(whole) // 2])
    code, _, err = materialise("spreadsheetbench", source="all.tar.gz")
    assert (code, "all.tar.gz: cannot be unpacked" in err) == (2, True)


def test_a_packed_source_is_unpacked_out_of_sight(tmp_path: Path, materialise: Materialise) -> None:
    listed = made.manifest(tmp_path / "manifest", "spreadsheetbench")
    made.source(tmp_path / "source", "spreadsheetbench", listed)
    with tarfile.open(tmp_path / "all.tar.gz", "w:gz") as tar:
        tar.add(tmp_path / "source/all", "all")
    code, document, err = materialise("spreadsheetbench", source="all.tar.gz")
    assert (code, document["source"], document["files"]) == (0, "all.tar.gz", 3 + 2 * 7), err
    assert (tmp_path / "out/spreadsheet/0-1/1_0-1_golden.xlsx").read_bytes() == b"0-1 golden"
    assert not list((tmp_path / "out").rglob("prompt.txt"))


@pytest.mark.parametrize("evil", ["../evil", "/evil", "link"])
def test_a_packed_source_writes_nothing_outside(evil: str, tmp_path: Path, materialise: Materialise) -> None:
    made.manifest(tmp_path / "manifest", "spreadsheetbench")
    with tarfile.open(tmp_path / "all.tar.gz", "w:gz") as tar:
        member = tarfile.TarInfo(evil)
        if evil == "link":
            member.type, member.linkname = tarfile.SYMTYPE, "/etc"
        tar.addfile(member, io.BytesIO(b""))
    code, _, err = materialise("spreadsheetbench", source="all.tar.gz")
    assert code == 2
    assert "cannot be unpacked" in err or "holds no data" in err
    assert not (tmp_path.parent / "evil").exists()


def test_workbooks_that_lack_their_pair_or_are_links_are_named(tmp_path: Path, materialise: Materialise) -> None:
    listed = made.manifest(tmp_path / "manifest", "spreadsheetbench")
    books = made.source(tmp_path / "source", "spreadsheetbench", listed) / "all/spreadsheet"
    (books / "0-1/1_0-1_golden.xlsx").unlink()
    (books / "0-1/._1_0-1_golden.xlsx").write_bytes(b"left by a system")
    (books / "1-1/1_1-1_init.xlsx").rename(tmp_path / "secret.xlsx")
    (books / "1-1/1_1-1_init.xlsx").symlink_to(tmp_path / "secret.xlsx")
    for path in (books / "2-1").iterdir():
        path.unlink()
    (books / "2-1").rmdir()
    code, document, _ = materialise("spreadsheetbench")
    assert (code, sorted(ids(document, "file"))) == (1, ["0-1", "1-1", "2-1"])


def test_games_stay_below_their_folder(
    tmp_path: Path, materialise: Materialise, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = made.manifest(tmp_path / "manifest", "alfworld")
    monkeypatch.delenv("ALFWORLD_DATA", raising=False)
    assert "set ALFWORLD_DATA" in materialise("alfworld", source="")[2]
    monkeypatch.setenv("ALFWORLD_DATA", str(made.source(tmp_path / "games", "alfworld", listed)))
    code, document, _ = materialise("alfworld", source="")
    assert (code, document["files"], document["outside"], document["source"]) == (0, 3, 7, "$ALFWORLD_DATA")
    assert read(tmp_path / "out", "train") == listed["train"]
    listed["train"][0]["gamefile"] = "../manifest/split_manifest.json"
    made.write_manifest(tmp_path / "manifest", "alfworld", listed)
    code, document, _ = materialise("alfworld", "--force", source="")
    said = "../manifest/split_manifest.json: the game file leads out of $ALFWORLD_DATA"
    assert (code, document["findings"][0]["text"]) == (1, said)


def test_the_hub_is_asked_for_what_the_list_was_made_from(
    tmp_path: Path, materialise: Materialise, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = made.manifest(tmp_path / "manifest", "officeqa")
    revision = "8" * 40
    asked = {"source_repo": "databricks/officeqa", "source_revision": revision}
    made.write_manifest(tmp_path / "manifest", "officeqa", listed, **asked)
    made.source(tmp_path / "fetched", "officeqa", listed)
    calls = []

    def snapshot_download(repo: str, **options: object) -> str:
        calls.append((repo, options))
        return str(tmp_path / "fetched")

    monkeypatch.setitem(sys.modules, "huggingface_hub", SimpleNamespace(snapshot_download=snapshot_download))
    code, document, err = materialise("officeqa", source="hf")
    assert (code, document["source"]) == (0, f"hf:databricks/officeqa@{revision}"), err
    options = {"repo_type": "dataset", "revision": revision, "allow_patterns": ["officeqa_full.csv"]}
    assert calls == [("databricks/officeqa", options)]


def test_a_list_cannot_name_another_data_set_to_fetch(
    tmp_path: Path, materialise: Materialise, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = made.manifest(tmp_path / "manifest", "officeqa")
    made.write_manifest(tmp_path / "manifest", "officeqa", listed, source_repo="evil/set", source_revision="8" * 40)

    def snapshot_download(repo: str, **options: object) -> str:
        raise OSError(f"403 {repo} at {options['revision']}: access is restricted\nmore")

    monkeypatch.setitem(sys.modules, "huggingface_hub", SimpleNamespace(snapshot_download=snapshot_download))
    code, _, err = materialise("officeqa", source="hf")
    assert (code, "why:  403 databricks/officeqa at main: access is restricted\n" in err) == (2, True)


def test_without_the_package_or_off_the_hub_the_error_says_what_to_do(
    tmp_path: Path, materialise: Materialise, monkeypatch: pytest.MonkeyPatch
) -> None:
    made.manifest(tmp_path / "manifest", "searchqa")
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    code, _, err = materialise("searchqa", source="hf")
    assert (code, "pip install 'skillgit[data]'" in err) == (2, True)
    made.manifest(tmp_path / "manifest", "alfworld")
    code, _, err = materialise("alfworld", source="hf")
    assert (code, "alfworld-download" in err) == (2, True)


def test_without_pyarrow_the_error_names_another_form(
    tmp_path: Path, materialise: Materialise, monkeypatch: pytest.MonkeyPatch
) -> None:
    made.source(tmp_path / "source", "searchqa", made.manifest(tmp_path / "manifest", "searchqa"))
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    code, _, err = materialise("searchqa")
    assert (code, "export the data as JSON Lines" in err) == (2, True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["manifest", "source"]


@pytest.mark.parametrize(
    ("source", "said"), [("nowhere", "no such source"), ("", "where is the data"), ("manifest/a.txt", "be read")]
)
def test_a_source_that_is_none_is_refused(source: str, said: str, tmp_path: Path, materialise: Materialise) -> None:
    made.manifest(tmp_path / "manifest", "searchqa")
    (tmp_path / "manifest/a.txt").write_text("a")
    code, _, err = materialise("searchqa", source=source)
    assert (code, said in err) == (2, True)


@pytest.mark.parametrize("name", KINDS)
def test_the_benchmark_takes_the_data_and_its_digest(
    name: str, tmp_path: Path, materialise: Materialise, monkeypatch: pytest.MonkeyPatch
) -> None:
    made.source(tmp_path / "source", name, made.manifest(tmp_path / "manifest", name))
    monkeypatch.setenv("ALFWORLD_DATA", str(tmp_path / "source"))
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents/bulletin_0.txt").write_text("all is well")
    assert materialise(name)[0] == 0
    context = BenchmarkContext(tmp_path, "s", {"split_dir": "out", "data_dirs": ("documents",)})
    splits = build(name, context).load()
    assert [len(split) for split in (splits.train, splits.val, splits.test)] == [3, 2, 2]
    before = build(name, context).judge_digest()
    (tmp_path / "out/skillgit-data.json").unlink()
    assert build(name, context).judge_digest() != before
