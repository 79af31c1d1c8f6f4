"""Benchmarks by name. Ours are found the same way as those of other packages: through entry points."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points

from skillgit.errors import ConfigError
from skillgit.tasks.base import Benchmark, BenchmarkContext
from skillgit.tasks.problems import nearest

GROUP = "skillgit.benchmarks"
DEFAULT = "tasks"


def build(name: str, ctx: BenchmarkContext) -> Benchmark:
    """The benchmark called `name`; a blank name means the tasks of `evals/<skill>/`.

    Raises `ConfigError` for a name that is unknown, claimed twice, or needs a package that is not installed.
    """
    name = name.strip() or DEFAULT
    known = sorted(entry_points(group=GROUP).names)
    found = entry_points(group=GROUP, name=name)
    if not found:
        raise ConfigError(f'there is no benchmark "{name}"{nearest(name, known)}', why=f"known: {', '.join(known)}")
    targets = sorted({point.value for point in found})
    if len(targets) > 1:
        raise ConfigError(f'two packages call a benchmark "{name}"', why=f"they are {' and '.join(targets)}")
    return _factory(next(iter(found)))(ctx)


def _factory(point: EntryPoint) -> Callable[[BenchmarkContext], Benchmark]:
    try:
        factory: Callable[[BenchmarkContext], Benchmark] = point.load()
        return factory
    except ImportError as error:
        raise ConfigError(
            f'the benchmark "{point.name}" cannot be used',
            why=str(error),
            fix=f"install what it needs: pip install 'skillgit[{point.name}]'",
        ) from error
