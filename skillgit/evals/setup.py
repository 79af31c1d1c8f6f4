"""From configuration to what measures: tasks, callers, rollouts. Shared by everything that rolls out."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from skillgit.config.schema import Config
from skillgit.errors import ConfigError, ModelConfigError
from skillgit.evals.caller import Caller
from skillgit.evals.gate import Metric
from skillgit.evals.records import Conditions, task_set_digest
from skillgit.evals.rollouts import Rollouts
from skillgit.evals.store import Store
from skillgit.evals.workspaces import Workspaces
from skillgit.events import Progress, Sink
from skillgit.git.repository import Repository
from skillgit.git.skillstore import Place, find
from skillgit.models import handoff
from skillgit.models import registry as backends
from skillgit.models.base import ExecTarget, Model, Preparable, Role
from skillgit.models.budget import Budget, Limits, Spent
from skillgit.models.roles import role_spec
from skillgit.tasks import registry as benchmarks
from skillgit.tasks.base import AgentBenchmark, Benchmark, BenchmarkContext, Splits, Task


def locate(repo: Repository, config: Config, skill: str, cwd: Path | None = None) -> Place:
    """The skill to work on: the one named, else the configured one, else the only one that has tasks.

    Raises:
        SkillError: it is not there.
        ConfigError: none is named, and there is not exactly one with tasks.
    """
    if skill or config.skill.path:
        return find(repo, skill, path=config.skill.path, cwd=cwd)
    if config.env.skill_init:
        return find(repo, "", path=config.env.skill_init, name=config.env.name)
    folders = sorted(path.name for path in (repo.root / "evals").glob("*") if path.is_dir())
    if len(folders) == 1:
        return find(repo, folders[0])
    why = f"there are tasks for {', '.join(folders)}" if folders else "there is no evals folder with tasks"
    raise ConfigError("name the skill", why=why, fix="give its name, or make one: skillgit new SKILL")


def load_tasks(repo: Repository, config: Config, place: Place) -> tuple[Benchmark, Splits]:
    """The benchmark of a configuration and its tasks, cut to the configured sizes. Raises `TaskError`."""
    options = dataclasses.asdict(config.env)
    context = BenchmarkContext(repo.root, place.name, options, config.train.seed)
    benchmark = benchmarks.build(config.env.name, context)
    splits = benchmark.load()
    evaluation = config.evaluation
    val, confirm = _confirmation(splits.val[: evaluation.sel_env_num or None], evaluation.confirm_ratio, config)
    return benchmark, Splits(splits.train, val, splits.test[: evaluation.test_env_num or None], confirm)


def _confirmation(val: tuple[Task, ...], ratio: float, config: Config) -> tuple[tuple[Task, ...], tuple[Task, ...]]:
    """Val without, and with only, the tasks kept for confirmation; both in file order."""
    ids = [task.id for task in val]
    random.Random(config.train.seed).shuffle(ids)  # noqa: S311 - reproducible, not secret
    kept = set(ids[: round(ratio * len(ids))])
    if ratio and not 0 < len(kept) < len(val):
        raise ConfigError(
            f"evaluation.confirm_ratio {ratio:g} of {len(val)} val tasks leaves nothing on one side",
            fix="add val tasks, or set it to 0",
        )
    return tuple(task for task in val if task.id not in kept), tuple(task for task in val if task.id in kept)


def make_budget(config: Config, spent: Spent | None = None) -> Budget:
    """The limits of the `budget` section, less what was spent before."""
    limits = config.budget
    return Budget(Limits(limits.calls or None, limits.tokens or None, limits.cost or None, limits.time or None), spent)


@contextmanager
def open_store(repo: Repository) -> Iterator[Store]:
    """The repository's store of finished calls."""
    # SQLite does not wait when two processes switch a new file to WAL, or one closes it last while the other opens it.
    with repo.lock("store"):
        store = Store(repo.state_dir / "cache.db")
    try:
        yield store
    finally:
        with repo.lock("store"):
            store.close()


def make_model(repo: Repository, config: Config, role: Role, environ: Mapping[str, str]) -> Model:
    """One role's model. Raises what `role_spec` and the backend raise."""
    spec = role_spec(config, role, environ, repo.root)
    # Not a part of the store of calls, which may be deleted: what a person wrote cannot be had again for money.
    options = {**spec.options, "exchange": str(repo.common_dir / handoff.FOLDER)}
    return backends.build(dataclasses.replace(spec, options=options))


@contextmanager
def open_caller(
    repo: Repository,
    config: Config,
    role: Role,
    store: Store,
    budget: Budget,
    run: str,
    sink: Sink,
    environ: Mapping[str, str],
) -> Iterator[Caller]:
    """One role's model, ready to be called for `run`."""
    model = make_model(repo, config, role, environ)
    try:
        if isinstance(model, Preparable):
            model.prepare(lambda done, total, note: sink(Progress(note, done, total)))
        caller = Caller(model, store, budget, run)
        try:
            yield caller
        finally:
            caller.drain()
    finally:
        model.close()


def make_rollouts(
    repo: Repository, config: Config, place: Place, benchmark: Benchmark, target: Caller, sink: Sink
) -> Rollouts:
    """Rollouts with the configured workers, deadline and error limit.

    Raises:
        ModelConfigError: the tasks ask for changes to files, and the target is no agent that may make them.
    """
    work = None
    if isinstance(target.model, ExecTarget):
        target.model.sandbox(edits=_edits(benchmark))
        work = Workspaces(repo, place, edits=_edits(benchmark))
    elif _edits(benchmark) and not isinstance(benchmark, AgentBenchmark):
        raise ModelConfigError(
            f"the tasks of {benchmark.name} ask for changes to files, which {target.model.spec.backend} cannot make",
            fix="set model.target_backend to an agent, such as codex_exec",
        )
    return Rollouts(
        benchmark,
        target,
        sink,
        workers=config.env.workers,
        timeout=config.env.exec_timeout,
        max_error_rate=config.evaluation.max_error_rate,
        workspaces=work,
    )


def _edits(benchmark: Benchmark) -> bool:
    """Whether the tasks ask for changes to files; most benchmarks do not say, and ask for none."""
    return bool(getattr(benchmark, "edits", False))


def samples(config: Config, split: str) -> int:
    """Rollouts per task when a split is measured: test is reported once."""
    return 1 if split == "test" else config.evaluation.repeats


def conditions(config: Config, benchmark: Benchmark, splits: Splits, split: str, target: Caller) -> Conditions:
    """What measuring `split` depends on."""
    spec, model = target.model.spec, target.model
    kept = {"sandbox": model.sandbox(edits=_edits(benchmark))} if isinstance(model, ExecTarget) else {}
    return Conditions(
        split=split,
        tasks=task_set_digest(getattr(splits, split)),
        judge=benchmark.judge_digest(),
        target={"backend": spec.backend, "model": spec.model, "settings": target.settings, **kept},
        metric=Metric(config.evaluation.gate_metric, config.evaluation.gate_mixed_weight),
        samples=samples(config, split),
        seed=config.train.seed,
        scoring=str(getattr(benchmark, "scoring", "")),
    )
