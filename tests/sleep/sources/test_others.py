"""What all sources other than Claude Code's and Codex's have in common."""

from __future__ import annotations

import dataclasses
import importlib
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgit.config.schema import Config
from skillgit.config.sleep import Sleep
from skillgit.events import ignore
from skillgit.git.repository import Repository
from skillgit.sleep.base import Source
from skillgit.sleep.harvest.collect import Harvest, harvest
from skillgit.sleep.sources.registry import sources
from tests.sleep.sources.reading import read
from tests.sleep.sources.shapes import objects, well_formed
from tests.sleep.stores import START, copilot, cursor, devin, dump, opencode, pi
from tests.sleep.stores.talks import talks

SETTINGS = {
    "copilot": "vscode_workspace_storage",
    "copilot_cli": "copilot_cli_session_store",
    "cursor": "cursor_home",
    "devin": "devin_transcripts",
    "opencode": "opencode_db",
    "pi": "pi_home",
}
DATABASES = {"copilot_cli": "session-store.db", "opencode": "opencode.db"}
TURNS = (
    ("Sort the table by date.", "Sorted."),
    ("No, newest first. The key is ghp_0123456789abcdefghijklmnopqrstuvwxyz", "Newest first now."),
    ("Thanks!", ""),
)
all_of_them = pytest.mark.parametrize("name", sorted(SETTINGS))


def config_of(name: str, store: Path) -> Sleep:
    place = store / DATABASES[name] if name in DATABASES else store
    return dataclasses.replace(Sleep(source=name), **{SETTINGS[name]: str(place)})


def writer(name: str) -> Callable[..., Path]:
    made: Callable[..., Path] = importlib.import_module(f"tests.sleep.stores.{name}").write_session
    return made


def reap(repo: Path, name: str, store: Path) -> Harvest:
    config = dataclasses.replace(Config(), sleep=config_of(name, store))
    return harvest(Repository.open(repo), config, ignore, now=START + 3600)


@all_of_them
def test_a_harvest_keeps_what_was_said_once_and_without_secrets(repo_dir: Path, tmp_path: Path, name: str) -> None:
    store = tmp_path / "store"
    writer(name)(store, "s1", TURNS[:2], cwd=str(repo_dir))
    writer(name)(store, "far", TURNS[:1], cwd=str(tmp_path))
    first, second = reap(repo_dir, name, store), reap(repo_dir, name, store)
    assert (first.kept, first.new, second.new) == (1, 1, 0)
    writer(name)(store, "s1", TURNS, cwd=str(repo_dir))
    third = reap(repo_dir, name, store)
    (session,) = third.sessions
    assert third.new == 1
    assert [turn.text.partition(" The key")[0] for turn in session.turns] == [
        "Sort the table by date.",
        "Sorted.",
        "No, newest first.",
        "Newest first now.",
        "Thanks!",
    ]
    assert "ghp_" not in repr(session)
    assert (session.source, session.project) == (name, str(repo_dir))
    assert third.excluded_sessions == {"other_project": 1}
    assert third.damaged == {}


@all_of_them
def test_it_is_found_by_its_name_and_only_when_its_store_is_there(tmp_path: Path, name: str) -> None:
    config = dataclasses.replace(config_of(name, tmp_path / "store"), source="auto")
    assert name not in [source.name for source in sources(config)]
    file = writer(name)(tmp_path / "store", "s1", TURNS)
    (source,) = sources(config_of(name, tmp_path / "store"))
    assert isinstance(source, Source)
    assert list(source.files()) == [file]
    assert name in [source.name for source in sources(config)]


@all_of_them
def test_a_file_that_vanished_is_an_error(tmp_path: Path, name: str) -> None:
    file = writer(name)(tmp_path / "store", "s1", TURNS)
    (source,) = sources(config_of(name, tmp_path / "store"))
    file.unlink()
    assert list(source.files()) == []
    with pytest.raises(FileNotFoundError):
        source.stamp(file)
    with pytest.raises(FileNotFoundError):
        read(source, file)


