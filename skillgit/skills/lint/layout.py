"""Checks of the files themselves: names, links of the file system, sizes, encodings."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Iterable, Iterator

from skillgit.skills.lines import line_number
from skillgit.skills.lint.case import Case
from skillgit.skills.lint.page import Hit
from skillgit.skills.lint.rules import Policy
from skillgit.skills.size import tokens

_MOST_LINES = 500
_SIGNS = re.compile(r'[\x00-\x1f:*?"<>|\\]')
_RESERVED = re.compile(r"(?i:con|prn|aux|nul|com[1-9¹²³]|lpt[1-9¹²³])(?:\..*)?")


def check_files(case: Case, policy: Policy) -> Iterator[Hit]:  # noqa: ARG001 - the shape of a check
    """Encodings, symbolic links and names."""
    yield from case.unread
    for file in case.skill.files:
        if file.link is not None and _leaves(file.path, file.link):
            yield Hit("symlink-outside", file.path, 1, 1, "this symbolic link leads out of the skill")
    for path, other in collisions(case.paths):
        yield Hit("name-collision", path, 1, 1, f"on some systems this is the same file as {other}")
    for path in sorted(case.paths):
        yield from _name(path)


def check_size(case: Case, policy: Policy) -> Iterator[Hit]:
    """Lines and tokens of SKILL.md."""
    page = case.main
    if page is None:
        return
    lines = line_number(page.text, len(page.text.rstrip()))
    if lines >= _MOST_LINES:
        yield page.hit("skill-lines", 0, f"{page.path} has {lines} lines")
    count = tokens(page.text[page.doc.body_start :].strip())
    if 0 < policy.max_body_tokens < count:
        yield page.hit(
            "body-tokens", page.doc.body_start, f"the body takes about {count} tokens of {policy.max_body_tokens}"
        )


def collisions(paths: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Paths that another one of them equals on systems that ignore case or the spelling of accents."""
    seen: dict[str, str] = {}
    for path in sorted(paths):
        folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())
        other = seen.setdefault(folded, path)
        if other != path:
            yield path, other


def _leaves(path: str, link: str) -> bool:
    target = posixpath.normpath(posixpath.join(posixpath.dirname(path), link))
    return link.startswith(("/", "\\")) or link[1:2] == ":" or target == ".." or target.startswith("../")


def _name(path: str) -> Iterator[Hit]:
    name = posixpath.basename(path)
    if name.isascii() and name.replace("-", "").replace(".", "").replace("_", "").isalnum() and name[-1] != ".":
        wrong = f"`{name}` is a reserved name on Windows" if _RESERVED.fullmatch(name) else ""
    elif sign := _SIGNS.search(name):
        wrong = f"`{name}` has the sign U+{ord(sign[0]):04X}, which Windows does not allow"
    elif name[-1] in " .":
        wrong = f"`{name}` ends with a {'dot' if name[-1] == '.' else 'space'}"
    else:
        wrong = ""
        if unicodedata.normalize("NFC", name) != name:
            yield Hit("composed-name", path, 1, 1, f"`{name}` is not in composed form")
    if wrong:
        yield Hit("portable-name", path, 1, 1, wrong)
