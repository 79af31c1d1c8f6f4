"""Where the tasks of a skill lie: one file per split, or one file that a ratio splits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from skillgit.errors import ConfigError, TaskError
from skillgit.tasks.base import BenchmarkContext
from skillgit.tasks.options import text_option
from skillgit.tasks.problems import suggest
from skillgit.tasks.rows import shown

JUDGE_FILE = "judge.json"
SPLITS = ("train", "val", "test")
_SUFFIXES = (".jsonl", ".json")
_TABLES = (".jsonl", ".json", ".csv")


@dataclass(frozen=True)
class Source:
    """Files to read.

    Attributes:
        folder: where relative names in tasks start, and where the default judge lies.
        splits: split name to file.
        single: the one file that a ratio splits; then `splits` is empty.
    """

    folder: Path
    splits: Mapping[str, Path] = field(default_factory=dict)
    single: Path | None = None

    def files(self) -> list[Path]:
        """Everything the target must never see as an attachment."""
        return [*self.splits.values(), *([self.single] if self.single else []), self.folder / JUDGE_FILE]


def configured(ctx: BenchmarkContext, *, tables: bool = False, how: str = "") -> Source | None:
    """What `env.split_dir` or `env.data_path` name; `None` when both are blank.

    `env.split_mode` decides when both are given; a blank path is unset and never means the current folder.

    Args:
        tables: CSV files may hold the items, too.
        how: how the folder comes to be, as the beginning of what to do where there is none.
    """
    suffixes = _TABLES if tables else _SUFFIXES
    mode = text_option(ctx.options, "split_mode")
    if mode not in ("", "split_dir", "ratio"):
        raise ConfigError(f'unknown env.split_mode "{mode}"{suggest(mode, ("split_dir", "ratio"))}')
    split_dir, data_path = text_option(ctx.options, "split_dir"), text_option(ctx.options, "data_path")
    if mode == "split_dir" and not split_dir:
        raise ConfigError("env.split_mode is split_dir, but env.split_dir is blank", fix="set env.split_dir")
    if split_dir and not (mode == "ratio" and data_path):
        return split_folder(_existing(ctx, "split_dir", split_dir, how), ctx.root, suffixes)
    return _single(_existing(ctx, "data_path", data_path), ctx.root, suffixes) if data_path else None


def eval_folder(ctx: BenchmarkContext) -> Source:
    """The files in `evals/<skill>`: train, val and test, or `tasks`."""
    if not ctx.skill or ctx.skill in (".", "..") or set(ctx.skill) & set("/\\\0"):
        raise TaskError(f"{ctx.skill!r} is not the name of a skill", fix="name a folder of skills/")
    folder = ctx.root / "evals" / ctx.skill
    single, split = _one(folder, "tasks", ctx.root), split_folder(folder, ctx.root)
    if single and split.splits:
        other = next(iter(split.splits.values()))
        raise TaskError(
            f"{shown(single, ctx.root)} and {shown(other, ctx.root)} both say which tasks there are",
            fix="keep either the one file, which is split by ratio, or one file per split",
        )
    return Source(folder, single=single) if single else split


def split_folder(folder: Path, root: Path, suffixes: Sequence[str] = _SUFFIXES) -> Source:
    """One file per split: `train.jsonl`, `train.json`, `train/items.jsonl`, `train/items.json` or the only such file
    in `train/`; the same for val and test."""
    files = {name: _one(folder, name, root, suffixes) for name in SPLITS}
    return Source(folder, {name: path for name, path in files.items() if path})


def _single(path: Path, root: Path, suffixes: Sequence[str]) -> Source:
    if path.is_dir():
        found = _only(path, root, suffixes)
        if found is None:
            raise TaskError(f"holds no {' or '.join(suffixes)} file", where=shown(path, root), fix="set env.data_path")
        return Source(path, single=found)
    return Source(path.parent, single=path)


def _one(folder: Path, name: str, root: Path, suffixes: Sequence[str] = _SUFFIXES) -> Path | None:
    """The one file for `name`; two of them are refused rather than one of them silently ignored."""
    found = [path for suffix in suffixes if (path := folder / f"{name}{suffix}").is_file()]
    if (folder / name).is_dir():
        items = [path for suffix in suffixes if (path := folder / name / f"items{suffix}").is_file()]
        only = None if items else _only(folder / name, root, suffixes)
        found += items or ([only] if only else [])
    return _at_most_one(found, root)


def _only(folder: Path, root: Path, suffixes: Sequence[str]) -> Path | None:
    files = (path for path in sorted(folder.iterdir()) if path.suffix in suffixes and path.is_file())
    return _at_most_one([path for path in files if path.name != JUDGE_FILE], root)


def _at_most_one(found: list[Path], root: Path) -> Path | None:
    if len(found) > 1:
        names = " and ".join(shown(path, root) for path in found[:2])
        raise TaskError(f"{names} could both be meant", fix="keep one of them")
    return found[0] if found else None


def _existing(ctx: BenchmarkContext, option: str, value: str, how: str = "") -> Path:
    path = ctx.root / value
    if not path.exists() or (option == "split_dir" and not path.is_dir()):
        kind = "folder" if option == "split_dir" else "file"
        raise TaskError(f"there is no such {kind}", where=shown(path, ctx.root), fix=f"{how}check env.{option}")
    return path
