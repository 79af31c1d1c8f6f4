"""A small DocVQA data set in the real format: a table and pictures of pages."""

from __future__ import annotations

import csv
import io
from typing import Any

from PIL import Image, ImageDraw

FIELDS = ["questionId", "question", "answer", "image_path", "topic", "docId", "ucsf_document_id", "source_split"]
SIZES = {"train": 4, "val": 3, "test": 2}


def page(text: str, kind: str = "PNG") -> bytes:
    """The picture of a page with one line of print."""
    picture = Image.new("L", (240, 60), 255)
    ImageDraw.Draw(picture).text((10, 20), text, fill=0)
    out = io.BytesIO()
    picture.save(out, kind)
    return out.getvalue()


def table(*rows: dict[str, str]) -> bytes:
    out = io.StringIO()
    writer = csv.DictWriter(out, FIELDS, restval="")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def row(name: str, **changes: str) -> dict[str, str]:
    told = {"question": f"What is the total of {name}?", "answer": f"['Total {name}', 'total {name} eur']"}
    return {"questionId": name, **told, "image_path": f"pages/{name}.png", "topic": "form|table/list", **changes}


def files(**more: Any) -> dict[str, Any]:
    rows = {split: [row(f"{split} {n}") for n in range(size)] for split, size in SIZES.items()}
    names = [each["questionId"] for part in rows.values() for each in part]
    return {
        **{f"data/docvqa/splits/{split}/items.csv": table(*each) for split, each in rows.items()},
        **{f"data/docvqa/splits/pages/{name}.png": page(name) for name in names},
        **more,
    }
