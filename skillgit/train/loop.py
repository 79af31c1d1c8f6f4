"""The training loop. Read `train`, then `step`: the journey of one batch from tasks to a commit."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from typing import Any

from skillgit.evals.measure import Measurement, measure, measure_against
from skillgit.evals.rollouts import Outcome as Rollout
from skillgit.evals.rule import Rule
from skillgit.events import StepStarted
from skillgit.git.skillstore import Version
from skillgit.optimizer.advisor import Drop
from skillgit.optimizer.aggregate import aggregate
from skillgit.optimizer.appendix import with_reminders
from skillgit.optimizer.boundary import compare, meta_skill, slow_update
from skillgit.optimizer.modes import MODES, Proposal
from skillgit.optimizer.patches import Patch
from skillgit.optimizer.rate import autonomous_budget
from skillgit.optimizer.reflect import reflect, stop_if_many_failed
from skillgit.optimizer.select import select
from skillgit.optimizer.update import carry_out, compact
from skillgit.skills.document import Document
from skillgit.train import ending
from skillgit.train.outcome import Outcome, finish, judged
from skillgit.train.plan import Tick
from skillgit.train.run import Run


def train(run: Run) -> None:
    """Do every tick that is not done yet. Each becomes durable as a whole before the next begins."""
    work = {"baseline": baseline, "step": step, "boundary": boundary, "compaction": compaction, "final": ending.final}
    for tick in run.plan.ticks[run.state.tick + 1 :]:
        if tick.kind == "final" or not run.state.reason:
            work[tick.kind](run, tick)


def baseline(run: Run, tick: Tick) -> None:
    """Measure the initial skill on val; with a perfect score there is nothing to train."""
    initial, samples = run.version(run.state.initial), run.config.evaluation.repeats
    run.val = measure(run.rollouts, initial, run.tasks("val"), step=tick.number, stage="val", samples=samples)
    ending.start(run, tick, run.val)


def step(run: Run, tick: Tick) -> None:
    """One training step: rollout, reflect, aggregate, select, update, evaluate, gate, commit."""
    started = time.monotonic()
    budget = run.plan.budget(tick.step)
    run.sink(StepStarted(tick.step, run.plan.steps, tick.epoch, budget))
    current = current_measurement(run, tick).version

    outcomes = run.rollouts.run(current, run.plan.tasks(tick), step=tick.number, stage="rollout")
    patches = reflect(
        run.advisor, run.config, current.text, outcomes, context=run.context, budget=budget, step=tick.number
    )
    drops = run.advisor.take_drops()
    failures = [drop.reason for drop in drops if drop.failed]
    stop_if_many_failed(failures, len(patches) + len(drops), run.config.evaluation.max_error_rate)

    patch = aggregate(run.advisor, run.config, current.text, patches, memory=run.memory, step=tick.number)
    edits, rate = choose(run, current, patch, outcomes, tick)
    update = carry_out(run.advisor, current.document, edits, context=run.context, step=tick.number, guard=run.guard)
    document = remind(run, update.document, patch.notes, tick)

    drops += run.advisor.take_drops()
    outcome = Outcome(tick, started, outcomes, patch, edits, update, tuple(drops), rate=rate)
    if not edits and not patch.notes:
        outcome = dataclasses.replace(outcome, verdict="skip_no_patches")
    elif document != current.document:
        outcome = try_candidate(run, outcome, document, run.rule)
    finish(run, outcome)


def choose(
    run: Run, current: Version, patch: Patch, outcomes: Sequence[Rollout], tick: Tick
) -> tuple[tuple[Proposal, ...], dict[str, Any] | None]:
    """The proposals this step carries out, and the optimizer's own decision when the budget is up to it."""
    optimizer, budget, rate = run.config.optimizer, run.plan.budget(tick.step), None
    budgeted = MODES[optimizer.skill_update_mode].budgeted
    if optimizer.lr_control_mode == "autonomous" and budgeted and patch.edits:
        budget, rate = autonomous_budget(
            run.advisor, current.text, patch, outcomes, context=run.context, step=tick.number
        )
    chosen = select(run.advisor, run.config, current.text, patch, memory=run.memory, budget=budget, step=tick.number)
    return chosen, rate


