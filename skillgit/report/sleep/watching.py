"""What the watcher reports, as lines."""

from __future__ import annotations

import time

from rich.markup import escape

from skillgit.events import Event
from skillgit.report.diff_text import counted
from skillgit.report.safe import one_line
from skillgit.sleep.events import Harvested
from skillgit.sleep.watch.events import Looked, NightBegun, NightOver, WatchEnded, WatchStarted, WatchTrouble

_ENDS = {0: "finished", 1: "finished", 6: "stopped at a limit", 7: "needs a person", 130: "interrupted"}


def line(event: Event) -> str:
    """One event for people, safe to print among markup; blank when it is not for them."""
    text = _text(event)
    return f"{time.strftime('%H:%M:%S')}  {escape(text)}" if text else ""


def _text(event: Event) -> str:
    match event:
        case WatchStarted():
            return _started(event)
        case Harvested(new=new, sessions=sessions):
            return f"read       {counted(new, 'session')} with something new, {sessions} kept"
        case Looked(reason=reason, waiting=waiting):
            return f"waiting    {counted(waiting, 'session')} for the next night ({reason})"
        case NightBegun(reason=reason):
            return f"night      begins: {reason}"
        case NightOver(code=code, why=why, seconds=seconds):
            end = _ENDS.get(code, f"failed with exit code {code}")
            return f"night      {end} after {seconds:.0f} s{f': {one_line(why, 300)}' if why else ''}"
        case WatchTrouble(what=what, seconds=seconds):
            return f"trouble    {one_line(what, 500)}{f'; again in {seconds:.0f} s' if seconds else ''}"
        case WatchEnded(reason=reason):
            return f"end        {reason}"
    return ""


def _started(event: WatchStarted) -> str:
    lines = [f"watching   {one_line(place)}" for place in event.notices]
    lines += [f"looking    {one_line(place)} again and again: {one_line(event.why)}" for place in event.looking]
    lines = lines or ["watching   nothing yet: no agent's sessions were found"]
    when = [f"at {event.hour}:00"] if event.hour >= 0 else []
    when += [f"after {counted(event.min_sessions, 'session')}"] if event.min_sessions else []
    lines.append(f"nights     {' and '.join(when) or 'none: sleep.hour and sleep.min_sessions are off'}")
    return "\n          ".join(lines)
