"""A copy of a run in SkillOpt's layout: best_skill.md, history.json and skills/, all taken from git."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skillgit.git.objects import read_blobs
from skillgit.git.repository import Repository
from skillgit.train import journal
from skillgit.train.state import RunState


def export_run(repo: Repository, state: RunState, folder: Path) -> list[Path]:
    """Write the copy and return its files. What is there under the same names is replaced."""
    tip = journal.runs(repo, state.skill)[state.run]
    steps = [step for step in journal.steps(repo, tip) if step["kind"] in ("step", "compaction", "boundary")]
    texts = _texts(repo, state, steps)
    files = {f"skills/skill_v{number:04d}.md": text for number, text in texts.items()}
    files["best_skill.md"] = _blob(repo, state, state.best.commit)
    files["history.json"] = (json.dumps(_history(state, steps), indent=2, ensure_ascii=False) + "\n").encode()
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return [folder / name for name in files]


def _texts(repo: Repository, state: RunState, steps: list[dict[str, Any]]) -> dict[int, bytes]:
    """Step to the skill as it was after it; an epoch's end changes the text of its last step, as in SkillOpt."""
    commits = {0: state.initial.commit}
    current = state.initial.commit
    for step in steps:
        current = step.get("commit") or current
        commits[step["step"]] = current
    blobs = read_blobs(repo, [f"{commit}:{state.document}" for commit in commits.values()])
    return {number: blob or b"" for number, blob in zip(commits, blobs, strict=True)}


def _blob(repo: Repository, state: RunState, commit: str) -> bytes:
    return read_blobs(repo, [f"{commit}:{state.document}"])[0] or b""


def _history(state: RunState, steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    entries = []
    current = best = state.initial.score
    best_step = 0
    for step in steps:
        score = (step.get("record") or {}).get("score")
        if step.get("commit"):
            current = score
            if best is None or (score is not None and score > best):
                best, best_step = score, step["step"]
        if step["kind"] == "step":
            entries.append(_entry(step, current, best, best_step))
    return entries


def _entry(step: Mapping[str, Any], current: float | None, best: float | None, best_step: int) -> dict[str, Any]:
    record = step.get("record") or {}
    return {
        "step": step["step"],
        "epoch": step["epoch"],
        "action": step["verdict"],
        "rollout_hard": step["rollout"]["hard"],
        "rollout_soft": step["rollout"]["soft"],
        "rollout_n": step["rollout"]["n"],
        "n_edits_merged": step["proposed"],
        "n_edits_ranked": len(step["edits"]),
        "edit_budget": step["budget"],
        "selection_hard": record.get("hard"),
        "selection_soft": record.get("soft"),
        "candidate_gate_score": record.get("score"),
        "current_score": current,
        "best_score": best,
        "best_step": best_step,
    }
