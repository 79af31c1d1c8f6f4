"""What is known of one version, as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from skillgit.report import diff_text
from skillgit.report.diff_text import Line
from skillgit.report.safe import one_line, visible
from skillgit.report.steps import problems

_WIDTH = 110


def lines(shown: Mapping[str, Any]) -> Iterator[Line]:
    """All but the patch."""
    yield from _head(shown)
    yield from (("", f"  {line}") for line in diff_text.scores(shown))
    several = _several(shown)
    yield from _gate(shown["gate"], of_last=several)
    yield from _tasks(shown)
    if several:
        name, run = one_line(shown["skill"]), one_line(shown["run"])
        if not _of_night(shown):
            yield "", f"what each step did: skillgit log {name}, then skillgit show {run}:STEP"
    else:
        yield from _learning(shown)
    missing = [shown["missing_run"]] if shown["missing_run"] else []
    yield from (("faint", line) for line in problems(shown["skill"], missing, shown["unreadable"]))
    if _of_night(shown):
        yield "faint", f"the whole night: skillgit sleep show {one_line(shown['skill'])}/{one_line(shown['run'])}"
    elif shown["run"] and not shown["missing_run"]:
        yield "faint", f"what was tried and not accepted: skillgit log {one_line(shown['skill'])} --rejected"


def _of_night(shown: Mapping[str, Any]) -> bool:
    """True for a lesson of a night, and for what brings some."""
    return bool(shown["step"].get("kind") == "lesson")


def _several(shown: Mapping[str, Any]) -> bool:
    """True for a merged or squashed commit: it brings several steps, and its object is what the last of them made."""
    return bool(shown["commit"] and shown["run"] and (shown["gate"] or {}).get("base") not in (None, shown["base"]))


def _gate(gate: Mapping[str, Any] | None, *, of_last: bool) -> Iterator[Line]:
    if gate is None:
        return
    why = f": {one_line(gate['why'])}" if gate.get("why") else ""
    base = gate.get("base_score")
    start = "" if base is None else f" (from {base:.3f})"
    yield "", f"  gate      {'of the last step: ' if of_last else ''}{one_line(gate['verdict'])}{start}{why}"


def _learning(shown: Mapping[str, Any]) -> Iterator[Line]:
    """Why a step was taken, what it changed, and what it cost."""
    step = shown["step"]
    if step.get("reasoning"):
        yield "title", "why"
        yield from (("", f"  {line}") for line in visible(str(step["reasoning"])).split("\n"))
    if step.get("patterns"):
        yield "title", "evidence" if _of_night(shown) else "failures"
        yield from (("", f"  - {one_line(str(pattern))}") for pattern in step["patterns"])
    yield from _edits(step)
    yield from _usage(shown)


def _head(shown: Mapping[str, Any]) -> Iterator[Line]:
    version, run, step = shown["version"] or {}, shown["run"], shown["step"]
    if shown["commit"]:
        yield "title", f"commit {shown['commit']}"
    else:
        yield "title", f"candidate {shown['object'] or 'without a measurement'} (not a commit)"
    yield "", one_line(str(version.get("subject") or ""))
    if len(shown["parents"]) > 1:
        yield "", f"  merge of {', '.join(parent[:10] for parent in shown['parents'])}; compared with the first"
    if run:
        what, place = ("night", "lesson") if _of_night(shown) else ("run", "step")
        at = "" if step.get("step") is None else f", {f'{place}s up to' if _several(shown) else place} {step['step']}"
        yield "", f"  {what:<10}{one_line(run)}{at}"
    if shown["commit"] and shown["base"] == shown["object"]:
        yield "", "  the skill is the same as before this commit"


def _tasks(shown: Mapping[str, Any]) -> Iterator[Line]:
    if shown["tasks"]:
        yield "title", "tasks"
    for task in shown["tasks"]:
        sign, style = ("+", "added") if task["change"] == "improved" else ("-", "removed")
        yield (
            style,
            f"  {sign} {task['split']} {one_line(task['task'])}  {_score(task['before'])} -> {_score(task['after'])}",
        )


def _score(score: Mapping[str, Any]) -> str:
    hard, soft = f"{score['hard']:g}", f"{score['soft']:g}"
    return hard if hard == soft else f"{hard} (soft {soft})"


def _edits(step: Mapping[str, Any]) -> Iterator[Line]:
    if step.get("edits"):
        yield "title", f"edits ({len(step['edits'])} of {step.get('proposed', len(step['edits']))} proposed)"
    for number, edit in enumerate(step.get("edits", ()), 1):
        kind = edit.get("op") or edit.get("type") or "rewrite"
        text = edit.get("content") or edit.get("instruction") or edit.get("target") or edit.get("title") or ""
        outcome = f" [{one_line(str(edit['outcome']))}]" if edit.get("outcome") else ""
        reason = f" ({one_line(str(edit['reason']))})" if edit.get("reason") else ""
        yield "", f"  {number}. {one_line(str(kind))}{outcome}{reason}: {one_line(str(text), _WIDTH)}"
    rewrite = step.get("rewrite") or {}
    if rewrite.get("refused"):
        yield "", f"  rewrite refused: {one_line(str(rewrite['refused']))}"


def _usage(shown: Mapping[str, Any]) -> Iterator[Line]:
    if shown["usage"]:
        yield "title", "usage"
    for paid in shown["usage"]:
        numbers = [(key, paid.get(key)) for key in ("prompt_tokens", "completion_tokens", "cost")]
        told = [f"{value:.10g} {key.replace('_', ' ')}" for key, value in numbers if value]
        calls = diff_text.counted(paid["calls"], "call")
        yield "", f"  {one_line(paid['role'])} {one_line(paid['stage'])}: {', '.join([calls, *told])}"
