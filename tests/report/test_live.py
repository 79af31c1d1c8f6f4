"""Long work as a person watches it."""

from __future__ import annotations

import io

from rich.console import Console

from skillgit.events import Progress
from skillgit.report.live import LiveView


def test_a_bar_shows_the_true_number_from_its_first_line_on() -> None:
    out = io.StringIO()
    view = LiveView(Console(file=out, force_terminal=True, width=80, color_system=None))
    view(Progress("val", 0, 9))
    view(Progress("rollout", 0, 15))
    view.close()
    assert "0/9" in out.getvalue()
    assert "/100" not in out.getvalue()
