"""Nights after nights, and several documents in one: what stays, what is taken up, and what one costs another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skillgit.errors import BudgetReachedError, ConfigError, GitError, RefusalError, SkillError
from skillgit.git.publish import Publication, publish
from skillgit.models.base import Request
from skillgit.sleep.events import NightFinished, NightPlanned
from skillgit.sleep.mine.base import MinedTask
from skillgit.sleep.night.find import splits_of
from skillgit.sleep.night.past import Past
from skillgit.sleep.proposals import rejected
from skillgit.sleep.proposals.journal import read_nights
from skillgit.sleep.proposals.record import NightRecord
from skillgit.sleep.proposals.states import proposals
from tests.conftest import SKILL, git
from tests.sleep.night.lab import NightLab, mined, proposing, words
from tests.sleep.night.test_night import OTHER, RULE, always, shouter, tasks

DOTTED = [
    mined(f"d{n}", f"Say word{n}, dotted.", f"WORD{n}.", "val" if n < 3 else "train", said=("And a full stop",))
    for n in range(6)
]
DAMAGED = SKILL + "\n<!-- SLOW_UPDATE_START -->\nnever ends\n"


@pytest.fixture
def lab(tmp_path: Path) -> NightLab:
    return NightLab.at(tmp_path / "repo")


def both(request: Request) -> str:
    """Follows both rules, the second where it is asked for."""
    dots = "dotted" in request.messages[-1].content and OTHER in words(request)
    return f"{shouter(request)}." if dots else shouter(request)


def fates(lab: NightLab) -> list[tuple[str, list[str]]]:
    return [(state.status, [one.fate for one in state.lessons]) for state in proposals(lab.repo)]


@pytest.mark.parametrize("calls", [1, 2])
def test_a_limit_while_lessons_are_tried_again_loses_none_of_them(lab: NightLab, calls: int) -> None:
    lab.run([*tasks(6), *DOTTED], both, always(RULE, OTHER))
    more = [*tasks(6), *DOTTED, mined("more", "Say word77.", "WORD77", "val")]
    with pytest.raises(BudgetReachedError):
        lab.run(more, both, always(), f"budget.calls={calls}")
    assert fates(lab) == [("open", ["open", "open"])]
    (record,) = lab.run(more, both, always())
    assert [one.rule for one in record.lessons] == [RULE, OTHER]


def test_a_proposal_that_was_not_tried_again_is_not_replaced(lab: NightLab) -> None:
    lab.run(tasks(), shouter, always(RULE))
    more = [*tasks(), mined("more", "Say word77.", "WORD77")]
    (record,) = lab.run(more, lambda request: shouter(request).upper(), always(RULE), "model.target=better")
    assert (record.verdict, record.supersedes) == ("no_headroom", ())
    assert fates(lab) == [("open", ["open"])]


def test_a_merge_that_was_reverted_turns_its_lessons_down(lab: NightLab) -> None:
    (first,) = lab.run(tasks(), shouter, always(RULE))
    git(lab.folder, "merge", "--no-ff", "--quiet", "--no-edit", first.branch)
    git(lab.folder, "revert", "--no-edit", "-m", "1", "HEAD")
    assert fates(lab) == [("reverted", ["reverted"])]
    assert [one.reason for one in rejected.read(lab.repo, "learned")] == ["adopted, and reverted"]
    (second,) = lab.run(tasks(), shouter, always(RULE), again=True)
    assert (second.branch, second.lessons[0].verdict) == ("", "known")
    git(lab.folder, "revert", "--no-edit", "HEAD")
    assert fates(lab) == [("adopted", ["adopted"])]


def test_while_a_proposal_is_looked_at_nights_begin_at_the_main_branch(lab: NightLab) -> None:
    (first,) = lab.run(tasks(6), shouter, always(RULE))
    git(lab.folder, "switch", "--quiet", first.branch)
    (second,) = lab.run([*tasks(6), *DOTTED], both, always(OTHER))
    assert second.base == git(lab.folder, "rev-parse", "main")
    assert [one.rule for one in second.taken] == [RULE, OTHER]


def test_a_rule_that_was_turned_down_may_still_be_removed(tmp_path: Path) -> None:
    harm = "- Whisper."
    lab = NightLab.at(tmp_path / "repo", {"skills/greeter/SKILL.md": SKILL})
    lab.run(tasks(skill="greeter"), shouter, always(harm))
    assert [one.rule for one in rejected.read(lab.repo, "greeter")] == [harm]
    (lab.folder / "skills/greeter/SKILL.md").write_text(f"{SKILL}\n{harm}\n")
    git(lab.folder, "commit", "--quiet", "--all", "-m", "by hand")

    def target(request: Request) -> str:
        return "psst" if harm in words(request) else shouter(request).upper()

    (record,) = lab.run(tasks(skill="greeter"), target, lambda _: proposing("", op="delete", target=harm))
    assert [one.verdict for one in record.taken] == ["accept_new_best"]


def test_what_was_learned_from_once_never_measures_again(lab: NightLab) -> None:
    first, second = (
        NightRecord(f"2026-01-0{n}", "s", "s.md", "s.md", "", "", "nothing", splits={"a": a, "b": "val"})
        for n, a in ((1, "val"), (2, "train"))
    )
    assert splits_of([first, second]) == splits_of([second, first]) == {"a": "train", "b": "val"}


def test_a_damaged_document_costs_no_other_one(tmp_path: Path) -> None:
    files = {"skills/greeter/SKILL.md": SKILL, "skills/broken/SKILL.md": DAMAGED.replace("greeter", "broken")}
    lab = NightLab.at(tmp_path / "repo", files)
    asked = [*tasks(skill="greeter"), mined("x", "Say word9 too.", "WORD9", skill="broken")]
    (record,) = lab.run(asked, shouter, always(RULE))
    assert record.skill == "greeter"
    assert any("broken is left out: SLOW_UPDATE region never ends" in note for note in record.notes)
    with pytest.raises(SkillError, match="SLOW_UPDATE region never ends"):
        lab.run(asked, shouter, always(RULE), only=("broken",))


@pytest.mark.parametrize("text", ["Mine.\n<!-- LEARNED_START -->\n- Old.\n", "<!-- LEARNED_END -->\n"])
def test_a_damaged_memory_file_is_left_alone_before_anything_is_paid(tmp_path: Path, text: str) -> None:
    lab = NightLab.at(tmp_path / "repo", {"CLAUDE.md": text})
    assert lab.run(tasks(), shouter, always(RULE), "sleep.learned_skill=", "sleep.memory=CLAUDE.md") == []
    assert lab.asked == []


def test_a_memory_file_that_is_a_link_is_left_alone(tmp_path: Path) -> None:
    lab = NightLab.at(tmp_path / "repo", {"AGENTS.md": "Mine.\n"})
    (lab.folder / "CLAUDE.md").symlink_to("AGENTS.md")
    git(lab.folder, "add", "--all")
    git(lab.folder, "commit", "--quiet", "-m", "link")
    (record,) = lab.run(tasks(), shouter, always(RULE), "sleep.learned_skill=", "sleep.memory=[CLAUDE.md, AGENTS.md]")
    assert record.skill == "AGENTS"
    assert any("CLAUDE.md is a symbolic link" in note for note in record.notes)


def test_memory_files_of_one_name_in_two_folders_are_two_documents(lab: NightLab) -> None:
    settings = ("sleep.learned_skill=", "sleep.memory=[CLAUDE.md, .github/docs/CLAUDE.md]")
    records = lab.run(tasks(), shouter, always(RULE), *settings)
    assert [record.skill for record in records] == ["CLAUDE", "github-docs-CLAUDE"]
    assert all(RULE in lab.text(record.branch, record.path) for record in records)
    assert lab.run(tasks(), shouter, always(RULE), *settings) == []


@pytest.mark.parametrize("setting", ["sleep.memory=é.md", "sleep.learned_skill=my rules", "sleep.memory=greeter.md"])
def test_names_that_cannot_be_or_mean_two_things_cost_nothing(tmp_path: Path, setting: str) -> None:
    lab = NightLab.at(tmp_path / "repo", {"skills/greeter/SKILL.md": SKILL})
    with pytest.raises(ConfigError):
        lab.run([*tasks(4), *tasks(skill="greeter")], shouter, always(RULE), setting)
    assert lab.asked == []


def test_a_branch_in_the_way_is_found_before_anything_is_paid(lab: NightLab) -> None:
    git(lab.folder, "branch", "sleep")
    with pytest.raises(GitError, match="there is a branch sleep"):
        lab.run(tasks(), shouter, always(RULE))
    assert lab.asked == []


def test_the_learned_skill_in_play_is_one_document(lab: NightLab) -> None:
    (first,) = lab.run(tasks(), shouter, always(RULE))
    git(lab.folder, "merge", "--ff-only", "--quiet", first.branch)
    own = [
        mined(f"o{n}", f"Say word{n}, dotted.", f"WORD{n}.", skill="learned", said=("A full stop",)) for n in range(3)
    ]
    (record,) = lab.run([*tasks(), *own], both, always(OTHER))
    assert (record.skill, record.counts["train"]) == ("learned", 7)


def test_auto_adopt_takes_every_document_of_a_night(lab: NightLab) -> None:
    git(lab.folder, "switch", "--quiet", "-c", "work")
    lab.run(tasks(), shouter, always(RULE), "sleep.memory=AGENTS.md", "sleep.auto_adopt=main")
    assert all("was merged onto main" in event.why for event in lab.events if isinstance(event, NightFinished))
    assert RULE in lab.text("main")
    assert RULE in lab.text("main", "AGENTS.md")


@pytest.mark.parametrize("verdict", ["refused", "over_budget"])
def test_text_of_a_task_is_in_no_record_of_a_night(lab: NightLab, verdict: str) -> None:
    """As a lesson that is refused, or one that was never tried; and in what the optimizer thought."""
    long = "Please look at the quarterly invoice for the harbour office and say the total of word"
    said = {7: "Use a full stop at the end"} if verdict == "over_budget" else {}
    asked = [
        mined(f"t{n}", f"{long}{n}.", f"WORD{n}", "val" if n < 4 else "train", said=(said.get(n, "In capitals!"),))
        for n in range(8)
    ]

    def optimizer(request: Request) -> Any:
        copies = not said or said[7] in words(request)
        rule = f"- When asked to {long.lower()}3, shout." if copies else OTHER
        return proposing(rule) | {"reasoning": f"They asked: {long}4"}

    (record,) = lab.run(asked, shouter, optimizer, "sleep.edit_budget=1")
    assert record.lessons[-1].verdict == verdict
    objects = git(lab.folder, "rev-list", "--all", "--objects").splitlines()
    assert not [line for line in objects if "harbour office" in git(lab.folder, "cat-file", "-p", line.split()[0])]


def test_a_lesson_under_which_an_answer_is_missing_is_not_taken_and_not_turned_down(lab: NightLab) -> None:
    def target(request: Request) -> str:
        if RULE in words(request) and "word0" in words(request):
            raise RefusalError("no")
        return shouter(request) if "word0" not in words(request) else "WORD0"

    (record,) = lab.run(tasks(), target, always(RULE))
    assert (record.branch, record.lessons[0].verdict) == ("", "underpowered")
    assert "t0" in record.lessons[0].why
    assert rejected.read(lab.repo, "learned") == []


def test_rewordings_that_fail_are_told(lab: NightLab) -> None:
    def optimizer(request: Request) -> Any:
        return "no" if "You reword requests" in words(request) else proposing(RULE)

    (record,) = lab.run(tasks(), shouter, optimizer, "sleep.dream_factor=2")
    assert record.verdict == "verified"
    assert any("4 tasks were not reworded: unusable reply" in note for note in record.notes)


def _graded(count: int) -> list[MinedTask]:
    loud = {"type": "rubric", "rubric": "it is loud"}
    return [mined(f"t{n}", f"Say word{n}.", split="val" if n < 4 else "train", judge=loud) for n in range(count)]


@pytest.mark.parametrize(
    ("settings", "asked"),
    [
        (("sleep.dream_factor=2",), tasks()),
        (("sleep.dream_factor=1", "sleep.rollouts=3"), tasks(vals=1)),
        (("evaluation.repeats=2", "sleep.rollouts=2"), tasks()),
        ((), _graded(8)),
        (("sleep.min_val=9", "sleep.dream_factor=1"), _graded(8)),
    ],
)
def test_the_calls_that_are_foretold_are_the_most_there_can_be(
    lab: NightLab, settings: tuple[str, ...], asked: list[MinedTask]
) -> None:
    """Even when every reply of the optimizer is asked for twice."""
    seen: set[str] = set()

    def optimizer(request: Request) -> Any:
        text = words(request)
        if "could not be used" not in text:
            return "hm"
        if "You reword requests" in text:
            word = text.partition("<request>\n")[2].partition("\n")[0]
            return {"requests": [f"{word} Please.", f"{word} Now."]}
        if "You grade one answer" in text:
            return {"score": float("WORD" in text)}
        seen.add(text)
        return proposing(*(f"- Rule number {len(seen)} of kind {n}." for n in range(3)), RULE)

    lab.run(asked, shouter, optimizer, *settings)
    (planned,) = (event for event in lab.events if isinstance(event, NightPlanned))
    assert len(lab.asked) <= planned.calls


def test_recalled_tasks_are_remembered_as_learned_from(lab: NightLab, monkeypatch: pytest.MonkeyPatch) -> None:
    from skillgit.sleep.night import start
    from skillgit.sleep.night.find import Found

    earlier = mined("old", "Say word99 aloud for all of them.", "WORD99")
    monkeypatch.setattr(start, "find", lambda *_, **__: Found(tuple(tasks()), (earlier,)))
    lab.run(None, shouter, always(RULE), "sleep.recall=1")
    (record,) = read_nights(lab.repo, "learned")
    assert record.splits["old"] == "train"


def test_a_lesson_that_is_tried_again_counts_the_new_evidence(lab: NightLab) -> None:
    lab.run(tasks(6), shouter, always(RULE))
    more = [mined("new", "Say word70.", "WORD70", said=("In capitals!",))]
    (record,) = lab.run([*tasks(6), *DOTTED, *more], both, always(OTHER))
    assert set(record.taken[0].sessions) == {"session-t4", "session-t5", "session-new"}


def test_a_night_that_leaves_a_proposal_as_it_is_says_so(lab: NightLab) -> None:
    (first,) = lab.run(tasks(), shouter, always(RULE))
    lab.run([*tasks(), mined("new", "Say word70.", "WORD70", "val")], shouter, always(RULE))
    *_, last = (event for event in lab.events if isinstance(event, NightFinished))
    assert (last.branch, last.why) == ("", f"lessons wait in {first.branch}")


def test_what_the_optimizer_wrote_in_vain_is_told(lab: NightLab) -> None:
    asked = [
        mined(f"t{n}", f"Say word{n}.", f"WORD{n}", "val" if n < 4 else "train", said=(f"{'In capitals' * (n % 2)}!",))
        for n in range(8)
    ]

    def optimizer(request: Request) -> Any:
        return proposing(RULE) if "In capitals" in words(request) else {"edits": "they said: Say word5"}

    (record,) = lab.run(asked, shouter, optimizer)
    assert record.verdict == "verified"
    assert "a reply of the optimizer was not used: unusable reply" in record.notes


def test_a_rule_may_ask_for_what_people_asked_for_in_so_many_words(lab: NightLab) -> None:
    header = {"type": "checks", "checks": [{"op": "contains", "arg": "Next steps"}]}
    asked = [
        mined(
            f"t{n}", f"Plan {n}.", split="val" if n < 4 else "train", judge=header, said=('It must say "Next steps"',)
        )
        for n in range(8)
    ]
    rule = "- End every plan with a part called Next steps."

    def target(request: Request) -> str:
        return "Next steps: go." if rule in words(request) else "Go."

    (record,) = lab.run(asked, target, always(rule))
    assert [one.verdict for one in record.lessons] == ["accept_new_best"]
    secret = [mined(f"s{n}", f"Plan {n}.", split="val" if n < 4 else "train", judge=header) for n in range(8)]
    (record,) = lab.run(secret, target, always(rule))
    assert {one.verdict for one in record.lessons} == {"refused"}


def test_a_rule_that_waits_in_two_proposals_is_tried_once(lab: NightLab) -> None:
    """As after two clones had a night each: the second try would gain nothing, and turn the rule down."""
    lab.run(tasks(6), shouter, always(RULE))
    (state,) = proposals(lab.repo)
    assert [one.rule for one in Past((state, state), ()).waiting] == [RULE]


@pytest.mark.parametrize("person", [False, True])
def test_what_gained_nothing_is_tried_again_on_twice_the_evidence_unless_a_person_said_no(
    lab: NightLab, *, person: bool
) -> None:
    def told(n: int, split: str = "train") -> MinedTask:
        return mined(f"d{n}", f"Say word{n}, dotted.", f"word{n}.", split, said=("And a full stop",))

    def target(request: Request) -> str:
        word = request.messages[-1].content.split()[1].strip(",.")
        return f"{word}." if OTHER in words(request) and "dotted" in words(request) else word

    early = [*(mined(f"v{n}", f"Say word{n} now.", f"WORD{n}", "val") for n in range(3)), told(4)]
    (first,) = lab.run(early, target, always(OTHER))
    assert [one.verdict for one in first.lessons] == ["reject"]
    if person:
        row = rejected.Rejected(first.lessons[0].edit, "no", first.night, "person")
        publish(lab.repo, Publication(drafts=rejected.add(lab.repo, "learned", [row])))
    (second,) = lab.run([*early, told(6, "val")], target, always(OTHER))
    assert [one.verdict for one in second.lessons] == ["known"]
    (third,) = lab.run([*early, told(6, "val"), told(5)], target, always(OTHER))
    assert [one.verdict for one in third.lessons] == ["known" if person else "accept_new_best"]


def test_tasks_that_no_document_is_for_are_told(tmp_path: Path) -> None:
    lab = NightLab.at(tmp_path / "repo", {"skills/greeter/SKILL.md": SKILL})
    asked = [*tasks(skill="greeter"), mined("x", "Say it.", "IT"), mined("y", "Say that.", "THAT", skill="elsewhere")]
    (record,) = lab.run(asked, shouter, always(RULE), "sleep.learned_skill=")
    assert "2 tasks speak of no skill here, and sleep.learned_skill is blank" in record.notes


def test_a_proposal_that_can_be_verified_at_last_is_replaced_by_one_that_says_so(lab: NightLab) -> None:
    (weak,) = lab.run(tasks(vals=2), shouter, always(RULE))
    (strong,) = lab.run([*tasks(vals=2), mined("new", "Say word70.", "WORD70", "val")], shouter, always(RULE))
    assert (weak.verdict, strong.verdict) == ("unverified", "verified")
    assert strong.supersedes == (weak.night,)
    (again,) = lab.run(tasks(vals=2), shouter, always(RULE))
    assert (again.branch, again.supersedes) == ("", ())
