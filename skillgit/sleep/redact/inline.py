"""Secrets in addresses, connection strings and commands: `?sig=…`, `;Pwd={…};`, `curl -u user:…`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from skillgit.skills.secrets import SecretHit

_BRACED = re.compile(r"(?:password|pwd)[ ]?=[ ]?\{((?:[^}\n\uffff]|\}\}){1,1000})")
_JOINED = re.compile(
    r"(?:password|pwd|accountkey|sharedaccesskey|"
    r"shared access key)[ ]?=[ ]?([^;\"'\n\uffff{$<%/~][^;\"'\n\uffff]{0,300})"
    r"(?=;[ ]?[a-z][\w ]{1,30}=)"
)
_QUERY = re.compile(
    r"[?&;](?:amp;)?(?P<key>sig|signature|[a-z_]{0,20}token|code|key|api_?key|client_secret|secret|pass(?:word|"
    r"wd)?|pwd|"
    r"auth|sid|session(?:_?id)?|jwt|hmac|assertion|ticket|otp|x-(?:amz|goog)-(?:signature|credential|"
    r"security-token))="
    r"(?![$<{*]|%[sd]\b)([^\s&\"'`<>#)\]|\\\uffff]+)"
)
_LONGER = frozenset({"code", "key", "ticket"})  # `?code=404` and `?key=name` are no secrets
_LOGINS = (
    (
        ("curl", "wget", "http"),
        re.compile(
            r"\b(?:curl|wget|https?)\b[^\n]{0,300}?[ ](?:-u|--user|"
            r"--proxy-user)[ =]?[\"']?[\w.@+-]{1,60}:(?![$<{])([^\s\"'`\uffff]+)"
        ),
    ),
    (
        ("mysql", "mariadb"),
        re.compile(
            r"\b(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n|"
            r"]{0,200}?[ ]-p(?![ $<{])[\"']?([^\s\"'`\uffff]+)"
        ),
    ),
    (
        ("password-stdin",),
        re.compile(
            r"\becho[ ]{1,3}(?:-n[ ])?[\"']?(?![$<{])([^\s\"'|\uffff]{1,300})[\"']?[ ]{0,3}\|[^\n|"
            r"]{0,100}password-stdin"
        ),
    ),
    (
        ("sshpass", " login"),
        re.compile(
            r"\b(?:sshpass|(?:docker|podman|registry) login)\b[^\n|"
            r"]{0,200}?[ ]-p[ ]?(?![$<{])[\"']?([^\s\"'`\uffff]+)"
        ),
    ),
)
_CODE_NAMES = r"(?:2fa|mfa|totp|verification|security|one[- ]time|login|auth|authenticator)[ ](?:code|password|pin)"
_ONCE = re.compile(
    rf"\b(?:otp|pin|tan|{_CODE_NAMES})(?:[ ](?:is|was|ist|=|es|est)|[ ]?[:=])?[ ][\"'`]?(\d{{3}}[ -]?\d{{3}}|"
    rf"\d{{4,8}})(?![\w.])"
)
_ONCE_HINTS = ("otp", "pin", "tan ", "tan:", "code", "password")


def find_inline(low: str) -> Iterator[SecretHit]:
    """Secrets in addresses, connection strings and commands, in no order; they may overlap.

    Args:
        low: the text in lower case.
    """
    if "?" in low or "&" in low:
        for match in _QUERY.finditer(low):
            if match["key"] not in _LONGER or len(match[2]) >= 8:
                yield SecretHit("secret in an address", *match.span(2))
    if ";" in low or "{" in low:
        for pattern, name in ((_BRACED, "password"), (_JOINED, "connection string")):
            yield from (SecretHit(name, *match.span(1)) for match in pattern.finditer(low))
    for programs, pattern in _LOGINS:
        if any(program in low for program in programs):
            yield from (SecretHit("password", *match.span(1)) for match in pattern.finditer(low))
    if any(hint in low for hint in _ONCE_HINTS):
        yield from (SecretHit("code", *match.span(1)) for match in _ONCE.finditer(low))
