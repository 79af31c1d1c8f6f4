"""One night over all documents: each is planned, worked on, and proposed by itself."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from skillgit.config.schema import Config
from skillgit.errors import BudgetReachedError, ConfigError
from skillgit.evals import setup
from skillgit.events import Sink
from skillgit.git import signing
from skillgit.git.publish import refuse_blocked
from skillgit.git.repository import Repository
from skillgit.models.budget import Budget
from skillgit.sleep.events import NightFinished, NightPlanned, NothingNew
from skillgit.sleep.harvest.collect import copied_archive
from skillgit.sleep.mine.base import MinedTask
from skillgit.sleep.mine.tasksfile import encode
from skillgit.sleep.night import desk as desks
from skillgit.sleep.night.desk import Desk, Models, fingerprint, for_sleep
from skillgit.sleep.night.dream import dreams, recall
from skillgit.sleep.night.find import Found, asks_a_model, find
from skillgit.sleep.night.forecast import forecast, sizes
from skillgit.sleep.night.guard import untold
from skillgit.sleep.night.habits import with_habits
from skillgit.sleep.night.night import Night, learn, verdict_of
from skillgit.sleep.night.past import past
from skillgit.sleep.night.subjects import Subject, subjects, topics, with_tasks
from skillgit.sleep.proposals import adopt, journal, publish
from skillgit.sleep.proposals.names import branch_of, free_night
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
        tonight, records = _Tonight(repo, config, found, budget, sink, environ), []
        for subject, notes in _planned(repo, config, found, only, again=again):
            record, stopped = _one(tonight, subject, notes)
            records.append(record)
            if stopped:
                raise stopped
        if not records:
            sink(_nothing(repo, config, found, only))
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
    """What a night would do. Nothing is written, and no model is called, so tasks are mined without one."""
    config, environ = for_sleep(config), os.environ if environ is None else environ
    offline = replace(config, sleep=replace(config.sleep, miner="heuristic"))
    with copied_archive(repo) as path:
        found = find(repo, offline, sink, setup.make_budget(config), environ, reviewed, path=path)
    mining: tuple[str, ...] = ()
    if reviewed is None and found.sessions and asks_a_model(config):
        # Two at most of a session: one whose reply cannot be used is repeated.
        mining = (f"besides, the optimizer reads sessions it has not read yet, in at most {2 * found.sessions} calls",)
    planned = [
        forecast(repo, config, subject, past(repo, config.sleep, subject), (*found.local, *notes, *mining), environ)
        for subject, notes in _planned(repo, config, found, only, again=again)
    ]
    if not planned:
        sink(_nothing(repo, config, found, only))
    return planned


def _nothing(repo: Repository, config: Config, found: Found, only: Sequence[str]) -> NothingNew:
    wanted, notes = subjects(repo, config.sleep, found.tasks, only)
    return NothingNew(found.sessions, len(found.tasks), len(wanted), (*found.local, *found.notes, *notes))


def _planned(
    repo: Repository, config: Config, found: Found, only: Sequence[str], *, again: bool
) -> Iterator[tuple[Subject, tuple[str, ...]]]:
    """The documents that there is something new to learn for, each with what a person should know."""
    known = [topic.place.name for topic in topics(repo, config.sleep, found.tasks)]
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
            # Before anything is paid: a proposal that cannot be made is worth nothing.
            refuse_blocked(repo, branch_of(subject.place.name, free_night(repo, subject.place.name, _today())))
            yield subject, (*found.notes, *notes)


@dataclass(frozen=True)
class _Tonight:
    """What the documents of one night share. `merged`: what was merged unasked so far."""

    repo: Repository
    config: Config
    found: Found
    budget: Budget
    sink: Sink
    environ: Mapping[str, str]
    merged: list[str] = field(default_factory=list)


def _one(tonight: _Tonight, subject: Subject, notes: Sequence[str]) -> tuple[NightRecord, BudgetReachedError | None]:
    """One document's night, proposed and told of."""
    repo, config, sink = tonight.repo, tonight.config, tonight.sink
    mark = fingerprint(config, subject, subject.tasks)
    run = f"sleep-{subject.place.name}-{mark[:12]}"
    before = past(repo, config.sleep, subject)
    sink(forecast(repo, config, subject, before, (*tonight.found.local, *notes), tonight.environ))
    with desks.opened(repo, config, run, tonight.budget, sink, tonight.environ) as models:
        desk, lost = _desk(tonight, subject, models, run)
        night, replaced = learn(desk, before.waiting, before.settled), before.nights
        stands = before.stands(subject, night.lessons)
        if stands:
            night.drop(f"it waits in {stands}")
            replaced = ()
        record = _record(desk, night, mark, replaced, (*notes, *lost))
    told = [replace(mined, project="") for mined in subject.tasks]  # where things lie here is not for everyone
    tasks = encode(told, project="", sources=()) if config.sleep.commit_tasks else None
    record = publish.publish_night(repo, config, record, night.versions, night.evaluations, tasks=tasks)
    why = f"lessons wait in {stands}" if stands else adopt.auto_adopt(repo, config, record, tonight.merged)
    sink(_finished(record, night, why))
    return record, night.stopped


def _desk(tonight: _Tonight, subject: Subject, models: Models, run: str) -> tuple[Desk, list[str]]:
    """What the document's night needs, and what a person should know of it."""
    config = tonight.config
    advisor = desks.make_advisor(config, models, run)
    dreamt = dreams(advisor, subject.tasks, config.sleep.dream_factor, config.gradient.analyst_workers)
    recalled = recall(subject.tasks, tonight.found.earlier, config.sleep.recall)
    tasks = (*subject.tasks, *dreamt, *with_habits(recalled, subject.tasks))
    drops = advisor.take_drops()
    notes = [f"{len(drops)} tasks were not reworded: {drops[-1].told}"] if drops else []
    return Desk(tonight.repo, config, subject, tasks, models, run, tonight.sink), notes


def _record(desk: Desk, night: Night, mark: str, replaced: tuple[str, ...], notes: Sequence[str]) -> NightRecord:
    subject, now = desk.subject, datetime.now(UTC)
    target, optimizer = (
        f"{caller.model.spec.backend}/{caller.model.spec.model}"
        for caller in (desk.models.target, desk.models.optimizer)
    )
    return NightRecord(
        night=_today(),
        skill=subject.place.name,
        path=subject.place.path,
        document=subject.place.document,
        base=subject.commit,
        base_object=subject.base_object,
        verdict=verdict_of(desk, night),
        lessons=tuple(night.lessons if desk.config.sleep.commit_tasks else untold(night.lessons, desk.tasks)),
        counts=sizes(subject.tasks) | {"sessions": len({s for mined in subject.tasks for s in mined.sessions})},
        # A night that a limit ended is to be taken up again.
        fingerprint="" if night.stopped else mark,
        supersedes=replaced,
        test=night.test,
        splits={mined.task.id: mined.split for mined in desk.tasks if mined.origin != "dream"},
        usage=desk.usage(),
        optimizer=optimizer,
        target=target,
        at=f"{now:%Y-%m-%dT%H:%M:%SZ}",
        notes=(*notes, *_caveats(desk, night)),
    )


def _today() -> str:
    """The date here, after which a night is called."""
    return f"{datetime.now(UTC).astimezone():%Y-%m-%d}"


def _caveats(desk: Desk, night: Night) -> Iterator[str]:
    if not desk.verifies:
        least = desk.config.sleep.min_val
        yield f"unverified: {len(desk.splits.val)} val tasks, and {least} are needed to say that a lesson helps"
    yield from night.notes
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
