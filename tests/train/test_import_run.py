"""`skillgit import-run`: a published output directory becomes a branch, records and a journal."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skillgit.errors import SkillgitError
from skillgit.git.repository import Repository
from skillgit.train.import_run import import_run
from skillgit.train.published_files import LIMIT
from skillgit.train.published_run import UNRECORDED, read
from tests.conftest import git
from tests.train.published import CONFIG, INITIAL, Published, first_epoch, whole_run

Cli = Callable[..., tuple[int, str, str]]
PATH = "skills/searchqa/SKILL.md"


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    """A repository with one commit and no skill."""
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    (folder / "README").write_text("hello\n")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "start")
    return folder


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A finished published run."""
    return whole_run(tmp_path / "out").root


def call(skillgit: Cli, folder: Path, *args: object) -> dict[str, Any]:
    """Run a command that must succeed and parse its JSON document."""
    code, out, err = skillgit(folder, *map(str, args), "--json")
    assert code == 0, err
    return json.loads(out)


def refs(folder: Path) -> str:
    return git(folder, "for-each-ref")


# What it writes


def test_every_distinct_version_is_a_commit_with_its_scores(fresh: Path, out: Path, skillgit: Cli) -> None:
    call(skillgit, fresh, "import-run", out)
    versions = call(skillgit, fresh, "log", "searchqa")["versions"][::-1]
    told = [(v["step"], v["epoch"], v["verdict"], v["scores"].get("val", {}).get("hard")) for v in versions]
    assert told == [
        (0, 0, "baseline", 0.4),
        (1, 1, "accept_new_best", 0.5),
        (2, 1, "inject_placeholder", None),
        (4, 2, "accept_new_best", 0.65),
        (4, 2, "force_accept", 0.7),  # not at the gate: measured when the run ended
    ]
    assert versions[1]["scores"]["val"] == {"hard": 0.5, "soft": 0.5, "score": 0.5, "metric": "hard", "n": 20}
    assert versions[1]["subject"] == 'skill(searchqa): add "Keep the units of the question"'
    assert git(fresh, "show", f"{versions[0]['commit']}:{PATH}") == INITIAL.rstrip("\n")
    assert git(fresh, "rev-parse", f"{versions[0]['commit']}^") == git(fresh, "rev-parse", "HEAD")


def test_test_scores_belong_to_initial_best_and_last(fresh: Path, out: Path, skillgit: Cli) -> None:
    call(skillgit, fresh, "import-run", out)
    versions = call(skillgit, fresh, "log", "searchqa")["versions"][::-1]
    assert [v["scores"].get("test", {}).get("hard") for v in versions] == [0.3, None, None, 0.55, 0.5]


def test_git_log_shows_the_gate_lines(fresh: Path, out: Path, skillgit: Cli) -> None:
    branch = call(skillgit, fresh, "import-run", out)["branch"]
    log = git(fresh, "log", "--notes=skillgit/gates", "--format=%N", branch)
    assert "baseline: val hard 0.400 (n=20)" in log
    assert "accept_new_best: val hard 0.400 -> 0.500 (n=20)" in log
    assert "reject: val hard 0.500 -> 0.200 (n=20); run skillopt-" in log
    assert "force_accept: val not measured" in log


def test_commits_carry_trailers(fresh: Path, out: Path, skillgit: Cli) -> None:
    found = call(skillgit, fresh, "import-run", out)
    trailers = git(fresh, "log", "-1", "--format=%(trailers:only)", found["versions"][3]["commit"]).splitlines()
    assert trailers[:6] == [
        f"Skillgit-Run: {found['run']}",
        "Skillgit-Step: 4",
        "Skillgit-Epoch: 2",
        "Skillgit-Gate: accept_new_best +0.150",
        "Skillgit-Optimizer: openai_compatible/big-model",
        "Skillgit-Target: openai_compatible/small-model",
    ]


def test_rejected_candidates_are_kept(fresh: Path, out: Path, skillgit: Cli) -> None:
    call(skillgit, fresh, "import-run", out)
    (rejected,) = call(skillgit, fresh, "log", "searchqa", "--rejected")["rejected"]
    assert (rejected["step"], rejected["verdict"], rejected["scores"]["val"]["hard"]) == (2, "reject", 0.2)
    assert "Shout" in git(fresh, "show", f"{rejected['object']}:SKILL.md")
    git(fresh, "gc", "--quiet", "--prune=now")
    assert "Shout" in git(fresh, "show", f"{rejected['object']}:SKILL.md")


