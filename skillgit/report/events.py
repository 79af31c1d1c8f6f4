"""Events as JSON lines."""

from __future__ import annotations

import json
import threading

import click

from skillgit.events import Event, Progress, event_json

_LOCK = threading.Lock()


def json_sink(event: Event) -> None:
    """One event per line on standard output, flushed; progress is left out."""
    if not isinstance(event, Progress):
        with _LOCK:
            click.echo(json.dumps(event_json(event), ensure_ascii=False))
