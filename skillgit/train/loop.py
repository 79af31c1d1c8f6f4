"""The training loop. Read `train`, then `step`: the journey of one batch from tasks to a commit."""

from __future__ import annotations

import dataclasses
import time

from skillgit.evals.measure import Measurement, measure, measure_against
from skillgit.events import StepStarted
from skillgit.git.skillstore import Version
from skillgit.optimizer.aggregate import aggregate
from skillgit.optimizer.boundary import compare, meta_skill, slow_update
from skillgit.optimizer.reflect import reflect, stop_if_all_failed
from skillgit.optimizer.select import select
from skillgit.skills.document import Document
from skillgit.skills.edits import apply_edits
from skillgit.train import ending
from skillgit.train.outcome import Outcome, finish, judged
from skillgit.train.plan import Tick
from skillgit.train.run import Run


def train(run: Run) -> None:
    """Do every tick that is not done yet. Each becomes durable as a whole before the next begins."""
    work = {"baseline": baseline, "step": step, "boundary": boundary, "final": ending.final}
    for tick in run.plan.ticks[run.state.tick + 1 :]:
        if tick.kind == "final" or not run.state.reason:
            work[tick.kind](run, tick)


def baseline(run: Run, tick: Tick) -> None:
    """Measure the initial skill on val; with a perfect score there is nothing to train."""
    run.val = measure(run.rollouts, run.version(run.state.initial), run.tasks("val"), step=tick.number, stage="val")
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
    stop_if_all_failed("analyst", [drop.reason for drop in drops if drop.failed], len(patches) + len(drops))

    patch = aggregate(run.advisor, run.config, current.text, patches, memory=run.memory, step=tick.number)
    edits = select(run.advisor, run.config, current.text, patch, memory=run.memory, budget=budget, step=tick.number)
    document, results = apply_edits(current.document, edits)

    drops += run.advisor.take_drops()
    outcome = Outcome(tick, started, outcomes, patch, edits, results, tuple(drops))
    if not edits:
        outcome = dataclasses.replace(outcome, verdict="skip_no_patches")
    elif document != current.document:
        outcome = judged(outcome, evaluate(run, run.candidate(document), tick), current_measurement(run, tick), run)
    finish(run, outcome)


def boundary(run: Run, tick: Tick) -> None:
    """The end of an epoch: compare its first and last skill, rewrite the guidance, take notes, start a new buffer."""
    outcome = Outcome(tick, time.monotonic())
    before, after = run.version(run.state.epoch_start), run.version(run.state.current)
    slow, meta = run.plan.boundary_work(tick)
    if (slow or meta) and before.object != after.object:
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


def _sample(run: Run, tick: Tick) -> dict[str, int]:
    samples, seed = run.config.optimizer.slow_update_samples, run.config.train.seed + 2000 * tick.epoch
    return {"samples": samples, "seed": seed, "step": tick.number}


def _try_guidance(run: Run, outcome: Outcome, document: Document) -> Outcome:
    base = current_measurement(run, outcome.tick)
    if document == base.version.document:
        return outcome
    gated = run.config.optimizer.slow_update_gate_with_selection
    measured = evaluate(run, run.candidate(document), outcome.tick, gated=gated)
    return judged(outcome, measured, base, run, gated=gated)


def current_measurement(run: Run, tick: Tick) -> Measurement:
    """The current version on val; after a resume, or where answers were missing, the store fills it in."""
    if run.val is None or not run.val.complete:
        version = run.version(run.state.current)
        run.val = measure(run.rollouts, version, run.tasks("val"), step=tick.number, stage="val")
        run.target.forget_reuse(tick.number)
    return run.val


def evaluate(run: Run, candidate: Version, tick: Tick, *, gated: bool = True) -> Measurement:
    """A candidate on val, no further than the gate needs."""
    evaluation = run.config.evaluation
    if gated and evaluation.use_gate and evaluation.fail_first:
        base = current_measurement(run, tick)
        return measure_against(
            run.rollouts, candidate, run.tasks("val"), base, run.metric, step=tick.number, stage="val"
        )
    return measure(run.rollouts, candidate, run.tasks("val"), step=tick.number, stage="val")
