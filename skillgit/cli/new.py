"""`skillgit new`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from skillgit.cli.app import App, pass_app
from skillgit.errors import GitError, SkillError

_SKILL = """\
---
name: {name}
description: {description}
---

# {title}

No rules yet.
"""

_DESCRIPTION = "Say here what the skill does and when an agent should use it."

_TASKS = {
    "train": [("train-1", "2 + 3 =", "5"), ("train-2", "7 + 1 =", "8"), ("train-3", "4 + 4 =", "8")],
    "val": [("val-1", "6 + 3 =", "9"), ("val-2", "5 + 2 =", "7"), ("val-3", "1 + 1 =", "2")],
}


@click.command(short_help="Create a skill.")
@click.argument("name")
@click.option("--description", default=_DESCRIPTION, help="For the frontmatter.")
@click.option("--dry-run", is_flag=True, help="Show what would be written.")
@pass_app
def new(app: App, name: str, description: str, dry_run: bool) -> None:
    """Create skills/NAME/SKILL.md and task files to fill in under evals/NAME/.

    A task is one JSON object per line: id, input, answers, and optionally context, files, tags and judge (exact, f1,
    contains, regex, choice, numeric or checks). Nothing that exists is overwritten.
    """
    if fault := _fault(name):
        raise SkillError(f"{name!r} is no skill name", why=fault, fix="for example: skillgit new date-format")
    if not 0 < len(" ".join(description.split())) <= 1024:
        raise SkillError("a description has 1 to 1024 characters", fix="say what the skill does and when to use it")
    root = app.repo().top
    if root is None:
        fix = "git worktree add ../work, then run the command there"
        raise GitError("a bare repository has no files to add a skill to", fix=fix)
    _refuse_twin(root / "skills", name)
    files = {root / "skills" / name / "SKILL.md": _skill(name, description)}
    for split, rows in _TASKS.items():
        lines = [json.dumps({"id": i, "input": q, "answers": [a], "judge": "exact"}) for i, q, a in rows]
        files[root / "evals" / name / f"{split}.jsonl"] = "\n".join(lines) + "\n"
    for path, text in files.items():
        shown = path.relative_to(root)
        if path.exists() or path.is_symlink():
            app.say(f"exists     {shown}")
            continue
        if not dry_run:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        app.say(f"{'would add' if dry_run else 'added':10} {shown}")
    app.say(f"next       write tasks into evals/{name}/, then: skillgit train {name} --dry-run")


def _fault(name: str) -> str:
    """The rule a name breaks, or nothing."""
    import re

    if len(name) > 64 or not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
        return "Agent Skills names are 1 to 64 lowercase letters, digits and single hyphens"
    if re.fullmatch(r"con|prn|aux|nul|(com|lpt)[0-9]", name):
        return "Windows keeps this name for a device, so that nobody could check the folder out there"
    return ""


def _refuse_twin(skills: Path, name: str) -> None:
    """Two names that differ in case alone are one folder on macOS and Windows."""
    for path in skills.iterdir() if skills.is_dir() else ():
        if path.name != name and path.name.casefold() == name:
            raise SkillError(f"there is a skill {path.name!r}", why="the names differ in case alone")


def _skill(name: str, description: str) -> str:
    quoted = json.dumps(" ".join(description.split()), ensure_ascii=False)
    return _SKILL.format(name=name, description=quoted, title=name.replace("-", " ").capitalize())
