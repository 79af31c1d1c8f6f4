"""`log`, `status`, `best` and `eval` after a training run."""

from __future__ import annotations

import json
from pathlib import Path

from skillgit.git.deploy.provenance import read_provenance
from tests.conftest import SCRIPTED, git


def _json(skillgit, folder: Path, *args: str) -> dict:
    code, out, err = skillgit(folder, *args, "--json")
    assert code == 0, err
    return json.loads(out)


def test_log_lists_versions_newest_first_with_their_scores(trained: Path, skillgit) -> None:
    log = _json(skillgit, trained, "log", "greeter")
    assert log["skill"] == "greeter"
    assert [version["scores"]["val"]["hard"] for version in log["versions"]] == [1.0, 0.5, 0.0]
    assert [version["step"] for version in log["versions"]] == [4, 1, None]
    keys = {"commit", "object", "run", "step", "epoch", "verdict", "subject", "tokens", "scores", "other_conditions"}
    assert set(log["versions"][0]) == keys
    assert log["versions"][0]["object"] == git(trained, "rev-parse", f"{log['versions'][0]['commit']}:skills/greeter")


def test_log_adds_rejected_candidates_when_asked(trained: Path, skillgit) -> None:
    log = _json(skillgit, trained, "log", "greeter", "--rejected")
    assert [(c["verdict"], c["commit"]) for c in log["rejected"]] == [("reject", None), ("reject", None)]
    assert "HARM" in git(trained, "show", f"{log['rejected'][0]['object']}:SKILL.md")


def test_log_of_one_revision_leaves_out_other_branches(trained: Path, skillgit) -> None:
    log = _json(skillgit, trained, "log", "greeter", "main")
    assert [version["subject"] for version in log["versions"]] == ["start"]


def test_status_lists_runs(trained: Path, skillgit) -> None:
    (run,) = _json(skillgit, trained, "status")["runs"]
    assert (run["status"], run["accepted"], run["best"]["score"]) == ("finished", 2, 1.0)


def test_best_exports_the_whole_skill(trained: Path, skillgit, tmp_path: Path) -> None:
    best = _json(skillgit, trained, "best", "greeter", "--export", str(tmp_path / "out"))
    assert "RULE_B" in (tmp_path / "out/SKILL.md").read_text()
    assert best["exported"] == [str(tmp_path / "out/SKILL.md")]
    assert read_provenance(tmp_path / "out")


def test_best_never_writes_over_a_different_file(trained: Path, skillgit, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/SKILL.md").write_text("mine")
    code, _, err = skillgit(trained, "best", "greeter", "--export", str(tmp_path / "out"))
    assert code == 7
    assert "not exported by skillgit" in err
    assert (tmp_path / "out/SKILL.md").read_text() == "mine"


def test_eval_records_what_it_measured_and_pays_once(trained: Path, skillgit) -> None:
    branch = git(trained, "for-each-ref", "--format=%(refname:short)", "refs/heads/train")
    before = git(trained, "notes", "--ref=skillgit/evals", "show", f"{branch}:skills/greeter")
    record = _json(skillgit, trained, "eval", "greeter", branch, "--split", "train", *SCRIPTED)
    assert (record["split"], record["hard"], record["n"]) == ("train", 1.0, 8)
    after = git(trained, "notes", "--ref=skillgit/evals", "show", f"{branch}:skills/greeter")
    assert len(after.splitlines()) == len(before.splitlines()) + 1
    again = _json(skillgit, trained, "eval", "greeter", branch, "--split", "train", *SCRIPTED)
    assert again["id"] == record["id"]
    assert git(trained, "notes", "--ref=skillgit/evals", "show", f"{branch}:skills/greeter") == after


def test_eval_refuses_an_unknown_split_with_the_nearest(trained: Path, skillgit) -> None:
    code, _, err = skillgit(trained, "eval", "greeter", "--split", "tset", *SCRIPTED)
    assert code == 2
    assert "test" in err


def test_plain_output_has_no_escape_codes(trained: Path, skillgit) -> None:
    for args in (("log", "greeter", "--rejected"), ("status",), ("best", "greeter")):
        code, out, _ = skillgit(trained, *args)
        assert code == 0
        assert out.strip()
        assert "\x1b" not in out
