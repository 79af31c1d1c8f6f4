"""Running many rollouts: threads, deadlines, retries of failed calls, and when to give up."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from skillgit.errors import ModelConfigError, ModelError, TransientModelError
from skillgit.evals.caller import Caller
from skillgit.events import Progress, Sink
from skillgit.git.skillstore import Version
from skillgit.models.base import Reply, Request
from skillgit.tasks.base import Ask, Benchmark, Task, Trajectory, digest

_GIVE_UP_AFTER = 5  # consecutive failures with no answer in between: the endpoint is down, not the task hard


@dataclass(frozen=True)
class Outcome:
    """One rollout: a trajectory, or the error that prevented one. An error is not a score."""

    task: Task
    trajectory: Trajectory | None = None
    error: str = ""


class Rollouts:
    """Rolls out tasks of one benchmark on one target."""

    def __init__(
        self,
        benchmark: Benchmark,
        target: Caller,
        sink: Sink,
        *,
        workers: int,
        timeout: float,
        max_error_rate: float,
    ) -> None:
        self.benchmark, self.target, self.workers = benchmark, target, workers
        self._sink, self._timeout, self._max_error_rate = sink, timeout, max_error_rate

    def run(self, version: Version, tasks: Sequence[Task], *, step: int, stage: str) -> list[Outcome]:
        """Roll out every task once, in parallel; outcomes come in the order of `tasks`.

        Failed calls are tried once more after the others; what still fails is an error outcome.

        Raises:
            ModelError: more than `max_error_rate` of the tasks failed, or the first ones all did.
        """
        batch = _Batch(self, version, step, stage, len(tasks))
        outcomes = batch.run(tasks)
        failed = [task for task in tasks if outcomes[task.id].error]
        if failed:
            outcomes |= batch.run(failed)
        self._check_errors([outcomes[task.id] for task in tasks])
        return [outcomes[task.id] for task in tasks]

    def _check_errors(self, outcomes: Sequence[Outcome]) -> None:
        errors = [outcome.error for outcome in outcomes if outcome.error]
        if len(errors) > self._max_error_rate * len(outcomes):
            raise ModelError(
                f"{len(errors)} of {len(outcomes)} rollouts got no answer from the target, so nothing was scored",
                why=errors[-1],
                fix="mend the endpoint, then run the same command again: finished calls are kept",
            )

    def one(self, version: Version, task: Task, step: int, stage: str) -> Outcome:
        """Roll out one task within its deadline. Raises `ModelConfigError`, which no other task can avoid."""
        deadline = time.monotonic() + self._timeout
        try:
            return Outcome(
                task, self.benchmark.rollout(task, version.text, self._ask(version, task, step, stage, deadline))
            )
        except ModelConfigError:
            raise
        except ModelError as error:
            return Outcome(task, error=f"{error.what}{f' ({error.why})' if error.why else ''}")

    def _ask(self, version: Version, task: Task, step: int, stage: str, deadline: float) -> Ask:
        question = digest([task.id, task.content()])
        turn = 0

        def ask(request: Request) -> Reply:
            nonlocal turn
            turn += 1
            left = deadline - time.monotonic()
            if left <= 0:
                raise TransientModelError(f"task {task.id} took longer than {self._timeout:g} s")
            scope = ("rollout", version.object, question, turn)
            return self.target.call(request, scope=scope, step=step, stage=stage, skill=version.object, timeout=left)

        return ask


class _Batch:
    """One call of `Rollouts.run`: shares the progress count between first tries and retries."""

    def __init__(self, rollouts: Rollouts, version: Version, step: int, stage: str, total: int) -> None:
        self._rollouts, self._version, self._step, self._stage = rollouts, version, step, stage
        self._total, self._done, self._failures_in_a_row = total, 0, 0

    def run(self, tasks: Sequence[Task]) -> dict[str, Outcome]:
        pool = ThreadPoolExecutor(min(self._rollouts.workers, len(tasks)) or 1, "rollout")
        futures = {pool.submit(self._rollouts.one, self._version, task, self._step, self._stage) for task in tasks}
        try:
            return self._collect(futures)
        finally:
            # On an error or Ctrl-C the waiting ones never start; those in flight are paid for, so they finish and
            # are stored, within their deadline.
            pool.shutdown(wait=True, cancel_futures=True)

    def _collect(self, waiting: set[Future[Outcome]]) -> dict[str, Outcome]:
        outcomes = {}
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                outcome = future.result()
                outcomes[outcome.task.id] = outcome
                self._note(outcome)
        return outcomes

    def _note(self, outcome: Outcome) -> None:
        self._failures_in_a_row = self._failures_in_a_row + 1 if outcome.error else 0
        if self._failures_in_a_row >= _GIVE_UP_AFTER:
            raise ModelError(
                f"{_GIVE_UP_AFTER} rollouts in a row got no answer from the target",
                why=outcome.error,
                fix="mend the endpoint, then run the same command again: finished calls are kept",
            )
        if not outcome.error:
            self._done += 1
            self._rollouts._sink(Progress(self._stage, self._done, self._total))
