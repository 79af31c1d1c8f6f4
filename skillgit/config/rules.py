"""Rules between values: what a type alone cannot say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from skillgit.config.schema import Config
from skillgit.errors import ConfigError

_CHOICES = {
    "optimizer.profile": ("standard", "small"),
    "optimizer.skill_update_mode": ("patch", "rewrite_from_suggestions", "full_rewrite_minibatch"),
    "optimizer.lr_control_mode": ("fixed", "autonomous", "none"),
    "optimizer.lr_scheduler": ("constant", "linear", "cosine", "autonomous"),
    "optimizer.longitudinal_pair_policy": ("mixed", "changed", "unchanged"),
    "optimizer.skill_aware_appendix_source": ("both", "failure_only"),
    "evaluation.gate_metric": ("hard", "soft", "mixed"),
    "env.split_mode": ("", "ratio", "split_dir"),
    "git.sign": ("auto", "never"),
    "git.push_gate": ("off", "warn", "block"),
    "sleep.miner": ("auto", "heuristic", "llm"),
    **dict.fromkeys(
        ("model.thinking", "model.optimizer_thinking", "model.target_thinking"),
        ("", "server_default", "enabled", "disabled"),
    ),
    "model.claude.permission_mode": ("", "dontAsk", "acceptEdits", "bypassPermissions"),
    "model.codex.sandbox": ("", "read-only", "workspace-write", "danger-full-access"),
    "model.codex.approval_policy": ("", "never", "on-request", "on-failure", "untrusted"),
    "model.cursor.sandbox": ("", "enabled", "disabled"),
    **dict.fromkeys(("model.optimizer_region", "model.target_region"), ("", "global_en", "cn_zh")),
}

# Lowest and highest allowed value.
_RANGES: dict[str, tuple[float, float]] = {
    "model.timeout": (0.001, float("inf")),
    "model.optimizer_timeout": (0, float("inf")),
    "model.target_timeout": (0, float("inf")),
    "model.retries": (0, 20),
    "model.optimizer_max_tokens": (0, float("inf")),
    "model.rewrite_max_completion_tokens": (0, float("inf")),
    "model.claude.max_thinking_tokens": (0, float("inf")),
    "model.local.context": (256, float("inf")),
    "model.local.threads": (0, float("inf")),
    "train.num_epochs": (1, float("inf")),
    "train.train_size": (0, float("inf")),
    "train.batch_size": (1, float("inf")),
    "train.accumulation": (1, float("inf")),
    "gradient.minibatch_size": (1, float("inf")),
    "gradient.merge_batch_size": (2, float("inf")),
    "gradient.analyst_workers": (1, 1024),
    "gradient.trajectory_chars": (200, float("inf")),
    "optimizer.learning_rate": (1, float("inf")),
    "optimizer.min_learning_rate": (1, float("inf")),
    "optimizer.slow_update_samples": (1, float("inf")),
    "optimizer.skill_aware_consolidate_threshold": (0, float("inf")),
    "evaluation.sel_env_num": (0, float("inf")),
    "evaluation.test_env_num": (0, float("inf")),
    "evaluation.gate_mixed_weight": (0, 1),
    "evaluation.semantic_density_weight": (0, 1),
    "evaluation.length_weight": (0, 1),
    "evaluation.repeats": (1, 100),
    "evaluation.confidence": (0, 0.9999),
    "evaluation.confirm_ratio": (0, 0.9),
    "evaluation.max_error_rate": (0, 1),
    "env.limit": (0, float("inf")),
    "env.workers": (1, 1024),
    "env.exec_timeout": (0.001, float("inf")),
    "env.max_completion_tokens": (0, float("inf")),
    "lint.max_description_tokens": (0, float("inf")),
    "lint.max_body_tokens": (0, float("inf")),
    "budget.calls": (0, float("inf")),
    "budget.tokens": (0, float("inf")),
    "budget.cost": (0, float("inf")),
    "budget.time": (0, float("inf")),
    "sleep.lookback_hours": (0, float("inf")),
    "sleep.keep_days": (1, float("inf")),
    "sleep.max_sessions": (0, float("inf")),
    "sleep.max_tasks": (1, float("inf")),
    "sleep.val_fraction": (0, 0.9),
    "sleep.test_fraction": (0, 0.9),
    "sleep.min_val": (1, float("inf")),
    "sleep.edit_budget": (1, float("inf")),
    "sleep.rollouts": (1, 100),
    "sleep.dream_factor": (0, 20),
    "sleep.recall": (0, 1000),
    "sleep.hour": (-1, 23),
    "sleep.min_sessions": (0, float("inf")),
    "sleep.quiet_minutes": (0, float("inf")),
}


_VARIABLES = ("model.api_key_env", "model.optimizer_api_key_env", "model.target_api_key_env")
_ADDRESSES = (
    *("model.base_url", "model.optimizer_base_url", "model.target_base_url"),
    *("model.azure.endpoint", "model.optimizer_azure.endpoint", "model.target_azure.endpoint"),
)


def check(config: Config, where: Mapping[str, str]) -> None:
    """Raise `ConfigError` for the first value out of its range or choices, with its place."""
    for key, allowed in _CHOICES.items():
        value = _get(config, key)
        if value not in allowed:
            names = ", ".join(name or "(blank)" for name in allowed)
            raise ConfigError(f"{key} is {value!r}", where=where.get(key, ""), fix=f"choose one of: {names}")
    for key, (low, high) in _RANGES.items():
        value = _get(config, key)
        if not low <= value <= high:
            limit = f"between {low:g} and {high:g}" if high != float("inf") else f"at least {low:g}"
            raise ConfigError(f"{key} is {value:g}, and must be {limit}", where=where.get(key, ""))
    _check_secrets(config, where)
    optimizer = config.optimizer
    for key, plain in (("skill_update_mode", "patch"), ("use_skill_aware_reflection", False)):
        if optimizer.profile == "small" and getattr(optimizer, key) != plain:
            raise ConfigError(
                f"optimizer.profile small knows no optimizer.{key} {getattr(optimizer, key)}",
                where=where.get(f"optimizer.{key}", ""),
                fix="use the standard profile, or leave it out",
            )
    if config.sleep.val_fraction + config.sleep.test_fraction >= 1:
        raise ConfigError(
            "sleep.val_fraction and sleep.test_fraction leave nothing to learn from",
            where=where.get("sleep.val_fraction", "") or where.get("sleep.test_fraction", ""),
            fix="their sum must be below 1",
        )
    # A rate below the default floor is a constant schedule; only a stated floor can be wrong.
    if "optimizer.min_learning_rate" in where and optimizer.min_learning_rate > optimizer.learning_rate:
        raise ConfigError(
            "optimizer.min_learning_rate is above optimizer.learning_rate", where=where["optimizer.min_learning_rate"]
        )


def _check_secrets(config: Config, where: Mapping[str, str]) -> None:
    """The configuration is kept in git: a key in it must be refused, and not be repeated on the screen."""
    for key in _VARIABLES:
        if not re.fullmatch(r"|[A-Za-z_][A-Za-z0-9_]*", _get(config, key)):
            what = f"{key} must be the name of an environment variable, not the key itself"
            raise ConfigError(what, where=where.get(key, ""), fix="export MY_KEY=…, and name MY_KEY here")
    for key in _ADDRESSES:
        address = _get(config, key)
        if "@" in address.partition("://")[2].partition("/")[0] or "?" in address or "#" in address:
            what = f"{key} holds a name, a password or a query"
            raise ConfigError(what, where=where.get(key, ""), fix="leave it out; keys come from the environment")


def _get(config: Config, key: str) -> Any:
    value: Any = config
    for name in key.split("."):
        value = getattr(value, name)
    return value
