"""Proposals whose night's record is not in this clone: told from the commits of their branch."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from skillgit.git import history
from skillgit.git.objects import inside, read_blobs, resolve_many
from skillgit.git.repository import Repository
from skillgit.skills.blocks import split_blocks
from skillgit.skills.document import Document
from skillgit.skills.edits import Edit
from skillgit.sleep.proposals.branches import Branch
from skillgit.sleep.proposals.names import branch_of, is_night
from skillgit.sleep.proposals.record import Lesson, NightRecord, Verdict

_HASH = re.compile(r"[0-9a-f]{8,64}")


def recovered(repo: Repository, branch: Branch, lives: Sequence[str]) -> NightRecord | None:
    """What the commits of a branch tell of its night; `None` when it holds no lesson of a night of that name."""
    if not is_night(branch.night):
        return None
    commits = _commits(repo, branch, lives)
    if not commits:
        return None
    document = _document(repo, commits[0].commit)
    base = repo.resolve(f"{commits[0].commit}^")
    if not document or not base:
        return None
    path = document.removesuffix("/SKILL.md")
    date = repo.git.text("log", "-1", "--no-show-signature", "--format=%cI", commits[-1].commit)
    lessons = tuple(_lesson(repo, one, document) for one in commits)
    verdict: Verdict = "unverified" if any(one.verdict == "unverified" for one in lessons) else "verified"
    return NightRecord(
        branch.night,
        branch.skill,
        path,
        document,
        base,
        resolve_many(repo, [f"{base}:{path}"])[0] or "",
        verdict,
        lessons,
        branch=branch_of(branch.skill, branch.night),
        tip=branch.tip,
        at=date,
    )


def _commits(repo: Repository, branch: Branch, lives: Sequence[str]) -> list[history.Logged]:
    """The commits of lessons, oldest first: of what nobody has taken yet, or, when all of it was, of the newest."""
    start = [branch.tip, *(f"^{live}" for live in lives)] if lives else [branch.tip]
    revisions = repo.git.text("rev-list", "--no-merges", "--max-count=200", "--reverse", *start).split()
    if not revisions:
        revisions = repo.git.text("rev-list", "--no-merges", "--max-count=200", "--reverse", branch.tip).split()
    told = history.messages(repo, revisions)
    return [told[name] for name in revisions if told[name].run == branch.night and told[name].evidence]


def _document(repo: Repository, commit: str) -> str:
    """The one Markdown file that a commit changes; empty when that is not what it does."""
    args = ("diff-tree", "-r", "-z", "--root", "--no-commit-id", "--name-only", "--no-renames", commit)
    paths = repo.git.text(*args).split("\0")[:-1]
    return paths[0] if len(paths) == 1 and paths[0].endswith(".md") and inside(paths[0]) else ""


def _lesson(repo: Repository, commit: history.Logged, document: str) -> Lesson:
    words = commit.evidence.split()
    counts = dict(word.split("=", 1) for word in words if "=" in word)
    hashes = tuple(word for word in words if _HASH.fullmatch(word))
    before, after = read_blobs(repo, [f"{commit.commit}^:{document}", f"{commit.commit}:{document}"])
    verdict = commit.verdict if commit.verdict in ("accept", "accept_new_best") else "unverified"
    found = Lesson(_edit(before, after), sessions=hashes, verdict=verdict, commit=commit.commit)
    known = int(counts["sessions"]) if counts.get("sessions", "").isdecimal() else len(hashes)
    return replace(found, why=f"asked in {known} sessions") if known > len(hashes) else found


def _edit(before: bytes | None, after: bytes | None) -> Edit:
    """The change between two documents as an edit, so far as text tells it."""
    old, new = (_rules(data) for data in (before, after))
    added = [text for key, text in new.items() if key not in old]
    removed = [text for key, text in old.items() if key not in new]
    if not added:
        return Edit("delete", target="\n".join(removed))
    if removed:
        return Edit("replace", content="\n".join(added), target="\n".join(removed))
    return Edit("append", content="\n".join(added))


def _rules(data: bytes | None) -> dict[str, str]:
    blocks = split_blocks(Document((data or b"").decode("utf-8", "replace"))).blocks
    return {block.key: block.text.strip() for block in blocks if block.kind != "head"}
