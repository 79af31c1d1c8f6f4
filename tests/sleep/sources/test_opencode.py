from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from skillgit.config.sleep import Sleep
from skillgit.sleep.base import Source
from skillgit.sleep.sources import whole
from skillgit.sleep.sources.opencode import OpenCode
from tests.sleep.sources.reading import read
from tests.sleep.stores.opencode import Store
from tests.sleep.stores.talks import Talk, talks


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "opencode.db"


@pytest.fixture
def store(file: Path) -> Iterator[Store]:
    store = Store(file)
    yield store
    store.close()


@pytest.fixture
def source(file: Path) -> Source:
    return OpenCode(Sleep(opencode_db=str(file)))


@pytest.fixture
def talk() -> Talk:
    return talks(1, seed=3)[0]


def test_every_turn_is_read_once_with_its_folder_branch_and_time(source: Source, file: Path, store: Store) -> None:
    made = talks(20)
    store.write(made)
    found = read(source, file)
    exchanges = [exchange for talk in made for exchange in talk.exchanges]
    assert found.said("user") == [exchange.ask for exchange in exchanges]
    assert found.said("assistant") == [exchange.answer for exchange in exchanges]
    assert len(found.keys) == len(found.records)
    first = found.records[0]
    assert (first.session, first.cwd, first.branch) == (f"ses_{made[0].id}", made[0].cwd, made[0].branch)
    assert first.at == pytest.approx(made[0].exchanges[0].at)
    assert not found.damaged


def test_tools_are_named_and_what_they_read_or_thought_is_not_told(
    source: Source, file: Path, store: Store, talk: Talk
) -> None:
    store.write([talk])
    found = read(source, file)
    answers = [record for record in found.records if record.role == "assistant"]
    assert [record.tools for record in answers] == [exchange.tools for exchange in talk.exchanges]
    assert all(record.files == ((talk.exchanges[0].file,) if _writes(record.tools) else ()) for record in answers)
    told = repr(found.records)
    assert talk.exchanges[0].output.splitlines()[0] not in told
    assert "wants a small change" not in told


def _writes(tools: tuple[str, ...]) -> bool:
    return bool({"edit", "write"} & set(tools))


def test_a_session_that_grew_gives_its_new_part(source: Source, file: Path, store: Store, talk: Talk) -> None:
    store.write([replace(talk, exchanges=talk.exchanges[:1])])
    first = read(source, file)
    assert source.stamp(file) == first.position.stamp
    store.exchange(talk, 1, talk.exchanges[1])
    store.commit()
    assert source.stamp(file) != first.position.stamp
    second = read(source, file, first.position)
    assert second.said("user") == [talk.exchanges[1].ask]
    assert second.said("assistant") == [talk.exchanges[1].answer]
    assert read(source, file, second.position).records == []


def test_an_old_session_that_is_put_in_later_is_read(source: Source, file: Path, store: Store) -> None:
    old, new = talks(2)
    store.write([new])
    position = read(source, file).position
    store.write([old])
    now = int(time.time() * 1000)
    store.connection.execute("UPDATE message SET time_updated = ? WHERE session_id = ?", (now, f"ses_{old.id}"))
    store.commit()
    assert read(source, file, position).said("user") == [exchange.ask for exchange in old.exchanges]


def test_a_clock_that_was_ahead_hides_nothing(source: Source, file: Path, store: Store, talk: Talk) -> None:
    ahead = int((time.time() + 3e8) * 1000)
    store.session(talk)
    store.message(talk, "msg_future", ahead, {"role": "user"})
    store.part(talk, "msg_future", {"type": "text", "text": "From the future."})
    store.commit()
    position = read(source, file).position
    now = int((time.time() + 1) * 1000)
    store.message(talk, "msg_now", now, {"role": "user"})
    store.part(talk, "msg_now", {"type": "text", "text": "After the clock was set."})
    store.commit()
    assert "After the clock was set." in read(source, file, position).said("user")


