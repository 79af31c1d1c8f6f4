"""What the gate says, and that the records, gate lines and journal say the same."""

from __future__ import annotations

import json
import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from skillgit.errors import ConfigError
from skillgit.evals.gate import Metric
from skillgit.evals.rule import Contest, Rule, semantic_density, text_bonus
from skillgit.git import notes
from skillgit.models.base import Request
from tests.conftest import SKILL
from tests.train.lab import HARM, RULE, By, Done, Lab, append, greeter, words

DENSITY = json.loads((Path(__file__).parents[1] / "data/semantic_density.json").read_text())


# --- metrics


def partly(request: Request) -> str:
    """Rule A makes half of each answer right; rule B makes kind B whole."""
    user = request.messages[-1].content
    if user[0] == "B" or RULE["A"] not in request.messages[0].content:
        return greeter(request)
    return f"a {user[1:]} and much more besides"


F1 = [
    {"id": f"val{n}", "input": f"{kind}val{n}", "answers": [f"{kind.lower()}-val{n}"], "judge": "f1"}
    for n, kind in enumerate("ABAB")
]


@pytest.mark.parametrize(
    ("metric", "verdict"), [("hard", "reject"), ("soft", "accept_new_best"), ("mixed", "accept_new_best")]
)
def test_the_metric_decides_what_counts_as_better(lab: Lab, metric: str, verdict: str) -> None:
    rows = [{**row, "answers": [f"{row['answers'][0][0]} {row['id']}"]} for row in F1]
    settings = (f"evaluation.gate_metric={metric}", "evaluation.gate_mixed_weight=0.25")
    done = lab.train(By(analyst=append(RULE["A"])), *settings, folder=lab.repo(rows={"val": rows}), target=partly)
    (end,) = done.ends()
    assert end.verdict == verdict
    record = done.records()[0]["record"]
    hard, soft = record["hard"], record["soft"]
    assert hard == 0.0
    assert soft > 0
    assert record["metric"] == metric
    assert record["score"] == {"hard": hard, "soft": soft, "mixed": 0.75 * hard + 0.25 * soft}[metric]


# --- no gate


def test_without_a_gate_harm_is_accepted_and_visible(lab: Lab) -> None:
    done = lab.train(By(analyst=[append(RULE["A"]), append(HARM)]), "evaluation.use_gate=false", "train.num_epochs=2")
    assert done.verdicts == ["force_accept", "force_accept"]
    _, good, harmed = done.trees()
    scores = [next(r["score"] for r in done.evals(tree) if r["split"] == "val") for tree in (good, harmed)]
    assert scores == [0.5, 0.0]
    line = done.gate_lines(done.ends()[1].commit or "")[0]
    assert line.startswith("force_accept: val hard 0.500 -> 0.000 (n=6); run ")
    record = done.evals(harmed)[0]
    assert record["gate"]["regressed"] == ["val0", "val2", "val4"]
    assert (done.state.best.object, done.state.best.score, done.state.current.score) == (good, 0.5, 0.0)


# --- repeats


def wavering(request: Request) -> str:
    """With rule A, kind A is right in two of three samples."""
    right = greeter(request)
    return right if request.seed is None or request.seed % 3 else "dunno"


def test_repeats_are_samples_of_their_own_and_scores_are_means(lab: Lab) -> None:
    done = lab.train(By(analyst=append(RULE["A"])), "evaluation.repeats=3", target=wavering)
    val = [request for request in done.requests("target") if "val" in request.messages[-1].content]
    assert len(val) == 2 * 6 * 3
    by_task: dict[str, list[Any]] = {}
    for request in val[: 6 * 3]:
        by_task.setdefault(request.messages[-1].content, []).append(request.seed)
    assert all(sorted(seeds) == [0, 1, 2] for seeds in by_task.values())
    record = done.records()[0]["record"]
    assert (record["n"], record["samples"], record["usage"]["calls"]) == (6, 3, 18)
    assert record["hard"] == pytest.approx(0.5 * 2 / 3)
    per_task = notes.read_records(done.repo, notes.RESULTS, [record["skill"]])[record["skill"]][0]["tasks"]
    assert {task: round(part["hard"], 3) for task, part in per_task.items()} == {
        f"val{n}": 0.0 if n % 2 else 0.667 for n in range(6)
    }


