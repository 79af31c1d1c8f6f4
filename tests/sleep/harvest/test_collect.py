"""A harvest on real stores: what is kept, what is left out and why, and that nothing is counted twice or lost."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from skillgit.errors import ConfigError
from skillgit.events import Event, Progress
from skillgit.git.repository import Repository
from skillgit.sleep.events import Harvested
from skillgit.sleep.harvest import intake, work
from skillgit.sleep.harvest.collect import harvest
from tests.conftest import git
from tests.sleep.harvest.common import NOW, TURNS, archive, config_of, prompts, reap, said
from tests.sleep.stores import START, claude, dump, write


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "claude"


def test_a_session_is_kept_with_its_words_in_order(repo_dir: Path, store: Path) -> None:
    claude.write_session(store, "s1", TURNS, cwd=str(repo_dir / "skills"), skill="greeter")
    found = reap(repo_dir, store)
    (session,) = found.sessions
    assert [(turn.role, turn.text) for turn in session.turns] == [
        ("user", "Sort the table by date."),
        ("assistant", "Sorted."),
        ("user", "No, newest first."),
        ("assistant", "Newest first now."),
        ("user", "Thanks!"),
    ]
    assert (session.source, session.id, session.project) == ("claude", "s1", str(repo_dir))
    assert (session.cwd, session.branch, session.skills) == (str(repo_dir / "skills"), "main", ("greeter",))
    assert (session.started, session.ended) == (START, START + 120)
    assert (found.kept, found.new, found.excluded, found.damaged) == (1, 1, {}, {})


def test_a_second_harvest_brings_nothing_new_and_a_grown_session_its_new_part(repo_dir: Path, store: Path) -> None:
    claude.write_session(store, "s1", TURNS[:2], cwd=str(repo_dir))
    first, second = reap(repo_dir, store), reap(repo_dir, store)
    assert (first.new, second.new, second.bytes) == (1, 0, 0)
    claude.write_session(store, "s1", TURNS[2:], cwd=str(repo_dir), at=START + 120, append=True, first=4)
    third = reap(repo_dir, store)
    assert (third.new, said(third)) == (1, prompts())
    assert third.sessions[0].harvested == third.number > second.number


def test_a_torn_line_waits_until_it_is_whole(repo_dir: Path, store: Path) -> None:
    file = claude.write_session(store, "s1", TURNS, cwd=str(repo_dir))
    whole = file.read_bytes()
    file.write_bytes(whole[:-30])
    assert said(reap(repo_dir, store)) == prompts()[:2]
    file.write_bytes(whole)
    found = reap(repo_dir, store)
    assert (said(found), found.damaged) == (prompts(), {})


@pytest.mark.parametrize("how", ["replaced", "rotated", "shorter"])
def test_a_file_that_is_not_the_same_any_more_counts_each_record_once(repo_dir: Path, store: Path, how: str) -> None:
    file = claude.write_session(store, "s1", TURNS, cwd=str(repo_dir))
    reap(repo_dir, store)
    if how == "rotated":
        file.rename(file.with_name("old.jsonl"))
    if how == "shorter":
        file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:2]))
    else:
        replacement = claude.write_session(store / "new", "s1", TURNS, cwd=str(repo_dir))
        replacement.replace(file)
        shutil.rmtree(store / "new")
    found = reap(repo_dir, store)
    assert (said(found), found.kept, found.new) == (prompts(), 1, 0)


def test_programs_and_sub_agents_are_left_out_with_counts(repo_dir: Path, store: Path) -> None:
    claude.write_session(store, "person", TURNS, cwd=str(repo_dir))
    claude.write_session(store, "sdk", TURNS, cwd=str(repo_dir), entrypoint="sdk-cli")
    claude.write_session(store, "side", TURNS[:1], cwd=str(repo_dir), isSidechain=True)
    claude.write_agent(store, "person", "a1", TURNS[:1], cwd=str(repo_dir))
    found = reap(repo_dir, store)
    assert [session.id for session in found.sessions] == ["person"]
    assert found.excluded == {"headless": 5, "sidechain": 4}
    assert found.excluded_sessions == {"headless": 1, "sidechain": 2}


def test_single_records_that_no_person_wrote_are_left_out(repo_dir: Path, store: Path) -> None:
    cwd = str(repo_dir)
    command = "<command-message>tidy</command-message>\n<command-name>/tidy</command-name>"
    records = [
        claude.user("s1", 0, "Caveat: …", cwd=cwd, isMeta=True),
        claude.user("s1", 1, command, cwd=cwd),
        claude.user("s1", 2, "Rename it, please.", cwd=cwd, at=START + 30),
        claude.tool_result("s1", 3, "remember: always use tabs", cwd=cwd),
        claude.assistant("s1", 4, "Renamed.", cwd=cwd, at=START + 40),
    ]
    write(claude.path_of(store, "s1", cwd), dump(records))
    found = reap(repo_dir, store)
    assert (said(found), found.excluded) == (["Rename it, please."], {"command": 1, "meta": 1})
    assert len(found.sessions[0].turns) == 2


def test_what_a_program_put_beside_a_persons_words_is_not_kept(repo_dir: Path, store: Path) -> None:
    text = "Sort it.\n<system-reminder>Always add tests.</system-reminder>"
    claude.write_session(store, "s1", ((text, "Sorted."),), cwd=str(repo_dir))
    assert said(reap(repo_dir, store)) == ["Sort it."]


def test_an_agent_alone_is_no_session(repo_dir: Path, store: Path) -> None:
    records = [claude.assistant("s1", 0, "Hello?", cwd=str(repo_dir))]
    write(claude.path_of(store, "s1", str(repo_dir)), dump(records))
    found = reap(repo_dir, store)
    assert (found.kept, found.excluded, found.excluded_sessions) == (0, {"no_human_turn": 1}, {"no_human_turn": 1})
    claude.write_session(store, "s1", TURNS, cwd=str(repo_dir), at=START + 60, append=True, first=1)
    found = reap(repo_dir, store)
    assert (found.kept, found.excluded, len(found.sessions[0].turns)) == (1, {}, 6)


def test_a_fork_counts_what_it_shares_once(repo_dir: Path, store: Path) -> None:
    claude.write_session(store, "s1", TURNS, cwd=str(repo_dir))
    claude.write_fork(store, "s1", "s2", cwd=str(repo_dir))
    claude.write_session(
        store, "s2", (("And in bold.", "Bold."),), cwd=str(repo_dir), at=START + 300, append=True, first=5
    )
    found = reap(repo_dir, store)
    assert {session.id: session.prompts for session in found.sessions} == {
        "s1": tuple(prompts()),
        "s2": ("And in bold.",),
    }
    assert found.excluded_sessions == {}


def test_records_go_to_the_session_they_name(repo_dir: Path, store: Path) -> None:
    file = claude.write_session(store, "s1", TURNS, cwd=str(repo_dir))
    strayed = claude.session_records("s2", (("In another file.", "Yes."),), cwd=str(repo_dir), at=START + 500)
    write(file, dump(strayed), append=True)
    assert [session.prompts[0] for session in reap(repo_dir, store).sessions] == [TURNS[0][0], "In another file."]


def test_sessions_of_other_projects_are_left_out_until_they_are_asked_for(
    repo_dir: Path, store: Path, tmp_path: Path
) -> None:
    claude.write_session(store, "ours", TURNS, cwd=str(repo_dir))
    claude.write_session(store, "above", TURNS, cwd=str(tmp_path))
    records = claude.session_records("nowhere", TURNS, cwd="")
    write(claude.path_of(store, "nowhere"), dump(records))
    found = reap(repo_dir, store)
    assert [session.id for session in found.sessions] == ["ours"]
    assert found.excluded_sessions == {"no_project": 1, "other_project": 1}
    wide = reap(repo_dir, store, scope="all")
    assert {session.id for session in wide.sessions} == {"ours", "above", "nowhere"}
    assert (wide.new, wide.excluded) == (2, {})
    assert "read again" in "".join(wide.notes)
    again = reap(repo_dir, store)
    assert [session.id for session in again.sessions] == ["ours"]
    assert [session.id for session in reap(repo_dir, store, scope=str(tmp_path)).sessions] != []


def test_a_session_that_moves_into_the_repository_counts_from_there(
    repo_dir: Path, store: Path, tmp_path: Path
) -> None:
    claude.write_session(store, "s1", TURNS[:1], cwd=str(tmp_path))
    file = claude.path_of(store, "s1", str(tmp_path))
    write(
        file,
        dump(claude.session_records("s1", TURNS[1:], cwd=str(repo_dir), at=START + 90, first=2)),
        append=True,
    )
    found = reap(repo_dir, store)
    assert (said(found), found.excluded) == (prompts()[1:], {"other_project": 2})
    assert found.sessions[0].project == str(repo_dir)


def test_a_session_that_leaves_the_repository_stays(repo_dir: Path, store: Path, tmp_path: Path) -> None:
    records = claude.session_records("s1", TURNS[:1], cwd=str(repo_dir))
    records += claude.session_records("s1", TURNS[1:], cwd=str(tmp_path), at=START + 60, first=2)
    write(claude.path_of(store, "s1"), dump(records))
    assert said(reap(repo_dir, store)) == prompts()


def test_a_worktree_is_remembered_after_it_is_gone(repo_dir: Path, store: Path, tmp_path: Path) -> None:
    git(repo_dir, "worktree", "add", "--quiet", str(tmp_path / "wt"), "-b", "wt")
    reap(repo_dir, store) if store.exists() else store.joinpath("projects").mkdir(parents=True)
    reap(repo_dir, store)
    git(repo_dir, "worktree", "remove", str(tmp_path / "wt"))
    claude.write_session(store, "s1", TURNS, cwd=str(tmp_path / "wt/skills"))
    assert [session.project for session in reap(repo_dir, store).sessions] == [str(repo_dir)]


def test_absurd_values_cost_only_their_record(repo_dir: Path, store: Path) -> None:
    cwd = str(repo_dir)
    long = "s" * 5000
    records = claude.session_records("s1", TURNS[:1], cwd="/a\0b") + claude.session_records(long, TURNS[:1], cwd=cwd)
    records += claude.session_records("s2", TURNS[:1], cwd=cwd + "/x" * 4000)
    records += claude.session_records(
        "s3", TURNS[:1], cwd=cwd, sessionId="s3\ud800", timestamp=1e300, skill="\ud800" * 9000
    )
    os.utime(write(claude.path_of(store, "s"), dump(records)), (START, START))
    found = reap(repo_dir, store)
    assert (len(found.sessions), found.damaged) == (2, {})
    assert all(len(session.id) <= 200 and len(session.cwd) <= 4096 for session in found.sessions)
    assert (found.excluded, found.excluded_sessions) == ({"other_project": 4}, {"other_project": 2})


@pytest.mark.parametrize("written", [0, 100])
def test_age_counts_when_a_session_is_first_seen(repo_dir: Path, store: Path, written: int) -> None:
    file = claude.write_session(store, "s1", TURNS[:2], cwd=str(repo_dir))
    late = START + 100 * 3600
    os.utime(file, (START + written * 3600, START + written * 3600))
    found = reap(repo_dir, store, now=late)
    assert (found.kept, found.excluded, found.excluded_sessions) == (0, {"old": 4}, {"old": 1})
    wide = reap(repo_dir, store, now=late, lookback_hours=0)
    assert (said(wide), wide.excluded) == (prompts()[:2], {})
    much_later = reap(repo_dir, store, now=late + 50 * 3600, lookback_hours=0)
    assert said(much_later) == prompts()[:2]


def test_an_old_session_that_goes_on_gives_its_new_part(repo_dir: Path, store: Path) -> None:
    claude.write_session(store, "s1", TURNS[:2], cwd=str(repo_dir))
    late = START + 100 * 3600
    reap(repo_dir, store, now=late)
    claude.write_session(store, "s1", TURNS[2:], cwd=str(repo_dir), at=late - 60, append=True, first=4)
    found = reap(repo_dir, store, now=late)
    assert (said(found), found.excluded) == (["Thanks!"], {"old": 4})


def test_what_was_said_is_dropped_after_keep_days(repo_dir: Path, store: Path) -> None:
    claude.write_session(store, "s1", TURNS, cwd=str(repo_dir))
    assert reap(repo_dir, store, keep_days=10).kept == 1
    found = reap(repo_dir, store, keep_days=10, now=NOW + 11 * 86400)
    assert (found.kept, found.excluded) == (0, {"old": 5})
    with archive(repo_dir) as kept:
        assert kept.sessions() == []


def test_phrases_leave_out_new_sessions_and_those_kept_before(repo_dir: Path, store: Path) -> None:
    claude.write_session(store, "s1", TURNS, cwd=str(repo_dir))
    claude.write_session(store, "s2", (("NIGHTLY report, please", "Here."),), cwd=str(repo_dir), at=START + 900)
    assert reap(repo_dir, store).kept == 2
    found = reap(repo_dir, store, exclude=("nightly REPORT",))
    assert ([session.id for session in found.sessions], found.excluded) == (["s1"], {"pattern": 2})
    assert reap(repo_dir, store).kept == 2


def test_sessions_of_skillgit_itself_are_left_out(repo_dir: Path, store: Path) -> None:
    claude.write_session(store, "s1", TURNS, cwd=str(repo_dir))
    claude.write_session(store, "s2", TURNS, cwd="/tmp/skillgit-a1b2c3d4/work")
    found = reap(repo_dir, store, scope="all")
    assert ([session.id for session in found.sessions], found.excluded) == (["s1"], {"own": 5})


def test_asking_for_less_reads_nothing_again(repo_dir: Path, store: Path, tmp_path: Path) -> None:
    claude.write_session(store, "s1", TURNS, cwd=str(repo_dir))
    claude.write_session(store, "s2", TURNS, cwd=str(tmp_path))
    assert reap(repo_dir, store, scope="all", lookback_hours=0).kept == 2
    less = reap(repo_dir, store, exclude=("nothing of that",))
    assert (less.kept, less.bytes, less.notes) == (1, 0, ())
    more = reap(repo_dir, store)
    assert (more.kept, more.new, more.bytes > 0) == (1, 0, True)


def test_secrets_never_reach_the_archive_and_a_cut_does_not_free_them(repo_dir: Path, store: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    long = "x" * 5300 + f" password={token} " + "y" * 9000
    claude.write_session(store, "s1", ((f"Use {token}", f"I used {token}"), (long, "ok")), cwd=str(repo_dir))
    found = reap(repo_dir, store)
    assert all(token not in turn.text and len(turn.text) <= 8000 for turn in found.sessions[0].turns)
    assert "[redacted:" in found.sessions[0].turns[0].text
    folder = Repository.open(repo_dir).state_dir
    assert not any(token.encode()[:12] in file.read_bytes() for file in folder.glob("sleep.db*"))


def test_what_is_to_be_hidden_later_is_hidden_in_what_was_kept(repo_dir: Path, store: Path) -> None:
    claude.write_session(store, "s1", (("Write to anna@shop.example.com today", "Sent."),), cwd=str(repo_dir))
    assert "anna@" in said(reap(repo_dir, store))[0]
    assert "anna@" not in said(reap(repo_dir, store, redact_email=True))[0]


def test_names_of_files_and_branches_are_hidden_later_as_well(repo_dir: Path, store: Path) -> None:
    call = claude.call("Write", file_path="/home/anna/notes.md")
    records = [
        claude.user("s1", 0, "Write it down", cwd=str(repo_dir), gitBranch="for/anna@shop.example.com"),
        claude.assistant("s1", 1, "Done.", call, cwd=str(repo_dir)),
    ]
    write(claude.path_of(store, "s1"), dump(records))
    (session,) = reap(repo_dir, store).sessions
    assert (session.files, session.branch) == (("/home/anna/notes.md",), "for/anna@shop.example.com")
    (session,) = reap(repo_dir, store, redact_email=True, redact_home=True).sessions
    assert "anna" not in f"{session.files} {session.branch}"


def test_what_was_hidden_later_is_not_left_in_the_file(repo_dir: Path, store: Path) -> None:
    claude.write_session(store, "s1", (("Write to anna@shop.example.com today", "Sent."),), cwd=str(repo_dir))
    reap(repo_dir, store)
    reap(repo_dir, store, redact_email=True)
    folder = Repository.open(repo_dir).state_dir
    assert [file.name for file in folder.glob("sleep.db*") if b"anna@" in file.read_bytes()] == []


def test_another_version_of_skillgit_redacts_what_was_kept_anew(
    repo_dir: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claude.write_session(store, "s1", TURNS, cwd=str(repo_dir))
    reap(repo_dir, store)
    monkeypatch.setattr(intake, "redact", lambda text, **_: text.replace("table", "[redacted:table]"))
    assert said(reap(repo_dir, store)) == prompts()
    monkeypatch.setattr(work, "__version__", "999")
    assert said(reap(repo_dir, store))[0] == "Sort the [redacted:table] by date."


def test_a_session_of_a_clock_that_was_ahead_is_not_kept_for_ever(repo_dir: Path, store: Path) -> None:
    claude.write_session(store, "s1", TURNS, cwd=str(repo_dir), at=NOW + 40 * 365 * 86_400)
    assert said(reap(repo_dir, store)) == prompts()
    assert said(reap(repo_dir, store, now=NOW + 179 * 86_400)) == prompts()
    assert said(reap(repo_dir, store, now=NOW + 181 * 86_400)) == []


def test_damage_counts_once_however_a_file_is_replaced(repo_dir: Path, store: Path) -> None:
    file = claude.write_session(store, "s1", TURNS, cwd=str(repo_dir))
    text = file.read_bytes() + b"no json\n[1]\n"
    expected = {str(file): {"json": 1, "not an object": 1}}
    file.write_bytes(text)
    assert reap(repo_dir, store).damaged == expected
    copy = file.with_name("copy")
    copy.write_bytes(text)
    copy.replace(file)
    assert reap(repo_dir, store).damaged == expected
    file.write_bytes(b"\n" + text + b"\n")
    assert reap(repo_dir, store).damaged == expected
    with file.open("ab") as stream:
        stream.write(b"no json\n")
    assert reap(repo_dir, store).damaged[str(file)]["json"] == 2


def test_what_is_replaced_with_the_same_size_and_time_is_read(repo_dir: Path, store: Path) -> None:
    file = claude.write_session(store, "s1", (("Sort by name", "Sorted."),), cwd=str(repo_dir))
    reap(repo_dir, store)
    before = file.stat()
    other = dump(claude.session_records("s2", (("Sort by date", "Sorted."),), cwd=str(repo_dir)))
    with file.open("r+b") as stream:
        stream.write(other)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (file.stat().st_size, file.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert sorted(said(reap(repo_dir, store))) == ["Sort by date", "Sort by name"]


def test_a_folder_that_no_system_has_costs_no_time(repo_dir: Path, store: Path) -> None:
    records = claude.session_records("s1", TURNS, cwd="/a" * 200_000)
    write(claude.path_of(store, "s1"), dump(records))
    claude.write_session(store, "s2", TURNS, cwd=str(repo_dir))
    begun = time.monotonic()
    assert said(reap(repo_dir, store)) == prompts()
    assert time.monotonic() - begun < 5


def test_of_a_long_session_the_first_and_last_turns_are_kept(repo_dir: Path, store: Path) -> None:
    turns = [(f"Question {n} of many", f"Answer {n}.") for n in range(150)]
    claude.write_session(store, "s1", turns, cwd=str(repo_dir), at=START - 9000)
    found = reap(repo_dir, store)
    (session,) = found.sessions
    assert len(session.turns) == 200
    assert [session.prompts[0], session.prompts[-1]] == ["Question 0 of many", "Question 149 of many"]
    assert any("first and last turns" in note for note in found.notes)
    claude.write_session(store, "s1", (("One more", "ok"),), cwd=str(repo_dir), append=True, first=300)
    (session,) = reap(repo_dir, store).sessions
    assert (len(session.turns), session.prompts[0], session.prompts[-1]) == (200, "Question 0 of many", "One more")


def test_only_the_newest_sessions_are_given_when_there_is_a_limit(repo_dir: Path, store: Path) -> None:
    for n in range(4):
        claude.write_session(store, f"s{n}", TURNS, cwd=str(repo_dir), at=START + 600 * n)
    found = reap(repo_dir, store, max_sessions=2)
    assert ([session.id for session in found.sessions], found.kept) == (["s2", "s3"], 4)


def test_only_sessions_of_the_named_sources_are_given(repo_dir: Path, store: Path, tmp_path: Path) -> None:
    claude.write_session(store, "s1", TURNS, cwd=str(repo_dir))
    assert reap(repo_dir, store).kept == 1
    (tmp_path / "neutral").mkdir()
    other = reap(repo_dir, store, source="neutral", neutral_sessions=str(tmp_path / "neutral"))
    assert (other.kept, other.sessions) == (0, [])


def test_a_scope_that_names_no_folder_is_told_before_anything_is_read(repo_dir: Path, store: Path) -> None:
    claude.write_session(store, "s1", TURNS, cwd=str(repo_dir))
    with pytest.raises(ConfigError, match="no folder"):
        reap(repo_dir, store, scope="repo")
    with archive(repo_dir) as kept:
        assert kept.last() == (0, None)


def test_progress_and_the_end_are_told(repo_dir: Path, store: Path) -> None:
    claude.write_session(store, "s1", TURNS, cwd=str(repo_dir))
    told: list[Event] = []
    harvest(Repository.open(repo_dir), config_of(store), told.append, now=NOW)
    assert [event.done for event in told if isinstance(event, Progress)] == [0, 1]
    assert isinstance(told[-1], Harvested)
    assert (told[-1].sessions, told[-1].new) == (1, 1)
    assert told[-1].megabytes > 0
