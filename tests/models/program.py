"""Stand-ins for command-line agents: programs of the same name that note what they got and answer as told."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

_CODE = """#!{python}
import json, os, subprocess, sys, time
folder = {folder!r}
before = sum(1 for _ in open(folder + "/given.jsonl")) if os.path.exists(folder + "/given.jsonl") else 0
plans = json.load(open(folder + "/plan.json"))
plan = plans[min(before, len(plans) - 1)]
given = {{"args": sys.argv[1:], "stdin": sys.stdin.read(), "cwd": os.getcwd(), "env": dict(os.environ)}}
given["files"] = {{n: open(n).read() for n in os.listdir(".") if os.path.isfile(n)}}
found = [os.path.join(top, n) for top, _, names in os.walk(".") for n in names]
given["tree"] = {{os.path.relpath(n): open(n, errors="replace").read() for n in found}}
with open(folder + "/given.jsonl", "a") as out:
    out.write(json.dumps(given) + "\\n")
for name, text in plan.get("make", {{}}).items():
    os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
    open(name, "w").write(text)
if plan.get("fork"):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    with open(folder + f"/child-{{child.pid}}", "w") as note:
        note.write(str(child.pid))
    os.replace(folder + f"/child-{{child.pid}}", folder + "/child")  # whoever sees it can read it
if "--output-last-message" in sys.argv and plan.get("last") is not None:
    open(sys.argv[sys.argv.index("--output-last-message") + 1], "w").write(plan["last"])
time.sleep(plan.get("sleep", 0))
sys.stdout.write(plan.get("out", ""))
sys.stdout.flush()
sys.stderr.write(plan.get("err", ""))
sys.exit(plan.get("code", 0))
"""


class Program:
    """A program called `name` in a folder of its own, which is to be put on PATH."""

    def __init__(self, folder: Path, name: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        (folder / name).write_text(_CODE.format(python=sys.executable, folder=str(folder)))
        (folder / name).chmod(0o755)
        self.plan()

    def plan(self, **how: Any) -> None:
        """What it does from now on: `out`, `err`, `code`, `sleep` seconds, `fork` a child, `last` message's file.

        `make` maps names of files to texts that it writes into its folder.
        """
        self.plans(how)

    def plans(self, *hows: dict[str, Any]) -> None:
        """One plan per run; the last holds for all further ones."""
        (self.folder / "given.jsonl").unlink(missing_ok=True)
        (self.folder / "plan.json").write_text(json.dumps(hows))

    @property
    def given(self) -> list[dict[str, Any]]:
        """Arguments, standard input, folder, environment, `files` in it and the whole `tree`, of every run."""
        return [json.loads(line) for line in (self.folder / "given.jsonl").read_text().splitlines()]