def test_status_best_and_show_read_it(fresh: Path, out: Path, skillgit: Cli) -> None:
    found = call(skillgit, fresh, "import-run", out)
    (run,) = call(skillgit, fresh, "status", "searchqa")["runs"]
    assert (run["status"], run["reason"], run["baseline"]) == ("finished", "imported", 0.4)
    assert (run["accepted"], run["rejected"], run["skipped"]) == (3, 1, 1)
    best = call(skillgit, fresh, "best", "searchqa")["best"]
    assert (best["step"], best["score"], best["commit"]) == (4, 0.65, found["versions"][3]["commit"])
    shown = call(skillgit, fresh, "show", best["commit"])
    assert (shown["step"]["verdict"], shown["step"]["reasoning"]) == ("accept_new_best", "shorter is better")
    assert shown["step"]["edits"][0]["outcome"] == "applied_append"
    for args in (("show", best["commit"]), ("log", "searchqa", "--rejected"), ("status",), ("best", "searchqa")):
        code, text, err = skillgit(fresh, *args)
        assert code == 0, err
        assert "None" not in text


def test_records_say_what_is_unknown(fresh: Path, out: Path, skillgit: Cli) -> None:
    found = call(skillgit, fresh, "import-run", out)
    (line,) = git(fresh, "notes", "--ref=skillgit/evals", "show", found["versions"][1]["object"]).splitlines()
    record = json.loads(line)
    assert record | {"id": "", "skill": "", "gate": {}} == {
        "v": 1,
        "id": "",
        "skill": "",
        "split": "val",
        "n": 20,
        "hard": 0.5,
        "soft": 0.5,
        "metric": "hard",
        "score": 0.5,
        "tasks": None,
        "judge": None,
        "target": {"backend": "openai_compatible", "model": "small-model", "settings": None},
        "samples": 1,
        "seed": 42,
        "complete": True,
        "usage": {},
        "harness": "skillopt 0.1.0",
        "at": None,
        "imported": True,
        "gate": {},
    }
    assert record["gate"]["base_score"] == 0.4


def test_nothing_of_the_user_moves(fresh: Path, out: Path, skillgit: Cli) -> None:
    (fresh / "README").write_text("changed\n")
    before = (git(fresh, "rev-parse", "HEAD"), (fresh / ".git/HEAD").read_text(), git(fresh, "status", "-s"))
    index = (fresh / ".git/index").read_bytes()
    call(skillgit, fresh, "import-run", out)
    assert (fresh / ".git/index").read_bytes() == index
    assert (git(fresh, "rev-parse", "HEAD"), (fresh / ".git/HEAD").read_text()) == before[:2]
    assert git(fresh, "status", "-s") == before[2]
    assert git(fresh, "stash", "list") == ""


def test_credentials_reach_no_object(fresh: Path, out: Path, skillgit: Cli) -> None:
    config = {**CONFIG, "model": {"hf_TOKEN": "hunter22", "list": [{"password": "hunter22"}]}, "db_secret": "hunter22"}
    (out / "config.json").write_text(json.dumps(config))
    found = call(skillgit, fresh, "import-run", out)
    assert set(found["left_out"]) == {"azure_openai_api_key", "model.hf_TOKEN", "model.list.0.password", "db_secret"}
    objects = Repository.open(fresh).git.run("cat-file", "--batch", "--batch-all-objects")
    assert b"hunter22" not in objects
    assert b"sk-a...wxyz" not in objects
    kept = json.loads(git(fresh, "show", f"refs/skillgit/runs/searchqa/{found['run']}:config.json"))
    assert kept["rewrite_max_completion_tokens"] == 64000
    assert kept["openai_compatible_api_key"] == ""


# Where it goes


def test_an_unborn_head_gets_a_root_commit(tmp_path: Path, out: Path, skillgit: Cli) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    git(folder, "init", "--quiet")
    branch = call(skillgit, folder, "import-run", out)["branch"]
    assert git(folder, "rev-list", "--count", branch) == "5"
    assert len(call(skillgit, folder, "log", "searchqa")["versions"]) == 5
    assert git(folder, "rev-parse", "--verify", "--quiet", "HEAD", check=False) == ""


