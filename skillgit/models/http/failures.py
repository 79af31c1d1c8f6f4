"""From a failed HTTP exchange to an error a person can act on. Keys and addresses' secrets never pass through."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from skillgit.errors import (
    ContextLengthError,
    ModelConfigError,
    ModelError,
    RefusalError,
    TransientModelError,
)
from skillgit.models.base import ModelSpec
from skillgit.models.http.families import OPENAI_URL
from skillgit.models.retry import Failure, asked_wait

_TRANSIENT = {408, 409, 425, 429}
_TOO_LONG = re.compile(
    r"context_length_exceeded|exceed_context_size|maximum context length|context (window|length|size)"
    r"|(prompt|input|request) is too long|too many (input|prompt) tokens",
    re.IGNORECASE,
)
_FORMAT = re.compile(r"response_format|json_schema|json_object|json schema|grammar|guided|structured", re.IGNORECASE)
_FILTERED = re.compile(r"content_filter|content_policy|content management policy|safety system", re.IGNORECASE)
_BEARER = re.compile(r"\bBearer\s+\S+", re.IGNORECASE)
_MOST_WORDS = 300
_SHORTEST_KEY = 8  # characters; what is shorter is a stand-in, and may be a word


@dataclass(frozen=True)
class Endpoint:
    """Where a model is reached, as far as a message may tell.

    Attributes:
        url: address without user, password, query and fragment.
        query: the address's query, sent with every request.
        key: API key, known here only to be blotted out.
    """

    url: str
    model: str
    role: str
    query: Mapping[str, str] = field(default_factory=dict, repr=False)
    key: str = field(default="", repr=False)

    @property
    def name(self) -> str:
        return f"{self.url} (model {self.model!r})"

    def clean(self, text: str) -> str:
        """`text` on one line, without the key, cut to a readable length."""
        secretless = text.replace(self.key, "[key]") if self.key else text
        line = " ".join(_BEARER.sub("Bearer [key]", secretless).split())
        return line if len(line) <= _MOST_WORDS else line[:_MOST_WORDS] + "…"

    def blotted(self, text: str) -> str:
        """An answer without the key, should a server or a proxy before it repeat it."""
        return text.replace(self.key, "[key]") if len(self.key) >= _SHORTEST_KEY else text


def endpoint(spec: ModelSpec, default_url: str) -> Endpoint:
    """The checked endpoint of `spec`.

    Raises:
        ModelConfigError: the address is no http(s) URL, the model has no name, or the key cannot be sent.
    """
    setting = f"set model.base_url (or model.{spec.role}_base_url) to an address such as http://127.0.0.1:8000/v1"
    try:
        parts = urlsplit(spec.base_url.strip() or default_url)
        host, port = parts.hostname or "", parts.port
    except ValueError as err:
        raise ModelConfigError("the model's base_url is not a URL", why=str(err), fix=setting) from None
    if parts.scheme not in ("http", "https") or not host:
        raise ModelConfigError("the model's base_url is not an http or https URL", fix=setting)
    shown_host = f"[{host}]" if ":" in host else host
    netloc = shown_host if port is None else f"{shown_host}:{port}"
    url = urlunsplit((parts.scheme, netloc, parts.path, "", ""))
    place = Endpoint(url, spec.model, spec.role, dict(parse_qsl(parts.query)), spec.api_key.strip())
    _check_sendable(place)
    if not place.key and url.rstrip("/") == OPENAI_URL:
        raise ModelConfigError(
            f"{place.name} needs an API key",
            fix=f"export OPENAI_API_KEY=…, or name another server: model.{spec.role}_base_url, AZURE_OPENAI_ENDPOINT",
        )
    if place.key and parts.scheme == "http" and not is_loopback(url):
        raise ModelConfigError(
            f"{place.url} would get the API key unencrypted",
            fix=f"give an https address, or no key (model.{spec.role}_api_key_env) if the server needs none",
        )
    return place


def is_loopback(url: str) -> bool:
    """Whether an address is this machine."""
    return urlsplit(url).hostname in ("127.0.0.1", "::1", "localhost")


def _check_sendable(place: Endpoint) -> None:
    if not place.model.strip():
        raise ModelConfigError(f"no model named for {place.url}", fix=f"set model.{place.role}")
    if not (place.key.isascii() and place.key.isprintable()):
        raise ModelConfigError(
            f"the API key for {place.name} holds characters that cannot be sent",
            fix="copy the key again, without line breaks, into its environment variable",
        )


def from_status(place: Endpoint, status: int, body: object, headers: Mapping[str, str]) -> Failure:
    """The failure an error status stands for."""
    words = place.clean(_words(body))
    said = f"HTTP {status}: {words}" if words else f"HTTP {status}"
    error = _special(place, status, said, _identity(body)) or _by_status(place, status, said)
    if not isinstance(error, TransientModelError):
        rejects = _rejected(status, body) if isinstance(error, ModelConfigError) else ""
        if rejects in ("temperature", "reasoning_effort"):
            error.fix = f"leave model.{place.role}_{rejects} blank for this model"
        return Failure(error, rejects=rejects)
    refused = headers.get("x-should-retry", "").lower() == "false"
    return Failure(error, retry=not refused, wait=asked_wait(headers), busy=status == 429)


def transient(place: Endpoint, what: str, why: str = "", fix: str = "", *, retry: bool = True) -> Failure:
    """A failure that another try may mend."""
    return Failure(TransientModelError(f"{place.name} {what}", why=place.clean(why), fix=fix or _later(place)), retry)


def refused(place: Endpoint, why: str) -> Failure:
    """The model, or a filter before it, declined."""
    return Failure(_refusal(place, place.clean(why)))


def _special(place: Endpoint, status: int, said: str, identity: str) -> ModelError | None:
    """Errors that servers tell by words rather than by status."""
    text = f"{identity} {said}"
    if status in (401, 403, 404, 429):
        if "insufficient_quota" in text:
            return ModelConfigError(
                f"{place.name} has no quota left", why=said, fix="top up the account or use another model"
            )
        return None
    if status == 413 or _TOO_LONG.search(text):
        return ContextLengthError(
            f"the request does not fit the context of {place.name}",
            why=said,
            fix="use a model with a longer context, or shorten the skill or the tasks",
        )
    return _refusal(place, said) if status < 500 and _FILTERED.search(text) else None


def _refusal(place: Endpoint, why: str) -> RefusalError:
    return RefusalError(
        f"{place.name} declined to answer", why=why, fix="look at the task's text, or use another model"
    )


def _by_status(place: Endpoint, status: int, said: str) -> ModelError:
    if 300 <= status < 400:
        return ModelConfigError(
            f"{place.name} sends us on to another address, which is not followed",
            why=f"HTTP {status}; the key and the questions are for the server that is configured",
            fix=f"set model.base_url (or model.{place.role}_base_url) to the address that answers itself",
        )
    if status in (401, 403):
        # The server's words are left out: some servers quote part of the key in them.
        return ModelConfigError(
            f"{place.name} refused the API key",
            why=f"HTTP {status}",
            fix=f"set the environment variable that model.api_key_env (or model.{place.role}_api_key_env) names",
        )
    if status == 404:
        fix = f"check model.{place.role}, and that model.base_url is right (it usually ends in /v1)"
        return ModelConfigError(f"{place.name} was not found", why=said, fix=fix)
    if status in _TRANSIENT or (status >= 500 and status != 501):
        busy = "is busy (rate limit)" if status == 429 else "failed"
        return TransientModelError(f"{place.name} {busy}", why=said, fix=_later(place))
    return ModelConfigError(
        f"{place.name} refused the request", why=said, fix=f"check the model.{place.role}* settings against the server"
    )


def _later(place: Endpoint) -> str:
    return f"check that the server at {place.url} is up, then run the same command again: finished work is kept"


def _rejected(status: int, body: object) -> str:
    """Which field of the request the server does not know, as far as it says."""
    text = f"{_identity(body)} {_words(body)}"
    parameter = body.get("param") if isinstance(body, Mapping) else None
    if status in (400, 422) and (parameter == "max_tokens" or "max_completion_tokens" in text):
        return "max_tokens"
    if status in (400, 422) and parameter in ("seed", "temperature", "reasoning_effort"):
        return str(parameter)
    if status in (422, 501) or (status == 400 and (parameter == "response_format" or _FORMAT.search(text))):
        return "response_format"
    return ""


def _identity(body: object) -> str:
    if not isinstance(body, Mapping):
        return ""
    return " ".join(str(body[key]) for key in ("code", "type") if body.get(key))


def _words(body: Any) -> str:
    """What the server says, whichever of the usual shapes it uses."""
    if isinstance(body, Mapping):
        for key in ("message", "detail", "error"):
            if body.get(key):
                return _words(body[key])
    if body is None or isinstance(body, str):
        return body or ""
    return json.dumps(body, ensure_ascii=False, default=str)
