"""Running many rollouts: threads, deadlines, retries of failed calls, and when to give up."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from itertools import islice

from skillgit.errors import ModelConfigError, ModelError, PendingAnswerError, TransientModelError
from skillgit.evals.caller import Caller
from skillgit.evals.workspaces import Workspaces
from skillgit.events import Progress, Sink
from skillgit.git.skillstore import Version
from skillgit.models.base import Reply, Request, Workspace
from skillgit.models.pending import answered
from skillgit.tasks.base import AgentBenchmark, Ask, Benchmark, Task, Trajectory, digest

_GIVE_UP_AFTER = 5  # consecutive failures with no answer in between: the endpoint is down, not the task hard


@dataclass(frozen=True)
class Job:
    """What a set of rollouts is for: the version under test, the tick and stage it is accounted under.

    Attributes:
        planned: number of rollouts of the whole set, of which these may be a part.
    """

    version: Version
    step: int
    stage: str
    samples: int
    planned: int


@dataclass(frozen=True)
class Outcome:
    """One rollout: a trajectory, or the error that prevented one. An error is not a score.

    Attributes:
        sample: which of the task's samples this is, from 0.
        passing: the error is of a kind that another try may not meet.
        pending: the answer is handed off to a person who has not given it.
    """

    task: Task
    trajectory: Trajectory | None = None
    error: str = ""
    sample: int = 0
    passing: bool = False
    pending: PendingAnswerError | None = None

    @property
    def key(self) -> tuple[str, int]:
        """Task id and sample."""
        return self.task.id, self.sample

    @property
    def teaches(self) -> bool:
        """Whether there is something to learn from it: the task could be asked, and was answered."""
        return self.trajectory is not None and not self.trajectory.score.unusable


class Rollouts:
    """Rolls out tasks of one benchmark on one target.

    Args:
        workspaces: of a target that is an agent, which then reads the skill from files and not in the prompt.
    """

    def __init__(
        self,
        benchmark: Benchmark,
        target: Caller,
        sink: Sink,
        *,
        workers: int,
        timeout: float,
        max_error_rate: float,
        workspaces: Workspaces | None = None,
    ) -> None:
        self.benchmark, self.target, self.workers, self._workspaces = benchmark, target, workers, workspaces
        self.sink, self._timeout, self._max_error_rate = sink, timeout, max_error_rate

    def run(
        self,
        version: Version,
        tasks: Sequence[Task],
        *,
        step: int,
        stage: str,
        samples: int = 1,
        before: Sequence[Outcome] = (),
        planned: int = 0,
    ) -> list[Outcome]:
        """Roll out every task `samples` times, in parallel; outcomes come in the order of `tasks`.

        Failed calls are tried once more after the others; what still fails is an error outcome.

        Args:
            before: outcomes of the part of a larger set that ran before this part.
            planned: tasks of that set, of which `max_error_rate` is a share; by default the number of `tasks`.

        Raises:
            ModelError: more than `max_error_rate` of the rollouts failed, or several in a row did.
            PendingAnswerError: answers of a person are missing; everything else was asked.
        """
        job = Job(version, step, stage, samples, (planned or len(tasks)) * samples)
        batch = _Batch(self, job, sum(not outcome.error for outcome in before))
        wanted = [(task, sample) for task in tasks for sample in range(samples)]
        outcomes = batch.run(wanted)
        answered(pending for task, sample in wanted if (pending := outcomes[task.id, sample].pending))
        if failed := [(task, sample) for task, sample in wanted if outcomes[task.id, sample].passing]:
            # By now the endpoint is known to answer; these few may all fail without it being down.
            outcomes |= batch.run(failed, give_up=False)
        self._check_errors([*before, *outcomes.values()], job.planned)
        return [outcomes[task.id, sample] for task, sample in wanted]

    def _check_errors(self, outcomes: Sequence[Outcome], planned: int) -> None:
        errors = [outcome for outcome in outcomes if outcome.error]
        # One task alone is never a sign: in a small batch it would be any share.
        lone = len(errors) == 1 and not errors[0].passing
        if len(errors) > self._max_error_rate * planned and not lone:
            last = errors[-1]
            again = "mend the endpoint, then run the same command again: finished calls are kept"
            tasks = f"look at task {last.task.id}, or raise evaluation.max_error_rate and run the same command again"
            raise ModelError(
                f"{len(errors)} of {planned} rollouts got no answer from the target, so nothing was scored",
                why=last.error,
                fix=again if last.passing else tasks,
            )

    def one(self, job: Job, task: Task, sample: int) -> Outcome:
        """Roll out one task within its deadline. Raises `ModelConfigError`, which no other task can avoid."""
        try:
            trajectory = self._roll(job, task, self._ask(job, task, sample))
        except PendingAnswerError as error:
            return Outcome(task, None, error.what, sample, pending=error)
        except ModelConfigError:
            raise
        except ModelError as error:
            why = f" ({error.why})" if error.why else ""
            return Outcome(task, None, f"{error.what}{why}", sample, isinstance(error, TransientModelError))
        return Outcome(task, trajectory, sample=sample)

    def _roll(self, job: Job, task: Task, ask: Ask) -> Trajectory:
        if self._workspaces and isinstance(self.benchmark, AgentBenchmark):
            return self.benchmark.work(task, ask)
        return self.benchmark.rollout(task, "" if self._workspaces else job.version.text, ask)

    def _workspace(self, version: Version, task: Task) -> Workspace | None:
        if self._workspaces is None:
            return None
        own = self.benchmark.attachments(task) if isinstance(self.benchmark, AgentBenchmark) else None
        return self._workspaces.of(version, task, own)

    def _ask(self, job: Job, task: Task, sample: int) -> Ask:
        deadline = time.monotonic() + self._timeout
        question = digest([task.id, task.content()])
        workspace = self._workspace(job.version, task)
        turn = 0

        def ask(request: Request) -> Reply:
            nonlocal turn
            turn += 1
            left = deadline - time.monotonic()
            if left <= 0:
                raise TransientModelError(f"task {task.id} took longer than {self._timeout:g} s")
            if job.samples > 1:
                # One sample keeps the backend's own seed; several need one each, or they may all be the same.
                request = replace(request, seed=sample)
            request = replace(request, workspace=workspace)
            scope = ("rollout", job.version.object, question, turn, sample)
            return self.target.call(
                request, scope=scope, step=job.step, stage=job.stage, skill=job.version.object, timeout=left
            )

        return ask


class _Batch:
    """One call of `Rollouts.run`: shares the progress count between first tries and retries."""

    def __init__(self, rollouts: Rollouts, job: Job, done: int) -> None:
        self._rollouts, self._job = rollouts, job
        self._done, self._failures_in_a_row = done, 0

    def run(self, wanted: Sequence[tuple[Task, int]], *, give_up: bool = True) -> dict[tuple[str, int], Outcome]:
        workers = min(self._rollouts.workers, len(wanted)) or 1
        pool = ThreadPoolExecutor(workers, "rollout")
        futures = (pool.submit(self._rollouts.one, self._job, task, sample) for task, sample in wanted)
        try:
            return self._collect(futures, 2 * workers, give_up=give_up)
        finally:
            # On an error or Ctrl-C the waiting ones never start; those in flight are paid for, so they finish and
            # are stored, within their deadline.
            pool.shutdown(wait=True, cancel_futures=True)

    def _collect(
        self, futures: Iterator[Future[Outcome]], ahead: int, *, give_up: bool
    ) -> dict[tuple[str, int], Outcome]:
        # No more than `ahead` are handed out unseen: an endpoint that is down is not asked for the whole set first.
        outcomes = {}
        waiting = set(islice(futures, ahead))
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                outcome = future.result()
                outcomes[outcome.key] = outcome
                self._note(outcome)
                if give_up:
                    self._check_row(outcome)
            waiting |= set(islice(futures, len(done)))
        return outcomes

    def _note(self, outcome: Outcome) -> None:
        if not outcome.error:
            self._done += 1
            self._rollouts.sink(Progress(self._job.stage, self._done, self._job.planned))

    def _check_row(self, outcome: Outcome) -> None:
        self._failures_in_a_row = self._failures_in_a_row + 1 if outcome.passing else 0
        if self._failures_in_a_row >= _GIVE_UP_AFTER:
            raise ModelError(
                f"{_GIVE_UP_AFTER} rollouts in a row got no answer from the target",
                why=outcome.error,
                fix="mend the endpoint, then run the same command again: finished calls are kept",
            )
