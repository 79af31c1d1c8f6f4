"""What is known of one version, as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from skillgit.report import diff_text
from skillgit.report.diff_text import Line
from skillgit.report.safe import one_line, visible

_WIDTH = 110


def lines(shown: Mapping[str, Any]) -> Iterator[Line]:
    """All but the patch."""
    yield from _head(shown)
    yield from (("", f"  {line}") for line in diff_text.scores(shown))
    gate = shown["gate"]
    if gate:
        why = f": {one_line(str(gate['why']))}" if gate.get("why") else ""
        yield "", f"  gate      {one_line(str(gate['verdict']))} (from {gate.get('base_score')}){why}"
    yield from _tasks(shown)
    step = shown["step"]
    if step.get("reasoning"):
        yield "title", "why"
        yield from (("", f"  {line}") for line in visible(str(step["reasoning"])).split("\n"))
    if step.get("patterns"):
        yield "title", "failures"
        yield from (("", f"  - {one_line(str(pattern))}") for pattern in step["patterns"])
    yield from _edits(step)
    yield from _usage(shown)
    if shown["missing_run"]:
        yield "faint", f"the journal of run {one_line(shown['missing_run'])} is not in this clone: skillgit sync --runs"


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
        # A squashed commit brings several steps; its object is what the last of them made.
        several = shown["commit"] and (shown["gate"] or {}).get("base") not in (None, shown["base"])
        at = "" if step.get("step") is None else f", {'steps up to' if several else 'step'} {step['step']}"
        yield "", f"  run       {one_line(run)}{at}"
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
        numbers = [(key, paid.get(key)) for key in ("calls", "prompt_tokens", "completion_tokens", "cost")]
        told = ", ".join(f"{value:g} {key.replace('_', ' ')}" for key, value in numbers if value)
        yield "", f"  {one_line(paid['role'])} {one_line(paid['stage'])}: {told}"
