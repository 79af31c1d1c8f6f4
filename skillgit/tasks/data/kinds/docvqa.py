"""DocVQA: questions about page images, which lie in parquet files or beside the rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillgit.tasks.data.kinds.base import TABLES, Found, Kind, Sink, UnusableError, agree, first_of, text, texts

_PICTURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF8", b"RIFF")


def _build(wanted: Mapping[str, Any], found: Found, sink: Sink) -> dict[str, Any]:
    row = found.value
    agree(wanted, row, "docId")
    name = text(wanted, "image_path")
    item = {
        "id": str(wanted["id"]),
        "questionId": str(wanted.get("questionId") or wanted["id"]),
        "question": text(row, "question"),
        "answers": texts(row, "answers", "answer", "ground_truth"),
        "image_path": name,
        "topic": str(wanted.get("topic") or row.get("topic") or ""),
        **{field: str(wanted[field]) for field in ("docId", "ucsf_document_id") if wanted.get(field)},
        **{field: str(wanted[field]) for field in ("ucsf_document_page_no", "source_split") if wanted.get(field)},
    }
    sink.write(name, _picture(row, found))
    return item


def _picture(row: Mapping[str, Any], found: Found) -> bytes:
    value = row.get("image") or row.get("image_path")
    data = value.get("bytes") if isinstance(value, dict) else None
    if not isinstance(data, bytes):
        path = value.get("path") if isinstance(value, dict) else value
        if not (isinstance(path, str) and path):
            raise UnusableError("has no image", "file")
        data = _read(found, path)
    if not data.startswith(_PICTURES):
        raise UnusableError("has an image that is no picture", "file")
    return data


def _read(found: Found, name: str) -> bytes:
    path = found.file(name)
    if not path.is_file():
        raise UnusableError(f"{name} is no file", "file")
    try:
        return path.read_bytes()
    except OSError as error:
        raise UnusableError(f"{name} cannot be read ({error.strerror})", "file") from error


DOCVQA = Kind(
    name="docvqa",
    title="DocVQA",
    folder="data/docvqa/splits",
    released=(107, 53, 374),
    repo="lmms-lab/DocVQA",
    hub=("DocVQA/validation*.parquet",),
    # The data set holds a second one whose question numbers are the same.
    patterns=("**/DocVQA/validation*.parquet", "**/validation*.parquet", *TABLES),
    id_fields=("questionId", "id"),
    row_id=first_of("questionId", "id"),
    build=_build,
)
