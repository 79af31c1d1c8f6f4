"""What the watcher and the schedulers must remember from night to night."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skillgit.config.load import resolved
from skillgit.config.schema import Config
from skillgit.git.repository import Repository
from skillgit.sleep.files import write_whole

_FILE = "sleep-watch.json"


@dataclass(frozen=True)
class State:
    """Safe to lose: then the next set hour is the first one.

    Attributes:
        day: local date (`YYYY-MM-DD`) of the last night at the set hour; blank before the first.
        at: when a night last ended, seconds since 1970 UTC; 0 before the first.
        code: its exit code. why: what it said.
        failures: nights in a row that could not be finished.
        harvest: number of the harvest whose sessions the last night has seen.
        paused: digest of the configuration with which nights cannot work; they wait until it changes.
    """

    day: str = ""
    at: float = 0.0
    code: int = 0
    why: str = ""
    failures: int = 0
    harvest: int = 0
    paused: str = ""


def read_state(repo: Repository) -> State:
    """What is remembered; a fresh state where nothing can be read."""
    try:
        found = json.loads((repo.state_dir / _FILE).read_text("utf-8"))
    except (FileNotFoundError, ValueError):
        return State()
    return _valid(found) if isinstance(found, dict) else State()


def change_state(repo: Repository, **values: Any) -> State:
    """Change some of it; several processes may. Raises `GitError` or `ConfigError` when it cannot be written."""
    with repo.lock("sleep-state", seconds=10):
        state = dataclasses.replace(read_state(repo), **values)
        write_whole(repo.state_dir / _FILE, json.dumps(dataclasses.asdict(state)).encode())
    return state


def config_digest(config: Config) -> str:
    """Tells one configuration from another."""
    return hashlib.sha256(json.dumps(resolved(config), sort_keys=True).encode()).hexdigest()[:16]


def _valid(found: Mapping[str, Any]) -> State:
    default = State()
    values = {
        field.name: found[field.name]
        for field in dataclasses.fields(State)
        if type(found.get(field.name)) is type(getattr(default, field.name))
    }
    return dataclasses.replace(default, **values)
