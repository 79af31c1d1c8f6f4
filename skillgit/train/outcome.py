"""What came of a tick, and how it is written down: commit, records, journal entry, next state."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from skillgit.evals.gate import ACCEPTED, Metric, Verdict, flips, mean
from skillgit.evals.gatelines import gate_line
from skillgit.evals.measure import Measurement
from skillgit.evals.records import merge_lines, results
from skillgit.evals.rollouts import Outcome as Rollout
from skillgit.evals.rule import Contest, Rule
from skillgit.events import StepFinished
from skillgit.git import notes
from skillgit.git.objects import Change
from skillgit.git.skillstore import changes_to
from skillgit.optimizer.advisor import Drop
from skillgit.optimizer.memory import BufferEntry
from skillgit.optimizer.modes import Proposal, line
from skillgit.optimizer.patches import Patch
from skillgit.optimizer.trajectories import failed
from skillgit.optimizer.update import Update
from skillgit.skills.edits import Edit, EditResult
from skillgit.skills.patch import describe, unified_diff
from skillgit.skills.size import tokens
from skillgit.train import journal, messages
from skillgit.train.plan import Tick
from skillgit.train.run import Run
from skillgit.train.state import Mark, RunState

NO_PATCH = Patch(())
NO_CONTEST = Contest()


@dataclass(frozen=True)
class Outcome:
    """What a step or an epoch's end did.

    Attributes:
        started: monotonic seconds at its beginning.
        rollouts: train rollouts of a step.
        patch: everything proposed; `edits` what was selected of it, `update` what carrying that out gave.
        meta_skill: the optimizer's notes after it, `None` when unchanged.
        candidate, base: what the gate compared, `None` when nothing was evaluated.
        verdict: of the gate, or why nothing was evaluated; `why` says more when it was not accepted.
        rate: the optimizer's own decision on the edit budget.
        contest: what the gate compared besides scores.
    """

    tick: Tick
    started: float
    rollouts: Sequence[Rollout] = ()
    patch: Patch = NO_PATCH
    edits: tuple[Proposal, ...] = ()
    update: Update | None = None
    drops: tuple[Drop, ...] = ()
    meta_skill: str | None = None
    candidate: Measurement | None = None
    base: Measurement | None = None
    verdict: Verdict = "no_op"
    why: str = ""
    rate: dict[str, Any] | None = None
    contest: Contest = NO_CONTEST

    @property
    def results(self) -> tuple[EditResult, ...]:
        """What applying each edit gave, in `patch` mode."""
        return self.update.results if self.update else ()

    @property
    def applied(self) -> int:
        """Number of proposals that changed the document."""
        if self.results or self.update is None:
            return sum(result.outcome == "applied" for result in self.results)
        return len(self.edits) if self.candidate and not self.update.refused else 0

    @property
    def title(self) -> str:
        """What the change does, as an imperative phrase of at most 60 characters."""
        return self.titled(60)

    def titled(self, width: int) -> str:
        """The same in at most `width` characters."""
        if self.tick.kind == "boundary":
            return "rewrite the guidance block" if self.candidate else "close the epoch"
        edits = [edit for edit in self.edits if isinstance(edit, Edit)]
        others = [edit.title for edit in self.edits if not isinstance(edit, Edit)]
        summary = f"rewrite: {'; '.join(others)}" if others else ""
        phrase = describe(self.results, width) or describe(edits, width) or " ".join(summary.split())[:width]
        return phrase or ("add reminders" if self.patch.notes else "propose nothing")


def judged(outcome: Outcome, candidate: Measurement, base: Measurement, rule: Rule, best: float | None) -> Outcome:
    """The outcome with the gate's verdict on a measured candidate; `best` is the best version's gate score."""
    contest = rule.contest(candidate.version.document.text, base.version.document.text)
    missing = [task for task in {*base.scores, *base.errors} if task not in candidate.scores]
    new, old = candidate.values(rule.metric), base.values(rule.metric)
    verdict, why = rule.verdict(new, old, missing, contest, best or 0.0)
    return dataclasses.replace(outcome, candidate=candidate, base=base, verdict=verdict, why=why, contest=contest)


def finish(run: Run, outcome: Outcome) -> None:
    """Write the outcome down, move the run on, and tell about it."""
    commit = _commit(run, outcome) if outcome.verdict in ACCEPTED and outcome.candidate else None
    before = run.state
    state = _next_state(run, outcome, commit)
    record, lines = _evidence(run, outcome, commit)
    entry = journal.Entry(
        state=state,
        record=record | {"commit": commit},
        subject=messages.journal_subject(outcome, run.metric),
        files=_files(run, outcome),
        notes=lines,
        branch_from=before.current.commit if commit else None,
        branch_to=commit,
    )
    run.finish(outcome.tick, entry)
    if commit:
        run.val, run.val_tick = outcome.candidate, outcome.tick.number
    run.sink(_event(outcome, run, before, commit))


def _commit(run: Run, outcome: Outcome) -> str:
    assert outcome.candidate is not None
    return run.commit(outcome.candidate.version, messages.commit_message(run, outcome))


def _next_state(run: Run, outcome: Outcome, commit: str | None) -> RunState:
    state, metric = run.state, run.metric
    current, best = state.current, state.best
    if commit and outcome.candidate:
        score = run.gate_score(outcome.candidate)
        current = Mark(commit, outcome.candidate.version.object, outcome.tick.step, score)
        best = current if score is not None and (best.score is None or score > best.score) else best
    counter = "accepted" if commit else "rejected" if outcome.candidate else "skipped"
    closing = outcome.tick.kind == "boundary"
    optional = outcome.tick.kind != "step"
    return dataclasses.replace(
        state,
        current=current,
        best=best,
        epoch_start=current if closing else state.epoch_start,
        buffer=() if closing else _buffer(state, outcome, metric),
        meta_skill=state.meta_skill if outcome.meta_skill is None else outcome.meta_skill,
        reason="no_headroom" if commit and _is_perfect(outcome.candidate, metric) else "",
        # An epoch's end that changed nothing is no decision.
        **({} if optional and not outcome.candidate else {counter: getattr(state, counter) + 1}),
    )


def _is_perfect(measured: Measurement | None, metric: Metric) -> bool:
    return measured is not None and measured.complete and measured.score(metric) == 1.0


def _buffer(state: RunState, outcome: Outcome, metric: Metric) -> tuple[BufferEntry, ...]:
    if outcome.candidate is None:
        return state.buffer
    scored = [rollout for rollout in outcome.rollouts if rollout.teaches]
    accepted = outcome.verdict in ACCEPTED
    entry = BufferEntry(
        step=outcome.tick.step,
        verdict=outcome.verdict,
        failed=sum(failed(rollout) for rollout in scored),
        total=len(scored),
        patterns=outcome.patch.patterns,
        edits=() if accepted else tuple(line(edit)[:300] for edit in outcome.edits),
        score_before=outcome.base.score(metric) if outcome.base else None,
        score_after=outcome.candidate.score(metric) if outcome.candidate.complete else None,
    )
    return (*state.buffer, entry)


def gate_facts(outcome: Outcome, metric: Metric) -> dict[str, Any]:
    """The gate's part of a record."""
    assert outcome.candidate is not None
    assert outcome.base is not None
    improved, regressed = flips(outcome.base.values(metric), outcome.candidate.values(metric))
    return {
        "verdict": outcome.verdict,
        **({"why": outcome.why} if outcome.why else {}),
        "base": outcome.base.version.object,
        "base_score": outcome.base.score(metric),
        **_text_facts(outcome.contest),
        "improved": list(improved),
        "regressed": list(regressed),
    }


