"""Checks for what people do not see and agents read: invisible characters, hidden text, encoded commands."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import islice

from skillgit.skills.lines import UNPRINTABLE
from skillgit.skills.lint.case import Case
from skillgit.skills.lint.page import Hit, Page
from skillgit.skills.lint.rules import Policy
from skillgit.skills.markers import strip_markers

_BIDI = "\u202a-\u202e\u2066-\u2069"
_MARKS = "\u200e\u200f\u061c"
_JOINERS = "\u200c\u200d"
_UNSEEN = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
)
_ODD = re.compile(rf"[{_BIDI}{_MARKS}{_JOINERS}{_UNSEEN}]")
# A flag is a black flag with tags and a cancel tag; the rest of the tag block, and rows of selectors, spell text.
_FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,8}\U000e007f")
_SPELLED = re.compile("[\U000e0000-\U000e007f]+|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}")

_MOST = 20  # characters of a file that are named one by one
_NEAR = 200  # characters around a place that tell what it is about
_COMMAND = 500  # characters of a command that are looked at

_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
# Scripts and symbols in which joiners are part of ordinary spelling.
_JOINED = re.compile(
    "[\u0600-\u08ff\u0900-\u0dff\u1780-\u18aa\u200d\ufe0f\u2190-\u2bff\u3030\u303d\U0001f000-\U0001faff]"
)

_ACTS = "run|execute|send|upload|post|fetch|call|delete|install|include"
_AGENT = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:instructions?|prompts?|rules|guidelines)\b"
    r"|\b(?:do not|don't|never)\s+(?:tell|inform|mention|reveal|show|disclose|report)\b.{0,40}\b(?:user|human|anyone)"
    r"|\b(?:secretly|silently|without (?:telling|asking|informing|the user))\b"
    rf"|\byou (?:must|are|should|will)\b.{{0,80}}\b(?:{_ACTS})\b"
    rf"|\b(?:AI|LLM|agent|assistant|model|claude|gpt|copilot)s?\b ?[:,].{{0,40}}\b(?:{_ACTS}|ignore|always|never)\b",
    re.IGNORECASE | re.DOTALL,
)
_OVERRIDE = re.compile(
    r"\b(?:ignore|disregard|forget)\s+(?:all\s+|any\s+|the\s+|your\s+|of\s+|these\s+){0,3}"
    r"(?:previous|prior|above|earlier|preceding|system)\s+(?:system\s+)?(?:instructions?|prompts?|messages|directives)\b",
    re.IGNORECASE,
)
_STYLE = re.compile(
    r"<[a-z][^<>\n]{0,200}\bstyle\s{0,3}=\s{0,3}[\"'][^\"'<>\n]{0,200}?"
    r"(?:display\s{0,3}:\s{0,3}none|visibility\s{0,3}:\s{0,3}hidden|font-size\s{0,3}:\s{0,3}0(?![.\d])|opacity\s{0,3}:\s{0,3}0(?![.\d]))"
    r"[^<>\n]{0,200}>",
    re.IGNORECASE,
)
_DECODED = re.compile(
    r"base64\s+(?:-d|-D|--decode)\b[^\n]{0,200}\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b"
    r"|(?:exec|eval)\s*\(\s*(?:base64\.b64decode|atob|Buffer\.from)\s*\("
    r"|\b[Dd]ecode\b[^\n.]{0,80}\b(?:and|then)\s+(?:run|execute|eval|evaluate)\b"
    r"|\beval\s+\"?\$\([^\n)]{0,200}base64\s+(?:-d|-D|--decode)"
)
_DATA = re.compile(r"data:[\w.+/-]{0,60}(?:;[\w=-]{0,40}){0,3};base64,[A-Za-z0-9+/=]{200}")
_SHELLS = r"(?:(?:ba|z|da)?sh\b|(?:python3?|node|perl)\b(?!\s{1,3}-[a-z]))"  # `python -m json.tool` only reads
_INTO = re.compile(rf"\|\s{{0,3}}(?:sudo\s{{1,3}})?(?:-E\s)?{_SHELLS}")
_LOADED = re.compile(r"\b(?:curl|wget)\b(?=[^\n|]*(?:://|\$|www\.)[^\n|])")
_WITHIN = re.compile(rf"{_SHELLS}\s{{1,3}}(?:-c\s{{1,3}}[\"']?\$\(|<\()\s{{0,3}}(?:curl|wget)\b")

# Looked for in code too: commands stand there.
_ANYWHERE = (
    ("encoded-command", _DECODED, ("64",), "encoded text is decoded and run"),
    ("data-uri", _DATA, ("base64,",), "an address holds a whole file"),
)


def check_hidden(case: Case, policy: Policy) -> Iterator[Hit]:  # noqa: ARG001 - the shape of a check
    """Characters in every text; hidden text and commands in Markdown."""
    for page in case.pages:
        yield from _characters(page)
        if page.is_markdown:
            yield from _texts(page)


def _characters(page: Page) -> Iterator[Hit]:
    text = page.text
    for match in UNPRINTABLE.finditer(text):
        yield page.hit("control-character", match.start(), _called(match[0]))
        break  # one is enough to look at the file; a stray binary would have thousands
    if text.isascii():
        return
    odd = ((rule, match) for match in _ODD.finditer(text) if (rule := _judged(text, match.start())))
    first = list(islice(odd, _MOST))
    yield from (page.hit(rule, match.start(), _called(match[0])) for rule, match in first)
    if more := sum(1 for _ in odd):
        rule, match = first[-1]
        yield page.hit(rule, match.end(), f"and {more} more characters of this kind in the file")
    flags = {at for flag in _FLAG.finditer(text) for at in range(*flag.span())}
    for match in _SPELLED.finditer(text):
        if match.start() not in flags:
            count = len(match[0])
            yield page.hit("hidden-text", match.start(), f"{count} characters, the first {_called(match[0][0])}")


def _judged(text: str, at: int) -> str:
    """The rule that a character breaks where it stands; empty when it belongs there."""
    char = text[at]
    if "\u202a" <= char <= "\u202e" or "\u2066" <= char <= "\u2069":
        return "bidi-control"
    around = text[max(0, at - 1) : at + 2]
    if char in _JOINERS and _JOINED.search(around[:1] + around[2:]):
        return ""
    if char in _MARKS and _RIGHT_TO_LEFT.search(text, max(0, at - _NEAR), at + _NEAR):
        return ""
    return "" if char == "\ufeff" and at == 0 else "invisible-character"


def _called(char: str) -> str:
    return f"U+{ord(char):04X} {unicodedata.name(char, 'CONTROL' if ord(char) < 160 else 'UNNAMED')}"


def _texts(page: Page) -> Iterator[Hit]:
    for low, high in page.comments:
        if _AGENT.search(strip_markers(page.text[low:high])):
            yield page.hit("hidden-comment", low, "a comment gives the agent an instruction")
    for match in _OVERRIDE.finditer(page.visible):
        if not _is_quoted(page.text, match.start(), match.end()) and not page.is_code(match.start()):
            yield page.hit("override-instructions", match.start(), "the text calls to ignore other instructions")
    if "<" in page.text:
        for match in _STYLE.finditer(page.visible):
            if not page.is_code(match.start()):
                yield page.hit("hidden-style", match.start(), "this text is not shown when the file is rendered")
    for rule, pattern, signs, message in _ANYWHERE:
        if any(sign in page.text for sign in signs):
            yield from (page.hit(rule, match.start(), message) for match in pattern.finditer(page.text))
    if "curl" in page.text or "wget" in page.text:
        for at in sorted(_piped(page.text)):
            yield page.hit("pipe-to-shell", at, "what is downloaded here is run at once")


def _piped(text: str) -> Iterator[int]:
    """Where a download begins that goes straight to a shell. Looked for from the pipe back, which are fewer."""
    yield from (match.start() for match in _WITHIN.finditer(text))
    for pipe in _INTO.finditer(text):
        begin = max(text.rfind(sign, max(0, pipe.start() - _COMMAND), pipe.start()) for sign in "\n|") + 1
        if loaded := _LOADED.search(text, max(begin, pipe.start() - _COMMAND), pipe.start()):
            yield loaded.start()


def _is_quoted(text: str, start: int, end: int) -> bool:
    """True for a phrase between quotation marks on its line: it is talked about."""
    line = text[max(0, start - _NEAR) : start].rpartition("\n")[2]
    rest = text[end : end + _NEAR].partition("\n")[0]
    return any(sign in line and close in rest for sign, close in ('""', "''", "“”", "‘’", "«»", "**", "__"))
