"""Is what stands beside a secret's name the secret, or code and prose about it?"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Found:
    """A value beside a name.

    Attributes:
        strong: the name is that of a secret and of hardly anything else.
        sign: what stands between the two (`=`, `is`, `flag` of a command line), blank for nothing.
        spaced: there are blanks beside the sign.
        quoted: the value is in quotes.
        ends: the line ends after the value.
        start, end: where the value stands.
    """

    key: str
    strong: bool
    sign: str
    spaced: bool
    quoted: bool
    value: str
    ends: bool
    start: int
    end: int


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NAMES = "password|passwd|passphrase|passcode|pwd|secret|token|credentials?|key|auth|hash|field|input"
_IDENTIFIER = re.compile(rf"[A-Za-z_$]*(?:{_NAMES})|[A-Za-z_$][\w$]*(?:\.[\w$]+)*\.\w*(?:{_NAMES})", re.IGNORECASE)
_REFERENCE = re.compile(
    r"\$\{?[A-Z_][A-Z0-9_]*\}?|\$[({]|\$env:|\$\w*(?:password|passwd|pass|pwd|secret|token|key)\b|%[(sdr]|\{\{|"
    r"\{[\w.\[\]]*\}|%[A-Z_]+%|"
    r"\.{2,}|…|\*{2,}|x{4,}|-{2,}(?!\S)|_{3,}|@\w+/|\[\w*$|env\.|secrets\.|vars\.|ref\+",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"[&*!~-]?(?:self|this|args?|options?|opts?|config|cfg|conf|settings?|env|process|os|sys|req|request|res|resp|"
    r"response|data|body|"
    r"user|params?|props|state|ctx|context|event|e|creds?|form|values?|cookies?|headers?|session|client|auth|Deno|"
    r"Bun|import)"
    r"(?:\??\.|\[|->|::)\w|[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)*[(\[]|lambda\b|\(\)?$|\{\}?$|\[\]?$|[|&=<>]+$|"
    r"/\w*/",
)
_FOLDER = re.compile(r"[/~]|[A-Za-z]:[\\/]|\.{1,2}/")
_LETTER, _DIGIT = re.compile(r"[^\W\d_]"), re.compile(r"\d")
_TEXT = re.compile(r"[^\W_]")
_SIGN = re.compile(r"[!@#$%^&*+=~?]")
_MEASURE = re.compile(
    r"v?\d+(?:\.\d+)*|\d+(?:px|ms|s|k|kb|mb|gb|bits?|bytes?|chars?|characters?|x|st|nd|rd|th|%|\+)|"
    r"(?:sha|md|oauth|base|utf-?|http|bcrypt|argon|argon2id?|pbkdf|tls|ntlmv|aes-?|hs|rs|es|ed|oidc|p|s|k|ipv|"
    r"win)\d{1,5}(?:[-_/]\w{1,12})?",
    re.IGNORECASE,
)
_PROSE = _words(
    "a an the this that these those it its in is isn't was are be been being must should shall can can't cannot "
    "could may might will won't would has have had not no never always only also too so if when where which who "
    "whose why how what and or but for from to of on at by as with without within into via per than then else "
    "because until after before since your my our their his her user users here there required optional needed "
    "invalid valid wrong incorrect correct right ok okay missing empty blank null none nil undefined true false "
    "yes n/a string str text int integer number bool boolean bytes float any object dict list array type "
    "unknown varchar char void optional[str] secretstr password passwords token tokens secret secrets key keys "
    "auth field fields value values input login reset change changed update set get new old same different safe "
    "secure insecure strong weak plain plaintext encrypted hashed stored something anything nothing everything "
    "someone manager authentication authorization validation verification generation generator policy policies "
    "rotation expiration expiry expires prompt protected hash hashes hashing strength length min max minimum "
    "maximum please enter both all each every either first last next again expected actual return returns "
    "passed wherever whatever whether longer shorter long short public private default defaults up out off now "
    "just still already ready used unused use using work works reset-link fine good bad about between case- "
    "sensitive single double see above below ist nicht falsch richtig ein eine der die das es la el incorrecta "
    "incorrecto une le un est pas fehlt leer async await function const let var import export typeof instanceof "
    "del yield raise throw print echo len bearer basic "
)
_ENDINGS = re.compile(r"[a-z]{3,}(?:ed|ing|able|ible|ly|less|ation|ment|ness|ity)", re.IGNORECASE)
_LONG = 20  # letters of a value that can be no word


def is_secret(found: Found) -> bool:
    """Whether the value is to be hidden. In doubt it is, beside a name that says so plainly."""
    value = found.value.strip()
    if len(value) < (1 if found.quoted and found.strong else 3) or _REFERENCE.match(value) or not _TEXT.search(value):
        return False
    if value.isdecimal() and found.key.lower() == "pass":
        return False
    if value.lower() in _PROSE or (_FOLDER.match(value) and found.key.lower() in ("pwd", "pass", "pw")):
        return False
    if found.quoted:
        return not _is_sentence(value) and (found.sign not in ("", "with", "as", "to") or _odd(value))
    if _CODE.match(value):
        return False
    if found.sign == "flag":
        return not value.startswith("-")
    if not found.sign or found.sign in ("to", "as", "with", "be"):
        return _odd(value) and len(value) >= (6 if found.strong else 12)
    if found.sign[:1].isalpha():
        return _odd(value) or (found.strong and not _ENDINGS.fullmatch(value))
    return _is_assigned(found, value)


def _is_assigned(found: Found, value: str) -> bool:
    loud = found.key.isupper()
    if not loud and _IDENTIFIER.fullmatch(value):
        return False
    if found.strong or (not found.spaced and found.sign == "="):
        return True
    if found.sign == "|":
        return _odd(value) and len(value) >= 12
    return (
        _odd(value)
        or len(value) >= _LONG
        or ((loud or found.sign == ":") and found.ends and not _ENDINGS.fullmatch(value))
    )


def _is_sentence(value: str) -> bool:
    """What people read: some words, and such as passwords are hardly made of."""
    words = re.findall(r"[^\s.,!?:;()]+", value[:400])
    return len(words) > 1 and any(word.lower() in _PROSE for word in words) and not _odd(words[-1])


def _odd(value: str) -> bool:
    """Letters mixed with digits or signs, as words are not."""
    if _MEASURE.fullmatch(value) or _FOLDER.match(value) or "://" in value:
        return False
    return bool(_LETTER.search(value) and (_DIGIT.search(value) or _SIGN.search(value)))
