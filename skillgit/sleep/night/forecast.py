"""What a night would do, before anything is paid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skillgit.config.schema import Config
from skillgit.errors import ConfigError
from skillgit.git.repository import Repository
from skillgit.models.roles import role_spec
from skillgit.sleep.events import NightPlanned
from skillgit.sleep.mine.base import MinedTask
from skillgit.sleep.night.past import Past
from skillgit.sleep.night.subjects import Subject


def forecast(
    repo: Repository,
    config: Config,
    subject: Subject,
    before: Past,
    notes: Sequence[str],
    environ: Mapping[str, str],
) -> NightPlanned:
    """What a document's night would do."""
    return NightPlanned(
        skill=subject.place.name,
        base=subject.commit,
        tasks=sizes(subject.tasks),
        sessions=len({name for mined in subject.tasks for name in mined.sessions}),
        models={role: _model(repo, config, role, environ) for role in ("target", "optimizer")},
        calls=most_calls(config, subject.tasks, len(before.waiting)),
        notes=tuple(notes),
    )


def most_calls(config: Config, tasks: Sequence[MinedTask], waiting: int) -> int:
    """The most calls that a night over some tasks can make, those that fail left out.

    Args:
        waiting: lessons of open proposals, which are tried again.
    """
    of, sleep = sizes(tasks), config.sleep
    train = of["train"] * (1 + sleep.dream_factor) + sleep.recall
    gate = of["val"] if of["val"] >= sleep.min_val else train
    answers = gate * config.evaluation.repeats * (1 + sleep.edit_budget + waiting)
    answers += train * sleep.rollouts + 2 * of["test"]
    # A reply that cannot be used is asked for once more.
    asked = 2 * (train + (sleep.rollouts > 1) + (of["train"] if sleep.dream_factor else 0))
    rubrics = any(mined.task.judge.get("type") == "rubric" for mined in tasks) or sleep.recall
    return answers + asked + (2 * answers if rubrics else 0)


def _model(repo: Repository, config: Config, role: str, environ: Mapping[str, str]) -> str:
    try:
        spec = role_spec(config, "target" if role == "target" else "optimizer", environ, repo.root)
    except ConfigError as error:
        return f"not configured: {error.what}"
    return f"{spec.backend}/{spec.model}"


def sizes(tasks: Sequence[MinedTask]) -> dict[str, int]:
    """Number of tasks by split."""
    return {split: sum(mined.split == split for mined in tasks) for split in ("train", "val", "test")}
