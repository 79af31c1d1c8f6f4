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
    at = 0
    for place in _places(low):
        key = KEY.search(low, max(at, place - _REACH), place + _REACH) if place >= at else None
        if key is None:
            continue
        at = key.end()
        for found in _candidates(key, text, low):
            if is_secret(found):
                yield SecretHit("password" if found.strong else "secret", found.start, found.end)
                at = max(at, found.end)
                break
    if not low.isascii():
        yield from (SecretHit("password", *match.span(1)) for match in _DENSE.finditer(low))


def _places(low: str) -> list[int]:
    """Where a name can be. Finding these is much faster than looking for names everywhere."""
    found = []
    for core in CORES:
        at = low.find(core)
        while at >= 0:
            found.append(at)
            at = low.find(core, at + 1)
    return sorted(found)


def _candidates(key: re.Match[str], text: str, low: str) -> Iterator[Found]:
    """What may be the value of a name, in the ways that values stand beside names."""
    before = low[max(0, key.start() - _BACK) : key.start()]
    at = key.end()
    if match := _ASSIGNED.match(low, at):
        yield _found(key, match, text, low, match["sign"])
    if (match := _PAIR.match(low, at)) and _NAMED.search(before):
        yield _found(key, match, text, low, "=")
    if (match := _TAGGED.match(low, at)) and _TAG.search(before):
        yield _found(key, match, text, low, "=")
    if match := _SAID.match(low, at):
        yield _found(key, match, text, low, match["sign"].strip(" '"))
    if match := _BELOW.match(low, at):
        yield _found(key, match, text, low, "")
    if match := _BESIDE.match(low, at):
        is_flag = before.endswith("-") or (before[-1:].strip() and before.split()[-1].startswith("-"))
        yield _found(key, match, text, low, "flag" if is_flag else "")


def _found(key: re.Match[str], match: re.Match[str], text: str, low: str, sign: str) -> Found:
    quote = match.groupdict().get("quote")
    start, end = match.span("quoted" if quote else "bare")
    rest = (_within(quote) if quote else _REST).match(low, end)
    end = rest.end() if rest else end
    strong = key["strong"] is not None
    if strong and not quote and PHRASE.search(key[0]):
        line = text.find("\n", end)
        end = line if line >= 0 else len(text)
    elif not quote:
        end = start + len(text[start:end].rstrip(_AFTER))
    return Found(
        key=text[key.start() : key.end()],
        strong=strong,
        sign=sign,
        spaced=bool(match["before"] or match["after"]),
        quoted=bool(quote),
        value=text[start:end],
        ends=text[end : end + 1] in ("", "\n"),
        start=start,
        end=end,
    )


_AFTER = ",.;:)]}!?*"  # ends a sentence, a list or a call, and hardly a password


@cache
def _within(quote: str) -> re.Pattern[str]:
    """The rest of a quoted value, to its end or that of its line; a doubled quote does not end it."""
    doubled = f"{quote * 2}|" if len(quote) == 1 else ""
    return re.compile(rf"(?:{doubled}(?!{re.escape(quote)})(?:\\.|[^\n]))*")
