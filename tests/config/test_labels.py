"""Every published label and alias over the published base file, alone and beside a role's own backend."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillgit.config.load import load_config

FILES = Path(__file__).parents[1] / "data/published"

# As the published command line resolves its base file: backends of optimizer and target for each label.
PUBLISHED_LABELS = {
    **dict.fromkeys(("azure_openai", "azure", "azure-openai", "openai_chat"), ("openai_chat", "openai_chat")),
    **dict.fromkeys(("claude_chat", "claude", "anthropic"), ("claude_chat", "claude_chat")),
    **dict.fromkeys(("codex", "codex_exec", "openai"), ("codex_exec", "codex_exec")),
    "claude_code_exec": ("openai_chat", "claude_code_exec"),
    **dict.fromkeys(("cursor_exec", "cursor", "cursor_agent"), ("openai_chat", "cursor_exec")),
    **dict.fromkeys(("copilot_chat", "copilot", "copilot_cli", "github_copilot"), ("copilot_chat", "copilot_chat")),
    "copilot_exec": ("openai_chat", "copilot_exec"),
    **dict.fromkeys(("qwen_chat", "qwen"), ("openai_chat", "qwen_chat")),
    **dict.fromkeys(("minimax_chat", "minimax"), ("openai_chat", "minimax_chat")),
    **dict.fromkeys(
        ("openai_compatible", "openai_compatible_chat", "openai-compatible", "compat"),
        ("openai_compatible", "openai_compatible"),
    ),
}
PUBLISHED_MODELS = {
    **dict.fromkeys(("claude_chat", "claude_code_exec"), "claude-sonnet-4-6"),
    "cursor_exec": "composer-2.5",
    "qwen_chat": "Qwen/Qwen3.5-4B",
    "minimax_chat": "MiniMax-M3",
    "copilot_exec": "",
}


@pytest.mark.parametrize(("label", "pair"), PUBLISHED_LABELS.items())
def test_every_label_over_the_base_file_is_resolved_as_published(label: str, pair: tuple[str, str]) -> None:
    def resolved(*overrides: str) -> tuple[tuple[str, str], tuple[str, str], str]:
        told: list[str] = []
        model = load_config(FILES, "base.yaml", [f"model.backend={label}", *overrides], told.append).model
        backends = (model.optimizer_backend or model.backend, model.target_backend or model.backend)
        return backends, (model.optimizer, model.target), "\n".join(told)

    found, models, told = resolved()
    assert found == pair
    assert models == tuple(PUBLISHED_MODELS.get(backend, "gpt-5.5") for backend in pair)
    for role, name in zip(("optimizer", "target"), models, strict=True):
        # The base file has a key of its own for the model of MiniMax.
        assert name == "gpt-5.5" or f"is read as {name!r}" in told or f"is read as model.{role}\n" in f"{told}\n"
    for backend in ("openai_chat", "claude_chat", "qwen_chat"):
        assert resolved(f"model.optimizer_backend={backend}")[0] == (backend, pair[1])
        assert resolved(f"model.target_backend={backend}")[0] == (pair[0], backend)
    assert resolved("model.target=gpt-5.5")[1][1] == "gpt-5.5"