def test_a_bare_repository(tmp_path: Path, fresh: Path, out: Path, skillgit: Cli) -> None:
    git(tmp_path, "clone", "--quiet", "--bare", str(fresh), "bare")
    assert call(skillgit, tmp_path / "bare", "import-run", out)["status"] == "new"
    assert call(skillgit, tmp_path / "bare", "best", "searchqa")["best"]["step"] == 4


def test_a_head_that_is_the_initial_skill_is_where_the_run_starts(fresh: Path, out: Path, skillgit: Cli) -> None:
    (fresh / PATH).parent.mkdir(parents=True)
    (fresh / PATH).write_text(INITIAL)
    (fresh / "skills/searchqa/notes.txt").write_text("a file beside it")
    git(fresh, "add", "--all")
    git(fresh, "commit", "--quiet", "-m", "skill")
    found = call(skillgit, fresh, "import-run", out)
    assert found["versions"][0]["commit"] == git(fresh, "rev-parse", "HEAD")
    assert git(fresh, "show", f"{found['branch']}:skills/searchqa/notes.txt") == "a file beside it"
    assert [v["scores"]["val"]["hard"] for v in call(skillgit, fresh, "log", "searchqa", "main")["versions"]] == [0.4]


def test_path_and_name(fresh: Path, out: Path, skillgit: Cli) -> None:
    found = call(skillgit, fresh, "import-run", out, "--path", "prompts/qa.md")
    assert (found["skill"], found["document"]) == ("qa", "prompts/qa.md")
    assert git(fresh, "cat-file", "-t", found["versions"][0]["object"]) == "blob"
    assert len(call(skillgit, fresh, "log", "qa")["versions"]) == 5
    assert call(skillgit, fresh, "import-run", out, "--skill", "Search QA!")["skill"] == "search-qa"
    assert call(skillgit, fresh, "import-run", out, "--path", "skills/x/SKILL.md")["document"] == "skills/x/SKILL.md"


def test_the_directory_names_the_skill_when_the_configuration_does_not(fresh: Path, out: Path, skillgit: Cli) -> None:
    (out / "config.json").unlink()
    assert call(skillgit, fresh, "import-run", out)["skill"] == "out"


def test_a_structured_configuration_is_understood(fresh: Path, out: Path, skillgit: Cli) -> None:
    (out / "config.json").write_text(json.dumps({"env": {"name": "docvqa"}, "model": {"target": "tiny"}}))
    found = call(skillgit, fresh, "import-run", out)
    assert found["skill"] == "docvqa"
    assert "Skillgit-Target: tiny" in git(fresh, "log", "-1", "--format=%B", found["branch"])


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--skill", "a", "--path", "skills/b"), "is called b, not a"),
        (("--path", "../outside"), "names no skill"),
        (("--path", ".git/hooks"), "names no skill"),
        (("--skill", "///"), "makes no name"),
    ],
)
def test_names_and_paths_that_cannot_be(
    fresh: Path, out: Path, skillgit: Cli, args: tuple[str, ...], message: str
) -> None:
    code, _, err = skillgit(fresh, "import-run", str(out), *args)
    assert code == 2
    assert message in err
    assert "refs/heads/train" not in refs(fresh)


# Again, and later


def test_importing_again_changes_nothing(fresh: Path, out: Path, skillgit: Cli, tmp_path: Path) -> None:
    first = call(skillgit, fresh, "import-run", out)
    before = refs(fresh)
    copy = tmp_path / "another name"
    shutil.copytree(out, copy)
    again = call(skillgit, fresh, "import-run", copy)
    assert (again["status"], again["run"]) == ("known", first["run"])
    assert again["versions"] == first["versions"]
    assert refs(fresh) == before
    code, text, _ = skillgit(fresh, "import-run", str(out))
    assert code == 0
    assert "already there" in text


def test_a_dry_run_writes_nothing(fresh: Path, out: Path, skillgit: Cli) -> None:
    before = refs(fresh), git(fresh, "count-objects", "-v")
    planned = call(skillgit, fresh, "import-run", out, "--dry-run")
    assert (refs(fresh), git(fresh, "count-objects", "-v")) == before
    code, text, _ = skillgit(fresh, "import-run", str(out), "--dry-run")
    assert code == 0
    assert f"would import: {planned['branch']}" in text
    done = call(skillgit, fresh, "import-run", out)
    unknown = {"commit": None, "object": None}
    assert planned | {"dry_run": False} == done | {"versions": [v | unknown for v in done["versions"]]}


