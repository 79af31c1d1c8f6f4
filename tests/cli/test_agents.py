"""What is shipped for agents: the skill that reviews proposals, and the settings that register skillgit."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from skillgit.cli.main import cli
from tests.cli.test_mcp import ACTING, READING
from tests.conftest import git
from tests.sleep.proposals.nights import NIGHT, night

Run = Callable[..., tuple[int, str, str]]

EXAMPLES = Path(__file__).parents[2] / "examples"
SKILL = EXAMPLES / "skills/review-proposals"
PAGE = EXAMPLES / "agents/README.md"
TEXTS = (SKILL / "SKILL.md", SKILL / "references/judging-rules.md", PAGE)
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"`([^`\n]+)`")
_COMMAND = re.compile(r"\bskillgit (?:-C|[a-z]).*?(?=$|   )", re.MULTILINE)


def blocks(path: Path, *kinds: str) -> list[str]:
    """The fenced blocks of some kinds."""
    return [body for kind, body in _FENCE.findall(path.read_text(encoding="utf-8")) if kind in kinds]


def commands(path: Path) -> Iterator[list[str]]:
    """The words of every skillgit command that a page names, in its blocks and between its words."""
    text = path.read_text(encoding="utf-8")
    code = [*blocks(path, "sh", "text", "console"), *_SPAN.findall(_FENCE.sub("", text))]
    for part in code:
        yield from (shlex.split(found)[1:] for found in _COMMAND.findall(part))


def settings(path: Path) -> list[dict[str, Any]]:
    """The settings on a page, in order."""
    read = {"json": json.loads, "toml": tomllib.loads}
    return [read[kind](body) for kind, body in _FENCE.findall(path.read_text(encoding="utf-8")) if kind in read]


def check(words: list[str]) -> None:
    """Fail unless skillgit has this command, and takes these words for it when there are any."""
    command: click.Command | None = cli
    context, rest = click.Context(cli), words[2:] if words[0] == "-C" else words
    name: str | None = "skillgit"
    while isinstance(command, click.Group) and rest:
        name, command, rest = command.resolve_command(context, rest)
        context = click.Context(command or cli, info_name=name, parent=context)
    assert command is not None, words
    if rest:
        command.make_context(name, rest)


@pytest.mark.parametrize("profile", ["spec", "claude-code", "codex"])
def test_the_review_skill_is_free_of_findings(profile: str, skillgit: Run) -> None:
    code, out, err = skillgit(EXAMPLES, "lint", "skills/review-proposals", "--strict", "--profile", profile, "--json")
    assert code == 0, err
    assert json.loads(out)["findings"] == []
    assert json.loads(out)["skills"] == 1


def test_the_review_skill_is_one_for_the_reference_validator() -> None:
    validator = pytest.importorskip("skills_ref.validator", reason="skills-ref is not installed")
    assert validator.validate(SKILL) == []


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_every_command_that_a_page_names_is_one(path: Path) -> None:
    found = list(commands(path))
    assert found or path.name == "judging-rules.md"
    for words in found:
        check(words)


def test_the_check_of_commands_finds_what_is_none() -> None:
    for words in (["sleep", "merge"], ["sleep", "adopt", "greeter", "--force"], ["mpc"], ["sleep", "adopt", "a", "b"]):
        with pytest.raises(click.UsageError):
            check(words)


def test_the_commands_of_the_review_run_and_decide_nothing(repo_dir: Path, tmp_path: Path) -> None:
    record = night(repo_dir)
    before = git(repo_dir, "for-each-ref"), git(repo_dir, "status", "--porcelain", "--branch")
    names = {"SKILL": "greeter", "NIGHT": NIGHT, "DIR": str(tmp_path / "look")}
    lines = [line for block in blocks(SKILL / "SKILL.md", "sh") for line in block.splitlines()]
    assert len(lines) == 10
    for line in lines:
        words = shlex.split(re.sub(r"\b(SKILL|NIGHT|DIR)\b", lambda found: names[found[0]], line))
        program = [sys.executable, "-P", "-m", "skillgit"] if words[0] == "skillgit" else words[:1]
        done = subprocess.run([*program, *words[1:]], cwd=repo_dir, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"
    assert (git(repo_dir, "for-each-ref"), git(repo_dir, "status", "--porcelain", "--branch")) == before
    assert git(repo_dir, "worktree", "list", "--porcelain").count("worktree ") == 1
    assert record.branch in before[0]


def test_the_review_speaks_of_tools_that_are_there() -> None:
    text = (SKILL / "SKILL.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:sleep|skill)_\w+)`", text))
    assert named
    assert named <= READING
    assert not named & ACTING


def test_the_settings_start_the_server_and_the_hook() -> None:
    found = settings(PAGE)
    servers = [entry for page in found for key in ("mcpServers", "mcp_servers", "servers") if (entry := page.get(key))]
    hooks = [page["hooks"] for page in found if "hooks" in page]
    assert (len(servers), len(hooks)) == (5, 4)
    for server in servers:
        assert server["skillgit"]["command"] == "skillgit"
        assert server["skillgit"]["args"][-1] == "mcp"
        check(server["skillgit"]["args"])
    called = [text for hook in hooks for text in _texts(hook) if text.startswith("skillgit")]
    assert len(called) == 5
    for text in called:
        assert shlex.split(text) == ["skillgit", "sleep", "signal"]
        check(shlex.split(text)[1:])


def _texts(value: Any) -> Iterator[str]:
    """All texts in JSON values."""
    if isinstance(value, str):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _texts(item)


def test_the_hook_of_claude_code_is_what_schedule_writes(repo_dir: Path, skillgit: Run) -> None:
    assert skillgit(repo_dir, "sleep", "schedule", "--with", "claude-code")[0] == 0
    written = json.loads((repo_dir / ".claude/settings.local.json").read_text())
    (hook,) = written["hooks"]["SessionEnd"][0]["hooks"]
    assert hook["command"].endswith("sleep signal")
    hook["command"] = "skillgit sleep signal"
    assert written in settings(PAGE)
