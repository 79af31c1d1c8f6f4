"""Searches at the address that the configuration names, and at no other."""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from skillgit.errors import ConfigError, ModelConfigError, ModelError, TransientModelError
from skillgit.models.http.failures import is_loopback
from skillgit.tasks.options import text_option, whole_option
from skillgit.tasks.toolloop import clip

_RETRIES = 4
_WAIT = 1.0  # seconds before the first retry, doubled before each further one
_LARGEST = 2_000_000  # bytes of one answer
_FIELDS = (("title",), ("url", "link"), ("snippet", "content", "text", "body", "description"))
_LISTS = ("results", "data", "items", "organic")
_QUERIES = re.compile(r"<search_queries>(.*?)</search_queries>", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True)
class Search:
    """One place to search. Safe to call from many threads; a query is sent once while this object lives.

    Attributes:
        url: https, or http on this machine.
        token: sent as `Authorization`; blank sends none.
        most: results of one query.
        seconds: that one attempt may take.
    """

    url: str
    token: str = field(repr=False)
    provider: str
    most: int
    seconds: float
    _known: dict[str, str] = field(default_factory=dict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @classmethod
    def of(cls, options: Mapping[str, Any], environ: Mapping[str, str] | None = None) -> Search:
        """From the `env.search_…` settings. Raises `ConfigError` for an address or a token that cannot be used."""
        url, variable = text_option(options, "search_api_url"), text_option(options, "search_auth_env")
        _check(url)
        token = (os.environ if environ is None else environ).get(variable, "").strip() if variable else ""
        if variable and not token:
            raise ConfigError(f"the environment variable {variable} is not set", fix=f"export {variable}=…")
        if not (token.isascii() and token.isprintable()):
            raise ConfigError(f"the token in {variable} holds characters that cannot be sent", fix="copy it again")
        most = whole_option(options, "search_max_num_results", 4)
        seconds = float(options.get("search_timeout_seconds") or 20.0)
        return cls(url, token, text_option(options, "search_provider"), most, seconds)

    def identity(self) -> dict[str, Any]:
        """What a digest says of it: not where it is, and nothing secret."""
        return {"provider": self.provider, "results": self.most}

    def find(self, query: str) -> str:
        """The results as text.

        Raises:
            ModelError: the search failed, which says nothing about the target.
        """
        with self._lock:
            known = self._known.get(query)
        if known is None:
            known = clip(shown(self._send(query), self.most))
            with self._lock:
                self._known[query] = known
        return known

    def _send(self, query: str) -> bytes:
        body = {"query": query, "max_num_results": self.most, "provider": self.provider}
        headers = {"Content-Type": "application/json", **({"Authorization": self.token} if self.token else {})}
        for attempt in range(_RETRIES + 1):
            if attempt:
                time.sleep(_WAIT * 2 ** (attempt - 1))
            try:
                # The address was checked: https, or this machine.
                request = Request(self.url, json.dumps(body).encode(), headers, method="POST")  # noqa: S310
                with (_HERE if is_loopback(self.url) else _ANYWHERE).open(request, timeout=self.seconds) as answer:
                    data: bytes = answer.read(_LARGEST)
                    return data
            except HTTPError as error:
                error.close()
                failure = self._refused(error.code)
                if not isinstance(failure, TransientModelError):
                    raise failure from None
            except (URLError, OSError, ValueError) as error:
                failure = self._failed(str(getattr(error, "reason", error)))
        raise failure

    def _refused(self, status: int) -> ModelError:
        if status in (408, 429) or status >= 500:
            return self._failed(f"status {status}")
        what = f"the search at {self.url} refused the request"
        if status in (401, 403):
            return ModelConfigError(what, why=f"status {status}", fix="check the token that env.search_auth_env names")
        if status in (404, 405) or status < 400:
            return ModelConfigError(what, why=f"status {status}", fix="check env.search_api_url")
        return ModelError(what, why=f"status {status}", fix="see what it has against this query")

    def _failed(self, why: str) -> TransientModelError:
        fix = "see that it runs, then run the same command again: finished calls are kept"
        return TransientModelError(f"the search at {self.url} gave no answer", why=why, fix=fix)


class _Stay(HTTPRedirectHandler):
    """Goes nowhere else: the token is for the configured address."""

    def redirect_request(self, *_: Any) -> None:
        return None


_ANYWHERE = build_opener(_Stay)
_HERE = build_opener(_Stay, ProxyHandler({}))


def queries_in(text: str, most: int) -> list[str]:
    """What a reply asks to be searched, each once: a JSON list or object, or text with lines, `;` or `,` between."""
    found = _QUERIES.findall(text)
    if not found:
        return []
    said = found[-1].strip()
    try:
        wanted = list(_texts(json.loads(said)))
    except (ValueError, RecursionError):
        parts = next((parts for mark in ("\n", ";", ",") if len(parts := said.split(mark)) > 1), [said])
        wanted = [part.strip().lstrip("-*•").strip() for part in parts]
    return list(dict.fromkeys(" ".join(query.split())[:400] for query in wanted if query.strip()))[:most]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)


def shown(data: bytes, most: int) -> str:
    """An answer as the target reads it: title, address and text of each result, or its text as it is."""
    text = data.decode("utf-8", "replace").strip()
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text or "nothing was found"
    if isinstance(value, dict):
        value = next((value[name] for name in _LISTS if isinstance(value.get(name), list)), value)
    results = value if isinstance(value, list) else [value]
    parts = [_result(result) for result in results[:most]]
    return "\n\n".join(part for part in parts if part) or "nothing was found"


def _result(result: Any) -> str:
    if not isinstance(result, dict):
        return result if isinstance(result, str) else ""
    texts = [next((result[name] for name in names if isinstance(result.get(name), str)), "") for names in _FIELDS]
    return "\n".join(text.strip() for text in texts if text.strip()) or json.dumps(result, ensure_ascii=False)


def _check(url: str) -> None:
    """Refuse an address that others could read along, or that is none."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        host = None
    if not host or not (parts.scheme == "https" or (parts.scheme == "http" and is_loopback(url))):
        raise ConfigError(
            "env.search_api_url must be an https address" if url else "env.search_mode custom_search needs an address",
            why="questions, and a token, are sent there; none is known by default",
            fix="set env.search_api_url to the service that you use, such as https://search.example.org/query",
        )
