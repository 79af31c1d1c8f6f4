"""Notes are sets of lines: whatever git or a person did to a notes tree, lines are found, added once and never lost."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skillgit.git import notes
from skillgit.git.objects import Commit, list_tree, write_commits
from skillgit.git.publish import Publication, publish
from skillgit.git.repository import Repository
from tests.conftest import git

REF = "refs/notes/skillgit/evals"

# Building the tables of Unicode takes a second, once.
relaxed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
text = st.text(st.characters(exclude_categories=()))
values = st.recursive(scalars | text, lambda inner: st.lists(inner) | st.dictionaries(text, inner), max_leaves=8)
records = st.dictionaries(text, values, max_size=5)
lines = st.text(st.characters(codec="utf-8", exclude_characters="\n"), min_size=1).filter(str.strip)


@relaxed
@given(records)
def test_a_record_is_one_line_and_comes_back(record: dict) -> None:
    line = notes.canonical(record)
    assert "\n" not in line
    assert json.loads(line) == record
    assert notes.canonical(json.loads(line)) == line
    line.encode("utf-8")


@relaxed
@given(records, st.randoms(use_true_random=False))
def test_the_order_of_keys_does_not_matter(record: dict, random) -> None:
    keys = list(record)
    random.shuffle(keys)
    assert notes.canonical({key: record[key] for key in keys}) == notes.canonical(record)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_what_json_cannot_say_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        notes.canonical({"score": value})


def test_a_canonical_record_looks_like_this() -> None:
    assert notes.canonical({"b": [1, None], "a": "ü\n\ud800"}) == '{"a":"ü\\n\\ud800","b":[1,null]}'


class Union:
    """Adding lines to a note of a repository that is made once."""

    def __init__(self, repo: Repository) -> None:
        self.repo = repo

    def add(self, tip: str | None, additions: Sequence[str]) -> str | None:
        """The commit after adding, or the old tip when there is nothing new. No ref moves."""
        tips = {REF: tip} if tip else {}
        changed = notes.changes(self.repo, {REF: {"a" * 40: tuple(additions)}}, tips)
        if not changed:
            return tip
        return write_commits(self.repo, [Commit("n", (tip,) if tip else (), changed[REF])])[0].commit

    def read(self, tip: str | None) -> list[str]:
        return notes.read(self.repo, tip, ["a" * 40]).get("a" * 40, []) if tip else []


@pytest.fixture(scope="module")
def union(tmp_path_factory: pytest.TempPathFactory) -> Union:
    folder = tmp_path_factory.mktemp("union")
    git(folder, "init", "--quiet")
    return Union(Repository.open(folder))


@settings(relaxed, max_examples=20)
@given(st.lists(lines, max_size=4), st.lists(lines, max_size=4))
def test_a_union_is_a_set_in_either_order(union: Union, some: list[str], others: list[str]) -> None:
    one = union.add(union.add(None, some), others)
    other = union.add(union.add(None, others), some)
    assert set(union.read(one)) == set(union.read(other)) == {*some, *others}
    assert len(union.read(one)) == len({*some, *others})


@settings(relaxed, max_examples=20)
@given(st.lists(lines, min_size=1, max_size=4))
def test_adding_again_changes_nothing(union: Union, some: list[str]) -> None:
    once = union.add(None, some)
    assert union.add(once, some) == once
    assert union.read(once) == list(dict.fromkeys(some))


# --- trees of any shape


def _write(repo: Repository, depth: int, texts: dict[str, str]) -> None:
    """A notes tree with `depth` levels of folders."""
    files = {}
    for name, content in texts.items():
        cut = [name[2 * n : 2 * n + 2] for n in range(depth)]
        files["/".join([*cut, name[2 * depth :]])] = content.encode()
    commit = write_commits(repo, [Commit("notes", (), files)])[0].commit
    git(repo.root, "update-ref", REF, commit)


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_notes_are_found_at_every_depth(repo: Repository, depth: int) -> None:
    objects = [git(repo.root, "rev-parse", f"HEAD:{path}") for path in ("skills", "evals", "script.json")]
    _write(repo, depth, {name: f'{{"of":"{name}"}}\n' for name in objects[:2]})
    assert git(repo.root, "notes", "--ref=skillgit/evals", "show", objects[0]) == f'{{"of":"{objects[0]}"}}'
    assert notes.read_records(repo, REF, objects) == {name: [{"of": name}] for name in objects[:2]}
    publish(repo, Publication(notes={REF: dict.fromkeys(objects, ('{"new":1}',))}))
    assert notes.read_records(repo, REF, objects) == {
        **{name: [{"of": name}, {"new": 1}] for name in objects[:2]},
        objects[2]: [{"new": 1}],
    }
    # One note per object remains, for git as for us.
    assert len(git(repo.root, "notes", "--ref=skillgit/evals", "list").splitlines()) == 3
    assert len(list_tree(repo, REF)) == 3
    assert git(repo.root, "notes", "--ref=skillgit/evals", "show", objects[0]).splitlines()[-1] == '{"new":1}'


def test_notes_are_found_after_git_reorganised_them(repo: Repository) -> None:
    """git gathers a small tree into one folder and spreads a big one over many."""
    blobs = [
        repo.git.run("hash-object", "-w", "--stdin", data=b"%d" % number).decode().strip() for number in range(160)
    ]
    publish(repo, Publication(notes={REF: {name: (f'{{"n":"{name}"}}',) for name in blobs[:20]}}))
    assert "/" in next(iter(list_tree(repo, REF)))
    git(repo.root, "notes", "--ref=skillgit/evals", "add", "-m", "by hand", "HEAD")
    assert not any("/" in path for path in list_tree(repo, REF))
    assert len(notes.read_records(repo, REF, blobs)) == 20
    publish(repo, Publication(notes={REF: {name: (f'{{"n":"{name}"}}',) for name in blobs}}))
    git(repo.root, "notes", "--ref=skillgit/evals", "append", "-m", "by hand again", "HEAD")
    assert all("/" in path for path in list_tree(repo, REF))
    assert notes.read_records(repo, REF, blobs) == {name: [{"n": name}] for name in blobs}
    assert notes.read(repo, REF, [repo.commit("HEAD")]) == {repo.commit("HEAD"): ["by hand", "by hand again"]}


def test_lines_written_by_hand_are_kept_and_are_no_records(repo: Repository) -> None:
    tree = git(repo.root, "rev-parse", "HEAD:skills/greeter")
    by_hand = ["looks good to me", "[1, 2]", "null", '"text"', "17", '{"half":', "NaN", "[" * 100_000, '{"mine":1}']
    git(repo.root, "notes", "--ref=skillgit/evals", "add", "-F", _file(repo, "\n\n".join(by_hand)), tree)
    publish(repo, Publication(notes={REF: {tree: ('{"id":"x"}',)}}))
    assert notes.read(repo, REF, [tree]) == {tree: [*by_hand, '{"id":"x"}']}
    assert notes.read_records(repo, REF, [tree]) == {tree: [{"mine": 1}, {"id": "x"}]}


def test_bytes_that_are_not_utf8_are_kept(repo: Repository) -> None:
    tree = git(repo.root, "rev-parse", "HEAD:skills/greeter")
    git(repo.root, "notes", "--ref=skillgit/evals", "add", "-F", _file(repo, b"caf\xe9\n\xff\xfe"), tree)
    publish(repo, Publication(notes={REF: {tree: ('{"id":"x"}',)}}))
    blob = git(repo.root, "notes", "--ref=skillgit/evals", "list", tree)
    assert repo.git.run("cat-file", "blob", blob) == b'caf\xe9\n\xff\xfe\n{"id":"x"}\n'


def test_other_files_of_a_notes_tree_are_kept(repo: Repository) -> None:
    commit = write_commits(repo, [Commit("x", (), {"README": b"about\n", "zz/readme": b"more\n"})])[0].commit
    git(repo.root, "update-ref", REF, commit)
    publish(repo, Publication(notes={REF: {repo.commit("HEAD"): ("x",)}}))
    assert {"README", "zz/readme"} < set(list_tree(repo, REF))


def test_objects_without_notes_and_refs_that_do_not_exist_read_as_nothing(repo: Repository) -> None:
    assert notes.read(repo, REF, ["a" * 40]) == {}
    assert notes.read(repo, REF, []) == {}
    assert notes.changes(repo, {}, {}) == {}


def _file(repo: Repository, content: str | bytes) -> str:
    path = repo.common_dir / "note.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


def test_clones_that_measured_apart_unite_with_plain_git(repo: Repository, skillgit) -> None:
    """What `init` sets makes `git notes merge` unite lines."""
    assert skillgit(repo.root, "init")[0] == 0
    tree = git(repo.root, "rev-parse", "HEAD:skills/greeter")
    publish(repo, Publication(notes={REF: {tree: ('{"id":"common"}',)}}))
    git(repo.root, "update-ref", "refs/notes/theirs", REF)
    publish(
        repo, Publication(notes={REF: {tree: ('{"id":"ours"}',)}, "refs/notes/theirs": {tree: ('{"id":"theirs"}',)}})
    )
    git(repo.root, "notes", "--ref=skillgit/evals", "merge", "--quiet", "refs/notes/theirs")
    ids = sorted(record["id"] for record in notes.read_records(repo, REF, [tree])[tree])
    assert ids == ["common", "ours", "theirs"]
