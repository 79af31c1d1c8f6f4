"""A place to materialise in, and the command that does it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Materialise = Callable[..., tuple[int, dict[str, Any], str]]


@pytest.fixture
def materialise(tmp_path: Path, skillgit: Callable[..., tuple[int, str, str]]) -> Materialise:
    """Run `data materialize NAME` from `manifest` and `source` to `out`: exit code, the document, the messages."""

    def call(name: str, *args: str, source: str = "source") -> tuple[int, dict[str, Any], str]:
        options = ("--manifest", "manifest", "--source", source, "--out", "out", "--json", *args)
        code, out, err = skillgit(tmp_path, "data", "materialize", name, *options)
        return code, json.loads(out) if out else {}, err

    return call


def ids(document: dict[str, Any], kind: str) -> list[str]:
    """The ids of the findings of one kind."""
    return [finding["id"] for finding in document["findings"] if finding["kind"] == kind]


def read(folder: Path, split: str) -> list[dict[str, Any]]:
    """The items of one split."""
    return json.loads((folder / split / "items.json").read_text(encoding="utf-8"))
