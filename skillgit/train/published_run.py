"""A SkillOpt output directory as a sequence of ticks: what each step and epoch's end did to the skill."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from skillgit.evals.gate import ACCEPTED, Metric
from skillgit.tasks.base import digest
from skillgit.train import published_scores
from skillgit.train.published_files import Folder, Problem, whole, without_secrets, word
from skillgit.train.published_scores import UNMEASURED, Scores, setting, stated

Kind = Literal["baseline", "step", "reminders", "boundary"]

_STEP_ACTIONS = ACCEPTED | {"reject", "skip_no_patches", "skip_no_rewrite"}
_END_ACTIONS = ACCEPTED | {"reject", "inject_placeholder", "no_content"}
_END_CHANGES = ACCEPTED | {"inject_placeholder"}
UNRECORDED = "unrecorded"
_MOST_STEPS = 3000


@dataclass(frozen=True)
class Tick:
    """One thing that happened to the skill.

    Attributes:
        kind: `reminders` is a change that no gate decided on, made beside a step.
        step, epoch: as recorded; a boundary has the last step before it.
        verdict: the recorded action.
        text: the skill after it, `None` when it is unchanged (or unreadable).
        candidate: what was proposed.
        scores: of the candidate on val, when it was measured.
        score, base_score: what the gate compared.
        source: the files it was read from.
    """

    kind: Kind
    step: int
    epoch: int | None
    verdict: str
    text: str | None = None
    candidate: str | None = None
    scores: Scores = UNMEASURED
    score: float | None = None
    base_score: float | None = None
    source: Mapping[str, Any] = field(default_factory=dict)

    def digest(self) -> str:
        """Identity of what it did; scores that only a finished run tells of the baseline do not count."""
        return digest([self.kind, self.step, self.verdict, self.text, self.candidate, dict(self.source)])


@dataclass(frozen=True)
class PublishedRun:
    """What a directory holds.

    Attributes:
        config, summary: without credentials; `left_out` names those.
        best: text of the best version, and `best_step` the step said to have made it.
        test: scores on test of `initial`, `best` and `current`.
        final: the last version measured on val once more at the end.
    """

    config: Mapping[str, Any]
    summary: Mapping[str, Any]
    metric: Metric
    ticks: tuple[Tick, ...]
    best: str | None
    best_step: int | None
    test: Mapping[str, Scores]
    final: Scores
    left_out: tuple[str, ...]
    problems: tuple[Problem, ...]

    def setting(self, name: str) -> Any:
        """A setting by its flat name, wherever the configuration keeps it."""
        return setting(self.config, name)

    @property
    def harness(self) -> str:
        """Name and version of what made the directory."""
        return word(self.summary.get("version")).replace("skillopt-", "skillopt ", 1) or "skillopt"


def read(root: Path) -> PublishedRun:
    """Read a directory. Nothing in it is fatal: what cannot be used is in `problems`."""
    folder = Folder(root)
    config, left_out = without_secrets(folder.mapping("config.json", missing="is missing: models are unknown"))
    summary, more = without_secrets(folder.mapping("summary.json"))
    metric = published_scores.metric(config)
    records = _records(folder)
    best = folder.text("best_skill.md", missing="is missing: the best version is told by score")
    best_step = next(
        (n for n in (whole(r.get("best_step")) for r in reversed(records.values())) if n is not None), None
    )
    unfolding = _Unfolding(folder, metric, records, best, best_step)
    ticks = unfolding.ticks(published_scores.baseline(folder, summary))
    if best is not None and ticks and best not in [tick.text for tick in ticks]:
        folder.report("best_skill.md", "equals no version; it is kept in the journal")
    return PublishedRun(
        config=config,
        summary=summary,
        metric=metric,
        ticks=ticks,
        best=best,
        best_step=best_step,
        test=published_scores.tests(folder, summary),
        final=stated(folder, summary, "final_selection", "summary.json", "final_selection_eval"),
        left_out=tuple(dict.fromkeys((*left_out, *(name.removeprefix("config.") for name in more)))),
        problems=tuple(folder.problems),
    )


def _records(folder: Folder) -> dict[int, dict[str, Any]]:
    """Step number to record: from history.json, and from the steps' own files where it has none."""
    history = _history(folder)
    found = dict(history)
    for number, path in folder.numbered("steps", "step_").items():
        name = f"{path}/step_record.json"
        own = folder.mapping(name)
        if own and whole(own.get("step")) != number:
            folder.report(name, f"tells of step {own.get('step')!r:.40}; passed over")
        elif own and number not in history:
            found[number] = own
            if history:
                folder.report("history.json", f"has no step {number}; its step_record.json is used")
        elif own and own != history[number]:
            folder.report(name, "differs from history.json, which is used")
    return {number: _without_secrets(found[number]) for number in sorted(found)}