def _text_facts(contest: Contest) -> dict[str, Any]:
    """What the texts themselves added to the scores, where anything was configured to."""
    texts = {"candidate": contest.candidate_bonus, "base": contest.current_bonus}
    return {"text": texts} if any(texts.values()) else {}


def _evidence(run: Run, outcome: Outcome, commit: str | None) -> tuple[dict[str, Any], dict[str, notes.Additions]]:
    """The step record, and the note lines of what was measured."""
    facts = _step_record(outcome, run)
    if outcome.candidate is None:
        return facts, {}
    gate = gate_facts(outcome, run.metric) | _told(run, outcome)
    record, lines = run.record_notes(outcome.candidate, "val", outcome.tick, "val", gate)
    told = {notes.GATES: {commit or run.state.current.commit: (gate_line(record),)}}
    kept = {"gate": gate, "record": record, "results": results(outcome.candidate, run.conditions("val"))}
    return facts | kept, merge_lines([lines, told])


def _told(run: Run, outcome: Outcome) -> dict[str, Any]:
    """What the gate's part of a record needs besides, to be told in one readable line."""
    tick, noise = outcome.tick, run.believable
    where = {"run": run.state.run, "kind": tick.kind, "step": tick.step, "epoch": tick.epoch}
    return where | {"title": outcome.title} | ({} if noise is None else {"believable": noise})


