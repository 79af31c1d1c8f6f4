"""A deterministic model for whole training runs in processes of their own: it logs every call when it begins.

It is installed beside skillgit as a third-party backend would be (see `processes.install_backend`). The cost of a reply
names the request, so that the ledger of finished calls can be compared with the log of calls begun.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from typing import Any

from skillgit.models.base import ModelSpec, Reply, Request, Usage

LOG, LATENCY = "COUNTED_LOG", "COUNTED_LATENCY"
RULES = {kind: f"- RULE_{kind}: answer {kind} with a dash" for kind in "ABC"}
HARM = "- HARM: shout"


def build(spec: ModelSpec) -> Counted:
    return Counted(spec)


class Counted:
    def __init__(self, spec: ModelSpec) -> None:
        self.spec = spec
        self._log = os.open(os.environ[LOG], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def complete(self, request: Request, *, timeout: float | None = None) -> Reply:
        name = identity(self.spec.role, request)
        os.write(self._log, f"{os.getpid()} {name}\n".encode())
        time.sleep(float(os.environ.get(LATENCY, "0.004")))
        text = target(request) if self.spec.role == "target" else json.dumps(optimizer(request))
        return Reply(text, Usage(len(str(request.messages)), len(text), None, float(name)))

    def settings(self) -> dict[str, Any]:
        return {"backend": "counted"}

    def close(self) -> None:
        """Nothing to release."""


def identity(role: str, request: Request) -> int:
    """A number small enough that sums of thousands are exact."""
    turns = [[turn.role, turn.content] for turn in request.messages]
    text = json.dumps([role, request.seed, turns])
    return int(hashlib.sha256(text.encode()).hexdigest()[:10], 16)


def target(request: Request) -> str:
    """Tasks read like `Aval3`; kinds A, B and C go right once their rule is in the skill, D never does."""
    skill = "".join(turn.content for turn in request.messages if turn.role == "system")
    kind, name = re.fullmatch(r"([A-D])(\w+)", request.messages[-1].content.strip()).groups()
    if RULES.get(kind, "no rule") not in skill or (HARM in skill and kind == "A"):
        return "dunno"
    return f"{kind.lower()}-{name}"


def optimizer(request: Request) -> dict[str, Any]:
    """One answer per kind of question, told apart by what is asked for and by its seed, never by a prompt's words."""
    fields, place = request.schema["properties"], request.seed // 10
    if "selected_indices" in fields:
        return {"reasoning": "useful first", "selected_indices": [1, 0, 2]}
    if "slow_update_content" in fields:
        return {"reasoning": "kept", "slow_update_content": f"Keep the house form ({place})."}
    if "meta_skill_content" in fields:
        return {"reasoning": "kept", "meta_skill_content": f"Short rules help ({place})."}
    if list(fields) == ["appendix_notes"]:
        return {"appendix_notes": [f"Merged reminder {place}."]}
    text = "\n".join(turn.content for turn in request.messages)
    if "### Patch 1 (" in text:
        return {"reasoning": "all of them", "edits": []}
    missing = [rule for rule in RULES.values() if rule not in text]
    note = f"- NOTE {place}"
    choices = ([note], missing[:1], [HARM, *missing[:1]], [], [*missing[:1], note], [HARM], [note])
    contents = choices[(place // 1000 * 2 + place % 1000) % len(choices)]
    edits = [{"op": "append", "content": content} for content in contents]
    summary = [{"failure_type": "form", "description": f"seen in {place}"}]
    notes = [f"Mind the form, case {place % 7}."] if "appendix_notes" in fields and place % 3 == 0 else []
    return {
        "reasoning": f"because of {place}",
        "edits": edits,
        "failure_summary": summary,
        "appendix_notes": notes,
    }
