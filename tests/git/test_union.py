"""The union of notes is a union: in either order, in any grouping, again and again, and no line of a side is lost."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from skillgit.git import notes
from skillgit.git.objects import Commit, write_commits
from skillgit.git.repository import Repository
from skillgit.git.sync.union import difference, united_tree
from tests.conftest import git

NAMES = [f"{n}" * 40 for n in range(3)]

records = st.builds(
    lambda key, at: notes.canonical({"id": key, "at": at}), st.sampled_from("abc"), st.sampled_from(["1", "2"])
)
lines = st.lists(records | st.sampled_from(["by hand", "{", "}", '"a": 1,']), max_size=6).map(
    lambda found: list(dict.fromkeys(found))
)


def same(some: list[str]) -> set[str]:
    return {notes.identity(line) for line in some}


@given(lines, lines, lines)
def test_lines_unite_like_sets(a: list[str], b: list[str], c: list[str]) -> None:
    assert same(notes.united(a, b)) == same(notes.united(b, a)) == same(a) | same(b)
    assert notes.united(a, a) == a
    assert notes.united(notes.united(a, b), b) == notes.united(a, b)
    assert same(notes.united(notes.united(a, b), c)) == same(notes.united(a, notes.united(b, c)))
    assert notes.united(a, b)[: len(a)] == a


def test_trees_of_any_shape_unite(repo: Repository) -> None:
    """Flat, spread, at two depths at once: every object has one note afterwards, with the lines of both sides."""
    flat, spread = {}, {}
    for number, name in enumerate(NAMES):
        flat[name] = notes.encode([f"flat-{number}"])
        spread[f"{name[:2]}/{name[2:]}"] = notes.encode([f"spread-{number}"])
    doubled = flat | {f"{NAMES[0][:2]}/{NAMES[0][2:]}": b"double\n"}
    for mine, theirs in ((flat, spread), (spread, flat), (doubled, spread), (spread, doubled)):
        one, two = (written.commit for written in write_commits(repo, [Commit("x", (), mine), Commit("y", (), theirs)]))
        both = write_commits(repo, [Commit("z", (one, two), united_tree(repo, one, two))])[0].commit
        table = notes.table(repo, both)
        assert {len(paths) for paths in table.values()} == {1}
        expected = {line for side in (mine, theirs) for blob in side.values() for line in blob.decode().split()}
        assert {line for found in notes.read(repo, both, NAMES).values() for line in found} == expected
        assert (difference(repo, both, one).theirs, difference(repo, both, two).theirs) == (0, 0)
        assert difference(repo, one, None).ours == sum(len(blob.split()) for blob in mine.values())


def test_a_record_laid_out_over_lines_is_read_and_kept_as_one(repo: Repository) -> None:
    tree = git(repo.root, "rev-parse", "HEAD:skills/greeter")
    record = {"id": "x", "skill": tree, "target": {"model": "m"}, "tasks": ["a", "b"]}
    text = f"before\n{json.dumps(record, indent=2)}\nafter\n{json.dumps(record | {'id': 'y'}, indent=4)}\n"
    commit = write_commits(repo, [Commit("x", (), {tree: text.encode()})])[0].commit
    assert notes.read(repo, commit, [tree])[tree] == [
        "before",
        notes.canonical(record),
        "after",
        notes.canonical(record | {"id": "y"}),
    ]
