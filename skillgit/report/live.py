"""Long work as a person watches it: lines as events come, a bar while something takes long."""

from __future__ import annotations

import threading

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from skillgit import events


class LiveView:
    """A sink for terminals and pipes; bars only where there is a terminal.

    A subclass shows the event `StepFinished` by a method `_step_finished`; what is in `results` also when quiet.
    """

    results: tuple[type[events.Event], ...] = ()

    def __init__(self, console: Console, *, quiet: bool = False, verbose: bool = False) -> None:
        self._console, self._quiet, self._verbose = console, quiet, verbose
        self._lock = threading.Lock()
        self._bar: Progress | None = None

    def __call__(self, event: events.Event) -> None:
        with self._lock:
            if isinstance(event, events.Progress):
                self._progress(event)
                return
            self._stop_bar()
            show = getattr(self, f"_{events.event_name(event)}", None)
            if show and (not self._quiet or isinstance(event, self.results)):
                show(event)

    def close(self) -> None:
        """Take the bar away."""
        with self._lock:
            self._stop_bar()

    def _progress(self, event: events.Progress) -> None:
        if self._quiet or not self._console.is_terminal or event.total < 2:
            return
        if self._bar is None:
            columns = (TextColumn("  {task.description}"), BarColumn(30), MofNCompleteColumn(), TimeRemainingColumn())
            self._bar = Progress(*columns, console=self._console, transient=True)
            self._bar.start()
        task = next((t.id for t in self._bar.tasks if t.description == event.stage), None)
        task = self._bar.add_task(event.stage, total=event.total) if task is None else task
        self._bar.update(task, completed=event.done, total=event.total)

    def _stop_bar(self) -> None:
        if self._bar:
            self._bar.stop()
            self._bar = None

    def _print(self, text: str) -> None:
        self._console.print(text)