def test_a_directory_that_grew_is_taken_further(fresh: Path, tmp_path: Path, skillgit: Cli) -> None:
    early = call(skillgit, fresh, "import-run", first_epoch(tmp_path / "early").root)
    late = call(skillgit, fresh, "import-run", whole_run(tmp_path / "late").root)
    assert (late["status"], late["run"]) == ("grown", early["run"])
    assert late["versions"][:3] == early["versions"]
    assert len(late["versions"]) == 5
    journal = f"refs/skillgit/runs/searchqa/{early['run']}"
    assert git(fresh, "rev-list", "--count", journal) == "2"
    assert call(skillgit, fresh, "best", "searchqa")["best"]["step"] == 4
    before = refs(fresh)
    assert call(skillgit, fresh, "import-run", tmp_path / "late")["status"] == "known"
    assert call(skillgit, fresh, "import-run", tmp_path / "early")["status"] == "known"
    assert refs(fresh) == before


def test_a_summary_that_came_later_adds_test_scores(fresh: Path, tmp_path: Path, skillgit: Cli) -> None:
    run = first_epoch(tmp_path / "out")
    call(skillgit, fresh, "import-run", run.root)
    run.finish()
    assert call(skillgit, fresh, "import-run", run.root)["status"] == "grown"
    versions = call(skillgit, fresh, "log", "searchqa")["versions"]
    assert [v["scores"].get("test", {}).get("hard") for v in versions] == [0.5, 0.55, 0.3]


def test_a_history_that_differs_is_another_run(fresh: Path, tmp_path: Path, skillgit: Cli) -> None:
    first = call(skillgit, fresh, "import-run", whole_run(tmp_path / "one").root)
    other = first_epoch(tmp_path / "two").step("accept", "Something else.", 0.6)
    second = call(skillgit, fresh, "import-run", other.root)
    assert second["status"] == "new"
    assert second["run"] != first["run"]
    assert len(call(skillgit, fresh, "status", "searchqa")["runs"]) == 2


def test_a_deleted_branch_comes_back_when_the_run_grew(fresh: Path, tmp_path: Path, skillgit: Cli) -> None:
    early = call(skillgit, fresh, "import-run", first_epoch(tmp_path / "early").root)
    git(fresh, "branch", "-D", early["branch"])
    call(skillgit, fresh, "import-run", whole_run(tmp_path / "late").root)
    assert git(fresh, "rev-list", "--count", early["branch"]) == "6"


def test_a_branch_that_someone_moved_is_left_alone(fresh: Path, tmp_path: Path, skillgit: Cli) -> None:
    early = call(skillgit, fresh, "import-run", first_epoch(tmp_path / "early").root)
    git(fresh, "branch", "-f", early["branch"], "main")
    before = refs(fresh)
    code, _, err = skillgit(fresh, "import-run", str(whole_run(tmp_path / "late").root))
    assert code == 4
    assert "is not where an import left it" in err
    assert refs(fresh) == before


def test_a_branch_that_is_checked_out_is_not_moved(fresh: Path, tmp_path: Path, skillgit: Cli) -> None:
    early = call(skillgit, fresh, "import-run", first_epoch(tmp_path / "early").root)
    git(fresh, "switch", "--quiet", early["branch"])
    before = refs(fresh)
    code, _, err = skillgit(fresh, "import-run", str(whole_run(tmp_path / "late").root))
    assert code == 4
    assert "is checked out" in err
    assert refs(fresh) == before


def test_a_run_made_here_counts_as_newer(trained: Path, tmp_path: Path, skillgit: Cli) -> None:
    call(skillgit, trained, "import-run", whole_run(tmp_path / "out").root, "--skill", "greeter")
    runs = [run["run"] for run in call(skillgit, trained, "status", "greeter")["runs"]]
    assert [run.startswith("skillopt-") for run in runs] == [False, True]
    assert call(skillgit, trained, "best", "greeter")["run"] == runs[0]


def test_an_imported_run_cannot_be_resumed(fresh: Path, out: Path, skillgit: Cli) -> None:
    found = call(skillgit, fresh, "import-run", out)
    git(fresh, "merge", "--quiet", found["branch"])
    code, _, err = skillgit(fresh, "train", "searchqa", "--resume", found["run"])
    assert code == 2
    assert "was imported and is over" in err


