"""What secrets are called: in the names of settings, fields and headers, and in prose."""

from __future__ import annotations

import re

_STRONG = (
    r"passwords?|passwd|pass[ _-]?phrase|pass[ _-]?code|passwort|kennwort|"
    r"(?<![a-z])pwd|(?<=[_-])pass|(?<![a-z])pass(?=\\{0,3}[\"']?\s{0,3}[:=])|(?<![a-z])pw|"
    r"contrase[ñn]a|mot de passe|requirepass|"
    r"identified by|senha|пароль|mnemonic|(?:seed|recovery)[ _-]?phrase"
)
_KEYS = "api|access|secret|private|signing|encryption|account|master|auth|shared|license|host|storage"
_WEAK = (
    rf"(?:(?:shared|secret)[ _-]?access|{_KEYS})[ _-]?key|token|secret|credentials?|connection[ _-]?string|"
    r"(?:j|php)sess(?:ion)?id|(?<=_)auth|connect\.sid"
)

KEY = re.compile(rf"(?P<strong>{_STRONG})|(?P<weak>{_WEAK})")
"""A secret's name in lower case. `strong` names a secret and hardly anything else; `weak` is also a word of code."""

CORES = (
    *("pass", "pwd", "pw", "kennwort", "contrase", "senha", "пароль", "mnemonic", "phrase", "identified by"),
    *("key", "token", "secret", "credential", "connect", "sess", "_auth"),
)
"""Of which every name holds one."""

PHRASE = re.compile(r"pass[ _-]?phrase|mnemonic|(?:seed|recovery)[ _-]?phrase")
"""Of those, what is many words."""

_COMPACT = re.compile(r"[^a-z0-9]+")
_ENDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("password", ("password", "passwd", "passphrase", "passcode", "passwort", "mnemonic", "phrase", "pwd")),
    ("secret", ("secret", "token", "authorization", "credential", "credentials", "connectionstring", "sessid")),
    ("secret", tuple(f"{word}key" for word in (*_KEYS.split("|"), "sharedaccess", "secretaccess"))),
)
_WHOLE = {
    **dict.fromkeys(("cookie", "cookies", "setcookie"), "cookie"),
    **dict.fromkeys(("pass", "pw"), "password"),
    **dict.fromkeys(("sig", "auth", "sid"), "secret"),
}


def secret_key(key: str) -> str:
    """Name of the secret that the value of such a key is; blank when it is none. `PWD` is a folder."""
    if key in ("PWD", "OLDPWD") or "[redacted:" in key:
        return ""
    compact = _COMPACT.sub("", key.lower())
    return _WHOLE.get(compact) or next((name for name, ends in _ENDS if compact.endswith(ends)), "")
