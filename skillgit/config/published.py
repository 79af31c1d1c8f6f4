"""Configuration as SkillOpt writes it: flat names, aliases of keys and values, and keys that have no effect here.

Everything accepted under another name is reported; nothing is dropped without a word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from skillgit.config.backends import DEFERRED
from skillgit.config.layers import Layer, Value
from skillgit.errors import ConfigError

_SECTION_OF = {
    "model": (
        "optimizer_backend target_backend reasoning_effort rewrite_reasoning_effort rewrite_max_completion_tokens"
    ),
    "train": "num_epochs train_size batch_size accumulation seed steps_per_epoch",
    "gradient": "minibatch_size merge_batch_size analyst_workers failure_only max_analyst_rounds",
    "optimizer": (
        "lr_scheduler lr_control_mode skill_update_mode use_slow_update slow_update_samples"
        " slow_update_gate_with_selection longitudinal_pair_policy use_meta_skill use_skill_aware_reflection"
        " skill_aware_appendix_source skill_aware_consolidate_threshold"
    ),
    "evaluation": (
        "use_gate sel_env_num test_env_num eval_test gate_metric gate_mixed_weight use_semantic_density"
        " semantic_density_weight leading_words"
    ),
    "env": (
        "skill_init split_mode split_ratio split_seed split_dir data_path split_output_dir exec_timeout out_root"
        " workers limit max_turns max_completion_tokens max_steps max_tool_turns use_local_tools data_dirs search_mode"
        " search_api_url search_auth_env search_provider search_max_num_results search_timeout_seconds"
        " max_queries_per_turn image_detail shuffle_choices use_theorem use_sketch data_root mode"
    ),
}

FLAT = {leaf: f"{section}.{leaf}" for section, leaves in _SECTION_OF.items() for leaf in leaves.split()} | {
    "env": "env.name",
    "model_backend": "model.backend",
    "optimizer_model": "model.optimizer",
    "target_model": "model.target",
    "edit_budget": "optimizer.learning_rate",
    "min_edit_budget": "optimizer.min_learning_rate",
    "meta_edit_budget": "optimizer.meta_learning_rate",
}
"""Flat name to its place."""
_ON_OR_OFF = (
    "failure_only use_slow_update slow_update_gate_with_selection use_meta_skill use_skill_aware_reflection use_gate"
    " eval_test use_semantic_density shuffle_choices use_theorem use_sketch"
)
SWITCHES = frozenset(_ON_OR_OFF.split(" "))
"""Flat names of settings that are on or off."""

_VALUE_ALIASES: Mapping[str, Mapping[str, str]] = {
    "optimizer.lr_control_mode": {
        **dict.fromkeys(("manual", "scheduler", "scheduled"), "fixed"),
        **dict.fromkeys(("auto", "optimizer"), "autonomous"),
        **dict.fromkeys(("off", "no_lr"), "none"),
    },
    "optimizer.longitudinal_pair_policy": {
        **dict.fromkeys(("default", "random", "all"), "mixed"),
        **dict.fromkeys(("change", "delta", "10_01", "01_10"), "changed"),
        **dict.fromkeys(("stable", "same", "00_11"), "unchanged"),
    },
    "env.search_mode": {"custom": "custom_search"},
    "optimizer.skill_update_mode": {
        "edits": "patch",
        **dict.fromkeys(("rewrite", "suggestions", "rewrite_suggestions"), "rewrite_from_suggestions"),
        **dict.fromkeys(
            ("full_rewrite", "minibatch_full_rewrite", "skill_rewrite_minibatch"), "full_rewrite_minibatch"
        ),
    },
}
_BACKEND_ALIASES = {
    **dict.fromkeys(("openai_compatible_chat", "openai-compatible", "compat"), "openai_compatible"),
    **dict.fromkeys(("azure", "azure-openai"), "azure_openai"),
    "openai": "codex",
    **dict.fromkeys(("claude", "anthropic"), "claude_chat"),
    **dict.fromkeys(("cursor", "cursor_agent"), "cursor_exec"),
    **dict.fromkeys(("copilot", "copilot_cli", "github_copilot"), "copilot_chat"),
    "qwen": "qwen_chat",
    "minimax": "minimax_chat",
}
_BACKEND_KEYS = ("model.backend", "model.optimizer_backend", "model.target_backend")

Neutral = Callable[[Any], bool]


def _blank(value: Any) -> bool:
    return value in (None, "")


def _anything(value: Any) -> bool:  # noqa: ARG001 - the shape of `Neutral`
    return True


def _one_of(*values: Any) -> Neutral:
    return lambda value: _blank(value) or value in values


_AZURE = ("endpoint", "api_version", "auth_mode", "ad_scope", "managed_identity_client_id")
_MOVED = {
    f"model.{role}azure_openai_{leaf}": f"model.{role}azure.{leaf}"
    for role in ("", "optimizer_", "target_")
    for leaf in _AZURE
}
_MOVED |= {
    "model.codex_exec_path": "model.codex.path",
    "model.codex_exec_profile": "model.codex.profile",
    **{
        f"model.codex_exec_{leaf}": f"model.codex.{leaf}"
        for leaf in ("sandbox", "network_access", "web_search", "approval_policy")
    },
    **{f"model.claude_code_exec_{leaf}": f"model.claude.{leaf}" for leaf in ("path", "profile", "max_thinking_tokens")},
    **{f"model.cursor_exec_{leaf}": f"model.cursor.{leaf}" for leaf in ("path", "sandbox")},
    **{f"model.copilot_exec_{leaf}": f"model.copilot.{leaf}" for leaf in ("path", "home", "allow_all_tools")},
    "model.codex_trace_to_optimizer": "model.trace_to_optimizer",
}
"""Place of a setting in SkillOpt's files to its place here."""
_KEPT_WHEN_BLANK = frozenset(
    (
        *("model.codex.network_access", "model.codex.web_search", "model.copilot.allow_all_tools"),
        *("model.claude.max_thinking_tokens", "model.trace_to_optimizer"),
    )
)
"""Settings that are no text: what SkillOpt's files leave blank there says nothing."""

