"""`skillgit models` tells what each backend needs and whether it is here, without asking anybody."""

from __future__ import annotations

import json
import stat
from collections.abc import Mapping
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from skillgit.config.load import load_config
from skillgit.models import registry
from skillgit.models.readiness import programs
from skillgit.models.readiness.backends import Readiness, backends, readiness
from skillgit.models.readiness.needs import Place
from tests.git.helpers import Skillgit
from tests.models.program import Program
from tests.models.server import answer, serving

SECRET = "planted-0f9e8d7c6b5a"


def look(folder: Path, backend: str, environ: Mapping[str, str] | None = None, *settings: str) -> Readiness:
    config = load_config(folder, "", list(settings))
    given = {"PATH": str(folder / "bin"), "HOME": str(folder / "home"), **(environ or {})}
    return readiness(Place(config, folder, folder / "exchange", given), backend)


def need(found: Readiness, name: str) -> Any:
    (one,) = (need for need in found.needs if need.name == name)
    return one


# --- the list


def test_every_backend_is_listed_and_those_in_use_are_marked(repo_dir: Path, skillgit: Skillgit) -> None:
    use = ("--set", "model.backend=scripted", "--set", "model.script=script.json", "--set")
    code, out, _ = skillgit(repo_dir, "models", "--json", *use, "model.optimizer_backend=handoff")
    assert code == 0
    found = {each["backend"]: each for each in json.loads(out)["backends"]}
    assert tuple(found) == registry.backend_names()
    assert {name: each["roles"] for name, each in found.items() if each["roles"]} == {
        "scripted": ["target"],
        "handoff": ["optimizer"],
    }
    assert found["scripted"] == {
        "backend": "scripted",
        "kind": "script",
        "ready": True,
        "roles": ["target"],
        "needs": [
            {"name": "script", "ok": True, "detail": f"{repo_dir}/script.json, 8 rules", "fix": "", "variables": {}}
        ],
    }


def test_people_see_what_is_in_use_in_full_and_the_rest_in_a_line(repo_dir: Path, skillgit: Skillgit) -> None:
    args = ("models", "--set", "model.target_backend=qwen_chat", "--set", "model.optimizer_backend=qwen_chat")
    code, out, _ = skillgit(repo_dir, *args)
    lines = out.splitlines()
    assert code == 0
    assert any(line.startswith("not ready  qwen_chat") and line.endswith("target and optimizer") for line in lines)
    assert any("lacks  target model: none named (TARGET_QWEN_CHAT_MODEL, " in line for line in lines)
    assert any("next: --set model.target=NAME" in line for line in lines)
    assert sum("MINIMAX_MODEL" in line for line in lines) == 0
    code, out, _ = skillgit(repo_dir, "-v", *args)
    assert "MINIMAX_MODEL" in out


def test_it_works_outside_a_repository(tmp_path: Path, skillgit: Skillgit) -> None:
    code, out, _ = skillgit(tmp_path, "models", "--json")
    assert code == 0
    found = {each["backend"]: each for each in json.loads(out)["backends"]}
    assert found["handoff"]["ready"] is False
    assert "git init" in found["handoff"]["needs"][0]["fix"]


