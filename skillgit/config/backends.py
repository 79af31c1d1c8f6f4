"""Which backend each role uses, and what settings of published backend families mean for it.

SkillOpt names a pair of backends with one label, and has a family of keys for each kind of server. Here every role has
the same few keys whatever its backend is, so both are resolved once all layers are known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from skillgit.config.layers import Layer, Value
from skillgit.errors import ConfigError

LABELS = {
    "azure_openai": ("openai_chat", "openai_chat"),
    "claude_code_exec": ("openai_chat", "claude_code_exec"),
    "cursor_exec": ("openai_chat", "cursor_exec"),
    "copilot_exec": ("openai_chat", "copilot_exec"),
    "qwen_chat": ("openai_chat", "qwen_chat"),
    "minimax_chat": ("openai_chat", "minimax_chat"),
    "codex": ("codex_exec", "codex_exec"),
}
"""Label to the backends of optimizer and target; any other label is the backend of both."""

_ROLES = ("optimizer", "target")
_BLANK = "azure_openai"
_UNSET = "openai_chat"
"""What SkillOpt's base file says for both roles; it takes it for "not chosen", so that `model.backend` decides."""


@dataclass(frozen=True)
class Family:
    """A setting that SkillOpt keeps under the name of a backend.

    Attributes:
        backend: the backend that it is for.
        role: the role it is for; blank for both.
        leaf: what it is called there.
        setting: what it is called in the keys of a role; blank for the role's model.
    """

    backend: str
    role: str
    leaf: str
    setting: str


_SERVER = {
    "base_url": "base_url",
    "temperature": "temperature",
    "timeout_seconds": "timeout",
    "max_tokens": "max_tokens",
    "thinking_mode": "thinking",
    "enable_thinking": "thinking",
}
_SERVERS = {"qwen_chat": ("qwen_chat", _SERVER), "minimax": ("minimax_chat", {**_SERVER, "region": "region"})}

# A role's own keys come before shared ones, which then give way.
DEFERRED = {
    f"model.{role}_{name}_{leaf}": Family(backend, role, leaf, setting)
    for name, (backend, leaves) in _SERVERS.items()
    for role in _ROLES
    for leaf, setting in leaves.items()
} | {
    f"model.{name}_{leaf}": Family(backend, "", leaf, setting)
    for name, (backend, leaves) in _SERVERS.items()
    for leaf, setting in leaves.items()
}
DEFERRED |= {f"model.copilot_chat_{role}_model": Family("copilot_chat", role, "model", "") for role in _ROLES}
DEFERRED |= {
    "model.minimax_model": Family("minimax_chat", "", "model", ""),
    "model.copilot_chat_timeout": Family("copilot_chat", "", "timeout", "timeout"),
    "model.codex_exec_reasoning_effort": Family("codex_exec", "", "effort", "reasoning_effort"),
    "model.claude_code_exec_effort": Family("claude_code_exec", "target", "effort", "reasoning_effort"),
}
"""Key of a backend's settings in SkillOpt's files to what it is for."""

_SENTINELS = ("gpt-5.4", "gpt-5.5")  # models that the published base files name for every backend
_THEIR_MODELS = {
    "claude_chat": "claude-sonnet-4-6",
    "claude_code_exec": "claude-sonnet-4-6",
    "copilot_exec": "",  # its own choice
    "cursor_exec": "composer-2.5",
    "qwen_chat": "Qwen/Qwen3.5-4B",
    "minimax_chat": "MiniMax-M3",
}

Report = Callable[[str], None]


def settle(layer: Layer, report: Report) -> Layer:
    """All layers together, with labels and family keys resolved to the keys of each role.

    Args:
        layer: dotted keys, those of `DEFERRED` among them.
        report: told about each thing that is read as another, or has no effect.
    """
    out = {key: value for key, value in layer.items() if key not in DEFERRED}
    label = out.get("model.backend")
    if label is not None and label.value in (None, ""):
        report(f"{label.where}: model.backend is blank, which is read as {_BLANK!r}")
        out["model.backend"] = Value(_BLANK, label.where)
    backends = {role: _backend(out, role, report) for role in _ROLES}
    for key, family in DEFERRED.items():
        if key in layer and layer[key].value not in (None, ""):
            _apply(out, key, layer[key], family, backends, report)
    for role, backend in backends.items():
        _substitute(out, role, backend, report)
    return out