# Keys of backends and benchmarks that this version does not have: accepted at the value a published file ships, which
# asks for nothing; any other value is refused, since it could not be honoured.
_WITHOUT_EFFECT: dict[str, tuple[Neutral, str]] = {
    "train.steps_per_epoch": (_anything, "it follows from the train tasks and the batch size"),
    "gradient.max_analyst_rounds": (_anything, "the option is retired: an analyst has one round"),
    "optimizer.meta_learning_rate": (_anything, "nothing reads it, in SkillOpt neither"),
    "model.codex_exec_full_auto": (_one_of(True, False), "the option is retired, in SkillOpt too"),
    **dict.fromkeys(
        ("model.codex_exec_use_sdk", "model.claude_code_exec_use_sdk"),
        (_one_of("auto", "cli", "off", "no", "0", "false", False), "agents are run by their command lines"),
    ),
    "env.split_output_dir": (_blank, "a ratio split is computed each time and never written"),
    "env.max_api_workers": (_anything, "env.workers says how many calls are made at once"),
    **dict.fromkeys(
        ("env.judge_model", "env.judge_max_completion_tokens", "env.judge_retries"),
        (_anything, "no benchmark reads it, in SkillOpt neither"),
    ),
}

_SKILLOPT_LIMIT = 120
_LONG_TASKS = {"alfworld": 3600, "officeqa": 900}
"""Benchmarks of many requests a task, to the seconds that our recipes give one."""

_SECRET_ENDINGS = ("api_key", "api-key", "token", "secret", "password")
_OLD_AZURE = {f"model.azure_{leaf}": f"model.azure_openai_{leaf}" for leaf in ("endpoint", "api_version", "api_key")}
_CODEX_ALIASES = {
    **{f"model.{name}": "model.codex_exec_path" for name in ("codex_path", "codex_cli_bin", "codex_bin")},
    **{f"model.{name}": "model.codex_exec_sandbox" for name in ("sandbox", "codex_sandbox")},
}