def _without_secrets(value: Any) -> Any:
    return without_secrets(value)[0]


def _history(folder: Folder) -> dict[int, dict[str, Any]]:
    entries = folder.json("history.json", missing="is missing: the steps' own records are used")
    if entries is not None and not isinstance(entries, list):
        folder.report("history.json", "is no list of step records; the steps' own records are used")
    found: dict[int, dict[str, Any]] = {}
    last = 0
    for place, entry in enumerate(entries if isinstance(entries, list) else [], 1):
        step = whole(entry.get("step")) if isinstance(entry, dict) else None
        if not step:
            folder.report("history.json", f"entry {place} has no step number; passed over")
            continue
        if step in found:
            folder.report("history.json", f"has step {step} twice; the later one counts")
        elif step < last:
            folder.report("history.json", "has its steps out of order; they are sorted by number")
        found[step], last = entry, max(last, step)
    return found


class _Unfolding:
    """Walks the steps in order and tells version files, candidates and epoch ends apart.

    A version file holds the skill after its step; at an epoch's end it is written again after the slow update.
    """

    def __init__(
        self,
        folder: Folder,
        metric: Metric,
        records: Mapping[int, dict[str, Any]],
        best: str | None,
        best_step: int | None,
    ) -> None:
        self.folder, self.metric, self.records = folder, metric, records
        self.best, self.best_step = best, best_step
        self.files = folder.numbered("skills", "skill_v", ".md")
        self.ends = folder.numbered("slow_update", "epoch_")
        self.last_of = {whole(record.get("epoch")): step for step, record in records.items()}
        self.text: str | None = None
        self.score: float | None = None
        self.found: list[Tick] = []

    def ticks(self, baseline: Scores) -> tuple[Tick, ...]:
        """Everything that happened, in order. Empty when no text of the skill can be read."""
        text = self.folder.text("skills/skill_v0000.md", missing="is missing: the initial skill is unknown")
        score = baseline.gate(self.metric)
        score = self._before_first() if score is None else score
        self._add(Tick("baseline", 0, 0, "baseline", text, text, baseline, score))
        self.score = score
        known = sorted({*self.records, *self.files} - {0})
        for step in known[:_MOST_STEPS]:
            self._step(step)
        if len(known) > _MOST_STEPS:
            self.folder.report("steps", f"only the first {_MOST_STEPS} of {len(known)} steps are imported")
        self._report_lost()
        if self.best is not None and not any(tick.text is not None for tick in self.found):
            self._add(Tick("reminders", self.best_step or 0, None, UNRECORDED, self.best))
        return tuple(self.found) if self.text is not None else ()

    def _add(self, tick: Tick) -> None:
        self.found.append(tick)
        self.text = self.text if tick.text is None else tick.text

    def _before_first(self) -> float | None:
        """The baseline's gate score, as far as a first step that changed nothing tells it."""
        record = self.records.get(1, {})
        return None if word(record.get("action")) in ACCEPTED else self._number(record, "current_score", 1)

    def _number(self, record: Mapping[str, Any], key: str, step: int) -> float | None:
        number = self.folder.number(record, key, f"steps/step_{step:04d}")
        return number if number is not None and number >= 0 else None

    def _step(self, step: int) -> None:
        record = self.records.get(step, {})
        version = self._version(step, record)
        end = self._end(step, record)
        epoch, action = whole(record.get("epoch")), self._action(step, record)
        here = f"steps/step_{step:04d}"
        candidate = self.folder.text(f"{here}/candidate_skill.md")
        changes_later = word(end.get("action")) in _END_CHANGES
        own = None if changes_later else version
        text = self._after(step, action, candidate, own)
        candidate = text if candidate is None and action in ACCEPTED else candidate
        scores, score = self._measured(record, candidate, f"steps/step_{step:04d}", here)
        self._add(
            Tick("step", step, epoch, action, text, candidate, scores, score, self.score, self._source(here, record))
        )
        if own is not None and own != self.text:
            self._add(Tick("reminders", step, epoch, "ungated", own))
        current = self._number(record, "current_score", step)
        self.score = self.score if current is None else current
        if end:
            self._boundary(step, epoch or 0, end, version if changes_later else None)

    def _measured(
        self, record: Mapping[str, Any], candidate: str | None, where: str, here: str
    ) -> tuple[Scores, float | None]:
        """Scores of a candidate and what the gate compared; unknown when the text they belong to is lost."""
        scores = stated(self.folder, record, "selection", where, f"{here}/selection_eval")
        score = self.folder.number(record, "candidate_gate_score", where)
        expected = word(record.get("candidate_hash"))
        hashed = hashlib.sha256((candidate or "").encode()).hexdigest()[:16]
        if scores.hard is not None and (candidate is None or expected not in ("", hashed)):
            self.folder.report(where, "its scores belong to a text that is not there; they stay in the journal only")
            return UNMEASURED, None
        return scores, scores.gate(self.metric) if score is None else score

    def _version(self, step: int, record: Mapping[str, Any]) -> str | None:
        quiet = str(record.get("action", "")).startswith("skip")
        missing = "" if quiet else "is missing"
        return self.folder.text(self.files.get(step, f"skills/skill_v{step:04d}.md"), missing=missing)

    def _action(self, step: int, record: Mapping[str, Any]) -> str:
        if not record:
            self.folder.report("history.json", f"no readable record of step {step}: its version has no score")
            return UNRECORDED
        action = word(record.get("action"))
        if action not in _STEP_ACTIONS:
            self.folder.report(f"steps/step_{step:04d}", f"unknown action {action!r}; taken as unrecorded")
            return UNRECORDED
        return action

    def _after(self, step: int, action: str, candidate: str | None, own: str | None) -> str | None:
        """The skill as this step's decision left it; `None` for no change."""
        if action not in ACCEPTED:
            return own if action == UNRECORDED else None
        fallback = self.best if step == self.best_step else None
        text = next((text for text in (candidate, own, fallback) if text is not None), None)
        if text is None:
            self.folder.report(f"steps/step_{step:04d}", "was accepted, but its text is lost; it gets no commit")
        return text

    def _source(self, here: str, record: Mapping[str, Any]) -> dict[str, Any]:
        files = {name: self.folder.json(f"{here}/{name}.json") for name in ("ranked_edits", "edit_apply_report")}
        merged = self.folder.json(f"{here}/merged_patch.json")
        reasoning = next((part["reasoning"] for part in (files["ranked_edits"], merged) if _has_reasoning(part)), "")
        return {"record": dict(record), "reasoning": reasoning, **{k: _without_secrets(v) for k, v in files.items()}}

    def _end(self, step: int, record: Mapping[str, Any]) -> dict[str, Any]:
        """What the epoch's end after a step says it did; empty when none follows."""
        epoch = whole(record.get("epoch"))
        if epoch not in self.ends or self.last_of[epoch] != step:
            return {}
        name = f"{self.ends[epoch]}/slow_result.json"
        end = self.folder.mapping(name)
        if end and (action := word(end.get("action"))) not in _END_ACTIONS:
            self.folder.report(name, f"unknown action {action!r}; passed over")
            return {}
        return end

    def _boundary(self, step: int, epoch: int, end: dict[str, Any], version: str | None) -> None:
        here = self.ends[epoch]
        candidate = self.folder.text(f"{here}/candidate_skill.md")
        action = word(end["action"])
        # A forced change was never measured, whatever score was carried over to it.
        measured = action not in ("force_accept", "inject_placeholder")
        candidate = version if candidate is None and action in _END_CHANGES else candidate
        found = self._measured(end, candidate, f"{here}/slow_result.json", here) if measured else (UNMEASURED, None)
        scores, score = found
        text = None
        if action in _END_CHANGES:
            text = version if version is not None else candidate
        source = {"record": _without_secrets(end), "reasoning": end["reasoning"] if _has_reasoning(end) else ""}
        self._add(Tick("boundary", step, epoch, action, text, candidate, scores, score, self.score, source))
        self.score = score if action in ACCEPTED and score is not None else self.score

    def _report_lost(self) -> None:
        known = {*self.records, *self.files}
        lost = [step for step in range(1, min(max(known, default=0), _MOST_STEPS)) if step not in known]
        if lost:
            shown = ", ".join(map(str, lost[:10])) + (", …" if len(lost) > 10 else "")
            self.folder.report("history.json", f"nothing is known of steps {shown}")
        for epoch, path in self.ends.items():
            if epoch not in self.last_of:
                self.folder.report(path, "no step of this epoch is recorded; passed over")


def _has_reasoning(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("reasoning"), str) and bool(value["reasoning"])


def chain(ticks: Sequence[Tick], document: str) -> list[str]:
    """Identity of a run as a list, so that a directory that has grown since begins with what it was."""
    return [digest([document, ticks[0].text]), *(tick.digest() for tick in ticks[1:])] if ticks else []