def test_an_unfinished_answer_is_left_until_it_is_finished(
    source: Source, file: Path, store: Store, talk: Talk
) -> None:
    at = int(talk.exchanges[0].at * 1000)
    store.session(talk)
    store.message(talk, "m1", at, {"role": "assistant", "time": {"created": at}})
    store.part(talk, "m1", {"type": "text", "text": "I will"})
    store.commit()
    first = read(source, file)
    assert first.records == []
    assert first.position.state["waiting"] == ["m1"]
    store.connection.execute("UPDATE part SET data = ?", ('{"type": "text", "text": "I will do it."}',))
    store.message(talk, "m1", at, {"role": "assistant", "time": {"created": at, "completed": at + 1}})
    store.commit()
    assert read(source, file, first.position).said("assistant") == ["I will do it."]


def test_a_message_whose_parts_are_not_there_yet_is_left_until_they_are(
    source: Source, file: Path, store: Store, talk: Talk
) -> None:
    store.session(talk)
    store.message(talk, "m1", 1_700_000_000_000, {"role": "user"})
    store.commit()
    first = read(source, file)
    assert first.records == []
    store.part(talk, "m1", {"type": "text", "text": "Add a cache."})
    store.commit()
    assert read(source, file, first.position).said("user") == ["Add a cache."]


def test_an_answer_that_was_given_up_is_read_when_another_message_follows(
    source: Source, file: Path, store: Store, talk: Talk
) -> None:
    at = int(talk.exchanges[0].at * 1000)
    store.session(talk)
    store.message(talk, "m1", at, {"role": "assistant", "time": {"created": at}})
    store.part(talk, "m1", {"type": "text", "text": "I will"})
    store.commit()
    position = read(source, file).position
    store.message(talk, "m2", at + 60_000, {"role": "user", "time": {"created": at + 60_000}})
    store.part(talk, "m2", {"type": "text", "text": "Go on."})
    store.commit()
    found = read(source, file, position)
    assert [record.text for record in found.records] == ["I will", "Go on."]


def test_sub_agents_summaries_and_texts_of_tools_are_no_persons_words(source: Source, file: Path, store: Store) -> None:
    parent, child = talks(2)
    store.write([parent])
    store.write([child], parent=f"ses_{parent.id}")
    at = int(parent.exchanges[-1].at * 1000) + 9_000
    store.message(parent, "z1", at, {"role": "assistant", "summary": True, "time": {"created": at, "completed": at}})
    store.part(parent, "z1", {"type": "text", "text": "So far: totals are rounded."})
    store.message(parent, "z2", at + 1, {"role": "user"})
    store.part(parent, "z2", {"type": "text", "text": "Called the read tool", "synthetic": True})
    store.message(parent, "z3", at + 2, {"role": "user"})
    store.part(parent, "z3", {"type": "text", "text": "Look at @a.py"})
    store.part(parent, "z3", {"type": "text", "text": "the whole of a.py", "synthetic": True})
    store.part(parent, "z3", {"type": "text", "text": "a note of the interface", "ignored": True})
    store.commit()
    found = {record.key: record for record in read(source, file).records}
    children = [record for record in found.values() if record.session == f"ses_{child.id}"]
    assert {record.reason for record in children} == {"sub_agent"}
    assert (found["z1"].reason, found["z2"].reason, found["z3"].reason) == ("meta", "synthetic", "")
    assert found["z3"].text == "Look at @a.py"


def test_failed_answers_are_told_apart_from_stopped_ones(source: Source, file: Path, store: Store, talk: Talk) -> None:
    store.session(talk)
    store.message(talk, "m1", 1_700_000_000_000, {"role": "assistant", "error": {"name": "ProviderAuthError"}})
    store.message(talk, "m2", 1_700_000_000_001, {"role": "assistant", "error": {"name": "MessageAbortedError"}})
    store.commit()
    assert [record.failed for record in read(source, file).records] == [True, False]


