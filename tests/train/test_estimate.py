"""What a run is said to cost before it is paid, and what it then costs.

The estimate is a sum of expectations under assumptions that it prints. The scripted runs below are made so that they
hold, as far as a run with whole numbers can:

- `failing`: a record says that the skill fails 30 % of val; train and test fail as often. An accepted rule mends one
  val task of eighty, so the share in val falls to 22 % at the end.
- `accepted`: every second step proposes a rule that mends a val task, the others only lines that do nothing. These are
  ruled out after the failing tasks; the estimate grants half a wave more, since harm may take longer.
- `edits`: every analyst proposes one edit; `merged`: a merge keeps all of them.
- lengths: an edit has about 40 tokens with its JSON, other replies about 60, guidance and notes about 100. Tokens are
  counted at 4 characters each, here and there.

What a real model does need not fit; then the estimate is off by as much as the assumptions are.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from skillgit.models.base import Request
from skillgit.optimizer.aggregate import merge_sizes
from tests.conftest import SKILL, git
from tests.train.lab import By, Done, Lab, append, words

TASKS = 40
PADDING = "Read the whole question, look at its last word, and write the answer in the form that the house wants."


def rows(split: str, count: int = TASKS) -> list[dict[str, Any]]:
    return [
        {"id": f"{split}{n}", "input": f"{PADDING} K{n} {split}", "answers": [f"k-{n} {split} {PADDING[:60]}"]}
        for n in range(count)
    ]


ROWS = {"train": rows("train"), "val": rows("val", 2 * TASKS), "test": rows("test")}


FAILING = [n for n in range(2 * TASKS) if n % 10 in (1, 4, 7)]
REASON = "The cases differ in form alone, so what is general and short comes first, and what was seen once comes last. "


def target(request: Request) -> str:
    """70 % of the tasks go right; of the others those of val do once their rule stands in the skill."""
    asked = request.messages[-1].content.removeprefix(PADDING).split()
    number = int(asked[0][1:])
    mended = asked[1] == "val" and f"- R{number}: " in request.messages[0].content
    right = number not in FAILING or mended
    return f"k-{number} {asked[1]} {PADDING[:60]}" if right else f"wrong {number} {PADDING[:60]}"


class Half:
    """Proposals of which every second step's second one helps."""

    def __init__(self) -> None:
        self.steps: dict[int, int] = {}

    def __call__(self, request: Request) -> dict[str, Any]:
        step, place = divmod(request.seed or 0, 10_000)
        number = self.steps.setdefault(step, len(self.steps))
        helps = number % 2 == 0 and place // 10 == 4  # the seed of the run is 42: this is its first call
        name = f"R{FAILING[number // 2]}" if helps else f"Note {number}.{place}"
        text = (
            f"- {name}: answer tasks of this kind as the house wants it, with a small letter and a dash in front, and"
        )
        text += " add nothing."
        pattern = [{"failure_type": "form", "description": "the form was missed in a few of the cases"}]
        return append(text, reasoning=REASON[:60], failure_summary=pattern)


def merged(request: Request) -> dict[str, Any]:
    """All proposals of all patches."""
    listed = words(request).split("## Proposed patches")[1]
    return append(*re.findall(r'"content": "(.*?)"', listed), reasoning=REASON[:90])


def optimizer() -> By:
    return By(
        analyst=Half(),
        merge=merged,
        ranking={"reasoning": REASON * 2, "selected_indices": [0, 1, 2, 3]},
        slow_update=lambda request: {"reasoning": "kept", "slow_update_content": f"{request.seed} {PADDING * 4}"},
        meta_skill={"reasoning": "kept", "meta_skill_content": PADDING * 4},
        compaction={"reasoning": REASON * 2, "edits": []},
        lr_autonomous={"learning_rate": 4, "reasoning": REASON * 2},
    )


SIZES = (
    "train.num_epochs=3",
    "train.batch_size=10",
    "gradient.minibatch_size=2",
    "evaluation.eval_test=true",
    "env.workers=4",
)
EVERYTHING = ("gradient.failure_only=false", "optimizer.use_slow_update=true", "optimizer.use_meta_skill=true")
RUNS = [
    (),
    EVERYTHING,
    (*EVERYTHING, "evaluation.repeats=2", "optimizer.slow_update_gate_with_selection=true"),
    (*EVERYTHING, "optimizer.lr_control_mode=autonomous", "optimizer.use_compaction=true", "train.accumulation=2"),
    (*EVERYTHING, "evaluation.use_gate=false"),
    ("evaluation.fail_first=false", "env.workers=2", "evaluation.eval_test=false"),
]


def by_role(stages: dict[str, dict[str, Any]]) -> dict[str, tuple[int, ...]]:
    """Calls, prompt and completion tokens of each role."""
    names = ("calls", "prompt_tokens", "completion_tokens")
    out = {}
    for role in ("target", "optimizer"):
        numbers = [tuple(stage[name] for name in names) for stage in stages.values() if stage["role"] == role]
        out[role] = tuple(map(sum, zip(*numbers, strict=True)))
    return out


