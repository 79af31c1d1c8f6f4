"""What an imported run says in git: messages, gate lines, evaluation records, step records and its state."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from skillgit.evals import gatelines
from skillgit.evals.gate import ACCEPTED
from skillgit.evals.records import merge_lines
from skillgit.git import notes
from skillgit.git.skillstore import Place
from skillgit.skills.commit_message import subject
from skillgit.skills.edits import Edit
from skillgit.skills.patch import describe
from skillgit.tasks.base import digest
from skillgit.train.published_files import word
from skillgit.train.published_run import PublishedRun, Tick
from skillgit.train.published_scores import Scores
from skillgit.train.state import Mark, RunState

_COMPARED_LINES = 5000


class Version(NamedTuple):
    """A version on the branch; commit and object are unknown while nothing is written."""

    text: str | None = None
    commit: str | None = None
    object: str | None = None


@dataclass(frozen=True)
class Step:
    """A tick, with what it left in git.

    Attributes:
        number: its place in the run, from 0.
        base: the version before it.
        commit, object: of the version it made, when it made one.
        candidate: skill object of what was proposed.
    """

    number: int
    tick: Tick
    base: Version
    commit: str | None = None
    object: str | None = None
    candidate: str | None = None

    @property
    def changes(self) -> bool:
        """Whether it made a version."""
        return self.tick.text is not None and self.tick.text != self.base.text

    @property
    def current(self) -> Version:
        """The version after it."""
        return Version(self.tick.text, self.commit, self.object) if self.changes else self.base

    @property
    def measured(self) -> bool:
        """Whether its candidate was measured on val; measuring the current version again is no measurement."""
        again = self.tick.kind != "baseline" and self.tick.candidate == self.base.text
        return self.tick.scores.hard is not None and self.tick.candidate is not None and not again

    @property
    def title(self) -> str:
        """What it does, as an imperative phrase."""
        tick = self.tick
        if self.changes and self.base.text is None:
            return (
                "start from the imported initial skill" if tick.kind == "baseline" else "start from the first version"
            )
        if tick.verdict == "inject_placeholder":
            return "open the guidance block"
        if tick.kind == "boundary":
            return "close the epoch" if tick.candidate is None and not self.changes else "rewrite the guidance block"
        after = tick.text if self.changes else tick.candidate
        return _phrase(self.base.text or "", after) if after is not None else "propose nothing"

    @property
    def mark(self) -> Mark:
        """The version it made, with the score it earned."""
        earned = self.tick.kind == "baseline" or self.tick.verdict in ACCEPTED
        return Mark(self.commit or "", self.object or "", self.tick.step, self.tick.score if earned else None)


def _phrase(before: str, after: str) -> str:
    old, new = before.splitlines(), after.splitlines()
    if max(len(old), len(new)) > _COMPARED_LINES:
        return "rewrite the skill"
    return describe(_edits(old, new)) or "change white space"


def _edits(old: Sequence[str], new: Sequence[str]) -> Iterator[Edit]:
    for tag, i, j, k, m in difflib.SequenceMatcher(None, old, new).get_opcodes():
        gone, come = "\n".join(old[i:j]), "\n".join(new[k:m])
        if tag == "equal" or not (gone + come).strip():
            continue
        if gone.strip() and come.strip():
            yield Edit("replace", come, gone)
        else:
            yield Edit("append", come) if come.strip() else Edit("delete", target=gone)


def message(published: PublishedRun, step: Step, skill: str, run: str) -> str:
    """Message of a version's commit, with trailers."""
    tick = step.tick
    trailers = {
        "Skillgit-Run": run,
        "Skillgit-Step": str(tick.step),
        "Skillgit-Epoch": "" if tick.epoch is None else str(tick.epoch),
        "Skillgit-Gate": f"{tick.verdict} {_gain(tick)}".strip(),
        "Skillgit-Optimizer": _model(published, "optimizer"),
        "Skillgit-Target": _model(published, "target"),
    }
    lines = [subject(skill, step.title), "", f"{_change(published, tick)}; imported from a SkillOpt directory", ""]
    return "\n".join([*lines, *(f"{key}: {value}" for key, value in trailers.items() if value), ""])


