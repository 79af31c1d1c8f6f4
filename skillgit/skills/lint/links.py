"""Checks of where a skill's texts lead: relative links, and files that are named in passing."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from skillgit.skills.lines import next_line
from skillgit.skills.lint.case import MAIN, Case
from skillgit.skills.lint.page import Hit, Page
from skillgit.skills.lint.rules import Policy

_INLINE = re.compile(r"\]\([ \t]*(<[^<>\n]{1,1000}>|[^\s()<>]{1,1000}(?:\([^\s()<>]{0,200}\)[^\s()<>]{0,1000})?)")
_DEFINED = re.compile(r"^ {0,3}\[[^\]\n^][^\]\n]{0,200}\]:[ \t]*(<[^<>\n]{1,1000}>|[^\s<>]{1,1000})", re.MULTILINE)
_NAMED = re.compile(
    r"(?<![\w./@~$}>*-])(?:\./)?((?:references|scripts|assets)/(?:[\w-]+/){0,6}[\w.-]{0,100}\w\.[A-Za-z][A-Za-z0-9]{0,4})"
    r"(?![\w/*{<\[(-]|\.\w)"
)
_ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|#")
_TEMPLATE = re.compile(r"[{}<>$*|\\]|\.\.\.|…")
_EXAMPLE = re.compile(r"\b(?:examples?|e\.g\.|such as|for instance|would|could|may|like)(?!\w)", re.IGNORECASE)
_MATERIAL = frozenset(("assets", "scripts", "templates", "examples"))
_FOLDERS = ("references", "scripts", "assets")


def check_links(case: Case, policy: Policy) -> Iterator[Hit]:  # noqa: ARG001 - the shape of a check
    """Broken links, links out of the skill, named files that are missing, and files that are linked too deep."""
    targets = {page.path: list(_targets(page)) for page in case.pages if _is_read(page)}
    main = targets.get(case.main.path, []) if case.main else []
    direct = {place for _, path in main if case.main and (place := _place(case, case.main, path))}
    for page in case.pages:
        if page.path in targets:
            for offset, path in targets[page.path]:
                yield from _judge(case, page, offset, path, direct)
            yield from _named(case, page)


def _is_read(page: Page) -> bool:
    """True for Markdown that instructs. Under assets/ and the like it is material, whose links are of another place."""
    return page.is_markdown and _MATERIAL.isdisjoint(page.path.split("/")[:-1])


def _targets(page: Page) -> Iterator[tuple[int, str]]:
    """Offset and path of every relative link."""
    text = page.visible
    patterns = ((_INLINE, "]("), (_DEFINED, "]:"))
    for pattern in (pattern for pattern, sign in patterns if sign in text):
        for match in pattern.finditer(text):
            target = match[1].strip("<>")
            if _ELSEWHERE.match(target) or _TEMPLATE.search(target) or page.is_code(match.start()):
                continue
            path = _decoded(target.partition("#")[0].partition("?")[0])
            # `[text](url)` shows how a link is written.
            if path and ("." in path or "/" in path):
                yield match.start(1), path


def _decoded(path: str) -> str:
    if "%" not in path:
        return path
    from urllib.parse import unquote

    return unquote(path)


def _places(page: Page, path: str) -> tuple[str, str]:
    """The path seen from the skill's folder, as the format has it, and from the file, as Markdown has it."""
    beside = posixpath.join(posixpath.dirname(page.path), path)
    return posixpath.normpath(path), posixpath.normpath(beside)


def _is_outside(place: str) -> bool:
    return place == ".." or place.startswith(("../", "/"))


def _place(case: Case, page: Page, path: str) -> str | None:
    """The file or folder of the skill that a link leads to."""
    return next((place for place in _places(page, path) if place in case.paths or place == "."), None)


def _judge(case: Case, page: Page, offset: int, path: str, direct: set[str]) -> Iterator[Hit]:
    found = _place(case, page, path)
    if found is not None:
        if page is not case.main and found.lower().endswith(".md") and found not in {*direct, page.path, MAIN}:
            yield page.hit("deep-reference", offset, f"{found} is linked from {page.path} and not from SKILL.md")
    elif case.skill.is_bare or all(map(_is_outside, _places(page, path))):
        yield page.hit("link-outside", offset, f"{path} is outside the skill")
    else:
        near = _near(case, page, path)
        yield page.hit("broken-link", offset, f"{path} is not there", fix=f"write it as {near}" if near else "")


def _near(case: Case, page: Page, path: str) -> str:
    """The file whose name differs only in case."""
    wanted = {place.casefold() for place in _places(page, path)}
    return next((known for known in sorted(case.paths) if known.casefold() in wanted), "")


def _named(case: Case, page: Page) -> Iterator[Hit]:
    """Files named in text; only in folders that the skill has, since else the path may be one of the user's project."""
    folders = [folder for folder in _FOLDERS if folder in case.paths and f"{folder}/" in page.text]
    if not folders:
        return
    seen: set[str] = set()
    for match in _NAMED.finditer(page.visible, page.doc.body_start):
        path = match[1]
        linked = page.visible[: match.start()].endswith(("](", "]: ", "](./"))
        if path in seen or linked or path.partition("/")[0] not in folders or _TEMPLATE.search(path):
            continue
        seen.add(path)
        line = page.text[page.text.rfind("\n", 0, match.start()) + 1 : next_line(page.text, match.end())]
        if not _EXAMPLE.search(line) and not any(place in case.paths for place in _places(page, path)):
            yield page.hit("missing-file", match.start(1), f"{path} is not there")