def test_skills_are_named_by_their_tool_and_by_reading_their_file(
    source: Source, file: Path, store: Store, talk: Talk
) -> None:
    store.session(talk)
    store.message(talk, "m1", 1_700_000_000_000, {"role": "assistant"})
    store.part(talk, "m1", {"type": "tool", "tool": "skill", "state": {"input": {"name": "invoices"}}})
    path = "/w/shop/.opencode/skill/taxes/SKILL.md"
    store.part(talk, "m1", {"type": "tool", "tool": "read", "state": {"input": {"filePath": path}}})
    store.part(talk, "m1", {"type": "tool-invocation", "toolInvocation": {"toolName": "bash"}})
    store.commit()
    (record,) = read(source, file).records
    assert record.skills == ("invoices", "taxes")
    assert record.tools == ("skill", "read", "bash")


def test_damage_costs_the_message_or_part_that_it_hits(source: Source, file: Path, store: Store) -> None:
    one, other = talks(2)
    store.write([one, other])
    store.message(one, f"msg_{one.id}_0a", int(one.exchanges[0].at * 1000), '{"role": "user"')
    store.message(one, "m2", 1_800_000_000_000, "null")
    store.part(other, f"msg_{other.id}_0b", "[]")
    store.part(other, f"msg_{other.id}_0b", '{"type": "text", "text": "half \\ud83d pair"}')
    store.commit()
    found = read(source, file)
    assert found.damaged == {"json": 1, "not an object": 2}
    asks = [exchange.ask for talk in (one, other) for exchange in talk.exchanges]
    assert found.said("user") == asks[1:]
    assert "half \ufffd pair" in repr(found.said("assistant"))


def test_a_position_can_be_kept_as_json_whatever_the_ids_are(
    source: Source, file: Path, store: Store, talk: Talk
) -> None:
    store.write([talk])
    store.connection.execute("INSERT INTO message SELECT x'ff00', session_id, 1e300, 5, data FROM message LIMIT 1")
    store.commit()
    position = read(source, file).position
    assert json.loads(json.dumps(dict(position.state))) == position.state


def test_columns_that_older_versions_lack_are_not_needed(source: Source, file: Path) -> None:
    connection = sqlite3.connect(file)
    connection.executescript("""
        CREATE TABLE session (id TEXT, parent_id TEXT, directory TEXT, agent TEXT, time_created INT, time_updated INT);
        CREATE TABLE message (id TEXT, session_id TEXT, time_created INT, data TEXT);
        CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, time_created INT, data TEXT);
        INSERT INTO session VALUES ('o1', NULL, '/w/shop', 'build', 1928000000000, 1928000060000);
        INSERT INTO message VALUES ('m1', 'o1', 1928000001000, '{"role":"user"}');
        INSERT INTO part VALUES ('q1', 'm1', 'o1', 1928000001000, '{"type":"text","text":"Add CI cache"}');
    """)
    connection.close()
    (record,) = read(source, file).records
    assert (record.text, record.cwd, record.at) == ("Add CI cache", "/w/shop", 1928000001.0)


def test_an_interrupted_reading_starts_again_and_loses_nothing(
    source: Source, file: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whole, "BATCH_RECORDS", 3)
    store.write(talks(5))
    complete = read(source, file)
    reading = source.read(file, None)
    batch = next(iter(reading))
    assert batch.position.stamp != source.stamp(file)
    assert read(source, file, batch.position).keys == complete.keys


def test_the_database_is_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENCODE_DB", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    expected = tmp_path / "data" / "opencode" / "opencode.db"
    roots = OpenCode(Sleep()).roots()
    assert roots[:2] == (expected, tmp_path / "local" / "opencode" / "opencode.db")
    assert list(OpenCode(Sleep()).files()) == []
    Store(expected).close()
    assert list(OpenCode(Sleep()).files()) == [expected]
    monkeypatch.setenv("OPENCODE_DB", "other.db")
    assert OpenCode(Sleep()).roots() == (tmp_path / "data" / "opencode" / "other.db",)
    monkeypatch.setenv("OPENCODE_DB", ":memory:")
    assert OpenCode(Sleep()).roots() == ()
    assert OpenCode(Sleep(opencode_db="/x/y.db")).roots() == (Path("/x/y.db"),)
