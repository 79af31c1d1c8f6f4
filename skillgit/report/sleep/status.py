"""The state of sleep in a repository: stores, harvest, proposals, watcher, schedule."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

from skillgit.config.schema import Config
from skillgit.errors import ConfigError
from skillgit.git.repository import Repository
from skillgit.report.sleep.proposals import listing
from skillgit.sleep.harvest.collect import archive_of, kept_heads, open_archive
from skillgit.sleep.sources.places import is_there
from skillgit.sleep.sources.registry import AUTO, installed, sources
from skillgit.sleep.watch.lock import holder
from skillgit.sleep.watch.log import log_path
from skillgit.sleep.watch.nights import seen_until
from skillgit.sleep.watch.schedule.jobs import scheduled
from skillgit.sleep.watch.state import read_state


def overview(repo: Repository, config: Config) -> dict[str, Any]:
    """All of it as JSON values. Nothing is read from the stores."""
    listed = listing(repo, also=(config.sleep.auto_adopt,))
    return {
        **stores(config),
        "harvest": _harvest(repo, config),
        "proposals": [row for row in listed["proposals"] if row["waiting"]],
        "unmeasured": listed["unmeasured"],
        "watcher": (watcher := holder(repo) or None),
        "night": last_night(repo, watched=bool(watcher)),
        "schedule": [asdict(entry) for entry in scheduled(repo)],
        "log": str(log) if (log := log_path(repo)).exists() else None,
    }


def stores(config: Config) -> dict[str, Any]:
    """Which agents' stores are here and read, and which are not."""
    notes: list[str] = []
    present = sources(replace(config.sleep, source=AUTO), notes.append)
    try:
        read = sources(config.sleep)
    except ConfigError as error:
        read = []
        notes.append(str(error))
    names = {source.name for source in present}
    return {
        "sources": [{"name": one.name, "stores": [*map(str, filter(is_there, one.roots()))]} for one in read],
        "not_read": sorted(names - {source.name for source in read}),
        "without_store": sorted(installed().keys() - names),
        "notes": notes,
    }


def _harvest(repo: Repository, config: Config) -> dict[str, Any] | None:
    """What the last harvest left; `None` before the first."""
    if not archive_of(repo).exists():
        return None
    with open_archive(repo) as archive:
        number, at = archive.last()
        heads = kept_heads(repo, config.sleep, archive)
        seen = seen_until(repo, archive)
        return {
            "number": number,
            "at": moment(at),
            "sessions": len(heads),
            "new": len([head for head in heads if head.harvested > seen]),
            "excluded": archive.excluded(),
            "excluded_sessions": archive.excluded_sessions(),
            "damaged": archive.damaged(),
        }


def last_night(repo: Repository, *, watched: bool) -> dict[str, Any] | None:
    """How the watcher's or scheduler's last night ended; `None` before the first."""
    state = read_state(repo)
    if not state.at:
        return None
    # A watcher has options of its own: whether its configuration is still the one that cannot work, it knows itself.
    paused = watched and bool(state.paused)
    return {"at": moment(state.at), "code": state.code, "why": state.why, "failures": state.failures, "paused": paused}


def moment(at: float | None) -> str | None:
    """Seconds since 1970 as UTC time, ISO 8601."""
    return None if at is None else datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")
