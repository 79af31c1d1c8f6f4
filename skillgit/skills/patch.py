"""Changes as people read them: a diff git can apply, and a phrase for a commit subject."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable, Iterator

from skillgit.skills.document import Document
from skillgit.skills.edits import Edit, EditResult
from skillgit.skills.lines import split_lines
from skillgit.skills.markers import strip_markers

_WIDTH = 60
_VERBS = {"append": "add", "insert_after": "add", "replace": "reword", "delete": "remove"}
_ESCAPES = dict(zip(b'\a\b\t\n\v\f\r"\\', (r"\a", r"\b", r"\t", r"\n", r"\v", r"\f", r"\r", r"\"", r"\\"), strict=True))
_LEADS = re.compile(r"^(?:#{1,6}\s+|[-*+]\s+|\d+[.)]\s+|>\s*|\[[ xX]\]\s+|[|`~=_*-]+(?=\s|$))+")


def unified_diff(path: str, before: Document, after: Document) -> str:
    """The change as a patch that `git apply` accepts; empty when there is none.

    Args:
        path: of the file, from the repository's root, with `/`.
        before: an empty document makes a patch that creates the file.
    """
    if before.text == after.text:
        return ""
    old, new = _quoted(f"a/{path}"), _quoted(f"b/{path}")
    head = f"diff --git {old} {new}\n"
    if not before.text:
        head += "new file mode 100644\n"
    hunks = difflib.unified_diff(
        _git_lines(before.text),
        _git_lines(after.text),
        "/dev/null" if not before.text else _name(old),
        _name(new),
    )
    return head + "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in hunks)


def describe(changes: Iterable[Edit | EditResult], width: int = _WIDTH) -> str:
    """A short imperative phrase for what the changes do, on one line; results that were not applied do not count.

    Returns:
        At most `width` characters (not fewer than 24), such as `add "Write dates as YYYY-MM-DD" and 2 more`; empty
        without changes.
    """
    edits = list(_applied(changes))
    if not edits:
        return ""
    verb = _VERBS[edits[0].op]
    more = f" and {len(edits) - 1} more" if len(edits) > 1 else ""
    words = _words(edits[0].content if verb == "add" else edits[0].target)
    if not words:
        return f"{verb} text{more}"
    room = max(width, 24) - len(verb) - len(more) - 3
    return f'{verb} "{_shortened(words, room)}"{more}'


def _git_lines(text: str) -> list[str]:
    """Lines as git counts them: only LF ends one."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _quoted(path: str) -> str:
    """A path as git writes it: quoted like a C string when it holds quotes, backslashes, controls or non-ASCII."""
    data = path.encode("utf-8")
    plain = all(0x20 <= byte < 0x7F and byte not in b'"\\' for byte in data)
    # A name like `x b/y` could end in two places in the header line; git copes, unidiff does not.
    if plain and " b/" not in path:
        return path
    quoted = "".join(_ESCAPES.get(byte) or _plain(byte) for byte in data)
    return f'"{quoted}"'.replace(" b/", r"\040b/")


def _plain(byte: int) -> str:
    return chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}"


def _name(quoted: str) -> str:
    """A tab after a name with spaces keeps readers from taking the rest for a timestamp, as git does."""
    return f"{quoted}\t" if " " in quoted else quoted


def _applied(changes: Iterable[Edit | EditResult]) -> Iterator[Edit]:
    for change in changes:
        if isinstance(change, Edit):
            yield change
        elif change.outcome == "applied":
            yield change.edit


def _words(text: str) -> str:
    """The first line that says something, without Markdown marks, controls and double quotes."""
    for line in split_lines(strip_markers(text)):
        visible = "".join(" " if unicodedata.category(char)[0] in "CZ" else char for char in line)
        words = _LEADS.sub("", " ".join(visible.split()), count=1)
        if words := words.replace('"', "'").rstrip(" #.:;,"):
            return words
    return ""


def _shortened(words: str, room: int) -> str:
    if len(words) <= room:
        return words
    cut = words[: room - 1]
    # Break between words unless that would lose most of the text.
    whole = cut.rpartition(" ")[0]
    return (whole if len(whole) > room // 2 else cut).rstrip(" .:;,") + "…"
