"""Rules between values: what a type alone cannot say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillgit.config.schema import Config
from skillgit.errors import ConfigError

_CHOICES = {
    "optimizer.profile": ("standard", "small"),
    "optimizer.lr_scheduler": ("constant", "linear", "cosine"),
    "evaluation.gate_metric": ("hard", "soft", "mixed"),
    "env.split_mode": ("", "ratio", "split_dir"),
    "git.sign": ("auto", "never"),
}

# Lowest and highest allowed value.
_RANGES: dict[str, tuple[float, float]] = {
    "model.timeout": (0.001, float("inf")),
    "model.retries": (0, 20),
    "model.optimizer_max_tokens": (0, float("inf")),
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
    "evaluation.sel_env_num": (0, float("inf")),
    "evaluation.test_env_num": (0, float("inf")),
    "evaluation.gate_mixed_weight": (0, 1),
    "evaluation.max_error_rate": (0, 1),
    "env.limit": (0, float("inf")),
    "env.workers": (1, 1024),
    "env.exec_timeout": (0.001, float("inf")),
    "env.max_completion_tokens": (0, float("inf")),
    "budget.calls": (0, float("inf")),
    "budget.tokens": (0, float("inf")),
    "budget.cost": (0, float("inf")),
    "budget.time": (0, float("inf")),
}


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
    optimizer = config.optimizer
    # A run with a learning rate below the floor keeps the rate, as a constant schedule; only a stated floor is wrong.
    if "optimizer.min_learning_rate" in where and optimizer.min_learning_rate > optimizer.learning_rate:
        raise ConfigError(
            "optimizer.min_learning_rate is above optimizer.learning_rate", where=where["optimizer.min_learning_rate"]
        )


def _get(config: Config, key: str) -> Any:
    value: Any = config
    for name in key.split("."):
        value = getattr(value, name)
    return value
