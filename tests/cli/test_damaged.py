"""Notes and journals that someone edited by hand: every reading command says what it can, and never crashes."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillgit.errors import GitError
from skillgit.git.repository import Repository
from skillgit.train import journal
from tests.conftest import git

Edit = Callable[[dict[str, Any]], Any]


def _branch(folder: Path) -> str:
    return git(folder, "for-each-ref", "--format=%(refname:short)", "refs/heads/train")


def _run(folder: Path) -> str:
    return _branch(folder).rpartition("/")[2]


def _rewrite(folder: Path, ref: str, path: str, data: bytes) -> None:
    """A commit on a ref with one file changed, as someone makes it who edits by hand."""
    env = os.environ | {"GIT_INDEX_FILE": str(folder / ".git/by-hand")}

    def call(*args: str, given: bytes = b"") -> str:
        done = subprocess.run(["git", *args], cwd=folder, env=env, input=given, capture_output=True, check=True)
        return done.stdout.decode().strip()

    call("read-tree", ref)
    blob = call("hash-object", "-w", "--stdin", given=data)
    call("update-index", "--add", "--cacheinfo", f"100644,{blob},{path}")
    call("update-ref", ref, call("commit-tree", call("write-tree"), "-p", ref, "-m", "by hand"))


def _edit_note(folder: Path, kind: str, edit: Edit) -> None:
    name = git(folder, "rev-parse", f"{_branch(folder)}:skills/greeter")
    lines = git(folder, "notes", f"--ref=skillgit/{kind}", "show", name).splitlines()
    changed = [json.dumps(edit(json.loads(line))) for line in lines]
    git(folder, "notes", f"--ref=skillgit/{kind}", "add", "-f", "-m", "\n".join(changed), name)


def _edit_step(folder: Path, number: int, edit: Edit) -> str:
    ref = f"refs/skillgit/runs/greeter/{_run(folder)}"
    for path in git(folder, "ls-tree", "--name-only", ref, "steps/").splitlines():
        step = json.loads(git(folder, "show", f"{ref}:{path}"))
        if (step["kind"], step["step"]) == ("step", number):
            changed = edit(step)
            data = changed if isinstance(changed, bytes) else json.dumps(changed).encode()
            _rewrite(folder, ref, path, data)
            return path
    raise AssertionError(f"no step {number}")


def _reading(folder: Path) -> list[tuple[str, ...]]:
    branch, run = _branch(folder), _run(folder)
    return [
        ("log", "greeter", "--graph", "--rejected"),
        ("blame", "greeter", branch),
        ("show", branch),
        ("show", f"{run}:4"),
        ("show", f"{run}:2"),
        ("diff", "main", branch),
        ("diff", "main", branch, "--format", "markdown"),
        ("status",),
        ("best", "greeter"),
    ]


def _set(**values: Any) -> Edit:
    return lambda record: record | values


def _without(key: str) -> Edit:
    return lambda record: {name: value for name, value in record.items() if name != key}


NOTES = [
    ("evals", _set(hard=[1])),
    ("evals", _set(score={"a": 1})),
    ("evals", _set(n="many")),
    ("evals", _set(gate=["accept"])),
    ("evals", _set(gate={"verdict": 5, "base_score": "x"})),
    ("evals", _set(bound={})),
    ("evals", _set(weight=None, metric="mixed")),
    ("evals", _without("soft")),
    ("evals", _without("skill")),
    ("results", _set(tasks=5)),
    ("results", _set(tasks={"val1": {"hard": 1.0}})),
    ("results", _set(tasks={"val1": [1.0, 1.0]})),
    ("results", _set(tasks={"val1": {"hard": "1", "soft": None}})),
    ("results", _set(record=["r"])),
]


@pytest.mark.parametrize(("kind", "edit"), NOTES)
def test_a_note_with_wrong_values_counts_as_not_there(trained: Path, skillgit, kind: str, edit: Edit) -> None:
    _edit_note(trained, kind, edit)
    for command in _reading(trained):
        code, _, err = skillgit(trained, *command)
        assert (code, "unexpected" in err) == (0, False), (command, err)
    scores = json.loads(skillgit(trained, "diff", "main", _branch(trained), "--json")[1])["skills"][0]["scores"]["val"]
    if kind == "evals":
        assert (scores["problem"], scores["after"]) == ("after unmeasured", None)
    else:
        assert (scores["change"], scores["tasks_known"]) == (1.0, False)


@pytest.mark.parametrize(
    "edit",
    [
        lambda _: b"{",
        lambda _: b"null",
        lambda _: b'"text"',
        lambda _: b"\xff\xfe",
        _without("kind"),
        _without("epoch"),
        _set(step="four"),
        _set(commit=["x"]),
        _set(record="x"),
        _set(edits=5),
        _set(patterns=[None]),
        _set(gate=[1]),
    ],
)
def test_a_damaged_step_is_named_and_costs_no_other_one(trained: Path, skillgit, edit: Edit) -> None:
    path = _edit_step(trained, 4, edit)
    for command in _reading(trained):
        if command != ("show", f"{_run(trained)}:4"):
            code, _, err = skillgit(trained, *command)
            assert (code, "unexpected" in err) == (0, False), (command, err)
    code, _, err = skillgit(trained, "show", f"{_run(trained)}:4")
    assert code == 4
    assert f"{path} of run {_run(trained)} cannot be read" in err
    code, out, err = skillgit(trained, "log", "greeter", "--rejected")
    assert err.count("cannot be read") == 1
    assert f"git log -p refs/skillgit/runs/greeter/{_run(trained)} -- {path}" in err
    assert out.count("  reject  ") == 2, "the candidates of the other steps are there"
    found = json.loads(skillgit(trained, "blame", "greeter", _branch(trained), "--json")[1])
    assert [(part["run"], part["file"]) for part in found["unreadable"]] == [(_run(trained), path)]
    assert [commit["reasoning"] is None for commit in found["commits"].values() if commit["step"] == 4] == [True]
    assert [commit["reasoning"] is None for commit in found["commits"].values() if commit["step"] == 1] == [False]


def test_a_candidate_without_a_title_is_listed_all_the_same(trained: Path, skillgit) -> None:
    _edit_step(trained, 2, lambda step: {**_without("tokens")(step), "title": None})
    code, out, err = skillgit(trained, "log", "greeter", "--rejected")
    assert code == 0, err
    assert f"{_run(trained)}:2" in out


def test_an_id_cut_too_short_is_not_guessed(trained: Path, skillgit) -> None:
    names = ["abcd" * 10, "abcd" + "0" * 36]
    for number, name in zip((2, 4), names, strict=True):
        _edit_step(trained, number, lambda step, name=name: step | {"record": step["record"] | {"skill": name}})
    code, _, err = skillgit(trained, "show", "abcd")
    assert code == 4
    assert all(name in err for name in names)
    assert skillgit(trained, "show", "abcda")[0] == 0


def test_who_needs_every_step_is_told_which_one_is_damaged(trained: Path) -> None:
    path = _edit_step(trained, 4, lambda _: b"{")
    repo = Repository.open(trained)
    tip = git(trained, "rev-parse", f"refs/skillgit/runs/greeter/{_run(trained)}")
    with pytest.raises(GitError, match=path):
        journal.steps(repo, tip)
    found = journal.read_steps(repo, tip)
    assert list(found.unreadable) == [path]
    assert path not in found.records


@pytest.mark.parametrize("usage", [5, ["x"], [{"role": "target"}], [{"role": "a", "stage": [], "calls": 1}]])
def test_a_state_whose_usage_is_no_usage_leaves_the_step_without_it(trained: Path, skillgit, usage: Any) -> None:
    ref = f"refs/skillgit/runs/greeter/{_run(trained)}"
    state = json.loads(git(trained, "show", f"{ref}:state.json"))
    _edit_step(trained, 4, _set(note="touched"))
    _rewrite(trained, ref, "state.json", json.dumps(state | {"usage": usage}).encode())
    assert skillgit(trained, "show", f"{_run(trained)}:4")[0] == 0
    code, _, err = skillgit(trained, "best", "greeter", "--run", _run(trained))
    assert (code, "unexpected" in err) in ((0, False), (4, False))


@pytest.mark.parametrize("wrong", [{"best": 5}, {"path": ["x"]}, {"tick": "x"}, {"initial": {"commit": None}}])
def test_a_state_of_another_shape_is_a_journal_that_cannot_be_read(trained: Path, skillgit, wrong: Any) -> None:
    ref = f"refs/skillgit/runs/greeter/{_run(trained)}"
    state = json.loads(git(trained, "show", f"{ref}:state.json"))
    _rewrite(trained, ref, "state.json", json.dumps(state | wrong).encode())
    code, _, err = skillgit(trained, "best", "greeter")
    assert code == 4
    assert "no journal of greeter can be read" in err
    assert skillgit(trained, "log", "greeter")[0] == 0
