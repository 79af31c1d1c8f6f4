"""One night over all documents: each is planned, worked on, and proposed by itself."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from skillgit.config.schema import Config
from skillgit.errors import BudgetReachedError, ConfigError
from skillgit.evals import setup
from skillgit.events import Sink
from skillgit.git import signing
from skillgit.git.repository import Repository
from skillgit.models.budget import Budget
from skillgit.models.roles import role_spec
from skillgit.sleep.events import NightFinished, NightPlanned
from skillgit.sleep.mine.base import MinedTask
from skillgit.sleep.mine.tasksfile import encode
from skillgit.sleep.night import desk as desks
from skillgit.sleep.night.desk import Desk, Models, fingerprint, for_sleep
from skillgit.sleep.night.dream import dreams, recall
from skillgit.sleep.night.find import Found, find
from skillgit.sleep.night.habits import with_habits
from skillgit.sleep.night.night import Night, learn, verdict_of
from skillgit.sleep.night.past import past
from skillgit.sleep.night.subjects import Subject, subjects, with_tasks
from skillgit.sleep.proposals import adopt, journal, publish
from skillgit.sleep.proposals.record import NightRecord


def run_nights(
    repo: Repository,
    config: Config,
    sink: Sink,
    *,
    reviewed: Sequence[MinedTask] | None = None,
    only: Sequence[str] = (),
    again: bool = False,
    environ: Mapping[str, str] | None = None,
) -> list[NightRecord]:
    """One night: every document that tonight's tasks speak of is worked on, and gets its own proposal.

    Args:
        reviewed: tasks to use instead of harvesting.
        only: names of skills to work on; empty takes all.
        again: work on a document even when nothing changed since its last night.

    Raises:
        GitError: another night is going on here, or commits cannot be made.
        ModelError, PendingAnswerError: see `learn`; documents finished before are proposed all the same.
        BudgetReachedError: a limit ended the night; what was confirmed until then is proposed.
    """
    config, environ = for_sleep(config), os.environ if environ is None else environ
    with repo.lock("sleep-night", seconds=0):
        if config.git.sign == "auto":
            signing.check(repo)
        budget = setup.make_budget(config)
        found = find(repo, config, sink, budget, environ, reviewed)
        records = []
        for subject, notes in _planned(repo, config, found, only, again=again):
            record, stopped = _one(repo, config, subject, found, notes, budget, sink, environ)
            records.append(record)
            if stopped:
                raise stopped
        return records


def plan(
    repo: Repository,
    config: Config,
    sink: Sink,
    *,
    reviewed: Sequence[MinedTask] | None = None,
    only: Sequence[str] = (),
    again: bool = False,
    environ: Mapping[str, str] | None = None,
) -> list[NightPlanned]:
    """What a night would do; no model is called, so tasks are mined without one."""
    config, environ = for_sleep(config), os.environ if environ is None else environ
    offline = replace(config, sleep=replace(config.sleep, miner="heuristic"))
    found = find(repo, offline, sink, setup.make_budget(config), environ, reviewed)
    return [
        _plan(repo, config, subject, notes, environ)
        for subject, notes in _planned(repo, config, found, only, again=again)
    ]


def _planned(
    repo: Repository, config: Config, found: Found, only: Sequence[str], *, again: bool
) -> Iterator[tuple[Subject, tuple[str, ...]]]:
    """The documents that there is something new to learn for, each with what a person should know."""
    known = [subject.place.name for subject in subjects(repo, config.sleep, found.tasks)[0]]
    if unknown := [name for name in only if name not in known]:
        raise ConfigError(
            f"no task speaks of {', '.join(unknown)}",
            why=f"tasks speak of {', '.join(known)}" if known else "no task was mined",
            fix="skillgit sleep harvest",
        )
    wanted, notes = subjects(repo, config.sleep, found.tasks, only)
    for subject in wanted:
        subject = with_tasks(subject, with_habits(subject.tasks))
        mark = fingerprint(config, subject, subject.tasks)
        last = journal.read_nights(repo, subject.place.name)[-1:]
        if again or not last or last[0].fingerprint != mark:
            yield subject, (*found.notes, *notes)


def _plan(
    repo: Repository, config: Config, subject: Subject, notes: Sequence[str], environ: Mapping[str, str]
) -> NightPlanned:
    sizes = _sizes(subject.tasks)
    lessons = config.sleep.edit_budget + len(past(repo, config.sleep, subject).waiting)
    gate = sizes["val"] if sizes["val"] >= config.sleep.min_val else sizes["train"]
    repeats, dreamt = config.evaluation.repeats, 1 + config.sleep.dream_factor
    rolled = sizes["train"] * dreamt * config.sleep.rollouts
    calls = gate * repeats * (1 + lessons) + rolled + sizes["train"] + 2 * sizes["test"]
    rubrics = sum(mined.task.judge.get("type") == "rubric" for mined in subject.tasks)
    return NightPlanned(
        skill=subject.place.name,
        base=subject.commit,
        tasks=sizes,
        sessions=len({name for mined in subject.tasks for name in mined.sessions}),
        models={role: _model(repo, config, role, environ) for role in ("target", "optimizer")},
        calls=calls + (calls if rubrics else 0),
        notes=tuple(notes),
    )


def _model(repo: Repository, config: Config, role: str, environ: Mapping[str, str]) -> str:
    try:
        spec = role_spec(config, "target" if role == "target" else "optimizer", environ, repo.root)
    except ConfigError as error:
        return f"not configured: {error.what}"
    return f"{spec.backend}/{spec.model}"


def _sizes(tasks: Sequence[MinedTask]) -> dict[str, int]:
    return {split: sum(mined.split == split for mined in tasks) for split in ("train", "val", "test")}


def _one(
    repo: Repository,
    config: Config,
    subject: Subject,
    found: Found,
    notes: Sequence[str],
    budget: Budget,
    sink: Sink,
    environ: Mapping[str, str],
) -> tuple[NightRecord, BudgetReachedError | None]:
    """One document's night, proposed and told of."""
    mark = fingerprint(config, subject, subject.tasks)
    run = f"sleep-{subject.place.name}-{mark[:12]}"
    sink(_plan(repo, config, subject, notes, environ))
    before = past(repo, config.sleep, subject)
    with desks.opened(repo, config, run, budget, sink, environ) as models:
        desk = _desk(repo, config, subject, found, models, run, sink)
        night, replaced = learn(desk, before.waiting, before.settled), before.nights
        if branch := before.stands(subject, night.lessons):
            night.drop(f"it waits in {branch}")
            replaced = ()
        record = _record(desk, night, mark, replaced, notes)
    tasks = encode(subject.tasks, project="", sources=()) if config.sleep.commit_tasks else None
    record = publish.publish_night(repo, config, record, night.versions, night.evaluations, tasks=tasks)
    why = adopt.auto_adopt(repo, config, record) if config.sleep.auto_adopt and record.branch else ""
    sink(_finished(record, night, why))
    return record, night.stopped


