"""What `init` sets in a repository, and what `doctor` checks: each item once, as data."""

from __future__ import annotations

import os
import shlex
import sys
from dataclasses import dataclass

from skillgit.git import notes
from skillgit.git.repository import Repository

# A line of its own for the merge: lines of older versions stay as they are, and git adds up what the lines say.
_ATTRIBUTES = (
    "skills/**/*.md text eol=lf diff=markdown",
    "evals/**/*.jsonl text eol=lf",
    "skills/**/SKILL.md merge=skillgit",
    "skills/*.md merge=skillgit",
    ".agents/skills/**/SKILL.md merge=skillgit",
    ".claude/skills/**/SKILL.md merge=skillgit",
)

_DRIVER = "merge.skillgit.driver"


@dataclass(frozen=True)
class Setting:
    """One value in the repository's configuration.

    Attributes:
        shared: the key may hold values of others beside ours.
        short: what to show of a long value.
    """

    key: str
    value: str
    why: str
    shared: bool = False
    short: str = ""

    @property
    def shown(self) -> str:
        """Key and value for a person."""
        return f"{self.key} = {self.short or self.value}"


def driver_command(python: str) -> str:
    """The shell command by which git merges a skill, run by the Python interpreter at a path.

    It needs no PATH, and imports nothing from the folder it runs in, which is a repository that may hold anything. When
    the interpreter or skillgit in it is gone, git's text merge takes over: otherwise git would show a conflict whose
    file has no markers and lacks one side.
    """
    program = shlex.quote(python).replace("%", "%%")
    merge = f"{program} -P -m skillgit merge-driver %O %A %B %L %P"
    text = "git merge-file -L ours -L base -L theirs --marker-size=%L %A %O %B"
    say = "echo skillgit cannot run, see skillgit doctor: text merge of %P >&2"
    return f"{merge}; case $? in 0) ;; 7) exit 1 ;; *) {say}; {text} || exit 1 ;; esac"


# No `merge.skillgit.recursive`: crossing merge bases are merged by the same driver. With `binary` the older base would
# stand for them, and a rule that one side deleted since would come back from the other side as a new one.
SETTINGS = (
    Setting("notes.displayRef", notes.GATES, "git log shows gate lines", shared=True),
    Setting("notes.rewriteRef", notes.GATES, "gate lines survive amend and rebase", shared=True),
    Setting("notes.skillgit/evals.mergeStrategy", "cat_sort_uniq", "records of two clones are united"),
    Setting("notes.skillgit/results.mergeStrategy", "cat_sort_uniq", "results of two clones are united"),
    Setting("notes.skillgit/gates.mergeStrategy", "cat_sort_uniq", "gate lines of two clones are united"),
    Setting("merge.skillgit.name", "skills by section and rule", "git names the driver"),
    Setting(_DRIVER, driver_command(sys.executable), "skills are merged rule by rule", short="skillgit merge-driver …"),
)


def is_set(repo: Repository, setting: Setting) -> bool:
    """True when the repository's own configuration holds the value; the driver may be run by another interpreter."""
    values = repo.git.text("config", "--local", "--get-all", setting.key, ok=(0, 1)).splitlines()
    return setting.value in values or (setting.key == _DRIVER and any(_runs(value) for value in values))


def _runs(command: str) -> bool:
    """True for a driver command as we write it whose interpreter is there."""
    try:
        python = shlex.split(command)[0].replace("%%", "%")
    except (ValueError, IndexError):
        return False
    return command == driver_command(python) and os.access(python, os.X_OK)


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
