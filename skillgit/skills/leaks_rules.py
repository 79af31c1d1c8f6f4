"""Which texts are distinctive enough that finding them in a skill means something.

A rule that fires on ordinary words blocks good edits, so short secrets count only under these rules:

- **Phrase of a grader**: two content words or more, and eight characters or more. `Next steps` counts; `Findings`,
  `in the summary` and `yes` do not. A line or sentence of a longer text needs four words besides.
- **Code of a grader**, a text without spaces: eight characters or more with an inner underscore, `=`, `@` or `::`,
  letters and digits together, or a capital after a small letter. `order_total` counts, `step-by-step` does not.
- **Pattern of a grader**, as it is written: regular expression syntax in it, and either fourteen characters or more,
  or eight and a literal part of four letters or digits in a row. `\\d{4}-\\d{2}-\\d{2}` and `^Answer:\\s*.+` count;
  `\\d+` and `[A-Z]+` do not.
- **Reference**: a content word in it, and either three words with letters or more, or twelve characters or more.
  `New York City`, `1234567890123` and `15 January 2026` count; `Paris`, `A, B and C`, `2026-01-15` do not.

A content word has two characters or more and is not an English function word. Characters are counted on the words
with single spaces between them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from skillgit.skills.leaks_words import fold, size, unspaced

LITERAL = 8
"""Fewest characters of a literal part of a pattern, and of any grader text."""
_PATTERN = 14
_SENTENCE_WORDS = 4
_REFERENCE_WORDS = 3
_REFERENCE_CHARACTERS = 12

_ENGLISH = """
    a about above after again all also am an and any are as at be because been before being below between both
    but by can could did do does doing down during each eg etc example few for from further had has have having
    he her here hers him his how i ie if in into is it its just may me might more most must my no nor not now of
    off on once one only or other our out over own same shall she should so some such than that the their them
    then there these they this those through to too two under until up us very was we were what when where which
    while who whom why will with would yes you your
"""
_FUNCTION_WORDS = frozenset(_ENGLISH.split())
_SYNTAX = re.compile(r"\\[A-Za-z]|\[[^\]]+\]|\(\?|\.[*+]|\||\{\d")
_EDGES = re.compile(r"\A(?:\(\?[aiLmsux]+\)|\^|\\[bBA])+|(?:\$|\\[bBZ])+\Z")
_CODE = re.compile(r"[^\W_]_+[^\W_]|[^\W_]=|@[^\W_]|::|[^\W\d_]\d|\d[^\W\d_]")
_CAMEL = re.compile(r"[a-z][A-Z]")
_SENTENCE_END = re.compile(r"[\r\n]+|[.;:!?]\s+")
_RUN = re.compile(r"[^\W_]{4}")
_UNSEEN = re.compile(r"[\s\\`*]+")

# One step of a pattern. What is left over is taken as a literal character.
_STEP = re.compile(
    r"""\\(?P<escape>.)
    | \[(?P<set>\^?\]?(?:\\.|[^\]\\])*)\]
    | (?P<group>\(\?(?:P?<\w+>|P=\w+|<?[=!]|\#[^)]*|[aiLmsux-]*:?)|[()|^$.])
    | (?P<repeat>[*?]|\{\d*,?\d*\}|\+)[?+]?
    | (?P<literal>.)""",
    re.DOTALL | re.VERBOSE,
)


def phrase_counts(words: Sequence[str]) -> bool:
    """Whether words of a grader are distinctive."""
    return _characters(words) >= LITERAL and size(list(_content(words))) >= 2


def sentences(text: str) -> Iterator[str]:
    """Lines and sentences of rubric wording that are long enough to be told from common phrases."""
    return (part for part in _SENTENCE_END.split(text) if len(part.split()) >= _SENTENCE_WORDS)


def reference_counts(words: Sequence[str]) -> bool:
    """Whether a reference is distinctive."""
    if not any(_content(words)):
        return False
    spelled = size([word for word in words if not word.isdigit()])
    return spelled >= _REFERENCE_WORDS or _characters(words) >= _REFERENCE_CHARACTERS


def is_prose(text: str) -> bool:
    """Whether a text has more than one word, `step-by-step` being one."""
    return len(text.split()) > 1 or any(map(unspaced, text))


def is_code(text: str) -> bool:
    """Whether a grader's literal text is an identifier or the like, rather than a word of a language."""
    if is_prose(text) or _SYNTAX.search(text) or len(squeeze(fold(text))) < LITERAL:
        return False
    return bool(_CODE.search(text) or _CAMEL.search(text))


def verbatim_pattern(text: str) -> str:
    """A grader's pattern without anchors at its ends; empty when it is no pattern or not distinctive."""
    core = _EDGES.sub("", text.strip())
    length = len(squeeze(fold(core)))
    spelled = any(_RUN.search(part) for part in literal_parts(core))
    enough = length >= _PATTERN or (length >= LITERAL and spelled)
    return core if enough and _SYNTAX.search(core) else ""


def squeeze(text: str) -> str:
    """`text` without spaces, backslashes, backticks and asterisks: those that quoting or escaping add."""
    return _UNSEEN.sub("", text)


def is_unseen(char: str) -> bool:
    """Whether `squeeze` removes a character."""
    return _UNSEEN.fullmatch(char) is not None


def literal_parts(pattern: str) -> Iterator[str]:
    """Texts of `LITERAL` characters or more that stand in a regular expression as they are, white space as a space.

    `[Aa]` is a literal letter; an optional character is none. Never fails: what is no valid pattern is read as far as
    it makes sense.
    """
    pieces: list[str] = []
    for step in _STEP.finditer(pattern):
        if step["repeat"]:
            if step["repeat"] != "+" and pieces and pieces[-1] != " ":
                pieces.pop()
            pieces += [] if pieces[-1:] == [" "] else [""]
        else:
            pieces.append(_literal(step))
    return _joined(pieces)


def _literal(step: re.Match[str]) -> str:
    """The literal character of one step; empty where the literal text breaks."""
    if step["escape"]:
        spaces = step["escape"] in "stnrfv"
        return " " if spaces else "" if step["escape"].isalnum() else step["escape"]
    if step["set"]:
        return _one_of(step["set"])
    return step["literal"] or ""


def _one_of(members: str) -> str:
    """The character that a set such as `[Aa]`, `[.]` or `[ ]` stands for; empty for a real choice."""
    if set(members) <= {"\\", "s", " ", "t"}:
        return " "
    same = {fold(char) for char in members.removeprefix("\\")}
    return same.pop() if len(same) == 1 else ""


def _joined(pieces: Iterable[str]) -> Iterator[str]:
    for part in "".join(piece or "\0" for piece in pieces).split("\0"):
        text = " ".join(part.split())
        if len(text) >= LITERAL:
            yield text


def _content(words: Iterable[str]) -> Iterator[str]:
    return (word for word in words if unspaced(word) or (len(word) > 1 and word not in _FUNCTION_WORDS))


def _characters(words: Sequence[str]) -> int:
    return len(unicodedata.normalize("NFC", " ".join(words)))
