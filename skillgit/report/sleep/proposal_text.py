"""A proposal as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from skillgit.report.diff_text import Line, counted
from skillgit.report.safe import one_line, visible

_WIDTH = 110
_TASKS = 8  # named of those that flipped; `--json` has all


def lines(shown: Mapping[str, Any]) -> Iterator[Line]:
    """All but the patch."""
    yield from _head(shown)
    for lesson in shown["lessons"]:
        yield from _lesson(lesson)
    if shown["not_proposed"]:
        yield "title", "tried and not proposed"
    for lesson in shown["not_proposed"]:
        why = f": {one_line(lesson['why'], _WIDTH)}" if lesson["why"] else ""
        yield "", f"  {one_line(lesson['verdict'])}{why}"
        yield "", f"    {one_line(lesson['rule'], _WIDTH)}"
    yield from (("faint", f"note: {one_line(note)}") for note in shown["notes"])
    yield from _what_next(shown)


def _head(shown: Mapping[str, Any]) -> Iterator[Line]:
    yield "title", f"{one_line(shown['name'])}  {shown['status']}"
    where = shown["branch"] or "no branch"
    yield "", f"  branch    {one_line(where)}{' (edited by a person)' if shown['edited'] else ''}"
    counts = shown["counts"]
    if counts:
        tasks = ", ".join(f"{counts.get(split, 0)} {split}" for split in ("train", "val", "test"))
        yield "", f"  evidence  {counted(counts.get('sessions', 0), 'session')}; tasks: {tasks}"
    yield "", f"  verdict   {one_line(shown['verdict'])}"
    if shown["after"] is not None:
        yield "", f"  val       {_score(shown['before'])} -> {_score(shown['after'])}"
    if shown["test"]:
        yield "", f"  test      {_score(shown['test'].get('before'))} -> {_score(shown['test'].get('after'))}"
    if shown["stale"] and shown["status"] == "stale":
        yield "", f"  stale     {one_line(shown['path'])} has changed since; the scores are of another text"
    if shown["other_files"]:
        yield "removed", f"  also      changes {_names(shown['other_files'])}"
    if not shown["recorded"]:
        yield "faint", "  the night's record is not in this clone; get it with: skillgit sync --runs"


def _lesson(lesson: Mapping[str, Any]) -> Iterator[Line]:
    verb = {"delete": "remove", "replace": "reword"}.get(lesson["edit"]["op"], "add")
    fate = "" if lesson["fate"] == "open" else f"  [{lesson['fate']}]"
    yield "title", f"lesson {lesson['number']}: {verb}{fate}"
    style = "removed" if verb == "remove" else "added"
    yield from ((style, f"    {line}") for line in visible(lesson["rule"]).split("\n"))
    asked = f"{counted(len(lesson['sessions']), 'session')}, {counted(len(lesson['tasks']), 'train task')}"
    yield "", f"  asked in  {asked}"
    yield "", f"  gate      {_gate(lesson)}"
    for sign, key in (("+", "improved"), ("-", "regressed")):
        if lesson[key]:
            yield ("added" if sign == "+" else "removed"), f"  {sign} {_names(lesson[key])}"
    if lesson["reasoning"]:
        yield "faint", f"  why: {one_line(lesson['reasoning'], _WIDTH)}"
    if lesson["rejected_because"]:
        yield "", f"  rejected  {one_line(lesson['rejected_because'], _WIDTH)}"


def _gate(lesson: Mapping[str, Any]) -> str:
    why = f" ({one_line(lesson['why'], _WIDTH)})" if lesson["why"] else ""
    if lesson["score"] is None:
        return f"{one_line(lesson['verdict'])}{why}: not measured"
    # Where too few val tasks are, train tasks were measured.
    split = "train" if lesson["verdict"] == "unverified" else "val"
    scores = f"{split} {_score(lesson['base_score'])} -> {_score(lesson['score'])} (n={lesson['n']})"
    return f"{one_line(lesson['verdict'])}{why}: {scores}"


def _what_next(shown: Mapping[str, Any]) -> Iterator[Line]:
    if not shown["waiting"]:
        return
    name = one_line(shown["name"])
    more = " --unverified" if shown["verdict"] == "unverified" else ""
    if shown["status"] == "stale":
        yield "faint", f"try its lessons on the present text: {shown['next']}"
    yield "faint", f"take it:  skillgit sleep adopt {name}{more}   (some of it: --lesson N)"
    yield "faint", f"leave it: skillgit sleep reject {name} --why TEXT"


def _names(tasks: Sequence[str]) -> str:
    more = f" and {len(tasks) - _TASKS} more" if len(tasks) > _TASKS else ""
    return ", ".join(map(one_line, tasks[:_TASKS])) + more


def _score(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
