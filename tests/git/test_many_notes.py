"""Reading many notes at once finds the same as reading each by itself."""

from __future__ import annotations

from skillgit.git import notes
from skillgit.git.publish import Publication, publish
from skillgit.git.repository import Repository

REF = "refs/notes/skillgit/evals"
NAMES = [f"{n:040x}" for n in range(1, 120)]


def test_many_notes_are_those_that_are_found_one_by_one(repo: Repository) -> None:
    publish(repo, Publication(notes={REF: {name: (f'{{"n":"{name}"}}',) for name in NAMES[::2]}}))
    many = notes.read(repo, REF, NAMES)
    assert many == {name: lines for name in NAMES for lines in notes.read(repo, REF, [name]).values()}
    assert list(many) == NAMES[::2]


def test_many_notes_of_a_tree_that_does_not_exist_are_none(repo: Repository) -> None:
    assert notes.read(repo, "refs/notes/none", NAMES) == {}


def test_adding_to_many_notes_keeps_each_in_its_place(repo: Repository) -> None:
    publish(repo, Publication(notes={REF: dict.fromkeys(NAMES, ("one",))}))
    publish(repo, Publication(notes={REF: dict.fromkeys(NAMES, ("two",))}))
    assert notes.read(repo, REF, NAMES) == {name: ["one", "two"] for name in NAMES}
    assert len(notes.table(repo, REF)) == len(NAMES)
