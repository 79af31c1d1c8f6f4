"""Rolling out many tasks: errors are no scores, and one bad task is not a dead endpoint."""

from __future__ import annotations

import threading

import pytest

from skillgit.errors import ContextLengthError, ModelConfigError, ModelError, RefusalError, TransientModelError
from skillgit.evals.gate import Metric
from skillgit.evals.measure import measure, measure_against
from skillgit.evals.rule import Rule
from skillgit.events import Progress
from skillgit.tasks.base import Score
from tests.evals.fakes import Table, caller, rollouts, table_of, tasks, version

GOOD, BAD = Score(1, 1), Score(0, 0)
AWAY, LONG = TransientModelError("away"), ContextLengthError("too long")


def of(row: list[object]) -> Table:
    return table_of(row, row)


def test_outcomes_come_in_the_order_of_the_tasks() -> None:
    got = rollouts(of([GOOD] * 9)).run(version("before"), tasks(9), step=0, stage="val")
    assert [outcome.task.id for outcome in got] == [f"t{n}" for n in range(9)]


def test_an_error_is_no_score() -> None:
    measured = measure(
        rollouts(of([GOOD, BAD, AWAY, GOOD, GOOD, GOOD])), version("before"), tasks(6), step=0, stage="val"
    )
    assert (measured.hard, len(measured.scores), measured.complete) == (0.8, 5, False)
    assert measured.errors == {"t2": "away"}


def test_a_passing_error_is_tried_once_more_and_a_final_one_is_not() -> None:
    table = of([GOOD] * 8 + [AWAY, LONG])
    rollouts(table).run(version("before"), tasks(10), step=0, stage="val")
    assert [table.rolled.count(("before", name)) for name in ("t0", "t8", "t9")] == [1, 2, 1]


@pytest.mark.parametrize("error", [ContextLengthError("too long"), RefusalError("no"), AWAY])
def test_five_bad_tasks_of_forty_do_not_stop_a_run(error: ModelError) -> None:
    # First in line, so that they are the first to come back; passing ones are spread out.
    row = [error] * 5 + [GOOD] * 35 if error is not AWAY else ([GOOD] * 7 + [error]) * 5
    measured = measure(rollouts(of(row)), version("before"), tasks(40), step=0, stage="val")
    assert len(measured.errors) == 5


def test_five_passing_errors_in_a_row_stop_the_run_before_the_rest_is_asked() -> None:
    table = of([AWAY] * 100)
    with pytest.raises(ModelError, match="5 rollouts in a row got no answer") as caught:
        measure(rollouts(table, workers=2), version("before"), tasks(100), step=0, stage="val")
    assert len(table.rolled) < 20
    assert "run the same command again" in str(caught.value)


@pytest.mark.parametrize(("errors", "stops"), [(2, False), (3, True)])
def test_the_share_of_errors_that_stops_a_run_is_exact(errors: int, stops: bool) -> None:
    table = of([LONG] * errors + [GOOD] * (10 - errors))
    if stops:
        with pytest.raises(ModelError, match="3 of 10 rollouts got no answer"):
            measure(rollouts(table), version("before"), tasks(10), step=0, stage="val")
    else:
        assert len(measure(rollouts(table), version("before"), tasks(10), step=0, stage="val").errors) == errors


def test_the_share_is_one_of_the_whole_set_when_it_runs_in_waves() -> None:
    before, after = [BAD] + [GOOD] * 11, [GOOD] * 11 + [LONG]
    runner = rollouts(table_of(before, after), workers=1)
    base = measure(runner, version("before"), tasks(12), step=0, stage="val")
    measured = measure_against(runner, version("after"), tasks(12), base, Rule(Metric()), step=1, stage="val")
    assert (len(measured.scores), measured.errors) == (11, {"t11": "too long"})


def test_errors_of_several_waves_add_up() -> None:
    before, after = [BAD] * 2 + [GOOD] * 8, [GOOD] * 2 + [LONG] * 3 + [GOOD] * 5
    runner = rollouts(table_of(before, after), workers=1)
    base = measure(runner, version("before"), tasks(10), step=0, stage="val")
    with pytest.raises(ModelError, match="3 of 10"):
        measure_against(runner, version("after"), tasks(10), base, Rule(Metric()), step=1, stage="val")


def test_progress_counts_over_all_waves() -> None:
    seen: list[tuple[int, int]] = []
    table = table_of([BAD] * 3 + [GOOD] * 6, [GOOD] * 9)
    runner = rollouts(table, workers=2, sink=lambda event: seen.append((event.done, event.total)))
    base = measure(runner, version("before"), tasks(9), step=0, stage="val")
    seen.clear()
    measure_against(runner, version("after"), tasks(9), base, Rule(Metric()), step=1, stage="val")
    assert seen == [(number, 9) for number in range(1, 10)]
    assert isinstance(Progress("val", 1, 9).stage, str)


def test_a_configuration_error_stops_everything_at_once() -> None:
    table = of([ModelConfigError("wrong key")] * 50)
    with pytest.raises(ModelConfigError, match="wrong key"):
        rollouts(table, workers=2).run(version("before"), tasks(50), step=0, stage="val")
    assert len(table.rolled) < 20


def test_no_more_than_the_configured_workers_run_at_once() -> None:
    now, most, lock = 0, 0, threading.Lock()
    table = of([GOOD] * 40)
    plain = table.rollout

    def counted(task, skill, ask):  # type: ignore[no-untyped-def]
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        try:
            return plain(task, skill, ask)
        finally:
            with lock:
                now -= 1

    table.rollout = counted
    rollouts(table, workers=3).run(version("before"), tasks(40), step=0, stage="val")
    assert most <= 3


def test_a_task_past_its_deadline_is_an_error_and_not_a_zero() -> None:
    runner = rollouts(of([GOOD] * 6), max_error_rate=1.0)
    runner._timeout = -1.0
    got = runner.run(version("before"), tasks(4), step=0, stage="val")
    assert all("took longer than" in outcome.error and outcome.trajectory is None for outcome in got)


def test_a_finished_rollout_is_not_asked_again_by_another_step() -> None:
    asked = []
    runner = rollouts(of([GOOD] * 3))
    runner.target = caller(lambda request: asked.append(request) or "answer")
    for step in (0, 1):
        measure(runner, version("before"), tasks(3), step=step, stage="val")
    assert len(asked) == 3
    assert [runner.target.reused(step) for step in (0, 1)] == [0, 3]
    with runner.target.restoring():
        measure(runner, version("before"), tasks(3), step=2, stage="val")
    assert runner.target.reused(2) == 0
