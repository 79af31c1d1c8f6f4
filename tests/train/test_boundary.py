"""The end of an epoch: guidance, meta skill, compaction; what is measured, and what is never paid twice."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from skillgit.git import notes
from skillgit.models.base import Request
from skillgit.skills.document import Document
from skillgit.skills.regions import region_text
from tests.conftest import SKILL
from tests.train.lab import HARM, RULE, By, Done, Lab, append, greeter, words

EPOCHS = ("train.num_epochs=3", "optimizer.use_slow_update=true", "optimizer.use_meta_skill=true")
GATED = "optimizer.slow_update_gate_with_selection"
GUIDANCE = {"reasoning": "r", "slow_update_content": "Keep the house form."}
META = {"reasoning": "r", "meta_skill_content": "Short rules help."}


def learner(**answers: Any) -> By:
    """Rule A in the first epoch, rule B in the second, then lines that change nothing."""
    steps = [append(text) for text in (RULE["A"], RULE["B"], "- idle", "- as idle")]
    return By(**{"analyst": steps, "slow_update": GUIDANCE, "meta_skill": META, **answers})


def rolled(done: Done) -> Counter[tuple[str, str]]:
    """How often each task was asked under each skill."""
    return Counter((r.messages[0].content, r.messages[-1].content) for r in done.requests("target"))


def late(request: Request) -> str:
    """One kind B task of val is never right, so that there is always something left to learn."""
    return "dunno" if request.messages[-1].content == "Bval5" else greeter(request)


def never(request: Request) -> str:
    """One train task is never right either, so that every step has something to propose."""
    return "dunno" if request.messages[-1].content == "Btrain7" else late(request)


@pytest.mark.parametrize("gated", ["true", "false"])
def test_guidance_is_measured_and_its_score_is_its_own(lab: Lab, gated: str) -> None:
    """Guidance that spoils kind A: the gate refuses it; forced, its lower score is written down."""
    harmful = learner(slow_update={"slow_update_content": HARM})
    done = lab.train(harmful, *EPOCHS, "train.num_epochs=2", f"{GATED}={gated}", target=late)
    assert done.verdicts == ["accept_new_best", "accept_new_best"]
    (end,) = done.ends("boundary")[1:]
    assert end.base_score == pytest.approx(5 / 6)
    if gated == "true":
        assert (end.verdict, end.commit) == ("reject", None)
        assert done.state.current.score == pytest.approx(5 / 6)
    else:
        assert (end.verdict, end.score) == ("force_accept", pytest.approx(2 / 6))
        assert done.state.current.score == pytest.approx(2 / 6), "measured, not inherited"
        assert region_text(Document(done.text()), "SLOW_UPDATE") == HARM
        (record,) = [r for r in done.evals(done.state.current.object) if r["split"] == "val"]
        assert (record["n"], record["gate"]["verdict"], record["complete"]) == (6, "force_accept", True)
        assert sorted(record["gate"]["regressed"]) == ["val0", "val2", "val4"]
    assert done.state.best.score == pytest.approx(5 / 6)
    assert done.state.best.step == 2


def test_guidance_that_helps_passes_the_gate_and_is_the_best(lab: Lab) -> None:
    helpful = learner(slow_update={"slow_update_content": RULE["B"]}, analyst=[append("- x"), append(RULE["A"])])
    settings = (*EPOCHS, "train.num_epochs=2", f"{GATED}=true")
    done = lab.train(helpful, *settings, target=late)
    (end,) = done.ends("boundary")[1:]
    assert (end.verdict, end.score) == ("accept_new_best", pytest.approx(5 / 6))
    assert (done.state.best.commit, done.state.best.score) == (end.commit, pytest.approx(5 / 6))


def test_a_later_candidate_is_compared_with_the_forced_guidances_own_score(lab: Lab) -> None:
    """After harmful guidance the bar is what the skill now scores, not what it scored before."""
    analyst = [append(RULE["A"]), append("- x"), append(RULE["B"])]
    harmful = learner(slow_update={"slow_update_content": HARM}, analyst=analyst)
    # Steps are forced in the first run and gated in the second, which shares all but the gate.
    done = lab.train(harmful, *EPOCHS, "evaluation.use_gate=false", target=late)
    scores = [(end.kind, end.base_score, end.score) for end in done.events if hasattr(end, "base_score") and end.commit]
    befores, afters = [before for _, before, _ in scores], [after for _, _, after in scores]
    assert befores[1:] == afters[:-1]
    assert ("boundary", 0.5, 0.0) in scores


def test_the_first_epoch_ends_without_guidance_and_the_last_without_notes(lab: Lab) -> None:
    # Steps are forced, so that every epoch changes the skill.
    done = lab.train(learner(), *EPOCHS, "evaluation.use_gate=false", "train.num_epochs=4", target=never)
    assert done.counts["slow_update"] == 3
    assert done.counts["meta_skill"] == 2, "no later epoch could use those of the last"
    assert [end.epoch for end in done.ends("boundary")] == [1, 2, 3, 4]


def test_the_optimizers_notes_reach_its_next_calls_and_never_the_target(lab: Lab) -> None:
    done = lab.train(learner(), *EPOCHS, "evaluation.use_gate=false", "train.num_epochs=4", target=never)
    seen = ["Short rules help." in words(request) for request in done.requests("analyst")]
    assert seen == [False, False, True, True]
    assert not any("Short rules help." in words(request) for request in done.requests("target"))
    assert "Short rules help." not in done.text()


def test_no_skill_is_rolled_out_twice_on_a_task(lab: Lab) -> None:
    done = lab.train(learner(), *EPOCHS, "train.num_epochs=4", "optimizer.use_compaction=false", target=late)
    assert max(rolled(done).values()) == 1
    assert done.finished.calls["target"] == done.counts["target"]
    assert done.finished.calls["cached"] > 0, "the comparison reads the epoch's own rollouts again"


def test_an_epoch_that_accepted_nothing_compares_nothing(lab: Lab) -> None:
    done = lab.train(By(analyst=append(HARM)), *EPOCHS)
    assert set(done.verdicts) == {"reject"}
    assert [end.verdict for end in done.ends("boundary")] == ["no_op"] * 3
    assert (done.counts["slow_update"], done.counts["meta_skill"]) == (0, 0)
    # Val and train under the first skill, and val under the one candidate: equal candidates are measured once.
    assert done.counts["target"] <= 6 + 8 + 6


def test_a_candidate_that_changes_nothing_is_not_evaluated(lab: Lab) -> None:
    unmatched = {"reasoning": "r", "edits": [{"op": "replace", "target": "not there", "content": "x"}]}
    done = lab.train(By(analyst=unmatched))
    assert done.verdicts == ["no_op"]
    assert done.counts["target"] == 6 + 8
    (record,) = done.records()
    assert record["edits"][0]["outcome"] == "unmatched"
    assert "record" not in record


def test_guidance_that_is_already_there_is_not_evaluated(lab: Lab) -> None:
    guided = f"{SKILL}\n<!-- SLOW_UPDATE_START -->\nKeep the house form.\n<!-- SLOW_UPDATE_END -->\n"
    settings = (*EPOCHS, "train.num_epochs=2", "evaluation.use_gate=false")
    done = lab.train(learner(), *settings, folder=lab.repo(skill=guided), target=late)
    assert done.counts["slow_update"] == 1
    assert done.ends("boundary")[1].verdict == "no_op"


def test_an_unusable_reply_leaves_guidance_and_notes_as_they_were(lab: Lab) -> None:
    settings = (*EPOCHS, "evaluation.use_gate=false")
    done = lab.train(learner(slow_update="?", meta_skill="?"), *settings, target=late)
    records = done.records("boundary")
    assert [drop["stage"] for drop in records[1]["drops"]] == ["meta_skill", "slow_update"]
    assert done.state.meta_skill == ""
    assert "SLOW_UPDATE" not in done.text()


def test_guidance_that_leaks_is_refused_and_recorded(lab: Lab) -> None:
    rows = [{"id": "v", "input": "Aval", "answers": ["the silver fox of Kamchatka"]}]
    leaky = learner(slow_update={"slow_update_content": "Say the silver fox of Kamchatka."})
    settings = (*EPOCHS, "evaluation.use_gate=false", "train.num_epochs=2")
    done = lab.train(leaky, *settings, folder=lab.repo(rows={"val": rows}))
    assert "gives away" in done.records("boundary")[1]["drops"][0]["reason"]
    assert "silver fox" not in done.text()


# --- which pairs are compared


def pairs(lab: Lab, policy: str, samples: int) -> tuple[Done, str]:
    """The comparison shown at the end of epoch 2, whose first skill knows rule A and whose last knows A and B."""
    settings = (f"optimizer.longitudinal_pair_policy={policy}", f"optimizer.slow_update_samples={samples}")
    optimizer = learner(analyst=[append(RULE["A"]), append(RULE["B"])])
    done = lab.train(optimizer, *EPOCHS, "train.num_epochs=2", *settings, folder=lab.repo(val=8, train=8), target=late)
    (request,) = done.requests("slow_update")
    return done, words(request).split("## The same tasks under both")[1]


def test_mixed_pairs_are_a_sample_of_all(lab: Lab) -> None:
    _, shown = pairs(lab, "mixed", 8)
    assert shown.strip().startswith("0 regressed, 0 persistent_fail, 4 improved, 4 stable_success")


def test_unchanged_pairs_leave_out_what_flipped(lab: Lab) -> None:
    _, shown = pairs(lab, "unchanged", 8)
    assert shown.strip().startswith("0 regressed, 0 persistent_fail, 0 improved, 4 stable_success")


def test_changed_pairs_are_topped_up_from_the_rest(lab: Lab) -> None:
    _, few = pairs(lab, "changed", 4)
    assert few.strip().startswith("0 regressed, 0 persistent_fail, 4 improved, 0 stable_success")
    _, one = pairs(lab, "changed", 1)
    assert one.strip().startswith("0 regressed, 0 persistent_fail, 1 improved, 0 stable_success")


def test_a_regression_is_shown_first_with_both_answers(lab: Lab) -> None:
    optimizer = learner(analyst=[append(RULE["A"]), append(HARM)])
    settings = (*EPOCHS, "train.num_epochs=2", "evaluation.use_gate=false")
    done = lab.train(optimizer, *settings)
    shown = words(done.requests("slow_update")[0]).split("## The same tasks under both")[1]
    assert shown.strip().startswith("4 regressed, 4 persistent_fail, 0 improved, 0 stable_success")
    assert shown.index("### regressed") < shown.index("### persistent_fail")
    assert "Before: a-train0" in shown
    assert "Now: dunno" in shown


# --- compaction


LONG = SKILL + f"\n{RULE['A']}\n\n- This line says nothing at all, and it says it at length.\n"


def shorten(target: str, content: str = "") -> dict[str, Any]:
    op = "replace" if content else "delete"
    return {"reasoning": "r", "edits": [{"op": op, "target": target, "content": content}]}


def test_a_shorter_text_with_an_equal_score_is_taken(lab: Lab) -> None:
    useless = "- This line says nothing at all, and it says it at length.\n"
    done = lab.train(
        By(analyst=append(), compaction=shorten(useless)), "optimizer.use_compaction=true", folder=lab.repo(skill=LONG)
    )
    (end,) = done.ends("compaction")
    assert (end.verdict, end.score, end.base_score) == ("accept", 0.5, 0.5)
    assert "says nothing" not in done.text()
    assert done.records("compaction")[0]["tokens"] < len(LONG) / 4
    assert "compaction of epoch 1" in done.gate_lines(end.commit)[0]


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        (shorten(RULE["A"]), "reject"),
        (shorten("No rules yet.", "No rules yet, but they will come."), "no_op"),
        (append("- longer"), "no_op"),
        ("?", "no_op"),
    ],
)
def test_a_compaction_that_costs_score_or_does_not_shorten_is_not_taken(lab: Lab, reply: Any, verdict: str) -> None:
    done = lab.train(
        By(analyst=append(), compaction=reply), "optimizer.use_compaction=true", folder=lab.repo(skill=LONG)
    )
    (end,) = done.ends("compaction")
    assert (end.verdict, end.commit) == (verdict, None)
    assert done.text() == LONG


def test_a_compaction_is_judged_even_where_steps_are_forced(lab: Lab) -> None:
    done = lab.train(
        By(analyst=append(), compaction=shorten(RULE["A"])),
        "optimizer.use_compaction=true",
        "evaluation.use_gate=false",
        folder=lab.repo(skill=LONG),
    )
    assert done.ends("compaction")[0].verdict == "reject"


def test_the_score_of_every_accepted_version_is_in_its_record(lab: Lab) -> None:
    done = lab.train(learner(), *EPOCHS, "evaluation.use_gate=false", target=late)
    found = notes.read_records(done.repo, notes.EVALS, list(dict.fromkeys(done.trees())))
    assert all(any(record["split"] == "val" for record in found[tree]) for tree in done.trees())