# Damage


def _cut(name: str) -> Callable[[Path], None]:
    return lambda out: (out / name).write_bytes((out / name).read_bytes()[:-20])


def _write(name: str, data: bytes) -> Callable[[Path], None]:
    return lambda out: void((out / name).write_bytes(data))


def void(_: object) -> None:
    """Nothing, whatever it was."""


def _records(change: Callable[[list[Any]], Any]) -> Callable[[Path], None]:
    def mend(out: Path) -> None:
        history = json.loads((out / "history.json").read_text())
        changed = change(history)
        (out / "history.json").write_text(json.dumps(history if changed is None else changed))

    return mend


def _link(name: str, target: str) -> Callable[[Path], None]:
    def link(out: Path) -> None:
        (out / name).unlink()
        (out / name).symlink_to(target)

    return link


def _fifo(out: Path) -> None:
    (out / "best_skill.md").unlink()
    os.mkfifo(out / "best_skill.md")


def _huge(out: Path) -> None:
    with (out / "best_skill.md").open("wb") as file:
        file.truncate(LIMIT + 1)


# What was done to the directory, the problem it must name, and how many versions are still imported.
DAMAGE: dict[str, tuple[Callable[[Path], None], str, str, int]] = {
    "no history": (lambda out: (out / "history.json").unlink(), "history.json", "is missing", 5),
    "cut history": (_cut("history.json"), "history.json", "is no JSON", 5),
    "history is an object": (_records(lambda _: {"step": 1}), "history.json", "is no list", 5),
    "history of other things": (_records(lambda h: [*h, 3, {}]), "history.json", "entry 5 has no step number", 5),
    "steps out of order": (_records(lambda h: h[::-1]), "history.json", "out of order", 5),
    "a step twice": (_records(lambda h: [*h, h[-1]]), "history.json", "step 4 twice", 5),
    "a step only in its own file": (_records(lambda h: h[:-1]), "history.json", "has no step 4", 5),
    "a record that differs": (
        _records(lambda h: void(h[0].update(rollout_hard=0.9))),
        "steps/step_0001/step_record.json",
        "differs from history.json",
        5,
    ),
    "NaN": (_records(lambda h: void(h[1].update(selection_hard=float("nan")))), "history.json", "NaN", 5),
    "score of a wrong type": (
        _records(lambda h: void(h[1].update(selection_hard="0.2"))),
        "steps/step_0002",
        "no number",
        5,
    ),
    "score out of range": (
        _records(lambda h: void(h[1].update(selection_hard=7))),
        "steps/step_0002",
        "not a score",
        5,
    ),
    "action of a wrong type": (
        _records(lambda h: void(h[1].update(action=["reject"]))),
        "steps/step_0002",
        "unknown action",
        5,
    ),
    "another text": (
        _records(lambda h: void(h[1].update(candidate_hash="0" * 16))),
        "steps/step_0002",
        "belong to a text that is not there",
        5,
    ),
    "nested": (_write("history.json", b"[" * 5000 + b"]" * 5000), "history.json", "is no JSON", 5),
    "nested less": (_write("history.json", b"[" * 200 + b"]" * 200), "history.json", "nested more than", 5),
    "no version": (lambda out: (out / "skills/skill_v0001.md").unlink(), "skills/skill_v0001.md", "is missing", 5),
    "no initial skill": (lambda out: (out / "skills/skill_v0000.md").unlink(), "skills/skill_v0000.md", "missing", 4),
    "bad UTF-8": (_write("skills/skill_v0000.md", b"\xff\xfe"), "skills/skill_v0000.md", "is not UTF-8", 4),
    "best is no version": (_write("best_skill.md", b"other"), "best_skill.md", "equals no version", 5),
    "no best": (lambda out: (out / "best_skill.md").unlink(), "best_skill.md", "is missing", 5),
    "cut config": (_cut("config.json"), "config.json", "is no JSON", 5),
    "config is a list": (_write("config.json", b"[1]"), "config.json", "is no JSON object", 5),
    "cut summary": (_cut("summary.json"), "summary.json", "is no JSON", 5),
    "cut slow update": (
        _cut("slow_update/epoch_02/slow_result.json"),
        "slow_update/epoch_02/slow_result.json",
        "is no JSON",
        5,
    ),
    "cut edits": (_cut("steps/step_0001/ranked_edits.json"), "steps/step_0001/ranked_edits.json", "is no JSON", 5),
    "link out": (_link("skills/skill_v0000.md", "/etc/hostname"), "skills/skill_v0000.md", "leads out", 4),
    "link up": (_link("best_skill.md", "../repo/README"), "best_skill.md", "leads out", 5),
    "link to itself": (_link("best_skill.md", "best_skill.md"), "best_skill.md", "", 5),
    "pipe": (_fifo, "best_skill.md", "is no regular file", 5),
    "huge": (_huge, "best_skill.md", "larger than 20 MB", 5),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_is_named_and_costs_only_itself(kind: str, fresh: Path, out: Path, skillgit: Cli) -> None:
    harm, file, what, versions = DAMAGE[kind]
    harm(out)
    found = call(skillgit, fresh, "import-run", out, "--skill", "searchqa")
    assert any(p["file"].startswith(file) and what in p["what"] for p in found["problems"]), found["problems"]
    assert len(found["versions"]) == versions
    assert call(skillgit, fresh, "best", "searchqa")["best"]["step"] == 4
    assert call(skillgit, fresh, "import-run", out, "--skill", "searchqa")["status"] == "known"
    code, _, err = skillgit(fresh, "import-run", str(out), "--skill", "searchqa")
    assert code == 0
    assert f"warning: {out}/" in err


def test_an_undamaged_directory_has_no_problems(out: Path) -> None:
    assert read(out).problems == ()


def test_without_any_record_the_version_files_are_the_run(fresh: Path, out: Path, skillgit: Cli) -> None:
    (out / "history.json").unlink()
    shutil.rmtree(out / "steps")
    found = call(skillgit, fresh, "import-run", out)
    assert [v["verdict"] for v in found["versions"]] == ["baseline", UNRECORDED, UNRECORDED, UNRECORDED]
    assert [v["step"] for v in found["versions"]] == [0, 1, 2, 4]


def test_a_lost_version_in_the_middle_is_taken_from_its_candidate(fresh: Path, out: Path, skillgit: Cli) -> None:
    for number in (1, 2, 3):
        (out / f"skills/skill_v{number:04d}.md").unlink()
    found = call(skillgit, fresh, "import-run", out)
    assert [v["step"] for v in found["versions"]] == [0, 1, 4, 4]


def test_an_accepted_text_that_is_lost_has_no_commit_and_no_score(fresh: Path, out: Path, skillgit: Cli) -> None:
    (out / "skills/skill_v0001.md").unlink()
    (out / "steps/step_0001/candidate_skill.md").unlink()
    found = call(skillgit, fresh, "import-run", out)
    assert [v["step"] for v in found["versions"]] == [0, 2, 4, 4]
    assert any(p == {"file": "steps/step_0001", "what": p["what"]} and "lost" in p["what"] for p in found["problems"])


def test_reminders_made_beside_a_step_are_a_version_without_a_score(fresh: Path, tmp_path: Path, skillgit: Cli) -> None:
    run = Published(tmp_path / "out").begin().step("reject", "Shout.", 0.1)
    (run.root / "skills/skill_v0001.md").write_text(f"{INITIAL}- Check the units again.\n")
    found = call(skillgit, fresh, "import-run", run.root)
    assert [(v["verdict"], v["title"], v["scores"]) for v in found["versions"][1:]] == [
        ("ungated", 'add "Check the units again"', {})
    ]


def test_a_gated_slow_update_has_its_own_score(fresh: Path, tmp_path: Path, skillgit: Cli) -> None:
    run = first_epoch(tmp_path / "out").step("reject", "Shout.", 0.1).step("reject", "Cry.", 0.1)
    run.end_epoch("accept_new_best", "Be brief.", selection_hard=0.8, selection_soft=0.9)
    last = call(skillgit, fresh, "import-run", run.root)["versions"][-1]
    assert (last["verdict"], last["scores"]["val"]["hard"]) == ("accept_new_best", 0.8)


def test_a_score_carried_over_to_a_forced_change_is_not_believed(fresh: Path, tmp_path: Path, skillgit: Cli) -> None:
    run = first_epoch(tmp_path / "out").step("reject", "Shout.", 0.1).step("reject", "Cry.", 0.1)
    run.end_epoch("force_accept", "Be brief.", selection_hard=0.5, selection_soft=0.0)
    last = call(skillgit, fresh, "import-run", run.root)["versions"][-1]
    assert (last["verdict"], last["scores"]) == ("force_accept", {})


def test_a_directory_without_a_version_is_an_error(fresh: Path, tmp_path: Path, skillgit: Cli) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty/history.json").write_text("[]")
    code, _, err = skillgit(fresh, "import-run", str(tmp_path / "empty"))
    assert code == 2
    assert "no readable version" in err
    assert skillgit(fresh, "import-run", str(tmp_path / "nowhere"))[0] == 2


def test_the_best_version_alone_is_enough(fresh: Path, tmp_path: Path, skillgit: Cli) -> None:
    (tmp_path / "qa").mkdir()
    (tmp_path / "qa/best_skill.md").write_bytes(b"\xef\xbb\xbfBest.\r\nNo newline")
    found = call(skillgit, fresh, "import-run", tmp_path / "qa")
    assert len(found["versions"]) == 1
    blob = Repository.open(fresh).git.run("cat-file", "blob", f"{found['branch']}:skills/qa/SKILL.md")
    assert blob == b"\xef\xbb\xbfBest.\r\nNo newline"


# Whatever is in the files

_JSON_FILES = (
    "config.json",
    "history.json",
    "summary.json",
    "runtime_state.json",
    "steps/step_0001/step_record.json",
    "steps/step_0001/ranked_edits.json",
    "steps/step_0001/merged_patch.json",
    "steps/step_0001/edit_apply_report.json",
    "steps/step_0001/selection_eval/results.jsonl",
    "slow_update/epoch_01/slow_result.json",
    "selection_eval_baseline/results.jsonl",
)
_KEYS = st.sampled_from(
    [
        *("step", "epoch", "action", "edits", "reasoning", "status", "id", "hard", "soft", "version", "seed"),
        *("selection_hard", "selection_soft", "candidate_gate_score", "current_score", "best_step", "candidate_hash"),
        *("env", "model", "name", "target_model", "optimizer_model", "gate_metric", "gate_mixed_weight"),
        *("baseline_selection_hard", "test_hard", "final_selection_hard"),
    ]
)
_SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=0, max_value=5),
    st.floats(),
    st.text(st.characters(exclude_categories=())),
    st.sampled_from(
        ["accept", "reject", "force_accept", "inject_placeholder", "hard", "mixed", "\ud800", "a\0b\n\x1f"]
    ),
)
_VALUES = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_KEYS | st.text(), inner, max_size=8)
)
_fuzz = settings(
    deadline=None,
    max_examples=12,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def _survives(fresh: Path, name: str, data: bytes) -> Iterator[Path]:
    """A repository of its own in which a run with this file was imported; none when it was refused."""
    with tempfile.TemporaryDirectory() as folder:
        repo_dir, out = Path(folder) / "repo", whole_run(Path(folder) / "out").root
        shutil.copytree(fresh, repo_dir)
        (out / name).write_bytes(data)
        repo = Repository.open(repo_dir)
        try:
            found = import_run(repo, out, skill="searchqa")
            again = import_run(repo, out, skill="searchqa")
        except SkillgitError:
            return
        assert (again.status, again.run) == ("known", found.run)
        yield repo_dir


@_fuzz
@given(name=st.sampled_from(_JSON_FILES), data=st.binary(max_size=200))
def test_any_bytes_in_a_file_are_survived(fresh: Path, name: str, data: bytes) -> None:
    for _ in _survives(fresh, name, data):
        pass


@_fuzz
@given(name=st.sampled_from(_JSON_FILES), value=_VALUES)
def test_any_json_in_a_file_is_survived(fresh: Path, name: str, value: Any) -> None:
    for _ in _survives(fresh, name, json.dumps(value).encode()):
        pass


@_fuzz
@given(changes=st.lists(st.dictionaries(_KEYS, _VALUES, max_size=6), min_size=4, max_size=4))
def test_any_values_in_the_step_records_are_survived(
    fresh: Path, out: Path, skillgit: Cli, changes: list[dict[str, Any]]
) -> None:
    history = json.loads((out / "history.json").read_text())
    data = json.dumps([record | change for record, change in zip(history, changes, strict=True)])
    for repo_dir in _survives(fresh, "history.json", data.encode()):
        for args in (("log", "searchqa", "--rejected"), ("status",), ("best", "searchqa")):
            code, _, err = skillgit(repo_dir, *args)
            assert code == 0, err
