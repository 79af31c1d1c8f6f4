"""How a step changes the skill: update modes, the edit budget, sizes, and reminders in the appendix."""

from __future__ import annotations

import json
from typing import Any

import pytest

from skillgit.errors import ConfigError
from skillgit.events import StepStarted
from skillgit.models.base import Request
from skillgit.tasks.splits import epoch_batches
from tests.conftest import SKILL
from tests.train.lab import HARM, RULE, By, Lab, append, words

GUIDED = (
    SKILL
    + "\n<!-- SLOW_UPDATE_START -->\nStay calm.\n<!-- SLOW_UPDATE_END -->\n"
    + "\n<!-- APPENDIX_START -->\n## Execution Notes Appendix\n\n- Mind the dash.\n<!-- APPENDIX_END -->\n"
)
ROBBED = (
    f"---\nname: thief\n---\n\n# Greeter\n\n{RULE['A']}\n\n<!-- APPENDIX_START -->\n- Changed.\n<!-- APPENDIX_END -->\n"
)
REWRITE = "optimizer.skill_update_mode=rewrite_from_suggestions"
FULL = "optimizer.skill_update_mode=full_rewrite_minibatch"
AWARE = "optimizer.use_skill_aware_reflection=true"


def suggest(title: str, **more: Any) -> dict[str, Any]:
    item = {"type": "add_rule", "title": title, "motivation": "cases", "instruction": f"add {title}"}
    return {**item, "priority_hint": "high", **more}


def suggestions(*items: Any) -> dict[str, Any]:
    return {"reasoning": "seen", "revise_suggestions": list(items)}


def drafts(*items: Any) -> dict[str, Any]:
    return {"reasoning": "seen", "skill_candidates": list(items)}


def check_regions_and_frontmatter_kept(text: str) -> None:
    assert text.startswith("---\nname: greeter\ndescription: Answers in house form.\n---\n")
    assert "<!-- SLOW_UPDATE_START -->\nStay calm.\n<!-- SLOW_UPDATE_END -->" in text
    appendix = "<!-- APPENDIX_START -->\n## Execution Notes Appendix\n\n- Mind the dash.\n<!-- APPENDIX_END -->"
    assert appendix in text
    assert text.count("_START -->") == text.count("_END -->") == 2
    assert "Changed." not in text
    assert "thief" not in text


# --- rewriting from suggestions


def test_a_rewrite_keeps_regions_and_frontmatter_that_the_model_dropped_or_altered(lab: Lab) -> None:
    optimizer = By(
        analyst=suggestions(suggest("rule A"), suggest("bad", type="shout"), "no object", suggest(" ")),
        rewrite={"reasoning": "done", "change_summary": ["added rule A"], "new_skill": ROBBED},
    )
    done = lab.train(optimizer, REWRITE, folder=lab.repo(skill=GUIDED))
    assert done.verdicts == ["accept_new_best"]
    assert RULE["A"] in done.text()
    check_regions_and_frontmatter_kept(done.text())
    (record,) = done.records()
    assert record["rewrite"] == {"summary": ["added rule A"], "refused": ""}
    assert len(record["malformed"]) == 3
    (request,) = done.requests("rewrite")
    assert "1. [add_rule, high] rule A" in words(request)
    assert "shout" not in words(request)


@pytest.mark.parametrize("reply", ["no json at all", {"reasoning": "r"}, {"new_skill": ""}])
def test_an_unusable_rewrite_is_asked_for_once_more_and_then_recorded_as_refused(lab: Lab, reply: Any) -> None:
    done = lab.train(By(analyst=suggestions(suggest("rule A")), rewrite=reply), REWRITE)
    assert (done.verdicts, done.counts["rewrite"]) == (["no_op"], 2)
    (record,) = done.records()
    assert record["rewrite"]["refused"] == "no usable rewrite came back"
    assert record["drops"][0]["stage"] == "rewrite"
    assert done.trees() == done.trees()[:1], "nothing was committed"
    assert done.counts["target"] == 6 + 8, "nothing was evaluated"


