"""A night as a person watches it: the plan, a line or two per lesson, what came of it."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.markup import escape

from skillgit.report.diff_text import counted
from skillgit.report.live import LiveView
from skillgit.report.safe import one_line
from skillgit.sleep.events import Harvested, LessonTried, NightFinished, NightPlanned, NothingNew

_MARKS = {
    "accept": "[green]✓ kept[/]",
    "accept_new_best": "[green]✓ kept[/]",
    "unverified": "[yellow]? unverified[/]",
    "known": "[dim]· known[/]",
    "over_budget": "[dim]· over budget[/]",
    "no_op": "[dim]· no change[/]",
}
_ENDS = {
    "verified": "[green]proposed[/]",
    "unverified": "[yellow]proposed, unverified[/]",
    "nothing": "nothing to propose",
    "no_headroom": "nothing to gain: every val task is done right already",
}
_WIDTH = 100


class NightView(LiveView):
    """Shows harvest and nights.

    Args:
        look: the command that shows what a harvest found.
    """

    results = (NightFinished,)

    def __init__(self, console: Console, look: str, *, quiet: bool = False, verbose: bool = False) -> None:
        super().__init__(console, quiet=quiet, verbose=verbose)
        self._look = look

    def _harvested(self, event: Harvested) -> None:
        excluded = sum(event.excluded.values())
        damage = sum(sum(kinds.values()) for kinds in event.damaged.values())
        damaged = f", {damage} records damaged in {len(event.damaged)} files" if damage else ""
        self._print(
            f"harvest    {counted(event.sessions, 'session')} kept, {event.new} new; "
            f"{excluded} records excluded{damaged} [dim]({event.megabytes:.1f} MB, {event.seconds:.1f} s)[/]"
        )

    def _night_planned(self, event: NightPlanned) -> None:
        tasks = ", ".join(f"{count} {split}" for split, count in event.tasks.items() if count)
        self._print(f"[bold]Night for {escape(event.skill)}[/], from {event.base[:12]}")
        self._print(f"  tasks      {tasks} from {event.sessions} sessions")
        for role, model in event.models.items():
            self._print(f"  {role:10} {escape(model)}")
        self._print(f"  at most    about {event.calls} calls")
        self._notes(event.notes)

    def _nothing_new(self, event: NothingNew) -> None:
        if event.documents:
            self._print("nothing new to learn from since the last night (--again works on it all the same)")
        elif event.tasks:
            self._print(f"nothing to learn from: none of {counted(event.tasks, 'task')} is of a document asked for")
        else:
            self._print(f"nothing to learn from: no task in {counted(event.sessions, 'session')}")
            self._print(f"next       {escape(self._look)}   (what there is, and what was left out)")
        self._notes(event.notes)

    def _lesson_tried(self, event: LessonTried) -> None:
        mark = _MARKS.get(event.verdict, f"[red]✗ {escape(event.verdict)}[/]")
        scores = ""
        if event.base_score is not None:
            after = "?" if event.score is None else f"{event.score:.3f}"
            scores = f"  {event.base_score:.3f} -> {after} (n={event.n})"
        self._print(f"lesson {event.number:<3} {mark}{scores}")
        self._print(f"           {escape(one_line(event.rule, _WIDTH))}")
        if event.why and (self._verbose or event.verdict not in ("known", "over_budget")):
            self._print(f"           [dim]{escape(one_line(event.why, _WIDTH))}[/]")

    def _night_finished(self, event: NightFinished) -> None:
        lessons = f"{event.taken} of {counted(event.tried, 'lesson')}" if event.tried else "no lesson came up"
        self._print(f"[bold]done[/]       {_ENDS[event.verdict]}: {lessons}")
        if event.branch:
            self._print(f"branch     {event.branch}")
            self._print(f"next       skillgit sleep show {event.branch}")
        self._notes([event.why] if event.why else [])

    def _notes(self, notes: Iterable[str]) -> None:
        for note in notes:
            self._print(f"  [yellow]note[/]       {escape(note)}")