def test_eval_repeats_as_its_record_says(lab: Lab, skillgit: Any) -> None:
    folder = lab.repo()
    asked: list[Request] = []
    with lab.models(asked, By(), greeter):
        model = ("--set", "model.backend=scripted", "--set", "evaluation.repeats=3")
        code, out, err = skillgit(folder, "eval", "greeter", *model, "--json")
        _, dry, _ = skillgit(folder, "eval", "greeter", *model, "--dry-run")
    assert code == 0, err
    assert (json.loads(out)["samples"], len(asked)) == (3, 18)
    assert dry == "val: 18 target calls at most\n"


def test_a_split_without_tasks_is_named(lab: Lab, skillgit: Any) -> None:
    folder = lab.repo(rows={"test": []})
    with lab.models([], By(), greeter):
        code, _, err = skillgit(folder, "eval", "greeter", "--split", "test", "--set", "model.backend=scripted")
        assert (code, "there are no test tasks" in err) == (2, True)
        code, out, _ = skillgit(folder, "eval", "greeter", "--split", "all", "--set", "model.backend=scripted")
    assert (code, [line.split()[0] for line in out.splitlines()[:2]]) == (0, ["train", "val"])


# --- confidence


def test_a_gain_that_may_be_luck_is_rejected_with_the_reason(lab: Lab) -> None:
    sure = ("evaluation.confidence=0.9",)
    few = lab.train(By(analyst=append(RULE["A"])), *sure)  # three of six tasks improve; four are needed
    assert few.verdicts == ["reject"]
    line = few.gate_lines(few.state.current.commit)[-1]
    assert line.startswith("reject (the gain is not certain with confidence 0.9): val hard 0.000 -> 0.500")
    many = lab.train(By(analyst=append(RULE["A"])), *sure, folder=lab.repo(val=8))
    assert many.verdicts == ["accept_new_best"]


def test_too_few_tasks_are_underpowered_and_told_before_anything_is_paid(lab: Lab) -> None:
    done = lab.train(By(analyst=append(RULE["A"])), "evaluation.confidence=0.9", folder=lab.repo(val=3))
    assert done.verdicts == ["underpowered"]
    assert any("3 val tasks cannot show a gain with confidence 0.9" in note for note in done.planned.notes)
    assert "underpowered" in done.gate_lines(done.state.current.commit)[-1]
    assert done.records()[0]["verdict"] == "underpowered"


# --- regressions


SWAP = [append(RULE["A"]), {"reasoning": "r", "edits": [{"op": "replace", "target": RULE["A"], "content": RULE["B"]}]}]
MORE_B = [
    {"id": f"val{n}", "input": f"{kind}val{n}", "answers": [f"{kind.lower()}-val{n}"], "tags": [kind]}
    for n, kind in enumerate("ABABB")
]


@pytest.mark.parametrize(
    ("setting", "verdict"),
    [("off", "accept_new_best"), ("all", "reject"), ("A", "reject"), ("B", "accept_new_best"), ("B, A", "reject")],
)
def test_pinned_tasks_must_not_get_worse(lab: Lab, setting: str, verdict: str) -> None:
    folder = lab.repo(rows={"val": MORE_B})
    settings = (f"evaluation.no_regression={setting}", "train.num_epochs=2", "evaluation.fail_first=false")
    done = lab.train(By(analyst=SWAP), *settings, folder=folder)
    assert done.verdicts == ["accept_new_best", verdict]
    gate = done.records()[1]["gate"]
    assert gate["regressed"] == ["val0", "val2"], "told whether forbidden or not"
    if verdict == "reject":
        assert gate["why"] == "pinned tasks got worse: val0, val2"


def test_a_pinned_tag_that_no_task_has_is_refused(lab: Lab) -> None:
    with pytest.raises(ConfigError, match="no val task has the tag Z") as caught:
        lab.train(By(), "evaluation.no_regression=A, Z")
    assert "A, B" in caught.value.fix


# --- nothing to decide