def test_a_rewrite_that_leaks_is_refused_with_the_reason(lab: Lab) -> None:
    rows = [{"id": "v", "input": "Aval", "answers": ["the silver fox of Kamchatka"]}]
    optimizer = By(
        analyst=suggestions(suggest("rule A")),
        rewrite={"new_skill": "# Greeter\n\nSay the silver fox of Kamchatka."},
    )
    done = lab.train(optimizer, REWRITE, folder=lab.repo(rows={"val": rows}))
    assert done.verdicts == ["no_op"]
    assert "gives away an answer" in done.records()[0]["rewrite"]["refused"]


def test_replies_that_hold_a_document_may_be_longer_than_others(lab: Lab) -> None:
    limits = ("model.optimizer_max_tokens=111", "model.rewrite_max_completion_tokens=222")
    rewritten = {"new_skill": f"# Greeter\n\n{RULE['A']}"}
    done = lab.train(By(analyst=suggestions(suggest("rule A")), rewrite=rewritten), REWRITE, *limits)
    assert {r.max_tokens for r in done.requests("analyst")} == {111}
    assert {r.max_tokens for r in done.requests("rewrite")} == {222}
    whole = drafts({"title": "anew", "new_skill": f"# Greeter\n\n{RULE['A']}"})
    done = lab.train(By(analyst=whole, merge=whole), FULL, *limits, "gradient.minibatch_size=4")
    assert {r.max_tokens for r in (*done.requests("analyst"), *done.requests("merge"))} == {222}


# --- whole documents


def test_a_full_rewrite_takes_the_merged_candidate_and_keeps_what_is_protected(lab: Lab) -> None:
    different = By(
        analyst=[
            drafts({"title": str(n), "new_skill": f"# Greeter\n\nnumber {n}"}, {"title": "empty"}) for n in range(2)
        ],
        merge=drafts({"title": "merged", "change_summary": ["rule A"], "new_skill": ROBBED}),
    )
    settings = (FULL, "gradient.minibatch_size=4", "optimizer.lr_control_mode=autonomous", "optimizer.learning_rate=1")
    done = lab.train(different, *settings, folder=lab.repo(skill=GUIDED))
    (record,) = done.records()
    assert (record["budget"], record["rate"], len(record["malformed"])) == (None, None, 1)
    assert done.counts == {"analyst": 2, "merge": 1, "target": 20}, "neither a ranking nor a rate"
    assert done.verdicts == ["accept_new_best"]
    check_regions_and_frontmatter_kept(done.text())


def test_malformed_edits_are_set_aside_and_the_others_applied(lab: Lab) -> None:
    bad = [{"op": "shout", "content": "x"}, {"op": "append"}, "text", {"op": "replace", "target": None, "content": "y"}]
    reply = {"reasoning": "r", "edits": [*bad, {"op": "append", "content": RULE["A"], "target": None}]}
    done = lab.train(By(analyst=reply))
    assert done.verdicts == ["accept_new_best"]
    (record,) = done.records()
    assert len(record["malformed"]) == 4
    assert [edit["outcome"] for edit in record["edits"]] == ["applied"]


def test_edits_aimed_at_what_is_protected_are_refused_one_by_one(lab: Lab) -> None:
    aimed = [
        {"op": "replace", "target": "Stay calm.", "content": "Panic."},
        {"op": "delete", "target": "- Mind the dash."},
        {"op": "replace", "target": "name: greeter", "content": "name: thief"},
    ]
    reply = {"reasoning": "r", "edits": [*aimed, {"op": "append", "content": RULE["A"]}]}
    done = lab.train(By(analyst=reply), folder=lab.repo(skill=GUIDED))
    outcomes = [edit["outcome"] for edit in done.records()[0]["edits"]]
    assert outcomes[-1] == "applied"
    assert set(outcomes[:-1]) <= {"protected", "forbidden"}
    check_regions_and_frontmatter_kept(done.text())


# --- how many edits a step applies


def three(request: Request) -> dict[str, Any]:
    return append(RULE["A"], "- one", "- two")