def gate_line(published: PublishedRun, step: Step, run: str) -> str:
    """One line for `git log --notes=skillgit/gates`; empty when nothing was decided or measured."""
    tick = step.tick
    told = step.measured or tick.verdict in ACCEPTED or (tick.kind == "baseline" and tick.score is not None)
    if tick.kind == "reminders" or not told:
        return ""
    unmeasured = {"split": "val", "metric": published.metric.name, "score": tick.score, "n": tick.scores.n}
    return gatelines.gate_line(val_record(published, step, run) or unmeasured | {"gate": _gate(step, run)})


def _change(published: PublishedRun, tick: Tick) -> str:
    n = "unknown" if tick.scores.n is None else tick.scores.n
    scores = (tick.base_score, tick.score, n)
    return gatelines.change_text("val", published.metric.name, *scores, first=tick.kind == "baseline")


def _gain(tick: Tick) -> str:
    if tick.kind == "baseline":
        return ""
    if tick.score is None:
        return "unmeasured"
    return "unknown" if tick.base_score is None else f"{tick.score - tick.base_score:+.3f}"


def _model(published: PublishedRun, role: str) -> str:
    return "/".join(part for part in (_backend(published, role), word(published.setting(f"{role}_model"))) if part)


def _backend(published: PublishedRun, role: str) -> str:
    return word(published.setting(f"{role}_backend")) or word(published.setting("model_backend"))


def val_record(published: PublishedRun, step: Step, run: str) -> dict[str, Any] | None:
    """The evaluation record of a step's candidate, when it was measured."""
    if not step.measured:
        return None
    return _record(published, step.candidate, "val", step.tick.scores) | {"gate": _gate(step, run)}


def _gate(step: Step, run: str) -> dict[str, Any]:
    """The gate's part of a record. Which tasks got better or worse is not known."""
    tick = step.tick
    where = {"run": run, "step": tick.step}
    if tick.kind == "baseline":
        return {"verdict": "baseline", **where}
    facts = {"base": step.base.object, "base_score": tick.base_score, "improved": None, "regressed": None}
    return {"verdict": tick.verdict, **facts, **where, "kind": tick.kind, "epoch": tick.epoch, "title": step.title}


def records(published: PublishedRun, steps: Sequence[Step], run: str) -> list[dict[str, Any]]:
    """Every evaluation record of the run."""
    found = [record for step in steps if (record := val_record(published, step, run))]
    last, made = steps[-1].current, _versions(steps)
    if published.final.hard is not None and last.text not in [step.tick.candidate for step in steps if step.measured]:
        found.append(_record(published, last.object, "val", published.final))
    versions = {"initial": made[0].current, "best": best(published, steps).current, "current": last}
    # By text, for nothing has an object yet when nothing is to be written.
    tested = {versions[name].text: (versions[name].object, scores) for name, scores in published.test.items()}
    return found + [_record(published, name, "test", scores) for name, scores in tested.values()]


def _record(published: PublishedRun, skill: str | None, split: str, scores: Scores) -> dict[str, Any]:
    """A record as training makes them, of a measurement whose tasks, judge and time are unknown."""
    target = {
        "backend": _backend(published, "target") or None,
        "model": word(published.setting("target_model")) or None,
        "settings": None,
    }
    seed = published.setting("seed")
    facts = {
        "skill": skill,
        "split": split,
        "hard": scores.hard,
        "soft": scores.soft,
        "metric": published.metric.name,
        "target": target,
        "seed": seed if isinstance(seed, int) and not isinstance(seed, bool) else None,
        "harness": published.harness,
    }
    unknown: dict[str, Any] = {"tasks": None, "judge": None, "at": None, "usage": {}}
    rest = {"v": 1, "n": scores.n, "score": scores.gate(published.metric), "samples": 1, "complete": True}
    return {**facts, **unknown, **rest, "imported": True, "id": digest(["imported", facts])[:20]}


