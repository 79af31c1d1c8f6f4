"""What the benchmarks share: a repository to train in and the plain environment of the tests."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from skillgit.cli.train import run_training
from skillgit.config.load import load_config
from skillgit.events import Event
from skillgit.git.repository import Repository
from skillgit.train.start import prepare
from tests.conftest import git

SKILL = "---\nname: bench\ndescription: For measuring.\n---\n\n# Bench\n\nNo rules yet.\n"
_GIT = {"HOME": "{}", "GIT_CONFIG_GLOBAL": "{}/gitconfig", "GIT_CONFIG_NOSYSTEM": "1"}


@contextmanager
def workshop() -> Iterator[Path]:
    """A temporary folder where git knows who commits and nothing else."""
    with tempfile.TemporaryDirectory(prefix="skillgit-bench-") as name:
        folder = Path(name)
        (folder / "gitconfig").write_text("[user]\n\tname = Bench\n\temail = bench@example.invalid\n")
        kept = {key: os.environ.get(key) for key in _GIT}
        os.environ.update({key: value.format(folder) for key, value in _GIT.items()})
        try:
            yield folder
        finally:
            for key, value in kept.items():
                os.environ.pop(key) if value is None else os.environ.update({key: value})


def make_repository(folder: Path, script: dict[str, Any], **splits: int) -> Path:
    """A repository with the skill `bench`, tasks `K<n>` of kinds K0 to K4, and a script."""
    for place in ("skills/bench", "evals/bench"):
        (folder / place).mkdir(parents=True)
    (folder / "skills/bench/SKILL.md").write_text(SKILL)
    (folder / "script.json").write_text(json.dumps(script))
    for split, count in splits.items():
        rows = [
            {"id": f"{split}{n}", "input": f"K{n % 5} {split}{n}", "answers": [f"yes {n % 5}"]} for n in range(count)
        ]
        (folder / f"evals/bench/{split}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "start")
    return folder


def run(folder: Path, **settings: Any) -> list[Event]:
    """Train in this process and return what was told."""
    told: list[Event] = []
    plain = {"model.backend": "scripted", "model.script": "script.json", "optimizer.use_slow_update": "false"}
    plain |= {key.replace("__", "."): str(value) for key, value in settings.items()}
    plain.setdefault("optimizer.use_meta_skill", "false")
    repo = Repository.open(folder)
    config = load_config(repo.root, "", [f"{key}={value}" for key, value in plain.items()])
    run_training(prepare(repo, config, "bench", fresh=True), told.append)
    return told


def rule_edit(text: str) -> dict[str, Any]:
    """An optimizer's reply that appends one line."""
    return {"reasoning": "seen", "edits": [{"op": "append", "content": text}]}
