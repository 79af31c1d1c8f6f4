"""What there is to learn from tonight: reviewed tasks, or those mined from all sessions that are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from skillgit.config.schema import Config
from skillgit.events import Sink
from skillgit.git.repository import Repository
from skillgit.models.budget import Budget
from skillgit.sleep.harvest.collect import harvest, open_archive
from skillgit.sleep.mine.base import MinedTask, Split
from skillgit.sleep.mine.mine import mine
from skillgit.sleep.night import desk as desks
from skillgit.sleep.night.subjects import skill_paths
from skillgit.sleep.proposals import journal
from skillgit.sleep.proposals.record import NightRecord

_MINING = "sleep-mine"  # what mining is paid under, on every night: what was mined once is never asked again


@dataclass(frozen=True)
class Found:
    """What there is to learn from tonight.

    Attributes:
        earlier: tasks beyond tonight's limit, which may be recalled.
        sessions: number of sessions they come from.
        local: notes that name files of this machine. They are shown, and kept out of git.
    """

    tasks: tuple[MinedTask, ...]
    earlier: tuple[MinedTask, ...] = ()
    sessions: int = 0
    notes: tuple[str, ...] = ()
    local: tuple[str, ...] = ()


def find(
    repo: Repository,
    config: Config,
    sink: Sink,
    budget: Budget,
    environ: Mapping[str, str],
    reviewed: Sequence[MinedTask] | None = None,
    *,
    path: Path | None = None,
) -> Found:
    """Tonight's tasks: the reviewed ones, or those mined from all sessions that are kept.

    Args:
        path: another archive of sessions than the repository's.
    """
    if reviewed is not None:
        sessions = {name for mined in reviewed for name in mined.sessions}
        return Found(tuple(reviewed), sessions=len(sessions))
    harvested = harvest(repo, config, sink, path=path)
    with open_archive(repo, path) as archive:
        archive.set_night(harvested.number)
    known = splits_of(journal.read_nights(repo))
    wide = replace(config.sleep, max_tasks=config.sleep.max_tasks + 10 * config.sleep.recall)
    seed, skills = config.train.seed, skill_paths(repo)
    read = partial(mine, harvested.sessions, wide, skills=skills, known=known, sink=sink, seed=seed)
    if not harvested.kept or not asks_a_model(config):
        mined = read()
    else:
        with desks.opened(repo, config, _MINING, budget, sink, environ) as models:
            mined = read(advisor=desks.make_advisor(config, models, _MINING))
    tonight, rest = mined.tasks[: config.sleep.max_tasks], mined.tasks[config.sleep.max_tasks :]
    return Found(tonight, rest, len(harvested.sessions), mined.notes, harvested.notes)


def asks_a_model(config: Config) -> bool:
    """Whether the optimizer mines. A small one, a scripted one, or a person answering files is spared that."""
    if config.sleep.miner != "auto":
        return config.sleep.miner == "llm"
    backend = config.model.optimizer_backend or config.model.backend
    return config.optimizer.profile == "standard" and backend not in ("scripted", "handoff")


def splits_of(records: Sequence[NightRecord]) -> dict[str, Split]:
    """Where each task was on the nights before: once learned from, it never measures again; else the first decides."""
    known: dict[str, Split] = {}
    for record in records:
        for task, split in record.splits.items():
            if split == "train":
                known[task] = "train"
            elif split in ("val", "test"):
                known.setdefault(task, split)  # type: ignore[arg-type]
    return known