def test_a_perfect_baseline_is_no_headroom(lab: Lab) -> None:
    done = lab.train(By(), folder=lab.repo(skill=f"{SKILL}{RULE['A']}\n{RULE['B']}\n"))
    assert (done.verdicts, done.finished.reason) == ([], "no_headroom")
    assert done.counts == {"target": 6}


def test_what_was_measured_on_one_side_only_is_unverified() -> None:
    rule = Rule(Metric())
    assert rule.verdict({"a": 1.0}, {"b": 0.0}, [], Contest(), 0.0)[0] == "unverified"
    assert rule.verdict({}, {"b": 0.0}, ["b"], Contest(), 0.0)[0] == "unverified"


# --- what a text itself is worth


@pytest.mark.parametrize("case", DENSITY, ids=range(len(DENSITY)))
def test_semantic_density_is_the_published_one(case: dict[str, Any]) -> None:
    assert semantic_density(case["text"]) == pytest.approx(case["density"], abs=1e-12)


def test_the_density_bonus_turns_a_tie_and_warns_that_it_can_be_gamed(lab: Lab) -> None:
    shouting = By(analyst=append("- MUST ALWAYS NEVER"))
    plain = lab.train(shouting)
    assert plain.verdicts == ["reject"]
    assert not any("gamed" in note for note in plain.planned.notes)
    gamed = lab.train(shouting, "evaluation.use_semantic_density=true")
    assert gamed.verdicts == ["accept_new_best"]
    assert any("gamed" in note for note in gamed.planned.notes)
    (end,) = gamed.ends()
    assert end.score is not None
    assert end.score > end.base_score, "what is shown is what was compared"
    assert gamed.state.best.score == end.score
    own = lab.train(shouting, "evaluation.use_semantic_density=true", "evaluation.leading_words=[Greeter]")
    assert own.verdicts == ["reject"], "the share of the chosen words fell"


def test_what_the_text_adds_stands_in_the_record(lab: Lab) -> None:
    done = lab.train(By(analyst=append("- MUST ALWAYS NEVER")), "evaluation.use_semantic_density=true")
    gate = done.records()[0]["gate"]
    bonus = text_bonus((), 0.05, 0.0)
    assert gate["text"] == {"base": bonus(SKILL), "candidate": bonus(done.text())}
    assert done.records()[0]["record"]["score"] == 0.0, "the record keeps what was measured"


def test_length_may_cost_score(lab: Lab) -> None:
    long = append(RULE["A"], "- " + "many words " * 300)
    assert lab.train(By(analyst=long)).verdicts == ["accept_new_best"]
    assert lab.train(By(analyst=long), "evaluation.length_weight=0.9").verdicts == ["reject"]


@pytest.mark.parametrize(("setting", "verdict"), [("true", "accept"), ("false", "reject")])
def test_an_equal_score_with_a_shorter_text_wins_where_ties_do(lab: Lab, setting: str, verdict: str) -> None:
    shorter = {"reasoning": "r", "edits": [{"op": "delete", "target": "No rules yet."}]}
    done = lab.train(By(analyst=shorter), f"evaluation.accept_shorter_ties={setting}")
    assert done.verdicts == [verdict]
    longer = lab.train(By(analyst=append("- idle")), f"evaluation.accept_shorter_ties={setting}")
    assert longer.verdicts == ["reject"]


# --- confirmation


def test_a_share_of_val_is_kept_from_the_gate_and_both_numbers_are_reported(lab: Lab) -> None:
    folder = lab.repo(val=10)
    settings = ("evaluation.confirm_ratio=0.4", "train.num_epochs=2", "evaluation.eval_test=true")
    done = lab.train(By(analyst=[append(RULE["A"]), append("- idle")]), *settings, folder=folder)
    gated = {task for record in done.records() for key in ("improved", "regressed") for task in record["gate"][key]}
    first = done.records()[0]["record"]
    per_task = notes.read_records(done.repo, notes.RESULTS, [first["skill"]])[first["skill"]]
    by_record = {entry["record"]: set(entry["tasks"]) for entry in per_task}
    seen = by_record[first["id"]]
    (confirm,) = [by_record[r["id"]] for r in done.evals(first["skill"]) if r["split"] == "confirm"]
    assert (len(seen), len(confirm), seen & confirm) == (6, 4, set())
    assert gated <= seen
    report = done.finished.confirm
    assert set(report) == {"initial", "best", "current"}
    assert report["best"]["n"] == 4
    assert report["best"]["hard"] > report["initial"]["hard"] == 0.0
    assert done.finished.best["score"] == first["score"]
    asked = [r.messages[-1].content[1:] for r in done.requests("target")]
    position = {task: asked.index(task) for task in confirm}
    last_val = max(n for n, task in enumerate(asked) if task in seen)
    assert min(position.values()) > last_val, "the confirmation tasks are first asked at the very end"


