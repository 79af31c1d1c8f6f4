"""Objects go in and out byte for byte, whatever their paths, and nothing else of the repository changes."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from skillgit.errors import GitError
from skillgit.git.objects import (
    Commit,
    Entry,
    contained,
    inside,
    list_tree,
    read_blob,
    read_blobs,
    resolve_many,
    write_commits,
)
from skillgit.git.repository import Repository
from tests.conftest import git
from tests.git.helpers import user_state

names = st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=12)
paths = st.lists(names, min_size=1, max_size=3).map("/".join).filter(inside)


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.dictionaries(paths, st.binary(max_size=40), min_size=1, max_size=4))
@example({"a\rb": b"\r\n", 'q"\\': b"", "\u2028": b"\0", "tab\t": b"x"})
@example({"ends with\r": b"x", "ends with": b"y"})
@example({os.fsdecode(b"\xff\xfe"): b"not UTF-8"})
def test_files_come_back_as_they_were(repo: Repository, files: dict[str, bytes]) -> None:
    # A folder cannot also be a file.
    files = {path: data for path, data in files.items() if not any(other.startswith(f"{path}/") for other in files)}
    written = write_commits(repo, [Commit("x", (), files)], list(files))[0]
    listed = list_tree(repo, written.commit)
    assert set(listed) == set(files)
    assert dict(written.at) == listed
    plain = [path for path in files if "\n" not in path and not path.endswith("\r")]
    assert read_blobs(repo, [f"{written.commit}:{path}" for path in plain]) == [files[path] for path in plain]
    assert read_blobs(repo, list(listed.values())) == [files[path] for path in listed]


@pytest.mark.parametrize(
    "path", ["", "/", "/etc/passwd", "..", "../x", "a/../b", "a/..", ".", "./a", "a/", "a//b", ".git", "x/.GIT/y", "\0"]
)
def test_a_path_outside_is_refused_before_git_is_asked(repo: Repository, path: str) -> None:
    with pytest.raises(GitError, match="not inside the repository"):
        contained(path)
    with pytest.raises(GitError, match="not inside the repository"):
        write_commits(repo, [Commit("x", (), {path: b"x"})])


def test_writing_moves_nothing_and_leaves_no_trace_but_objects(repo: Repository) -> None:
    before = user_state(repo.root), repo.refs()
    files = sorted(path.name for path in repo.common_dir.iterdir())
    write_commits(repo, [Commit("one", (), {"a": b"1"}), Commit("two", (repo.commit("HEAD"),), {"b": b"2"})])
    assert (user_state(repo.root), repo.refs()) == before
    assert sorted(path.name for path in repo.common_dir.iterdir()) == files


def test_a_commit_starts_from_its_first_parents_tree(repo: Repository) -> None:
    head = repo.commit("HEAD")
    side = write_commits(repo, [Commit("side", (), {"side": b"s"})])[0].commit
    files = {
        "skills/greeter": None,
        "evals/x": Entry("100755", git(repo.root, "rev-parse", "HEAD:script.json")),
        "copied": git(repo.root, "rev-parse", "HEAD:evals/greeter"),
    }
    merged = write_commits(repo, [Commit("m", (head, side), files)], ["copied", "skills/greeter", "evals/x"])[0]
    assert git(repo.root, "log", "-1", "--format=%P", merged.commit).split() == [head, side]
    assert git(repo.root, "diff", "--name-status", "--no-renames", head, merged.commit).split() == [
        *("A", "copied/test.jsonl", "A", "copied/train.jsonl", "A", "copied/val.jsonl"),
        *("A", "evals/x", "D", "skills/greeter/SKILL.md"),
    ]
    assert set(merged.at) == {"copied", "evals/x"}


@pytest.mark.parametrize("message", ["", "x", "subject\n\nbody\n", "ünï\n", "#hash\n", "a\r\nb", "\n\nlate\n"])
def test_messages_are_kept_as_they_are(repo: Repository, message: str) -> None:
    commit = write_commits(repo, [Commit(message)])[0].commit
    assert repo.git.run("cat-file", "commit", commit).partition(b"\n\n")[2] == message.encode()


def test_a_failed_write_says_what_git_said(repo: Repository) -> None:
    with pytest.raises(GitError, match="git fast-import failed"):
        write_commits(repo, [Commit("x", ("1" * 40,), {})])


def test_what_is_not_there_or_no_blob_reads_as_none(repo: Repository) -> None:
    asked = ["HEAD:nope", "nope:nope", "HEAD:skills", "HEAD:script.json", "HEAD:a b 5", "0" * 40, "HEAD"]
    found = read_blobs(repo, asked)
    assert [blob is not None for blob in found] == [False, False, False, True, False, False, False]
    assert read_blob(repo, os.fsdecode(b"HEAD:\xff")) is None
    assert read_blobs(repo, []) == []
    assert resolve_many(repo, []) == []
    head = git(repo.root, "rev-parse", "HEAD")
    assert resolve_many(repo, ["HEAD", "nope", os.fsdecode(b"HEAD:\xff")]) == [head, None, None]


@pytest.mark.parametrize("revision", ["HEAD:a\nHEAD:script.json", "HEAD:script.json\r", "HEAD:script.json\n"])
def test_a_line_break_never_makes_another_question(repo: Repository, revision: str) -> None:
    for ask in (read_blobs, resolve_many):
        with pytest.raises(GitError, match="line break"):
            ask(repo, [revision])


def test_an_ambiguous_id_is_no_object(repo: Repository) -> None:
    for content in (b"142", b"784"):
        repo.git.run("hash-object", "-w", "--stdin", data=content)
    assert resolve_many(repo, ["8324"]) == [None]
    assert read_blobs(repo, ["8324"]) == [None]
