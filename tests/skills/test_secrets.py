"""Credentials are found whatever stands around them; what documentation writes in their place is not."""

from __future__ import annotations

import random
import string
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.skills.secrets import find_secrets

_LETTERS = string.ascii_letters + string.digits


def made(size: int, alphabet: str = _LETTERS, seed: int = 3) -> str:
    """A value by chance; committed text holds no token of real shape."""
    return "".join(random.Random(seed).choices(alphabet, k=size))


HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + "234567"
TOKENS = {
    "OpenAI key": f"sk-proj-{made(48)}",
    "Anthropic key": f"sk-ant-api03-{made(60)}",
    "OpenRouter key": f"sk-or-v1-{made(64, HEX)}",
    "AWS access key": f"AKIA{made(16, UPPER)}",
    "Google key": f"AIza{made(35)}",
    "Google token": f"ya29.{made(60)}",
    "Google client secret": f"GOCSPX-{made(28)}",
    "GitHub token": f"ghp_{made(36)}",
    "GitLab token": f"glpat-{made(20)}",
    "Slack token": f"xoxb-{made(12, string.digits)}-{made(24)}",
    "Stripe key": f"sk_live_{made(24)}",
    "webhook secret": f"whsec_{made(32)}",
    "Hugging Face token": f"hf_{made(34)}",
    "npm token": f"npm_{made(36)}",
    "PyPI token": f"pypi-{made(80)}",
    "SendGrid key": f"SG.{made(22)}.{made(43)}",
    "DigitalOcean token": f"dop_v1_{made(64, HEX)}",
    "Databricks token": f"dapi{made(32, HEX)}",
    "Groq key": f"gsk_{made(52)}",
    "xAI key": f"xai-{made(80)}",
    "Perplexity key": f"pplx-{made(48)}",
    "Replicate token": f"r8_{made(37)}",
    "Vault token": f"hvs.{made(90)}",
    "Docker token": f"dckr_pat_{made(27)}",
    "Grafana token": f"glsa_{made(32)}_{made(8, HEX)}",
    "Shopify token": f"shpat_{made(32, HEX)}",
    "Linear key": f"lin_api_{made(40)}",
    "Notion token": f"ntn_{made(46)}",
    "Supabase token": f"sbp_{made(40, HEX)}",
    "age key": f"AGE-SECRET-KEY-1{made(58, UPPER)}",
    "Telegram bot token": f"123456879:AA{made(33)}",
    "JSON web token": f"eyJ{made(20)}.eyJ{made(40)}.{made(43)}",
}
IN_CONTEXT = {
    "Azure signature": ("https://x.blob.core.windows.net/c?sv=1&sig={}", made(43) + "%3D"),
    "Azure account key": ("AccountName=x;AccountKey={};EndpointSuffix=y", made(86) + "=="),
    "connection string password": ("Server=db;User=sa;Password={};Encrypt=yes", made(14)),
    "password in an address": ("postgres://app:{}@db.internal/main", made(16)),
    "authorization": ("Authorization: Bearer {}", made(40)),
    "assigned secret": ("DB_PASSWORD = '{}'", made(20)),
    "Slack webhook": ("https://hooks.slack.com/services/{}", f"T{made(9, UPPER)}/B{made(9, UPPER)}/{made(24)}"),
}


@pytest.mark.parametrize("name", TOKENS)
@pytest.mark.parametrize("around", ["{}", "key: {}", "`{}`", '"{}",', "Use {}.", "\nX={}\n"])
def test_a_token_of_known_shape_is_found_where_it_stands(name: str, around: str) -> None:
    token = TOKENS[name]
    text = around.format(token)
    hits = find_secrets(text)
    assert [hit.name for hit in hits] == [name]
    assert text[hits[0].start : hits[0].end].startswith(token)


@pytest.mark.parametrize("name", IN_CONTEXT)
def test_a_secret_that_its_surroundings_give_away_is_found_alone(name: str) -> None:
    around, secret = IN_CONTEXT[name]
    text = around.format(secret)
    (hit,) = find_secrets(text)
    assert (hit.name, text[hit.start : hit.end]) == (name, secret)


@pytest.mark.parametrize("footer", ["", "-----END RSA PRIVATE KEY-----"])
@pytest.mark.parametrize("newline", ["\n", "\\n", "\r\n"])
def test_a_private_key_is_found_whole_also_when_it_is_cut_off(footer: str, newline: str) -> None:
    key = newline.join(["-----BEGIN RSA PRIVATE KEY-----", made(64), made(64, seed=4), footer]).rstrip("\r\n")
    text = f"before\n{key}\n\n# after"
    (hit,) = find_secrets(text)
    assert hit.name == "private key"
    assert text[hit.start : hit.end].startswith("-----BEGIN")
    assert made(64, seed=4) in text[hit.start : hit.end]
    assert "# after" not in text[hit.start : hit.end]


@pytest.mark.parametrize(
    "text",
    [
        "OPENAI_API_KEY=sk-...",
        "key: sk-xxxxxxxxxxxxxxxxxxxxxxxx",
        "api_key = <your key here>",
        "token: $GITHUB_TOKEN",
        "token: ${GITHUB_TOKEN}",
        "password = os.environ['PASSWORD_OF_DATABASE']",
        "password: getpass.getpass()",
        "AKIAIOSFODNN7EXAMPLE",
        "postgres://user:password@localhost/db",
        "https://user:<password>@host",
        "ghp_your_token_goes_here_and_is_long_enough_to_match",
        "const token = response.headers.authorization",
        "primary_key: customer_identifier_column",
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        "grep for `-----BEGIN RSA PRIVATE KEY-----` in the log",
        "max_tokens: 128000, cache_key=user-profile-page-v2",
        "The skill is called task-sk-management-of-everything-else",
        "secret/path/to/some/file.txt and token=abc123abc123abc123",
    ],
)
def test_placeholders_names_and_prose_are_no_secrets(text: str) -> None:
    assert find_secrets(text) == ()


@given(st.text(max_size=300), st.sampled_from(sorted(TOKENS.values())), st.text(max_size=300))
def test_hits_are_in_order_apart_and_within_the_text(before: str, token: str, after: str) -> None:
    text = f"{before} {token} {after}"
    hits = find_secrets(text)
    assert any(hit.start <= len(before) + 1 < hit.end for hit in hits)
    ends = [0, *(hit.end for hit in hits)]
    assert all(low <= hit.start < hit.end <= len(text) for low, hit in zip(ends, hits, strict=False))


@given(st.lists(st.sampled_from(sorted(TOKENS.values())), max_size=4), st.text(max_size=60))
def test_a_text_without_its_hits_has_none(tokens: list[str], filling: str) -> None:
    text = f" {filling} ".join(tokens)
    for hit in reversed(find_secrets(text)):
        text = f"{text[: hit.start]}[{hit.name}]{text[hit.end :]}"
    assert not any(token in text for token in tokens)


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "sk-",
        "=",
        "eyJ",
        "://",
        "://a:",
        "-----BEGIN PRIVATE KEY-----",
        "AKIA",
        "key=",
        "; password=",
        "xoxb-1",
        "\\n",
    ],
)
def test_time_grows_with_the_text_and_no_faster(piece: str) -> None:
    small, large = piece * (10_000 // len(piece)), piece * (80_000 // len(piece))
    find_secrets(small)
    taken = []
    for text in (small, large):
        started = time.process_time()
        find_secrets(text)
        taken.append(time.process_time() - started)
    # 8 times the text; a quadratic pattern would take 64 times as long.
    assert taken[1] < max(taken[0], 0.002) * 32
