"""`skillgit lint` in the working tree: what it finds, how it prints, what it mends, and how it ends."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import git
from tests.skills.test_secrets import made

Run = Callable[..., tuple[int, str, str]]
GOOD = "---\nname: {}\ndescription: Fills forms. Use when a form must be filled.\n---\n\n# Demo\n\n- Fill the form.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with three sound skills, no repository."""
    for place in ("skills/one", ".agents/skills/two", "plugins/deep/skills/three"):
        write(tmp_path / place, GOOD.format(place.rsplit("/", 1)[1]))
    return tmp_path


def write(place: Path, text: str) -> Path:
    place.mkdir(parents=True, exist_ok=True)
    (place / "SKILL.md").write_bytes(text.encode())
    return place / "SKILL.md"


def findings(skillgit: Run, folder: Path, *args: str) -> list[tuple[str, str]]:
    _, out, err = skillgit(folder, "lint", "--json", *args)
    assert not err.startswith("error: unexpected"), err
    return [(finding["path"], finding["rule"]) for finding in json.loads(out)["findings"]]


def test_sound_skills_pass_without_a_repository(skillgit: Run, folder: Path) -> None:
    code, out, err = skillgit(folder, "lint")
    assert (code, out, err) == (0, "3 skills: nothing found\n", "")


def test_a_finding_says_where_what_and_how(skillgit: Run, folder: Path) -> None:
    write(folder / "skills/one", GOOD.format("other"))
    code, out, err = skillgit(folder, "lint")
    assert code == 1
    assert out.splitlines()[:2] == [
        "skills/one/SKILL.md:2:7: error name-folder: the name is `other`, and the folder `one`",
        "    fix: rename the folder or change the name, so that both are equal",
    ]
    assert "1 finding must be mended" in err


@pytest.mark.parametrize("path", ["skills/one", "skills/one/SKILL.md", "skills/one/references/a.md", "skills", "."])
def test_any_path_leads_to_the_skills_that_hold_it(skillgit: Run, folder: Path, path: str) -> None:
    write(folder / "skills/one", GOOD.format("other"))
    (folder / "skills/one/references").mkdir()
    (folder / "skills/one/references/a.md").write_text("# A\n")
    assert findings(skillgit, folder, path) == [("skills/one/SKILL.md", "name-folder")]
    assert findings(skillgit, folder, ".agents", "plugins/deep/skills/three/SKILL.md") == []


def test_paths_of_no_skill_are_nothing_to_do_and_missing_ones_a_mistake(skillgit: Run, folder: Path) -> None:
    (folder / "README.md").write_text("# Read me\n")
    assert skillgit(folder, "lint", "README.md")[:2] == (0, "0 skills: nothing found\n")
    code, _, err = skillgit(folder, "lint", "no/such")
    assert code == 2
    assert "no file or folder no/such" in err


def test_a_named_folder_without_the_file_is_a_finding(skillgit: Run, folder: Path) -> None:
    (folder / "skills/empty").mkdir()
    assert findings(skillgit, folder, "skills/empty") == [("skills/empty/SKILL.md", "skill-file-missing")]


def test_discovery_takes_any_spelling_and_leaves_out_what_is_not_ours(skillgit: Run, folder: Path) -> None:
    for place in (".git/x", "node_modules/x", "venv/x", "a/b/c/d/e/f/g"):
        write(folder / place, "bad")
    (folder / "venv/pyvenv.cfg").write_text("")
    (folder / "skills/one/SKILL.md").rename(folder / "skills/one/skill.md")
    assert findings(skillgit, folder) == [("skills/one/skill.md", "skill-file-name")]


