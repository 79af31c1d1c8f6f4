"""Seconds that `log` and `blame` take on a skill with 2,000 recorded versions, the start of the interpreter included.

python -m tests.bench.history
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from skillgit.git import notes
from skillgit.git.objects import Commit, write_commits
from skillgit.git.publish import Publication, publish
from skillgit.git.repository import Repository
from skillgit.train.state import Mark, RunState
from tests.bench.common import workshop
from tests.conftest import git

AIM = 0.5
RUN = "20260102-030405-0001"
COMMANDS = {"log": ("log", "bench"), "log --graph": ("log", "bench", "--graph"), "blame": ("blame", "bench")}
_SKILL = "skills/bench"
_RULES = 200  # lines of the document: each version rewords one, in turn
_TASKS = 20


def build(folder: Path, versions: int) -> Path:
    """A repository whose skill has `versions` commits on main, each with record, results and a step in the journal."""
    git(folder.parent, "init", "--quiet", "--initial-branch=main", str(folder))
    repo = Repository.open(folder)
    document = f"{_SKILL}/SKILL.md"
    # `:1` is the commit before, in the stream that they are written in.
    drafts = [
        Commit(_message(n), (":1",) if n else (), {document: text.encode()}) for n, text in enumerate(_texts(versions))
    ]
    written = write_commits(repo, drafts, (_SKILL,))
    objects = [version.at[_SKILL] for version in written]
    records = [_record(n, objects) for n in range(versions)]
    steps = [_step(n, records[n], written[n].commit) for n in range(versions)]
    marks = [Mark(version.commit, name) for version, name in zip(written, objects, strict=True)]
    state = RunState(RUN, "bench", _SKILL, document, "", versions - 1, marks[0], marks[-1], marks[-1], marks[-1])
    files = {f"steps/{n:04d}.json": _json(step) for n, step in enumerate(steps)}
    journal = Commit("steps\n", (), {"state.json": _json(state.to_json()), "config.json": b"{}", **files})
    kept = {
        notes.EVALS: {record["skill"]: (notes.canonical(record),) for record in records},
        notes.RESULTS: {record["skill"]: (notes.canonical(_results(n, record)),) for n, record in enumerate(records)},
    }
    publish(repo, Publication((), {state.journal: journal}, kept))
    git(folder, "reset", "--quiet", "--hard", written[-1].commit)
    return folder


def _texts(versions: int) -> Iterator[str]:
    rules = [f"- Rule {n}: answer in the house form, first wording." for n in range(_RULES)]
    for version in range(versions):
        rules[version % _RULES] = f"- Rule {version % _RULES}: answer in the house form, wording of version {version}."
        yield "---\nname: bench\ndescription: For measuring.\n---\n\n# Bench\n\n" + "\n".join(rules) + "\n"


def _message(step: int) -> str:
    trailers = {"Run": RUN, "Step": step, "Epoch": step // 100, "Gate": "accept_new_best +0.001"}
    lines = [f'skill(bench): reword "Rule {step % _RULES}: answer in the…"', ""]
    return "\n".join([*lines, *(f"Skillgit-{key}: {value}" for key, value in trailers.items()), ""])


def _record(step: int, objects: list[str]) -> dict[str, Any]:
    score = round(step / len(objects), 6)
    gate = {"verdict": "accept_new_best", "base": objects[max(step - 1, 0)], "base_score": score, "improved": []}
    return {
        "v": 1,
        "id": f"{step:020x}",
        "skill": objects[step],
        "split": "val",
        **{"n": _TASKS, "hard": score, "soft": score, "metric": "hard", "score": score},
        **{"tasks": "7" * 64, "judge": "8" * 64, "samples": 1, "seed": 42, "complete": True},
        "target": {"backend": "scripted", "model": "bench", "settings": "9" * 64},
        "usage": {"calls": _TASKS, "prompt_tokens": 1000, "completion_tokens": 100},
        "gate": gate | {"regressed": [], "run": RUN, "step": step},
        **{"harness": "skillgit bench", "at": "2026-01-02T03:04:05Z"},
    }


def _results(step: int, record: dict[str, Any]) -> dict[str, Any]:
    scores = {f"val{n}": {"hard": float(n < step % _TASKS), "soft": 0.0} for n in range(_TASKS)}
    return {"v": 1, "record": record["id"], "tasks": scores}


def _step(step: int, record: dict[str, Any], commit: str) -> dict[str, Any]:
    patterns = [f"form: answers of kind {step % 7} had no house form", "dates: written the wrong way round"]
    facts = {"kind": "step", "step": step, "epoch": step // 100, "verdict": "accept_new_best", "title": "reword"}
    return {"v": 1, **facts, "reasoning": "seen in the cases", "patterns": patterns, "record": record, "commit": commit}


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=1, sort_keys=True) + "\n").encode()


def measure(folder: Path, rounds: int) -> dict[str, list[float]]:
    """Seconds of each command by name, its output going to a pipe; the rounds interleaved."""
    taken: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(rounds):
        for name, args in COMMANDS.items():
            started = time.perf_counter()
            done = subprocess.run(
                [sys.executable, "-m", "skillgit", "-C", str(folder), *args], check=True, capture_output=True
            )
            taken[name].append(time.perf_counter() - started)
            assert b"accept_new_best" in done.stdout
    return taken


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--versions", type=int, default=2000)
    options.add_argument("--rounds", type=int, default=7)
    given = options.parse_args()
    with workshop() as folder:
        started = time.perf_counter()
        repo = build(folder / "repo", given.versions)
        print(f"{given.versions} versions written in {time.perf_counter() - started:.1f} s")
        for name, times in measure(repo, given.rounds).items():
            middle = statistics.median(times)
            print(
                f"{name:12} {middle:6.3f} s median of {len(times)} (fastest {min(times):.3f}), "
                f"aim {AIM:g} s: {middle / AIM:.2f} of it"
            )


if __name__ == "__main__":
    main()
