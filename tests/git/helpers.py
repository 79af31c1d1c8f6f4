"""What the tests of the git room share: a short training run, and everything of a repository that is the user's."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.conftest import git

Skillgit = Callable[..., tuple[int, str, str]]

SHORT = tuple(
    arg
    for setting in (
        "model.backend=scripted",
        "model.script=script.json",
        "train.batch_size=4",
        "train.num_epochs=1",
        "gradient.failure_only=true",
        "evaluation.eval_test=false",
    )
    for arg in ("--set", setting)
)
"""A run of two steps: RULE_A is accepted, the harmful edit is not."""


def train(skillgit: Skillgit, folder: Path, *args: str, skill: str = "greeter") -> dict:
    """Train in `folder`, which must succeed, and return the last event."""
    code, out, err = skillgit(folder, "train", skill, *SHORT, *args, "--json")
    assert code == 0, err
    return json.loads(out.splitlines()[-1])


def squash(folder: Path, branch: str) -> None:
    """One commit on the present branch with all that another one brought."""
    git(folder, "merge", "--quiet", "--squash", branch)
    git(folder, "commit", "--quiet", "-m", "squashed")


def cherry_pick(folder: Path, branch: str) -> None:
    """The newest commit of a branch again, on the present one."""
    git(folder, "cherry-pick", "-x", branch)


def rebase(folder: Path, branch: str) -> None:
    """Switch to a branch and put it on top of main."""
    git(folder, "switch", "--quiet", branch)
    git(folder, "rebase", "--quiet", "main")


def user_state(folder: Path) -> dict[str, object]:
    """Everything of a worktree that no training run may change: HEAD, index, files, refs, reflog, state of a merge."""
    private = Path(git(folder, "rev-parse", "--absolute-git-dir"))
    common = Path(git(folder, "rev-parse", "--path-format=absolute", "--git-common-dir"))
    state: dict[str, object] = {
        "status": _quiet(folder, "status", "--porcelain=v2", "--branch", "--untracked-files=all", "--ignored"),
        "refs": [line for line in git(folder, "for-each-ref").splitlines() if "skillgit" not in line.split("\t")[1]],
        "reflog": git(folder, "reflog", "show", "HEAD", check=False),
        "stash": git(folder, "stash", "list"),
        "config": (common / "config").read_bytes(),
    }
    state["refs"] = [line for line in state["refs"] if "refs/heads/train/" not in line]
    for pattern in ("HEAD", "*_HEAD", "index", "MERGE_*", "rebase-*/*", "logs/HEAD", "sequencer/*"):
        state |= {str(path): path.read_bytes() for path in private.glob(pattern) if path.is_file()}
    files = [path for path in folder.rglob("*") if ".git" not in path.relative_to(folder).parts]
    return state | {str(path): (path.stat().st_mode, path.read_bytes()) for path in files if path.is_file()}


def _quiet(folder: Path, *args: str) -> str:
    """git without refreshing the index."""
    env = os.environ | {"GIT_OPTIONAL_LOCKS": "0"}
    return subprocess.run(["git", "-C", folder, *args], env=env, capture_output=True, text=True, check=True).stdout


def made(folder: Path) -> list[str]:
    """Names of all refs that skillgit made."""
    return git(folder, "for-each-ref", "--format=%(refname)", "refs/heads/train", "refs/skillgit", "refs/notes").split()
