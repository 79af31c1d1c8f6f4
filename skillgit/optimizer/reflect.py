"""Reflect: analysts read minibatches of trajectories and propose patches."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

from skillgit.config.schema import Config
from skillgit.errors import ModelError
from skillgit.evals.rollouts import Outcome
from skillgit.models.base import Message
from skillgit.models.pending import answered, held
from skillgit.models.prompt import render, text
from skillgit.optimizer.advisor import Advisor
from skillgit.optimizer.modes import MODES, Mode
from skillgit.optimizer.patches import Patch, parse_patch
from skillgit.optimizer.trajectories import failed, format_cases, format_small_cases, minibatches


def reflect(
    advisor: Advisor,
    config: Config,
    skill: str,
    outcomes: Sequence[Outcome],
    *,
    context: str,
    budget: int | None,
    step: int,
) -> list[Patch]:
    """Patches from one step's trajectories, failures first, in an order that does not depend on timing.

    Args:
        skill: text of the current skill.
        context: the step buffer and the optimizer's own memory, as text.
        budget: most proposals one patch may hold: the scheduled edit budget of this step; `None` for no limit.

    Raises:
        ModelConfigError: the optimizer cannot be reached as configured.
    """
    mode = MODES[config.optimizer.skill_update_mode]
    scored = [outcome for outcome in outcomes if outcome.teaches]
    failures = _groups(config, [o for o in scored if failed(o)], step)
    small = config.optimizer.profile == "small"
    if small:
        # One rule per analyst: no more analysts than rules this step may add.
        failures = _one_of_each(failures)[:budget]
    groups = [("failure", group) for group in failures]
    if not config.gradient.failure_only and not small:
        groups += [("success", group) for group in _groups(config, [o for o in scored if not failed(o)], step + 1)]

    def analyse(numbered: tuple[int, tuple[str, list[Outcome]]]) -> Patch | None:
        index, (source, group) = numbered
        messages, schema = analyst_request(config, source, group, skill, context, budget)
        reply = advisor.ask(
            messages,
            schema,
            stage="analyst",
            step=step,
            index=index,
            accept=mode.accepted(),
            spare=True,
            document=not mode.budgeted,
        )
        if reply is None:
            return None
        patch = parse_patch(mode, reply, source, len(group), budget)
        notes = patch.notes if takes_notes(config, source) else ()
        return replace(patch, notes=notes, tasks=tuple(outcome.task.id for outcome in group))

    with ThreadPoolExecutor(config.gradient.analyst_workers, "analyst") as pool:
        patches = answered(pool.map(held(analyse), enumerate(groups)))
    return [patch for patch in patches if patch]


def stop_if_many_failed(failures: Sequence[str], calls: int, most: float) -> None:
    """Raise `ModelError` when more than the share `most` of the analysts' calls failed."""
    if len(failures) > most * calls:
        raise ModelError(
            f"{len(failures)} of {calls} analyst calls got no answer from the optimizer",
            why=failures[-1],
            fix="mend the endpoint, then run the same command again: finished calls are kept",
        )


def _groups(config: Config, outcomes: Sequence[Outcome], seed: int) -> list[list[Outcome]]:
    gradient = config.gradient
    return minibatches(outcomes, gradient.minibatch_size, config.train.seed + seed, group_by_tag=gradient.group_by_tag)


def _one_of_each(groups: Sequence[list[Outcome]]) -> list[list[Outcome]]:
    """Groups in the order to look at: of every first tag one before a second of any, the larger ones first."""
    seen: Counter[tuple[str, ...]] = Counter()
    ranked = []
    for group in groups:
        tag = group[0].task.tags[:1]
        ranked.append((seen[tag], -len(group), group))
        seen[tag] += 1
    return [group for *_, group in sorted(ranked, key=lambda entry: entry[:2])]


def analyst_request(
    config: Config, source: str, group: Sequence[Outcome], skill: str, context: str, budget: int | None
) -> tuple[tuple[Message, ...], dict[str, Any]]:
    """What an analyst is asked about one group of trajectories, and the schema of its answer."""
    limit = config.gradient.trajectory_chars
    if config.optimizer.profile == "small":
        cases = format_small_cases(group, limit)
        most = str(1 if budget is None else budget)
        return render("small_analyst_error", budget=most, trajectories=cases), _small()
    mode = MODES[config.optimizer.skill_update_mode]
    name = "analyst_error" if source == "failure" else "analyst_success"
    lapses = takes_notes(config, source)
    messages = render(
        name,
        form=f"{text('skill_aware')}\n\n{text(mode.form)}" if lapses else text(mode.form),
        skill=skill or "(empty)",
        context=context,
        budget=_budget(mode, budget),
        trajectories=format_cases(group, limit, reasoning=config.model.trace_to_optimizer),
    )
    return messages, mode.schema(notes=lapses)


def takes_notes(config: Config, source: str) -> bool:
    """Whether analysts of this side tell lapses from defects and may write reminders."""
    optimizer = config.optimizer
    if not optimizer.use_skill_aware_reflection or optimizer.skill_update_mode == "full_rewrite_minibatch":
        return False
    return source == "failure" or optimizer.skill_aware_appendix_source == "both"


def _budget(mode: Mode, budget: int | None) -> str:
    if not mode.budgeted:
        return "One candidate."
    what = "edits" if mode.name == "patch" else "suggestions"
    return f"As many {what} as are needed." if budget is None else f"At most {budget} {what}, the most useful first."


@cache
def _small() -> dict[str, Any]:
    text = files("skillgit").joinpath("prompts", "small_analyst_error.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema
