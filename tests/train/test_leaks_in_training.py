"""What must not reach the skill, and what the optimizer must not be shown."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.train.lab import RULE, By, Done, Lab, append, words

PATTERN = r"total of [0-9]+ euros due"
CODE = "order_total_v2"
ANSWER = "the silver fox of Kamchatka"
SPAN = "whenever the moon is full the keeper lights three lamps by the pier"


def _row(split: str, number: int, **more: Any) -> dict[str, Any]:
    kind = "AB"[number % 2]
    name = f"{split}{number}"
    return {"id": name, "input": f"{kind}{name}", "answers": [f"{kind.lower()}-{name}"], **more}


ROWS = {
    "train": [
        *[_row("train", n) for n in range(4)],
        _row("train", 4, judge={"type": "checks", "checks": [{"op": "contains", "arg": CODE}, {"op": "no_refusal"}]}),
        _row("train", 5, judge={"type": "regex", "pattern": PATTERN}),
    ],
    "val": [
        *[_row("val", n) for n in range(4)],
        {"id": "v-ref", "input": "Aval ref", "answers": [ANSWER]},
        {"id": "v-span", "input": f"Bval {SPAN}", "answers": ["b-x"]},
        _row("val", 6, judge={"type": "checks", "checks": [{"op": "regex", "arg": r"invoice [A-Z]{3}-\d{4} settled"}]}),
    ],
    "test": [{"id": "t-ref", "input": "Atest ref", "answers": ["a copper kettle from Samarkand"]}],
}


def train(lab: Lab, *texts: str, settings: tuple[str, ...] = ()) -> Done:
    return lab.train(By(analyst=append(*texts)), *settings, folder=lab.repo(rows=ROWS))


LEAKS = [
    ("grader", f"- Say {CODE}.", "it repeats text that a grader looks for"),
    ("grader", f"- Match `{PATTERN}`.", "it repeats text that a grader looks for"),
    ("span", f"- Remember: {SPAN}.", "it copies 8 words or more from a task"),
    ("reference", f"- Answer with {ANSWER}.", "it gives away an answer of a task"),
    ("reference", "- Think of a copper kettle from Samarkand.", "it gives away an answer of a task"),
]


@pytest.mark.parametrize(("switch", "text", "reason"), LEAKS)
def test_an_edit_that_leaks_is_refused_with_the_reason_and_only_its_own_switch_lets_it_pass(
    lab: Lab, switch: str, text: str, reason: str
) -> None:
    guarded = train(lab, text, RULE["A"])
    leak, good = guarded.records()[0]["edits"]
    assert leak["outcome"] == "leak"
    assert leak["reason"].startswith(reason)
    assert good["outcome"] == "applied"
    assert text not in guarded.text()
    assert guarded.verdicts == ["accept_new_best"]

    others = tuple(f"leaks.{name}=false" for name in ("grader", "span", "reference") if name != switch)
    assert train(lab, text, RULE["A"], settings=others).records()[0]["edits"][0]["outcome"] == "leak"
    open_ = train(lab, text, RULE["A"], settings=(f"leaks.{switch}=false",))
    assert open_.records()[0]["edits"][0]["outcome"] == "applied"
    assert text in open_.text()


def test_a_step_that_only_leaks_leaves_the_skill_as_it_was(lab: Lab) -> None:
    done = train(lab, LEAKS[0][1])
    assert done.verdicts == ["no_op"]
    assert len(done.trees()) == 1
    assert done.ends()[0].applied == 0


def test_an_answer_of_the_confirmation_tasks_is_guarded_too(lab: Lab) -> None:
    rows = {
        "val": [
            {"id": f"v{n}", "input": f"Aval{n}", "answers": [f"the silver fox number {n} of Omsk"]} for n in range(6)
        ]
    }
    texts = [f"- Say the silver fox number {n} of Omsk." for n in range(6)]
    settings = ("evaluation.confirm_ratio=0.5", "optimizer.lr_control_mode=none")
    done = lab.train(By(analyst=append(*texts)), *settings, folder=lab.repo(rows=rows))
    assert [edit["outcome"] for edit in done.records()[0]["edits"]] == ["leak"] * 6


def test_an_expected_answer_of_a_train_task_is_the_learning_signal(lab: Lab) -> None:
    rows = {"train": [{"id": "t", "input": "Atrain", "answers": ["a lantern carved from oak"]}]}
    text = "- Answer: a lantern carved from oak"
    done = lab.train(By(analyst=append(text)), folder=lab.repo(rows=rows))
    assert "a lantern carved from oak" in words(done.requests("analyst")[0])
    assert done.records()[0]["edits"][0]["outcome"] == "applied"


def test_no_optimizer_request_holds_check_patterns_or_anything_of_val_and_test(lab: Lab) -> None:
    """A whole run with every stage that writes to the optimizer."""
    steps = iter(range(99))

    def analyst(request: Any) -> dict[str, Any]:
        number = next(steps)
        texts = [RULE["A"], RULE["B"], f"- idle {number}"] if number == 0 else [f"- idle {number}", f"- more {number}"]
        return append(*texts, appendix_notes=[f"Note {number}."], failure_summary=[{"description": "seen"}])

    optimizer = By(
        analyst=analyst,
        merge=lambda request: append(f"- merged {next(steps)}", f"- also {next(steps)}"),
        ranking={"reasoning": "r", "selected_indices": [0]},
        lr_autonomous={"learning_rate": 1},
        slow_update={"slow_update_content": "Keep the form."},
        meta_skill={"meta_skill_content": "Short."},
        appendix_consolidate={"appendix_notes": ["Notes."]},
        compaction={"edits": [{"op": "delete", "target": "No rules yet."}]},
    )
    done = lab.train(
        optimizer,
        "train.num_epochs=3",
        "train.batch_size=3",
        "gradient.minibatch_size=2",
        "gradient.failure_only=false",
        "optimizer.use_slow_update=true",
        "optimizer.use_meta_skill=true",
        "optimizer.use_skill_aware_reflection=true",
        "optimizer.skill_aware_consolidate_threshold=1",
        "optimizer.use_compaction=true",
        "optimizer.lr_control_mode=autonomous",
        "evaluation.use_gate=false",
        "evaluation.eval_test=true",
        folder=lab.repo(rows=ROWS),
    )
    asked = [request for request in done.asked if request.schema is not None]
    stages = {"analyst", "merge", "ranking", "lr_autonomous", "slow_update", "meta_skill", "compaction"}
    assert stages | {"appendix_consolidate"} <= set(done.counts), "every stage was asked"
    text = "\n".join(words(request) + json.dumps(request.schema) for request in asked)
    assert "train4" in text
    graders = [PATTERN, CODE, "euros due", r"invoice [A-Z]{3}-\d{4} settled", "invoice"]
    held_out = [
        part for split in ("val", "test") for row in ROWS[split] for part in (row["id"], row["input"], *row["answers"])
    ]
    assert [secret for secret in (*graders, *held_out) if secret in text] == []
    assert "val" not in text.replace("value", "").replace("evaluat", "").replace("interval", "")


def test_the_answers_of_the_target_are_data_for_the_optimizer_and_not_a_leak(lab: Lab) -> None:
    """What the target itself wrote on train tasks may be quoted; the guard knows tasks, not replies."""
    done = train(lab, "- Never say dunno, always say what is asked, in one line, with a dash.", RULE["A"])
    assert [edit["outcome"] for edit in done.records()[0]["edits"]] == ["applied", "applied"]
