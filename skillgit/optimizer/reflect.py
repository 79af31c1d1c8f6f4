"""Reflect: analysts read minibatches of trajectories and propose patches."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.resources import files
from typing import Any

from skillgit.config.schema import Config
from skillgit.errors import ModelError
from skillgit.evals.rollouts import Outcome
from skillgit.models.base import Message
from skillgit.models.prompt import render
from skillgit.optimizer.advisor import Advisor
from skillgit.optimizer.patches import PATCH_ACCEPTED, PATCH_SCHEMA, Patch, parse_patch
from skillgit.optimizer.trajectories import failed, format_cases, format_small_cases, minibatches


def reflect(
    advisor: Advisor, config: Config, skill: str, outcomes: Sequence[Outcome], *, context: str, budget: int, step: int
) -> list[Patch]:
    """Patches from one step's trajectories, failures first, in an order that does not depend on timing.

    Args:
        skill: text of the current skill.
        context: the step buffer and the optimizer's own memory, as text.
        budget: most edits one patch may hold: the scheduled edit budget of this step.

    Raises:
        ModelError: no analyst got any answer.
    """
    scored = [outcome for outcome in outcomes if outcome.trajectory]
    groups = [("failure", group) for group in _groups(config, [o for o in scored if failed(o)], step)]
    if not config.gradient.failure_only and config.optimizer.profile != "small":
        groups += [("success", group) for group in _groups(config, [o for o in scored if not failed(o)], step + 1)]

    def analyse(numbered: tuple[int, tuple[str, list[Outcome]]]) -> Patch | None:
        index, (source, group) = numbered
        messages, schema = _request(config, source, group, skill, context, budget)
        reply = advisor.ask(messages, schema, stage="analyst", step=step, index=index, accept=PATCH_ACCEPTED)
        return parse_patch(reply, source, len(group), budget) if reply else None

    with ThreadPoolExecutor(config.gradient.analyst_workers, "analyst") as pool:
        patches = list(pool.map(analyse, enumerate(groups)))
    return [patch for patch in patches if patch]


def stop_if_all_failed(stage: str, failures: Sequence[str], calls: int) -> None:
    """Raise `ModelError` when every one of a stage's calls failed: the optimizer is out of reach."""
    if calls and len(failures) == calls:
        raise ModelError(
            f"the optimizer answered none of {calls} {stage} calls",
            why=failures[-1],
            fix="mend the endpoint, then run the same command again: finished calls are kept",
        )


def _groups(config: Config, outcomes: Sequence[Outcome], seed: int) -> list[list[Outcome]]:
    gradient = config.gradient
    return minibatches(outcomes, gradient.minibatch_size, config.train.seed + seed, group_by_tag=gradient.group_by_tag)


def _request(
    config: Config, source: str, group: Sequence[Outcome], skill: str, context: str, budget: int
) -> tuple[tuple[Message, ...], dict[str, Any]]:
    limit = config.gradient.trajectory_chars
    if config.optimizer.profile == "small":
        cases = format_small_cases(group, limit)
        return render(
            "small_analyst_error", skill=skill, context=context, budget=str(budget), trajectories=cases
        ), _small()
    name = "analyst_error" if source == "failure" else "analyst_success"
    cases = format_cases(group, limit)
    messages = render(name, skill=skill or "(empty)", context=context, budget=str(budget), trajectories=cases)
    return messages, dict(PATCH_SCHEMA)


@cache
def _small() -> dict[str, Any]:
    text = files("skillgit").joinpath("prompts", "small_analyst_error.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema
