"""Limits on what a run may spend, checked before every call."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from skillgit.errors import BudgetReachedError, ConfigError
from skillgit.models.base import ModelSpec, Usage


@dataclass(frozen=True)
class Limits:
    """The most a run may use; `None` is no limit.

    Attributes:
        calls: model calls.
        tokens: prompt and completion tokens together.
        cost: dollars.
        seconds: seconds of wall time.
    """

    calls: int | None = None
    tokens: int | None = None
    cost: float | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class Spent:
    """What a run has used so far.

    Attributes:
        unknown_tokens, unknown_cost: calls that did not report tokens or cost; they count as 0 in the sums.
    """

    calls: int = 0
    tokens: int = 0
    cost: float = 0.0
    seconds: float = 0.0
    unknown_tokens: int = 0
    unknown_cost: int = 0

    def plus(self, usage: Usage) -> Spent:
        """With one more call."""
        counts = [n for n in (usage.prompt_tokens, usage.completion_tokens) if n is not None]
        return replace(
            self,
            calls=self.calls + 1,
            tokens=self.tokens + sum(counts),
            cost=self.cost + (usage.cost or 0.0),
            unknown_tokens=self.unknown_tokens + (len(counts) < 2),
            unknown_cost=self.unknown_cost + (usage.cost is None),
        )


class Budget:
    """Counts calls of many threads against limits.

    `reserve` before a call, then `settle` after success or `release` after failure. Calls can never pass their
    limit. Tokens and cost are known only afterwards: calls already under way may carry them past theirs.

    Args:
        limits: the most that may be spent.
        spent: what an earlier part of the same run has used.
        clock: seconds that only grow.
    """

    def __init__(self, limits: Limits, spent: Spent | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self.limits = limits
        self._before = (spent or Spent()).seconds
        self._spent = spent or Spent()
        self._under_way = 0
        self._clock, self._start = clock, clock()
        self._lock = threading.Lock()

    @property
    def spent(self) -> Spent:
        """What is used now, with the seconds since the start (and of earlier parts)."""
        with self._lock:
            return replace(self._spent, seconds=self._seconds())

    def reserve(self) -> None:
        """Take the right to make one call.

        Raises:
            BudgetReachedError: a limit is reached; the call must not be made.
        """
        with self._lock:
            used = replace(self._spent, calls=self._spent.calls + self._under_way, seconds=self._seconds())
            _check(self.limits, used)
            self._under_way += 1

    def settle(self, usage: Usage) -> None:
        """Count a call that was answered. Store its reply first: this may raise, and the call is paid.

        Raises:
            ConfigError: a cost limit is set, and no call so far has had a known cost.
        """
        with self._lock:
            self._under_way -= 1
            self._spent = self._spent.plus(usage)
            blind = self.limits.cost is not None and self._spent.unknown_cost == self._spent.calls
        if blind:
            raise ConfigError(
                "a cost limit is set, but the model does not report what a call costs",
                fix="set model.target_price and model.optimizer_price, e.g. {prompt: 0.15, completion: 0.60} "
                "in dollars per million tokens, or use budget.calls or budget.tokens instead",
            )

    def release(self) -> None:
        """Give back the right to a call that failed."""
        with self._lock:
            self._under_way -= 1

    def _seconds(self) -> float:
        return self._before + self._clock() - self._start


def _check(limits: Limits, used: Spent) -> None:
    for key, limit, value, unit in (
        ("calls", limits.calls, used.calls, "calls"),
        ("tokens", limits.tokens, used.tokens, "tokens"),
        ("cost", limits.cost, used.cost, "dollars"),
        ("time", limits.seconds, used.seconds, "seconds"),
    ):
        if limit is not None and value >= limit:
            raise BudgetReachedError(
                f"the limit of {_exact(limit)} {unit} is reached",
                why=f"used so far: {_exact(value)} {unit}",
                fix=f"finished work is kept; go on with a higher limit: --set budget.{key}={_higher(limit)}",
            )


def _exact(value: float) -> str:
    return f"{value:.4f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def _higher(limit: float) -> str:
    return _exact(limit * 2) if limit else "N"


def prices(spec: ModelSpec) -> tuple[float, float] | None:
    """Dollars per million (prompt, completion) tokens from `spec.options["price"]`; `None` when none are set.

    Raises:
        ConfigError: anything but exactly the two keys with numbers of 0 or more.
    """
    price = spec.options.get("price")
    if not price:
        return None
    keys = ("prompt", "completion")
    if not isinstance(price, Mapping) or set(price) != set(keys) or not all(_amount(price[key]) for key in keys):
        raise ConfigError(
            f"model.{spec.role}_price cannot be used: {price!r}",
            fix="give dollars per million tokens, e.g. {prompt: 0.15, completion: 0.60}",
        )
    return float(price["prompt"]), float(price["completion"])


def _amount(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0


def cost_of(spec: ModelSpec, usage: Usage) -> float | None:
    """Dollars of one call: as reported, else from the prices of `spec`, else unknown (`None`)."""
    price = prices(spec)
    if usage.cost is not None or price is None:
        return usage.cost
    if usage.prompt_tokens is None or usage.completion_tokens is None:
        return None
    return (usage.prompt_tokens * price[0] + usage.completion_tokens * price[1]) / 1_000_000