def remind(run: Run, document: Document, notes: Sequence[str], tick: Tick) -> Document:
    """The document with reminders of rules that were there and not followed, as part of the same candidate."""
    if not notes:
        return document
    threshold = run.config.optimizer.skill_aware_consolidate_threshold
    return with_reminders(run.advisor, document, notes, threshold=threshold, step=tick.number, guard=run.guard)


def boundary(run: Run, tick: Tick) -> None:
    """The end of an epoch: compare its first and last skill, rewrite the guidance, take notes, start a new buffer."""
    outcome = Outcome(tick, time.monotonic())
    slow, meta = run.plan.boundary_work(tick)
    if (slow or meta) and run.state.epoch_start.object != run.state.current.object:
        before, after = run.version(run.state.epoch_start), run.version(run.state.current)
        pairs = compare(run.rollouts, before, after, run.tasks("train"), **_sample(run, tick))
        limit = run.config.gradient.trajectory_chars
        if meta:
            old = run.state.meta_skill
            taken = meta_skill(run.advisor, before, after, old, pairs, limit=limit, step=tick.number)
            outcome = dataclasses.replace(outcome, meta_skill=taken)
        if slow and (document := slow_update(run.advisor, before, after, pairs, limit=limit, step=tick.number)):
            outcome = _try_guidance(run, outcome, document)
        outcome = dataclasses.replace(outcome, drops=tuple(run.advisor.take_drops()))
    finish(run, outcome)


def _sample(run: Run, tick: Tick) -> dict[str, Any]:
    optimizer, seed = run.config.optimizer, run.config.train.seed + 2000 * tick.epoch
    policy, samples = optimizer.longitudinal_pair_policy, optimizer.slow_update_samples
    return {"samples": samples, "seed": seed, "step": tick.number, "policy": policy}


def _try_guidance(run: Run, outcome: Outcome, document: Document) -> Outcome:
    before = current_measurement(run, outcome.tick).version.document
    if document == before:
        return outcome
    if leak := run.guard(before.text, document.text):
        run.advisor.drop(Drop("slow_update", 0, leak))
        return outcome
    gated = run.config.optimizer.slow_update_gate_with_selection and run.rule.use_gate
    return try_candidate(run, outcome, document, dataclasses.replace(run.rule, use_gate=gated))


def compaction(run: Run, tick: Tick) -> None:
    """Propose a shorter text; it is taken when the score does not fall."""
    started = time.monotonic()
    current = current_measurement(run, tick).version
    budget = run.config.optimizer.learning_rate
    edits = compact(run.advisor, current.text, budget=budget, step=tick.number)
    update = carry_out(run.advisor, current.document, edits, context="", step=tick.number, guard=run.guard)
    outcome = Outcome(tick, started, edits=edits, update=update, drops=tuple(run.advisor.take_drops()))
    if len(update.document.text) < len(current.document.text):
        rule = dataclasses.replace(run.rule, use_gate=True, shorter_ties=True)
        outcome = try_candidate(run, outcome, update.document, rule)
    finish(run, outcome)


def try_candidate(run: Run, outcome: Outcome, document: Document, rule: Rule) -> Outcome:
    """Measure a candidate and let the gate decide."""
    base = current_measurement(run, outcome.tick)
    candidate = evaluate(run, run.candidate(document), base, rule, outcome.tick)
    return judged(outcome, candidate, base, rule, run.state.best.score)


def current_measurement(run: Run, tick: Tick) -> Measurement:
    """The current version on val: from the store after a resume; missing answers are asked for once a tick."""
    if run.val is None or (not run.val.complete and run.val_tick < tick.number):
        with run.target.restoring():
            version = run.version(run.state.current)
            samples = run.config.evaluation.repeats
            run.val = measure(run.rollouts, version, run.tasks("val"), step=tick.number, stage="val", samples=samples)
        run.val_tick = tick.number
    return run.val


def evaluate(run: Run, candidate: Version, base: Measurement, rule: Rule, tick: Tick) -> Measurement:
    """A candidate on val, no further than the gate needs."""
    evaluation, val = run.config.evaluation, run.tasks("val")
    samples, step = evaluation.repeats, tick.number
    if rule.use_gate and evaluation.fail_first:
        return measure_against(run.rollouts, candidate, val, base, rule, step=step, stage="val", samples=samples)
    return measure(run.rollouts, candidate, val, step=step, stage="val", samples=samples)
