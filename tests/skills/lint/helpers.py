"""Skills in memory, and what is found in them."""

from __future__ import annotations

from typing import Any

from skillgit.skills.lint.case import Before, Finding, Skill, SkillFile
from skillgit.skills.lint.judge import lint
from skillgit.skills.lint.rules import Policy, make_policy

HEAD = "---\nname: demo\ndescription: Fills forms. Use when a form must be filled.\n---\n\n"


def policy(profile: str = "spec", **levels: str) -> Policy:
    """A policy with the usual budgets; `broken_link="off"` sets a level."""
    named = {name.replace("_", "-"): level for name, level in levels.items()}
    return make_policy(profile, named, max_description_tokens=200, max_body_tokens=5000)


def skill(files: dict[str, str | bytes], name: str = "demo", links: dict[str, str] | None = None) -> Skill:
    """A skill of texts and symbolic links."""
    made = [SkillFile(path, data.encode() if isinstance(data, str) else data) for path, data in files.items()]
    made += [SkillFile(path, link=target) for path, target in (links or {}).items()]
    return Skill(f"skills/{name}", name, tuple(made))


def found(
    text: str | bytes | dict[str, str | bytes],
    rules: Policy | None = None,
    before: Before | None = None,
    **how: Any,
) -> list[Finding]:
    """The findings in a skill of these files, or of this SKILL.md."""
    files: dict[str, str | bytes] = text if isinstance(text, dict) else {"SKILL.md": text}
    return list(lint(skill(files, **how), rules or policy(), before))


def places(*args: Any, **how: Any) -> list[tuple[str, int, int]]:
    """Rule, line and column of each finding."""
    return [(finding.rule, finding.line, finding.column) for finding in found(*args, **how)]


def body(text: str) -> list[str]:
    """The rules that a body breaks, under a sound head."""
    return [finding.rule for finding in found(f"{HEAD}{text}")]
