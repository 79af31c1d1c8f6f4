"""`skillgit blame`: each line with its commit, its step or night, its gain, and the failures behind it."""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import git
from tests.git.helpers import train


def _blame(skillgit, folder: Path, *args: str) -> dict:
    code, out, err = skillgit(folder, "blame", *args, "--json")
    assert code == 0, err
    return json.loads(out)


def _line(found: dict, text: str) -> dict:
    (row,) = [row for row in found["lines"] if text in row["text"]]
    return found["commits"][row["commit"]]


def _branch(folder: Path) -> str:
    return git(folder, "for-each-ref", "--format=%(refname:short)", "refs/heads/train")


@pytest.fixture(scope="session")
def _patterned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("patterned") / "repo"


@pytest.fixture
def patterned(_patterned: Path, repo_dir: Path, skillgit) -> Path:
    """A repository after a short run whose analysts named the failures that they saw."""
    if not _patterned.exists():
        script = json.loads((repo_dir / "script.json").read_text())
        for rule in script["rules"]:
            if isinstance(rule["reply"], dict):
                rule["reply"]["failure_summary"] = [{"failure_type": "form", "description": "no dash"}]
        (repo_dir / "script.json").write_text(json.dumps(script))
        git(repo_dir, "commit", "--quiet", "-a", "-m", "analysts say more")
        train(skillgit, repo_dir)
        shutil.copytree(repo_dir, _patterned)
    shutil.rmtree(repo_dir)
    shutil.copytree(_patterned, repo_dir)
    return repo_dir


def test_every_line_of_the_document_is_told_in_order(trained: Path, skillgit) -> None:
    found = _blame(skillgit, trained, "greeter", _branch(trained))
    text = git(trained, "show", f"{_branch(trained)}:skills/greeter/SKILL.md")
    assert [row["text"] for row in found["lines"]] == text.split("\n")
    assert [row["line"] for row in found["lines"]] == list(range(1, len(found["lines"]) + 1))


def test_a_line_of_a_step_names_run_step_verdict_and_gain(trained: Path, skillgit) -> None:
    facts = _line(_blame(skillgit, trained, "greeter", _branch(trained)), "RULE_B")
    assert facts["run"] == _branch(trained).rpartition("/")[2]
    assert (facts["step"], facts["verdict"], facts["score"], facts["change"]) == (4, "accept_new_best", 1.0, 0.5)
    assert facts["date"] == "2026-01-02"


def test_the_failures_that_led_to_a_line_come_from_the_journal(patterned: Path, skillgit) -> None:
    facts = _line(_blame(skillgit, patterned, "greeter", _branch(patterned)), "RULE_A")
    assert facts["patterns"] == ["form: no dash"]
    _, out, _ = skillgit(patterned, "blame", "greeter", _branch(patterned), "-L", "10,10")
    assert "form: no dash" in out.splitlines()[1]


@pytest.mark.parametrize("how", ["rebase", "squash"])
def test_the_story_survives_a_new_commit_id(patterned: Path, skillgit, how: str) -> None:
    (patterned / "other.txt").write_text("main went on\n")
    git(patterned, "add", "other.txt")
    git(patterned, "commit", "--quiet", "-m", "other")
    if how == "squash":
        git(patterned, "merge", "--quiet", "--squash", _branch(patterned))
        git(patterned, "commit", "--quiet", "-m", "squashed")
    else:
        git(patterned, "cherry-pick", _branch(patterned))
    facts = _line(_blame(skillgit, patterned, "greeter"), "RULE_A")
    assert facts["commit"] == git(patterned, "rev-parse", "HEAD")
    assert (facts["change"], facts["patterns"], facts["verdict"]) == (0.5, ["form: no dash"], "accept_new_best")


