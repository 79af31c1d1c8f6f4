"""What `doctor` checks of sleep: stores of sessions, how long they are kept, and what runs nights by itself."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from skillgit.config.schema import Config
from skillgit.errors import ConfigError
from skillgit.git.health import Check
from skillgit.git.repository import Repository
from skillgit.report.safe import one_line
from skillgit.report.sleep.status import last_night, stores
from skillgit.sleep.harvest.collect import archive_of
from skillgit.sleep.watch.lock import holder
from skillgit.sleep.watch.schedule import jobs
from skillgit.sleep.watch.schedule.base import Entry
from skillgit.sleep.watch.schedule.session_end import SessionEnd

_CLAUDE_DAYS = 30  # after which Claude Code deletes transcripts when nobody says otherwise
_BAD = (2, 3, 4, 5)  # exit codes with which every later night will end as well


def checks(repo: Repository, config: Config) -> Iterator[Check]:
    """Each question once. No store is read. Raises `SkillgitError` when one cannot be answered."""
    found, entries, watcher = stores(config), jobs.scheduled(repo), holder(repo)
    running = [f"watched by {watcher}"] if watcher else []
    running += [f"{one.scheduler} {one.when}" for one in entries if one.active and one.scheduler != SessionEnd.name]
    yield from _stores(found)
    for one in found["sources"]:
        if one["name"] == "claude":
            yield from (_kept(repo, config, Path(store), running=bool(running)) for store in one["stores"])
    yield from _schedule(repo, running, entries)
    night = last_night(repo, watched=bool(watcher))
    if running and night and night["code"] in _BAD:
        why = one_line(night["why"], 300)
        yield Check("last night", False, f"ended with exit code {night['code']}: {why}", "skillgit sleep status")


def _schedule(repo: Repository, running: Sequence[str], entries: Iterable[Entry]) -> Iterator[Check]:
    if running:
        yield Check("nights", True, "; ".join(running))
    else:
        yield Check("nights", None, "no watcher and no schedule: a night runs when you start one", _start(repo))
    for entry in entries:
        if entry.problem:
            yield Check("schedule", None, f"{entry.scheduler} cannot be read: {one_line(entry.problem)}")
        elif not entry.active:
            yield Check("schedule", None, f"{entry.scheduler} {entry.when} is not active", "skillgit sleep schedule")


def _stores(found: Mapping[str, Any]) -> Iterator[Check]:
    for one in found["sources"]:
        yield Check(f"sessions {one['name']}", True, ", ".join(one["stores"]))
    if found["not_read"]:
        yield Check("sessions", None, f"not asked for by sleep.source: {', '.join(found['not_read'])}")
    elif not found["sources"]:
        names = ", ".join(found["without_store"])
        fix = "skillgit sleep harvest --help (options that name a store)"
        yield Check("sessions", None, f"no agent's sessions were found: {names}", fix)
    for note in found["notes"]:
        yield Check("sessions", None, one_line(note))


def _kept(repo: Repository, config: Config, store: Path, *, running: bool) -> Check:
    """How long Claude Code keeps what is in a store of it, and how long we do."""
    settings = store.parent / "settings.json"
    try:
        days, by = _days(settings)
    except (OSError, ValueError):
        return Check("transcripts", None, f"{settings} cannot be read, so how long they are kept is not known")
    harvested = "what a harvest has read" if archive_of(repo).exists() else "what a harvest reads (none was made yet)"
    detail = (
        f"Claude Code deletes them after {days} days without use (cleanupPeriodDays, {by}); "
        f"{harvested} is kept here, redacted, for {config.sleep.keep_days} days (sleep.keep_days)"
    )
    return Check("transcripts", True if running else None, detail, _start(repo))


def _days(settings: Path) -> tuple[int, str]:
    """Days, and where they are set. Raises `OSError` or `ValueError` for a file that cannot be read."""
    try:
        found = json.loads(settings.read_bytes())
    except FileNotFoundError:
        found = {}
    days = found.get("cleanupPeriodDays") if isinstance(found, dict) else None
    if isinstance(days, int) and not isinstance(days, bool):
        return days, f"set in {settings}"
    return _CLAUDE_DAYS, f"by default; {settings} may set it"


def _start(repo: Repository) -> str:
    """The command that has nights run by themselves here."""
    try:
        jobs.default(repo)
    except ConfigError:
        return "skillgit sleep watch"
    return "skillgit sleep schedule"
