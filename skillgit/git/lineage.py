"""The versions of a skill that lie between two commits, as a graph that keeps merges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from skillgit.errors import GitError
from skillgit.git.history import parents
from skillgit.git.objects import read_blobs, resolve_many
from skillgit.git.repository import Repository
from skillgit.git.skillstore import Place


@dataclass(frozen=True)
class Node:
    """One version: the commit that made it, its skill object, and the numbers of the versions it was made from."""

    commit: str
    object: str
    parents: tuple[int, ...] = ()


@dataclass(frozen=True)
class Lineage:
    """Versions in topological order: the first is the one of the older commit, the last that of the newer one.

    Attributes:
        left_out: commits on the way whose skill is missing or is not UTF-8 text; they are passed over.
    """

    nodes: tuple[Node, ...]
    left_out: tuple[str, ...] = ()


def lineage(repo: Repository, place: Place, old: str, new: str) -> Lineage:
    """The versions on every path from commit `old` to commit `new`, both of which hold the skill.

    A branch that began before `old` is not among them: how well its versions did says nothing about what was lost
    since. The merge that brought it in is.

    Raises:
        GitError: `old` is not an ancestor of `new`.
    """
    if not repo.git.succeeds("merge-base", "--is-ancestor", old, new):
        raise GitError(
            f"{old[:12]} is not an ancestor of {new[:12]}",
            why="only versions that lie between the two can be searched",
            fix=_other_ends(repo, old, new),
        )
    above = _paths(repo, old, new)
    usable = _usable(repo, place, list(above))
    nodes: list[Node] = []
    heads: dict[str, tuple[int, ...]] = {}
    for commit, made_from in above.items():
        from_ = tuple(dict.fromkeys(n for parent in made_from for n in heads.get(parent, ())))
        heads[commit] = _heads(nodes, commit, usable.get(commit), from_)
    left_out = tuple(commit for commit in above if commit not in usable)
    return Lineage(_leading_to(nodes, heads[new][0]), left_out)


def _other_ends(repo: Repository, old: str, new: str) -> str:
    base = repo.git.text("merge-base", old, new, ok=(0, 1)).split("\n")[0].strip()
    if base == new:
        return f"the good one is the later of the two: --good {new[:12]} --bad {old[:12]} if that is what you mean"
    return f"start from where they part: --good {base[:12]}" if base else "give two commits of one history"


def _paths(repo: Repository, old: str, new: str) -> dict[str, tuple[str, ...]]:
    """Commit to parents, from `old` to `new`, parents first."""
    out = repo.git.text("rev-list", "--topo-order", "--reverse", "--parents", "--ancestry-path", f"{old}..{new}")
    rows = [line.split(" ") for line in out.splitlines()]
    return {old: (), **{row[0]: tuple(row[1:]) for row in rows}}


def _usable(repo: Repository, place: Place, commits: list[str]) -> dict[str, str]:
    """Commit to skill object, where there is one with a document that can be read."""
    objects = resolve_many(repo, [f"{commit}:{place.path}" for commit in commits])
    texts = read_blobs(repo, [f"{commit}:{place.document}" for commit in commits])
    found = zip(commits, objects, texts, strict=True)
    return {commit: name for commit, name, text in found if name and text is not None and _is_text(text)}


def _is_text(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _heads(nodes: list[Node], commit: str, name: str | None, from_: tuple[int, ...]) -> tuple[int, ...]:
    """The versions a commit stands for; one that brings a new skill object makes a version of its own."""
    if name is None:
        return from_
    if same := [number for number in from_ if nodes[number].object == name]:
        # Of a merge that took one side as it was, the other side's history is no longer in the text.
        return (same[0],)
    nodes.append(Node(commit, name, from_))
    return (len(nodes) - 1,)


def _leading_to(nodes: list[Node], last: int) -> tuple[Node, ...]:
    """Only the ancestors of one version, numbered anew."""
    kept = {last}
    for number in range(last, -1, -1):
        if number in kept:
            kept.update(nodes[number].parents)
    numbers = {old: new for new, old in enumerate(sorted(kept))}
    return tuple(_renumbered(nodes, numbers))


def _renumbered(nodes: list[Node], numbers: Mapping[int, int]) -> Iterator[Node]:
    for number in numbers:
        node = nodes[number]
        yield Node(node.commit, node.object, tuple(numbers[parent] for parent in node.parents))


def brought(repo: Repository, place: Place, merge: str) -> list[str]:
    """The commits to the skill that a merge brought to its first parent, newest first; none for an ordinary commit."""
    first, *others = parents(repo, merge)
    if not others:
        return []
    where = ("--", f":(top,literal){place.path}")
    return repo.git.text("rev-list", "--no-merges", *others, f"^{first}", *where).split()
