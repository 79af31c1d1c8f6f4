"""Secrets in text become marks: everything a linter finds, and what only a transcript holds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from operator import attrgetter

from skillgit.skills.secrets import SecretHit, find_secrets
from skillgit.sleep.redact.assigned import find_assigned
from skillgit.sleep.redact.cleaning import clean
from skillgit.sleep.redact.clipping import MARK
from skillgit.sleep.redact.inline import find_inline
from skillgit.sleep.redact.pem import find_keys
from skillgit.sleep.redact.personal import find_emails, find_homes
from skillgit.sleep.redact.shapes import find_shapes

# Stands for what is redacted already. It is no character of any text.
_FILL = "\uffff"
_FILLED = re.compile(f"{_FILL}+")
_ROUNDS = 12
# Behind these a word begins: `\nghp_…`, `%3Dsk-…` and `_hf_…` are whole tokens.
_EDGES = re.compile(r"\\[nrtfvb]|%[0-9A-Fa-f]{2}|(?<![A-Za-z0-9_-])[_-]+(?=[A-Za-z0-9])")
_GOES_ON = re.compile(r"[A-Za-z0-9_+/=-]*")
# A library, a skill, a file: words between hyphens.
_WORDS = re.compile(r"sk(?:[-_][A-Za-z]{1,15}\d{0,2})+")


def redact(text: str, *, email: bool = False, home: bool = False) -> str:
    """The text, cleaned (`clean`), with `[redacted:<name>]` in the place of every secret.

    Takes time in proportion to the text. Redacting twice changes nothing more. It errs towards hiding: a value with a
    secret's name goes even when it is weak or made up. Clip afterwards, never before: a cut secret has no shape.

    Args:
        email: also hide e-mail addresses.
        home: also hide home folders in paths.
    """
    text = clean(text)
    # What stands beside a secret can be one more once that is gone. People's texts need two rounds, a third at most.
    for _ in range(_ROUNDS):
        text, before = _once(text, email=email, home=home), text
        if text == before:
            break
    return text


def _once(text: str, *, email: bool, home: bool) -> str:
    seen = MARK.sub(lambda mark: _FILL * len(mark[0]), text)
    hits = _outside_marks(seen, _hits(seen, email, home))
    parts, at = [], 0
    for hit in _merged(hits):
        parts += [text[at : hit.start], f"[redacted:{hit.name}]"]
        at = hit.end
    return "".join([*parts, text[at:]])


def _hits(text: str, email: bool, home: bool) -> Iterator[SecretHit]:
    apart = _EDGES.sub(lambda edge: " " * len(edge[0]), text)
    yield from _known(apart)
    if "\\" in text or "%" in text:
        # What looks like such an edge can be the start of the token itself.
        yield from _known(text)
    yield from find_shapes(text)
    yield from find_keys(text)
    # One letter has two in lower case; the others keep their places.
    low = text.replace("\u0130", "I").lower()
    yield from find_assigned(text, low)
    yield from find_inline(low)
    if email:
        yield from find_emails(text)
    if home:
        yield from find_homes(text)


def _known(text: str) -> Iterator[SecretHit]:
    """What a linter finds, to the end of its word however long that is; `find_keys` is better at private keys."""
    for hit in find_secrets(text):
        if hit.name != "private key" and not _WORDS.fullmatch(text, hit.start, hit.end):
            more = _GOES_ON.match(text, hit.end)
            yield SecretHit(hit.name, hit.start, more.end() if more else hit.end)


def _outside_marks(text: str, hits: Iterable[SecretHit]) -> Iterator[SecretHit]:
    for hit in hits:
        at = hit.start
        for mark in _FILLED.finditer(text, hit.start, hit.end):
            yield SecretHit(hit.name, at, mark.start())
            at = mark.end()
        yield SecretHit(hit.name, at, hit.end)


def _merged(hits: Iterable[SecretHit]) -> list[SecretHit]:
    """In order; those that overlap become one, by the name of the longest."""
    kept: list[SecretHit] = []
    for hit in sorted(hits, key=attrgetter("start", "end")):
        if hit.start >= hit.end:
            continue
        if not kept or hit.start >= kept[-1].end:
            kept.append(hit)
            continue
        last = kept[-1]
        name = hit.name if hit.end - hit.start > last.end - last.start else last.name
        kept[-1] = SecretHit(name, last.start, max(last.end, hit.end))
    return kept
