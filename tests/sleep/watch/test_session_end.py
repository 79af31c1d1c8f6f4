"""The hook in Claude Code's project settings: added and taken out again, with all else as it was."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skillgit.errors import NeedsPersonError
from skillgit.git.hooks.install import carry_out
from skillgit.sleep.watch.schedule.session_end import SessionEnd
from tests.sleep.watch.jobs import job

OTHER = {"type": "command", "command": "say done"}


def _hook(top: Path) -> SessionEnd:
    return SessionEnd(top, job().id)


def _file(top: Path) -> Path:
    return top / ".claude" / "settings.local.json"


def _write(top: Path, text: str) -> None:
    _file(top).parent.mkdir(exist_ok=True)
    _file(top).write_text(text)


def _commands(top: Path) -> list[str]:
    groups = json.loads(_file(top).read_text())["hooks"]["SessionEnd"]
    return [hook["command"] for group in groups for hook in group["hooks"]]


def test_the_hook_only_signals(tmp_path: Path) -> None:
    carry_out(_hook(tmp_path).install(job("--max-calls=9")))
    (command,) = _commands(tmp_path)
    assert shlex.split(command) == [*job().command[:6], "sleep", "signal"]
    assert [entry.command for entry in _hook(tmp_path).entries()] == [tuple(shlex.split(command))]
    assert _hook(tmp_path).install(job()) == []


def test_a_settings_file_that_held_nothing_else_goes_again(tmp_path: Path) -> None:
    carry_out(_hook(tmp_path).install(job()))
    carry_out(_hook(tmp_path).remove({job().id}))
    assert not _file(tmp_path).exists()
    assert _hook(tmp_path).remove(None) == []


def test_other_hooks_keys_and_the_indent_stay(tmp_path: Path) -> None:
    before = {
        "permissions": {"allow": ["Bash(ls)"]},
        "hooks": {"Stop": [{"hooks": [OTHER]}], "SessionEnd": [{"matcher": "clear", "hooks": [OTHER]}]},
        "é": 1.0,
    }
    _write(tmp_path, json.dumps(before, indent=4, ensure_ascii=False) + "\n")
    text = _file(tmp_path).read_text()
    _file(tmp_path).chmod(0o640)
    carry_out(_hook(tmp_path).install(job()))
    assert _commands(tmp_path)[0] == "say done"
    assert len(_commands(tmp_path)) == 2
    carry_out(_hook(tmp_path).remove({job().id}))
    assert _file(tmp_path).read_text() == text
    assert _file(tmp_path).stat().st_mode & 0o777 == 0o640


def test_an_older_hook_of_ours_is_replaced(tmp_path: Path) -> None:
    old = {"type": "command", "command": "/old/python -m skillgit -C /x sleep signal"}
    _write(tmp_path, json.dumps({"hooks": {"SessionEnd": [{"hooks": [old, OTHER]}]}}))
    carry_out(_hook(tmp_path).install(job()))
    assert sorted(_commands(tmp_path))[1:] == ["say done"]
    assert len(_commands(tmp_path)) == 2


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"hooks": []}',
        '{"hooks": {"SessionEnd": {}}}',
        '{"hooks": {"SessionEnd": [{}]}}',
        '{"hooks": {"SessionEnd": [{"hooks": ["x"]}]}}',
        '{"a": 1, "a": 2}',
        '{"a": 1} // mine',
        "[" * 100_000,
    ],
)
def test_settings_that_cannot_be_merged_into_are_refused(tmp_path: Path, text: str) -> None:
    _write(tmp_path, text)
    with pytest.raises(NeedsPersonError, match="nothing was changed"):
        _hook(tmp_path).install(job())
    with pytest.raises(NeedsPersonError, match="nothing was changed"):
        _hook(tmp_path).remove(None)
    assert _file(tmp_path).read_text() == text


def test_settings_that_are_a_link_are_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "target.json"
    target.write_text("{}")
    _file(tmp_path).parent.mkdir()
    _file(tmp_path).symlink_to(target)
    with pytest.raises(NeedsPersonError, match="link"):
        _hook(tmp_path).install(job())
    assert target.read_text() == "{}"


def test_a_settings_folder_that_leads_elsewhere_is_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "top").mkdir()
    (tmp_path / "top" / ".claude").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(NeedsPersonError, match="link"):
        _hook(tmp_path / "top").install(job())
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_bare_repository_has_no_project_settings() -> None:
    assert "bare" in SessionEnd(None, job().id).missing()
    assert SessionEnd(None, job().id).entries() == []


GROUPS = st.lists(st.fixed_dictionaries({"hooks": st.lists(st.just(OTHER), max_size=2)}), max_size=3)
HOOKS = st.dictionaries(st.sampled_from(["Stop", "SessionEnd"]), GROUPS)
SETTINGS = st.dictionaries(
    st.text(max_size=3).filter(lambda name: name != "hooks"), st.none() | st.integers(), min_size=1
)


@given(SETTINGS, HOOKS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
def test_adding_and_removing_keeps_what_means_something(tmp_path: Path, rest: dict[str, Any], hooks: Any) -> None:
    before = {**rest, "hooks": hooks}
    _write(tmp_path, json.dumps(before))
    carry_out(_hook(tmp_path).install(job()))
    carry_out(_hook(tmp_path).remove(None))
    # Containers that held nothing may go with our hook.
    after = json.loads(_file(tmp_path).read_text())
    kept = {name: groups for name, groups in after.pop("hooks", {}).items() if groups}
    assert (after, kept) == (rest, {name: groups for name, groups in hooks.items() if groups})


def test_settings_that_are_a_pipe_are_not_waited_for(tmp_path: Path) -> None:
    _file(tmp_path).parent.mkdir()
    os.mkfifo(_file(tmp_path))
    with pytest.raises(NeedsPersonError, match="no ordinary file"):
        _hook(tmp_path).entries()


def test_a_hook_that_no_shell_can_read_is_told(tmp_path: Path) -> None:
    hook = {"type": "command", "command": "it's skillgit sleep signal"}
    _write(tmp_path, json.dumps({"hooks": {"SessionEnd": [{"hooks": [hook]}]}}))
    with pytest.raises(NeedsPersonError, match="cannot be read"):
        _hook(tmp_path).entries()
