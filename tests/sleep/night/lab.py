"""Nights in this process on models that are Python functions; everything asked and told is kept."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from skillgit.config.load import load_config
from skillgit.events import Event
from skillgit.git.repository import Repository
from skillgit.models import registry
from skillgit.models.base import ModelSpec, Request
from skillgit.models.scripted import Scripted
from skillgit.sleep.mine.base import MinedTask
from skillgit.sleep.night.start import run_nights
from skillgit.sleep.proposals.record import NightRecord
from skillgit.tasks import judges
from skillgit.tasks.base import Task
from tests.conftest import git

Respond = Callable[[Request], Any]

SETTINGS = ("model.backend=scripted", "model.optimizer=o", "model.target=t", "env.workers=2", "sleep.miner=heuristic")


def mined(
    name: str,
    question: str,
    answer: str = "",
    split: str = "train",
    *,
    judge: dict[str, Any] | None = None,
    sessions: Sequence[str] = (),
    **more: Any,
) -> MinedTask:
    """A task as mining would give it."""
    settings = judge or judges.resolve("exact", ("x",))[0]
    task = Task(name, question, answers=(answer,) if answer else (), judge=settings)
    return MinedTask(task, split, sessions=tuple(sessions) or (f"session-{name}",), **more)  # type: ignore[arg-type]


def words(request: Request) -> str:
    """Everything a request says."""
    return "\n".join(turn.content for turn in request.messages)


def proposing(*texts: str, op: str = "append", target: str = "") -> dict[str, Any]:
    """An optimizer's reply that proposes these edits."""
    edits = [{"op": op, "content": text, **({"target": target} if target else {})} for text in texts]
    return {"reasoning": "seen in the cases", "edits": edits}


@dataclass
class NightLab:
    """One repository in which nights are run."""

    folder: Path
    asked: list[Request] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def at(cls, folder: Path, files: dict[str, str] | None = None) -> NightLab:
        """A new repository with some files in one commit."""
        folder.mkdir(parents=True)
        for name, text in (files or {"README.md": "# A project\n"}).items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        git(folder, "init", "--quiet", "--initial-branch=main")
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", "-m", "start")
        return cls(folder)

    @property
    def repo(self) -> Repository:
        return Repository.open(self.folder)

    def run(
        self,
        tasks: Sequence[MinedTask] | None,
        target: Respond,
        optimizer: Respond,
        *settings: str,
        **options: Any,
    ) -> list[NightRecord]:
        """One night over these tasks."""
        config = load_config(self.folder, "", [*SETTINGS, *settings])
        with self.models(target, optimizer):
            return run_nights(self.repo, config, self.events.append, reviewed=tasks, environ={}, **options)

    @contextmanager
    def models(self, target: Respond, optimizer: Respond) -> Iterator[None]:
        """Both roles answered by functions while the block lasts."""

        def build(spec: ModelSpec) -> Scripted:
            def answer(request: Request) -> Any:
                with self._lock:
                    self.asked.append(request)
                reply = (target if spec.role == "target" else optimizer)(request)
                return json.dumps(reply) if isinstance(reply, dict | list) else reply

            return Scripted(spec, answer)

        with mock.patch.object(registry, "build", build):
            yield

    def text(self, branch: str, path: str = "skills/learned/SKILL.md") -> str:
        """A file as of a branch."""
        return git(self.folder, "show", f"{branch}:{path}") + "\n"

    def subjects(self, branch: str) -> list[str]:
        """Subjects of a branch's own commits, oldest first."""
        return git(self.folder, "log", "--reverse", "--format=%s", f"main..{branch}").splitlines()
