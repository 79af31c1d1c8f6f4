"""One skill against every rule."""

from __future__ import annotations

from collections.abc import Iterator

from skillgit.skills.lint.case import Before, Case, Check, Finding, Skill
from skillgit.skills.lint.fixes import check_style
from skillgit.skills.lint.front import check_front
from skillgit.skills.lint.guarded import check_changes, check_contents
from skillgit.skills.lint.hidden import check_hidden
from skillgit.skills.lint.layout import check_files, check_size
from skillgit.skills.lint.links import check_links
from skillgit.skills.lint.page import Hit
from skillgit.skills.lint.repeats import check_repeats
from skillgit.skills.lint.rules import Policy, rules

CHECKS: tuple[Check, ...] = (
    check_front,
    check_files,
    check_size,
    check_links,
    check_repeats,
    check_contents,
    check_hidden,
    check_changes,
    check_style,
)


def lint(skill: Skill, policy: Policy, before: Before | None = None) -> tuple[Finding, ...]:
    """Everything found in one skill, by place.

    Args:
        before: the documents it is compared with; `None` when nothing is being committed.
    """
    case = Case.of(skill, before)
    hits = (hit for check in CHECKS for hit in check(case, policy))
    return tuple(sorted(findings(hits, skill, policy), key=_place))


def findings(hits: Iterator[Hit], skill: Skill, policy: Policy) -> Iterator[Finding]:
    """Hits of the rules that are on, with level and instruction."""
    for hit in hits:
        level = policy.levels.get(hit.rule)
        if level is not None:
            fix = hit.fix or rules()[hit.rule].fix
            path = skill.at(hit.path)
            yield Finding(path, hit.line, hit.column, hit.rule, level, hit.message, fix, hit.fixable)


def _place(finding: Finding) -> tuple[str, int, int, str]:
    return finding.path, finding.line, finding.column, finding.rule
