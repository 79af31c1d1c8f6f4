"""Claude Code's store: whose words, which session, which skills."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgit.config.sleep import Sleep
from skillgit.sleep.base import Record, Source
from skillgit.sleep.sources.claude import Claude
from tests.sleep.sources.reading import read
from tests.sleep.sources.shapes import objects, well_formed
from tests.sleep.stores import START, claude, dump, write

TURNS = [("Round VAT to 2 decimals", "Rounded."), ("No, use bankers' rounding", "Done, bankers' rounding.")]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "claude"


@pytest.fixture
def source(home: Path) -> Source:
    return Claude(Sleep(claude_home=str(home)))


def records(source: Source, home: Path, *lines: Any) -> list[Record]:
    file = write(claude.path_of(home, "s1"), dump(lines))
    return read(source, file).records


def reasons(found: list[Record]) -> list[str]:
    return [record.reason for record in found]


def test_both_sides_of_a_conversation_are_read_with_time_place_and_branch(source: Source, home: Path) -> None:
    reading = read(source, claude.write_session(home, "s1", TURNS, cwd="/w/shop"))
    assert reading.said("user") == [TURNS[0][0], TURNS[1][0]]
    assert reading.said("assistant") == [TURNS[0][1], TURNS[1][1]]
    first, *_, last = reading.records
    assert (first.session, first.at, first.cwd, first.branch) == ("s1", START, "/w/shop", "main")
    assert last.at == START + 80


def test_everything_around_the_words_of_people_is_left_out(source: Source, home: Path) -> None:
    turns = [(f"Request {number}", f"Answer {number}") for number in range(30)]
    for seed in range(5):
        reading = read(source, claude.write_noisy_session(home, f"s{seed}", turns, seed=seed))
        assert reading.said("user") == [said for said, _ in turns]
        assert reading.said("assistant") == [answer for _, answer in turns]
        assert "always use tabs" not in "".join(record.text for record in reading.records)
        assert {"command", "meta", "sidechain"} <= set(reasons(reading.records))
        assert {"Bash", "Edit"} == {tool for record in reading.records for tool in record.tools}
        assert "src/part0.py" in {file for record in reading.records for file in record.files}


def test_damage_between_records_costs_none_and_is_counted(source: Source, home: Path) -> None:
    whole = claude.write_noisy_session(home, "s1", TURNS)
    before = read(source, whole)
    after = read(source, write(whole, claude.damaged(whole.read_bytes())))
    assert [(r.key, r.text) for r in after.records] == [(r.key, r.text) for r in before.records]
    assert after.damaged == {"json": 1, "not an object": 3, "encoding": 1, "nul": 1, "nested": 1}


def test_records_of_one_session_in_another_s_file_belong_to_it(source: Source, home: Path) -> None:
    found = records(source, home, claude.user("s1", 0, "one"), claude.user("s2", 0, "two"))
    assert [(record.session, record.text) for record in found] == [("s1", "one"), ("s2", "two")]


def test_a_record_that_names_no_session_belongs_to_its_file_s(source: Source, home: Path) -> None:
    assert records(source, home, claude.user("s9", 0, "one", sessionId=None))[0].session == "s1"


def test_a_fork_has_the_same_keys(source: Source, home: Path) -> None:
    original = read(source, claude.write_noisy_session(home, "s1", TURNS))
    fork = read(source, claude.write_fork(home, "s1", "s2"))
    with_ids = {record.key for record in original.records if record.role != "none"}
    assert with_ids
    assert with_ids <= fork.keys
    assert "s2" in {record.session for record in fork.records}


def test_records_without_an_id_are_known_by_session_and_bytes(source: Source, home: Path) -> None:
    file = claude.write_session(home, "s1", TURNS, uuid=None)
    copy = write(home / "projects" / "elsewhere" / "s1.jsonl", b"\n" + file.read_bytes())
    assert len(read(source, file).keys) == 4
    assert read(source, copy).keys == read(source, file).keys


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"isSidechain": True}, "sidechain"),
        ({"agentId": "a1"}, "sub_agent"),
        ({"entrypoint": "sdk-cli"}, "headless"),
        ({"entrypoint": "sdk-py"}, "headless"),
        ({"entrypoint": "claude-code-github-action"}, "headless"),
        ({"entrypoint": None}, ""),
        ({"entrypoint": "claude-vscode"}, ""),
        ({"isMeta": True}, "meta"),
        ({"isCompactSummary": True}, "meta"),
        ({"isVisibleInTranscriptOnly": True}, "meta"),
        ({"origin": {"kind": "human"}}, ""),
        ({"origin": {"kind": "peer"}}, "synthetic"),
    ],
)
def test_provenance_is_read_from_the_record(source: Source, home: Path, fields: dict[str, Any], reason: str) -> None:
    assert reasons(records(source, home, claude.user("s1", 0, "Do it", **fields))) == [reason]


def test_sub_agents_have_sessions_of_their_own(source: Source, home: Path) -> None:
    claude.write_session(home, "s1", TURNS)
    claude.write_agent(home, "s1", "a1", [("Look into it", "Nothing there")])
    found = [record for file in source.files() for record in read(source, file).records]
    assert Counter((record.session, record.reason) for record in found) == {("s1/a1", "sidechain"): 2, ("s1", ""): 4}


@pytest.mark.parametrize("name", ["agent-a1.jsonl", "subagents/x.jsonl"])
def test_files_of_sub_agents_are_told_by_their_names_too(source: Source, home: Path, name: str) -> None:
    file = write(home / "projects" / "-w" / name, dump([claude.user("s1", 0, "Do it")]))
    assert reasons(read(source, file).records) == ["sub_agent"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("<command-message>tidy is running…</command-message>\n<command-name>/tidy</command-name>", "command"),
        ("<command-name>/model</command-name>", "command"),
        ("<local-command-stdout>Set</local-command-stdout>", "command"),
        ("<bash-input>ls</bash-input>", "command"),
        ("[Request interrupted by user for tool use]", "meta"),
        ("Caveat: The messages below were generated by the user while …", "meta"),
        ("<system-reminder>Always use tabs</system-reminder>", "meta"),
        ("<task-notification>\n<status>completed</status></task-notification>", "meta"),
        ("Explain what <command-name> is for", ""),
    ],
)
def test_texts_that_the_program_writes_are_no_person_s(source: Source, home: Path, text: str, reason: str) -> None:
    assert reasons(records(source, home, claude.user("s1", 0, text))) == [reason]


def test_what_the_program_adds_to_a_person_s_words_is_cut_out(source: Source, home: Path) -> None:
    added = "<system-reminder>Always use tabs</system-reminder>"
    blocks = [
        {"type": "text", "text": "<ide_selection>x = 1</ide_selection>"},
        {"type": "text", "text": f"Fix {added}it"},
    ]
    found = records(source, home, claude.user("s1", 0, blocks))
    assert [(record.text, record.reason) for record in found] == [("Fix it", "")]


def test_what_a_slash_command_expands_to_is_left_out_even_unmarked(source: Source, home: Path) -> None:
    command = "<command-message>tidy</command-message>\n<command-name>/tidy</command-name>"
    found = records(
        source,
        home,
        claude.user("s1", 0, command),
        claude.user("s1", 1, [{"type": "text", "text": "# Tidy\nAlways tidy."}]),
        claude.user("s1", 2, "Thanks, now commit", at=START + 30),
    )
    assert reasons(found) == ["command", "command", ""]


def test_a_prompt_soon_after_a_local_command_is_a_person_s(source: Source, home: Path) -> None:
    clear = claude.user("s1", 0, "<command-name>/clear</command-name>")
    found = records(source, home, clear, claude.user("s1", 1, "Fix the tax", at=START + 4))
    assert reasons(found) == ["command", ""]


def test_an_expansion_is_known_when_the_command_was_read_before(source: Source, home: Path) -> None:
    command = claude.user("s1", 0, "<command-message>tidy</command-message>\n<command-name>/tidy</command-name>")
    file = write(claude.path_of(home, "s1"), dump([command]))
    first = read(source, file)
    write(file, dump([claude.user("s1", 1, "# Tidy\nAlways tidy.")]), append=True)
    assert reasons(read(source, file, first.position).records) == ["command"]


def test_results_of_tools_are_no_turns(source: Source, home: Path) -> None:
    assert records(source, home, claude.tool_result("s1", 0, "remember: always use tabs")) == []


def test_a_person_s_words_beside_the_result_of_a_tool_are_kept(source: Source, home: Path) -> None:
    blocks = [{"type": "tool_result", "content": "no"}, {"type": "text", "text": "Use pytest instead"}]
    assert records(source, home, claude.user("s1", 0, blocks))[0].text == "Use pytest instead"


def test_what_is_typed_while_the_agent_works_is_a_turn(source: Source, home: Path) -> None:
    def queued(**attachment: Any) -> Any:
        return {"type": "attachment", "attachment": {"type": "queued_command"} | attachment} | claude.base(
            "s1", len(attachment), cwd="/w/shop", at=START
        )

    found = records(
        source,
        home,
        queued(prompt="Also the tests", commandMode="prompt", origin={"kind": "human"}),
        queued(prompt="done", commandMode="task-notification"),
        queued(prompt="From a peer", commandMode="prompt", origin={"kind": "peer"}, more=1),
    )
    assert [(record.text, record.reason) for record in found] == [("Also the tests", ""), ("From a peer", "synthetic")]


def test_skills_come_from_the_tool_from_reads_and_from_commands(source: Source, home: Path) -> None:
    found = records(
        source,
        home,
        claude.assistant("s1", 0, claude.call("Skill", skill=" invoice-rules ")),
        claude.assistant("s1", 1, claude.call("Read", file_path="/w/shop/.claude/skills/tax/SKILL.md")),
        claude.assistant("s1", 2, claude.call("Edit", file_path="/w/shop/skills/other/SKILL.md")),
        claude.user("s1", 3, "<command-message>pdf</command-message>\n<command-name>/acme:pdf</command-name>"),
        claude.user("s1", 4, "<command-name>/clear</command-name>"),
        claude.user("s1", 5, "Say <command-name>/none</command-name>"),
    )
    assert [record.skills for record in found] == [("invoice-rules",), ("tax",), (), ("acme:pdf",), (), ()]
    assert found[2].files == ("/w/shop/skills/other/SKILL.md",)


def test_a_failed_request_is_told(source: Source, home: Path) -> None:
    error = claude.assistant("s1", 0, "API Error: 529", isApiErrorMessage=True)
    assert [record.failed for record in records(source, home, error)] == [True]


def test_thoughts_are_never_read(source: Source, home: Path) -> None:
    thought = {"type": "thinking", "thinking": "The user always wants tabs", "signature": ""}
    assert records(source, home, claude.assistant("s1", 0, thought)) == []
    assert records(source, home, claude.assistant("s1", 0, thought, "Done."))[0].text == "Done."


@pytest.mark.parametrize(
    ("written", "at"),
    [
        ("2031-02-03T08:00:00.500Z", 1_927_872_000.5),
        ("2031-02-03T09:00:00+01:00", 1_927_872_000.0),
        ("2031-02-03T08:00:00", 1_927_872_000.0),
        ("soon", None),
        (None, None),
        ([], None),
    ],
)
def test_times_are_utc(source: Source, home: Path, written: Any, at: float | None) -> None:
    record = claude.user("s1", 0, "Do it") | {"timestamp": written}
    assert records(source, home, record)[0].at == at


def test_records_of_the_wrong_shape_stop_nothing(source: Source, home: Path) -> None:
    odd: list[Any] = [
        {"type": 5, "message": None, "uuid": [], "sessionId": {}, "cwd": 1},
        {"type": "user", "message": {"role": "user", "content": {"a": 1}}},
        {"type": "user", "message": {"role": "user", "content": [None, 5, {"type": "text", "text": None}]}},
        {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "tool_use", "input": []}]}},
        {"type": "file-history-snapshot", "snapshot": []},
        {"type": "attachment", "attachment": "x"},
    ]
    assert [record.text for record in records(source, home, *odd, claude.user("s1", 0, "Do it")) if record.text] == [
        "Do it"
    ]


def test_both_envelope_generations_are_read(source: Source, home: Path) -> None:
    flat = {"type": "user", "content": "Do it", "sessionId": "s1", "timestamp": "2031-02-03T08:00:00Z"}
    found = records(source, home, flat, {"role": "assistant", "content": [{"type": "text", "text": "Done."}]})
    assert [(record.role, record.text) for record in found] == [("user", "Do it"), ("assistant", "Done.")]


def test_a_relative_folder_is_no_place(source: Source, home: Path) -> None:
    assert records(source, home, claude.user("s1", 0, "Do it", cwd="shop"))[0].cwd == ""
    assert records(source, home, claude.user("s1", 0, "Do it", cwd="C:\\w\\shop"))[0].cwd == "C:\\w\\shop"


def test_colliding_folder_names_are_told_apart_by_what_records_say(source: Source, home: Path) -> None:
    claude.write_session(home, "s1", TURNS, cwd="/w/my_app")
    claude.write_session(home, "s2", TURNS, cwd="/w/my-app")
    files = list(source.files())
    assert len({file.parent for file in files}) == 1
    found = {record.session: record.cwd for file in files for record in read(source, file).records}
    assert found == {"s1": "/w/my_app", "s2": "/w/my-app"}


def test_links_out_of_the_store_are_not_followed(source: Source, home: Path, tmp_path: Path) -> None:
    claude.write_session(home, "s1", TURNS)
    outside = write(tmp_path / "outside" / "s2.jsonl", dump([claude.user("s2", 0, "secret")]))
    (home / "projects" / "linked").symlink_to(outside.parent)
    (home / "projects" / "linked.jsonl").symlink_to(outside)
    (home / "projects" / "dangling.jsonl").symlink_to(tmp_path / "nowhere")
    assert [file.stem for file in source.files()] == ["s1"]


def test_files_come_in_a_stable_order_and_no_store_has_none(source: Source, home: Path) -> None:
    assert list(source.files()) == []
    for name in ("b", "a", "c"):
        claude.write_session(home, name, TURNS)
    assert [file.stem for file in source.files()] == ["a", "b", "c"]


def test_the_home_is_that_of_the_environment_where_none_is_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    assert Claude(Sleep()).roots() == (tmp_path / "projects",)
    monkeypatch.delenv("CLAUDE_CONFIG_DIR")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert tmp_path / ".claude" / "projects" in Claude(Sleep()).roots()


def test_a_session_that_grows_gives_its_new_part(source: Source, home: Path) -> None:
    first = read(source, claude.write_session(home, "s1", TURNS))
    file = claude.write_session(home, "s1", [("And the tests?", "Added.")], append=True, first=4, at=START + 300)
    assert read(source, file, first.position).said("user") == ["And the tests?"]
    assert len(read(source, file).keys) == 6


KEYS = (
    *("type", "message", "role", "content", "text", "name", "input", "skill", "snapshot", "attachment", "prompt"),
    *("uuid", "parentUuid", "sessionId", "timestamp", "cwd", "agentId", "isSidechain", "entrypoint", "origin"),
)
WORDS = (
    *("user", "assistant", "summary", "text", "tool_use", "Skill", "Read", "<command-name>/x</command-name>"),
    *("file-history-snapshot", "attachment", "queued_command", "2031-02-03", "/w/SKILL.md"),
)


@settings(max_examples=50, deadline=None)
@given(lines=st.lists(objects(KEYS, WORDS), max_size=6))
def test_no_shape_of_a_record_stops_reading(tmp_path_factory: pytest.TempPathFactory, lines: list[Any]) -> None:
    file = write(tmp_path_factory.mktemp("any") / "s1.jsonl", dump(lines))
    found = read(Claude(Sleep(claude_home=str(file.parent))), file)
    assert all(well_formed(record) for record in found.records)
    assert found.damaged == {}