def _step_record(outcome: Outcome, run: Run) -> dict[str, Any]:
    scored = [rollout.trajectory.score for rollout in outcome.rollouts if rollout.trajectory]
    return {
        "v": 1,
        "kind": outcome.tick.kind,
        "step": outcome.tick.step,
        "epoch": outcome.tick.epoch,
        "verdict": outcome.verdict,
        "title": outcome.title,
        "base": run.state.current.commit,
        "rollout": {
            "n": len(scored),
            "hard": mean([score.hard for score in scored]),
            "soft": mean([score.soft for score in scored]),
            "errors": {rollout.task.id: rollout.error for rollout in outcome.rollouts if rollout.error},
        },
        "budget": run.plan.budget(outcome.tick.step) if outcome.tick.kind == "step" else None,
        "proposed": len(outcome.patch.edits),
        "reasoning": outcome.patch.reasoning,
        "patterns": list(outcome.patch.patterns),
        "malformed": list(outcome.patch.malformed),
        "edits": [_edit_record(edit, outcome.results, n) for n, edit in enumerate(outcome.edits)],
        "notes": list(outcome.patch.notes),
        "rate": outcome.rate,
        "rewrite": {"summary": list(outcome.update.summary), "refused": outcome.update.refused}
        if outcome.update
        else None,
        "tokens": None if outcome.candidate is None else tokens(outcome.candidate.version.document.text),
        "drops": [dataclasses.asdict(drop) for drop in outcome.drops],
    }


def _edit_record(edit: Proposal, results: Sequence[EditResult], number: int) -> dict[str, Any]:
    result = results[number] if number < len(results) else None
    return edit.to_json() | ({"outcome": result.outcome, "reason": result.reason} if result else {})


def _files(run: Run, outcome: Outcome) -> dict[str, Change]:
    """What the journal keeps besides state and record: the candidate itself, its diff, and the optimizer's notes."""
    files: dict[str, Change] = {}
    if outcome.candidate and outcome.base:
        number, version = f"{outcome.tick.number:04d}", outcome.candidate.version
        files |= changes_to(run.place, version, f"candidates/{number}", outcome.base.version.object)
        diff = unified_diff(run.place.document, outcome.base.version.document, version.document)
        files[f"patches/{number}.diff"] = diff.encode("utf-8", "surrogateescape")
    if outcome.meta_skill:
        files["meta_skill.md"] = f"{outcome.meta_skill}\n".encode("utf-8", "surrogateescape")
    return files


def _event(outcome: Outcome, run: Run, before: RunState, commit: str | None) -> StepFinished:
    scored = [rollout.trajectory.score for rollout in outcome.rollouts if rollout.trajectory]
    candidate, metric = outcome.candidate, run.metric
    gate = gate_facts(outcome, metric) if candidate else {"improved": [], "regressed": []}
    return StepFinished(
        step=outcome.tick.step,
        steps=run.plan.steps,
        epoch=outcome.tick.epoch,
        kind=outcome.tick.kind,
        rollout=mean([metric.of(score.hard, score.soft) for score in scored]),
        proposed=len(outcome.patch.edits),
        selected=len(outcome.edits),
        applied=outcome.applied,
        verdict=outcome.verdict,
        score=run.gate_score(candidate) if candidate and candidate.complete else None,
        base_score=before.current.score if before.current.score is not None else 0.0,
        improved=tuple(gate["improved"]),
        regressed=tuple(gate["regressed"]),
        commit=commit,
        subject=outcome.title,
        seconds=round(time.monotonic() - outcome.started, 3),
        problems=tuple(_problems(outcome)),
    )


def _problems(outcome: Outcome) -> Iterator[str]:
    if outcome.why and outcome.why != "the score does not rise":
        yield outcome.why
    for result in outcome.results:
        if result.outcome != "applied":
            yield f"edit not applied ({result.outcome}): {result.reason}"
    if outcome.update and outcome.update.refused:
        yield f"rewrite not taken: {outcome.update.refused}"
    yield from (f"proposal not readable: {reason}" for reason in outcome.patch.malformed)
    yield from (f"{drop.stage} {drop.index}: {' '.join(drop.reason.split())}" for drop in outcome.drops)
