"""Which backend each role uses, and what settings of published backend families mean for it.

SkillOpt names a pair of backends with one label, and has a family of keys for each kind of server. Here every role has
the same few keys whatever its backend is, so both are resolved once all layers are known.
"""

from __future__ import annotations

from collections.abc import Callable
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
_UNSET = "openai_chat"
"""What SkillOpt's base file says for both roles; it takes it for "not chosen", so that `model.backend` decides."""

_SERVER = {
    "base_url": "base_url",
    "temperature": "temperature",
    "timeout_seconds": "timeout",
    "max_tokens": "max_tokens",
    "thinking_mode": "thinking",
    "enable_thinking": "thinking",
}
_FAMILIES = {"qwen_chat": _SERVER, "minimax": {**_SERVER, "region": "region", "model": ""}}
_BACKEND_OF = {"qwen_chat": "qwen_chat", "minimax": "minimax_chat"}

DEFERRED = {
    f"model.{role}{family}_{leaf}": (family, leaf)
    for family, leaves in _FAMILIES.items()
    for role in ("", *(f"{role}_" for role in _ROLES))
    for leaf in leaves
}
"""Key of a family of servers to the family and setting."""

_SENTINELS = ("gpt-5.4", "gpt-5.5")  # models that the published base files name for every backend
_THEIR_MODELS = {
    "claude_chat": "claude-sonnet-4-6",
    "claude_code_exec": "claude-sonnet-4-6",
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
    backends = {role: _backend(out, role, report) for role in _ROLES}
    for key, (family, leaf) in DEFERRED.items():
        if key in layer and layer[key].value not in (None, ""):
            _apply(out, layer, key, (family, leaf), backends, report)
    for role, backend in backends.items():
        _substitute(out, layer, role, backend, report)
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


def _apply(
    out: Layer, layer: Layer, key: str, setting: tuple[str, str], backends: dict[str, str], report: Report
) -> None:
    family, leaf = setting
    own = next((role for role in _ROLES if key.startswith(f"model.{role}_")), "")
    users = [role for role in _ROLES if backends[role] == _BACKEND_OF[family] and own in ("", role)]
    if not users:
        report(f"{layer[key].where}: {key} has no effect: no role of it uses {_BACKEND_OF[family]}")
    for role in users if leaf != "model" else ():
        if own or f"model.{role}_{family}_{leaf}" not in layer:
            place = _place(role, _FAMILIES[family][leaf])
            if place not in out:
                out[place] = _value(key, leaf, layer[key])
                report(f"{layer[key].where}: {key} is read as {place}")


def _place(role: str, name: str) -> str:
    """Where a setting of one role is kept; the target's token limit is the benchmark's."""
    return "env.max_completion_tokens" if (role, name) == ("target", "max_tokens") else f"model.{role}_{name}"


def _value(key: str, leaf: str, value: Value) -> Value:
    raw: Any = value.value
    if leaf in ("enable_thinking", "thinking_mode"):
        # SkillOpt's older switch: true asks for thinking, false says nothing.
        words = {"true": "enabled", "false": "server_default"}
        return Value(words.get(str(raw).lower(), raw), value.where)
    if leaf in ("temperature", "timeout_seconds", "max_tokens") and isinstance(raw, str):
        try:
            return Value(int(raw) if leaf == "max_tokens" else float(raw), value.where)
        except ValueError:
            raise ConfigError(f"{key} must be a number, not {raw!r}", where=value.where) from None
    return value


def _substitute(out: Layer, layer: Layer, role: str, backend: str, report: Report) -> None:
    """As SkillOpt does, read the model that its base file names for everyone as the backend's own; never unsaid."""
    key = f"model.{role}"
    value = out.get(key)
    if value is None or value.value not in _SENTINELS or value.where.startswith("--set"):
        return
    named = layer.get("model.minimax_model") if backend == "minimax_chat" else None
    model = str(named.value) if named and named.value else _THEIR_MODELS.get(backend)
    if model:
        out[key] = Value(model, value.where)
        report(f"{value.where}: {key} {value.value!r} is read as {model!r}, the model of {backend}")
