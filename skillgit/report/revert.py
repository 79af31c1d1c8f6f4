"""Undoing a commit to a skill, as data: the patch, and what records say about the text that would result."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skillgit.errors import ConfigError
from skillgit.evals.evidence import SPLITS, Evidence, compare, read_evidence
from skillgit.git.history import messages
from skillgit.git.objects import Entry
from skillgit.git.repository import Repository
from skillgit.git.revert import Inverse
from skillgit.git.skillstore import Place, find
from skillgit.report import history
from skillgit.report.diff_text import task_names
from skillgit.report.safe import visible
from skillgit.report.sides import named_few, pairs, parent_side, sides
from skillgit.skills.document import Document
from skillgit.skills.patch import unified_diff

_SUBJECT = 72
_NAMED = re.compile(r"skill\(([^)]+)\): ")


def changed_skill(repo: Repository, commit: str, skill: str = "", cwd: Path | None = None) -> Place:
    """The skill whose change is to be undone: the named one, the one in the commit's subject, or the only one changed.

    Raises:
        ConfigError: none is named, and the commit does not change exactly one.
        SkillError: the named one is not there.
    """
    found = _NAMED.match(messages(repo, [commit])[commit].subject)
    named = skill or (found[1] if found else "")
    if named:
        return history.place_of(repo, named, cwd)
    changed = [pair.path for pair in pairs(repo, parent_side(repo, commit), sides(repo, commit, commit)[1])]
    if len(changed) != 1:
        what = f"{len(changed)} skills" if changed else "no skill"
        raise ConfigError(
            f"this commit changes {what}", why=named_few(changed), fix=f"skillgit revert {commit[:12]} SKILL"
        )
    return find(repo, changed[0], path=changed[0])


def describe(repo: Repository, inverse: Inverse) -> dict[str, Any]:
    """What undoing would do.

    Returns:
        `skill`, `reverts` (the commit), `subject`; `status`: `planned`, `nothing_to_do`, `conflict`, and `reverted`
        once it is done; `commit` then made; `object` that results; `patch`; `predicted`; `conflicts` (`path`, `why`,
        `hunks`).
    """
    status = "conflict" if inverse.conflicts else "planned" if inverse.after else "nothing_to_do"
    return {
        "skill": inverse.place.name,
        "reverts": inverse.commit,
        "subject": inverse.subject,
        "status": status,
        "commit": None,
        "object": None if inverse.conflicts else inverse.object,
        "patch": "".join(_patch(path, inverse.before[path], entry) for path, entry in inverse.after.items()),
        "predicted": None if inverse.conflicts else predicted(repo, inverse.head_object, inverse.object),
        "conflicts": [{"path": part.path, "why": part.why, "hunks": hunks(part.text)} for part in inverse.conflicts],
    }


def predicted(repo: Repository, before: str, after: str) -> dict[str, Any] | None:
    """The record of the skill object `after`, set against that of `before`; `None` when it was never measured.

    `change`, `improved` and `regressed` are `None` where the two were not measured under the same conditions.
    """
    evidence = read_evidence(repo, [before, after])
    return next((found for split in SPLITS if (found := _record(evidence[before], evidence[after], split))), None)


def _record(before: Evidence, after: Evidence, split: str) -> dict[str, Any] | None:
    compared = compare(before, after, split)
    record = compared.after if compared else after.record(split)
    if record is None:
        return None
    told = {
        name: record.get(name) for name in ("split", "hard", "soft", "score", "metric", "n", "complete", "id", "at")
    }
    if compared is None:
        return told | {"before": None, "change": None, "improved": None, "regressed": None}
    flips = (list(compared.improved), list(compared.regressed)) if compared.known else (None, None)
    return told | {
        "before": compared.before.get("score"),
        "change": compared.change,
        "improved": flips[0],
        "regressed": flips[1],
    }


def message(inverse: Inverse) -> str:
    """The commit message: a subject of at most 72 characters, and the line by which git's own reverts are found.

    There is no trailer: the text was not gated, and what is undone stands in that line.
    """
    name, commit = inverse.place.name, inverse.commit
    old = visible(inverse.subject).removeprefix(f"skill({name}): ")
    subject = f'skill({name}): revert "{old}"'
    if (over := len(subject) - _SUBJECT) > 0:
        kept = old[: max(0, len(old) - over - 1)].rstrip()
        subject = f'skill({name}): revert "{kept}…"' if kept else f"skill({name}): revert {commit[:12]}"
    return f"{subject}\n\nThis reverts commit {commit}.\n"


def hunks(text: str) -> list[str]:
    """The parts of a merged text that stand between conflict markers, markers included."""
    found: list[str] = []
    inside = False
    for line in text.splitlines(keepends=True):
        if line.startswith("<<<<<<< "):
            found.append("")
            inside = True
        if inside:
            found[-1] += line
        inside = inside and not line.startswith(">>>>>>> ")
    return found


def _patch(path: str, before: bytes | None, after: Entry | None) -> str:
    data = b"" if after is None else after.object
    assert isinstance(data, bytes)
    try:
        old, new = (Document(part.decode("utf-8")) for part in (before or b"", data))
    except UnicodeDecodeError:
        return f"Binary file {path} changes\n"
    return unified_diff(path, old, new) or f"{path}: only its mode changes\n"


def line(prediction: Mapping[str, Any]) -> str:
    """A predicted record in one line."""
    whole = "" if prediction["complete"] else ", partial"
    score = prediction["score"]
    shown = f"{score:.3f}" if isinstance(score, int | float) else "unknown"
    text = f"{prediction['split']} {prediction['metric']} {shown} (n={prediction['n']}{whole})"
    if prediction["change"] is not None:
        text += f", {prediction['change']:+.3f} from now"
    for name in ("improved", "regressed"):
        if prediction[name]:
            text += f"; {len(prediction[name])} {name}{task_names(prediction[name])}"
    return text
