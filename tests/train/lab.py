"""Training runs in this process on models that are Python functions; everything asked and told is kept."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from skillgit.cli.train import run_training
from skillgit.config.load import load_config
from skillgit.config.schema import Config
from skillgit.events import Baseline, Event, RunFinished, RunPlanned, StepFinished
from skillgit.git import notes
from skillgit.git.repository import Repository
from skillgit.models import registry
from skillgit.models.base import ModelSpec, Request
from skillgit.models.scripted import Scripted
from skillgit.train import journal
from skillgit.train.start import prepare
from skillgit.train.state import RunState
from tests.conftest import git, write_skill

Respond = Callable[[Request], Any]
"""A reply as text or as a JSON value."""

SMALL = (
    "model.backend=scripted",
    "model.optimizer=o",
    "model.target=t",
    "train.num_epochs=1",
    "train.batch_size=8",
    "gradient.failure_only=true",
    "optimizer.use_slow_update=false",
    "optimizer.use_meta_skill=false",
    "evaluation.eval_test=false",
)
RULE = {"A": "- RULE_A: answer A with a dash", "B": "- RULE_B: answer B with a dash"}
HARM = "- HARM: shout"


def greeter(request: Request) -> str:
    """Tasks of kind A and B go right once their rule is in the skill; `HARM` spoils kind A."""
    system, user = request.messages[0].content, request.messages[-1].content
    kind = user[0]
    if RULE.get(kind, "none") not in system or (HARM in system and kind == "A"):
        return "dunno"
    return f"{kind.lower()}-{user[1:]}"


def append(*texts: str, **more: Any) -> dict[str, Any]:
    """A reply that proposes to append each text."""
    return {"reasoning": "seen", "edits": [{"op": "append", "content": text} for text in texts], **more}


def words(request: Request) -> str:
    """Everything a request says."""
    return "\n".join(turn.content for turn in request.messages)


def kind_of(request: Request) -> str:
    """The stage a request belongs to, by the form of its answer."""
    if request.schema is None:
        return "target"
    fields = request.schema["properties"]
    named = {
        "selected_indices": "ranking",
        "slow_update_content": "slow_update",
        "meta_skill_content": "meta_skill",
        "learning_rate": "lr_autonomous",
        "new_skill": "rewrite",
    }
    for name, kind in named.items():
        if name in fields:
            return kind
    if set(fields) == {"appendix_notes"}:
        return "appendix_consolidate"
    if "failure_summary" not in fields:
        return "compaction"
    return "merge" if "## Proposed patches" in words(request) else "analyst"


class By:
    """An optimizer with one answer per stage: a value, a list used up in order (the last repeats), or a function."""

    def __init__(self, **answers: Any) -> None:
        self._answers, self._asked = answers, Counter[str]()

    def __call__(self, request: Request) -> Any:
        kind = kind_of(request)
        answer = self._answers[kind]
        self._asked[kind] += 1
        if isinstance(answer, list):
            return answer[min(self._asked[kind], len(answer)) - 1]
        return answer(request) if callable(answer) else answer


@dataclass
class Done:
    """A finished run."""

    folder: Path
    config: Config
    events: list[Event]
    asked: list[Request] = field(default_factory=list)

    def requests(self, kind: str) -> list[Request]:
        return [request for request in self.asked if kind_of(request) == kind]

    @property
    def counts(self) -> Counter[str]:
        return Counter(kind_of(request) for request in self.asked)

    @property
    def planned(self) -> RunPlanned:
        return next(event for event in self.events if isinstance(event, RunPlanned))

    @property
    def finished(self) -> RunFinished:
        return next(event for event in self.events if isinstance(event, RunFinished))

    @property
    def baseline(self) -> Baseline:
        return next(event for event in self.events if isinstance(event, Baseline))

    def ends(self, kind: str = "step") -> list[StepFinished]:
        return [event for event in self.events if isinstance(event, StepFinished) and event.kind == kind]

    @property
    def verdicts(self) -> list[str]:
        return [event.verdict for event in self.ends()]

    @property
    def repo(self) -> Repository:
        return Repository.open(self.folder)

    @property
    def state(self) -> RunState:
        return journal.load(self.repo, "greeter", self.planned.run)[0]

    def records(self, kind: str = "step") -> list[dict[str, Any]]:
        tip = journal.runs(self.repo, "greeter")[self.planned.run]
        return [record for record in journal.steps(self.repo, tip) if record["kind"] == kind]

    def text(self, commit: str = "") -> str:
        return git(self.folder, "show", f"{commit or self.planned.branch}:skills/greeter/SKILL.md") + "\n"

    def trees(self) -> list[str]:
        """Skill objects of the branch, oldest first."""
        log = git(self.folder, "log", "--reverse", "--format=%H", self.planned.branch).split()
        return [git(self.folder, "rev-parse", f"{commit}:skills/greeter") for commit in log]

    def evals(self, skill: str) -> list[dict[str, Any]]:
        """Evaluation records of a skill object."""
        return list(notes.read_records(self.repo, notes.EVALS, [skill])[skill])

    def gate_lines(self, commit: str) -> list[str]:
        return git(self.folder, "notes", "--ref=skillgit/gates", "show", commit).splitlines()


class Lab:
    """Makes repositories with the greeter skill and trains in them."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._count = folder, 0
        self._lock = threading.Lock()

    def repo(self, *, skill: str = "", rows: dict[str, list[dict[str, Any]]] | None = None, **sizes: int) -> Path:
        """A repository; `rows` replaces the tasks of splits."""
        folder = self.folder / f"repo{self._count}"
        self._count += 1
        folder.mkdir()
        write_skill(folder, **sizes)
        if skill:
            (folder / "skills/greeter/SKILL.md").write_text(skill)
        for split, tasks in (rows or {}).items():
            text = "".join(f"{json.dumps(row)}\n" for row in tasks)
            (folder / f"evals/greeter/{split}.jsonl").write_text(text)
        git(folder, "init", "--quiet", "--initial-branch=main")
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", "-m", "start")
        return folder

    def config(self, folder: Path, *settings: str) -> Config:
        return load_config(folder, "", [*SMALL, *settings])

    def train(self, optimizer: Respond, *settings: str, target: Respond = greeter, folder: Path | None = None) -> Done:
        """Train from a fresh start, in a new repository unless one is given."""
        folder = folder or self.repo()
        done = Done(folder, self.config(folder, *settings), [])
        with self.models(done.asked, optimizer, target):
            repo = Repository.open(folder)
            run_training(prepare(repo, done.config, "greeter", fresh=True), done.events.append)
        return done

    def models(self, asked: list[Request], optimizer: Respond, target: Respond) -> Any:
        """Both roles answered by functions while the block lasts."""

        def build(spec: ModelSpec) -> Scripted:
            def answer(request: Request) -> Any:
                with self._lock:
                    asked.append(request)
                    reply = (target if spec.role == "target" else optimizer)(request)
                return json.dumps(reply) if isinstance(reply, dict | list) else reply

            return Scripted(spec, answer)

        return mock.patch.object(registry, "build", build)
