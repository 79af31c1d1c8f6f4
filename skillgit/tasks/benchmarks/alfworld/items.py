"""Which games there are: items name game files below ALFWorld's data folder."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skillgit.tasks.base import Task
from skillgit.tasks.benchmarks.alfworld.engine import GameFaultError
from skillgit.tasks.problems import Problems
from skillgit.tasks.record import Record
from skillgit.tasks.rows import Row, parse

DATA = "ALFWORLD_DATA"
_DEFAULT = "~/.cache/alfworld"

TASK_TYPES = (
    "pick_and_place",
    "pick_two_obj_and_place",
    "look_at_obj_in_light",
    "pick_heat_then_place_in_recep",
    "pick_cool_then_place_in_recep",
    "pick_clean_then_place_in_recep",
)

_MOST_BYTES = 20 * 2**20
_GOAL = re.compile(r'Your task is to: ([^"\n]{1,500})')
_UNTOLD = "Do the household task that the game tells."


def data_folder(environ: Mapping[str, str]) -> Path:
    """`$ALFWORLD_DATA`, else where `alfworld-download` puts the games."""
    return Path(os.path.abspath(Path(environ.get(DATA) or _DEFAULT).expanduser()))  # noqa: PTH100 - keeps links


def goal_in(text: str) -> str:
    """The task that a game tells, or an empty string."""
    found = _GOAL.search(text)
    return found[1].strip() if found else ""


def parse_item(row: Row, problems: Problems, folder: Path) -> Task | None:
    """One item `{id, gamefile, task_type}`.

    The task's `data` has the game file as given and the SHA-256 of its bytes, which is blank when it cannot be used:
    such a task fails by itself when it is its turn.
    """
    record = Record.of(row, problems)
    if record is None:
        return None
    name, given, kind = record.id(), record.text("gamefile"), record.optional_text("task_type")
    if name is None or given is None:
        return None
    kind = kind or next((known for known in TASK_TYPES if known in given), "")
    try:
        goal, sha256 = _read(find_game(given, folder))
    except GameFaultError:
        goal, sha256 = "", ""
    data = {"gamefile": given, "sha256": sha256}
    return Task(id=name, input=goal or _UNTOLD, tags=(kind,) if kind else (), where=row.where, data=data)


def find_game(given: str, folder: Path) -> Path:
    """The game file that an item names: a path in the data folder, in which variables and `~` may stand.

    A game file is a program (the engine evaluates expressions in it), so an item can name none that lies elsewhere.
    Links in the folder are the user's own, and are followed.

    Raises:
        GameFaultError: it leads out of the folder, or is not there.
    """
    try:
        path = Path(os.path.normpath(folder / Path(os.path.expandvars(given)).expanduser()))
        if not any(path.is_relative_to(top) for top in (folder, folder.resolve())):
            raise GameFaultError(f"the game file leads out of ${DATA}")
        found = path.is_file()
    except (OSError, ValueError, RuntimeError):  # a name that no file can have, or nobody's home
        found = False
    if not found:
        # The name as it was given: what variables stand for is nobody's business.
        raise GameFaultError(f"the game file is not below ${DATA}")
    return path


def _read(path: Path) -> tuple[str, str]:
    """Goal and digest of a game file."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise GameFaultError("the game file is too large")
        raw = path.read_bytes()
        game = parse(raw.decode())
    except OSError as error:
        raise GameFaultError(f"the game file cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise GameFaultError("the game file is not JSON") from error
    return _goal(game), hashlib.sha256(raw).hexdigest()


def _goal(game: Any) -> str:
    grammar = game.get("grammar") if isinstance(game, dict) else None
    return goal_in(grammar) if isinstance(grammar, str) else ""