def _desk(
    repo: Repository, config: Config, subject: Subject, found: Found, models: Models, run: str, sink: Sink
) -> Desk:
    advisor = desks.make_advisor(config, models, run)
    dreamt = dreams(advisor, subject.tasks, config.sleep.dream_factor, config.gradient.analyst_workers)
    recalled = recall(subject.tasks, found.earlier, config.sleep.recall)
    tasks = (*subject.tasks, *dreamt, *with_habits(recalled))
    return Desk(repo, config, subject, tasks, models, run, sink)


def _record(desk: Desk, night: Night, mark: str, replaced: tuple[str, ...], notes: Sequence[str]) -> NightRecord:
    subject, now = desk.subject, datetime.now(UTC)
    target, optimizer = (
        f"{caller.model.spec.backend}/{caller.model.spec.model}"
        for caller in (desk.models.target, desk.models.optimizer)
    )
    return NightRecord(
        night=f"{now.astimezone():%Y-%m-%d}",
        skill=subject.place.name,
        path=subject.place.path,
        document=subject.place.document,
        base=subject.commit,
        base_object=subject.base_object,
        verdict=verdict_of(desk, night),
        lessons=tuple(night.lessons),
        counts=_sizes(subject.tasks) | {"sessions": len({s for mined in subject.tasks for s in mined.sessions})},
        # A night that a limit ended is to be taken up again.
        fingerprint="" if night.stopped else mark,
        supersedes=replaced,
        test=night.test,
        splits={mined.task.id: mined.split for mined in subject.tasks},
        usage=desk.usage(),
        optimizer=optimizer,
        target=target,
        at=f"{now:%Y-%m-%dT%H:%M:%SZ}",
        notes=(*notes, *_caveats(desk, night)),
    )


def _caveats(desk: Desk, night: Night) -> Iterator[str]:
    if not desk.verifies:
        least = desk.config.sleep.min_val
        yield f"unverified: {len(desk.splits.val)} val tasks, and {least} are needed to say that a lesson helps"
    if night.stopped:
        yield f"ended early: {night.stopped.what}"


def _finished(record: NightRecord, night: Night, adopted: str) -> NightFinished:
    return NightFinished(
        skill=record.skill,
        night=record.night,
        verdict=record.verdict,
        branch=record.branch,
        taken=len(record.taken),
        tried=len(record.lessons),
        why="; ".join(part for part in (night.stopped.what if night.stopped else "", adopted) if part),
        usage=record.usage,
    )