@pytest.mark.parametrize(
    ("reply", "budget", "raw"),
    [
        ({"learning_rate": 0, "reasoning": "none deserves it", "confidence": "high"}, 0, 0),
        ("not json", 0, 0),
        ({"learning_rate": -1}, 0, 0),
        ({"learning_rate": True}, 0, 0),
        ({"learning_rate": 2}, 2, 2),
        ({"learning_rate": 99}, 3, 99),
    ],
)
def test_the_optimizer_may_decide_the_budget_itself(lab: Lab, reply: Any, budget: int, raw: int) -> None:
    ranking = {"reasoning": "r", "selected_indices": [0, 2, 1]}
    done = lab.train(By(analyst=three, lr_autonomous=reply, ranking=ranking), "optimizer.lr_control_mode=autonomous")
    (record,) = done.records()
    usable = isinstance(reply, dict) and reply["learning_rate"] is not True and reply["learning_rate"] >= 0
    rate = record["rate"]
    assert (rate["learning_rate"], rate["raw_learning_rate"], rate["fallback"]) == (budget, raw, not usable)
    assert [drop["stage"] for drop in record["drops"]] == ([] if usable else ["lr_autonomous"])
    assert len(record["edits"]) == budget
    assert done.counts["ranking"] == (budget == 2), "nothing to rank when all fit or none may be taken"
    assert done.verdicts == (["accept_new_best"] if budget else ["skip_no_patches"])
    if budget == 2:
        assert [edit["content"] for edit in record["edits"]] == [RULE["A"], "- two"]


def test_the_rate_is_decided_from_the_evidence_of_the_step(lab: Lab) -> None:
    rate = {"learning_rate": 3}
    done = lab.train(By(analyst=three, lr_autonomous=rate), "optimizer.lr_control_mode=autonomous")
    (request,) = done.requests("lr_autonomous")
    for fact in ("rollout_n: 8", "rollout_hard: 0.000000", "proposed: 3", "[2] (support 8)"):
        assert fact in words(request)


def test_without_a_rate_every_edit_is_applied(lab: Lab) -> None:
    many = append(RULE["A"], *[f"- line {n}" for n in range(9)])
    done = lab.train(By(analyst=many), "optimizer.lr_control_mode=none", "optimizer.learning_rate=1")
    assert done.ends()[0].applied == 10
    assert done.counts["ranking"] == 0
    assert "As many edits as are needed." in words(done.requests("analyst")[0])
    assert done.records()[0]["budget"] is None


def test_a_fixed_rate_bounds_each_analyst_and_the_step(lab: Lab) -> None:
    replies = [append(*[f"- line {part}{n}" for n in range(5)]) for part in "ab"]
    merged = append(*[f"- line {part}{n}" for part in "ab" for n in range(2)])
    optimizer = By(analyst=replies, merge=merged, ranking={"reasoning": "r", "selected_indices": [3, 0]})
    done = lab.train(optimizer, "optimizer.learning_rate=2", "gradient.minibatch_size=4")
    assert all("At most 2 edits" in words(request) for request in done.requests("analyst"))
    assert "- line a2" not in words(done.requests("merge")[0]), "what is over an analyst's budget goes no further"
    assert [edit["content"] for edit in done.records()[0]["edits"]] == ["- line b1", "- line a0"]


@pytest.mark.parametrize(
    ("scheduler", "budgets"),
    [("constant", [8, 8, 8, 8]), ("linear", [6, 5, 4, 2]), ("cosine", [7, 5, 3, 2]), ("autonomous", [None] * 4)],
)
def test_the_schedule_sets_each_steps_budget(lab: Lab, scheduler: str, budgets: list[int | None]) -> None:
    rates = ("optimizer.learning_rate=8", "optimizer.min_learning_rate=2", f"optimizer.lr_scheduler={scheduler}")
    done = lab.train(By(analyst=append()), *rates, "train.batch_size=2")
    assert [event.budget for event in done.events if isinstance(event, StepStarted)] == budgets
    asked = [words(request) for request in done.requests("analyst")]
    for text, budget in zip(asked, budgets, strict=True):
        assert ("As many edits" if budget is None else f"At most {budget} edits") in text


# --- sizes


def test_only_failures_are_shown_when_so_configured(lab: Lab) -> None:
    learned = SKILL + RULE["A"] + "\n"
    both = lab.train(By(analyst=append()), "gradient.failure_only=false", folder=lab.repo(skill=learned))
    only = lab.train(By(analyst=append()), folder=lab.repo(skill=learned))
    assert (both.counts["analyst"], only.counts["analyst"]) == (2, 1)
    assert "Score: hard 1" in words(both.requests("analyst")[1])
    assert not any("Score: hard 1" in words(request) for request in only.requests("analyst"))


