"""Codex's store: each turn once, whichever records tell it, live and archived."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgit.config.sleep import Sleep
from skillgit.sleep.base import Position, Record, Source
from skillgit.sleep.sources.codex import Codex
from tests.sleep.sources.reading import read
from tests.sleep.sources.shapes import objects, well_formed
from tests.sleep.stores import START, codex, dump, write

TURNS = [("Add retry to fetcher", "Added 3 retries."), ("continue", "Done."), ("continue", "All done.")]
CHANNELS: tuple[codex.Channels, ...] = ("both", "events", "items", "completed")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "codex"


@pytest.fixture
def source(home: Path) -> Source:
    return Codex(Sleep(codex_home=str(home)))


def records(source: Source, home: Path, *lines: Any) -> list[Record]:
    return read(source, write(codex.path_of(home, "s1"), dump(lines))).records


def turns_of(found: list[Record]) -> list[tuple[str, str]]:
    return [(record.role, record.text) for record in found if record.text and not record.reason]


@pytest.mark.parametrize("channels", CHANNELS)
def test_each_turn_counts_once_however_often_it_is_told(source: Source, home: Path, channels: codex.Channels) -> None:
    reading = read(source, codex.write_session(home, "s1", TURNS, channels=channels))
    assert reading.said("user") == [said for said, _ in TURNS]
    assert reading.said("assistant") == [answer for _, answer in TURNS]
    first = reading.records[0]
    assert (first.session, first.cwd, first.branch, first.at) == (codex.id_of("s1"), "/w/shop", "main", START)


def test_a_turn_told_three_times_counts_once(source: Source, home: Path) -> None:
    triple = [codex.item("user", "Fix it"), codex.event("user", "Fix it"), codex.completed("user", "Fix it")]
    assert turns_of(records(source, home, codex.meta("s1"), *triple, *triple)) == [("user", "Fix it")] * 2


@pytest.mark.parametrize("channels", CHANNELS)
def test_reading_line_by_line_gives_what_reading_at_once_gives(
    source: Source, home: Path, channels: codex.Channels
) -> None:
    whole = codex.write_session(home, "s1", TURNS, channels=channels)
    data, expected = whole.read_bytes(), read(source, whole)
    growing = write(codex.path_of(home, "grow"), b"")
    found: list[Record] = []
    position: Position | None = None
    for line in data.splitlines(keepends=True):
        write(growing, line, append=True)
        reading = read(source, growing, position)
        position = replace(reading.position, state=json.loads(json.dumps(reading.position.state)))
        found += reading.records
    assert found == expected.records


def test_a_rollout_that_another_version_went_on_with_counts_each_turn_once(source: Source, home: Path) -> None:
    file = codex.write_session(home, "s1", TURNS, channels="items")
    for number, channels in enumerate(CHANNELS):
        codex.append_turns(file, TURNS, at=START + 600 * (number + 1), channels=channels)
    assert read(source, file).said("user") == [said for said, _ in TURNS] * 5
    assert read(source, file).said("assistant") == [answer for _, answer in TURNS] * 5


def test_everything_around_the_words_of_people_is_left_out(source: Source, home: Path) -> None:
    turns = [(f"Request {number}", f"Answer {number}") for number in range(20)]
    reading = read(source, codex.write_noisy_session(home, "s1", turns))
    assert (reading.said("user"), reading.said("assistant")) == ([s for s, _ in turns], [a for _, a in turns])
    assert reading.damaged == {}
    assert not [record for record in reading.records if "tabs" in record.text and record.reason != "meta"]
    assert {tool for record in reading.records for tool in record.tools} == {"shell", "apply_patch"}
    assert {file for record in reading.records for file in record.files} == {"src/app.py"}


@pytest.mark.parametrize("archived", ["archived_sessions", "archived-sessions"])
def test_live_and_archived_copies_have_the_same_keys(source: Source, home: Path, archived: str) -> None:
    live = read(source, codex.write_session(home, "s1", TURNS))
    codex.write_session(home, "s1", TURNS, archived=archived)
    files = list(source.files())
    assert [file.parts[len(home.parts)] for file in files] == ["sessions", archived]
    assert read(source, files[1]).keys == live.keys
    assert len(live.keys) == 6


def test_copies_with_damage_have_the_same_keys_for_the_rest(source: Source, home: Path) -> None:
    live = codex.write_session(home, "s1", TURNS)
    first, *rest = live.read_bytes().splitlines(keepends=True)
    copy = write(codex.path_of(home, "s1", archived="archived_sessions"), first[:40] + b"\n" + b"".join(rest))
    assert read(source, copy).keys == read(source, live).keys
    assert read(source, copy).damaged == {"json": 1}


def test_a_damaged_first_line_takes_the_id_from_the_name_and_the_folder_from_later(source: Source, home: Path) -> None:
    file = codex.path_of(home, "s1")
    lines = dump([codex.context("/w/shop"), codex.item("user", "Fix it")])
    found = read(source, write(file, b'{"timestamp":"2031-\n' + lines)).records
    assert [(record.session, record.cwd) for record in found] == [(codex.id_of("s1"), "/w/shop")]


def test_the_folder_is_that_of_the_turn(source: Source, home: Path) -> None:
    lines = [codex.meta("s1"), codex.item("user", "one"), codex.context("/w/other"), codex.item("user", "two")]
    assert [record.cwd for record in records(source, home, *lines)] == ["/w/shop", "/w/other"]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"source": "vscode", "originator": "codex_vscode"}, ""),
        ({"source": "cli", "originator": "Codex Desktop"}, ""),
        ({"source": "exec"}, "headless"),
        ({"source": "mcp"}, "headless"),
        ({"source": "cli", "originator": "codex_exec"}, "headless"),
        ({"source": "unknown", "originator": "codex_sdk_ts"}, "headless"),
        ({"source": {"subagent": {"thread_spawn": {"parent_thread_id": "p", "depth": 1}}}}, "sub_agent"),
        ({"source": {"subagent": "review"}}, "sub_agent"),
        ({"source": {"internal": "memory_consolidation"}}, "headless"),
    ],
)
def test_provenance_is_read_from_the_first_record(
    source: Source, home: Path, fields: dict[str, Any], reason: str
) -> None:
    reading = read(source, codex.write_session(home, "s1", TURNS, **fields))
    assert {record.reason for record in reading.records} == {reason}


def test_a_fork_keeps_its_own_id_though_it_brings_its_parent_s(source: Source, home: Path) -> None:
    found = records(source, home, codex.meta("s1"), codex.meta("parent", source="exec"), codex.item("user", "Fix it"))
    assert [(record.session, record.reason) for record in found] == [(codex.id_of("s1"), "")]


@pytest.mark.parametrize(
    "text",
    [
        "<environment_context>\n<cwd>/w</cwd>\n</environment_context>",
        "<user_instructions>\nAlways use tabs\n</user_instructions>",
        "<environment_context cut off",
        "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nAlways use tabs\n</INSTRUCTIONS>",
        "# AGENTS.md instructions for /w\n\nAlways use tabs",
        "Rules\n\n--- project-doc ---\n\nAlways use tabs",
        "<turn_aborted>\nThe user interrupted\n</turn_aborted>",
        "<skill>\n<name>tax</name>\n<path>/home/me/.codex/skills/tax/SKILL.md</path>\nAlways use tabs\n</skill>",
    ],
)
def test_context_that_the_program_sends_is_no_turn(source: Source, home: Path, text: str) -> None:
    found = records(source, home, codex.meta("s1"), codex.item("user", text))
    assert [(record.role, record.reason) for record in found] == [("user", "meta")]


@pytest.mark.parametrize(
    "before",
    [
        "<environment_context>\n<cwd>/w</cwd>\n</environment_context>\n",
        "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nAlways use tabs\n</INSTRUCTIONS>\n",
        "# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\n",
    ],
)
def test_a_request_after_context_in_one_text_is_kept_and_known_again(source: Source, home: Path, before: str) -> None:
    for event in ("Fix it", before + "Fix it"):
        found = records(
            source, home, codex.meta("s1"), codex.item("user", f"{before}Fix it"), codex.event("user", event)
        )
        assert turns_of(found) == [("user", "Fix it")]


def test_words_about_context_are_a_person_s(source: Source, home: Path) -> None:
    text = "Why is <environment_context> sent? See ## My request for Codex: too"
    assert turns_of(records(source, home, codex.meta("s1"), codex.item("user", text))) == [("user", text)]


def test_pictures_and_other_blocks_of_a_message_do_not_hide_its_words(source: Source, home: Path) -> None:
    blocks = [
        {"type": "input_text", "text": "<image name=[Image #1]>"},
        {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
        {"type": "input_text", "text": "</image>"},
        {"type": "input_text", "text": "Like this"},
    ]
    message = codex.record("response_item", {"type": "message", "role": "user", "content": blocks})
    found = records(source, home, codex.meta("s1"), message, codex.event("user", "Like this"))
    assert turns_of(found) == [("user", "Like this")]


def test_events_of_other_kinds_in_the_user_s_name_are_no_turns(source: Source, home: Path) -> None:
    event = codex.record("event_msg", {"type": "user_message", "message": "<cwd>", "kind": "environment_context"})
    assert [record.reason for record in records(source, home, codex.meta("s1"), event)] == ["meta"]


def test_developers_and_systems_say_nothing(source: Source, home: Path) -> None:
    lines = [codex.item("developer", "Always use tabs"), codex.item("system", "Always use tabs")]
    assert records(source, home, codex.meta("s1"), *lines) == []


def test_skills_are_those_whose_file_a_shell_reads_or_the_program_puts_in(source: Source, home: Path) -> None:
    script = {
        "type": "custom_tool_call",
        "name": "exec",
        "input": 'await tools.exec_command({"cmd":"cat s/vat/SKILL.md"})',
    }
    patch = {"type": "custom_tool_call", "name": "apply_patch", "input": "*** Update File: s/other/SKILL.md\n"}
    output = {"type": "function_call_output", "call_id": "c", "output": "see skills/secret/SKILL.md"}
    skill = "<skill>\n<name>tax</name>\n<path>/home/me/.codex/skills/pdf/SKILL.md</path>\nRules\n</skill>"
    found = records(
        source,
        home,
        codex.meta("s1"),
        codex.shell("sed -n 1,80p .codex/skills/tax/SKILL.md"),
        codex.record("response_item", script),
        codex.record("response_item", patch),
        codex.record("response_item", output),
        codex.item("user", skill),
    )
    assert [record.skills for record in found] == [("tax",), ("vat",), (), ("pdf",)]


def test_an_error_marks_a_failed_turn(source: Source, home: Path) -> None:
    error = codex.record("event_msg", {"type": "error", "message": "stream disconnected"})
    assert [(r.role, r.failed) for r in records(source, home, codex.meta("s1"), error)] == [("assistant", True)]


def test_the_first_envelope_generation_is_read(source: Source, home: Path) -> None:
    found = records(
        source,
        home,
        {"id": "old1", "timestamp": "2031-02-03T08:00:00Z", "instructions": None, "git": {"branch": "fix"}},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Fix it"}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Fix it"}]},
        {"type": "function_call", "name": "shell", "arguments": '{"command":["cat","a/tax/SKILL.md"]}'},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Fixed."}]},
    )
    assert turns_of(found) == [("user", "Fix it"), ("user", "Fix it"), ("assistant", "Fixed.")]
    assert {(record.session, record.branch) for record in found} == {("old1", "fix")}
    assert len({record.key for record in found}) == 4


def test_records_of_the_wrong_shape_stop_nothing(source: Source, home: Path) -> None:
    odd: list[Any] = [
        {"type": "session_meta", "payload": None},
        {"type": "event_msg", "payload": {"type": "user_message", "message": 5}},
        {"type": "event_msg", "payload": {"type": "item_completed", "item": []}},
        {"type": "response_item", "payload": {"type": "message", "role": "user", "content": [None, {"text": []}]}},
        {"type": "response_item", "payload": {"type": "function_call", "name": [], "arguments": {"command": 5}}},
        {"type": "response_item", "payload": {"type": "function_call", "name": "shell", "arguments": "{" * 9}},
        {"type": "turn_context", "payload": {"cwd": ["/w"]}},
        {"type": [], "payload": {"type": {}}},
    ]
    assert turns_of(records(source, home, *odd, codex.item("user", "Fix it"))) == [("user", "Fix it")]


def test_homes_may_be_a_list_given_or_in_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for number, home in enumerate((one, two)):
        codex.write_session(home, f"s{number}", TURNS)
    monkeypatch.setenv("CODEX_HOME", f"{one}, {two},")
    assert len(list(Codex(Sleep()).files())) == 2
    assert len(list(Codex(Sleep(codex_home=f"{one},{two}")).files())) == 2
    assert len(list(Codex(Sleep(codex_home=str(two))).files())) == 1


KEYS = ("type", "payload", "timestamp", "id", "role", "content", "message", "item", "name", "arguments", "source")
WORDS = (
    *("session_meta", "turn_context", "event_msg", "response_item", "message", "user_message", "agent_message"),
    *("item_completed", "UserMessage", "function_call", "exec", "user", "assistant", "error", "compacted"),
    *("<skill>", "{}", "2031-02-03", "## My request for Codex:"),
)


@settings(max_examples=50, deadline=None)
@given(lines=st.lists(objects(KEYS, WORDS), max_size=6))
def test_no_shape_of_a_record_stops_reading(tmp_path_factory: pytest.TempPathFactory, lines: list[Any]) -> None:
    file = write(tmp_path_factory.mktemp("any") / "rollout.jsonl", dump(lines))
    found = read(Codex(Sleep(codex_home=str(file.parent))), file)
    assert all(well_formed(record) for record in found.records)
    assert found.damaged == {}