def test_links_of_the_file_system_are_not_followed(
    skillgit: Run, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    write(outside / "x", "bad")
    (folder / "skills/linked").symlink_to(outside / "x")
    (folder / "skills/one/secret.md").symlink_to("/etc/passwd")
    assert findings(skillgit, folder) == [("skills/one/secret.md", "symlink-outside")]


def test_skills_inside_a_skill_are_judged_once(skillgit: Run, folder: Path) -> None:
    write(folder / "pack", GOOD.format("pack") + "\nSee [inner](skills/inner/SKILL.md).\n")
    write(folder / "pack/skills/inner", "bad\n")
    assert findings(skillgit, folder) == [("pack/skills/inner/SKILL.md", "frontmatter-missing")]


def test_warnings_fail_only_when_asked(skillgit: Run, folder: Path) -> None:
    write(folder / "skills/one", GOOD.format("one") + "\nSee [x](x.md).\n")
    assert skillgit(folder, "lint")[0] == 0
    assert skillgit(folder, "lint", "--strict")[0] == 1
    write(folder / "skills/one", GOOD.format("one").rstrip("\n"))
    assert skillgit(folder, "lint", "--strict")[0] == 0


def test_the_configuration_of_the_repository_counts(skillgit: Run, repo_dir: Path) -> None:
    write(repo_dir / "skills/greeter", GOOD.format("other"))
    assert findings(skillgit, repo_dir, "skills/greeter") == [("skills/greeter/SKILL.md", "name-folder")]
    (repo_dir / "skillgit.yaml").write_text("lint:\n  levels:\n    name-folder: off\n")
    assert findings(skillgit, repo_dir) == []
    assert findings(skillgit, repo_dir / "skills/greeter") == []
    (repo_dir / "skillgit.yaml").write_text("lint:\n  levels:\n    name-folders: off\n")
    code, _, err = skillgit(repo_dir, "lint")
    assert code == 2
    assert "did you mean name-folder?" in err


def test_text_of_the_skills_own_tasks_is_found(skillgit: Run, repo_dir: Path) -> None:
    row = {
        "id": "v",
        "input": "x",
        "judge": {"type": "checks", "checks": [{"op": "contains", "arg": "order_total_v2"}]},
    }
    with (repo_dir / "evals/greeter/val.jsonl").open("a") as file:
        file.write(json.dumps(row) + "\n")
    write(repo_dir / "skills/greeter", GOOD.format("greeter") + "- Print order_total_v2.\n")
    assert findings(skillgit, repo_dir) == [("skills/greeter/SKILL.md", "leaked-text")]
    (repo_dir / "skillgit.yaml").write_text("leaks:\n  grader: false\n")
    assert findings(skillgit, repo_dir) == []


def test_tasks_that_cannot_be_read_are_a_warning(skillgit: Run, repo_dir: Path) -> None:
    (repo_dir / "evals/greeter/val.jsonl").write_text("{broken\n")
    code, out, _ = skillgit(repo_dir, "lint", "--json")
    (finding,) = json.loads(out)["findings"]
    assert (code, finding["rule"], finding["level"]) == (0, "tasks-unreadable", "warning")
    assert "val.jsonl" in finding["path"] + finding["message"]


def test_a_secret_is_in_no_form_of_output(skillgit: Run, folder: Path) -> None:
    token = f"ghp_{made(36)}"
    write(folder / "skills/one", GOOD.format("one") + f"- Use {token}.\n")
    for form in ("text", "json", "github", "sarif"):
        code, out, err = skillgit(folder, "lint", "--format", form)
        assert code == 1
        assert "secret" in out
        assert token[4:] not in out + err


def test_repository_text_cannot_reach_the_terminal_as_controls(skillgit: Run, folder: Path) -> None:
    write(folder / "skills/one", '---\nname: "a\\e[2J\\u202e"\ndescription: x\n---\n')
    for form in ("text", "json", "github", "sarif"):
        _, out, _ = skillgit(folder, "lint", "--format", form)
        assert "name-format" in out
        assert not {"\x1b", "\u202e"} & set(out)


def test_a_patch_is_exact_in_a_pipe_and_harmless_on_a_terminal(
    skillgit: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder / "skills/one", GOOD.format("one") + "- A \x1b[2J rule.")
    _, out, _ = skillgit(folder, "lint", "--fix", "--dry-run")
    assert "+- A \x1b[2J rule.\n" in out
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    _, out, _ = skillgit(folder, "lint", "--fix", "--dry-run")
    assert "+- A \\u{1B}[2J rule.\n" in out
    assert "\x1b" not in out


def test_github_commands_and_sarif_point_at_lines(skillgit: Run, folder: Path) -> None:
    write(folder / "skills/one", GOOD.format("other"))
    _, out, _ = skillgit(folder, "lint", "--format", "github")
    assert out.startswith("::error file=skills/one/SKILL.md,line=2,col=7,title=name-folder::the name is")
    _, out, _ = skillgit(folder, "lint", "--format", "sarif")
    (run,) = json.loads(out)["runs"]
    (result,) = run["results"]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "name-folder"
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "skills/one/SKILL.md"
    assert place["region"] == {"startLine": 2, "startColumn": 7}


def test_fix_mends_the_files_and_a_dry_run_prints_a_patch_that_applies(skillgit: Run, repo_dir: Path) -> None:
    file = write(repo_dir / "skills/greeter", "---\nname: greeter\ndescription: Use when: asked\n---\n\nHi. ")
    file.chmod(0o640)
    git(repo_dir, "add", "--all")
    before = file.read_bytes()
    code, patch, _ = skillgit(repo_dir, "-q", "lint", "--fix", "--dry-run")
    assert (code, file.read_bytes()) == (1, before)
    (repo_dir / "a.patch").write_text(patch[: patch.index("skills/greeter/SKILL.md:")])
    code, out, _ = skillgit(repo_dir, "lint", "--fix", "--json")
    assert (code, json.loads(out)["fixed"]) == (0, ["skills/greeter/SKILL.md"])
    after = file.read_bytes()
    assert after == b'---\nname: greeter\ndescription: "Use when: asked"\n---\n\nHi.\n'
    assert file.stat().st_mode & 0o777 == 0o640
    assert list(file.parent.iterdir()) == [file]
    file.write_bytes(before)
    git(repo_dir, "apply", "a.patch")
    assert file.read_bytes() == after
    assert json.loads(skillgit(repo_dir, "lint", "--fix", "--json")[1])["fixed"] == []


@pytest.mark.parametrize(
    "args", [("--fix", "--staged"), ("--dry-run",), ("--json", "--format", "text"), ("--profile", "x")]
)
def test_what_does_not_go_together_is_a_mistake_of_use(skillgit: Run, folder: Path, args: tuple[str, ...]) -> None:
    code, out, err = skillgit(folder, "lint", *args)
    assert (code, out) == (2, "")
    assert "next:" in err


def test_rules_explain_themselves(skillgit: Run, folder: Path) -> None:
    code, out, _ = skillgit(folder, "lint", "--explain", "unquoted-colon")
    assert code == 0
    assert out.startswith("unquoted-colon (error)\n")
    assert all(f"  {word}:" in out for word in ("why", "fix", "found", "right"))
    _, listed, _ = skillgit(folder, "lint", "--explain", "list")
    assert len(listed.splitlines()) > 40
    _, out, _ = skillgit(folder, "lint", "--explain", "secret", "--json")
    assert json.loads(out)["rules"][0]["id"] == "secret"
    code, _, err = skillgit(folder, "lint", "--explain", "unquoted-colons")
    assert (code, "did you mean unquoted-colon?" in err) == (2, True)


def test_many_skills_are_judged_as_few_are(skillgit: Run, tmp_path: Path) -> None:
    for number in range(120):
        write(tmp_path / f"skills/s{number}", GOOD.format(f"s{number}" if number % 3 else "x"))
    found = findings(skillgit, tmp_path)
    assert len(found) == 40
    assert found == sorted(found)


def test_a_bare_file_is_judged_when_it_is_named(skillgit: Run, folder: Path) -> None:
    bare = folder / "skills/bare.md"
    bare.write_text("- Answer.\n- See [more](more.md).")
    assert findings(skillgit, folder) == []
    path = "skills/bare.md"
    # It needs no frontmatter, and goes where nothing stands beside it.
    assert findings(skillgit, folder, path) == [(path, "link-outside"), (path, "final-newline")]
    bare.write_text("---\nname: bare\ndescription: Answers: all\n---\n- Answer.")
    assert findings(skillgit, folder / "skills", "bare.md") == [
        ("bare.md", "unquoted-colon"),
        ("bare.md", "final-newline"),
    ]
    assert skillgit(folder, "lint", "--fix", path)[0] == 0
    assert bare.read_text() == '---\nname: bare\ndescription: "Answers: all"\n---\n- Answer.\n'


def test_a_bare_file_is_held_to_its_own_tasks(skillgit: Run, folder: Path) -> None:
    (folder / "skills/bare.md").write_text("- Answer.\n")
    (folder / "evals/bare").mkdir(parents=True)
    (folder / "evals/bare/train.jsonl").write_text("no json\n")
    assert findings(skillgit, folder, "skills/bare.md") == [("evals/bare/train.jsonl", "tasks-unreadable")]


def test_all_that_is_wrong_with_tasks_stands_on_one_line(skillgit: Run, folder: Path) -> None:
    (folder / "evals/one").mkdir(parents=True)
    (folder / "evals/one/val.jsonl").write_text('{"id": "a"}\n')
    first, second, *_ = skillgit(folder, "lint")[1].splitlines()
    assert "2 problems in the task files: " in first
    assert "; evals/one/val.jsonl:1" in first
    assert "\\u{A}" not in first
    assert second.startswith("    fix: ")


def test_environments_of_python_are_no_part_of_a_skill(skillgit: Run, folder: Path) -> None:
    for place in (".venv", "skills/one/scripts/.venv"):
        write(folder / place / "lib/skills/other", "no skill \n")
        (folder / place / "pyvenv.cfg").touch()
    assert findings(skillgit, folder) == []


def test_links_to_skills_of_the_repository_are_followed(skillgit: Run, folder: Path) -> None:
    """One skill for several agents: their folders hold links to it."""
    git(folder, "init", "--quiet")
    write(folder / "skills/one", GOOD.format("other"))
    links = folder / ".claude/skills"
    links.mkdir(parents=True)
    (links / "one").symlink_to("../../skills/one")
    (links / "up").symlink_to("../..")
    (links / "away").symlink_to(write(folder.parent / "away", "no skill").parent)
    assert findings(skillgit, folder, ".claude/skills") == [(".claude/skills/one/SKILL.md", "name-folder")]
    assert findings(skillgit, folder) == [("skills/one/SKILL.md", "name-folder")]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such names")
def test_names_of_mended_files_cannot_act_on_a_terminal(skillgit: Run, folder: Path) -> None:
    path = folder / "skills/one/a\x1b]0;b\x07\x9b.md"
    path.write_text("x \n")
    _, out, _ = skillgit(folder, "lint", "--fix")
    assert "mended skills/one/a\\x1b]0;b\\x07\\x9b.md" in out
    path.write_text("x \n")
    _, out, _ = skillgit(folder, "lint", "--fix", "--json")
    assert "\x9b" not in out
    assert json.loads(out)["fixed"] == ["skills/one/a\x1b]0;b\x07\x9b.md"]


@pytest.mark.parametrize("form", ["github", "sarif"])
def test_what_a_platform_reads_has_paths_from_the_top(skillgit: Run, folder: Path, form: str) -> None:
    git(folder, "init", "--quiet")
    write(folder / "skills/one", GOOD.format("other"))
    (folder / "evals/one").mkdir(parents=True)
    (folder / "evals/one/train.jsonl").write_text("no json\n")
    at_top = skillgit(folder, "lint", "skills/one", "--format", form)[1]
    assert skillgit(folder / "skills", "lint", "one", "--format", form)[1] == at_top
    assert "skills/one/SKILL.md" in at_top
    assert "evals/one/train.jsonl" in at_top
    seen = findings(skillgit, folder / "skills", "one")
    assert seen == [("../evals/one/train.jsonl", "tasks-unreadable"), ("one/SKILL.md", "name-folder")]


def test_nothing_heavy_is_loaded_to_lint_a_working_tree(folder: Path) -> None:
    code = (
        f"import sys; from skillgit.cli.main import run; run(['-C', {str(folder)!r}, 'lint']); "
        "print(*({'git', 'openai', 'rich', 'watchdog', 'sqlite3', 'jsonschema'} & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert out.splitlines() == ["3 skills: nothing found", ""]