def test_nobody_is_asked_and_no_value_is_told(
    repo_dir: Path, skillgit: Skillgit, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("OPENAI_API_KEY", "QWEN_CHAT_API_KEY", "ANTHROPIC_API_KEY", "GH_TOKEN", "MINE"):
        monkeypatch.setenv(variable, SECRET)
    with serving(answer()) as fake:
        monkeypatch.setenv("QWEN_CHAT_BASE_URL", fake.url)
        args = ("-v", "models", "--set", "model.backend=qwen_chat", "--set", "model.api_key_env=MINE")
        texts = [skillgit(repo_dir, *args), skillgit(repo_dir, *args, "--json")]
        assert fake.calls == 0
    assert all(code == 0 for code, _, _ in texts)
    assert not any(SECRET in out + err for _, out, err in texts)
    assert "(MINE is set)" in texts[0][1]


def test_a_backend_in_use_that_is_not_there_is_listed(tmp_path: Path, skillgit: Skillgit) -> None:
    code, out, _ = skillgit(tmp_path, "models", "--json", "--set", "model.target_backend=nonsense")
    assert code == 0
    (found,) = [each for each in json.loads(out)["backends"] if each["backend"] == "nonsense"]
    assert (found["ready"], found["roles"]) == (False, ["target"])


# --- servers


def test_a_server_is_ready_with_a_model_an_address_and_a_key(tmp_path: Path) -> None:
    environ = {"QWEN_CHAT_MODEL": "q", "OPTIMIZER_QWEN_CHAT_API_KEY": SECRET}
    found = look(tmp_path, "qwen_chat", environ, "model.base_url=https://models.example.com/v1")
    assert (found.kind, found.ready) == ("server", True)
    assert need(found, "target key").detail == "none set; this server may need none"
    assert need(found, "optimizer key").detail == "set"
    assert need(found, "optimizer key").variables == {
        "OPTIMIZER_QWEN_CHAT_API_KEY": True,
        "QWEN_CHAT_OPTIMIZER_API_KEY": False,
        "QWEN_CHAT_API_KEY": False,
    }
    assert need(found, "target model").detail == "q"


@pytest.mark.parametrize(
    ("backend", "fix"),
    [
        ("openai_chat", "export OPENAI_API_KEY=…"),
        ("openai_compatible", "export OPENAI_API_KEY=…"),
        ("minimax_chat", "export MINIMAX_API_KEY=…"),
    ],
)
def test_a_public_service_needs_a_key(tmp_path: Path, backend: str, fix: str) -> None:
    settings = ("model.target=m", "model.optimizer_backend=pi", f"model.target_backend={backend}")
    found = look(tmp_path, backend, {}, *settings)
    assert found.ready is False
    assert (need(found, "address").ok, need(found, "key").ok, need(found, "key").fix) == (True, False, fix)
    variable = fix.removeprefix("export ").removesuffix("=…")
    assert look(tmp_path, backend, {variable: SECRET}, *settings).ready is True


def test_a_key_that_would_go_out_unencrypted_is_no_readiness(tmp_path: Path) -> None:
    settings = ("model.target=m", "model.base_url=http://models.example.com/v1", "model.target_backend=qwen_chat")
    found = look(tmp_path, "qwen_chat", {"QWEN_CHAT_API_KEY": SECRET}, *settings)
    assert (found.ready, need(found, "address").ok) == (False, False)
    assert "unencrypted" in need(found, "address").detail


def test_a_setting_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    found = look(tmp_path, "minimax_chat", {"MINIMAX_REGION": "moon", "MINIMAX_MODEL": "m"})
    assert found.ready is False
    assert "moon" in need(found, "settings").detail


@pytest.mark.parametrize("mode", ["azure_cli", "managed_identity"])
def test_azure_tokens_need_a_package_and_a_login_that_only_a_call_can_tell(
    tmp_path: Path, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = ("model.target=gpt", "model.optimizer=gpt", f"model.azure.auth_mode={mode}")
    settings += ("model.azure.endpoint=https://us.openai.azure.com",)
    found = look(tmp_path, "openai_chat", {}, *settings)
    assert (found.ready, need(found, "package").ok, need(found, "login").ok) == (None, True, None)
    monkeypatch.setattr("skillgit.models.readiness.needs.find_spec", lambda name: None)
    found = look(tmp_path, "openai_chat", {}, *settings)
    assert (found.ready, need(found, "package").fix) == (False, "pip install 'skillgit[azure]'")


def test_azure_with_a_key_needs_the_key(tmp_path: Path) -> None:
    settings = ("model.target=gpt", "model.optimizer=gpt", "model.azure.auth_mode=api_key")
    environ = {"AZURE_OPENAI_ENDPOINT": "https://us.openai.azure.com"}
    found = look(tmp_path, "openai_chat", environ, *settings)
    assert (found.ready, need(found, "optimizer key").ok) == (False, False)
    assert look(tmp_path, "openai_chat", {**environ, "AZURE_OPENAI_API_KEY": SECRET}, *settings).ready is True


# --- programs


def test_a_program_is_told_with_path_and_version(tmp_path: Path) -> None:
    program = Program(tmp_path / "bin", "claude")
    program.plan(out="\x1b[1m2.1.7 (Claude Code)\x1b[0m\nmore\n")
    found = look(tmp_path, "claude_chat", {"ANTHROPIC_API_KEY": SECRET, "OPENAI_API_KEY": SECRET})
    assert (found.kind, found.ready) == ("program", True)
    assert need(found, "program").detail == f"{tmp_path}/bin/claude, 2.1.7 (Claude Code)"
    assert need(found, "login").detail == "by ANTHROPIC_API_KEY"
    (given,) = program.given
    assert given["args"] == ["--version"]
    assert "OPENAI_API_KEY" not in given["env"]


def test_a_version_may_come_on_standard_error(tmp_path: Path) -> None:
    Program(tmp_path / "bin", "pi").plan(err="0.73.1\n")
    assert need(look(tmp_path, "pi"), "program").detail == f"{tmp_path}/bin/pi, 0.73.1"


def test_a_program_may_lie_anywhere(tmp_path: Path) -> None:
    Program(tmp_path / "elsewhere", "agent").plan(out="7")
    found = look(tmp_path, "codex_exec", {}, f"model.codex.path={tmp_path}/elsewhere/agent")
    assert need(found, "program").detail == f"{tmp_path}/elsewhere/agent, 7"


@pytest.mark.parametrize(
    ("plan", "problem"),
    [
        ({"code": 3, "err": "broken"}, "ended with exit code 3"),
        ({"out": "\n"}, "ended with exit code 0"),
        ({"sleep": 30}, "gave no version within"),
    ],
)
def test_a_program_that_does_not_work_is_not_ready(
    tmp_path: Path, plan: dict[str, Any], problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "_SECONDS", 0.5)
    Program(tmp_path / "bin", "pi").plan(**plan)
    found = look(tmp_path, "pi")
    assert found.ready is False
    assert problem in need(found, "program").detail


def test_a_program_that_is_not_installed_is_told(tmp_path: Path) -> None:
    found = look(tmp_path, "opencode")
    assert (found.ready, need(found, "program").detail) == (False, "opencode was not found")


@pytest.mark.parametrize(
    ("backend", "file"),
    [
        ("claude_chat", ".claude/.credentials.json"),
        ("codex_exec", ".codex/auth.json"),
        ("copilot_chat", ".config/gh/hosts.yml"),
        ("opencode", ".local/share/opencode/auth.json"),
        ("pi", ".pi/agent/auth.json"),
    ],
)
def test_a_login_is_known_by_its_file_else_it_is_unknown(tmp_path: Path, backend: str, file: str) -> None:
    Program(tmp_path / "bin", programs.PROGRAMS[backend][0].program).plan(out="1")
    found = look(tmp_path, backend)
    assert (found.ready, need(found, "login").ok) == (None, None)
    path = tmp_path / "home" / file
    path.parent.mkdir(parents=True)
    path.write_text("")
    assert look(tmp_path, backend).ready is None
    path.write_text(json.dumps({"token": SECRET}))
    found = look(tmp_path, backend)
    assert (found.ready, need(found, "login").detail) == (True, f"by {path}")


def test_a_folder_that_a_program_was_told_to_use_is_looked_into(tmp_path: Path) -> None:
    Program(tmp_path / "bin", "codex").plan(out="1")
    (tmp_path / "own").mkdir()
    (tmp_path / "own/auth.json").write_text("{}")
    assert look(tmp_path, "codex_exec", {"CODEX_HOME": str(tmp_path / "own")}).ready is True


def test_every_command_line_backend_has_its_program() -> None:
    built = {entry.name for entry in registry._entries().values() if entry.value.startswith("skillgit.models.clients.")}
    assert built == set(programs.PROGRAMS)


# --- the others


def test_a_local_model_needs_its_package_and_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "qwen2.5-coder-0.5b"
    settings = ("model.backend=local", f"model.target={name}", f"model.optimizer={name}")
    environ = {"SKILLGIT_HOME": str(tmp_path / "data")}
    monkeypatch.setattr("skillgit.models.readiness.needs.find_spec", lambda name: name)
    found = look(tmp_path, "local", environ, *settings)
    assert (found.ready, need(found, "file").ok) == (None, None)
    assert "fetched at first use (491 MB)" in need(found, "file").detail
    assert not (tmp_path / "data").exists()
    found = look(tmp_path, "local", environ, "model.backend=local", "model.target=qwen9", f"model.optimizer={name}")
    assert (found.ready, need(found, "target model").ok) == (False, False)
    (tmp_path / "own.gguf").write_text("GGUF")
    assert look(tmp_path, "local", environ, *settings, "model.local.path=own.gguf").ready is True
    assert look(tmp_path, "local", environ, *settings, "model.local.path=other.gguf").ready is False
    monkeypatch.setattr("skillgit.models.readiness.needs.find_spec", lambda name: None)
    assert need(look(tmp_path, "local", environ, *settings), "package").fix == "pip install 'skillgit[local]'"


def test_a_script_must_be_named_and_sound(tmp_path: Path) -> None:
    assert need(look(tmp_path, "scripted"), "script").detail == "none named"
    (tmp_path / "bad.json").write_text('{"rule": []}')
    found = look(tmp_path, "scripted", {}, "model.script=bad.json")
    assert found.ready is False
    assert "bad.json" in need(found, "script").detail


def test_handed_off_prompts_that_wait_are_counted(tmp_path: Path) -> None:
    found = look(tmp_path, "handoff")
    assert (found.ready, found.kind, found.needs[0].detail) == (True, "person", "no prompt waits for an answer")
    (tmp_path / "exchange/prompts").mkdir(parents=True)
    (tmp_path / "exchange/prompts/a.md").write_text("?")
    assert look(tmp_path, "handoff").needs[0].detail == f"1 prompts wait: {tmp_path}/exchange/PROMPTS.md"
    assert stat.S_ISDIR((tmp_path / "exchange").stat().st_mode)


def test_backends_of_other_packages_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = {
        "broken": EntryPoint("broken", "no_such_module:build", registry.GROUP),
        "theirs": EntryPoint("theirs", "skillgit.models.scripted:build", registry.GROUP),
    }
    monkeypatch.setattr(registry, "_entries", lambda: entries)
    config = load_config(tmp_path, "", ["model.backend=theirs"])
    broken, theirs = backends(Place(config, tmp_path, None, {}))
    assert (broken.kind, broken.ready, theirs.ready) == ("plugin", False, None)
    assert "no_such_module" in broken.needs[0].detail