def translate(layer: Layer, known: Iterable[str]) -> tuple[Layer, tuple[str, ...]]:
    """A layer in this version's own keys and values, and a report line for each thing accepted under another name.

    Args:
        layer: dotted keys as given.
        known: keys of the schema; they always keep their meaning.

    Raises:
        ConfigError: a credential in a file, a flat name beside its structured twin, or a key that would ask for
            something that is not there.
    """
    names = set(known)
    out: Layer = {}
    reports: list[str] = []
    for key, value in layer.items():
        place = key if key in names else _place(key, layer, value, reports)
        if place in _KEPT_WHEN_BLANK and place != key and _blank(value.value):
            continue
        if place in names:
            out[place] = _canonical(place, value, reports)
        elif place.endswith(_SECRET_ENDINGS):
            _refuse_secret(place, value)
        elif place in DEFERRED:
            out[place] = value
        elif place in _WITHOUT_EFFECT:
            _check_without_effect(place, value, reports)
        else:
            out[key] = value
    return out, tuple(reports)


def of_whole_tasks(layer: Layer) -> Iterator[str]:
    """A report line where SkillOpt's limit, which its runs of a benchmark did not look at, would end whole tasks."""
    name, limit = layer.get("env.name"), layer.get("env.exec_timeout")
    usual = _LONG_TASKS.get(str(name.value)) if name else None
    if name and usual and (limit is None or limit.value == _SKILLOPT_LIMIT):
        here = f"ends a whole task of {name.value} after {_SKILLOPT_LIMIT} s here"
        why = "published runs had no such limit"
        yield f"{(limit or name).where}: env.exec_timeout {here}, and {why}: --set env.exec_timeout={usual}"


def is_flat(name: str) -> bool:
    """Whether SkillOpt has a flat name (and so a command-line flag) for a setting."""
    return _renamed(name) != name or name.endswith("api_key")


def _renamed(key: str) -> str:
    """The structured place of a flat name, and the present name of an old one."""
    if "." not in key:
        known = (*_WITHOUT_EFFECT, *_OLD_AZURE, *_CODEX_ALIASES, *_MOVED, *DEFERRED)
        places = (place for place in (f"model.{key}", f"env.{key}") if place in known)
        key = FLAT.get(key) or next(places, key)
    key = _OLD_AZURE.get(key) or _CODEX_ALIASES.get(key) or key
    return _MOVED.get(key, key)


def _place(key: str, layer: Layer, value: Value, reports: list[str]) -> str:
    place = _renamed(key)
    if place != key:
        if place in layer and layer[place].value != value.value:
            raise ConfigError(f"{key} and {place} are the same setting and differ", where=value.where)
        reports.append(f"{value.where}: {key} is read as {place}")
    return place


def _canonical(key: str, value: Value, reports: list[str]) -> Value:
    if not isinstance(value.value, str):
        return value
    aliases = _BACKEND_ALIASES if key in _BACKEND_KEYS else _VALUE_ALIASES.get(key, {})
    text = aliases.get(value.value.strip().lower())
    if text is None:
        return value
    reports.append(f"{value.where}: {key} {value.value!r} is read as {text!r}")
    return Value(text, value.where)


def _refuse_secret(key: str, value: Value) -> None:
    if not _blank(value.value):
        raise ConfigError(
            f"{key} would put a secret into a file",
            where=value.where,
            fix="export it in the environment and name the variable with model.api_key_env",
        )


def _check_without_effect(key: str, value: Value, reports: list[str]) -> None:
    neutral, why = _WITHOUT_EFFECT[key]
    if not neutral(value.value):
        raise ConfigError(f"{key} cannot be honoured", where=value.where, why=why, fix="remove it, or leave it blank")
    if not _blank(value.value):
        reports.append(f"{value.where}: {key} has no effect: {why}")