def spent(done: Done) -> dict[str, dict[str, Any]]:
    """What the run paid, by stage."""
    usage = done.finished.usage
    return {name: {**numbers, "role": role} for role, stages in usage.items() for name, numbers in stages.items()}


@pytest.mark.parametrize("settings", RUNS, ids=range(len(RUNS)))
def test_the_estimate_is_within_a_fifth_of_what_is_spent_where_its_assumptions_hold(
    lab: Lab, skillgit: Any, settings: tuple[str, ...]
) -> None:
    folder = lab.repo(rows=ROWS, skill=SKILL + PADDING * 3 + "\n")
    with lab.models([], By(), target):
        # Another model's record: its calls are not those of the run.
        code, _, err = skillgit(folder, "eval", "greeter", "--set", "model.backend=scripted")
        assert code == 0, err
    done = lab.train(optimizer(), *SIZES, *settings, folder=folder, target=target)
    assert done.planned.assumed == {"failing": pytest.approx(0.3), "accepted": 0.5, "edits": 1.0, "merged": 1.0}
    expected, paid = by_role(dict(done.planned.expected)), by_role(spent(done))
    for role, numbers in paid.items():
        for guess, real in zip(expected[role], numbers, strict=True):
            assert abs(guess - real) <= 0.2 * real, (role, expected[role], numbers)
    for role, most in done.planned.calls.items():
        assert paid[role][0] <= most
    assert set(spent(done)) <= set(done.planned.expected)


def test_a_dry_run_needs_no_model_and_prints_calls_and_tokens_per_stage(lab: Lab, skillgit: Any) -> None:
    folder = lab.repo()
    refs = git(folder, "for-each-ref")
    code, out, err = skillgit(folder, "-v", "train", "greeter", "--dry-run")
    assert code == 0, err
    assert "target     none configured yet" in out
    wrong = ("--set", "model.target=t", "--set", "model.target_backend=nonsense")
    _, told, _ = skillgit(folder, "train", "greeter", "--dry-run", *wrong)
    assert "target     t cannot be used: unknown backend 'nonsense'" in told
    stages = {line.split()[0]: line.split()[1:] for line in out.splitlines() if " calls " in line and "tokens" in line}
    assert {"val", "rollout", "analyst", "slow_update", "meta_skill", "test"} <= set(stages)
    assert "assumed: failing 0.5, accepted 0.5" in out
    code, out, _ = skillgit(folder, "train", "greeter", "--dry-run", "--json")
    (event,) = [json.loads(line) for line in out.splitlines()]
    assert event["expected"]["val"]["calls"] > 6
    assert all(stage["prompt_tokens"] > 0 for stage in event["expected"].values())
    assert git(folder, "for-each-ref") == refs, "nothing was written"


@pytest.mark.parametrize(
    ("sides", "size", "behind"),
    [
        ((0, 0), 8, []),
        ((1, 0), 8, []),
        ((1, 1), 8, [2]),
        ((3, 2), 8, [3, 2, 5]),
        ((5, 0), 2, [2, 2, 4, 5]),
        ((4, 1), 2, [2, 2, 4, 5]),
        ((9, 0), 8, [8, 9]),
    ],
)
def test_merge_calls_are_counted_as_they_will_be_made(sides: tuple[int, int], size: int, behind: list[int]) -> None:
    assert merge_sizes(sides, size) == behind


@pytest.mark.parametrize("failing", [0, 3, 8])
@pytest.mark.parametrize("size", [1, 3, 8])
def test_no_run_makes_more_calls_than_the_most_it_names(lab: Lab, failing: int, size: int) -> None:
    def answers(request: Request) -> str:
        user = request.messages[-1].content
        wrong = "val" in user or int(user.removeprefix(user[0]).removeprefix("train")) < failing
        return "dunno" if wrong else f"{user[0].lower()}-{user[1:]}"

    busy = By(
        analyst=lambda request: append(
            *[f"- line {request.seed} {n}" for n in range(4)], appendix_notes=[f"n{request.seed}", "m"]
        ),
        merge=lambda request: append(*[f"- merged {request.seed} {n}" for n in range(4)]),
        ranking={"reasoning": "r", "selected_indices": [0]},
        lr_autonomous={"learning_rate": 1},
        appendix_consolidate={"appendix_notes": ["one"]},
    )
    settings = (
        f"gradient.minibatch_size={size}",
        "gradient.failure_only=false",
        "gradient.group_by_tag=true",
        "gradient.merge_batch_size=2",
        "optimizer.lr_control_mode=autonomous",
        "optimizer.use_skill_aware_reflection=true",
        "optimizer.skill_aware_consolidate_threshold=1",
    )
    done = lab.train(busy, *settings, target=answers)
    counts = done.counts
    assert counts["target"] <= done.planned.calls["target"]
    assert sum(counts.values()) - counts["target"] <= done.planned.calls["optimizer"]
