"""The programs themselves, where they are installed, held to their permissions by a model that tries everything.

They are looked for in the folder `SKILLGIT_AGENTS`, else on PATH.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from skillgit.models.base import ModelSpec, Request, Workspace
from skillgit.models.clients.agent import AgentModel

from .agent_server import ANSWER, Use, scripted
from .agents import AGENTS, EDITS, MESSAGES, WORK

WHERE = os.pathsep.join([os.environ.get("SKILLGIT_AGENTS", ""), os.environ["PATH"]]).lstrip(os.pathsep)
SKILL, OUTSIDE = ".agents/skills/greeter/SKILL.md", "OUTSIDE/made.txt"
# What the model tries: reading the skill, reading elsewhere, writing here and elsewhere, using the network.
TRIES: Mapping[str, Sequence[Use]] = {
    "claude_code_exec": [
        ("Read", {"file_path": f"DIR/{SKILL}"}),
        ("Read", {"file_path": "/etc/hostname"}),
        ("Write", {"file_path": "DIR/made.txt", "content": "x"}),
        ("Write", {"file_path": OUTSIDE, "content": "x"}),
        ("Bash", {"command": "touch bash.txt"}),
    ],
    "codex_exec": [
        ("exec_command", {"cmd": f"cat {SKILL}"}),
        ("exec_command", {"cmd": "touch made.txt"}),
        ("exec_command", {"cmd": f"touch {OUTSIDE}"}),
        ("exec_command", {"cmd": "env | grep -c KEY"}),
    ],
    "copilot_exec": [
        ("view", {"path": f"DIR/{SKILL}"}),
        ("view", {"path": "/etc/hostname"}),
        ("create", {"path": "DIR/made.txt", "file_text": "x"}),
        ("create", {"path": OUTSIDE, "file_text": "x"}),
        ("bash", {"command": "touch bash.txt", "description": "d"}),
    ],
}
PROFILE = """model_provider = "loop"
[model_providers.loop]
name = "loop"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "CODEX_LOOP_KEY"
"""


class Watched(AgentModel):
    """Notes which files there are in the workspace when the program has ended."""

    left: frozenset[str] = frozenset()

    def _run(self, call, seconds):  # type: ignore[no-untyped-def]
        done = super()._run(call, seconds)
        self.left = frozenset(path.name for path in call.where.iterdir() if path.suffix == ".txt")
        return done


def model_of(backend: str, url: str, home: Path) -> Watched:
    environ = {"PATH": WHERE, "HOME": str(home), "NO_PROXY": "127.0.0.1"}
    environ |= {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "sk-loop-1234"}
    environ |= {
        "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
        "COPILOT_PROVIDER_API_KEY": "sk-loop",
        "COPILOT_OFFLINE": "true",
    }
    client = {}
    if backend == "codex_exec":
        (home / ".codex").mkdir(exist_ok=True)
        (home / ".codex/loop.config.toml").write_text(PROFILE.format(url=url))
        environ["CODEX_LOOP_KEY"], client["profile"] = "sk-loop-1234", "loop"
    spec = ModelSpec("target", backend, "some-model", timeout=60, retries=0, options={"client": client})
    return Watched(spec, AGENTS[backend], environ)


@pytest.mark.parametrize("work", [WORK, EDITS], ids=["reads", "edits"])
@pytest.mark.parametrize("backend", TRIES)
def test_the_real_program_reads_the_skill_and_keeps_to_its_folder(
    backend: str, work: Workspace, tmp_path: Path
) -> None:
    if shutil.which(AGENTS[backend].program, path=WHERE) is None:
        pytest.skip(f"{AGENTS[backend].program} is not installed")
    outside = tmp_path / "outside"
    outside.mkdir()
    tries = [(tool, {k: v.replace("OUTSIDE", str(outside)) for k, v in args.items()}) for tool, args in TRIES[backend]]
    with scripted(tries) as url:
        model = model_of(backend, url, tmp_path)
        reply = model.complete(Request(MESSAGES, workspace=replace(work, executables=frozenset())))
    assert reply.text == ANSWER
    told = reply.reasoning.splitlines()
    assert told[0].endswith(SKILL), told
    assert not any("/etc/hostname" in line and "(failed)" not in line for line in told), told
    assert list(outside.iterdir()) == []
    assert model.left == ({"made.txt"} if work.writable else set())
    if backend == "codex_exec":
        assert told[-1] == "command_execution env | grep -c KEY (failed)", "commands see no key"
