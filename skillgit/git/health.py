"""What `doctor` checks of a repository: each question once, none changes anything."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from skillgit.git import install
from skillgit.git.hooks.install import NAMES
from skillgit.git.hooks.state import Standing, standings
from skillgit.git.notes import EVALS, table
from skillgit.git.repository import Repository
from skillgit.git.sync.notes import NOTES, side_ref
from skillgit.git.sync.union import difference

_DRIVER = "merge.skillgit.driver"
_WANTED = {"text": "set", "eol": "lf", "diff": "markdown", "merge": "skillgit"}


@dataclass(frozen=True)
class Check:
    """One finding. `ok` is `None` for what only matters to some users."""

    name: str
    ok: bool | None
    detail: str
    fix: str = ""


@dataclass(frozen=True)
class Worktree:
    """One worktree as git lists it; `at` is its branch or commit, `gone` why its folder is missing."""

    path: str
    at: str
    gone: str


def settings(repo: Repository) -> Iterator[Check]:
    """How notes are shown, kept and merged, and how skills are merged."""
    unset = [setting.key for setting in install.SETTINGS if not install.is_set(repo, setting)]
    notes = [key for key in unset if key != _DRIVER]
    detail = f"not set: {', '.join(notes)}" if notes else "notes are shown, kept and merged"
    yield Check("init", not notes, detail, "skillgit init")
    yield _driver(repo, _DRIVER in unset)


def _driver(repo: Repository, broken: bool) -> Check:
    command = repo.config(_DRIVER)
    if not command:
        return Check("merge driver", None, "not set: skills are merged as plain text", "skillgit init")
    detail = f"{_program(command)} is gone, or the command is not ours" if broken else f"run by {_program(command)}"
    return Check("merge driver", not broken, detail, "skillgit init")


def _program(command: str) -> str:
    """The program that a shell command runs, or the whole command when it is none."""
    try:
        return shlex.split(command)[0]
    except (ValueError, IndexError):
        return command


def attributes(repo: Repository) -> Check:
    """Whether git takes skills for what they are: lines in `.gitattributes`, and no other line that wins over them."""
    if lines := install.missing_attributes(repo):
        return Check("attributes", None, f".gitattributes lacks {len(lines)} lines", "skillgit init")
    found = repo.git.text("ls-files", "-z", "--", ":(top,glob)skills/*/SKILL.md").split("\0")[:-1]
    if repo.top is None or not found:
        return Check("attributes", True, "no skill in the working tree to look at")
    wrong = [f"{path}: {key} is {value}" for path, key, value in _values(repo, found) if value != _WANTED[key]]
    if wrong:
        more = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        return Check("attributes", None, wrong[0] + more, f"git check-attr --all {shlex.quote(found[0])}")
    return Check("attributes", True, f"hold for {len(found)} skills")


def _values(repo: Repository, paths: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Path, attribute and value of each."""
    data = "".join(f"{path}\0" for path in paths).encode("utf-8", "surrogateescape")
    out = repo.git.run("check-attr", "-z", "--stdin", *_WANTED, data=data).decode("utf-8", "surrogateescape")
    fields = iter(out.split("\0")[:-1])
    yield from zip(fields, fields, fields, strict=True)


def worktrees(repo: Repository) -> Iterator[Check]:
    """Every worktree: where it stands, and whether git runs our hooks there."""
    found = {standing.worktree: standing for standing in standings(repo, NAMES)}
    installed = any(_ours(standing) for standing in found.values())
    detail = "git runs skillgit's hooks" if installed else "not installed: nothing is checked on commit or push"
    yield Check("hooks", installed or None, detail, "skillgit hooks install")
    for tree in _listed(repo):
        if tree.gone:
            yield Check(f"worktree {tree.path}", None, tree.gone, "git worktree prune")
        elif standing := found.get(tree.path):
            yield _worktree(tree, standing, installed)


def _worktree(tree: Worktree, standing: Standing, installed: bool) -> Check:
    inert = [name for name, state in standing.hooks.items() if state == "inert"]
    ours = _ours(standing)
    says = f"{', '.join(inert)} there, but not run" if inert else f"{len(ours)} of ours run" if ours else "none of ours"
    ok = not inert and (bool(ours) or not installed)
    fix = f"skillgit -C {shlex.quote(tree.path)} hooks install"
    return Check(f"worktree {tree.path}", ok, f"{tree.at}; hooks in {standing.path}: {says}", fix)


def _ours(standing: Standing) -> list[str]:
    return [name for name, state in standing.hooks.items() if state in ("ours", "chained")]


def _listed(repo: Repository) -> Iterator[Worktree]:
    for block in repo.git.text("worktree", "list", "--porcelain").split("\n\n"):
        rows = [row.split(" ", 1) for row in block.split("\n") if row]
        of = {row[0]: row[1] if len(row) > 1 else "" for row in rows}
        if of and "bare" not in of:
            at = of.get("branch", "").removeprefix("refs/heads/") or f"detached at {of.get('HEAD', '')[:12]}"
            yield Worktree(of["worktree"], at, of.get("prunable", ""))


def evidence(repo: Repository) -> Iterator[Check]:
    """Per remote, what was measured here and never sent there."""
    ours = repo.refs(*NOTES)
    for remote in repo.git.text("remote").splitlines():
        sides = repo.refs(*(side_ref(remote, ref) for ref in NOTES))
        name, fix = f"sync {remote}", f"skillgit sync {remote}"
        if spec := _overwriting(repo, remote):
            detail = f"git fetch writes the remote's notes over those here (remote.{remote}.fetch {spec})"
            unset = f"git config --unset-all remote.{remote}.fetch {shlex.quote(f'^{re.escape(spec)}$')}"
            yield Check(f"fetch {remote}", False, detail, f"{unset}, then skillgit notes repair")
        if not ours:
            yield Check(name, True, "nothing was measured here yet")
        elif not sides:
            yield Check(name, None, "never synced: records are in this clone only", fix)
        else:
            lines = sum(difference(repo, ours.get(ref), sides.get(side_ref(remote, ref))).ours for ref in NOTES)
            detail = f"{lines} lines not pushed" if lines else "all lines were there at the last sync"
            yield Check(name, not lines or None, detail, fix)


def _overwriting(repo: Repository, remote: str) -> str:
    """A configured refspec that would replace our notes at every fetch; empty when there is none."""
    specs = repo.git.text("config", "--get-all", f"remote.{remote}.fetch", ok=(0, 1)).splitlines()
    targets = {spec: spec.removeprefix("+").partition(":")[2] for spec in specs}
    return next((spec for spec, target in targets.items() if any(_covers(target, ref) for ref in NOTES)), "")


def _covers(pattern: str, ref: str) -> bool:
    head, star, tail = pattern.partition("*")
    return ref.startswith(head) and ref.endswith(tail) if star else ref == pattern


def measured(repo: Repository) -> int:
    """Number of objects that records are kept on."""
    return len(table(repo, EVALS)) if repo.refs(EVALS) else 0
