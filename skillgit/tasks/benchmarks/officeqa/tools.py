"""What the target may do with the documents of a question: list them, read lines, look for words."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from skillgit.tasks.benchmarks.officeqa.corpus import Corpus
from skillgit.tasks.toolloop import CLIP, Tool, ToolError

_MATCHES, _HITS, _LINES = 50, 20, 80
_WIDEST = 400  # characters of one found line


class Shelf:
    """The documents of one question; nothing else can be reached through it.

    Args:
        names: those of the collection that it may look into.
    """

    def __init__(self, corpus: Corpus, names: Sequence[str]) -> None:
        self._corpus, self._names = corpus, list(names)

    def tools(self) -> tuple[Tool, ...]:
        """`glob`, `read` and `grep`."""
        text, whole = {"type": "string", "maxLength": 300}, {"type": "integer", "minimum": 1}
        return (
            Tool(
                "glob",
                "List the documents whose path fits a pattern such as *1941*.",
                {"pattern": text},
                ("pattern",),
                self._glob,
            ),
            Tool(
                "read",
                f"Read lines of one document: {_LINES} from `start` on, or `limit` of them, up to {CLIP} characters.",
                {"path": text, "start": whole, "limit": whole},
                ("path",),
                self._read,
            ),
            Tool(
                "grep",
                f"Find the lines of one document that hold a text as it stands, in either case: the first {_HITS}.",
                {"pattern": text, "path": text},
                ("pattern", "path"),
                self._grep,
            ),
        )

    def _glob(self, arguments: Mapping[str, Any]) -> str:
        pattern = arguments["pattern"].removeprefix("./").removeprefix("**/")
        found = [
            name for name in self._names if fnmatchcase(name, pattern) or fnmatchcase(posixpath.basename(name), pattern)
        ]
        if not found:
            return "no document fits"
        more = f"\n[and {len(found) - _MATCHES} more]" if len(found) > _MATCHES else ""
        return "\n".join(found[:_MATCHES]) + more

    def _read(self, arguments: Mapping[str, Any]) -> str:
        name, start = self._one(arguments["path"]), arguments.get("start", 1)
        lines = self._corpus.lines(name)
        if start > len(lines):
            raise ToolError(f"{name} has {len(lines)} lines")
        wanted = lines[start - 1 : start - 1 + arguments.get("limit", _LINES)]
        text, shown = _fitting(wanted)
        return f"[{name}, lines {start} to {start + shown - 1} of {len(lines)}]\n{text}"

    def _grep(self, arguments: Mapping[str, Any]) -> str:
        name, pattern = self._one(arguments["path"]), arguments["pattern"].casefold()
        if not pattern.strip():
            raise ToolError("the pattern is blank")
        found = [
            f"{n}: {_short(line, pattern)}"
            for n, line in enumerate(self._corpus.lines(name), 1)
            if pattern in line.casefold()
        ]
        if not found:
            return f"no line of {name} holds it"
        more = f"\n[and {len(found) - _HITS} more lines]" if len(found) > _HITS else ""
        return f"[{name}]\n" + "\n".join(found[:_HITS]) + more

    def _one(self, path: str) -> str:
        """The document that is meant: by its path, or by its file name when only one has it."""
        plain = path.strip().replace("\\", "/").removeprefix("./")
        if ".." in plain.split("/"):
            raise ToolError("a path must not lead out of the documents")
        if plain in self._names:
            return plain
        same = [name for name in self._names if posixpath.basename(name) == posixpath.basename(plain)]
        if len(same) == 1 and not plain.startswith("/"):
            return same[0]
        raise ToolError(f"there is no document {path[:100]!r}; list them with glob")


def _fitting(lines: Sequence[str]) -> tuple[str, int]:
    """The first lines that fit one answer, and how many they are; a line that does not fit by itself is cut."""
    room = CLIP - 300
    kept: list[str] = []
    for line in lines:
        if kept and room < len(line):
            break
        kept.append(line if len(line) <= room else f"{line[:room]} [cut]")
        room -= len(kept[-1]) + 1
    return "\n".join(kept), len(kept)


def _short(line: str, pattern: str) -> str:
    """A found line, or what is around the find in one that is very wide."""
    if len(line) <= _WIDEST:
        return line
    at = max(0, line.casefold().find(pattern) - _WIDEST // 2)
    return f"…{line[at : at + _WIDEST]}…"
