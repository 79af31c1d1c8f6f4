"""What a run will do, before it does anything: its ticks, and the most calls they can make."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from skillgit.config.schema import Config
from skillgit.errors import ConfigError
from skillgit.evals.stats import minimum_n
from skillgit.optimizer.aggregate import merge_sizes
from skillgit.optimizer.schedule import edit_budget
from skillgit.tasks.base import Splits, Task
from skillgit.tasks.splits import epoch_batches


@dataclass(frozen=True)
class Tick:
    """One piece of a run that becomes visible as a whole.

    Attributes:
        number: position in the run, from 0.
        kind: `baseline`, `step`, `compaction`, `boundary` (end of an epoch) or `final`.
        step: number of the training step, or of the last one before this tick.
        epoch: from 1; 0 for the baseline.
    """

    number: int
    kind: Literal["baseline", "step", "compaction", "boundary", "final"]
    step: int
    epoch: int


@dataclass(frozen=True)
class Plan:
    """Sizes and order of a run, fixed by configuration and tasks."""

    config: Config
    splits: Splits
    steps_per_epoch: int
    ticks: tuple[Tick, ...]

    @property
    def steps(self) -> int:
        """Training steps of the whole run."""
        return self.steps_per_epoch * self.config.train.num_epochs

    def budget(self, step: int) -> int | None:
        """Edit budget of a step (1-based); `None` for no limit."""
        optimizer = self.config.optimizer
        unlimited = optimizer.lr_control_mode == "none" or optimizer.lr_scheduler == "autonomous"
        if unlimited or optimizer.skill_update_mode == "full_rewrite_minibatch":
            return None
        if optimizer.lr_control_mode == "autonomous":
            return optimizer.learning_rate
        lowest = min(optimizer.min_learning_rate, optimizer.learning_rate)
        return edit_budget(optimizer.lr_scheduler, step, self.steps, optimizer.learning_rate, lowest)

    def tasks(self, tick: Tick) -> list[Task]:
        """Train tasks of a step: its batches one after the other."""
        train = self.config.train
        by_id = {task.id: task for task in self.splits.train}
        batches = epoch_batches(list(by_id), train.batch_size, train.accumulation, tick.epoch, train.seed)
        first = (tick.step - 1) % self.steps_per_epoch * train.accumulation
        ids = [task for batch in batches[first : first + train.accumulation] for task in batch]
        return [by_id[task] for task in dict.fromkeys(ids)]

    def most_calls(self) -> dict[str, int]:
        """The most calls of each role, without retries and re-asked replies, when a rollout sends one request; what is
        cached costs nothing."""
        target = optimizer = 0
        for tick in self.ticks:
            calls = self._calls(tick)
            target, optimizer = target + calls[0], optimizer + calls[1]
        return {"target": target, "optimizer": optimizer}

    def _calls(self, tick: Tick) -> tuple[int, int]:
        samples_per_task, optimizer = self.config.evaluation.repeats, self.config.optimizer
        val, samples = samples_per_task * len(self.splits.val), len(self.splits.train)
        if optimizer.longitudinal_pair_policy != "changed":
            samples = min(samples, optimizer.slow_update_samples)
        if tick.kind == "baseline":
            return val, 0
        if tick.kind == "final":
            test = self.splits.test if self.config.evaluation.eval_test else ()
            return 3 * (len(test) + samples_per_task * len(self.splits.confirm)), 0
        if tick.kind == "compaction":
            return val, 1
        if tick.kind == "step":
            return len(self.tasks(tick)) + val, self._optimizer_calls(tick)
        slow, meta = self.boundary_work(tick)
        return (2 * samples if slow or meta else 0) + (val if slow else 0), int(slow) + int(meta)

    def _optimizer_calls(self, tick: Tick) -> int:
        optimizer, gradient, tasks = self.config.optimizer, self.config.gradient, self.tasks(tick)
        # Each side, and each tag where they are kept apart, may have one minibatch that is not full.
        tags = len({task.tags[:1] for task in tasks}) if gradient.group_by_tag else 1
        kinds = tags if gradient.failure_only or optimizer.profile == "small" else 2 * tags
        analysts = min(len(tasks), math.ceil(len(tasks) / gradient.minibatch_size) + kinds - 1)
        if optimizer.profile == "small":
            return min(analysts, self.budget(tick.step) or analysts)
        sides = [(n, analysts - n) for n in range(analysts + 1)] if not gradient.failure_only else [(analysts, 0)]
        merges = max(len(merge_sizes(side, gradient.merge_batch_size)) for side in sides)
        others = (
            self.budget(tick.step) is not None or optimizer.lr_control_mode == "autonomous",  # ranking
            optimizer.lr_control_mode == "autonomous",
            optimizer.skill_update_mode == "rewrite_from_suggestions",
            optimizer.use_skill_aware_reflection and optimizer.skill_aware_consolidate_threshold > 0,
        )
        return analysts + merges + sum(others)

    def boundary_work(self, tick: Tick) -> tuple[bool, bool]:
        """Whether this epoch's end makes a slow update, and whether it writes a meta skill that is still of use."""
        optimizer = self.config.optimizer
        last = tick.epoch == self.config.train.num_epochs
        # The small profile's prompts hold no memory, so notes would be written for nobody.
        remembers = optimizer.use_meta_skill and optimizer.profile != "small"
        return optimizer.use_slow_update and tick.epoch > 1, remembers and tick.epoch > 1 and not last


