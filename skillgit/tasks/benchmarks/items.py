"""What the published benchmarks share when they load: where the items are, and that they are there at all."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from skillgit.errors import TaskError
from skillgit.tasks.base import BenchmarkContext
from skillgit.tasks.data.digest import data_digest
from skillgit.tasks.options import text_option
from skillgit.tasks.record import Record
from skillgit.tasks.sources import Source, configured


def item_source(ctx: BenchmarkContext, benchmark: str, *, tables: bool = False) -> Source:
    """The files that `env.split_dir` or `env.data_path` name. Raises `TaskError` when both are blank.

    Args:
        benchmark: the name that people know it by; in small letters it is the one in commands.
        tables: CSV files may hold the items, too.
    """
    made = f"run `skillgit data materialize {benchmark.lower()} --manifest DIR --source PATH`"
    source = configured(ctx, tables=tables, how=f"{made}, or ")
    if source is None:
        raise TaskError(
            f"{benchmark} needs its data",
            why="env.split_dir and env.data_path are both blank",
            fix="set env.split_dir to a folder with train, val and test, or env.data_path to one file of items",
        )
    return source


def data_identity(ctx: BenchmarkContext) -> dict[str, Any]:
    """What a benchmark's digest says of its data; nothing where the data was not materialised by us."""
    folder = text_option(ctx.options, "split_dir")
    known = data_digest(ctx.root / folder) if folder else ""
    return {"data": known} if known else {}


def refuse_manifest(record: Record, benchmark: str, asked: Collection[str]) -> None:
    """Stop at once at a list of ids that came without its data: each further item would say the same.

    Args:
        benchmark: its name in commands.
        asked: fields of which an item with data has at least one.

    Raises:
        TaskError: the item has an id and none of the fields.
    """
    if "id" in record.value and not record.value.keys() & set(asked):
        raise TaskError(
            "the file holds ids, but no questions",
            why="it is a list of which items to take; the data itself must be materialised first",
            fix=f"run `skillgit data materialize {benchmark} --manifest DIR --source PATH` and set env.split_dir to "
            "its output",
            where=record.where,
        )
