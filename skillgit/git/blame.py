"""Which commit wrote each line of a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from skillgit.errors import GitError
from skillgit.git.repository import Repository

_LAST_SECOND = 253402300799  # of the year 9999; git takes times that no calendar holds


@dataclass(frozen=True)
class Line:
    """One line: its number in the file, the commit that wrote it, its number there, its text without line feed."""

    number: int
    commit: str
    source: int
    text: str


@dataclass(frozen=True)
class Origin:
    """A commit that wrote lines of the file.

    Attributes:
        date: of authorship, `YYYY-MM-DD`, UTC.
        path: of the file in this commit.
        before: `COMMIT:PATH` of the file just before it; empty when this commit added the file.
    """

    commit: str
    author: str
    date: str
    subject: str
    path: str
    before: str = ""


def blame(repo: Repository, revision: str, path: str, lines: str = "") -> tuple[tuple[Line, ...], dict[str, Origin]]:
    """Lines of a file with the commits that wrote them; lines that are not committed have the null id.

    Args:
        revision: empty for the file as it is in the working tree.
        lines: `FIRST,LAST`, as `git blame -L` takes it; empty for all.

    Raises:
        GitError: there is no such file, or no such line.
    """
    args = ["--porcelain", "--no-textconv", "--encoding=UTF-8", *(["-L", lines] if lines else [])]
    # Revisions come resolved, so that they cannot be taken for options.
    try:
        out = repo.git.run("-c", "core.quotePath=false", "blame", *args, *([revision] if revision else []), "--", path)
    except GitError as error:
        if not lines:
            raise
        raise GitError(f"there are no lines {lines}", why=error.why, fix="leave out -L to see all lines") from error
    return _parse(out.decode("utf-8", "replace").split("\n"))


def _parse(rows: Sequence[str]) -> tuple[tuple[Line, ...], dict[str, Origin]]:
    lines: list[Line] = []
    facts: dict[str, dict[str, str]] = {}
    commit = number = source = ""
    for row in rows:
        if row.startswith("\t"):
            lines.append(Line(int(number), commit, int(source), row[1:]))
            commit = ""
        elif not commit and row:
            commit, source, number = row.split(" ")[:3]
            facts.setdefault(commit, {})
        elif row:
            name, _, value = row.partition(" ")
            facts[commit].setdefault(name, value)
    return tuple(lines), {commit: _origin(commit, found) for commit, found in facts.items()}


def _origin(commit: str, facts: dict[str, str]) -> Origin:
    date = datetime.fromtimestamp(min(int(facts["author-time"]), _LAST_SECOND), UTC).strftime("%Y-%m-%d")
    before = facts.get("previous", "").replace(" ", ":", 1)
    return Origin(commit, facts["author"], date, facts["summary"], facts["filename"], before)
