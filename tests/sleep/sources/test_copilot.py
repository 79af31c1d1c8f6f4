from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.config.sleep import Sleep
from skillgit.sleep.sources.copilot import Copilot
from skillgit.sleep.sources.jsonl import Line
from skillgit.sleep.sources.oplog import reduced, replay
from tests.sleep.sources.reading import read
from tests.sleep.stores.copilot import chat, operations, request, requests, response, text, write
from tests.sleep.stores.talks import Talk, talks


@pytest.fixture
def storage(tmp_path: Path) -> Path:
    return tmp_path / "workspaceStorage"


@pytest.fixture
def source(storage: Path) -> Copilot:
    return Copilot(Sleep(vscode_workspace_storage=str(storage)))


@pytest.fixture
def talk() -> Talk:
    return next(talk for talk in talks(50, cwd="/w/a shop") if len(talk.exchanges) == 3)


def test_every_turn_is_read_once_with_its_folder_and_time(source: Copilot, storage: Path) -> None:
    made = talks(10)
    assert sorted(write(storage, made)) == list(source.files())
    for talk, file in zip(sorted(made, key=lambda talk: talk.id), source.files(), strict=True):
        found = read(source, file)
        assert found.said("user") == [exchange.ask for exchange in talk.exchanges]
        assert found.said("assistant") == [exchange.answer for exchange in talk.exchanges]
        assert {(record.session, record.cwd) for record in found.records} == {(talk.id, talk.cwd)}
        assert found.records[0].at == talk.exchanges[0].at
        assert len(found.keys) == len(found.records)
        assert not found.damaged


def test_tools_are_named_and_what_they_did_or_thought_is_not_told(source: Copilot, storage: Path, talk: Talk) -> None:
    (file,) = write(storage, [talk])
    records = read(source, file).records
    answers = [record for record in records if record.role == "assistant"]
    assert [record.tools for record in answers] == [
        tuple(f"copilot_{tool}" for tool in exchange.tools) for exchange in talk.exchanges
    ]
    assert talk.exchanges[0].output.splitlines()[0] not in repr(records)
    assert "wants a small change" not in repr(records)


def test_a_log_that_grew_adds_only_whole_turns(source: Copilot, storage: Path, talk: Talk) -> None:
    (file,) = write(storage, [talk])
    whole = {record.key: record for record in read(source, file).records}
    rows = file.read_text().splitlines(keepends=True)
    for count, row in enumerate(rows):
        file.write_text("".join(rows[:count]) + row[:20])
        found = read(source, file)
        assert not found.damaged
        assert all(record == whole[record.key] for record in found.records)


def test_one_snapshot_of_the_whole_chat_says_the_same_as_its_log(source: Copilot, storage: Path, talk: Talk) -> None:
    (file,) = write(storage, [talk])
    log = read(source, file).records
    file.write_text(text([{"kind": 0, "v": chat(talk, requests(talk))}]))
    assert read(source, file).records == log
    file.with_suffix(".json").write_text(json.dumps(chat(talk, requests(talk)), indent=1))
    file.unlink()
    (older,) = source.files()
    assert read(source, older).records == log


def test_a_request_that_was_edited_and_sent_again_is_another_request(
    source: Copilot, storage: Path, talk: Talk
) -> None:
    (file,) = write(storage, [replace(talk, exchanges=talk.exchanges[:2])])
    before = read(source, file)
    again = {**request(talk, 7, talk.exchanges[2]), "response": [{"value": "Yes."}], "modelState": {"value": 1}}
    with file.open("a") as stream:
        stream.write(text([{"kind": 2, "k": ["requests"], "v": [again], "i": 1}]))
    after = read(source, file)
    new = [record.text for record in after.records if record.key not in before.keys]
    assert new == [talk.exchanges[2].ask, "Yes."]


def test_texts_around_calls_are_paragraphs_and_references_are_named(source: Copilot, storage: Path, talk: Talk) -> None:
    (file,) = write(storage, [talk])
    parts: list[dict[str, Any]] = [
        {"value": "I look at "},
        {"kind": "inlineReference", "inlineReference": {"name": "api.py"}},
        {"kind": "markdownContent", "value": {"value": " first."}},
        response(talk.exchanges[0])[1],
        {"kind": "textEditGroup", "uri": {"path": "/w/a shop/api.py"}, "edits": []},
        {"value": "Done."},
    ]
    asked = {**requests(talk)[0], "response": parts}
    file.write_text(text([{"kind": 0, "v": chat(talk, [asked])}]))
    answer = read(source, file).records[1]
    assert answer.text == "I look at api.py first.\n\nDone."
    assert answer.files == ("/w/a shop/api.py",)


def test_other_agents_and_what_vs_code_asks_itself_are_no_persons_words(
    source: Copilot, storage: Path, talk: Talk
) -> None:
    (file,) = write(storage, [talk])
    copilot, other, system = requests(talk)
    copilot["agent"] = {"extensionId": "github.copilot-chat"}
    other["agent"] = {"id": "acme.agent", "extensionId": {"value": "acme.chat"}}
    system["isSystemInitiated"] = True
    file.write_text(text([{"kind": 0, "v": chat(talk, [copilot, other, system])}]))
    reasons = [record.reason for record in read(source, file).records]
    assert reasons == ["", "", "other_agent", "other_agent", "synthetic", "synthetic"]


