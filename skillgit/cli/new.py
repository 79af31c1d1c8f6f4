"""`skillgit new`."""

from __future__ import annotations

import json

import click

from skillgit.cli.app import App, pass_app
from skillgit.errors import SkillError

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
    if not _valid(name):
        raise SkillError(
            f"{name!r} is no skill name",
            why="Agent Skills names are 1 to 64 lowercase letters, digits and single hyphens",
            fix="for example: skillgit new date-format",
        )
    root = app.repo().root
    files = {root / "skills" / name / "SKILL.md": _skill(name, description)}
    for split, rows in _TASKS.items():
        lines = [json.dumps({"id": i, "input": q, "answers": [a], "judge": "exact"}) for i, q, a in rows]
        files[root / "evals" / name / f"{split}.jsonl"] = "\n".join(lines) + "\n"
    for path, text in files.items():
        shown = path.relative_to(root)
        if path.exists():
            app.say(f"exists     {shown}")
            continue
        if not dry_run:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        app.say(f"{'would add' if dry_run else 'added':10} {shown}")
    app.say(f"next       write tasks into evals/{name}/, then: skillgit train {name} --dry-run")


def _valid(name: str) -> bool:
    import re

    return len(name) <= 64 and re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) is not None


def _skill(name: str, description: str) -> str:
    quoted = json.dumps(" ".join(description.split()), ensure_ascii=False)
    return _SKILL.format(name=name, description=quoted, title=name.replace("-", " ").capitalize())
