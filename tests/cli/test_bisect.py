"""`skillgit bisect` on a history with one harmful commit, counting what the target is asked."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from skillgit.errors import TransientModelError
from skillgit.models.base import Request
from tests.conftest import SKILL, git
from tests.train.lab import HARM, RULE, Lab, greeter
from tests.train.processes import install_backend

PATH = "skills/greeter/SKILL.md"
SETTINGS = ("--set", "model.backend=scripted", "--set", "model.target=t")
VERSIONS, HARMFUL = 30, 17

Run = Callable[..., tuple[int, str, str]]


class History:
    """Versions of the greeter, oldest first. Everything the target is asked is kept."""

    def __init__(self, folder: Path, skillgit: Run, asked: list[Request]) -> None:
        self.folder, self.asked, self._skillgit = folder, asked, skillgit
        self.commits = git(folder, "log", "--reverse", "--format=%H", "--", PATH).split()[1:]

    def write(self, subject: str, line: str) -> str:
        self.commits.append(write(self.folder, subject, line))
        return self.commits[-1]

    def mend(self) -> None:
        """Take the harm out again."""
        code, _, err = self._skillgit(self.folder, "revert", self.commits[HARMFUL])
        assert code == 0, err
        self.commits.append(git(self.folder, "rev-parse", "HEAD"))

    def eval(self, number: int) -> None:
        code, _, err = self._skillgit(self.folder, "eval", "greeter", self.commits[number], *SETTINGS)
        assert code == 0, err

    def bisect(self, *args: str, good: str = "", bad: str = "") -> tuple[int, str, str]:
        ends = ("--good", good or self.commits[0], "--bad", bad or self.commits[-1])
        return self._skillgit(self.folder, "bisect", "greeter", *ends, *SETTINGS, *args)

    def found(self, *args: str, **ends: str) -> dict[str, Any]:
        code, out, err = self.bisect(*args, "--json", **ends)
        assert code == 0, err
        return json.loads(out)

    def records(self, commit: str) -> list[str]:
        name = f"{commit}:skills/greeter"
        return git(self.folder, "notes", "--ref=skillgit/evals", "show", name, check=False).splitlines()


def write(folder: Path, subject: str, line: str) -> str:
    """Commit the skill with one more line."""
    with (folder / PATH).open("a") as file:
        file.write(f"{line}\n")
    git(folder, "commit", "--quiet", "-am", subject)
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


@pytest.fixture(scope="module")
def _written_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("history") / "repo"


@pytest.fixture
def history(_written_once: Path, lab: Lab, skillgit: Run) -> Iterator[History]:
    """Thirty versions, the first with both rules; number 17 adds the harm."""
    if not _written_once.exists():
        folder = lab.repo()
        write(folder, "both rules", "\n".join(RULE.values()))
        for number in range(1, VERSIONS):
            if number == HARMFUL:
                write(folder, "skill(greeter): be loud\n\nSkillgit-Run: night-3\nSkillgit-Step: 2", HARM)
            else:
                write(folder, f"skill(greeter): note {number}", f"- Note {number}.")
        shutil.copytree(folder, _written_once)
    folder = lab.folder / "history"
    shutil.copytree(_written_once, folder)
    asked: list[Request] = []
    with lab.models(asked, str, greeter):
        yield History(folder, skillgit, asked)


def test_the_harmful_commit_is_found_with_few_measurements(history: History) -> None:
    found = history.found("--metric", "hard")
    first = found["first_bad"]
    assert (first["commit"], first["run"], first["step"]) == (history.commits[HARMFUL], "night-3", 2)
    assert (first["before"][0]["score"], first["score"]) == (1.0, 0.5)
    assert f"+{HARM}" in first["patch"]
    # Two ends and five halvings of 29, six tasks each.
    assert len(history.asked) == 7 * 6
    assert found["calls"] == {"spent": 42, "saved": 138, "per_version": 6, "all_versions": 180}
    assert [len(history.records(part["commit"])) for part in found["measured"]] == [1] * 7


def test_records_narrow_the_range_and_are_not_paid_again(history: History) -> None:
    for number in (0, 4, 15, 19, 29):
        history.eval(number)
    history.asked.clear()
    found = history.found()
    assert found["first_bad"]["commit"] == history.commits[HARMFUL]
    assert found["known"] == 5
    assert {part["commit"] for part in found["measured"]} == {history.commits[HARMFUL - 1], history.commits[HARMFUL]}
    assert len(history.asked) == found["calls"]["spent"] == 12
    history.asked.clear()
    again = history.found()
    assert (again["first_bad"], again["measured"], again["known"]) == (found["first_bad"], [], 7)
    assert history.asked == []


def test_one_task_costs_one_call_for_a_version_and_leaves_no_record(history: History) -> None:
    history.eval(0)
    history.asked.clear()
    found = history.found("--task", "val2")
    assert (found["task"], found["split"], found["known"]) == ("val2", "val", 1)
    assert found["first_bad"]["commit"] == history.commits[HARMFUL]
    assert len(history.asked) == found["calls"]["spent"] <= 6
    assert {request.messages[-1].content for request in history.asked} == {"Aval2"}
    assert all(history.records(part["commit"]) == [] for part in found["measured"])
    asked = len(history.asked)
    assert history.found("--task", "val2")["calls"]["spent"] == 0
    assert len(history.asked) == asked


def test_a_task_that_did_not_break_is_nothing_to_find(history: History) -> None:
    code, out, err = history.bisect("--task", "val1")
    assert (code, out) == (1, "")
    assert "the good revision scores 1.000, the bad one 1.000" in err


def test_two_revisions_with_the_same_text_need_no_measuring(history: History) -> None:
    code, _, err = history.bisect(good=history.commits[-1])
    assert code == 1
    assert "both revisions hold the same skill" in err
    assert history.asked == []


def test_a_task_of_another_split_is_found_there(history: History) -> None:
    assert history.found("--task", "test0")["split"] == "test"
    code, _, err = history.bisect("--task", "test0", "--split", "val")
    assert code == 2
    assert "no task 'test0'" in err
    assert "next: take one of" in err


def test_repeats_are_samples_of_every_version(history: History) -> None:
    found = history.found("--task", "val2", "--set", "evaluation.repeats=3")
    assert found["calls"]["per_version"] == 3
    assert len(history.asked) == 3 * len(found["measured"])


def test_records_made_under_other_conditions_do_not_count(history: History) -> None:
    history.eval(0)
    assert history.found("--set", "evaluation.repeats=2", "--dry-run")["versions"][0]["score"] is None
    assert history.found("--dry-run")["versions"][0]["score"] == 1.0


def test_a_dry_run_tells_what_is_known_and_the_most_it_can_take(history: History) -> None:
    for number in (0, 15, 19, 29):
        history.eval(number)
    asked = len(history.asked)
    plan = history.found("--dry-run")
    assert (plan["measurements"], plan["calls"]["at_most"]) == (2, 12)
    assert sum(version["score"] is not None for version in plan["versions"]) == 4
    code, out, _ = history.bisect("--dry-run")
    assert code == 0
    assert out.splitlines()[0] == "30 versions, 4 known from records; at most 2 to measure, 12 target calls"
    assert len(history.asked) == asked


def test_the_printed_answer_names_commit_step_scores_lines_and_calls(history: History) -> None:
    code, out, err = history.bisect()
    assert code == 0, err
    assert f"first bad commit: {history.commits[HARMFUL]}\n  skill(greeter): be loud\n  run night-3, step 2" in out
    assert f"val hard 1.000 ({history.commits[HARMFUL - 1][:12]}) -> 0.500" in out
    assert f"\n+{HARM}\n" in out
    assert "bad means below 0.750; good 1.000, bad 0.500" in out
    assert "a part of the fall" not in out
    assert "calls      42 spent, 138 saved (180 to measure all 30 versions)" in out
    assert "30 versions, 0 known from records; at most 7 to measure, 42 target calls" in err


def test_the_limit_on_calls_holds_and_the_same_command_goes_on(history: History) -> None:
    assert history.bisect("--max-calls", "20")[0] == 6
    assert len(history.asked) == 20
    assert history.found()["first_bad"]["commit"] == history.commits[HARMFUL]
    assert len(history.asked) == 42


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_stopped_at_any_moment_it_goes_on_without_paying_again(
    history: History, tmp_path: Path, number: signal.Signals
) -> None:
    env = install_backend(tmp_path) | {"COUNTED_LATENCY": "0.05"}
    settings = ["--set", "model.backend=counted", "--set", "model.target=t", "--set", "env.workers=3"]
    ends = ["--good", history.commits[0], "--bad", history.commits[-1]]
    command = [sys.executable, "-m", "skillgit", "-C", history.folder, "bisect", "greeter", *ends, *settings, "--json"]
    process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    log = tmp_path / "calls.log"
    while not log.exists() or len(log.read_text().splitlines()) < 10:
        time.sleep(0.01)
    process.send_signal(number)
    assert process.wait() == (130 if number == signal.SIGINT else -number)
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["first_bad"]["commit"] == history.commits[HARMFUL]
    calls = [line.split()[1] for line in log.read_text().splitlines()]
    assert len(set(calls)) == 42
    # Only what was in flight when the process was killed is asked once more.
    assert len(calls) - 42 <= (0 if number == signal.SIGINT else 3)


def test_ends_that_are_swapped_or_of_no_common_line_are_refused(history: History) -> None:
    code, _, err = history.bisect(good=history.commits[20], bad=history.commits[3])
    assert code == 4
    assert "is not an ancestor of" in err
    assert f"--good {history.commits[3][:12]} --bad {history.commits[20][:12]}" in err
    history.mend()
    code, _, err = history.bisect(good=history.commits[20], bad="HEAD")
    assert code == 2
    assert "the good revision scores 0.500, the bad one 1.000" in err


def test_a_score_that_rose_again_before_it_fell_is_told(history: History) -> None:
    history.mend()
    again = history.write("skill(greeter): be loud again", HARM)
    for number in (20, -2):
        history.eval(number)
    code, out, err = history.bisect()
    assert code == 0, err
    assert f"first bad commit: {again}" in out
    assert f"note: {history.commits[20][:12]} (0.500) was bad too, and the later" in out


def test_a_model_that_gives_no_answer_is_never_bad(lab: Lab, history: History, skillgit: Run) -> None:
    for number in (0, VERSIONS - 1):
        history.eval(number)

    def dead(request: Request) -> str:
        raise TransientModelError("no route to host")

    with lab.models([], str, dead):
        for args in ((), ("--task", "val0")):
            code, out, _ = history.bisect(*args, "--set", "model.retries=0")
            assert (code, out) == (5, "")
    assert history.found()["first_bad"]["commit"] == history.commits[HARMFUL]


def test_a_merge_is_named_with_what_it_brought(history: History) -> None:
    folder = history.folder
    git(folder, "switch", "--quiet", "-c", "sleep/greeter/n1", history.commits[2])
    (folder / PATH).write_text((folder / PATH).read_text().replace("# Greeter\n", f"# Greeter\n\n{HARM} at once\n"))
    git(folder, "commit", "--quiet", "-am", "skill(greeter): at once")
    git(folder, "switch", "--quiet", "main")
    git(folder, "reset", "--quiet", "--hard", history.commits[9])
    git(folder, "merge", "--quiet", "--no-ff", "-m", "take the night", "sleep/greeter/n1")
    found = history.found(good=history.commits[5], bad="HEAD")
    assert found["first_bad"]["commit"] == git(folder, "rev-parse", "HEAD")
    assert [part["subject"] for part in found["first_bad"]["brought"]] == ["skill(greeter): at once"]
    inside = history.found(good=history.commits[0], bad="HEAD")
    assert inside["first_bad"]["subject"] == "skill(greeter): at once"


def test_commits_without_a_readable_skill_are_passed_over_and_told(history: History) -> None:
    folder = history.folder
    git(folder, "reset", "--quiet", "--hard", history.commits[10])
    (folder / PATH).write_bytes(b"\xff\xfe")
    git(folder, "commit", "--quiet", "-am", "damage")
    damaged = git(folder, "rev-parse", "HEAD")
    (folder / PATH).write_text(SKILL)
    git(folder, "commit", "--quiet", "-am", "\x1b[31mstart again")
    code, out, err = history.bisect(bad="HEAD")
    assert code == 0, err
    assert f"first bad commit: {git(folder, 'rev-parse', 'HEAD')}" in out
    assert f"passed over, for they hold no readable skill: {damaged[:12]}" in out
    assert "\x1b" not in out


def test_an_earlier_part_of_the_fall_is_told(history: History) -> None:
    text = (history.folder / PATH).read_text()
    (history.folder / PATH).write_text(text.replace(RULE["B"], ""))
    git(history.folder, "commit", "--quiet", "-am", "B is gone")
    code, out, err = history.bisect("--threshold", "0.25", bad="HEAD")
    assert code == 0, err
    assert "first bad commit: " + git(history.folder, "rev-parse", "HEAD") in out
    assert "bad means below 0.250; good 1.000, bad 0.000" in out
    before = git(history.folder, "rev-parse", "HEAD~1")
    assert f"a part of the fall came earlier; to find it: --bad {before[:12]}" in out


def test_the_keys_of_both_documents_stay_the_same(history: History) -> None:
    asked = {"skill", "split", "task", "metric"}
    plan = history.found("--dry-run")
    assert set(plan) == asked | {"versions", "left_out", "measurements", "calls"}
    assert set(plan["calls"]) == {"at_most", "per_version", "all_versions"}
    assert set(plan["versions"][0]) == {"commit", "object", "score"}
    found = history.found("--task", "val0")
    assert set(found) == asked | {
        *("threshold", "good", "bad", "first_bad", "versions", "known", "measured", "ups_and_downs", "left_out"),
        "calls",
    }
    assert set(found["calls"]) == {"spent", "saved", "per_version", "all_versions"}
    assert set(found["first_bad"]) == {
        *("commit", "object", "score", "subject", "run", "step", "before", "brought", "patch"),
    }
