"""Writes directories in the layout that SkillOpt leaves behind."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

INITIAL = "# House style\n\nAnswer in one line.\n"
REGION = "\n<!-- SLOW_UPDATE_START -->\n{}\n<!-- SLOW_UPDATE_END -->\n"

CONFIG = {
    "env": "searchqa",
    "optimizer_backend": "openai_compatible",
    "optimizer_model": "big-model",
    "target_backend": "openai_compatible",
    "target_model": "small-model",
    "model_backend": "openai_compatible",
    "gate_metric": "hard",
    "seed": 42,
    "out_root": "/home/someone/outputs/searchqa",
    "azure_openai_api_key": "sk-a...wxyz",
    "openai_compatible_api_key": "",
    "rewrite_max_completion_tokens": 64000,
}


@dataclass
class Published:
    """A run as the published trainer writes it, step by step."""

    root: Path
    per_epoch: int = 2
    text: str = INITIAL
    score: float = 0.4
    best: str = INITIAL
    best_score: float = 0.4
    best_step: int = 0
    history: list[dict[str, Any]] = field(default_factory=list)

    def begin(self) -> Published:
        """Configuration, initial skill and baseline."""
        self._json("config.json", CONFIG)
        self._text("skills/skill_v0000.md", self.text)
        self._results("selection_eval_baseline", self.score)
        self._persist()
        return self

    def step(self, action: str, line: str = "", hard: float = 0.0, **record: Any) -> Published:
        """One step that proposes `line` at the end."""
        number = len(self.history) + 1
        here = f"steps/step_{number:04d}"
        epoch = (number - 1) // self.per_epoch + 1
        entry = {"step": number, "epoch": epoch, "rollout_hard": 0.4, "timing": {"rollout_s": 1.5 + number}}
        if not action.startswith("skip"):
            entry |= self._decide(action, here, self._with(line), hard, number, line)
        entry |= {"action": action, "current_score": self.score, "best_score": self.best_score}
        self.history.append({**entry, "best_step": self.best_step, **record})
        self._text(f"skills/skill_v{number:04d}.md", self.text)
        self._json(f"{here}/step_record.json", self.history[-1])
        self._persist()
        return self

    def _with(self, line: str) -> str:
        body, mark, region = self.text.partition("\n<!--")
        return f"{body}- {line}\n{mark}{region}"

    def _decide(self, action: str, here: str, candidate: str, hard: float, number: int, line: str) -> dict[str, Any]:
        edits = [{"op": "append", "content": f"- {line}", "target": "", "support_count": 3}]
        self._json(f"{here}/merged_patch.json", {"reasoning": "many answers were long", "edits": edits})
        self._json(f"{here}/ranked_edits.json", {"reasoning": "shorter is better", "edits": edits})
        self._json(f"{here}/edit_apply_report.json", [{"index": 1, "op": "append", "status": "applied_append"}])
        self._text(f"{here}/candidate_skill.md", candidate)
        self._results(f"{here}/selection_eval", hard)
        if "accept" in action:
            self.text, self.score = candidate, hard
        if action == "accept_new_best":
            self.best, self.best_score, self.best_step = candidate, hard, number
        scores = {"selection_hard": hard, "selection_soft": hard, "candidate_gate_score": hard}
        return {"candidate_hash": skill_hash(candidate), "gate_metric": "hard", **scores}

    def end_epoch(self, action: str, guidance: str = "", **result: Any) -> Published:
        """The slow update: the last version file is written again."""
        number = len(self.history)
        epoch = (number - 1) // self.per_epoch + 1
        here = f"slow_update/epoch_{epoch:02d}"
        candidate = self.text.split("\n<!--")[0] + REGION.format(guidance)
        if action != "inject_placeholder":
            self._text(f"{here}/candidate_skill.md", candidate)
            result = {"candidate_hash": skill_hash(candidate), "slow_update_content": guidance, **result}
        if action != "reject":
            self.text = candidate
        self._json(f"{here}/slow_result.json", {"action": action, "epoch": epoch, **result})
        self._text(f"skills/skill_v{number:04d}.md", self.text)
        self._persist()
        return self

    def finish(self) -> Published:
        """The summary, with scores on test."""
        summary = {
            "version": "skillopt-0.1.0",
            "config": CONFIG,
            "baseline_selection_hard": 0.4,
            "best_selection_hard": self.best_score,
            "final_selection_hard": 0.7,
            "final_selection_soft": 0.7,
            "best_step": self.best_step,
            "baseline_test_hard": 0.3,
            "baseline_test_soft": 0.3,
            "test_hard": 0.55,
            "test_soft": 0.6,
            "final_test_hard": 0.5,
            "final_test_soft": 0.5,
        }
        self._json("summary.json", summary)
        return self

    def _persist(self) -> None:
        self._text("best_skill.md", self.best)
        self._json("history.json", self.history)
        state = {"last_completed_step": len(self.history), "current_skill_path": "/etc/passwd"}
        self._json("runtime_state.json", state | {"best_skill_path": "/nowhere/best_skill.md"})

    def _results(self, folder: str, hard: float) -> None:
        rows: Sequence[Mapping[str, Any]] = [
            {"id": f"q{n}", "hard": int(n < round(hard * 20)), "soft": hard} for n in range(20)
        ]
        self._text(f"{folder}/results.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))

    def _json(self, name: str, value: Any) -> None:
        self._text(name, json.dumps(value, indent=2))

    def _text(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def skill_hash(text: str) -> str:
    """First 16 hex digits of the text's SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def first_epoch(root: Path) -> Published:
    """Baseline 0.4, one accepted and one rejected step, and the empty guidance block."""
    run = Published(root).begin()
    run.step("accept_new_best", "Keep the units of the question.", 0.5)
    run.step("reject", "Shout every answer.", 0.2)
    return run.end_epoch("inject_placeholder")


def whole_run(root: Path) -> Published:
    """Two epochs: accepted, rejected, placeholder; nothing proposed, accepted, forced guidance; then test."""
    run = first_epoch(root)
    run.step("skip_no_patches")
    run.step("accept_new_best", "Copy names as they are written.", 0.65)
    return run.end_epoch("force_accept", "Prefer the shortest span.").finish()