def test_lines_of_a_squashed_run_are_those_of_its_single_steps(trained: Path, skillgit) -> None:
    branch = _branch(trained)
    git(trained, "merge", "--quiet", "--squash", branch)
    git(trained, "commit", "--quiet", "-m", "all at once")
    found = _blame(skillgit, trained, "greeter")
    rows = {row["text"]: row for row in found["lines"] if "RULE" in row["text"]}
    assert {row["commit"] for row in rows.values()} == {git(trained, "rev-parse", "HEAD")}
    told = [found["commits"][row["step_commit"]] for row in rows.values()]
    assert [(facts["step"], facts["change"]) for facts in told] == [(1, 0.5), (4, 0.5)]
    whole = found["commits"][git(trained, "rev-parse", "HEAD")]
    assert (whole["step"], whole["verdict"], whole["change"]) == (None, None, 1.0)


def test_a_squashed_run_whose_branch_is_gone_names_no_step(trained: Path, skillgit) -> None:
    branch = _branch(trained)
    git(trained, "merge", "--quiet", "--squash", branch)
    git(trained, "commit", "--quiet", "-m", "all at once")
    git(trained, "branch", "-D", "-q", branch)
    git(trained, "reflog", "expire", "--expire=now", "--all")
    git(trained, "gc", "--quiet", "--prune=now")
    facts = _line(_blame(skillgit, trained, "greeter"), "RULE_A")
    assert (facts["run"], facts["step"]) == (branch.rpartition("/")[2], None)


def test_lines_of_people_show_author_and_subject(trained: Path, skillgit) -> None:
    facts = _line(_blame(skillgit, trained, "greeter"), "# Greeter")
    assert (facts["author"], facts["subject"], facts["run"], facts["verdict"]) == ("Test", "start", None, None)
    _, out, _ = skillgit(trained, "blame", "greeter")
    assert out.splitlines()[1].split()[3] == "Test"


def test_lines_of_a_night_show_their_evidence(repo_dir: Path, skillgit) -> None:
    skill = repo_dir / "skills/greeter/SKILL.md"
    skill.write_text(skill.read_text() + "\n- Learned at night.\n")
    git(repo_dir, "commit", "-qam", "skill(greeter): add\n\nSkillgit-Evidence: 3 sessions (ab12, cd34)")
    facts = _line(_blame(skillgit, repo_dir, "greeter"), "at night")
    assert facts["evidence"] == "3 sessions (ab12, cd34)"
    _, out, _ = skillgit(repo_dir, "blame", "greeter")
    assert "sleep: 3 sessions (ab12, cd34)" in out


def test_uncommitted_lines_have_no_commit(trained: Path, skillgit) -> None:
    with (trained / "skills/greeter/SKILL.md").open("a") as file:
        file.write("- Just typed.\n")
    found = _blame(skillgit, trained, "greeter")
    last = {"line": len(found["lines"]), "commit": None, "step_commit": None, "text": "- Just typed."}
    assert found["lines"][-1] == last
    _, out, _ = skillgit(trained, "blame", "greeter")
    assert "not committed" in out.splitlines()[-1]


def test_a_missing_journal_is_said_once_and_the_rest_is_told(trained: Path, skillgit) -> None:
    branch = _branch(trained)
    git(trained, "update-ref", "-d", f"refs/skillgit/runs/greeter/{branch.rpartition('/')[2]}")
    code, out, err = skillgit(trained, "blame", "greeter", branch)
    assert code == 0
    assert err.count("skillgit sync --runs") == 1
    assert "+0.500" in out


def test_lines_that_are_not_there_name_a_way_out(trained: Path, skillgit) -> None:
    code, _, err = skillgit(trained, "blame", "greeter", "-L", "500,600")
    assert code == 4
    assert "there are no lines 500,600" in err
    assert "leave out -L" in err