def test_failed_answers_are_told_apart_from_cancelled_ones(source: Copilot, storage: Path, talk: Talk) -> None:
    (file,) = write(storage, [talk])
    error = {"errorDetails": {"message": "Canceled"}}
    first, second, third = requests(talk)
    first |= {"modelState": {"value": 3}}
    second |= {"modelState": {"value": 2}, "result": error}
    third |= {"modelState": {"value": 1}, "result": error}
    file.write_text(text([{"kind": 0, "v": chat(talk, [first, second, third])}]))
    answers = [record for record in read(source, file).records if record.role == "assistant"]
    assert [record.failed for record in answers] == [True, False, True]


def test_reading_a_skills_file_puts_it_in_play(source: Copilot, storage: Path, talk: Talk) -> None:
    (file,) = write(storage, [talk])
    message = {"value": "Reading [](file:///w/a%20shop/.github/skills/taxes/SKILL.md#1-1), lines 1 to 30"}
    call = {"kind": "toolInvocationSerialized", "toolId": "copilot_readFile", "invocationMessage": message}
    asked = {**requests(talk)[0], "response": [call, {"value": "Done."}]}
    file.write_text(text([{"kind": 0, "v": chat(talk, [asked])}]))
    assert read(source, file).records[1].skills == ("taxes",)


def test_damage_costs_the_change_that_it_hits(source: Copilot, storage: Path, talk: Talk) -> None:
    (file,) = write(storage, [talk])
    made = list(operations(talk))
    wrong = [
        {"kind": 1, "k": ["requests", 99, "modelState"], "v": 1},
        {"kind": 2, "k": ["requests", 0, "response", "x"], "v": []},
        {"kind": 9, "k": ["requests"]},
        {"kind": 1, "k": []},
        {"kind": 0, "v": None},
    ]
    file.write_text(text([made[0], *made[1:8], *wrong, None, *made[8:]]) + '{"kind": 1, "k"')
    found = read(source, file)
    assert found.said("user") == [exchange.ask for exchange in talk.exchanges]
    assert found.damaged == {"operation": 4, "not an object": 1}


@pytest.mark.parametrize(
    ("about", "cwd"),
    [
        ({"folder": "file:///w/caf%C3%A9"}, "/w/café"),
        ({"folder": "file:///c%3A/w/shop"}, "c:/w/shop"),
        ({"folder": "file://server/share/shop"}, "//server/share/shop"),
        ({"workspace": "file:///w/all.code-workspace"}, "/w"),
        ({"folder": "vscode-remote://ssh-remote%2Bbox/w/shop"}, ""),
        ({"folder": "file://[broken"}, ""),
        ({}, ""),
        (None, ""),
    ],
)
def test_the_folder_is_the_one_that_the_workspace_names(
    source: Copilot, storage: Path, talk: Talk, about: dict[str, str] | None, cwd: str
) -> None:
    (file,) = write(storage, [talk])
    (file.parents[1] / "workspace.json").write_text(json.dumps(about))
    assert {record.cwd for record in read(source, file).records} == {cwd}


def test_the_folders_are_where_the_environment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, talk: Talk
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("APPDATA", str(tmp_path / "roaming"))
    monkeypatch.setenv("VSCODE_PORTABLE", str(tmp_path / "portable"))
    roots = Copilot(Sleep()).roots()
    for home in ("portable/user-data", "config/Code", "config/Code - Insiders", "roaming/Code"):
        assert tmp_path / home / "User" / "workspaceStorage" in roots
    (file,) = write(tmp_path / "config" / "Code" / "User" / "workspaceStorage", [talk])
    empty = tmp_path / "config" / "Code" / "User" / "globalStorage" / "emptyWindowChatSessions" / file.name
    empty.parent.mkdir(parents=True)
    empty.write_bytes(file.read_bytes())
    assert list(Copilot(Sleep()).files()) == [file, empty]
    assert {record.cwd for record in read(Copilot(Sleep()), empty).records} == {""}


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "c"]), inner, max_size=3),
    max_leaves=8,
)
_STEP = st.sampled_from(["a", "b", "c"]) | st.integers(-2, 9) | st.just(10**12)
_CHANGE = st.fixed_dictionaries(
    {"kind": st.integers(0, 4)},
    optional={"k": st.lists(_STEP, max_size=4), "v": _JSON, "i": st.integers(-1, 3)},
)


@given(st.lists(_CHANGE, max_size=12))
def test_no_change_however_odd_breaks_the_shape_of_what_is_kept(changes: list[dict[str, Any]]) -> None:
    shape = {"a": True, "b": [{"a": True}]}
    kept = replay([Line(0, b"", change) for change in changes], shape, Counter())
    assert reduced(kept, shape) == kept
    assert len(kept.get("b", [])) < 100
