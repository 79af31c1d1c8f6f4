"""Credentials in text: tokens of known shape, private keys, passwords in addresses, real-looking assigned values.

Every pattern is anchored on a literal and bounded, so that looking takes time in proportion to the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class SecretHit:
    """Where a credential stands. The text itself is left where it is.

    Attributes:
        name: what it is, for people: `GitHub token`.
        start, end: offsets of the part that must not be shown.
    """

    name: str
    start: int
    end: int


@dataclass(frozen=True)
class Shape:
    """A kind of credential: literals of which one is in every match, and the pattern; its group 1 is the secret."""

    name: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]


def shape(name: str, hints: str, pattern: str) -> Shape:
    """A shape; `hints` are separated by blanks."""
    return Shape(name, tuple(hints.split()), re.compile(pattern))


# A token does not begin in the middle of a word.
_B = r"(?<![A-Za-z0-9_-])"

_SHAPES = (
    shape("Anthropic key", "sk-ant-", rf"{_B}(sk-ant-[A-Za-z0-9_-]{{16,200}})"),
    shape("OpenRouter key", "sk-or-", rf"{_B}(sk-or-(?:v1-)?[A-Za-z0-9]{{32,100}})"),
    shape("OpenAI key", "sk-", rf"{_B}(sk-(?!ant-|or-)(?:proj-|svcacct-|admin-|None-)?[A-Za-z0-9_-]{{20,200}})"),
    shape("AWS access key", "AKIA ASIA ABIA ACCA", rf"{_B}((?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{{16}})(?![A-Z0-9])"),
    shape("Google key", "AIza", rf"{_B}(AIza[A-Za-z0-9_-]{{35}})(?![A-Za-z0-9_-])"),
    shape("Google token", "ya29.", rf"{_B}(ya29\.[A-Za-z0-9_-]{{20,2000}})"),
    shape("Google client secret", "GOCSPX-", rf"{_B}(GOCSPX-[A-Za-z0-9_-]{{20,60}})"),
    shape("Azure signature", "sig=", r"[?&;]sig=([A-Za-z0-9%+/=_-]{20,200})"),
    shape("Azure account key", "Key=", r"(?:Account|SharedAccess)Key=([A-Za-z0-9+/=]{40,200})"),
    shape("connection string password", ";", r"(?i:;[ ]?(?:password|pwd)[ ]?=[ ]?)([^;\s\"'<>{}$]{6,200})(?=;)"),
    shape("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", rf"{_B}(gh[pousr]_[A-Za-z0-9]{{36,255}})"),
    shape("GitHub token", "github_pat_", rf"{_B}(github_pat_[A-Za-z0-9_]{{22,255}})"),
    shape("GitLab token", "glpat- glrt- gldt- glptt-", rf"{_B}(gl(?:pat|rt|dt|ptt)-[A-Za-z0-9_-]{{20,100}})"),
    shape("Slack token", "xox xapp-", rf"{_B}((?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{{16,250}})"),
    shape("Slack webhook", "hooks.slack.com/", r"\.slack\.com/services/(T[A-Z0-9]{8,12}/B[A-Z0-9]{8,12}/\w{20,30})"),
    shape("Stripe key", "k_live_ k_test_", rf"{_B}([srp]k_(?:live|test)_[A-Za-z0-9]{{16,200}})"),
    shape("webhook secret", "whsec_", rf"{_B}(whsec_[A-Za-z0-9+/=]{{24,100}})"),
    shape("Hugging Face token", "hf_", rf"{_B}(hf_[A-Za-z0-9]{{30,60}})"),
    shape("npm token", "npm_", rf"{_B}(npm_[A-Za-z0-9]{{36}})(?![A-Za-z0-9])"),
    shape("PyPI token", "pypi-", rf"{_B}(pypi-[A-Za-z0-9_-]{{50,300}})"),
    shape("SendGrid key", "SG.", rf"{_B}(SG\.[A-Za-z0-9_-]{{16,40}}\.[A-Za-z0-9_-]{{16,60}})"),
    shape("DigitalOcean token", "_v1_", rf"{_B}(do[opr]_v1_[a-f0-9]{{64}})"),
    shape("Databricks token", "dapi", rf"{_B}(dapi[a-f0-9]{{32}})(?![a-f0-9])"),
    shape("Groq key", "gsk_", rf"{_B}(gsk_[A-Za-z0-9]{{40,80}})"),
    shape("xAI key", "xai-", rf"{_B}(xai-[A-Za-z0-9]{{60,100}})"),
    shape("Perplexity key", "pplx-", rf"{_B}(pplx-[A-Za-z0-9]{{40,60}})"),
    shape("Replicate token", "r8_", rf"{_B}(r8_[A-Za-z0-9]{{37}})(?![A-Za-z0-9])"),
    shape("Vault token", "hvs. hvb.", rf"{_B}(hv[sb]\.[A-Za-z0-9_-]{{24,300}})"),
    shape("Docker token", "dckr_", rf"{_B}(dckr_[po]at_[A-Za-z0-9_-]{{27,60}})"),
    shape("Grafana token", "glsa_", rf"{_B}(glsa_[A-Za-z0-9]{{32}}_[a-f0-9]{{8}})"),
    shape("Shopify token", "shp", rf"{_B}(shp(?:at|ca|pa|ss)_[a-f0-9]{{32}})(?![a-f0-9])"),
    shape("Linear key", "lin_api_", rf"{_B}(lin_api_[A-Za-z0-9]{{40}})"),
    shape("Notion token", "ntn_", rf"{_B}(ntn_[A-Za-z0-9]{{40,60}})"),
    shape("Supabase token", "sbp_", rf"{_B}(sbp_[a-f0-9]{{40}})(?![a-f0-9])"),
    shape("age key", "AGE-SECRET-KEY-1", rf"{_B}(AGE-SECRET-KEY-1[A-Z0-9]{{58}})"),
    shape("Telegram bot token", ":AA", r"(?<!\d)(\d{8,10}:AA[A-Za-z0-9_-]{33})(?![A-Za-z0-9_-])"),
    shape("JSON web token", "eyJ", rf"{_B}(eyJ[\w-]{{8,2000}}\.eyJ[\w-]{{8,4000}}(?:\.[\w-]{{0,2000}})?)"),
    shape("authorization", "earer asic", r"uthorization[\"']?: ?[\"']?(?:[Bb]earer|[Bb]asic) ([\w.~+/=-]{16,2000})"),
)  # fmt: skip

_URL = re.compile(r"(?<=://)[^\s/:@\"'<>]{0,80}:([^\s/@\"'<>]{3,200})@")
# The sign comes first, for speed: it is rarer than the letters of a name, which is looked for before it.
_ASSIGNED = re.compile(r"[=:>][ \t]{0,4}[\"']?([A-Za-z0-9+/_.~!@#%^&*-]{12,500}={0,2})(?![A-Za-z0-9(\[{=])")
_NAMED = re.compile(r"(?i:key|token|secret|password|passwd|pwd)[\"']?[ \t]{0,4}=?\Z")
_PEM = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_PEM_BODY = re.compile(r"(?:[A-Za-z0-9+/=\s]|\\n|\\r|(?:Proc-Type|DEK-Info|Version|Comment): ?[^\n]{0,80})*")
_PEM_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")

_PLACEHOLDER = re.compile(
    r"x{4}|\.{3}|…|\*{3}|-{4}|_{4}|example|placeholder|your|change.?me|dummy|redacted|fake|insert|replace|sample|"
    r"0123456789|1234567890|123456789|abcdefgh|abcdef123|abc123|secret.?here|key.?here|token.?here|test.?(?:key|token|secret)",
    re.IGNORECASE,
)
_WORDS = re.compile(r"[A-Za-z]{2,}(?:[._/-][A-Za-z]{2,})*\d{0,2}")
_DIGIT_EDGE = re.compile(r"(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])")
_CASE_EDGE = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[a-z])")


def find_secrets(text: str) -> tuple[SecretHit, ...]:
    """Credentials in a text by position, none inside another. Placeholders such as `sk-...` are none."""
    found = sorted(_all(text), key=lambda hit: (hit.start, -hit.end))
    kept: list[SecretHit] = []
    for hit in found:
        if not kept or hit.start >= kept[-1].end:
            kept.append(hit)
        elif hit.end > kept[-1].end:
            # Two that overlap are hidden whole.
            kept[-1] = SecretHit(kept[-1].name, kept[-1].start, hit.end)
    return tuple(kept)


def _all(text: str) -> Iterator[SecretHit]:
    for known in _SHAPES:
        if any(hint in text for hint in known.hints):
            for match in known.pattern.finditer(text):
                if _is_real(match[1]):
                    yield SecretHit(known.name, *match.span(1))
    if "://" in text:
        for match in _URL.finditer(text):
            if _is_random(match[1]):
                yield SecretHit("password in an address", *match.span(1))
    for match in _ASSIGNED.finditer(text):
        if _NAMED.search(text, max(0, match.start() - 16), match.start()) and _is_random(match[1]):
            yield SecretHit("assigned secret", *match.span(1))
    if "PRIVATE KEY" in text:
        yield from _private_keys(text)


def _private_keys(text: str) -> Iterator[SecretHit]:
    """From a header to its footer, or as far as key material goes when it was cut off."""
    at = 0
    while header := _PEM.search(text, at):
        body = _PEM_BODY.match(text, header.end())
        at = body.end() if body else header.end()
        footer = _PEM_END.match(text, at)
        letters = sum(char.isalnum() for char in text[header.end() : at])
        if letters >= 40:
            end = footer.end() if footer else header.end() + len(text[header.end() : at].rstrip())
            yield SecretHit("private key", header.start(), end)


def _is_real(value: str) -> bool:
    """False for what documentation writes in the place of a token."""
    return len(set(value)) > 7 and _PLACEHOLDER.search(value) is None


def _is_random(value: str) -> bool:
    """True for a value that looks made by chance: letters and digits mixed, and not words, paths or numbers."""
    if not _is_real(value) or _WORDS.fullmatch(value):
        return False
    # Chance changes between letters and digits, or between cases, inside a word; `my-service-v2` hardly does.
    digits = len(_DIGIT_EDGE.findall(value))
    return len(value) >= 8 and (digits > 1 or (digits == 1 and len(_CASE_EDGE.findall(value)) > 2))
