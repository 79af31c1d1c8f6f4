"""Opening a run: a new one, or one that was cut short."""

from __future__ import annotations

import dataclasses
import os
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from skillgit.config.load import from_resolved, resolved
from skillgit.config.schema import Config
from skillgit.errors import ConfigError, GitError, SkillError
from skillgit.evals.records import best_record, task_set_digest
from skillgit.evals.setup import load_tasks, locate, make_budget, make_rollouts, open_caller, open_store
from skillgit.evals.store import Store
from skillgit.events import RunPlanned, Sink
from skillgit.git import signing
from skillgit.git.notes import EVALS, read_records
from skillgit.git.objects import Commit, write_commits
from skillgit.git.publish import refuse_blocked
from skillgit.git.repository import Repository
from skillgit.git.skillstore import Place, read_version, uncommitted
from skillgit.models.base import ROLES, Role
from skillgit.models.budget import Spent
from skillgit.models.roles import role_spec
from skillgit.optimizer.advisor import Advisor
from skillgit.tasks.base import Benchmark, Splits, digest
from skillgit.tasks.leakage import leak_guard
from skillgit.train import journal
from skillgit.train.estimate import Estimate, assume, estimate, requests
from skillgit.train.plan import Plan, cautions, make_plan
from skillgit.train.run import Run
from skillgit.train.state import IMPORTED, Mark, RunState

# Keys that say how calls are made, not what is asked: with another address or more patience a run still goes on.
_HOW = re.compile(
    r"budget|model\.((optimizer_|target_)?(base_url|api_key_env)|timeout|retries|local\.threads)"
    r"|env\.(workers|exec_timeout|out_root)|gradient\.analyst_workers|evaluation\.max_error_rate|git\.sign|lint|sleep"
)


@dataclass(frozen=True)
class Prepared:
    """All that is known of a run before anything is written or paid.

    Attributes:
        state: where it starts or goes on.
        tip: its journal, `None` for a new run.
        notes: what a person should know before it begins.
    """

    repo: Repository
    config: Config
    place: Place
    benchmark: Benchmark
    plan: Plan
    state: RunState
    tip: str | None
    notes: tuple[str, ...]


def prepare(repo: Repository, config: Config, skill: str, *, cwd: Path | None = None, fresh: bool = False) -> Prepared:
    """A new run of a skill, or the unfinished one that this very command began earlier.

    Raises:
        SkillError, TaskError, ConfigError: what is to be trained cannot be used.
        GitError: commits cannot be made.
    """
    place = locate(repo, config, skill, cwd)
    benchmark, splits = load_tasks(repo, config, place)
    plan = make_plan(config, splits)
    warnings = (*cautions(config, splits), *_passed_over(repo, place))
    fingerprint = _fingerprint(config, place, splits, benchmark, _content(repo, place))
    if not fresh and (unfinished := _unfinished(repo, place, fingerprint)):
        state, tip = unfinished
        note = f"going on with run {state.run}, which this command began earlier (--fresh starts a new one)"
        _check_branch(repo, state)
        return Prepared(repo, config, place, benchmark, plan, state, tip, (note, *warnings))
    base, notes = _base(repo, place, sign=config.git.sign == "auto")
    state = _new_state(repo, place, base, fingerprint)
    refuse_blocked(repo, state.branch)
    return Prepared(repo, config, place, benchmark, plan, state, None, (*notes, *warnings))


def prepare_resume(repo: Repository, skill: str, run: str, limits: Mapping[str, Any] | None = None) -> Prepared:
    """A run as its journal left it, with its own configuration; only limits may be changed.

    Args:
        skill: its name or path; may be blank, since the run's name says it all.
        limits: keys of the `budget` section with new values; the others stay.

    Raises:
        GitError: no such run, its branch was moved by someone else, or it is going on in another process.
        TaskError: the tasks are not those the run began with.
    """
    state, stored, tip = journal.load(repo, journal.skill_of(repo, run, skill), run)
    if run.startswith(IMPORTED):
        raise ConfigError(
            f"run {run} was imported and is over", fix=f"skillgit best {state.skill} shows its best version"
        )
    config = from_resolved(stored)
    config = dataclasses.replace(config, budget=dataclasses.replace(config.budget, **(limits or {})))
    place = Place(state.skill, state.path, state.document)
    benchmark, splits = load_tasks(repo, config, place)
    if state.fingerprint != _fingerprint(config, place, splits, benchmark, state.initial.object):
        raise GitError(
            f"the tasks or the judge changed since run {run} began, so its scores would not be comparable",
            fix=f"restore them, or start a new run: skillgit train {state.skill} --fresh",
        )
    _check_branch(repo, state)
    return Prepared(repo, config, place, benchmark, make_plan(config, splits), state, tip, ())