def make_plan(config: Config, splits: Splits) -> Plan:
    """The plan of a run.

    Raises:
        ConfigError: `train.train_size` disagrees with the files.
    """
    expected, size = config.train.train_size, len(splits.train)
    if expected not in (0, size):
        raise ConfigError(f"train.train_size is {expected}, but there are {size} train tasks", fix="set it to 0")
    per_step = config.train.batch_size * config.train.accumulation
    steps_per_epoch = math.ceil(size / per_step)
    return Plan(config, splits, steps_per_epoch, tuple(_ticks(config, steps_per_epoch)))


def cautions(config: Config, splits: Splits) -> tuple[str, ...]:
    """What a person should know about the gate before a run is paid.

    Raises:
        ConfigError: a pinned tag that no val task has, which would pin nothing.
    """
    evaluation, n = config.evaluation, len(splits.val)
    _check_tags(evaluation.no_regression, {tag for task in splits.val for tag in task.tags})
    told = []
    if evaluation.use_semantic_density:
        told.append("evaluation.use_semantic_density can be gamed: adding words such as MUST raises the gate's score")
    if evaluation.confidence and n < (least := minimum_n(evaluation.confidence)):
        sure = f"confidence {evaluation.confidence:g}"
        told.append(f"{n} val tasks cannot show a gain with {sure}, so nothing will be accepted: {least} are needed")
    return tuple(told)


def _check_tags(setting: str, known: set[str]) -> None:
    if setting in ("off", "all"):
        return
    missing = [tag for tag in map(str.strip, setting.split(",")) if tag not in known]
    if missing:
        raise ConfigError(
            f"evaluation.no_regression: no val task has the tag {', '.join(missing)}",
            fix=f"use off, all, or tags of val tasks: {', '.join(sorted(known)) or 'there are none'}",
        )


def _ticks(config: Config, steps_per_epoch: int) -> Iterator[Tick]:
    number, epochs = 0, config.train.num_epochs
    yield Tick(number, "baseline", 0, 0)
    for epoch in range(1, epochs + 1):
        for step in range((epoch - 1) * steps_per_epoch + 1, epoch * steps_per_epoch + 1):
            yield Tick(number := number + 1, "step", step, epoch)
        if config.optimizer.use_compaction:
            yield Tick(number := number + 1, "compaction", epoch * steps_per_epoch, epoch)
        yield Tick(number := number + 1, "boundary", epoch * steps_per_epoch, epoch)
    yield Tick(number + 1, "final", epochs * steps_per_epoch, epochs)
