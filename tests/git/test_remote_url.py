"""What is shown and kept of a remote's address holds no secret."""

from __future__ import annotations

import pytest

from skillgit.git.remote_url import public_url, without_secrets


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://me:s3cret@host:1/x.git?token=s3cret#s3cret", "https://host:1/x.git"),
        ("https://s3cret@host/x.git", "https://host/x.git"),
        ("ssh://git:s3cret@host/x", "ssh://host/x"),
        ("s3cret@host:o/r.git", "host:o/r.git"),
        ("host:o/r.git?s3cret", "host:o/r.git"),
        ("me:s3cret@host/x.git", "host/x.git"),
        ("//me:s3cret@host/x", "//host/x"),
        ("helper::https://me:s3cret@host/x", "helper::https://host/x"),
        ("ext::ssh -i s3cret host", "ext::"),
        ("https://[no/host", "https://[no/host"),
        ("https://host/@scope/x", "https://host/@scope/x"),
        ("/srv/a@b/c#/x?", "/srv/a@b/c#/x?"),
        ("../team@home.git", "../team@home.git"),
        ("", ""),
    ],
)
def test_an_address_is_shown_without_secrets(url: str, shown: str) -> None:
    assert public_url(url) == shown


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("unable to access 'https://host/x.git?token=s3cret#s3cret/': no", "unable to access 'https://host/x.git': no"),
        ("'//me:s3cret@host/p' does not appear to be", "'//host/p' does not appear to be"),
        ("repository 'https://s3cret@host/' not found", "repository 'https://host/' not found"),
        ("me:s3cret@host/x.git: no such place", "host/x.git: no such place"),
        ("git@github.com: Permission denied (publickey).", "git@github.com: Permission denied (publickey)."),
        ("Is it there? Look.", "Is it there? Look."),
    ],
)
def test_what_git_says_is_told_without_secrets(said: str, shown: str) -> None:
    assert without_secrets(said) == shown
