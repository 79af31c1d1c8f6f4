from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from unidiff import PatchSet

from skillgit.skills.document import Document
from skillgit.skills.edits import Edit, EditResult
from skillgit.skills.patch import describe, unified_diff

ENV = {
    **{key: value for key, value in os.environ.items() if not key.startswith("GIT_")},
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}
TEXTS = st.lists(
    st.tuples(st.sampled_from(["a", "b", "", "\ufeffx", "é", "-- c", "++ d", "\\ e", "\x0c", "\u2028f", "@@"]),
              st.sampled_from(["\n", "\r\n", "\r", ""])),
    max_size=30,
).map(lambda parts: "".join(a + b for a, b in parts))  # fmt: skip


def git(repo: Path, *args: str, text: bytes | None = None) -> bytes:
    return subprocess.run(["git", "-C", str(repo), *args], input=text, env=ENV, check=True, capture_output=True).stdout


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("repo")
    git(path, "init", "-q")
    return path


def applied(repo: Path, name: str, before: Document, after: Document) -> bytes:
    file = repo / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    if before.text:
        file.write_bytes(before.encode())
    git(repo, "apply", "--whitespace=nowarn", "-", text=unified_diff(name, before, after).encode())
    return file.read_bytes()


@given(before=TEXTS, after=TEXTS)
@settings(max_examples=150, deadline=None)
def test_git_makes_the_same_bytes(repo: Path, before: str, after: str) -> None:
    old, new = Document(before), Document(after)
    if before == after:
        assert unified_diff("s.md", old, new) == ""
    else:
        assert applied(repo, "s.md", old, new) == new.encode()


@given(before=TEXTS, after=TEXTS)
def test_unidiff_reads_it_back(before: str, after: str) -> None:
    patch = unified_diff("skills/x/SKILL.md", Document(before), Document(after))
    parsed = PatchSet(patch)
    assert len(parsed) == (before != after)
    if before != after:
        assert parsed[0].path == "skills/x/SKILL.md"
        assert parsed[0].is_added_file == (not before)
        assert parsed[0].added == sum(line.startswith("+") for line in patch.split("\n")[4:])


@pytest.mark.parametrize(
    "name", ["a b.md", 'q"uo\\te.md', "é/ü.md", "tab\there.md", "new\nline.md", "-x.md", "bell\x07.md"]
)
@pytest.mark.parametrize("before", ["", "a\r\nb\n"])
def test_paths_are_quoted_as_git_does(repo: Path, name: str, before: str) -> None:
    assert applied(repo, name, Document(before), Document("a\r\nc")) == b"a\r\nc"
    if not before:
        git(repo, "add", "--", name)
        git(repo, "add", "--intent-to-add", "--", name)
        shown = git(repo, "diff", "--cached", "--no-ext-diff", "--", name).decode()
        ours = unified_diff(name, Document(""), Document("a\r\nc"))
        kept = [line for line in shown.split("\n") if not line.startswith("index ")]
        assert kept == ours.split("\n")
    assert len(PatchSet(unified_diff(name, Document(before), Document("c")))) == 1


@pytest.mark.parametrize("before", ["", "a\n"])
def test_path_that_looks_like_two(repo: Path, before: str) -> None:
    old, new = Document(before), Document("c\n")
    assert applied(repo, "a b/c d b/e.md", old, new) == b"c\n"
    assert len(PatchSet(unified_diff("a b/c d b/e.md", old, new))) == 1


def test_emptied_file_stays_a_file(repo: Path) -> None:
    assert applied(repo, "e.md", Document("a\n"), Document("")) == b""


@pytest.mark.parametrize(
    ("edits", "phrase"),
    [
        ([], ""),
        ([Edit("append", "- Write dates as YYYY-MM-DD.\n- More")], 'add "Write dates as YYYY-MM-DD"'),
        ([Edit("insert_after", "\n## Format\ntext", "x")], 'add "Format"'),
        ([Edit("replace", "- Be exact.", "- Be brief.")], 'reword "Be brief"'),
        ([Edit("delete", target="1. [ ] > Old\r\n")], 'remove "Old"'),
        ([Edit("append", "a"), Edit("delete", target="b"), Edit("append", "c")], 'add "a" and 2 more'),
        ([Edit("append", '```\nsay "hi"\x1b[0m\u2028x')], "add \"say 'hi' [0m x\""),
        ([Edit("append", "---\n```\n")], "add text"),
        ([Edit("append", "**Bold** and `code`: - x")], 'add "**Bold** and `code`: - x"'),
        ([Edit("append", "<!-- APPENDIX_START -->\n* a")], 'add "a"'),
        ([Edit("append", "word " * 30)], 'add "word word word word word word word word word word…"'),
    ],
)
def test_phrases(edits: list[Edit], phrase: str) -> None:
    assert describe(edits) == phrase


def test_only_applied_results_count() -> None:
    results = [
        EditResult(Edit("append", "a"), "duplicate", "there"),
        EditResult(Edit("append", "b"), "applied"),
        EditResult(Edit("append", "c"), "unmatched", "gone"),
    ]
    assert describe(results) == 'add "b"'
    assert describe(results[:1]) == ""


@given(st.lists(st.builds(Edit, st.sampled_from(["append", "replace", "delete"]), st.text(), st.text()), max_size=12))
def test_phrases_are_short_single_lines(edits: list[Edit]) -> None:
    phrase = describe(edits)
    assert len(phrase) <= 60
    assert phrase.isprintable()
    assert bool(phrase) == bool(edits)