_KEYS = """
type role message content text id parentId timestamp kind k v i requests response value agent extensionId modelState
completedAt result errorDetails invocationMessage toolId uri path steps source session_id extra cwd tool_calls
function_name arguments name input status stopReason summary inlineReference requestId time error tool state filePath
synthetic metadata
"""
_WORDS = """
session message user assistant agent text tool tool_use toolCall turn_ended error requests response read Read
toolInvocationSerialized inlineReference textEditGroup github.copilot-chat copilot_readFile /s/a/SKILL.md ATIF-v1.7
2026-01-01T00:00:00Z compaction custom_message
"""
ANY = objects(_KEYS.split(), _WORDS.split())


@settings(max_examples=40)
@given(lines=st.lists(ANY, max_size=6), kinds=st.lists(st.integers(0, 3), min_size=6, max_size=6))
@pytest.mark.parametrize("name", ["copilot", "cursor", "pi"])
def test_no_shape_of_a_line_stops_reading(
    tmp_path_factory: pytest.TempPathFactory, name: str, lines: list[Any], kinds: list[int]
) -> None:
    store = tmp_path_factory.mktemp("any")
    (talk,) = talks(1)
    file = {"copilot": copilot, "cursor": cursor, "pi": pi}[name].write(store, [talk])[0]
    given_kinds = [{"kind": kind} | line for kind, line in zip(kinds, lines, strict=False)]
    with file.open("ab") as stream:
        stream.write(dump(given_kinds if name == "copilot" else lines))
    found = read(sources(config_of(name, store))[0], file)
    assert all(well_formed(record) for record in found.records)
    assert set(found.damaged) <= {"operation"}


@settings(max_examples=40)
@given(document=ANY, steps=st.lists(ANY, max_size=4))
def test_no_shape_of_a_document_stops_reading(
    tmp_path_factory: pytest.TempPathFactory, document: dict[str, Any], steps: list[Any]
) -> None:
    store = tmp_path_factory.mktemp("any")
    (talk,) = talks(1)
    (file,) = devin.write(store, [talk])
    file.write_text(json.dumps({**document, "schema_version": "ATIF-v1.7", "steps": steps}))
    found = read(sources(config_of("devin", store))[0], file)
    assert all(well_formed(record) for record in found.records)


@settings(max_examples=40)
@given(message=ANY, parts=st.lists(ANY, max_size=4))
def test_no_shape_of_a_row_stops_reading(
    tmp_path_factory: pytest.TempPathFactory, message: dict[str, Any], parts: list[Any]
) -> None:
    store = tmp_path_factory.mktemp("any")
    writer("opencode")(store, "s1", TURNS)
    with sqlite3.connect(store / "opencode.db") as connection:
        row = ("any", "ses_s1", "never", None, json.dumps(message))
        connection.execute("DROP TABLE message")
        connection.execute("CREATE TABLE message (id, session_id, time_created, time_updated, data)")
        connection.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", row)
        for index, part in enumerate(parts):
            values = (f"p{index}", "any", "ses_s1", 0, 0, json.dumps(part))
            connection.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", values)
    connection.close()
    found = read(sources(config_of("opencode", store))[0], store / "opencode.db")
    assert all(well_formed(record) for record in found.records)


def test_a_harvest_counts_each_damage_once(repo_dir: Path, tmp_path: Path) -> None:
    store = opencode.Store(tmp_path / "opencode.db")
    (talk,) = talks(1, cwd=str(repo_dir))
    store.write([talk])
    store.message(talk, "bad", 1_767_225_700_000, "{")
    store.commit()
    first = reap(repo_dir, "opencode", tmp_path)
    store.message(talk, "good", 1_767_225_800_000, {"role": "user"})
    store.part(talk, "good", {"type": "text", "text": "More."})
    store.commit()
    second = reap(repo_dir, "opencode", tmp_path)
    store.close()
    assert list(first.damaged.values()) == list(second.damaged.values()) == [{"json": 1}]