@contextmanager
def opened(prepared: Prepared, sink: Sink, environ: Mapping[str, str] | None = None) -> Iterator[Run]:
    """The run with its models and its store, held against other processes until the block ends.

    Its plan is told to the sink, and a new run's journal is begun, before anything is paid.

    Raises:
        GitError: another process works on the run, or has since it was prepared; or signing does not work.
    """
    repo, config, state = prepared.repo, prepared.config, prepared.state
    environ = os.environ if environ is None else environ
    sink(planned(prepared, environ))
    with ExitStack() as stack:
        # Another command may hold it for an instant, to see whether the run is going on.
        stack.enter_context(repo.lock(_lock_name(state.skill, state.run), seconds=2))
        _check_tip(repo, prepared)
        if config.git.sign == "auto":
            signing.check(repo)
        store = stack.enter_context(open_store(repo))
        budget = make_budget(config, _spent(state, store))
        target = stack.enter_context(open_caller(repo, config, "target", store, budget, state.run, sink, environ))
        optimizer = stack.enter_context(open_caller(repo, config, "optimizer", store, budget, state.run, sink, environ))
        yield Run(
            repo=repo,
            config=config,
            place=prepared.place,
            benchmark=prepared.benchmark,
            plan=prepared.plan,
            store=store,
            target=target,
            optimizer=optimizer,
            rollouts=make_rollouts(repo, config, prepared.place, prepared.benchmark, target, sink),
            advisor=Advisor(
                optimizer,
                state.run,
                config.train.seed,
                config.model.optimizer_max_tokens or None,
                config.model.rewrite_max_completion_tokens or None,
                config.model.rewrite_reasoning_effort,
            ),
            sink=sink,
            guard=leak_guard(prepared.benchmark.load(), config.leaks),
            state=state,
            seconds_before=state.seconds,
            tip=prepared.tip or journal.begin(repo, state, resolved(config)),
        )


def _spent(state: RunState, store: Store) -> Spent:
    paid = [*state.usage, *store.spent(state.run, state.tick)]
    return Spent(
        calls=sum(part.calls for part in paid),
        tokens=sum((part.prompt_tokens or 0) + (part.completion_tokens or 0) for part in paid),
        cost=sum(part.cost or 0.0 for part in paid),
        seconds=state.seconds,
    )


def _check_tip(repo: Repository, prepared: Prepared) -> None:
    state = prepared.state
    if repo.resolve(state.journal) != prepared.tip:
        raise GitError(f"run {state.run} was taken further by another process", fix="run the command again")


def _fingerprint(config: Config, place: Place, splits: Splits, benchmark: Benchmark, content: str) -> str:
    """Identity of what a run depends on; limits, and how and how fast a model is reached, do not change it."""
    settings = _without(resolved(config), "")
    tasks = [[task.digest() for task in split] for split in (splits.train, splits.val, splits.test, splits.confirm)]
    return digest([settings, place.path, tasks, benchmark.judge_digest(), content])


