"""A coding agent's side of `skillgit mcp`: the real client, and what a repository needs for a night."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import CallToolResult

from skillgit.cli.mcp_server.server import build
from tests.conftest import RULES

Call = tuple[str, dict[str, Any]]

COMMAND = [sys.executable, "-P", "-m", "skillgit"]


@asynccontextmanager
async def agent(folder: Path) -> AsyncIterator[Client]:
    """A client of a server that runs as a process of its own, started in the repository."""
    program = StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], "mcp"], env=dict(os.environ), cwd=folder)
    with (folder.parent / "errors.log").open("w") as log:
        async with Client(stdio_client(program, errlog=log)) as client:
            yield client
    assert (folder.parent / "errors.log").read_text() == ""


def over_stdio(folder: Path, *calls: Call) -> list[CallToolResult]:
    """The answers to some calls, from a server process."""

    async def talk() -> list[CallToolResult]:
        async with agent(folder) as client:
            return [await client.call_tool(name, given) for name, given in calls]

    return anyio.run(talk)


def ask(folder: Path, *calls: Call) -> list[CallToolResult]:
    """The answers to some calls, from a server in this process; the commands are processes all the same."""

    async def talk() -> list[CallToolResult]:
        async with Client(build(folder.resolve(), folder.resolve())) as client:
            return [await client.call_tool(name, given) for name, given in calls]

    return anyio.run(talk)


def told(result: CallToolResult) -> dict[str, Any]:
    """The structured content, which the text repeats."""
    content: dict[str, Any] | None = result.structured_content
    assert content is not None, result.content
    assert json.loads(result.content[0].text) == content  # type: ignore[union-attr]
    return content


def refusal(result: CallToolResult) -> str:
    """Why a call was refused before anything was run."""
    assert result.is_error
    assert result.structured_content is None
    text: str = result.content[0].text  # type: ignore[union-attr]
    assert len(text) < 1_000
    return text


def configure(folder: Path, model: Mapping[str, Any], **sleep: Any) -> None:
    """Write `skillgit.yaml`, which YAML reads as the JSON it is."""
    (folder / "skillgit.yaml").write_text(json.dumps({"model": dict(model), "sleep": sleep}))


SCRIPTED = {"backend": "scripted", "script": "night.json"}


def with_night(folder: Path, *, reviewed: bool = True, model: Mapping[str, Any] = SCRIPTED, **sleep: Any) -> None:
    """Tasks in a file, and a script that answers them once it has the rule that it proposes."""
    edits = [{"op": "append", "content": "- RULE_A: answer A with a dash"}]
    rules = [{"role": "optimizer", "reply": {"reasoning": "people want it", "edits": edits}}, *RULES["rules"][-2:]]
    (folder / "night.json").write_text(json.dumps({"rules": rules, "default": "dunno"}))
    rows: list[dict[str, Any]] = [{"format": "skillgit.sleep-tasks.v1", "reviewed": reviewed}]
    for number, word in enumerate(("shoe", "lamp", "river", "stone", "violin", "harbour")):
        task = {"id": word, "input": f"A{word}", "answers": [f"a-{word}"], "skill": "greeter"}
        evidence = {"said": ["with a dash, please"], "sessions": [f"{number:012x}"], "outcome": "fail"}
        rows.append({**task, **evidence, "split": "train" if number < 3 else "val"})
    (folder / "tasks.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    configure(folder, model, **sleep)
