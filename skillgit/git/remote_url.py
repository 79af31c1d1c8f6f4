"""Addresses of remotes, as they may be shown and kept."""

from __future__ import annotations

import re

_LOCAL = re.compile(r"[./~](?!/)")
_PARTS = re.compile(r"(?P<scheme>(?:.*?:)?//)?(?:[^/?#]*@)?(?P<place>[^?#]*)", re.DOTALL)
_SAID = re.compile(r"(?<=//)[^\s/@'\"]+@|[^\s/@'\"]+:[^\s/@'\"]+@|(?<=\S)\?[^\s'\"]+")


def public_url(url: str) -> str:
    """A remote's address without user, password, query and fragment; a path on this machine as it is."""
    if _LOCAL.match(url):
        return url
    if url.startswith("ext::"):
        return "ext::"  # the rest is a command
    parts = _PARTS.match(url)
    return (parts["scheme"] or "") + parts["place"] if parts else ""


def without_secrets(text: str) -> str:
    """What git says of a remote, with the same parts of every address left out."""
    return _SAID.sub("", text)
