"""Secrets that their own shape gives away, or what stands around them: looser than a linter may be."""

from __future__ import annotations

from collections.abc import Iterator

from skillgit.skills.secrets import SecretHit, shape

# The start of a word, which can follow the `\n` of an escaped text and the `%3D` of an address.
_B = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-F]{2}))"
_Q = r"[^\s\"'`<>]"  # of an address

# Every unbounded part stands last, or begins where a word does: no text makes them look twice at the same place.
_SHAPES = (
    shape("Anthropic key", "sk-ant-", r"(sk-ant-[A-Za-z0-9_-]{8,})"),
    shape(
        "OpenAI key",
        "sk-",
        rf"{_B}(sk-(?!(?:[A-Za-z]{{1,15}}\d{{0,2}}[-_]){{0,20}}[A-Za-z]{{1,15}}\d{{0,2}}(?![\w-]))[A-Za-z0-9_-]{{10,}})",
    ),
    shape("AWS access key", "AKIA ASIA ABIA ACCA", r"((?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16})"),
    shape(
        "AWS secret key",
        "AKIA ASIA",
        r"(?<![A-Za-z0-9+/=])((?=[^\s]{0,39}[a-z])(?=[^\s]{0,39}[A-Z])(?=[^\s]{0,39}[0-9+/])"
        r"[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])",
    ),
    shape("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", r"(gh[pousr]_[A-Za-z0-9]{16,})"),
    shape("GitHub token", "github_pat_", r"(github_pat_[A-Za-z0-9_]{16,})"),
    shape(
        "GitLab token",
        "glpat- glrt- gldt- glptt- gloas- glcbt- glft- glsoat- glimt- glagent-",
        r"(gl(?:pat|rt|dt|ptt|oas|cbt|ft|soat|imt|agent)-[A-Za-z0-9_.-]{16,})",
    ),
    shape("Slack token", "xox xapp- xwfp-", r"((?:xox[a-z](?:\.xox[a-z])?|xapp|xwfp)-[A-Za-z0-9-]{10,})"),
    shape("webhook", "hooks.slack.com/", rf"hooks\.slack\.com/(?:services|workflows|triggers)/({_Q}+)"),
    shape("webhook", "/webhooks/", rf"discord(?:app)?\.com/api/(?:v\d+/)?webhooks/({_Q}+)"),
    shape(
        "webhook",
        ".office.com/webhook .azure.com",
        rf"(?:\.office\.com/webhookb?\d?|\.logic\.azure\.com(?::443)?/workflows)/({_Q}+)",
    ),
    shape("Telegram bot token", ":AA", r"(?<!\d)(\d{8,10}:AA[A-Za-z0-9_-]{30,})"),
    shape("Telegram bot token", "api.telegram.org/bot", r"api\.telegram\.org/bot([^\s\"'`<>/]+)"),
    shape("Stripe key", "k_live_ k_test_", r"([srp]k_(?:live|test)_[A-Za-z0-9]{8,})"),
    shape("webhook secret", "whsec_", r"(whsec_[A-Za-z0-9+/=]{16,})"),
    shape("Google key", "AIza", r"(AIza[A-Za-z0-9_-]{20,})"),
    shape("Google token", "ya29.", r"(ya29\.[A-Za-z0-9_-]{10,})"),
    shape("Hugging Face token", "hf_", rf"{_B}(hf_[A-Za-z0-9]{{20,}})"),
    shape("npm token", "npm_", rf"{_B}(npm_[A-Za-z0-9]{{30,}})"),
    shape("PyPI token", "pypi-", rf"{_B}(pypi-[A-Za-z0-9_-]{{40,}})"),
    shape("JSON web token", "eyJ", r"(?:(?<![\w-])|(?<=\\[nrt])|(?<=%[0-9A-F]{2}))[_-]*(eyJ[\w-]{6,}(?:\.[\w-]*)+)"),
    shape("password hash", "$2", r"(\$2[abxy]?\$\d\d\$[./A-Za-z0-9]{31,})"),
    shape(
        "password hash",
        "$",
        r"(\$(?:1|5|6|7|y|gy|apr1|argon2(?:id|i|d)|pbkdf2[a-z0-9-]{0,10}|scrypt)\$[^\s\"'`:]{16,})",
    ),
    shape(
        "password in an address", "://", r"://[^\s/:@\"'`<>?#]{0,100}:(?![$<{*]|%[sd]|\d{1,5}/)([^\s/\"'`<>?#]{1,400})@"
    ),
    shape("token in an address", "://", r"://((?=[^@]{0,100}\d)[A-Za-z0-9_.-]{20,200})@"),
    shape(
        "authorization",
        "uthorization UTHORIZATION",
        r"(?:[Aa]uthorization|AUTHORIZATION)\\{0,3}[\"'`]?[ \t]{0,4}[:=,][ \t]{0,4}[fb]?\\{0,3}[\"'`]?"
        r"(?:[A-Za-z-]{3,20}[ \t]{1,4})?(?![$<{%])([^\s\"'`\\<>,{}]{3,}"
        r"(?:,[ \t]{0,4}[A-Za-z_]{1,30}=[^\n\\]{0,2000})?)",
    ),
    shape("authorization", "Digest ", r"uthorization\\{0,3}[\"'`]?[ \t]{0,4}[:=][ \t]{0,4}Digest ([^\n\\]{8,})"),
    shape(
        "authorization",
        "earer BEARER",
        r"\b(?:[Bb]earer|BEARER)(?:[ \t]{1,4}|%20|\+)[\"'`]?((?=[^\s]{0,60}[0-9._~+/=@!])[^\s\"'`<>\\,;]{6,}|"
        r"[\w.~+/=-]{20,})",
    ),
    shape("authorization", "Basic", r"\bBasic[ \t]{1,4}((?=[A-Za-z]{0,60}[0-9+/=])[A-Za-z0-9+/]{12,}={0,2})"),
    shape(
        "cookie",
        "ookie OOKIE",
        r"(?:[Cc]ookie|COOKIE)\\{0,3}[\"'`]?[ \t]{0,4}[:=,][ \t]{0,4}\\{0,3}[\"'`]?([\w.!#$%&'*+^|"
        r"~-]{1,100}=[^\n\"'`\\]{1,})",
    ),
)


def find_shapes(text: str) -> Iterator[SecretHit]:
    """Tokens, webhooks, headers and addresses, in no order; they may overlap."""
    for known in _SHAPES:
        if any(hint in text for hint in known.hints):
            for match in known.pattern.finditer(text):
                if match.end(1) > match.start(1):
                    yield SecretHit(known.name, *match.span(1))
