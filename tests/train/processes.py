"""skillgit in processes of its own: started, watched, killed, and what a run left behind, without names and times."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.conftest import SKILL, git
from tests.train import counted_model

ROOT = Path(__file__).parents[2]
WORKERS = 4
SETTINGS = {
    "model.backend": "counted",
    "model.target": "t",
    "model.optimizer": "o",
    "train.num_epochs": "3",
    "train.batch_size": "3",
    "train.accumulation": "2",
    "gradient.minibatch_size": "2",
    "gradient.analyst_workers": str(WORKERS),
    "optimizer.learning_rate": "2",
    "optimizer.min_learning_rate": "1",
    "optimizer.slow_update_samples": "5",
    "optimizer.use_skill_aware_reflection": "true",
    "optimizer.skill_aware_consolidate_threshold": "2",
    "env.workers": str(WORKERS),
}


def make_repository(folder: Path, *, train: int = 16, val: int = 12, test: int = 5) -> Path:
    """A repository with a skill to train on tasks of four kinds, one of which cannot be learned."""
    (folder / "skills/greeter").mkdir(parents=True)
    (folder / "evals/greeter").mkdir(parents=True)
    (folder / "skills/greeter/SKILL.md").write_text(SKILL)
    for split, count in (("train", train), ("val", val), ("test", test)):
        rows = [_task(split, number) for number in range(count)]
        (folder / f"evals/greeter/{split}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "start")
    return folder


def _task(split: str, number: int) -> dict[str, object]:
    kind, name = "ABCD"[number % 4], f"{split}{number}"
    return {"id": name, "input": f"{kind}{name}", "answers": [f"{kind.lower()}-{name}"]}


def install_backend(folder: Path) -> dict[str, str]:
    """Make `counted` a backend of child processes, and return the environment for them."""
    info = folder / "plugins/counted-1.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: counted\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[skillgit.backends]\ncounted = tests.train.counted_model:build\n")
    path = os.pathsep.join([str(folder / "plugins"), str(ROOT)])
    return {**os.environ, "PYTHONPATH": path, counted_model.LOG: str(folder / "calls.log")}


class Process:
    """One `skillgit train … --json` process and the events it tells."""

    def __init__(
        self,
        repo: Path,
        env: Mapping[str, str],
        *args: str,
        settings: Mapping[str, str] = SETTINGS,
        command: str = "train greeter",
    ) -> None:
        overrides = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
        full = [sys.executable, "-m", "skillgit", "-C", str(repo), *command.split(), *overrides, "--json", *args]
        self.popen = subprocess.Popen(
            full, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(env), start_new_session=True
        )
        self.events: list[dict[str, Any]] = []
        self.error = ""
        self._grown = threading.Condition()
        self._readers = [threading.Thread(target=self._read_events), threading.Thread(target=self._read_error)]
        for reader in self._readers:
            reader.start()

    def _read_events(self) -> None:
        with self.popen.stdout as lines:
            for line in lines:
                if not line.endswith("\n"):
                    break  # cut by a kill
                with self._grown:
                    self.events.append(json.loads(line))
                    self._grown.notify_all()
        with self._grown:
            self._grown.notify_all()

    def _read_error(self) -> None:
        with self.popen.stderr as text:
            self.error = text.read()

    def wait_for(self, event: str, timeout: float = 60) -> dict[str, Any] | None:
        """The first event of that name, or `None` when the process ended without it."""

        def found() -> Any:
            return next((e for e in self.events if e["event"] == event), None) or not self._readers[0].is_alive()

        with self._grown:
            while not self._grown.wait_for(found, 0.05):
                timeout -= 0.05
                assert timeout > 0, f"no {event} in time"
        return next((e for e in self.events if e["event"] == event), None)

    def kill(self, *, group: bool = False) -> bool:
        """SIGKILL; false when the process had ended before."""
        alive = self.popen.poll() is None
        if group and alive:
            with suppress(ProcessLookupError):
                os.killpg(self.popen.pid, signal.SIGKILL)
        else:
            self.popen.kill()
        return self.wait() == -signal.SIGKILL and alive

    def wait(self, timeout: float = 120) -> int:
        """The exit code, with everything that was printed read."""
        try:
            code = self.popen.wait(timeout)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            raise
        finally:
            for reader in self._readers:
                reader.join(timeout)
        return code

    @property
    def run(self) -> str:
        return self.wait_for("run_planned")["run"]


def train(repo: Path, env: Mapping[str, str], *args: str, **how: Any) -> Process:
    """A training process that has ended well."""
    process = Process(repo, env, *args, **how)
    assert process.wait() == 0, process.error
    return process


def ledger(repo: Path) -> list[tuple[str, int]]:
    """Key and request of every finished call."""
    path = repo / ".git/skillgit/cache.db"
    if not path.exists():
        return []
    db = sqlite3.connect(path, timeout=30)
    try:
        return [(key, int(cost)) for key, cost in db.execute("SELECT key, cost FROM calls")]
    except sqlite3.OperationalError:
        return []  # killed before the table was made
    finally:
        db.close()


def begun(env: Mapping[str, str]) -> list[tuple[int, int]]:
    """Process and request of every call that was begun, in order."""
    path = Path(env[counted_model.LOG])
    lines = path.read_text().splitlines() if path.exists() else []
    return [(int(pid), int(name)) for pid, name in (line.split() for line in lines)]


def runs(repo: Path) -> list[str]:
    return git(repo, "for-each-ref", "--format=%(refname:lstrip=4)", "refs/skillgit/runs/greeter").splitlines()


def left_behind(repo: Path, run: str) -> dict[str, Any]:
    """Everything one run wrote into git, with the run's name, commit ids of its branch and times taken out."""
    branch, journal = f"train/greeter/{run}", f"refs/skillgit/runs/greeter/{run}"
    commits = git(repo, "rev-list", "--reverse", f"main..{branch}").splitlines()
    names = {run: "RUN"} | {commit: f"COMMIT{n}" for n, commit in enumerate(commits)}

    def plain(text: str) -> str:
        for name, stand_in in names.items():
            text = text.replace(name, stand_in).replace(name[:12], stand_in)
        text = re.sub(r'"seconds":\s*[0-9.e-]+', '"seconds":0', text)
        return re.sub(r'"at":\s*"[^"]*"', '"at":""', text)

    files = git(repo, "ls-tree", "-r", "--name-only", journal).splitlines()
    return {
        "tree": git(repo, "rev-parse", f"{branch}^{{tree}}"),
        "messages": plain(git(repo, "log", "--reverse", "--format=%B%x00", f"main..{branch}")),
        "journal": plain(git(repo, "log", "--reverse", "--format=%B", journal)),
        "files": {name: plain(git(repo, "show", f"{journal}:{name}")) for name in files},
        "notes": {ref: _notes(repo, ref, plain) for ref in ("evals", "results", "gates")},
    }


def _notes(repo: Path, ref: str, plain: Any) -> dict[str, list[str]]:
    found = {}
    for line in git(repo, "notes", f"--ref=skillgit/{ref}", "list").splitlines():
        blob, name = line.split()
        found[plain(name)] = sorted(plain(git(repo, "cat-file", "blob", blob)).splitlines())
    return found


def repeated(values: list[Any]) -> int:
    """How many of the values are there once more than needed."""
    return sum(count - 1 for count in Counter(values).values())
