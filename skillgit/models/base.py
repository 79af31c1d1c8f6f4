"""What every model is: messages in; text, usage and finish reason out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

Role = Literal["target", "optimizer"]
ROLES: tuple[Role, ...] = ("target", "optimizer")


@dataclass(frozen=True)
class Image:
    """A picture that is sent with a turn.

    Attributes:
        name: its file's name.
        sha256: of its bytes, by which it is known.
        uri: the whole of it as a `data:` address.
        detail: how closely a model looks at it: `auto`, `low` or `high`.
    """

    name: str
    sha256: str
    uri: str = field(repr=False)
    detail: str = "auto"


@dataclass(frozen=True)
class Message:
    """One chat turn. `role` is `system`, `user`, `assistant`, or `tool` for what a tool gave back.

    Attributes:
        images: shown with a user's turn.
        tool_calls: what an assistant's turn asked to be called, in the shape of Chat Completions.
        call_id: of a tool's turn, the call that it answers.
    """

    role: str
    content: str
    images: tuple[Image, ...] = ()
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    call_id: str = ""


@dataclass(frozen=True)
class Usage:
    """Tokens (and dollars) of one call. `None` means the provider did not report it, which is not zero."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    cost: float | None = None


@dataclass(frozen=True)
class Workspace:
    """What an agent finds in the folder that it works in.

    Attributes:
        skill: what the skill is called.
        object: the git object that identifies the skill's files.
        files: path inside the skill's folder, `SKILL.md` among them, to bytes.
        executables: those paths of `files` that are programs.
        attachments: name to text or bytes of the task's files.
        writable: the task asks for changes to files.
    """

    skill: str
    object: str
    files: Mapping[str, bytes] = field(repr=False)
    executables: frozenset[str] = frozenset()
    attachments: Mapping[str, str | bytes] = field(default_factory=dict)
    writable: bool = False


@dataclass(frozen=True)
class Request:
    """One call.

    Attributes:
        messages: the conversation, stable part first so that prompt caches can serve it.
        schema: JSON schema the reply must follow; a backend that cannot enforce it still asks for JSON.
        seed: sampling seed, sent when the backend supports one.
        temperature: `None` keeps the backend's default.
        max_tokens: most tokens to generate; `None` keeps the backend's default.
        effort: how much to think; blank takes the model's own setting.
        tools: OpenAI-style function descriptions.
        workspace: of an agent that works on the request in a folder; only an `ExecTarget` takes one.
    """

    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None = None
    seed: int | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    effort: str = ""
    tools: tuple[Mapping[str, Any], ...] = ()
    workspace: Workspace | None = None


@dataclass(frozen=True)
class Reply:
    """One answer. `text` is never empty: an empty answer is a `TransientModelError`.

    Attributes:
        finish: `stop`, `length` or `tool_calls`.
        reasoning: what the model thought, or an agent did, before it answered, where it tells; never part of `text`.
        files: path to bytes of what an agent made or changed in a workspace that is writable.
    """

    text: str
    usage: Usage = Usage()
    finish: str = "stop"
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    reasoning: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class ModelSpec:
    """How one role's model is reached, resolved from configuration and environment.

    `api_key` is kept out of `repr` and must never be written anywhere.
    """

    role: Role
    backend: str
    model: str
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    timeout: float = 300.0
    temperature: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    retries: int = 4
    options: Mapping[str, Any] = field(default_factory=dict)


@runtime_checkable
class Preparable(Protocol):
    """A model with long work before its first call, such as fetching a file. Optional for backends."""

    def prepare(self, progress: Callable[[int, int, str], None] | None = None) -> None:
        """Do that work now, outside any call's deadline; `progress` takes done and total bytes and a note."""
        ...


@runtime_checkable
class ExecTarget(Protocol):
    """A model that is an agent: it gets the skill as files of a `Request.workspace`, not in the prompt.

    Optional for backends.
    """

    def sandbox(self, *, edits: bool) -> str:
        """What the agent is permitted, in words for the record; `edits` is for tasks that change files.

        Raises:
            ModelConfigError: it cannot make changes as configured.
        """
        ...


class Model(Protocol):
    """A backend bound to one model and role. Safe to call from many threads."""

    spec: ModelSpec

    def complete(self, request: Request, *, timeout: float | None = None) -> Reply:
        """Answer one request.

        Args:
            timeout: seconds left for this call including its retries; `None` means `spec.timeout` per attempt.

        Raises:
            TransientModelError: after the retries that fit in `timeout`.
            ModelConfigError: at once; the message names the endpoint and the setting to change.
            ContextLengthError: the request does not fit.
            RefusalError: the provider declined.
        """
        ...

    def settings(self) -> dict[str, Any]:
        """Everything besides the model name that changes answers (JSON values, no secrets, no addresses)."""
        ...

    def close(self) -> None:
        """Release servers and connections. Idempotent."""
        ...
