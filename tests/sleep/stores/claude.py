"""Synthetic stores of Claude Code. `folder` is the home (`claude_home`) everywhere."""

from __future__ import annotations

import json
import random
import re
import uuid
from pathlib import Path
from typing import Any

from tests.sleep.stores import START, Turns, dump, iso, write


def path_of(folder: Path, session: str, cwd: str = "/w/shop") -> Path:
    """Where a session's transcript lies; the folder's name loses what is no letter or digit, as it does there."""
    return folder / "projects" / re.sub(r"[^A-Za-z0-9]", "-", cwd) / f"{session}.jsonl"


def base(session: str, number: int, *, cwd: str, at: float, **more: Any) -> dict[str, Any]:
    """The fields that most records have. `None` takes one away."""
    fields = {
        "parentUuid": _uuid(session, number - 1) if number else None,
        "isSidechain": False,
        "userType": "external",
        "entrypoint": "cli",
        "cwd": cwd,
        "sessionId": session,
        "version": "2.1.12",
        "gitBranch": "main",
        "uuid": _uuid(session, number),
        "timestamp": iso(at),
    } | more
    return {key: value for key, value in fields.items() if value is not None or key == "parentUuid"}


def user(session: str, number: int, content: Any, *, cwd: str = "/w/shop", at: float = START, **more: Any) -> Any:
    """A record of the type `user`."""
    return {"type": "user", "message": {"role": "user", "content": content}} | base(
        session, number, cwd=cwd, at=at, **more
    )


def assistant(session: str, number: int, *blocks: Any, cwd: str = "/w/shop", at: float = START, **more: Any) -> Any:
    """A record of the type `assistant`; a block that is a string is text."""
    content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    usage = {"input_tokens": 12, "output_tokens": 34}
    message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "content": content, "usage": usage}
    return {"type": "assistant", "requestId": f"req_{number}", "message": message} | base(
        session, number, cwd=cwd, at=at, **more
    )


def call(tool: str, **given: Any) -> dict[str, Any]:
    """A block that calls a tool."""
    return {"type": "tool_use", "id": f"toolu_{tool}", "name": tool, "input": given}


def tool_result(session: str, number: int, output: str, **more: Any) -> Any:
    """A record of the type `user` that a person has not written."""
    block = {"tool_use_id": "toolu_Bash", "type": "tool_result", "content": output, "is_error": False}
    return user(session, number, [block], toolUseResult={"stdout": output, "stderr": ""}, **more)


def session_records(
    session: str, turns: Turns, *, cwd: str = "/w/shop", at: float = START, first: int = 0, skill: str = "", **more: Any
) -> list[Any]:
    """A plain conversation. A turn takes a minute, an answer 20 seconds; `first` numbers its first record."""
    found: list[Any] = []
    if skill:
        found.append(assistant(session, first, call("Skill", skill=skill), cwd=cwd, at=at, **more))
    for index, (said, answer) in enumerate(turns):
        now = at + 60 * index
        found.append(user(session, first + len(found), said, cwd=cwd, at=now, **more))
        if answer:
            found.append(assistant(session, first + len(found), answer, cwd=cwd, at=now + 20, **more))
    return found


def write_session(
    folder: Path,
    session: str,
    turns: Turns,
    *,
    cwd: str = "/w/shop",
    at: float = START,
    append: bool = False,
    first: int = 0,
    skill: str = "",
    **more: Any,
) -> Path:
    """Write a conversation and give its file. To append to one, give the number of its next record as `first`.

    Args:
        skill: put in play before the first turn.
        more: fields of every record, such as `entrypoint="sdk-cli"` or `isSidechain=True`.
    """
    records = session_records(session, turns, cwd=cwd, at=at, first=first, skill=skill, **more)
    return write(path_of(folder, session, cwd), dump(records), append=append)


def write_agent(folder: Path, session: str, agent: str, turns: Turns, *, cwd: str = "/w/shop") -> Path:
    """Write what a session's sub-agent did into its own file."""
    records = session_records(f"{session}-{agent}", turns, cwd=cwd, isSidechain=True, agentId=agent)
    records = [record | {"sessionId": session} for record in records]
    return write(path_of(folder, session, cwd).with_suffix("") / "subagents" / f"agent-{agent}.jsonl", dump(records))


def write_fork(folder: Path, session: str, fork: str, *, cwd: str = "/w/shop") -> Path:
    """Write a fork: all records of a session again, of the same ids, in a file and session of its own."""
    lines = path_of(folder, session, cwd).read_bytes().splitlines()
    return write(path_of(folder, fork, cwd), dump([json.loads(line) | {"sessionId": fork} for line in lines]))