def _backend(out: Layer, role: str, report: Report) -> str:
    """The role's backend; where a label decides it, it is written into the layer."""
    key, label = f"model.{role}_backend", out.get("model.backend")
    chosen = out.get(key)
    if chosen is not None and _unset(chosen, label):
        if str(chosen.value or ""):
            report(f"{chosen.where}: {key} {chosen.value!r} is read as the backend that model.backend names")
        del out[key]
        chosen = None
    if chosen is not None:
        # A label that names one backend for both roles is that backend where a role names it.
        name = LABELS.get(str(chosen.value), ("", ""))
        out[key] = Value(name[0], chosen.where) if name[0] and name[0] == name[1] else chosen
        return str(out[key].value)
    if label is None or label.value not in LABELS:
        return str(label.value) if label else ""
    backend = LABELS[str(label.value)][_ROLES.index(role)]
    if backend != label.value:
        report(f"{label.where}: model.backend {label.value!r} gives the {role} the backend {backend!r}")
        out[key] = Value(backend, label.where)
    return backend


def _unset(chosen: Value, label: Value | None) -> bool:
    """A role's backend that a published base file carries without meaning it; one from the command line is meant."""
    text = str(chosen.value or "").strip().lower()
    return not text or (text == _UNSET and label is not None and not chosen.where.startswith("--set"))


def _apply(out: Layer, key: str, value: Value, family: Family, backends: dict[str, str], report: Report) -> None:
    users = [role for role in _ROLES if backends[role] == family.backend and family.role in ("", role)]
    if not users:
        report(f"{value.where}: {key} has no effect: no role of it uses {family.backend}")
    for role in users:
        place = _place(role, family.setting)
        if place not in out or (not family.setting and _nobodys_choice(out[place])):
            out[place] = _value(key, family, value)
            report(f"{value.where}: {key} is read as {place}")


def _place(role: str, setting: str) -> str:
    """Where a setting of one role is kept; the target's token limit is the benchmark's."""
    if not setting:
        return f"model.{role}"
    return "env.max_completion_tokens" if (role, setting) == ("target", "max_tokens") else f"model.{role}_{setting}"


def _value(key: str, family: Family, value: Value) -> Value:
    raw: Any = value.value
    if family.setting == "thinking":
        # SkillOpt's older switch: true asks for thinking, false says nothing.
        words = {"true": "enabled", "false": "server_default"}
        return Value(words.get(str(raw).lower(), raw), value.where)
    if family.setting == "reasoning_effort":
        return Value("" if raw in ("none", "off") else raw, value.where)
    if family.setting in ("temperature", "timeout", "max_tokens") and isinstance(raw, str):
        try:
            return Value(int(raw) if family.setting == "max_tokens" else float(raw), value.where)
        except ValueError:
            raise ConfigError(f"{key} must be a number, not {raw!r}", where=value.where) from None
    return value


def _nobodys_choice(model: Value) -> bool:
    """Whether a model is the one that the published base files name for every backend."""
    return model.value in _SENTINELS and not model.where.startswith("--set")


def _substitute(out: Layer, role: str, backend: str, report: Report) -> None:
    """As SkillOpt does, read the model that its base file names for everyone as the backend's own; never unsaid."""
    key = f"model.{role}"
    value = out.get(key)
    if value is None or not _nobodys_choice(value):
        return
    model = _THEIR_MODELS.get(backend)
    if model is not None:
        out[key] = Value(model, value.where)
        report(f"{value.where}: {key} {value.value!r} is read as {model!r}, the model of {backend}")