@pytest.mark.parametrize(
    ("minibatch", "merge", "analysts", "merges"), [(8, 8, 1, 0), (2, 8, 4, 1), (2, 2, 4, 3), (3, 2, 3, 2)]
)
def test_minibatch_and_merge_sizes_set_the_number_of_calls(
    lab: Lab, minibatch: int, merge: int, analysts: int, merges: int
) -> None:
    replies = [append(f"- line {n}") for n in range(analysts)]
    joined = append("- line 0", "- line 1")
    sizes = (f"gradient.minibatch_size={minibatch}", f"gradient.merge_batch_size={merge}")
    done = lab.train(By(analyst=replies, merge=joined), *sizes)
    assert (done.counts["analyst"], done.counts["merge"]) == (analysts, merges)


def test_accumulation_rolls_out_several_batches_under_one_skill(lab: Lab) -> None:
    settings = ("train.batch_size=2", "train.num_epochs=2")
    single = lab.train(By(analyst=append(RULE["A"])), *settings)
    double = lab.train(By(analyst=append(RULE["A"])), *settings, "train.accumulation=2")
    assert (single.planned.steps, double.planned.steps) == (8, 4)
    assert [r["rollout"]["n"] for r in double.records()] == [4, 4, 4, 4]
    first = [r for r in double.requests("target") if "Atrain" in words(r) or "Btrain" in words(r)][:4]
    assert len({request.messages[0].content for request in first}) == 1


def test_each_epoch_visits_every_task_once_in_batches_of_its_own(lab: Lab) -> None:
    done = lab.train(By(analyst=append()), "train.batch_size=3", "train.num_epochs=2", "train.seed=5")
    asked = [r.messages[-1].content[1:] for r in done.requests("target") if "train" in words(r)]
    ids = [f"train{n}" for n in range(8)]
    batches = [[set(batch) for batch in epoch_batches(ids, 3, 1, epoch, 5)] for epoch in (1, 2)]
    # The second epoch's rollouts are under the same skill, so they are all in the store already.
    assert [set(asked[:3]), set(asked[3:6]), set(asked[6:])] == batches[0]
    assert batches[0] != batches[1]
    assert done.finished.calls["cached"] == 8
    assert [record["rollout"]["n"] for record in done.records()] == [3, 3, 2, 3, 3, 2]


# --- reminders


def noted(request: Request) -> str:
    """Kind A goes right once the reminder stands in the skill, and nothing shouts."""
    system, user = request.messages[0].content, request.messages[-1].content
    right = user[0] == "A" and "- Mind the dash" in system and HARM not in system
    return f"a-{user[1:]}" if right else "dunno"


def test_a_lapse_becomes_a_reminder_that_the_gate_measures(lab: Lab) -> None:
    notes = ["Mind the dash.", {"note": "mind  the dash"}, " ", "Write small letters."]
    done = lab.train(By(analyst=append(appendix_notes=notes)), AWARE, target=noted)
    assert done.verdicts == ["accept_new_best"]
    block = "## Execution Notes Appendix\n\n- Mind the dash.\n- Write small letters.\n<!-- APPENDIX_END -->"
    assert block in done.text()
    assert done.records()[0]["record"]["hard"] == 0.5
    assert "classify each cause" in words(done.requests("analyst")[0])


def test_a_rejected_candidate_leaves_no_reminder(lab: Lab) -> None:
    reply = append(HARM, appendix_notes=["Mind the dash."])
    done = lab.train(By(analyst=reply), AWARE, target=noted)
    assert done.verdicts == ["reject"]
    assert "Mind the dash" not in done.text()
    assert done.records()[0]["notes"] == ["Mind the dash."]


def test_reminders_that_are_there_already_are_no_candidate(lab: Lab) -> None:
    reply = append(appendix_notes=["mind the dash"])
    done = lab.train(By(analyst=reply), AWARE, folder=lab.repo(skill=GUIDED))
    assert done.verdicts == ["no_op"]
    assert done.counts["target"] == 14, "not evaluated"


