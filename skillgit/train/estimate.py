"""What a run will probably cost, before any model is called: calls and tokens per stage.

Prompts are rendered as the run would render them and counted at 4 characters per token. What cannot be known is
assumed, and the assumptions are part of the answer.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from skillgit.errors import ModelError
from skillgit.evals.gate import mean
from skillgit.evals.rollouts import Outcome
from skillgit.git.skillstore import Version
from skillgit.models.base import Reply, Request
from skillgit.optimizer.aggregate import merge_sizes
from skillgit.optimizer.modes import MODES
from skillgit.optimizer.reflect import analyst_request
from skillgit.skills.size import tokens
from skillgit.tasks.base import Benchmark, Foreseen, Score, Task, Trajectory
from skillgit.train.plan import Plan, Tick

_EDIT_TOKENS = 40  # of one proposed edit, with its JSON
_ADDED_TOKENS = 30  # that an accepted edit adds to the skill
_REPLY_TOKENS = 60  # of reasoning around proposals
_STEP_TOKENS = 25  # of an earlier step in the memory of an epoch, without its edits and patterns
_PATTERN_TOKENS = 15  # of one thing that an analyst saw go wrong
_SAMPLE = 50
_PROMPTS = 20  # that are made per split for the mean of their sizes: to make one may take reading files
_GUIDANCE_TOKENS = 100  # of the guidance block, and of the optimizer's own notes


@dataclass(frozen=True)
class Assumptions:
    """What the estimate takes for granted, for the whole run.

    Attributes:
        failing: share of tasks the skill fails, 0 to 1; from a record of the skill where there is one.
        accepted: share of candidates the gate accepts.
        edits: proposals per analyst call.
        merged: share of proposals that merging keeps.
    """

    failing: float = 0.5
    accepted: float = 0.5
    edits: float = 1.0
    merged: float = 1.0


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


def requests(benchmark: Benchmark) -> int:
    """The most requests that one rollout sends. How many it will send is not known, so an estimate takes them all."""
    return int(getattr(benchmark, "requests", 1))


@dataclass
class _Work:
    plan: Plan
    benchmark: Benchmark
    version: Version
    result: Estimate
    grown: float = 0.0  # tokens the skill has gained so far
    guided: bool = False  # the skill has its guidance block
    prompts: dict[str, tuple[float, float]] = field(default_factory=dict)  # of analysts, by source
    sizes: dict[str, float] = field(default_factory=dict)  # of first requests, by the task's digest

    def add(self, tick: Tick) -> None:
        if tick.kind == "baseline":
            self._rollouts("val", self.plan.splits.val, self._repeats)
        elif tick.kind == "step":
            self._step(tick)
        elif tick.kind == "compaction":
            self.result.add("optimizer", "compaction", 1, self._skill() + 250, _REPLY_TOKENS)
            self._gate()
        elif tick.kind == "boundary":
            self._boundary(tick)
        else:
            self._final(tick)

    def _step(self, tick: Tick) -> None:
        tasks = self.plan.tasks(tick)
        self._rollouts("rollout", tasks, 1, self.plan.splits.train)
        edits = sum(chance * self._learn(tasks, failing, chance, tick) for failing, chance in self._failing(len(tasks)))
        self.grown += self._accepted * edits * _ADDED_TOKENS

    def _failing(self, drawn: int) -> list[tuple[int, float]]:
        """How many of so many train tasks fail, and how likely that is: batches differ, and calls come in whole."""
        total = len(self.plan.splits.train)
        failing = round(self.result.assumptions.failing * total)
        ways = [(n, math.comb(failing, n) * math.comb(total - failing, drawn - n)) for n in range(drawn + 1)]
        return [(n, count / math.comb(total, drawn)) for n, count in ways if count]

    def _learn(self, tasks: Sequence[Task], failing: int, chance: float, tick: Tick) -> float:
        """A step when so many of its tasks failed, which has this chance; gives the number of edits it tries."""
        config = self.plan.config
        analysts = [self._analysts("failure", tasks, failing, chance, tick)]
        if not config.gradient.failure_only and config.optimizer.profile != "small":
            analysts.append(self._analysts("success", tasks, len(tasks) - failing, chance, tick))
        if not sum(analysts) * self.result.assumptions.edits:
            return 0.0
        self._gate(chance)
        return self._choose(analysts, chance, tick)

    def _boundary(self, tick: Tick) -> None:
        slow, meta = self.plan.boundary_work(tick)
        optimizer, changed = self.plan.config.optimizer, self._epoch_changes()
        if not changed or not (slow or meta):
            return
        train = self.plan.splits.train
        tasks = train if optimizer.longitudinal_pair_policy == "changed" else train[: optimizer.slow_update_samples]
        self._rollouts("slow_update_rollout", tasks, changed * (2 - self._known_share()))
        told = self.result.assumptions.failing * len(tasks[: optimizer.slow_update_samples])
        shown = told * (self._prompt(tasks) - self._skill() + 40)
        for stage, wanted in (("meta_skill", meta), ("slow_update", slow)):
            prompt = 2 * self._skill() + 260 + shown
            self.result.add("optimizer", stage, changed * wanted, prompt, _GUIDANCE_TOKENS + _REPLY_TOKENS / 2)
        if not slow:
            return
        if not self.guided:
            self.grown += changed * _GUIDANCE_TOKENS
            self.guided = True
        if self._forces_guidance:
            self._rollouts("val", self.plan.splits.val, changed * self._repeats)
        else:
            self._gate(changed)

    def _final(self, tick: Tick) -> None:
        evaluation, changed = self.plan.config.evaluation, self._epoch_changes()
        # Guidance that was forced last is seldom a new best, and without a gate the last version seldom is.
        forced = self._forces_guidance and self.plan.boundary_work(replace(tick, kind="boundary"))[0]
        later = changed * (forced or not evaluation.use_gate)
        versions = 1 + (self._accepted > 0) + later
        splits, last = self.plan.splits, self.grown
        for grown, times in ((0.0, 1.0), (last, versions - 1)):
            self.grown = grown
            self._rollouts("test", splits.test if evaluation.eval_test else (), times)
            self._rollouts("confirm", splits.confirm, times * self._repeats)

    @property
    def _repeats(self) -> int:
        return self.plan.config.evaluation.repeats

    @property
    def _accepted(self) -> float:
        return self.result.assumptions.accepted if self.plan.config.evaluation.use_gate else 1.0

    @property
    def _forces_guidance(self) -> bool:
        gated = self.plan.config.optimizer.slow_update_gate_with_selection
        return not (gated and self.plan.config.evaluation.use_gate)

    def _epoch_changes(self) -> float:
        """How likely an epoch's steps change the skill."""
        return 1 - (1 - self._accepted) ** self.plan.steps_per_epoch

    def _known_share(self) -> float:
        """Share of an epoch's train tasks that its steps already rolled out under its first or its last skill."""
        steps = self.plan.steps_per_epoch
        # Up to and with the first accepted step, and after the last one.
        before = self._epoch_changes() / self._accepted
        return min(1.0, (2 * before - 1) / steps)

    def _rollouts(self, stage: str, tasks: Sequence[Task], times: float, drawn_from: Sequence[Task] = ()) -> None:
        if tasks and times:
            calls = times * len(tasks) * requests(self.benchmark)
            self.result.add("target", stage, calls, self._prompt(drawn_from or tasks), self._completion(tasks))

    def _gate(self, times: float = 1.0) -> None:
        config, assume, val = self.plan.config, self.result.assumptions, self.plan.splits.val
        calls = float(len(val))
        if config.evaluation.use_gate and config.evaluation.fail_first:
            # A rejected candidate is ruled out after the failing tasks and about half a wave more.
            ruled_out = min(len(val), assume.failing * len(val) + config.env.workers / 2)
            calls = assume.accepted * len(val) + (1 - assume.accepted) * ruled_out
        calls *= times * self._repeats * requests(self.benchmark)
        self.result.add("target", "val", calls, self._prompt(val), self._completion(val))

    def _analysts(self, source: str, tasks: Sequence[Task], count: int, chance: float, tick: Tick) -> int:
        """Analysts that read `count` of the tasks."""
        gradient, budget = self.plan.config.gradient, self.plan.budget(tick.step)
        tags = Counter(task.tags[:1] for task in tasks) if gradient.group_by_tag else {(): len(tasks)}
        calls = sum(math.ceil(round(count * n / len(tasks)) / gradient.minibatch_size) for n in tags.values())
        if self.plan.config.optimizer.profile == "small":
            calls = min(calls, budget or calls)
        if calls:
            frame, case = self._analyst_prompt(source, budget)
            shown = min(count, calls * gradient.minibatch_size)
            small = self.plan.config.optimizer.profile == "small"  # whose prompt holds neither skill nor memory
            seen = 0.0 if small else self.grown + self._memory(tick)
            prompt = frame + seen + shown / calls * case
            self.result.add("optimizer", "analyst", chance * calls, prompt, self._patch_tokens(1))
        return calls

    def _analyst_prompt(self, source: str, budget: int | None) -> tuple[float, float]:
        """Tokens of an analyst's prompt without any case, and of one case."""
        if source not in self.prompts:
            made_up = [_made_up(task, source) for task in self.plan.splits.train]
            # Cases of a large train set differ little; a few are enough for their mean.
            some = made_up[:: math.ceil(len(made_up) / _SAMPLE)]
            frame, full = (self._request_tokens(source, group, budget) for group in ([], some))
            self.prompts[source] = frame, (full - frame) / len(some)
        return self.prompts[source]

    def _request_tokens(self, source: str, group: Sequence[Outcome], budget: int | None) -> int:
        messages, _ = analyst_request(self.plan.config, source, group, self.version.text, "", budget)
        return sum(tokens(message.content) for message in messages)

    def _memory(self, tick: Tick) -> float:
        """Tokens of what analysts are told of the epoch's earlier steps, and of the optimizer's own notes."""
        assume = self.result.assumptions
        earlier = (tick.step - 1) % self.plan.steps_per_epoch
        each = _STEP_TOKENS + _PATTERN_TOKENS + (1 - self._accepted) * assume.edits * _EDIT_TOKENS
        return earlier * each + self._notes(tick)

    def _notes(self, tick: Tick) -> float:
        has_notes = self.plan.config.optimizer.use_meta_skill and tick.epoch > 2
        return self._epoch_changes() * (_GUIDANCE_TOKENS + _STEP_TOKENS) if has_notes else 0.0

    def _choose(self, analysts: Sequence[int], chance: float, tick: Tick) -> float:
        """Merging and selecting; gives the number of proposals that are carried out."""
        config, assume = self.plan.config, self.result.assumptions
        proposed, budget = sum(analysts) * assume.edits, self.plan.budget(tick.step)
        small = config.optimizer.profile == "small"
        for patches in () if small else merge_sizes(analysts, config.gradient.merge_batch_size):
            listing = patches * assume.edits * (_EDIT_TOKENS + 20) + self._skill() + 350 + self._notes(tick)
            self.result.add("optimizer", "merge", chance, listing, self._patch_tokens(patches * assume.merged))
        if not small and sum(analysts) > 1:
            proposed *= assume.merged
        listing = self._skill() + 150 + proposed * _EDIT_TOKENS + self._notes(tick)
        if not MODES[config.optimizer.skill_update_mode].budgeted:
            return proposed
        if config.optimizer.lr_control_mode == "autonomous":
            self.result.add("optimizer", "lr_autonomous", chance, listing + self._memory(tick), _REPLY_TOKENS)
        if budget is not None and proposed > budget:
            if not small:
                self.result.add("optimizer", "ranking", chance, listing, _REPLY_TOKENS)
            proposed = budget
        if config.optimizer.skill_update_mode == "rewrite_from_suggestions":
            self.result.add("optimizer", "rewrite", chance, listing + self._memory(tick), self._skill() + _REPLY_TOKENS)
        return proposed

    def _patch_tokens(self, analysts: float) -> float:
        """Tokens of a reply with the proposals of so many analysts."""
        if not MODES[self.plan.config.optimizer.skill_update_mode].budgeted:
            return self._skill() + _REPLY_TOKENS
        return analysts * self.result.assumptions.edits * _EDIT_TOKENS + _REPLY_TOKENS / 2

    def _skill(self) -> float:
        return tokens(self.version.text) + self.grown

    def _prompt(self, tasks: Sequence[Task]) -> float:
        some = tasks[:: math.ceil(len(tasks) / _PROMPTS) or 1]
        return (mean([self._size(task) for task in some]) or 0.0) + self.grown

    def _size(self, task: Task) -> float:
        key = task.digest()
        if key not in self.sizes:
            self.sizes[key] = float(_request_tokens(self.benchmark, task, self.version.text))
        return self.sizes[key]

    def _completion(self, tasks: Sequence[Task]) -> float:
        return mean([float(tokens(task.answers[0])) if task.answers else float(_REPLY_TOKENS) for task in tasks]) or 0.0


class _EnoughError(ModelError):
    """Ends a rollout that was begun to see its first request."""


def _request_tokens(benchmark: Benchmark, task: Task, skill: str) -> int:
    """Tokens of the first request of a rollout; 0 for a task that is refused for its own fault, and asks nothing."""
    seen: list[Request] = []

    def ask(request: Request) -> Reply:
        seen.append(request)
        raise _EnoughError("no model is asked for an estimate")

    if isinstance(benchmark, Foreseen):
        seen.append(benchmark.first(task, skill))
    else:
        with suppress(_EnoughError):
            benchmark.rollout(task, skill, ask)
    return sum(tokens(message.content) for request in seen[:1] for message in request.messages)


def _made_up(task: Task, source: str) -> Outcome:
    answer = task.answers[0] if task.answers else "-"
    hard = 0.0 if source == "failure" else 1.0
    score = Score(hard, hard, answer, f'exact: wrote "{answer}", expected "{answer}"' if not hard else "")
    return Outcome(task, Trajectory((), answer, score))


def assume(failing: float | None) -> Assumptions:
    """The assumptions, with the share of failing tasks where a record tells it."""
    return Assumptions() if failing is None else replace(Assumptions(), failing=failing)
