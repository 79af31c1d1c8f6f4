"""The demo, as a stranger runs it, on scripted models."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tests.conftest import git


def test_the_scripted_tour_learns_four_rules_and_rejects_a_harmful_one(tmp_path: Path, skillgit) -> None:
    place = tmp_path / "tour"
    code, out, err = skillgit(tmp_path, "demo", str(place), "--scripted", "--json")
    assert code == 0, err
    last = json.loads(out.splitlines()[-1])
    assert (last["accepted"], last["baseline"]["score"], last["best"]["score"]) == (4, 0.0, 0.75)
    assert last["rejected"] > 0
    assert git(place, "rev-parse", "--abbrev-ref", "HEAD") == "main"
    assert git(place, "status", "--porcelain") == ""
    record = json.loads(
        git(
            place, "notes", "--ref=skillgit/evals", "show", f"{last['best']['commit']}:skills/house-rules"
        ).splitlines()[0]
    )
    assert record["hard"] == 0.75
    assert "accept_new_best" in git(place, "log", "--notes=skillgit/gates", last["branch"])


def test_the_tour_tells_history_diff_and_scores(tmp_path: Path, skillgit) -> None:
    code, out, _ = skillgit(tmp_path, "demo", str(tmp_path / "tour"), "--scripted")
    assert code == 0
    for part in ("baseline   val 0.000", "val 0.000 -> 0.750", "+Dates: write a date as YYYY-MM-DD", "skillgit log"):
        assert part in out


def test_a_folder_with_files_is_refused_and_left_alone(tmp_path: Path, skillgit) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    code, _, err = skillgit(tmp_path, "demo", str(tmp_path), "--scripted")
    assert code == 2
    assert "not empty" in err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_subjects_stay_within_72_characters(tmp_path: Path, skillgit) -> None:
    skillgit(tmp_path, "demo", str(tmp_path / "tour"), "--scripted", "--json")
    subjects = git(tmp_path / "tour", "log", "--all", "--format=%s", "--", "skills").splitlines()
    assert max(len(subject) for subject in subjects) <= 72
    assert all(subject.count('"') in (0, 2) for subject in subjects)


def test_the_demo_repository_passes_git_fsck(tmp_path: Path, skillgit) -> None:
    skillgit(tmp_path, "demo", str(tmp_path / "tour"), "--scripted", "--json")
    done = subprocess.run(["git", "-C", str(tmp_path / "tour"), "fsck", "--strict"], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