def best(published: PublishedRun, steps: Sequence[Step]) -> Step:
    """The step that made the best version: by its text, else the one the records name, else by score."""
    made = _versions(steps)
    named = [step for step in made if step.tick.step == published.best_step and step.tick.kind != "reminders"]
    same = [step for step in made if published.best is not None and step.tick.text == published.best]
    scored = [step for step in made if step.mark.score is not None]
    both = [step for step in named if step in same]
    choice = both or same or (named if published.best is None else [])
    return (choice or [max(scored, key=lambda step: step.mark.score or 0.0, default=made[0])])[0]


def _versions(steps: Sequence[Step]) -> list[Step]:
    return [step for step in steps if step.changes]


def note_lines(published: PublishedRun, steps: Sequence[Step], run: str) -> dict[str, notes.Additions]:
    """Lines of all notes: records on skill objects, gate lines on commits."""
    parts: list[dict[str, notes.Additions]] = [
        {notes.EVALS: {record["skill"]: (notes.canonical(record),)}} for record in records(published, steps, run)
    ]
    for step in steps:
        commit, line = step.current.commit, gate_line(published, step, run)
        parts += [{notes.GATES: {commit: (line,)}}] if commit and line else []
    return merge_lines(parts)


def step_record(published: PublishedRun, step: Step, run: str) -> dict[str, Any]:
    """A tick's record as the journal keeps it, with what the directory said of it."""
    tick, record = step.tick, val_record(published, step, run)
    source = dict(tick.source)
    return {
        "v": 1,
        "kind": tick.kind,
        "step": tick.step,
        "epoch": tick.epoch,
        "verdict": tick.verdict,
        "title": step.title,
        "base": step.base.commit,
        "reasoning": source.pop("reasoning", ""),
        "edits": _journal_edits(source),
        "imported": source,
        "commit": step.commit,
        "object": step.object,
        "candidate": step.candidate,
        **({"gate": record["gate"], "record": record} if record else {}),
    }


def _journal_edits(source: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The selected edits, each with what applying it gave when the report says so."""
    ranked, report = source.get("ranked_edits"), source.get("edit_apply_report")
    edits = ranked.get("edits") if isinstance(ranked, dict) else None
    kept = [dict(edit) for edit in edits if isinstance(edit, dict)] if isinstance(edits, list) else []
    for edit, row in zip(kept, report if isinstance(report, list) else [], strict=False):
        edit["outcome"] = word(row.get("status")) if isinstance(row, dict) else ""
    return kept


def state(published: PublishedRun, steps: Sequence[Step], place: Place, run: str, fingerprint: str) -> RunState:
    """The closed run."""
    made = _versions(steps)
    current = made[-1].mark
    decided = [step.tick for step in steps if step.tick.kind in ("step", "boundary")]
    accepted = sum(tick.verdict in ACCEPTED for tick in decided)
    rejected = sum(tick.verdict == "reject" for tick in decided)
    scores = {name: {"hard": s.hard, "soft": s.soft, "n": s.n} for name, s in published.test.items()}
    return RunState(
        run=run,
        skill=place.name,
        path=place.path,
        document=place.document,
        fingerprint=fingerprint,
        tick=len(steps) - 1,
        initial=made[0].mark,
        current=current,
        best=best(published, steps).mark,
        epoch_start=current,
        accepted=accepted,
        rejected=rejected,
        skipped=sum(tick.kind == "step" and tick.verdict not in ACCEPTED | {"reject"} for tick in decided),
        reason="imported",
        closed=True,
        report={"test": scores} if scores else {},
    )
