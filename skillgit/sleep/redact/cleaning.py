"""Text without what nobody sees: terminal escapes, control characters, and tricks with invisible ones."""

from __future__ import annotations

import re

from skillgit.skills.lines import UNPRINTABLE

_ESCAPE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|\x1b[@-Z\\-_]?")
_NEWLINE = re.compile(r"\r\n?|\x85|\u2028|\u2029")
# Directions, soft hyphens, fillers, zero widths, the tags and selectors that can spell text unseen.
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff"
    "\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
# Joiners are spelling in many scripts and in emoji; beside an ASCII character they only hide something.
_JOINER = re.compile("(?:\\A|(?<=[\x00-\x7f]))[\u200c\u200d]+|(?<![\u200c\u200d])[\u200c\u200d]++(?=[\x00-\x7f]|\\Z)")
_SURROGATE = re.compile("[\ud800-\udfff]")


def clean(text: str) -> str:
    """The text as a person sees it: lines end in LF, and every character can be written as UTF-8.

    Cleaning twice changes nothing more.
    """
    if _SURROGATE.search(text):
        # Halves that stand together make their character; the others become U+FFFD.
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    text = UNPRINTABLE.sub("", _ESCAPE.sub("", _NEWLINE.sub("\n", text)))
    return text if text.isascii() else _JOINER.sub("", _UNSEEN.sub("", text))