# --- noise


def test_the_believable_change_is_quoted_once_noise_was_measured(lab: Lab, skillgit: Any) -> None:
    folder = lab.repo(val=8)

    def shaky(request: Request) -> str:
        # Two of eight tasks differ between the two samples of the same text.
        lucky = request.seed == 1 and request.messages[-1].content in ("Aval0", "Aval2")
        return f"a-{request.messages[-1].content[1:]}" if lucky else greeter(request)

    with lab.models([], By(), shaky):
        plain = ("--set", "model.backend=scripted", "--set", "model.target=t")
        code, out, err = skillgit(folder, "noise", "greeter", *plain, "--json")
    assert code == 0, err
    found = json.loads(out)
    assert (found["flip_rate"], found["n"]) == (0.25, 8)
    done = lab.train(By(analyst=append(RULE["A"])), folder=folder, target=shaky)
    line = done.gate_lines(done.ends()[0].commit or "")[0]
    assert f"believable change {found['believable_change']:.3f}" in line
    quiet = lab.train(By(analyst=append(RULE["A"])), folder=lab.repo(val=8))
    assert "believable" not in quiet.gate_lines(quiet.ends()[0].commit or "")[0]


# --- the same decisions with fewer calls


def sometimes_harmful(request: Request) -> dict[str, Any]:
    """Good, useless and harmful edits in an order that depends on the call's seed alone."""
    chance = random.Random(request.seed)
    edits = [RULE["A"], RULE["B"], HARM, f"- idle {request.seed}", f"- HARM: shout louder {request.seed}"]
    have = words(request)
    fresh = [edit for edit in edits if edit not in have]
    return append(*chance.sample(fresh, min(len(fresh), chance.choice([1, 1, 2]))))


def run_harmful(lab: Lab, *settings: str) -> Done:
    sizes = ("train.num_epochs=4", "train.batch_size=4", "env.workers=4", "train.seed=3")
    return lab.train(sometimes_harmful, *sizes, *settings, folder=lab.repo(val=24, train=12), target=hard_greeter)


def hard_greeter(request: Request) -> str:
    """As the greeter, with some tasks of each kind that never go right."""
    return "dunno" if request.messages[-1].content.endswith(("4", "7")) else greeter(request)


def test_fail_first_accepts_the_same_commits_with_fewer_calls(lab: Lab) -> None:
    full, first = (run_harmful(lab, f"evaluation.fail_first={on}") for on in ("false", "true"))
    assert {"accept_new_best", "reject"} <= set(full.verdicts)
    assert first.verdicts == full.verdicts
    assert first.trees() == full.trees()
    assert len(first.trees()) > 2
    saved = full.counts["target"] - first.counts["target"]
    print(f"target calls: {full.counts['target']} in full, {first.counts['target']} fail-first, {saved} saved")
    assert saved > 0
    partial = [r["record"] for r in first.records() if "record" in r and not r["record"]["complete"]]
    assert partial
    for record in partial:
        assert record["bound"]["planned"] == 24
        assert record["n"] < 24
        assert record["bound"]["score_at_most"] <= 1


def test_without_the_gate_the_same_proposals_do_harm_that_the_records_show(lab: Lab) -> None:
    done = run_harmful(lab, "evaluation.use_gate=false")
    assert set(done.verdicts) <= {"force_accept", "skip_no_patches", "no_op"}
    scores = [record["record"]["score"] for record in done.records() if "record" in record]
    assert any(after < before for before, after in pairwise(scores))
    gated = run_harmful(lab)
    accepted = [r["record"]["score"] for r in gated.records() if r["commit"]]
    assert accepted == sorted(accepted)
    assert done.state.current.score < gated.state.current.score
