"""Secrets that are called what they are: `password=hunter2`, "my token is …", `--token …`, `<secret>…</secret>`.

Names are looked for in lower case, which is much faster than ignoring case; places are the same in both texts. From
each name only a bounded stretch is looked at, so time grows with the text and no faster.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from skillgit.skills.secrets import SecretHit
from skillgit.sleep.redact.keys import CORES, KEY, PHRASE
from skillgit.sleep.redact.weighing import Found, is_secret

_SUFFIX = (
    r"(?:[_-]?(?:\d{1,2}|prod|production|dev|test|staging|base|value|confirm|confirmation|new|old|"
    r"raw)(?![a-z0-9]))?"
)
_QUOTE = r"[fbru]{0,2}(?P<quote>\\{0,3}(?:\"\"\"|'''|[\"'`]))"
_BARE = r"(?:(?![,;&|]\s{0,3}[a-z_][\w. -]{0,30}[=:])[^\s\"'`<>\uffff])"
_VALUE = rf"(?:{_QUOTE}(?P<quoted>(?:(?!(?P=quote))(?:\\.|[^\n])){{1,300}})|(?P<bare>{_BARE}{{1,300}}))"
_CLOSED = r"(?![a-z0-9_-])\\{0,3}[\"'`]?\]?[*_]{0,3}"
_ASSIGNED = re.compile(
    rf"{_SUFFIX}{_CLOSED}(?P<before>[ \t]{{0,8}})"
    r"(?P<sign>:[ \t]?[a-z_][\w.| \[\]]{0,30}=(?![=>])|:=|=>|->|→|[=!]?==?|:(?![:/])|(?<=[ \t])\|(?=[ \t]))"
    rf"(?P<after>[*_]{{0,3}}[ \t]{{0,8}}){_VALUE}"
)
_SAID = re.compile(
    r"\"?(?:[ ](?:for|of|to|on|at|in|für|de|del|pour)(?:[ ][^\s.,;:]{1,60}){1,4}?)?"
    r"(?P<sign>'s|[ ](?:is|was|will be|should be|ist|war|lautet|es|est|é|era|это|to be|to|as|be|with)):?[ ]"
    r"(?:(?:now|still|just)[ ])?[*_]{0,3}"
    rf"(?P<before>)(?P<after>){_VALUE}"
)
_BELOW = re.compile(
    r"[*_]{0,3}(?::|[ ]is:?)[*_]{0,3}[ \t]{0,4}\n[ \t>]{0,8}(?P<before>)(?P<sign>)(?P<after>)"
    rf"[\"'`]?(?P<bare>{_BARE}{{1,300}})[\"'`]?[ \t]{{0,8}}(?=\n|\Z)"
)
_BESIDE = re.compile(rf"(?P<before>)(?P<sign>)[ \t]{{1,4}}(?P<after>){_VALUE}")
_PAIR = re.compile(
    rf"{_SUFFIX}\\{{0,3}}[\"']?,?\s{{1,40}}\\{{0,3}}[\"']?value\\{{0,3}}[\"']?(?P<before>)(?P<sign>[ \t]{{0,4}}[:=])"
    rf"(?P<after>[ \t]{{0,4}}){_VALUE}"
)
_TAGGED = re.compile(rf"{_SUFFIX}(?P<before>)(?P<sign>>)(?P<after>)\s{{0,3}}(?P<bare>[^<>\uffff]{{1,2000}})(?=</)")
_DENSE = re.compile(
    r"(?:密码|密碼|口令|パスワード|暗証番号|비밀번호)\s?(?:是|为|為|は|：|=|:|는|은)\s?[\"'`「“]?"
    r"([^\s,，。、;；\"'`」”<>\uffff]+)"
)
# What stands before a name, up to it.
_NAMED = re.compile(r"\b(?:name|key)\\{0,3}[\"']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,3}[\"']?[\w.-]*\Z")
_TAG = re.compile(r"<[\w:.-]*\Z")
_BACK = 70  # characters
_REACH = 48  # no name is longer
_REST = re.compile(rf"{_BARE}*")


def find_assigned(text: str, low: str) -> Iterator[SecretHit]:
    """Values that a name beside them gives away, in order; none overlaps another.

    Args:
        low: the text in lower case, every character in its place.
    """
    ends, at = _Ends(low), 0
    for start, stop in _stretches(low):
        at = max(at, start)
        while at < stop and (key := KEY.search(low, at, stop)):
            at = key.end()
            for found in _candidates(key, text, low, ends):
                if is_secret(found):
                    yield SecretHit("password" if found.strong else "secret", found.start, found.end)
                    at = max(at, found.end)
                    break
    if not low.isascii():
        yield from (SecretHit("password", *match.span(1)) for match in _DENSE.finditer(low))


def _stretches(low: str) -> Iterator[tuple[int, int]]:
    """Where names can be, in order. Finding these is much faster than looking for names everywhere."""
    found = []
    for core in CORES:
        at = low.find(core)
        while at >= 0:
            found.append(at)
            at = low.find(core, at + 1)
    start, stop = 0, 0
    for place in sorted(found):
        if place - _REACH > stop:
            yield start, stop
            start = place - _REACH
        stop = place + _REACH
    yield start, stop


class _Ends:
    """Where words and lines end, each looked for once: many names may stand in one of them."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._word = self._line = (0, 0)
        self._trimmed = 0

    def word(self, at: int) -> int:
        """Where what a value may be made of ends from `at` on, without what ends a sentence there."""
        start, end = self._word
        if not start <= at < end:
            rest = _REST.match(self._text, at)
            end = rest.end() if rest else at
            self._word = (at, end)
            self._trimmed = at + len(self._text[at:end].rstrip(_AFTER))
        return self._trimmed

    def line(self, at: int) -> int:
        """Where the line ends that `at` is in."""
        start, end = self._line
        if not start <= at < end:
            found = self._text.find("\n", at)
            self._line = (at, found if found >= 0 else len(self._text))
        return self._line[1]


