"""Checks of the frontmatter: that it can be read, and that its fields are those of the format."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from skillgit.skills.frontmatter import Entries, FlawError, locate, read
from skillgit.skills.lines import BOM, line_start, next_line
from skillgit.skills.lint.case import Case
from skillgit.skills.lint.colons import loose_colons
from skillgit.skills.lint.page import Hit, Page
from skillgit.skills.lint.rules import Policy
from skillgit.skills.size import tokens

FIELDS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_TAB = re.compile(r"[ ]*\t")
_LONGEST = {"name": 64, "description": 1024, "compatibility": 500}


def check_front(case: Case, policy: Policy) -> Iterator[Hit]:
    """Every rule on SKILL.md being there and its frontmatter."""
    page = case.main
    if page is None:
        yield from _absent(case)
        return
    if page.path != case.skill.document:
        yield page.hit("skill-file-name", 0, f"the file is called {page.path}")
    if page.text.startswith(BOM):
        yield page.hit("byte-order-mark", 0, "the file begins with a byte order mark", fixable=True)
    block = locate(page.text)
    if block.unclosed:
        yield page.hit("frontmatter-unclosed", block.start, "the frontmatter is never closed")
    elif block.body_start == block.start:
        # A bare file is found by its own name, and put into a prompt as it is.
        if not case.skill.is_bare:
            yield page.hit("frontmatter-missing", block.start, "the file does not begin with frontmatter")
    else:
        try:
            entries = read(page.text, block)
        except FlawError as flaw:
            yield from _flaw(page, flaw)
        else:
            yield from _fields(case, page, entries, policy)


def _absent(case: Case) -> Iterator[Hit]:
    """Why there is no page to judge; what is no UTF-8 is told elsewhere."""
    file = case.main_file
    if file is None:
        yield Hit("skill-file-missing", case.skill.document, 1, 1, "this folder has no SKILL.md")
    elif file.data is None:
        why = "it is a symbolic link" if file.link is not None else "it is too large, or cannot be read"
        yield Hit("skill-file-unread", file.path, 1, 1, f"{file.path} was not checked: {why}")


def _flaw(page: Page, flaw: FlawError) -> Iterator[Hit]:
    """One rule for each way in which YAML is mostly got wrong."""
    at = flaw.offset
    line = page.text[line_start(page.text, at) : next_line(page.text, at)]
    colons = list(loose_colons(page.text)) if "mapping values" in flaw.why else []
    if colons:
        for colon in colons:
            message = f"the value of `{colon.key}` holds a colon and a space, and is not quoted"
            yield page.hit("unquoted-colon", colon.at, message, fixable=colon.quoted is not None)
    elif "given twice" in flaw.why:
        yield page.hit("duplicate-key", at, flaw.why)
    elif "cannot start any token" in flaw.why and _TAB.match(line):
        yield page.hit("frontmatter-tab", at, "a tab stands where YAML reads indentation")
    else:
        yield page.hit("frontmatter-yaml", at, ": ".join(part for part in (flaw.what, flaw.why) if part), fix=flaw.fix)


def _fields(case: Case, page: Page, entries: Entries, policy: Policy) -> Iterator[Hit]:
    values = entries.values
    yield from _unknown(page, entries, policy)
    yield from _types(page, entries, policy)
    yield from _name(case, page, values.get("name", ""), entries)
    yield from _description(page, values.get("description", ""), entries)
    compatibility = values.get("compatibility")
    if isinstance(compatibility, str) and not 0 < len(compatibility.strip()) <= _LONGEST["compatibility"]:
        size = len(compatibility)
        yield page.hit("compatibility-length", entries.places["compatibility"][1], f"it has {size} characters")
    yield from _always_loaded(page, entries, policy)


def _unknown(page: Page, entries: Entries, policy: Policy) -> Iterator[Hit]:
    allowed = {*FIELDS, *policy.profile.keys}
    for key in entries.values:
        if key not in allowed:
            at = entries.places.get(str(key), (page.doc.body_start, 0))[0]
            message = f"`{key}` is no key of the profile {policy.profile.name}"
            yield page.hit("unknown-key", at, message, fix=_meant(key))


def _meant(key: object) -> str:
    from difflib import get_close_matches

    near = get_close_matches(str(key).lower().replace("_", "-"), FIELDS, 1, 0.8)
    return f"write it as `{near[0]}`" if near else ""


def _types(page: Page, entries: Entries, policy: Policy) -> Iterator[Hit]:
    for key in FIELDS:
        if key not in entries.values:
            continue
        value = entries.values[key]
        if key == "metadata":
            wrong = "" if _is_map_of_texts(value) else "is not a map of texts"
        elif key in policy.profile.lists:
            wrong = (
                "" if isinstance(value, str) or _is_list_of_texts(value) else "is neither a text nor a list of texts"
            )
        else:
            wrong = "" if isinstance(value, str) else f"is {_kind(value)}, not a text"
        if wrong:
            yield page.hit("field-type", entries.places[key][1], f"`{key}` {wrong}", fix=_retyped(key, value))


def _is_map_of_texts(value: object) -> bool:
    return isinstance(value, Mapping) and all(isinstance(text, str) for pair in value.items() for text in pair)


def _is_list_of_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _kind(value: object) -> str:
    return "a list" if isinstance(value, list) else "a map"


def _retyped(key: str, value: object) -> str:
    if key == "allowed-tools" and isinstance(value, list) and _is_list_of_texts(value):
        return f"write: allowed-tools: {' '.join(value)}"
    return "write each key with one text, indented under metadata" if key == "metadata" else ""


def _name(case: Case, page: Page, name: Any, entries: Entries) -> Iterator[Hit]:
    if not isinstance(name, str):
        return
    at = entries.places.get("name", (0, 0))[1]
    if not name.strip():
        yield page.hit("name-missing", at, "the skill has no name", fix=f"add `name: {case.skill.name}`")
        return
    if not _NAME.fullmatch(name):
        yield page.hit("name-format", at, f"`{name}` is not of lowercase letters, digits and single hyphens")
    if len(name) > _LONGEST["name"]:
        yield page.hit("name-length", at, f"the name has {len(name)} characters")
    if case.skill.named and name != case.skill.name:
        yield page.hit("name-folder", at, f"the name is `{name}`, and the folder `{case.skill.name}`")


def _description(page: Page, description: Any, entries: Entries) -> Iterator[Hit]:
    if not isinstance(description, str):
        return
    at = entries.places.get("description", (0, 0))[1]
    if not description.strip():
        yield page.hit("description-missing", at, "the skill has no description")
        return
    if len(description) > _LONGEST["description"]:
        yield page.hit("description-length", at, f"the description has {len(description)} characters")
    if "<" in description or ">" in description:
        yield page.hit("description-markup", at, "the description has an angle bracket")


def _always_loaded(page: Page, entries: Entries, policy: Policy) -> Iterator[Hit]:
    limit = policy.max_description_tokens
    texts = [entries.values.get(key) for key in ("name", "description")]
    count = sum(tokens(text) for text in texts if isinstance(text, str))
    if limit and count > limit:
        at = entries.places.get("description", (0, 0))[1]
        yield page.hit("description-tokens", at, f"name and description take about {count} tokens of {limit}")