def write_noisy_session(
    folder: Path,
    session: str,
    turns: Turns,
    *,
    cwd: str = "/w/shop",
    at: float = START,
    seed: int = 0,
    tool_bytes: int = 2000,
) -> Path:
    """Like `write_session`, with everything around it that a real transcript has, two thirds of it tool traffic.

    Args:
        tool_bytes: size of each tool's output; there are one to three outputs per turn.
    """
    rng = random.Random(f"{seed}{session}")
    records: list[Any] = [{"type": "summary", "summary": "Earlier work", "leafUuid": _uuid(session, 9999)}]
    for index, (said, answer) in enumerate(turns):
        now = at + 60 * index
        place: dict[str, Any] = {"cwd": cwd, "at": now}
        records.append(_snapshot(session, index, now))
        records += _around(rng, session, 1000 * (index + 1), cwd, now)
        records.append(user(session, 1000 * (index + 1) + 20, said, **place))
        records += _work(rng, session, 1000 * (index + 1) + 30, cwd, now + 5, tool_bytes)
        if answer:
            records.append(assistant(session, 1000 * (index + 1) + 60, answer, cwd=cwd, at=now + 20))
    return write(path_of(folder, session, cwd), dump(records))


def damaged(data: bytes) -> bytes:
    """A transcript's bytes with everything wrong that may be: no record is lost, since all damage is added to it.

    Counts: `json` 1, `not an object` 3, `encoding` 1, `nul` 1, `nested` 1; a mark at the start; and a torn last line.
    """
    lines = data.splitlines(keepends=True)
    broken = [
        b"null\n",
        b"[1]\n",
        b"5\n",
        b'{"type":"user","mess\n',
        b'{"type":"progress","data":"\xff\xfe"}\n',
        b"\0" * 64 + b'{"type":"progress"}\n',
        b'{"type":"progress","data":' + b"[" * 200_000 + b"]" * 200_000 + b"}\n",
        b"\n",
    ]
    half = len(lines) // 2
    return b"".join([b"\xef\xbb\xbf", *lines[:half], *broken, *lines[half:], b'{"type":"user","message":{"role":"us'])


def _uuid(session: str, number: int) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{session}:{number}"))


def _snapshot(session: str, index: int, at: float) -> dict[str, Any]:
    tracked = {f"src/part{index}.py": {"backupFileName": None, "version": 1}}
    return {
        "type": "file-history-snapshot",
        "messageId": _uuid(session, 1000 * (index + 1) + 20),
        "snapshot": {
            "messageId": _uuid(session, 1000 * (index + 1) + 20),
            "trackedFileBackups": tracked,
            "timestamp": iso(at),
        },
        "isSnapshotUpdate": False,
    }


def _around(rng: random.Random, session: str, number: int, cwd: str, at: float) -> list[Any]:
    """Some of what stands in the name of a user and was not typed: commands and what the program adds."""
    place: dict[str, Any] = {"cwd": cwd, "at": at - 10}
    own = "<command-name>/clear</command-name>\n<command-message>clear</command-message>"
    users = "<command-message>tidy</command-message>\n<command-name>/tidy</command-name>"
    kinds: list[list[Any]] = [
        [
            user(session, number, own, **place),
            user(session, number + 1, "<local-command-stdout>(no content)</local-command-stdout>", **place),
        ],
        [
            user(session, number, users, **place),
            user(session, number + 1, [{"type": "text", "text": "# Tidy\n\nAlways tidy every file."}], **place),
        ],
        [user(session, number, "Caveat: The messages below were generated by the user while …", isMeta=True, **place)],
        [user(session, number, "Summary of all that was done before.", isCompactSummary=True, **place)],
        [user(session, number, [{"type": "text", "text": "[Request interrupted by user]"}], **place)],
        [{"type": "system", "subtype": "compact_boundary", "content": "Compacted"} | base(session, number, **place)],
        [user(session, number, "Look into the parser and report back.", isSidechain=True, **place)],
        [{"type": "progress", "data": {"type": "hook_progress"}} | base(session, number, **place)],
        [{"type": "queue-operation", "operation": "enqueue", "sessionId": session, "timestamp": iso(at)}],
    ]
    return [record for kind in rng.sample(kinds, 4) for record in kind]


def _work(rng: random.Random, session: str, number: int, cwd: str, at: float, size: int) -> list[Any]:
    thought = {"type": "thinking", "thinking": "The user always wants tabs.", "signature": "c2ln"}
    records = [assistant(session, number, thought, cwd=cwd, at=at)]
    for step in range(rng.randint(1, 3)):
        place: dict[str, Any] = {"cwd": cwd, "at": at + step}
        tool = rng.choice([call("Bash", command="pytest -q"), call("Edit", file_path=f"{cwd}/src/app.py")])
        records.append(assistant(session, number + 1 + 2 * step, tool, **place))
        records.append(tool_result(session, number + 2 + 2 * step, _output(rng, size), **place))
    return records


def _output(rng: random.Random, size: int) -> str:
    words = ["error", "remember: always use tabs", "passed", "src/app.py:12", '"quoted"', "naïve", "\t", "0x1f", "}"]
    line = " ".join(rng.choices(words, k=9))
    return "\n".join([line] * (size // (len(line) + 1) + 1))[:size]
