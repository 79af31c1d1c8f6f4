"""What a run will probably cost, before any model is called: calls and tokens per stage.

Prompts are rendered as the run would render them and counted at 4 characters per token. What cannot be known is
assumed, and the assumptions are part of the answer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from skillgit.evals.gate import mean
from skillgit.evals.rollouts import Outcome
from skillgit.evals.rule import tokens
from skillgit.git.skillstore import Version
from skillgit.models.base import Reply, Request
from skillgit.optimizer.modes import MODES
from skillgit.optimizer.reflect import analyst_request
from skillgit.tasks.base import Benchmark, Score, Task, Trajectory
from skillgit.train.plan import Plan, Tick

_EDIT_TOKENS = 40  # of one proposed edit, with its JSON
_REPLY_TOKENS = 60  # of reasoning around proposals


@dataclass(frozen=True)
class Assumptions:
    """What the estimate takes for granted.

    Attributes:
        failing: share of tasks the skill fails, 0 to 1; from a record of the skill where there is one.
        accepted: share of candidates the gate accepts.
        edits: proposals per analyst call.
    """

    failing: float = 0.5
    accepted: float = 0.5
    edits: float = 1.0


@dataclass
class Stage:
    """Calls and tokens of one stage; sums of expectations, so they need not be whole."""

    role: str
    calls: float = 0.0
    prompt_tokens: float = 0.0
    completion_tokens: float = 0.0

    def add(self, calls: float, prompt: float, completion: float) -> None:
        """Add `calls` calls of `prompt` and `completion` tokens each."""
        self.calls += calls
        self.prompt_tokens += calls * prompt
        self.completion_tokens += calls * completion


@dataclass
class Estimate:
    """Expected calls and tokens by stage, in the order stages first occur."""

    assumptions: Assumptions
    stages: dict[str, Stage] = field(default_factory=dict)

    def add(self, role: str, stage: str, calls: float, prompt: float, completion: float) -> None:
        """Add calls to a stage."""
        if calls:
            self.stages.setdefault(stage, Stage(role)).add(calls, prompt, completion)

    def rounded(self) -> dict[str, dict[str, int | str]]:
        """Stage to whole numbers."""
        return {
            name: {
                "role": stage.role,
                "calls": round(stage.calls),
                "prompt_tokens": round(stage.prompt_tokens),
                "completion_tokens": round(stage.completion_tokens),
            }
            for name, stage in self.stages.items()
        }


def estimate(plan: Plan, benchmark: Benchmark, version: Version, assumptions: Assumptions) -> Estimate:
    """The expected cost of a whole new run that starts from `version`."""
    work = _Work(plan, benchmark, version, Estimate(assumptions))
    for tick in plan.ticks:
        work.add(tick)
    return work.result


@dataclass
class _Work:
    plan: Plan
    benchmark: Benchmark
    version: Version
    result: Estimate
    grown: float = 0.0  # tokens the skill has gained so far

    def add(self, tick: Tick) -> None:
        if tick.kind == "baseline":
            self._rollouts("val", self.plan.splits.val, self.plan.config.evaluation.repeats)
        elif tick.kind == "step":
            self._step(tick)
        elif tick.kind == "compaction":
            self.result.add("optimizer", "compaction", 1, self._skill() + 250, _REPLY_TOKENS)
            self._gate()
        elif tick.kind == "boundary":
            self._boundary(tick)
        else:
            self._final()

    def _step(self, tick: Tick) -> None:
        config, assume = self.plan.config, self.result.assumptions
        tasks = self.plan.tasks(tick)
        self._rollouts("rollout", tasks, 1)
        failing = round(assume.failing * len(tasks))
        analysts = self._analysts("failure", tasks, failing, tick)
        if not config.gradient.failure_only and config.optimizer.profile != "small":
            analysts += self._analysts("success", tasks, len(tasks) - failing, tick)
        self._choose(analysts)
        self._gate()

    def _boundary(self, tick: Tick) -> None:
        slow, meta = self.plan.boundary_work(tick)
        if not (slow or meta) or self.result.assumptions.accepted == 0:
            return
        optimizer = self.plan.config.optimizer
        tasks = self.plan.splits.train[: optimizer.slow_update_samples]
        self._rollouts("slow_update_rollout", tasks, 2)
        shown = self.result.assumptions.failing * len(tasks) * (self._prompt(tasks) - self._skill() + 40)
        for stage, wanted in (("meta_skill", meta), ("slow_update", slow)):
            self.result.add("optimizer", stage, int(wanted), 2 * self._skill() + 260 + shown, 2 * _REPLY_TOKENS)
        if slow:
            val = self.plan.splits.val
            self._rollouts("val", val, self.plan.config.evaluation.repeats)

    def _final(self) -> None:
        evaluation = self.plan.config.evaluation
        versions = 1 + (self.result.assumptions.accepted > 0)
        if evaluation.eval_test:
            self._rollouts("test", self.plan.splits.test, versions)
        self._rollouts("confirm", self.plan.splits.confirm, versions * evaluation.repeats)

    def _rollouts(self, stage: str, tasks: Sequence[Task], times: float) -> None:
        if tasks:
            self.result.add("target", stage, times * len(tasks), self._prompt(tasks), self._completion(tasks))

    def _gate(self) -> None:
        config, assume, val = self.plan.config, self.result.assumptions, self.plan.splits.val
        calls = float(len(val))
        if config.evaluation.use_gate and config.evaluation.fail_first:
            # A rejected candidate is ruled out after the failing tasks and about one more wave.
            ruled_out = min(len(val), assume.failing * len(val) + config.env.workers / 2)
            calls = assume.accepted * len(val) + (1 - assume.accepted) * ruled_out
        repeats = config.evaluation.repeats
        self.result.add("target", "val", repeats * calls, self._prompt(val), self._completion(val))
        budget = self.plan.budget(1) or 4
        self.grown += assume.accepted * min(budget, assume.edits) * _EDIT_TOKENS / 2

    def _analysts(self, source: str, tasks: Sequence[Task], count: int, tick: Tick) -> int:
        config = self.plan.config
        size = config.gradient.minibatch_size
        calls = math.ceil(count / size)
        if config.optimizer.profile == "small":
            calls = min(count, self.plan.budget(tick.step) or count)
        if not calls:
            return 0
        group = [_made_up(task, source) for task in tasks[: min(size, math.ceil(count / calls))]]
        messages, _ = analyst_request(config, source, group, self.version.text, "", self.plan.budget(tick.step))
        prompt = sum(tokens(message.content) for message in messages) + self.grown
        self.result.add("optimizer", "analyst", calls, prompt, self._patch_tokens())
        return calls

    def _choose(self, analysts: int) -> None:
        config = self.plan.config
        proposed = analysts * self.result.assumptions.edits
        listing = self._skill() + 150 + proposed * _EDIT_TOKENS
        if config.optimizer.profile != "small":
            merges, level = 0, analysts
            while level > 1:
                level = math.ceil(level / config.gradient.merge_batch_size)
                merges += level
            self.result.add("optimizer", "merge", merges, listing + 250, self._patch_tokens())
        if config.optimizer.lr_control_mode == "autonomous":
            self.result.add("optimizer", "lr_autonomous", 1, listing, _REPLY_TOKENS)
        if config.optimizer.skill_update_mode == "rewrite_from_suggestions":
            self.result.add("optimizer", "rewrite", 1, listing, self._skill() + _REPLY_TOKENS)

    def _patch_tokens(self) -> float:
        whole = not MODES[self.plan.config.optimizer.skill_update_mode].budgeted
        return (
            self._skill() + _REPLY_TOKENS if whole else self.result.assumptions.edits * _EDIT_TOKENS + _REPLY_TOKENS / 2
        )

    def _skill(self) -> float:
        return tokens(self.version.text) + self.grown

    def _prompt(self, tasks: Sequence[Task]) -> float:
        sizes = [_request_tokens(self.benchmark, task, self.version.text) for task in tasks]
        return (mean([float(size) for size in sizes]) or 0.0) + self.grown

    def _completion(self, tasks: Sequence[Task]) -> float:
        return mean([float(tokens(task.answers[0])) if task.answers else float(_REPLY_TOKENS) for task in tasks]) or 0.0


def _request_tokens(benchmark: Benchmark, task: Task, skill: str) -> int:
    """Tokens of the first request of a rollout."""
    seen: list[Request] = []

    def ask(request: Request) -> Reply:
        seen.append(request)
        return Reply(task.answers[0] if task.answers else "-")

    benchmark.rollout(task, skill, ask)
    return sum(tokens(message.content) for message in seen[0].messages)


def _made_up(task: Task, source: str) -> Outcome:
    answer = task.answers[0] if task.answers else "-"
    hard = 0.0 if source == "failure" else 1.0
    score = Score(hard, hard, answer, f'exact: wrote "{answer}", expected "{answer}"' if not hard else "")
    return Outcome(task, Trajectory((), answer, score))


def assume(failing: float | None) -> Assumptions:
    """The assumptions, with the share of failing tasks where a record tells it."""
    return Assumptions() if failing is None else replace(Assumptions(), failing=failing)
