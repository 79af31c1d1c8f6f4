"""A model whose answers a person writes, or an agent of theirs: prompts and answers are files.

    prompts/<key>.md     one file for each answer that is missing
    answers/<key>.md     written by whoever answers (or <key>.json)
    PROMPTS.md           what is missing, and how to answer

Nothing is kept in memory: the same command run again finds the answers and goes on. A prompt goes once it is answered.
The answers stay until whoever wrote them deletes the folder, because the store of calls may be deleted at any time.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skillgit.errors import ModelConfigError, Pending, PendingAnswerError
from skillgit.models.base import ModelSpec, Reply, Request
from skillgit.models.prompt import render
from skillgit.models.structured import checked_json
from skillgit.skills.secrets import find_secrets

FOLDER = "skillgit-handoff"
"""Name of the folder, in the common git folder."""

INDEX = "PROMPTS.md"
_TICKS = re.compile(r"`{3,}")


def build(spec: ModelSpec) -> Handoff:
    """The model whose files lie in the folder `spec.options["exchange"]`."""
    return Handoff(spec)


class Handoff:
    """One role, answered through files."""

    def __init__(self, spec: ModelSpec) -> None:
        self.spec = spec
        self._folder = Path(spec.options["exchange"])
        self._lock = threading.Lock()
        self._since = 0

    def complete(self, request: Request, *, timeout: float | None = None) -> Reply:  # noqa: ARG002 - people take days
        """See `Model.complete`.

        Raises:
            PendingAnswerError: there is no answer yet, or one that cannot be used.
        """
        if request.tools:
            raise ModelConfigError(
                "a person cannot be offered the tools of this benchmark",
                fix=f"use an HTTP backend for the {self.spec.role}",
            )
        if any(turn.images for turn in request.messages):
            raise ModelConfigError(
                "a prompt file shows a person no pictures", fix=f"use an HTTP backend for the {self.spec.role}"
            )
        key = self.key(request)
        answer = self._answer(key)
        text, problem = _read(answer, request.schema) if answer.exists() else ("", "")
        if not text:
            # It may quote the answer.
            problem = " ".join(_without_secrets(problem).split())
            raise PendingAnswerError([self._ask(key, request, answer, problem)])
        self._prompt(key).unlink(missing_ok=True)
        return Reply(text)

    def settings(self) -> dict[str, Any]:
        """See `Model.settings`."""
        return {"backend": self.spec.backend}

    def close(self) -> None:
        """Bring the index up to date. A prompt goes too when it was answered and is not wanted any more."""
        if not self._folder.is_dir():
            return
        prompts = self._folder / "prompts"
        for path in prompts.glob(f"{self.spec.role}-*.md"):
            if self._answer(path.stem).exists() and not self._wanted(path):
                path.unlink(missing_ok=True)
        waiting = sorted(prompts.glob("*.md"))
        if not waiting:
            (self._folder / INDEX).unlink(missing_ok=True)
        elif self._since:
            now = [path for path in waiting if self._wanted(path)]
            _write(self._folder / INDEX, _index(now, [path for path in waiting if path not in now]))

    def key(self, request: Request) -> str:
        """Identity of a request: by what is asked, before anything is blotted out, and which sample it is."""
        turns = [[turn.role, turn.content] for turn in request.messages]
        schema = None if request.schema is None else dict(request.schema)
        parts = [self.spec.model, turns, schema, request.seed]
        # As ASCII: text that was badly decoded can hold what UTF-8 cannot.
        return f"{self.spec.role}-{hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:40]}"

    def _prompt(self, key: str) -> Path:
        return self._folder / "prompts" / f"{key}.md"

    def _answer(self, key: str) -> Path:
        found = self._folder / "answers" / f"{key}.json"
        return found if found.exists() else found.with_suffix(".md")

    def _wanted(self, prompt: Path) -> bool:
        return 0 < self._since <= _changed(prompt)

    def _ask(self, key: str, request: Request, answer: Path, problem: str) -> Pending:
        self._open()
        prompt = self._prompt(key)
        _write(prompt, _page(key, self.spec, request, problem))
        return Pending(self.spec.role, str(prompt), str(answer), problem)

    def _open(self) -> None:
        """Make the folders, and note when this command began to ask."""
        with self._lock:
            if not self._since:
                for folder in (self._folder, self._folder / "prompts", self._folder / "answers"):
                    folder.mkdir(mode=0o700, exist_ok=True)
                # By the file system's clock, which need not be ours.
                os.utime(self._folder)
                self._since = _changed(self._folder)


def _read(path: Path, schema: Mapping[str, Any] | None) -> tuple[str, str]:
    """The answer in a file, or what is wrong with it."""
    try:
        text = path.read_text(encoding="utf-8-sig").strip()
    except (OSError, UnicodeDecodeError) as error:
        return "", f"cannot be read: {error}"
    if not text:
        return "", "is empty"
    return (text, "") if schema is None else checked_json(text, schema)


def _page(key: str, spec: ModelSpec, request: Request, problem: str) -> str:
    """A prompt as a person reads it."""
    turns = "\n\n".join(f"## {turn.role}\n\n{_fence(turn.content)}" for turn in request.messages)
    schema = json.dumps(dict(request.schema), indent=1, ensure_ascii=False) if request.schema is not None else ""
    return render(
        "handoff",
        key=key,
        role=spec.role,
        model="" if spec.model == spec.backend else f", as {spec.model}",
        sample="" if request.seed is None else f"\n- sample {request.seed}: answer it anew, whatever others were",
        problem=f"\n- **the answer that is there cannot be used: it {problem}**" if problem else "",
        turns=turns,
        form=f"## JSON schema of the answer\n\n{_fence(schema)}" if schema else "The answer is plain text.",
    )[0].content


def _index(now: list[Path], earlier: list[Path]) -> str:
    old = f"\n\nAsked by other commands, and not by the last one:\n\n{_listed(earlier)}" if earlier else ""
    return render("handoff_index", count=str(len(now)), prompts=_listed(now), earlier=old)[0].content


def _listed(prompts: list[Path]) -> str:
    return "\n".join(f"- prompts/{path.name} → answers/{path.name}" for path in prompts)


def _fence(text: str) -> str:
    """Text of others between fences that it cannot close, without credentials."""
    text = _without_secrets(text)
    fence = "`" * max([3, *(len(run[0]) + 1 for run in _TICKS.finditer(text))])
    return f"{fence}text\n{text}\n{fence}"


def _without_secrets(text: str) -> str:
    parts, at = [], 0
    for hit in find_secrets(text):
        parts += [text[at : hit.start], f"[{hit.name}]"]
        at = hit.end
    return "".join([*parts, text[at:]])


def _write(path: Path, text: str) -> None:
    """Write a file for its owner alone, whole or not at all."""
    handle, name = tempfile.mkstemp(prefix=".", dir=path.parent)
    with os.fdopen(handle, "wb") as file:
        file.write(f"{text}\n".encode("utf-8", "replace"))
    Path(name).replace(path)


def _changed(path: Path) -> int:
    """Modification time in nanoseconds; 0 for a file that another command has taken away."""
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return 0
