"""What linting found, in the forms that people and tools read."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any

from skillgit import __version__
from skillgit.report.linting import Report, counts
from skillgit.report.safe import json_text
from skillgit.skills.lint.case import Finding
from skillgit.skills.lint.rules import LEVELS, Rule, rules

_LONGEST = 300
_UNPRINTED = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
_GITHUB = {"error": "error", "warning": "warning", "advice": "notice"}
_SARIF = {"error": "error", "warning": "warning", "advice": "note"}


def as_text(report: Report) -> str:
    """Two lines for each finding: what is where, and what to do."""
    return "\n".join(
        f"{found.path}:{found.line}:{found.column}: {found.level} {found.rule}: {found.message}\n    fix: {found.fix}"
        for found in map(shown, report.findings)
    )


def as_json(report: Report) -> str:
    """One document: how many skills, how many findings of each level, the findings, what was mended."""
    document = {
        "skills": report.skills,
        "counts": counts(report),
        "findings": [asdict(shown(found)) for found in report.findings],
        "fixed": list(report.fixed),
        "patch": report.patch,
    }
    return json_text(document)


def as_github(report: Report) -> str:
    """Workflow commands that GitHub shows beside the lines of a pull request."""
    return "\n".join(map(_command, map(shown, report.findings)))


def as_sarif(report: Report) -> str:
    """A SARIF 2.1.0 log; columns count characters."""
    used = sorted({found.rule for found in report.findings})
    driver = {"name": "skillgit", "version": __version__, "rules": [_sarif_rule(rules()[name]) for name in used]}
    results = [_sarif_result(shown(found), used) for found in report.findings]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    return json_text({"$schema": schema, "version": "2.1.0", "runs": [run]})


FORMATS: Mapping[str, Callable[[Report], str]] = {
    "text": as_text,
    "json": as_json,
    "github": as_github,
    "sarif": as_sarif,
}


def on_terminal(patch: str) -> str:
    """A patch for eyes only: repository text in it cannot steer the terminal."""
    return "\n".join(map(_plain, patch.split("\n")))


def summary(report: Report) -> str:
    """One line on all of it."""
    parts = [_counted(count, level) for level, count in counts(report).items() if count]
    judged = f"{report.skills} skill{'' if report.skills == 1 else 's'}"
    return f"{judged}: {', '.join(parts) or 'nothing found'}"


def explained(rule: Rule) -> str:
    """Everything there is to say about a rule."""
    return "\n".join(
        [
            f"{rule.id} ({rule.level})",
            f"  {rule.title}.",
            f"  why:     {rule.why}",
            f"  fix:     {rule.fix}",
            *_example(rule.example),
        ]
    )


def listed() -> str:
    """Every rule on a line, the gravest first."""
    ordered = sorted(rules().values(), key=lambda rule: LEVELS.index(rule.level))
    width = max(map(len, rules()))
    return "\n".join(f"{rule.level:8} {rule.id:{width}}  {rule.title}" for rule in ordered)


def shown(found: Finding) -> Finding:
    """A finding that is safe to print: repository text in it has no controls and no great length."""
    path, message, fix = map(_plain, (found.path, found.message, found.fix))
    return replace(found, path=path, message=_clipped(message), fix=_clipped(fix))


def _plain(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    return "".join(f"\\u{{{ord(char):X}}}" if unicodedata.category(char) in _UNPRINTED else char for char in text)


def _clipped(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _example(example: str) -> Iterator[str]:
    found, arrow, right = example.partition(" -> ")
    for label, text in (("found", found), ("right", right if arrow else "")):
        first, *rest = text.splitlines() or [""]
        yield f"  {label}:   {first}"
        yield from (f"           {line}" for line in rest)


def _counted(count: int, level: str) -> str:
    plural = "" if count == 1 or level == "advice" else "s"
    return f"{count} {level}{plural}"


def _command(found: Finding) -> str:
    place = f"file={_property(found.path)},line={found.line},col={found.column},title={_property(found.rule)}"
    return f"::{_GITHUB[found.level]} {place}::{_escaped(f'{found.message}; {found.fix}')}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


def _sarif_rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.why},
        "help": {"text": rule.fix},
        "defaultConfiguration": {"level": _SARIF[rule.level]},
    }


def _sarif_result(found: Finding, used: list[str]) -> dict[str, Any]:
    region = {"startLine": found.line, "startColumn": found.column}
    location = {"artifactLocation": {"uri": _uri(found.path)}, "region": region}
    return {
        "ruleId": found.rule,
        "ruleIndex": used.index(found.rule),
        "level": _SARIF[found.level],
        "message": {"text": f"{found.message}; {found.fix}"},
        "locations": [{"physicalLocation": location}],
    }


def _uri(path: str) -> str:
    from urllib.parse import quote

    return quote(path)