def test_score_and_change_are_of_the_same_conditions(trained: Path, skillgit) -> None:
    tree = git(trained, "rev-parse", f"{_branch(trained)}:skills/greeter")
    note = git(trained, "notes", "--ref=skillgit/evals", "show", tree).splitlines()
    newer = {"judge": "another", "score": 0.125, "at": "2999-01-01T00:00:00Z", "gate": None, "id": "other"}
    more = [json.dumps(json.loads(line) | newer) for line in note if json.loads(line)["split"] == "val"]
    git(trained, "notes", "--ref=skillgit/evals", "append", "-m", "\n".join(more), tree)
    found = _blame(skillgit, trained, "greeter", _branch(trained))
    (facts,) = [facts for facts in found["commits"].values() if facts["step"] == 4]
    assert (facts["score"], facts["change"]) == (1.0, 0.5)


def test_only_the_lines_asked_for(trained: Path, skillgit) -> None:
    assert [row["line"] for row in _blame(skillgit, trained, "greeter", "-L", "2,4")["lines"]] == [2, 3, 4]
    for wrong, code in (("x", 2), (":main", 2), ("900,901", 4)):
        assert skillgit(trained, "blame", "greeter", "-L", wrong)[0] == code


def test_columns_are_the_same_on_every_line(trained: Path, skillgit) -> None:
    _, out, _ = skillgit(trained, "blame", "greeter", _branch(trained))
    head, *rows = out.splitlines()
    assert head.split() == ["line", "commit", "date", "from", "verdict", "val", "why", "text"]
    dates = {row.index("2026-01-02") for row in rows}
    assert dates == {head.index("date")}


def test_a_renamed_skill_keeps_its_lines(trained: Path, skillgit) -> None:
    git(trained, "merge", "--quiet", _branch(trained))
    git(trained, "mv", "skills/greeter", "skills/hello")
    git(trained, "commit", "--quiet", "-m", "rename")
    facts = _line(_blame(skillgit, trained, "hello"), "RULE_B")
    assert (facts["verdict"], facts["change"]) == ("accept_new_best", 0.5)


def test_a_bare_file_in_a_bare_clone_shows_its_control_characters(trained: Path, tmp_path: Path, skillgit) -> None:
    (trained / "my notes").mkdir()
    (trained / "my notes/groesse.md").write_text("# Größe\n\n- Regel \x1b[31m eins.\n")
    git(trained, "add", "--all")
    git(trained, "commit", "--quiet", "-m", "notes")
    git(trained, "clone", "--quiet", "--mirror", str(trained), str(tmp_path / "bare.git"))
    code, out, err = skillgit(tmp_path / "bare.git", "blame", "my notes/groesse.md")
    assert code == 0, err
    assert "\x1b" not in out
    assert "Regel \\x1b[31m eins." in out


def test_a_skill_that_is_not_in_head_needs_a_branch(trained: Path, skillgit) -> None:
    branch = _branch(trained)
    git(trained, "rm", "--quiet", "-r", "skills/greeter")
    git(trained, "commit", "--quiet", "-m", "gone")
    code, _, err = skillgit(trained, "blame", "greeter")
    assert code == 4
    assert "skillgit blame greeter BRANCH" in err
    assert _line(_blame(skillgit, trained, "greeter", branch), "RULE_B")["step"] == 4


def test_on_a_terminal_lines_of_one_commit_stand_under_one_header(trained: Path) -> None:
    command = [sys.executable, "-m", "skillgit", "-C", str(trained), "blame", "greeter", _branch(trained)]
    leader, follower = pty.openpty()
    done = subprocess.run(command, stdout=follower, env={**os.environ, "NO_COLOR": "1"}, check=True)
    os.close(follower)
    text = b""
    while chunk := _read(leader):
        text += chunk
    os.close(leader)
    assert done.returncode == 0
    shown = text.decode()
    assert shown.count("accept_new_best") == 2
    assert "val 1.000 (+0.500)" in shown
    assert "  skill(greeter): add" in shown
    assert "\x1b" not in shown


def _read(leader: int) -> bytes:
    try:
        return os.read(leader, 65536)
    except OSError:  # Linux says so when the other end is closed
        return b""
