"""Id lists in the form of the released ones, and data that goes with them, all invented."""

from __future__ import annotations

import json
import random
import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from skillgit.tasks.data.kinds import KINDS

Rows = list[dict[str, Any]]

SMALL = (3, 2, 2)


def manifest(folder: Path, name: str, counts: Sequence[int] = SMALL) -> dict[str, Rows]:
    """Write an id list with so many items; the items by split."""
    numbers = iter(range(sum(counts)))
    items = {
        split: [_LISTED[name](next(numbers), split) for _ in range(count)]
        for split, count in zip(("train", "val", "test"), counts, strict=True)
    }
    write_manifest(folder, name, items)
    return items


def write_manifest(folder: Path, name: str, items: Mapping[str, Rows], **about: Any) -> None:
    for split, rows in items.items():
        (folder / split).mkdir(parents=True, exist_ok=True)
        (folder / split / "items.json").write_text(json.dumps(rows, indent=2))
    told = {"benchmark": KINDS[name].title, "counts": {split: len(rows) for split, rows in items.items()}, **about}
    (folder / "split_manifest.json").write_text(json.dumps(told))


def source(folder: Path, name: str, items: Mapping[str, Rows], change: Callable[[Rows], object] | None = None) -> Path:
    """Write data with every item of a list and some others; `change` works on the rows. Where it is."""
    rows = rows_of(name, items)
    rows += [_SOURCES[name](_LISTED[name](number, "train")) for number in range(900_000, 900_003)]
    random.Random(7).shuffle(rows)
    if change:
        change(rows)
    folder.mkdir(parents=True, exist_ok=True)
    return _WRITERS[name](folder, rows)


def rows_of(name: str, items: Mapping[str, Rows]) -> Rows:
    """The source's rows of the items, in their order."""
    return [_SOURCES[name](item) for split in items.values() for item in split]


def picture(number: int) -> bytes:
    """A PNG of one pixel, which differs by number."""

    def part(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixel = zlib.compress(b"\0" + number.to_bytes(3, "big"))
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", pixel) + part(b"IEND", b"")


_LISTED: dict[str, Callable[[int, str], dict[str, Any]]] = {
    "searchqa": lambda n, _: {"id": f"{n:032x}"},
    "docvqa": lambda n, _: {
        "id": str(n),
        "questionId": str(n),
        "docId": str(n // 2),
        "image_path": f"data/docvqa_images/q{n}_d{n // 2}.png",
        "topic": "table/list|form",
        "source_split": "validation",
    },
    "alfworld": lambda n, split: {
        "id": f"{split}:{n:04}",
        "gamefile": f"json_2.1.1/{split}/look_at_obj_in_light-{n}/trial_{n}/game.tw-pddl",
        "task_type": "look_at_obj_in_light",
    },
    "officeqa": lambda n, split: {
        "id": f"UID{n:04}",
        "uid": f"UID{n:04}",
        "category": "easy",
        "source_files": f"bulletin_{n}.txt\r\nbulletin_{n + 1}.txt",
        "source_docs": f"https://example.invalid/bulletin-{n}?page=3",
        "source_split": split,
    },
    "livemathematicianbench": lambda n, _: {
        "id": f"202601:{n}",
        "month": "202601",
        "no": n,
        "paper_link": f"http://example.invalid/{n}",
        "source_file": "data/202601/qa_202601_final.json",
    },
    "spreadsheetbench": lambda n, _: {
        "id": f"{n}-1",
        "spreadsheet_path": f"spreadsheet/{n}-1",
        "instruction_type": "Cell-Level Manipulation",
    },
}

_SOURCES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "searchqa": lambda item: {
        "key": item["id"],
        "question": f"Which number is {item['id']}?",
        "context": f"[DOC] It is {item['id']}.",
        "answers": [item["id"], f"no. {item['id']}"],
    },
    "docvqa": lambda item: {
        "questionId": item["id"],
        "question": f"What is on page {item['id']}?",
        "docId": int(item["docId"]),
        "answers": [f"page {item['id']}"],
        "image": {"bytes": picture(int(item["id"])), "path": None},
    },
    "alfworld": lambda item: item,
    "officeqa": lambda item: {
        "uid": item["uid"],
        "question": f"How much, {item['uid']}?",
        "answer": "12.5",
        "source_docs": item["source_docs"],
        "source_files": item["source_files"],
        "difficulty": "easy",
    },
    "livemathematicianbench": lambda item: {
        "month": item["month"],
        "no": item["no"],
        "paper_link": item["paper_link"],
        "theorem": "All is well.",
        "theorem_type": ["existence"],
        "mcq": {
            "question": f"Is {item['id']} well?",
            "choices": [{"label": "A", "text": f"{item['id']} is"}, {"label": "B", "text": "it is not"}],
            "correct_choice": {"label": "A", "text": f"{item['id']} is"},
        },
    },
    "spreadsheetbench": lambda item: {
        "id": item["id"],
        "instruction": f"Put {item['id']} into A1.",
        "instruction_type": item["instruction_type"],
        "answer_position": "A1",
        "spreadsheet_path": item["spreadsheet_path"],
    },
}


def _parquet(folder: Path, rows: Rows, name: str) -> Path:
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), folder / name, row_group_size=50)
    return folder


def _json(folder: Path, rows: Rows, name: str) -> Path:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(rows))
    return folder


def _csv(folder: Path, rows: Rows) -> Path:
    import csv

    with (folder / "officeqa_full.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return folder


def _games(folder: Path, rows: Rows) -> Path:
    for row in rows:
        path = folder / row["gamefile"]
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({"walkthrough": [row["id"]]}))
    return folder


def _books(folder: Path, rows: Rows) -> Path:
    for row in rows:
        place = folder / "all" / row["spreadsheet_path"]
        place.mkdir(parents=True, exist_ok=True)
        for end in ("init", "golden"):
            (place / f"1_{row['id']}_{end}.xlsx").write_bytes(f"{row['id']} {end}".encode())
        (place / "prompt.txt").write_text("not needed")
    return _json(folder, rows, "all/dataset.json")


_WRITERS: dict[str, Callable[[Path, Rows], Path]] = {
    "searchqa": lambda folder, rows: _parquet(folder, rows, "train-00000-of-00001.parquet"),
    "docvqa": lambda folder, rows: _parquet(folder, rows, "validation-00000-of-00001.parquet"),
    "alfworld": _games,
    "officeqa": _csv,
    "livemathematicianbench": lambda folder, rows: _json(folder, rows, "data/202601/qa_202601_final.json"),
    "spreadsheetbench": _books,
}
