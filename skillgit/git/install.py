"""What `init` sets in a repository, and what `doctor` checks: each item once, as data."""

from __future__ import annotations

from dataclasses import dataclass

from skillgit.git import notes
from skillgit.git.repository import Repository

_ATTRIBUTES = ("skills/**/*.md text eol=lf diff=markdown", "evals/**/*.jsonl text eol=lf")


@dataclass(frozen=True)
class Setting:
    """One value in the repository's configuration; `shared` keys may hold values of others beside ours."""

    key: str
    value: str
    why: str
    shared: bool = False


SETTINGS = (
    Setting("notes.displayRef", notes.GATES, "git log shows gate lines", shared=True),
    Setting("notes.rewriteRef", notes.GATES, "gate lines survive amend and rebase", shared=True),
    Setting("notes.skillgit/evals.mergeStrategy", "cat_sort_uniq", "records of two clones are united"),
    Setting("notes.skillgit/results.mergeStrategy", "cat_sort_uniq", "results of two clones are united"),
    Setting("notes.skillgit/gates.mergeStrategy", "cat_sort_uniq", "gate lines of two clones are united"),
)


def is_set(repo: Repository, setting: Setting) -> bool:
    """True when the repository's own configuration holds the value."""
    return setting.value in repo.git.text("config", "--local", "--get-all", setting.key, ok=(0, 1)).splitlines()


def apply(repo: Repository, setting: Setting) -> None:
    """Set the value; others' values of a shared key stay."""
    how = ("--add",) if setting.shared else ("--replace-all",)
    repo.git.run("config", "--local", *how, setting.key, setting.value)


def missing_attributes(repo: Repository) -> list[str]:
    """Lines that `.gitattributes` should hold and does not; none in a bare repository."""
    if repo.top is None:
        return []
    path = repo.top / ".gitattributes"
    present = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else []
    return [line for line in _ATTRIBUTES if line not in present]


def add_attributes(repo: Repository, lines: list[str]) -> None:
    """Append lines to `.gitattributes`, keeping every byte that is there."""
    assert repo.top is not None
    path = repo.top / ".gitattributes"
    before = path.read_bytes() if path.is_file() else b""
    gap = b"" if not before or before.endswith(b"\n") else b"\n"
    path.write_bytes(before + gap + "".join(f"{line}\n" for line in lines).encode())
