"""Repair loses nothing: records come back from journals, damaged text becomes lines, and what is unreadable stays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.git import notes
from skillgit.git.notetext import is_as, records_apart, without_repeats
from skillgit.git.objects import Commit, write_commits
from skillgit.git.repository import Repository
from skillgit.train.noterepair import repair_notes
from tests.conftest import git

scalars = st.none() | st.booleans() | st.integers() | st.text()
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
)
records = st.dictionaries(st.text(), values, min_size=1, max_size=4)


@given(st.lists(st.tuples(records, st.sampled_from([None, 0, 1, 2, "\t"]), st.sampled_from(["", "\n", " ", "\n\n"]))))
def test_records_come_apart_however_they_were_laid_out(parts: list[tuple[dict, Any, str]]) -> None:
    text = "".join(json.dumps(record, indent=indent) + gap for record, indent, gap in parts)
    assert records_apart(text) == [notes.canonical(record) for record, _, _ in parts]


@given(st.text(st.characters(codec="utf-8")))
def test_taking_apart_twice_is_taking_apart_once(text: str) -> None:
    once = records_apart(text)
    assert records_apart("\n".join(once)) == once
    assert is_as(once, notes.encode(once))


def test_what_is_no_record_stays_word_for_word() -> None:
    lines = ["looks good", "{", '"a": NaN', "}", "{", "}", "[1]", '{"half":', "{}"]
    assert records_apart("\n".join(lines)) == lines
    assert without_repeats([*lines, '{"a":1}', '{"a":1}', "looks good"]) == [*lines, '{"a":1}', "looks good"]


def listing(folder: Path, kind: str) -> dict[str, list[str]]:
    """Object to its sorted lines."""
    rows = [line.split() for line in git(folder, "notes", f"--ref=skillgit/{kind}", "list").splitlines()]
    return {name: sorted(git(folder, "cat-file", "blob", blob).splitlines()) for blob, name in rows}


def kinds(folder: Path) -> list[str]:
    return sorted({finding.kind for finding in repair_notes(Repository.open(folder))})


@pytest.mark.parametrize("lost", [("evals", "results"), ("evals",), ("results",)])
def test_notes_that_are_gone_come_back_from_the_journals(trained: Path, lost: tuple[str, ...]) -> None:
    before = {kind: listing(trained, kind) for kind in ("evals", "results")}
    for kind in lost:
        git(trained, "update-ref", "-d", f"refs/notes/skillgit/{kind}")
    assert kinds(trained) == ["restored"]
    assert {kind: listing(trained, kind) for kind in ("evals", "results")} == before
    assert kinds(trained) == []


def test_a_single_lost_line_comes_back(trained: Path) -> None:
    before = listing(trained, "evals")
    name = next(iter(before))
    git(trained, "notes", "--ref=skillgit/evals", "remove", name)
    repair_notes(Repository.open(trained))
    assert listing(trained, "evals") == before


def test_sound_notes_are_left_alone(trained: Path) -> None:
    before = git(trained, "for-each-ref", "refs/notes")
    assert kinds(trained) == []
    assert git(trained, "for-each-ref", "refs/notes") == before


def test_a_dry_run_tells_the_same_and_writes_nothing(trained: Path) -> None:
    git(trained, "update-ref", "-d", notes.EVALS)
    before = git(trained, "for-each-ref")
    found = repair_notes(Repository.open(trained), dry_run=True)
    assert git(trained, "for-each-ref") == before
    assert repair_notes(Repository.open(trained)) == found


def test_damaged_text_becomes_lines_again(trained: Path) -> None:
    before = listing(trained, "evals")
    name, lines = next((name, lines) for name, lines in before.items() if len(lines) > 1)
    pretty = [json.dumps(json.loads(line), indent=2) for line in lines]
    _write(trained, name, "\n".join([*pretty, lines[0] + lines[1], "by hand"]))
    assert kinds(trained) == ["repeated", "split", "unreadable"]
    assert listing(trained, "evals") == before | {name: sorted([*lines, "by hand"])}
    assert kinds(trained) == ["unreadable"]


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("evals", '{"id":1e999}'),
        ("evals", '{"id":"x","score":%s}' % ("9" * 400)),
        ("evals", '{"hard":"high","id":"x","n":1,"skill":"SKILL","soft":0.5,"split":"val"}'),
        ("results", '{"record":"x","tasks":{"a":{"hard":null,"soft":1}}}'),
    ],
)
def test_a_record_whose_values_are_no_scores_is_named_and_stays(trained: Path, kind: str, line: str) -> None:
    skill = git(trained, "rev-parse", "HEAD:skills/greeter")
    line = line.replace("SKILL", skill)
    git(trained, "notes", f"--ref=skillgit/{kind}", "append", "-m", line, skill)
    before = listing(trained, kind)
    (finding,) = repair_notes(Repository.open(trained))
    assert (finding.kind, finding.object, finding.detail) == ("unreadable", skill, line[:80])
    assert listing(trained, kind) == before


def test_a_record_on_another_object_goes_home_with_its_results(trained: Path) -> None:
    before = {kind: listing(trained, kind) for kind in ("evals", "results")}
    name = next(name for name, lines in before["evals"].items() if len(lines) == 1)
    elsewhere = git(trained, "rev-parse", "HEAD:evals")
    for kind in ("evals", "results"):
        git(trained, "notes", f"--ref=skillgit/{kind}", "copy", name, elsewhere)
        git(trained, "notes", f"--ref=skillgit/{kind}", "remove", name)
    assert kinds(trained) == ["moved"]
    assert {kind: listing(trained, kind) for kind in ("evals", "results")} == before


def test_a_record_without_an_object_is_reported_and_stays(trained: Path) -> None:
    elsewhere = git(trained, "rev-parse", "HEAD:evals")
    git(trained, "notes", "--ref=skillgit/evals", "add", "-m", '{"id":"x","skill":"nowhere"}', elsewhere)
    (finding,) = repair_notes(Repository.open(trained))
    assert (finding.kind, finding.object) == ("stray", elsewhere)
    assert listing(trained, "evals")[elsewhere] == ['{"id":"x","skill":"nowhere"}']


def test_records_on_what_no_ref_holds_are_named(trained: Path) -> None:
    repo = Repository.open(trained)
    lost = repo.git.run("hash-object", "-w", "--stdin", data=b"never committed").decode().strip()
    _write(trained, lost, notes.canonical({"id": "x", "skill": lost}))
    (finding,) = repair_notes(repo)
    assert (finding.kind, finding.object) == ("unreachable", lost)


def test_a_journal_that_cannot_be_read_costs_no_other(trained: Path) -> None:
    repo = Repository.open(trained)
    broken = write_commits(repo, [Commit("x", (), {"steps/0000.json": b"{", "state.json": b"[]"})])[0].commit
    git(trained, "update-ref", "refs/skillgit/runs/greeter/00-broken", broken)
    before = listing(trained, "evals")
    git(trained, "update-ref", "-d", notes.EVALS)
    assert kinds(trained) == ["journal", "restored"]
    assert listing(trained, "evals") == before


def _write(folder: Path, name: str, text: str) -> None:
    path = folder / ".git/note.txt"
    path.write_text(text)
    blob = git(folder, "hash-object", "-w", str(path))
    git(folder, "notes", "--ref=skillgit/evals", "add", "--force", "-C", blob, name)


def test_a_step_that_cannot_be_read_costs_no_other_step(trained: Path) -> None:
    ref, tip = git(trained, "for-each-ref", "--format=%(refname) %(objectname)", "refs/skillgit/runs").split()
    repo = Repository.open(trained)
    broken = write_commits(repo, [Commit("x", (tip,), {"steps/0002.json": b"{"})])[0].commit
    git(trained, "update-ref", ref, broken)
    before = listing(trained, "evals")
    for kind in ("evals", "results"):
        git(trained, "update-ref", "-d", f"refs/notes/skillgit/{kind}")
    assert kinds(trained) == ["journal", "restored"]
    after = listing(trained, "evals")
    assert 0 < sum(map(len, after.values())) < sum(map(len, before.values()))