def _candidates(key: re.Match[str], text: str, low: str, ends: _Ends) -> Iterator[Found]:
    """What may be the value of a name, in the ways that values stand beside names."""
    before = low[max(0, key.start() - _BACK) : key.start()]
    at = key.end()
    if match := _ASSIGNED.match(low, at):
        yield _found(key, match, text, ends, match["sign"])
    if (match := _PAIR.match(low, at)) and _NAMED.search(before):
        yield _found(key, match, text, ends, "=")
    if (match := _TAGGED.match(low, at)) and _TAG.search(before):
        yield _found(key, match, text, ends, "=")
    if match := _SAID.match(low, at):
        yield _found(key, match, text, ends, match["sign"].strip(" '"))
    if match := _BELOW.match(low, at):
        yield _found(key, match, text, ends, "")
    if match := _BESIDE.match(low, at):
        is_flag = before.endswith("-") or (before[-1:].strip() and before.split()[-1].startswith("-"))
        yield _found(key, match, text, ends, "flag" if is_flag else "")


def _found(key: re.Match[str], match: re.Match[str], text: str, ends: _Ends, sign: str) -> Found:
    quote = match.groupdict().get("quote")
    start, end = match.span("quoted" if quote else "bare")
    strong = key["strong"] is not None
    if quote:
        rest = _within(quote).match(text, end)
        end = rest.end() if rest else end
    elif strong and PHRASE.search(key[0]):
        end = ends.line(end)
    else:
        rest_end = ends.word(end)
        end = rest_end if rest_end > end else start + len(text[start:end].rstrip(_AFTER))
    return Found(
        key=text[key.start() : key.end()],
        strong=strong,
        sign=sign,
        spaced=bool(match["before"] or match["after"]),
        quoted=bool(quote),
        value=text[start : min(end, start + _JUDGED)],
        ends=text[end : end + 1] in ("", "\n"),
        start=start,
        end=end,
    )


_JUDGED = 1000  # characters of a value by which it is judged
_AFTER = ",.;:)]}!?*"  # ends a sentence, a list or a call, and hardly a password


@cache
def _within(quote: str) -> re.Pattern[str]:
    """The rest of a quoted value, to its end or that of its line; a doubled quote does not end it."""
    doubled = f"{quote * 2}|" if len(quote) == 1 else ""
    return re.compile(rf"(?:{doubled}(?!{re.escape(quote)})(?:\\.|[^\n]))*")
