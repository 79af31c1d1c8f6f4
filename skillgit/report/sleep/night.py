"""A night as a person watches it: the plan, a line or two per lesson, what came of it."""

from __future__ import annotations

from rich.markup import escape

from skillgit.report.live import LiveView
from skillgit.report.safe import one_line
from skillgit.sleep.events import Harvested, LessonTried, NightFinished, NightPlanned

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
    """Shows harvest and nights."""

    results = (NightFinished,)

    def _harvested(self, event: Harvested) -> None:
        excluded = sum(event.excluded.values())
        damage = sum(sum(kinds.values()) for kinds in event.damaged.values())
        damaged = f", {damage} records damaged in {len(event.damaged)} files" if damage else ""
        self._print(
            f"harvest    {event.sessions} sessions kept, {event.new} new; {excluded} records excluded{damaged} "
            f"[dim]({event.megabytes:.1f} MB, {event.seconds:.1f} s)[/]"
        )

    def _night_planned(self, event: NightPlanned) -> None:
        tasks = ", ".join(f"{count} {split}" for split, count in event.tasks.items() if count)
        self._print(f"[bold]Night for {escape(event.skill)}[/], from {event.base[:12]}")
        self._print(f"  tasks      {tasks} from {event.sessions} sessions")
        for role, model in event.models.items():
            self._print(f"  {role:10} {escape(model)}")
        self._print(f"  at most    about {event.calls} calls")
        for note in event.notes:
            self._print(f"  [yellow]note[/]       {escape(note)}")

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
        self._print(f"[bold]done[/]       {_ENDS[event.verdict]}: {event.taken} of {event.tried} lessons")
        if event.branch:
            self._print(f"branch     {event.branch}")
            self._print(f"next       skillgit sleep show {event.branch}")
        if event.why:
            self._print(f"  [yellow]note[/]       {escape(event.why)}")
