"""Two states of a repository side by side, and which of their skills belong together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from skillgit.errors import GitError, SkillError
from skillgit.git import history as git_history
from skillgit.git.objects import Entry, object_id
from skillgit.git.repository import Repository
from skillgit.report.history import place_of
from skillgit.report.safe import one_line

_NAMED = 8  # of the paths that an error names


@dataclass(frozen=True)
class Side:
    """One state of the repository.

    Attributes:
        name: as the user gave it; empty for the working tree.
        commit: `None` for the working tree.
        tree: id of its tree.
        files: path to mode and object, folders included.
        path: of the one skill that was named with the revision (`main:skills/x`); empty for all.
    """

    name: str
    commit: str | None
    tree: str
    files: Mapping[str, Entry]
    path: str = ""

    @property
    def skills(self) -> list[str]:
        """Folders that hold a `SKILL.md`."""
        found = [path for path, entry in self.files.items() if path.endswith("/SKILL.md") and is_file(entry)]
        return [path.removesuffix("/SKILL.md") for path in found]

    def object(self, path: str) -> str | None:
        """Id of what lies at a path."""
        entry = self.files.get(path)
        return str(entry.object) if entry else None


@dataclass(frozen=True)
class Pair:
    """A skill on both sides, by path; empty where it does not exist."""

    before: str
    after: str

    @property
    def path(self) -> str:
        """Where it lies now, or last lay."""
        return self.after or self.before

    @property
    def name(self) -> str:
        """What the skill is called: its folder or its file."""
        return Path(self.path).stem if self.path.endswith(".md") else self.path.rpartition("/")[2]

    @property
    def document(self) -> str:
        """The file that rules stand in."""
        return self.path if self.path.endswith(".md") else f"{self.path}/SKILL.md"

    @property
    def status(self) -> str:
        """`added`, `removed`, `renamed` or `changed`."""
        if not (self.before and self.after):
            return "added" if self.after else "removed"
        return "changed" if self.before == self.after else "renamed"


def sides(repo: Repository, before: str, after: str = "", *, named: str = "") -> tuple[Side, Side]:
    """Both sides of a comparison.

    Args:
        before: a revision, `REVISION:PATH` of one skill, or `A..B` or `A...B` as git takes them.
        after: a revision, or `REVISION:PATH`; empty for the working tree.
        named: a path that counts as a skill in the working tree besides those that hold a `SKILL.md`.
    """
    for dots in ("...", ".."):
        one, found, other = before.partition(dots)
        if found and not after:
            old, new = one or "HEAD", other or "HEAD"
            return side(repo, _fork(repo, old, new) if dots == "..." else old, one), side(repo, new)
    return side(repo, before), side(repo, after) if after else _present(repo, named)


def pairs(repo: Repository, before: Side, after: Side, skill: str = "", cwd: Path | None = None) -> list[Pair]:
    """The named skill, or all that differ; a folder that was renamed is the same skill.

    Raises:
        SkillError: the named skill is on neither side.
    """
    if before.path or after.path:
        return [Pair(_checked(before, before.path or after.path), _checked(after, after.path or before.path))]
    moved = git_history.renames(repo, before.tree, after.tree)
    return [_named(repo, before, after, moved, skill, cwd)] if skill else _changed(before, after, moved)


def named_few(paths: Sequence[str]) -> str:
    """The first of many paths, safe to print, and how many more there are."""
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return ", ".join(map(one_line, paths[:_NAMED])) + more


def _checked(side: Side, path: str) -> str:
    if path not in side.files:
        raise SkillError(f"{side.name or 'the working tree'} has no {path}", fix="git ls-tree -r --name-only REVISION")
    return path.removesuffix("/SKILL.md")


def side(repo: Repository, revision: str, name: str = "") -> Side:
    """A revision as one side; `name` is what to call it instead."""
    start, _, path = revision.partition(":")
    if path and repo.resolve(f"{start}^{{commit}}"):
        revision = start
    else:
        path = ""
    commit = repo.commit(revision)
    tree = repo.resolve(f"{commit}^{{tree}}") or ""
    return Side(name or revision, commit, tree, git_history.listing(repo, tree), path.rstrip("/"))


def parent_side(repo: Repository, commit: str) -> Side:
    """The state before a commit: its first parent, or nothing for a first commit."""
    above = git_history.parents(repo, commit)
    return side(repo, above[0]) if above else Side("", None, object_id(repo, "tree", b""), {})


def _present(repo: Repository, named: str) -> Side:
    tree = git_history.working_tree(repo, named)
    return Side("", None, tree, git_history.listing(repo, tree))


def _fork(repo: Repository, old: str, new: str) -> str:
    base = repo.git.text("merge-base", repo.commit(old), repo.commit(new), ok=(0, 1)).split("\n")[0]
    if not base:
        raise GitError(f"{old} and {new} share no commit", fix=f"skillgit diff {old} {new}")
    return base


def is_file(entry: Entry) -> bool:
    """True for a plain file, executable or not."""
    return entry.mode.startswith("100")


def _changed(before: Side, after: Side, moved: Mapping[str, str]) -> list[Pair]:
    old, new = before.skills, after.skills
    pairs = [Pair(path, path) for path in new if path in old and before.object(path) != after.object(path)]
    gone = [path for path in old if path not in new]
    for path in new:
        if path not in old:
            source = moved.get(f"{path}/SKILL.md", "").removesuffix("/SKILL.md")
            pairs.append(Pair(source if source in gone else "", path))
    renamed = {pair.before for pair in pairs}
    return sorted([*pairs, *(Pair(path, "") for path in gone if path not in renamed)], key=lambda pair: pair.path)


def _named(repo: Repository, before: Side, after: Side, moved: Mapping[str, str], skill: str, cwd: Path | None) -> Pair:
    path = _path(repo, before, after, skill, cwd)
    document = Pair(path, path).document
    cut = "" if document == path else "/SKILL.md"
    if document not in after.files:
        source, target = path, next((new for new, old in moved.items() if old == document), "").removesuffix(cut)
        return Pair(source, target)
    source = path if document in before.files else moved.get(document, "").removesuffix(cut)
    return Pair(source, path)


def _path(repo: Repository, before: Side, after: Side, skill: str, cwd: Path | None) -> str:
    """The path of a named skill: as it is now, else as either side has it."""
    try:
        path = place_of(repo, skill, cwd).path
    except SkillError:
        path = ""
    wanted = skill.rstrip("/").removesuffix("/SKILL.md")
    for state in (after, before):
        if path in state.files:
            return path
        for folder in state.skills:
            if wanted in (folder, folder.rpartition("/")[2]):
                return folder
    raise SkillError(f"no skill {skill!r} on either side", fix="skillgit diff A B lists the skills that differ")
