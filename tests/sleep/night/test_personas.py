"""The experiment of the published system, without any model: what a person wants is learned, what harms is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillgit.git.notes import EVALS, read_records
from tests.conftest import git
from tests.sleep.night.lab import NightLab
from tests.sleep.night.personas import HARM, RULES, Persona, persona, programmer, researcher


@pytest.mark.parametrize("make", [researcher, programmer])
def test_the_held_out_score_rises_to_its_ceiling(make: type[Persona], tmp_path: Path) -> None:
    lab, person = NightLab.at(tmp_path / "repo"), make()
    (record,) = lab.run(person.tasks, person.target, person.optimizer())
    assert record.verdict == "verified"
    assert record.taken[0].base_score == 0.0
    assert record.taken[-1].score == 1.0
    wanted = {rule for rules in person.needs.values() for rule in rules}
    assert {rule for rule in RULES if RULES[rule] in lab.text(record.branch)} == wanted


def test_each_lesson_is_one_commit_with_what_it_gained(tmp_path: Path) -> None:
    lab, person = NightLab.at(tmp_path / "repo"), researcher()
    (record,) = lab.run(person.tasks, person.target, person.optimizer())
    assert len(lab.subjects(record.branch)) == len(record.taken) == 2
    for lesson in record.taken:
        message = git(lab.folder, "log", "-1", "--format=%B", lesson.commit)
        assert "Skillgit-Evidence: sessions=" in message
        assert f"{lesson.base_score:.3f} -> {lesson.score:.3f}" in message
        skill = git(lab.folder, "rev-parse", f"{lesson.commit}:skills/learned")
        kept = read_records(lab.repo, EVALS, [skill])[skill]
        assert [entry["score"] for entry in kept] == [lesson.score]


def test_a_rule_that_helps_nobody_is_rejected(tmp_path: Path) -> None:
    lab, person = NightLab.at(tmp_path / "repo"), researcher()
    (record,) = lab.run(person.tasks, person.target, person.optimizer(HARM))
    harmful = next(lesson for lesson in record.lessons if HARM in lesson.rule)
    assert (harmful.verdict, harmful.commit) == ("reject", "")
    assert HARM not in lab.text(record.branch)


def test_a_rule_that_spoils_one_task_is_rejected_though_the_mean_rises(tmp_path: Path) -> None:
    lab, person = NightLab.at(tmp_path / "repo"), programmer()
    lab.run(person.tasks, person.target, person.optimizer())
    git(lab.folder, "merge", "--quiet", "--no-edit", git(lab.folder, "branch", "--list", "sleep/*").strip())
    # Now that rule is known; one that mends other tasks and spoils this one must not come in.
    other = persona("coder", 8, (("imperative", "tags"),))
    val = next(one.task.id for one in other.tasks if one.split == "val")
    other.needs[val], other.spoiled = ("imperative",), frozenset([val])
    both = f"{HARM} {RULES['tags']}"
    (record,) = lab.run(other.tasks, other.target, other.optimizer(both), "sleep.edit_budget=1")
    lesson = record.lessons[0]
    assert lesson.verdict == "reject"
    assert lesson.regressed == (val,)
    assert lesson.why == f"pinned tasks got worse: {val}"
    assert record.branch == ""


def test_the_same_rule_comes_in_when_regressions_are_allowed(tmp_path: Path) -> None:
    lab, person = NightLab.at(tmp_path / "repo"), programmer()
    val = [one.task.id for one in person.tasks if one.split == "val"]
    person.needs = {**dict.fromkeys(person.needs, ("tags",)), val[0]: ()}
    person.spoiled = frozenset(val[:1])
    both = f"{HARM} {RULES['tags']}"
    settings = ("sleep.edit_budget=1", "sleep.no_regression=false")
    (record,) = lab.run(person.tasks, person.target, person.optimizer(both), *settings)
    assert record.taken[0].regressed == tuple(val[:1])
