"""A comparison of skills as Markdown, for a comment on a pull request.

Nothing of a skill's text is read as Markdown or HTML: it stands in code spans and fenced blocks only, where no link,
mention or tag is made of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from skillgit.report import diff_text
from skillgit.report.safe import one_line, visible

_RULES = 60  # shown of one skill
_CHARS = 400  # shown of one rule
_TASKS = 10  # named of the tasks that flipped
_LENGTH = 59_000  # bytes of the whole, without its last line; GitHub takes comments of up to 65,536 characters
_TABLE = 25_000  # of those, of the table
_SKILL = 12_000  # and of one skill's changes


def document(skills: Sequence[Mapping[str, Any]]) -> str:
    """A table with one row per skill, then each skill's changes: fewer than 60,000 bytes of UTF-8.

    When not all of it fits, the last line says of how many skills something is left out.
    """
    if not skills:
        return "No skill differs.\n"
    head = ["| skill | | val | test | flipped on val | tokens |", "|---|---|---|---|---|---|"]
    table = [*head, *_fitting(map(_row, skills), _TABLE)]
    details = _fitting(("\n".join(_details(skill)) for skill in skills), _LENGTH - sum(map(_size, table)))
    missing = (len(skills) - len(table) + len(head), len(skills) - len(details))
    return "\n".join([*table, *details, *_missing(*missing), ""])


def _fitting(parts: Iterable[str], length: int) -> list[str]:
    """The first parts that have no more than `length` bytes together."""
    found = []
    for part in parts:
        length -= _size(part)
        if length < 0:
            break
        found.append(part)
    return found


def _size(line: str) -> int:
    return len(line.encode()) + 1


def _missing(rows: int, details: int) -> Iterator[str]:
    if details:
        table = f", {rows} of them not even in the table" if rows else ""
        yield f"\nToo long to show: the changes of {details} more skills{table}. See all with `skillgit diff`."


def code(text: str) -> str:
    """Text on one line as a code span, fit for a table cell."""
    line = one_line(text, _CHARS) or " "
    ticks = "`" * (max((len(run) for run in re.findall("`+", line)), default=0) + 1)
    padded = f" {line} " if line.startswith("`") or line.endswith("`") else line
    # In a table a bar ends the cell, even in code, unless a backslash stands before it.
    return f"{ticks}{padded}{ticks}".replace("|", "\\|")


def _row(skill: Mapping[str, Any]) -> str:
    val, test = skill["scores"]["val"], skill["scores"]["test"]
    old, new = skill["tokens"]["before"], skill["tokens"]["after"]
    flipped = f"{len(val['improved'])} better, {len(val['regressed'])} worse" if val["tasks_known"] else "unknown"
    tokens = diff_text.arrow(sum(old.values()), sum(new.values()))
    return f"| {code(skill['path'])} | {skill['status']} | {_score(val)} | {_score(test)} | {flipped} | {tokens} |"


def _score(part: Mapping[str, Any]) -> str:
    if part["problem"] == "unmeasured":
        return "unmeasured"
    change = "" if part["change"] is None else f" (**{part['change']:+.3f}**)"
    problem = f", {part['problem']}" if part["problem"] and "different" in part["problem"] else ""
    return f"{diff_text.value(part['before'])} → {diff_text.value(part['after'])}{change}{problem}"


def _details(skill: Mapping[str, Any]) -> Iterator[str]:
    yield f"\n#### {code(skill['path'])}"
    if skill["status"] == "renamed":
        yield f"\nRenamed from {code(skill['old_path'])}."
    for key in ("regressed", "improved"):
        if tasks := skill["scores"]["val"][key]:
            more = f" and {len(tasks) - _TASKS} more" if len(tasks) > _TASKS else ""
            yield f"\n{key.capitalize()} on val: {', '.join(code(str(task)) for task in tasks[:_TASKS])}{more}"
    lines = list(_changes(skill))
    body = _fitting(lines, _SKILL)
    if len(body) < len(lines):
        body.append(f"# and {len(lines) - len(body)} more lines")
    if skill["layout"]:
        yield "\nOnly layout differs."
    if body:
        longest = max((len(run) for line in body for run in re.findall("`+", line)), default=0)
        fence = "`" * max(3, longest + 1)
        yield "\n".join(["", f"{fence}diff", *body, fence])


def _changes(skill: Mapping[str, Any]) -> Iterator[str]:
    for field in skill["frontmatter"]:
        yield from _sides(f"{field['key']}: ", field["before"], field["after"])
    section = None
    for change in skill["rules"][:_RULES]:
        if change["section"] != section:
            section = change["section"]
            yield f"@@ {diff_text.section_name(section)} @@"
        yield from _rule(change)
    if len(skill["rules"]) > _RULES:
        yield f"# and {len(skill['rules']) - _RULES} more rules"
    for file in skill["files"]:
        old, new = file["mode"]
        mode = f", mode {old} to {new}" if old and new and old != new else ""
        yield f"# file {file['change']}: {one_line(file['path'])}{mode}"


def _rule(change: Mapping[str, Any]) -> Iterator[str]:
    if change["what"] in diff_text.PROTECTED:
        yield f"# {change['what']}"
    if change["change"].startswith("moved"):
        source = diff_text.section_name(change["from"])
        yield f"! moved{'' if change['from'] == change['section'] else f' from {source}'}:"
    if change["change"] == "moved":
        yield from _lines("!", change["after"])
    else:
        yield from _sides("", change["before"], change["after"])


def _sides(label: str, before: Any, after: Any) -> Iterator[str]:
    if before is not None:
        yield from _lines("-", f"{label}{before}")
    if after is not None:
        yield from _lines("+", f"{label}{after}")


def _lines(sign: str, text: str) -> Iterator[str]:
    seen = visible(text).strip("\n")
    cut = f"{seen[:_CHARS].rstrip()}…" if len(seen) > _CHARS else seen
    yield from (f"{sign} {line}".rstrip() for line in cut.split("\n"))