def _without(section: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """A configuration section without the keys that only say how a run is carried out."""
    kept = {name: value for name, value in section.items() if not _HOW.fullmatch(f"{prefix}{name}")}
    return {
        name: _without(value, f"{prefix}{name}.") if isinstance(value, Mapping) else value
        for name, value in kept.items()
    }


def _content(repo: Repository, place: Place) -> str:
    """Skill object the run would start from: HEAD's, or that of the working tree's changes on top of it."""
    if changes := uncommitted(repo, place):
        head = repo.head()
        written = write_commits(repo, [Commit("snapshot", (head,) if head else (), changes)], [place.path])[0]
        return written.at.get(place.path, "")
    return repo.resolve(f"HEAD:{place.path}") or ""


def _unfinished(repo: Repository, place: Place, fingerprint: str) -> tuple[RunState, str] | None:
    """State and journal of the newest run to go on with."""
    runs = [(state, tip) for state, tip in journal.open_runs(repo, place.name) if state.fingerprint == fingerprint]
    return next((run for run in reversed(runs) if not _is_running(repo, run[0])), None)


def _passed_over(repo: Repository, place: Place) -> Iterator[str]:
    for run, why in journal.read_states(repo, place.name).unreadable.items():
        yield f"the journal of run {run} cannot be read and is passed over ({why})"


def _is_running(repo: Repository, state: RunState) -> bool:
    try:
        with repo.lock(_lock_name(state.skill, state.run), seconds=0):
            return False
    except GitError:
        return True


def _lock_name(skill: str, run: str) -> str:
    return f"run-{skill}-{run}"


def _base(repo: Repository, place: Place, *, sign: bool) -> tuple[str, tuple[str, ...]]:
    """The commit a run starts from: HEAD, or HEAD with the skill's uncommitted changes committed on top."""
    head = repo.head()
    changes = uncommitted(repo, place)
    if not changes:
        if head is None:
            raise SkillError(f"{place.document} is in no commit", fix=f"git add {place.path} && git commit")
        return head, ()
    message = f"skill({place.name}): start from uncommitted changes\n"
    commit = write_commits(repo, [Commit(message, (head,) if head else (), changes)])[0].commit
    what = "1 file" if len(changes) == 1 else f"{len(changes)} files"
    note = (
        f"{what} of {place.path} differ from HEAD; they are the branch's first commit, your working tree stays as it is"
    )
    return (signing.resign(repo, commit) if sign and signing.wanted(repo) else commit), (note,)


def _new_state(repo: Repository, place: Place, base: str, fingerprint: str) -> RunState:
    version = read_version(repo, base, place)
    if version is None:
        raise SkillError(f"commit {base[:12]} holds no {place.document}", fix=f"git add {place.path} && git commit")
    if version.document.damage:
        line, message = version.document.damage[0]
        raise SkillError(message, where=f"{place.document}:{line}", fix="mend the marker pair, then train")
    mark = Mark(base, version.object)
    return RunState(
        run=_run_name(),
        skill=place.name,
        path=place.path,
        document=place.document,
        fingerprint=fingerprint,
        tick=-1,
        initial=mark,
        current=mark,
        best=mark,
        epoch_start=mark,
    )


def _run_name() -> str:
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


def _check_branch(repo: Repository, state: RunState) -> None:
    if folder := repo.checked_out(state.branch):
        raise GitError(
            f"branch {state.branch} is checked out in {folder}",
            why="moving it would make every file there look changed",
            fix=f"git -C {folder} switch --detach, then run the command again",
        )
    tip = repo.resolve(f"refs/heads/{state.branch}")
    # The branch begins with the baseline.
    if tip != (state.current.commit if state.tick >= 0 else None):
        raise GitError(
            f"branch {state.branch} is not where run {state.run} left it",
            why=f"expected {state.current.commit[:12]}, found {tip[:12] if tip else 'no branch'}",
            fix=f"git branch -f {state.branch} {state.current.commit[:12]}, or start a new run with --fresh",
        )


def planned(prepared: Prepared, environ: Mapping[str, str], *, models_needed: bool = True) -> RunPlanned:
    """The plan as it is shown before any money is spent.

    Raises:
        ConfigError: a role has no model, and models are needed.
    """
    state, plan, config = prepared.state, prepared.plan, prepared.config
    splits = plan.splits
    expected, most = _expected(prepared), plan.most_calls()
    return RunPlanned(
        run=state.run,
        branch=state.branch,
        skill=state.skill,
        base=state.initial.commit,
        resumed_step=max((tick.step for tick in plan.ticks if tick.number <= state.tick), default=0),
        models={role: _describe(prepared, role, environ, models_needed) for role in ROLES},
        tasks={"train": len(splits.train), "val": len(splits.val), "test": len(splits.test)},
        steps=plan.steps,
        epochs=config.train.num_epochs,
        calls={**most, "target": most["target"] * requests(prepared.benchmark)},
        expected=expected.rounded(),
        assumed=dataclasses.asdict(expected.assumptions),
        config=resolved(config),
        notes=prepared.notes,
    )


def _expected(prepared: Prepared) -> Estimate:
    """The estimate, from the initial skill and what is recorded of it."""
    repo, mark = prepared.repo, prepared.state.initial
    version = read_version(repo, mark.commit, prepared.place)
    if version is None:
        raise GitError(f"commit {mark.commit[:12]} holds no skill at {prepared.place.path}")
    wanted = (task_set_digest(prepared.plan.splits.val), prepared.benchmark.judge_digest())
    known = read_records(repo, EVALS, [mark.object]).get(mark.object, [])
    record = best_record([r for r in known if (r.get("tasks"), r.get("judge")) == wanted], "val")
    failing = None if record is None or record["hard"] is None else 1 - record["hard"]
    return estimate(prepared.plan, prepared.benchmark, version, assume(failing))


def _describe(prepared: Prepared, role: Role, environ: Mapping[str, str], needed: bool) -> str:
    try:
        spec = role_spec(prepared.config, role, environ, prepared.repo.root)
    except ConfigError as error:
        if needed:
            raise
        named = getattr(prepared.config.model, role)
        return f"{named} cannot be used: {error.what}" if named else "none configured yet"
    return f"{spec.backend}/{spec.model}" + (f" at {spec.base_url}" if spec.base_url else "")
