"""A comparison of skills as people read it in a terminal: lines, each with what it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from skillgit.report.safe import one_line, visible
from skillgit.skills.compare import REGION_NAMES

Line = tuple[str, str]
"""Style (`title`, `added`, `removed`, `moved`, `faint` or empty) and text."""

_SIGNS = {"added": "+", "removed": "-", "reworded": "~", "moved": ">", "moved+reworded": ">"}
_STYLES = {"added": "added", "removed": "removed", "moved": "moved", "moved+reworded": "moved"}
PROTECTED = frozenset(REGION_NAMES.values())
_TASKS = 8  # named of the tasks that flipped; `--json` has all


def lines(skill: Mapping[str, Any]) -> Iterator[Line]:
    """Everything that differs in one skill."""
    yield "title", title(skill)
    yield from (("", f"  {line}") for line in [*scores(skill), tokens(skill)] if line)
    yield from _frontmatter(skill["frontmatter"])
    for section, changes in groupby(skill["rules"], key=lambda change: change["section"]):
        yield "faint", f"  {section_name(section)}"
        for change in changes:
            yield from _rule(change)
    if skill["layout"]:
        yield "", "  only blank lines, list markers, line endings or the layout of the frontmatter differ"
    yield from _files(skill["files"])


def stat(skill: Mapping[str, Any]) -> str:
    """The comparison on one line."""
    kinds = [change["change"] for change in skill["rules"]]
    counts = [(sign, sum(_SIGNS[kind] == sign for kind in kinds)) for sign in "+-~>"]
    told = " ".join(f"{sign}{count}" for sign, count in counts if count)
    files = counted(len(skill["files"]), "file") if skill["files"] else ""
    fields = counted(len(skill["frontmatter"]), "key") if skill["frontmatter"] else ""
    parts = [title(skill), told, fields, files, tokens(skill), _short(skill["scores"]["val"])]
    return "  ".join(part for part in parts if part)


def title(skill: Mapping[str, Any]) -> str:
    """Path and what became of it."""
    source = f" from {one_line(skill['old_path'])}" if skill["status"] == "renamed" else ""
    return f"{one_line(skill['path'])}  {skill['status']}{source}"


def tokens(skill: Mapping[str, Any]) -> str:
    """The change of length, by when the text is read."""
    names = {"always": "always-on", "on_invoke": "on invoke", "references": "references"}
    old, new = skill["tokens"]["before"], skill["tokens"]["after"]
    parts = [f"{name} {arrow(old[key], new[key])}" for key, name in names.items() if old[key] or new[key]]
    return f"tokens {', '.join(parts)}" if parts else ""


def counted(count: int, what: str) -> str:
    """`1 call`, or `2 calls`."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def arrow(old: int, new: int) -> str:
    """`12`, or `12 -> 15 (+3)`."""
    return str(new) if old == new else f"{old} -> {new} ({new - old:+})"


def scores(skill: Mapping[str, Any]) -> list[str]:
    """One line for each split that either side has a record for, or one that says there is none."""
    measured = {split: part for split, part in skill["scores"].items() if part["problem"] != "unmeasured"}
    return [_score(split, part) for split, part in measured.items()] or ["scores: unmeasured on both sides"]


def _short(part: Mapping[str, Any]) -> str:
    if part["change"] is None:
        return f"val {part['problem'] or 'unknown'}"
    tasks = f" ({len(part['improved'])} better, {len(part['regressed'])} worse)" if part["tasks_known"] else ""
    return f"val {part['change']:+.3f}{tasks}"


def _score(split: str, part: Mapping[str, Any]) -> str:
    metric = (part["after"] or part["before"])["metric"] or "score"
    change = "" if part["change"] is None else f" ({part['change']:+.3f})"
    text = f"{split} {one_line(str(metric))} {value(part['before'])} -> {value(part['after'])}{change}"
    if None in (part["before"], part["after"]):
        return text
    return f"{text}; {part['problem'] or flips(part)}"


def value(part: Mapping[str, Any] | None) -> str:
    """A score with its number of tasks."""
    if part is None:
        return "unmeasured"
    known = f"≤{part['at_most']:.3f}" if "at_most" in part else "–" if part["score"] is None else f"{part['score']:.3f}"
    return f"{known} (n={'unknown' if part['n'] is None else part['n']})"


def flips(part: Mapping[str, Any]) -> str:
    """The tasks that flipped."""
    if not part["tasks_known"]:
        return "single tasks unknown"
    words = [f"{len(part[key])} {key}{task_names(part[key])}" for key in ("improved", "regressed")]
    return ", ".join(words)


def task_names(tasks: Sequence[str]) -> str:
    """The first of the tasks in brackets; empty for none."""
    shown = ", ".join(one_line(str(task)) for task in tasks[:_TASKS])
    more = f", … {len(tasks) - _TASKS} more" if len(tasks) > _TASKS else ""
    return f" ({shown}{more})" if tasks else ""


def section_name(section: Sequence[str]) -> str:
    """The headings above a rule."""
    return " › ".join(one_line(name) for name in section) or "(top)"


def _frontmatter(fields: Sequence[Mapping[str, Any]]) -> Iterator[Line]:
    if fields:
        yield "faint", "  frontmatter"
    for field in fields:
        old, new = (None if field[key] is None else one_line(str(field[key])) for key in ("before", "after"))
        sign, style = ("+", "added") if old is None else ("-", "removed") if new is None else ("~", "")
        text = new if old is None else old if new is None else f"[-{old}-]{{+{new}+}}"
        yield style, f"    {sign} {one_line(str(field['key']))}: {text}"


def _rule(change: Mapping[str, Any]) -> Iterator[Line]:
    kind = change["change"]
    labels = [change["what"]] if change["what"] in PROTECTED else []
    if kind.startswith("moved"):
        labels.append(_movement(change))
    if kind.endswith("reworded"):
        labels.append(f"{change['similarity']:.0%} alike")
    text = "".join(_piece(*piece) for piece in change["words"]) or change["after"] or change["before"]
    label = f"[{', '.join(labels)}] " if labels else ""
    first, *rest = visible(text).strip("\n").split("\n")
    yield _STYLES.get(kind, ""), f"    {_SIGNS[kind]} {label}{first}"
    yield from ((_STYLES.get(kind, ""), f"      {line}") for line in rest)


def _movement(change: Mapping[str, Any]) -> str:
    return "moved within" if change["from"] == change["section"] else f"moved from {section_name(change['from'])}"


def _piece(op: str, text: str) -> str:
    return {"=": text, "-": f"[-{text}-]", "+": f"{{+{text}+}}"}[op]


def _files(files: Sequence[Mapping[str, Any]]) -> Iterator[Line]:
    if files:
        yield "faint", "  files"
    for file in files:
        old, new = file["mode"]
        sign = {"added": "+", "removed": "-"}.get(file["change"], "~")
        mode = f"  mode {old} -> {new}" if old != new and old and new else ""
        style = {"added": "added", "removed": "removed"}.get(file["change"], "")
        yield style, f"    {sign} {one_line(file['path'])}{mode}"
