from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from skillgit.config.load import load_config
from skillgit.errors import ConfigError
from skillgit.models import registry
from skillgit.models.base import ModelSpec
from skillgit.models.http.client import OpenAICompatible
from skillgit.models.local import Local
from skillgit.models.roles import role_spec


def test_built_ins_come_through_entry_points() -> None:
    assert {"local", "openai_compatible", "scripted"} <= set(registry.backend_names())
    assert isinstance(registry.build(ModelSpec("target", "openai_compatible", "m", api_key="k")), OpenAICompatible)
    assert isinstance(registry.build(ModelSpec("target", "local", "qwen2.5-coder-0.5b")), Local)


def test_an_unknown_backend_names_the_nearest_and_all() -> None:
    with pytest.raises(ConfigError) as caught:
        registry.build(ModelSpec("target", "openai-compatibel", "m"))
    assert "set model.backend=openai_compatible" in str(caught.value)
    assert "scripted" in str(caught.value)


def test_a_backend_that_cannot_be_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = EntryPoint("broken", "skillgit_no_such_module:build", registry.GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda group: (broken,))
    with pytest.raises(ConfigError, match="skillgit_no_such_module"):
        registry.build(ModelSpec("target", "broken", "m"))


def test_without_any_backend_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "entry_points", lambda group: ())
    with pytest.raises(ConfigError, match="pip install"):
        registry.build(ModelSpec("target", "local", "m"))


def test_of_two_backends_with_one_name_the_first_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = tuple(EntryPoint("twin", f"{module}:build", registry.GROUP) for module in ("math", "json"))
    monkeypatch.setattr(registry, "entry_points", lambda group: entries)
    with pytest.raises(ConfigError, match="math:build"):
        registry.build(ModelSpec("target", "twin", "m"))


def test_an_unknown_backend_is_told_before_anything_is_made(tmp_path: Path) -> None:
    config = load_config(tmp_path, "", ["model.target=t", "model.target_backend=claude_caht"])
    with pytest.raises(ConfigError, match="unknown backend 'claude_caht'") as caught:
        role_spec(config, "target", {}, tmp_path)
    assert caught.value.fix == "set model.backend=claude_chat"
