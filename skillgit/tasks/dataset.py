"""From files to checked splits; nothing is asked of a model before every task is known to be usable."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from skillgit.errors import TaskError
from skillgit.tasks.base import BenchmarkContext, Splits, Task, digest
from skillgit.tasks.options import flag_option, whole_option
from skillgit.tasks.problems import Problems
from skillgit.tasks.rows import Row, read_rows, shown
from skillgit.tasks.sources import SPLITS, Source
from skillgit.tasks.splits import Ratio, assign, parse_ratio

Parse = Callable[[Row, Problems], Task | None]
"""One row to a task; faults become problems and then `None` may come back."""

Named = dict[str, list[Task]]


@dataclass(frozen=True)
class SplitOptions:
    """How tasks are split and cut.

    Attributes:
        ratio: train, val, test weights for a single file.
        seed: of the shuffle before a ratio split.
        limit: keep only the first tasks of every split; 0 keeps all.
        allow_missing_val: whether a set without validation tasks is usable.
    """

    ratio: Ratio
    seed: int
    limit: int
    allow_missing_val: bool

    @classmethod
    def of(cls, ctx: BenchmarkContext, default_ratio: str) -> SplitOptions:
        """From `env.split_ratio`, `split_seed` (42; 0 means the run's seed), `limit` and `allow_missing_val`."""
        return cls(
            parse_ratio(ctx.options.get("split_ratio") or default_ratio),
            whole_option(ctx.options, "split_seed", 42) or ctx.seed,
            whole_option(ctx.options, "limit"),
            flag_option(ctx.options, "allow_missing_val"),
        )


def load_splits(
    source: Source, parse: Parse, options: SplitOptions, root: Path, problems: Problems | None = None
) -> Splits:
    """Read and check everything.

    Args:
        problems: those already known, reported together with what is found here.

    Raises:
        TaskError: names every faulty row, repeated id and task that is in two splits; or the file to add when there
            is nothing to learn from or to gate on.
    """
    problems = problems or Problems()
    paths = {"": source.single} if source.single else source.splits
    read = {name: _read(path, parse, root, problems) for name, path in paths.items()}
    _check_ids((task for tasks in read.values() for task in tasks), problems)
    if source.single:
        read = dict(zip(SPLITS, assign(read[""], options.ratio, options.seed), strict=True))
    _check_leaks(read, problems)
    problems.raise_if_any()
    _check_sizes(read, source, options, root)
    first = options.limit or None
    train, val, test = (tuple(read.get(name, ())[:first]) for name in SPLITS)
    return Splits(train, val, test)


def _read(path: Path, parse: Parse, root: Path, problems: Problems) -> list[Task]:
    tasks = (parse(row, problems) for row in read_rows(path, shown(path, root), problems))
    return [task for task in tasks if task]


def _check_ids(tasks: Iterable[Task], problems: Problems) -> None:
    seen: dict[str, str] = {}
    for task in tasks:
        if task.id in seen:
            problems.add(task.where, f'the id "{task.id}" is already used at {seen[task.id]}')
        seen.setdefault(task.id, task.where)


def _check_leaks(splits: Named, problems: Problems) -> None:
    """The same question in two splits would let the gate or the report measure memory."""
    seen: dict[str, tuple[str, str]] = {}
    for name, tasks in splits.items():
        for task in tasks:
            first, where = seen.setdefault(_question(task), (name, task.where))
            if first != name:
                problems.add(task.where, f"the same question is in {name} here and in {first} at {where}")


def _question(task: Task) -> str:
    """Identity of what is asked; spacing does not make a new question."""
    spaced = {"input": " ".join(task.input.split()), "context": " ".join(task.context.split())}
    return digest({**task.content(), **spaced})


def _check_sizes(splits: Named, source: Source, options: SplitOptions, root: Path) -> None:
    for name in ("train", "val"):
        if not splits.get(name) and not (name == "val" and options.allow_missing_val):
            raise _missing(name, splits, source, options, root)


def _missing(name: str, splits: Named, source: Source, options: SplitOptions, root: Path) -> TaskError:
    what = f"there are no {'training' if name == 'train' else 'validation'} tasks"
    if source.single:
        total = sum(map(len, splits.values()))
        why = f"the file has {total} tasks and the ratio {':'.join(map(str, options.ratio))} leaves none for {name}"
        fix = "add tasks, or change env.split_ratio"
        return TaskError(what, why=why, fix=fix, where=shown(source.single, root))
    path = source.splits.get(name)
    expected = shown(path or source.folder / f"{name}.jsonl", root)
    why = f"{expected} is {'empty' if path else 'not there'}"
    if not source.splits:
        tasks = shown(source.folder / "tasks.jsonl", root)
        why += f", and neither is {tasks}, which would be split {':'.join(map(str, options.ratio))}"
    fix = f'write {expected} with one task per line: {{"id": "t1", "input": "…", "answers": ["…"]}}'
    return TaskError(what, why=why, fix=fix)