@pytest.mark.parametrize(
    ("merged", "kept"),
    [
        (["Dash and small letters."], ["Dash and small letters."]),
        (["a", "b", "c"], ["Mind the dash.", "Write small letters.", "Be brief."]),
    ],
)
def test_too_many_reminders_are_merged_when_that_leaves_fewer(lab: Lab, merged: list[str], kept: list[str]) -> None:
    optimizer = By(
        analyst=append(appendix_notes=["Write small letters.", "Be brief."]),
        appendix_consolidate={"appendix_notes": merged},
    )
    settings = (AWARE, "optimizer.skill_aware_consolidate_threshold=2", "evaluation.use_gate=false")
    done = lab.train(optimizer, *settings, folder=lab.repo(skill=GUIDED))
    assert done.counts["appendix_consolidate"] == 1
    bullets = [line[2:] for line in done.text().splitlines() if line.startswith("- ")]
    assert bullets == kept


def test_below_the_threshold_nothing_is_merged(lab: Lab) -> None:
    optimizer = By(analyst=append(appendix_notes=["Be brief."]))
    done = lab.train(optimizer, AWARE, "optimizer.skill_aware_consolidate_threshold=2", "evaluation.use_gate=false")
    assert done.counts["appendix_consolidate"] == 0


@pytest.mark.parametrize(("source", "sides"), [("both", [True, True]), ("failure_only", [True, False])])
def test_the_appendix_source_says_which_analysts_may_write_reminders(lab: Lab, source: str, sides: list[bool]) -> None:
    settings = (AWARE, f"optimizer.skill_aware_appendix_source={source}", "gradient.failure_only=false")
    done = lab.train(By(analyst=append()), *settings, folder=lab.repo(skill=SKILL + RULE["A"] + "\n"))
    asked = sorted(done.requests("analyst"), key=lambda request: "## Failed cases" not in words(request))
    assert ["appendix_notes" in json.dumps(request.schema) for request in asked] == sides


def test_whole_documents_and_switched_off_reflection_know_no_reminders(lab: Lab) -> None:
    whole = drafts({"title": "t", "new_skill": "# Greeter\n\nx"})
    for optimizer, setting in ((By(analyst=whole), (FULL, AWARE)), (By(analyst=append(appendix_notes=["x"])), ())):
        done = lab.train(optimizer, *setting)
        assert "appendix_notes" not in json.dumps(done.requests("analyst")[0].schema)
    assert done.verdicts == ["skip_no_patches"], "a reminder that was not asked for is not taken"


def test_a_reminder_that_leaks_is_left_out_and_recorded(lab: Lab) -> None:
    rows = [{"id": "v", "input": "Aval", "answers": ["the silver fox of Kamchatka"]}]
    reply = append(RULE["A"], appendix_notes=["Think of the silver fox of Kamchatka."])
    done = lab.train(By(analyst=reply), AWARE, folder=lab.repo(rows={"val": rows}))
    (record,) = done.records()
    assert "silver fox" not in done.text()
    assert [drop["stage"] for drop in record["drops"]] == ["appendix"]


# --- what is remembered within an epoch


def test_what_did_not_help_is_told_to_the_later_steps_of_the_epoch_only(lab: Lab) -> None:
    idle = By(analyst=[append(f"- idle {n}", failure_summary=[{"description": f"seen {n}"}]) for n in range(4)])
    done = lab.train(idle, "train.batch_size=4", "train.num_epochs=2")
    assert done.verdicts == ["reject"] * 4
    texts = [words(request) for request in done.requests("analyst")]
    told = [["idle 0" in text, "seen 0" in text, "these edits did not help" in text] for text in texts]
    assert told == [[False] * 3, [True] * 3, [False] * 3, [False, False, True]]
    assert "idle 2" in texts[3]
    assert "score 0.000 before" in texts[1]


@pytest.mark.parametrize("setting", [REWRITE, FULL, AWARE])
def test_the_small_profile_refuses_what_it_does_not_know(lab: Lab, setting: str) -> None:
    with pytest.raises(ConfigError, match=r"optimizer\.profile small knows no optimizer\."):
        lab.config(lab.folder, "optimizer.profile=small", setting)
