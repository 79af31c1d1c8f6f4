"""React: the target looks, writes and tries by tools of its own, in the folder of the first case."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from skillgit.tasks.benchmarks.spreadsheet.compare import shown
from skillgit.tasks.benchmarks.spreadsheet.work import SOLUTION, Work
from skillgit.tasks.sandbox import Limits
from skillgit.tasks.toolloop import Tool, ToolError

_TEXT = {"type": "string"}
_HEREDOC = re.compile(r"\s*python3?\s+(?:-\s+)?<<-?\s*(['\"]?)(\w+)\1\n(.*?)\n?^\2\s*$", re.DOTALL | re.MULTILINE)
_ONLY = "only Python can be run: python FILE [ARGUMENTS], python -c CODE, or a here-document"
_SCRATCH = "_command.py"
_MOST_BYTES = 1_000_000
_LISTED = 20
_LIMITS = Limits(seconds=60.0)


def tools(work: Work) -> tuple[Tool, ...]:
    """What the target may call."""
    run = {"command": {**_TEXT, "description": _ONLY}}
    write = {"path": {**_TEXT, "description": "relative to the working folder"}, "content": _TEXT}
    return (
        Tool("bash", "Run Python in the working folder.", run, ("command",), partial(_bash, work)),
        Tool("write_file", "Write a text file in the working folder.", write, tuple(write), partial(_write, work)),
    )


def solution(work: Work) -> str:
    """The program that was left in the folder; blank when there is none."""
    path = work.place(0) / SOLUTION
    try:
        plain = path.is_file() and not path.is_symlink() and path.stat().st_size <= _MOST_BYTES
        return path.read_text(encoding="utf-8", errors="replace") if plain else ""
    except OSError:  # a program may forbid it
        return ""


def _write(work: Work, arguments: Mapping[str, Any]) -> str:
    path = _contained(work, arguments["path"])
    data = arguments["content"].encode("utf-8", "replace")
    if len(data) > _MOST_BYTES:
        raise ToolError(f"that is more than {_MOST_BYTES} bytes")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return f"wrote {len(data)} bytes"


def _bash(work: Work, arguments: Mapping[str, Any]) -> str:
    script, rest = _script(work, arguments["command"])
    ran = work.run_file(0, script, _LIMITS, rest)
    said = "\n".join(part for part in (ran.out.rstrip(), ran.problem) if part) or "(no output)"
    return f"{said}\n{_looked_at(work)}" if ran.ok and script.name == SOLUTION else said


def _script(work: Work, command: str) -> tuple[Path, list[str]]:
    """The file that a command runs, and its arguments."""
    if match := _HEREDOC.fullmatch(command.rstrip()):
        return _scratch(work, match[3]), []
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ToolError(f"{error}; {_ONLY}") from error
    if len(words) < 2 or Path(words[0]).name not in ("python", "python3"):
        raise ToolError(_ONLY)
    if words[1] == "-c" and len(words) > 2:
        return _scratch(work, words[2]), words[3:]
    path = _contained(work, words[1])
    if words[1].startswith("-") or not path.is_file():
        raise ToolError(f"there is no file {words[1]!r}; {_ONLY}")
    return path, words[2:]


def _scratch(work: Work, code: str) -> Path:
    path = work.place(0) / _SCRATCH
    path.unlink(missing_ok=True)
    path.write_text(code, encoding="utf-8", errors="replace")
    return path


def _contained(work: Work, name: str) -> Path:
    """A path inside the working folder, wherever links lead; `ToolError` for any other."""
    home = work.place(0)
    try:
        path = (home / name).resolve()
    except (OSError, RuntimeError, ValueError):  # a circle of links, or a name that no file can have
        path = home
    if path == home or not path.is_relative_to(home):
        raise ToolError("the path must be inside the working folder")
    return path


def _looked_at(work: Work) -> str:
    """What the output holds where the answer belongs; never whether it is right."""
    path = work.output(0)
    if path is None:
        return "[check] nothing was saved to OUTPUT_PATH"
    areas, book = work.prepared.areas, work.read(path)
    if book.error:
        return f"[check] the output {book.error}"
    found = [
        f"{area[0]}!{cell} is {shown(value)}"
        for named, area in zip(areas, book.areas, strict=True)
        if area
        for cell, value in zip(named.cells, area[1], strict=True)
    ]
    missing = ["a sheet of the answer is missing"] if None in book.areas else []
    blank = [f"{book.formulas} cells hold formulas without values"] if book.formulas else []
    more = [f"… and {len(found) - _LISTED} more"] if len(found) > _LISTED else []
    return "[check] the output was saved; " + "; ".join([*missing, *blank, *found[:_LISTED], *more])
