"""Which sources are read."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgit.config.sleep import Sleep
from skillgit.errors import ConfigError
from skillgit.sleep.base import Source
from skillgit.sleep.sources import registry
from tests.sleep.stores import claude, codex, neutral

TURNS = [("Fix it", "Fixed.")]


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Sleep]:
    """Stores below `tmp_path`, and a home without any."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    for name in ("APPDATA", "LOCALAPPDATA", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "VSCODE_PORTABLE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "OPENCODE_DB", "COPILOT_HOME"):
        monkeypatch.delenv(name, raising=False)
    return lambda source="auto": Sleep(
        source=source,
        claude_home=str(tmp_path / "claude"),
        codex_home=str(tmp_path / "codex"),
        neutral_sessions=str(tmp_path / "neutral"),
    )


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Install a package that offers sources: lines of entry points."""

    def install(points: str, name: str = "plugin") -> None:
        site = tmp_path / f"site-{name}"
        info = site / f"{name}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[skillgit.sources]\n{points}\n")
        monkeypatch.syspath_prepend(str(site))

    return install


def names(found: list[Source]) -> list[str]:
    return [source.name for source in found]


def test_auto_takes_every_store_that_is_there(config: Callable[..., Sleep], tmp_path: Path) -> None:
    assert registry.sources(config()) == []
    codex.write_session(tmp_path / "codex", "s1", TURNS)
    assert names(registry.sources(config())) == ["codex"]
    claude.write_session(tmp_path / "claude", "s1", TURNS)
    neutral.write_session(tmp_path / "neutral", "s1", TURNS)
    assert names(registry.sources(config(""))) == ["claude", "codex", "neutral"]


def test_named_ones_come_in_the_order_given_and_once(config: Callable[..., Sleep], tmp_path: Path) -> None:
    codex.write_session(tmp_path / "codex", "s1", TURNS)
    claude.write_session(tmp_path / "claude", "s1", TURNS)
    assert names(registry.sources(config("codex, claude,codex"))) == ["codex", "claude"]


def test_an_unknown_name_is_an_error_that_suggests_one(config: Callable[..., Sleep]) -> None:
    with pytest.raises(ConfigError, match='no source of sessions "cluade"; did you mean "claude"'):
        registry.sources(config("cluade"))
    with pytest.raises(ConfigError, match="known: auto, claude, codex, copilot"):
        registry.sources(config("zzz"))


def test_a_named_one_without_a_store_tells_where_it_looked(config: Callable[..., Sleep], tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        registry.sources(config("codex"))
    assert str(tmp_path / "codex" / "sessions") in caught.value.why
    with pytest.raises(ConfigError) as caught:
        registry.sources(Sleep(source="neutral"))
    assert "not set" in caught.value.why


def test_all_agents_of_the_documentation_are_known() -> None:
    ours = {"claude", "codex", "copilot", "copilot_cli", "cursor", "devin", "neutral", "opencode", "pi"}
    assert ours <= set(registry.installed())


def test_another_package_s_source_is_found(
    config: Callable[..., Sleep], plugin: Callable[[str], None], tmp_path: Path
) -> None:
    plugin("aider = skillgit.sleep.sources.neutral:Neutral")
    neutral.write_session(tmp_path / "neutral", "s1", TURNS)
    assert len(registry.sources(config("aider"))) == 1
    assert len(registry.sources(config())) == 2


@pytest.mark.parametrize("target", ["no_such_package:Source", "skillgit.sleep.sources.neutral:Missing"])
def test_a_source_that_cannot_be_loaded_is_noted_or_an_error_when_named(
    config: Callable[..., Sleep], plugin: Callable[[str], None], tmp_path: Path, target: str
) -> None:
    plugin(f"broken = {target}")
    claude.write_session(tmp_path / "claude", "s1", TURNS)
    notes: list[str] = []
    assert names(registry.sources(config(), notes.append)) == ["claude"]
    (note,) = [note for note in notes if '"broken" cannot be used' in note]
    assert "\n" not in note
    with pytest.raises(ConfigError, match='"broken" cannot be used'):
        registry.sources(config("broken"))


def test_a_name_that_two_packages_claim_is_refused(
    config: Callable[..., Sleep], plugin: Callable[..., None], tmp_path: Path
) -> None:
    plugin("claude = skillgit.sleep.sources.neutral:Neutral")
    claude.write_session(tmp_path / "claude", "s1", TURNS)
    with pytest.raises(ConfigError, match='two packages call a source "claude"'):
        registry.sources(config("claude"))


def test_every_source_satisfies_the_protocol_and_goes_by_its_name(config: Callable[..., Sleep], tmp_path: Path) -> None:
    codex.write_session(tmp_path / "codex", "s1", TURNS)
    claude.write_session(tmp_path / "claude", "s1", TURNS)
    neutral.write_session(tmp_path / "neutral", "s1", TURNS)
    found = registry.sources(config())
    assert all(isinstance(source, Source) for source in found)
    assert names(found) == ["claude", "codex", "neutral"]


def test_a_store_that_may_not_be_looked_at_is_read_and_so_told_of(
    config: Callable[..., Sleep], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked = tmp_path / "claude/projects"
    stat = Path.stat

    def refused(path: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        if path == locked:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return stat(path, follow_symlinks=follow_symlinks)

    monkeypatch.setattr(Path, "stat", refused)
    neutral.write_session(tmp_path / "neutral", "b", TURNS)
    assert [source.name for source in registry.sources(config())] == ["claude", "neutral"]
