"""Every key has a documented meaning, a checked range, and comes back from what a run recorded."""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import types
from collections.abc import Iterator
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skillgit.config import rules
from skillgit.config.layers import Value
from skillgit.config.load import build, from_resolved, resolved
from skillgit.config.schema import Config
from skillgit.errors import ConfigError


def sections(section: type = Config, prefix: str = "") -> Iterator[tuple[str, type]]:
    """Every section with its dotted name."""
    for name, hint in get_type_hints(section).items():
        if isinstance(hint, type) and dataclasses.is_dataclass(hint):
            yield f"{prefix}{name}", hint
            yield from sections(hint, f"{prefix}{name}.")


KEYS = {
    f"{section}.{name}": hint
    for section, kind in sections()
    for name, hint in get_type_hints(kind).items()
    if not dataclasses.is_dataclass(hint)
}


@pytest.mark.parametrize(("name", "section"), list(sections()))
def test_every_key_is_documented(name: str, section: type) -> None:
    doc = inspect.getdoc(section) or ""
    assert f"`{name}`" in doc.partition(": ")[0].split(", ")
    documented: set[str] = set()
    for line in doc.partition("Attributes:")[2].splitlines():
        names, colon, meaning = line.strip().partition(":")
        if colon and re.fullmatch(r"\w+(, \w+)*", names):
            assert meaning.strip(), line
            documented |= set(names.split(", "))
    assert documented == {field.name for field in dataclasses.fields(section)}


def test_keys_of_the_published_system_are_there() -> None:
    assert {
        "model.backend",
        "model.optimizer",
        "model.target",
        "train.num_epochs",
        "train.train_size",
        "train.batch_size",
        "train.accumulation",
        "train.seed",
        "gradient.minibatch_size",
        "gradient.merge_batch_size",
        "gradient.analyst_workers",
        "optimizer.learning_rate",
        "optimizer.min_learning_rate",
        "optimizer.lr_scheduler",
        "optimizer.use_slow_update",
        "optimizer.slow_update_samples",
        "optimizer.use_meta_skill",
        "evaluation.use_gate",
        "evaluation.sel_env_num",
        "evaluation.test_env_num",
        "evaluation.eval_test",
        "env.name",
        "env.split_mode",
        "env.split_dir",
        "env.workers",
    } <= set(KEYS)


def test_every_key_with_a_rule_exists() -> None:
    assert {*rules._CHOICES, *rules._RANGES, *rules._VARIABLES, *rules._ADDRESSES} <= set(KEYS)


def test_every_number_but_seeds_and_temperatures_has_a_range() -> None:
    numbers = {key for key, hint in KEYS.items() if hint in (int, float)}
    assert numbers - set(rules._RANGES) == {"train.seed", "env.split_seed"}


@pytest.mark.parametrize("key", list(rules._CHOICES))
def test_a_value_outside_its_choices_lists_them(key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        build({key: Value("nonsense", "here:3")})
    assert (caught.value.what, caught.value.where) == (f"{key} is 'nonsense'", "here:3")
    assert all((choice or "(blank)") in caught.value.fix for choice in rules._CHOICES[key])
    for choice in rules._CHOICES[key]:
        build({key: Value(choice, "here")})


@pytest.mark.parametrize("key", list(rules._RANGES))
def test_a_number_outside_its_range_is_refused_with_its_place(key: str) -> None:
    low, high = rules._RANGES[key]
    for bound, beyond in ((low, low - 1), (high, high + 1)):
        if abs(bound) != float("inf"):
            number = KEYS[key]
            build({key: Value(number(bound), "here")} | _room(key))
            with pytest.raises(ConfigError, match=f"{key} is .* must be") as caught:
                build({key: Value(number(beyond), "here:3")})
            assert caught.value.where == "here:3"


def _room(key: str) -> dict[str, Value]:
    """What else must be set so that the key may take any of its values."""
    beside = {
        "optimizer.learning_rate": ("optimizer.min_learning_rate", 1),
        "sleep.val_fraction": ("sleep.test_fraction", 0.0),
        "sleep.test_fraction": ("sleep.val_fraction", 0.0),
    }
    return {beside[key][0]: Value(beside[key][1], "here")} if key in beside else {}


def test_a_floor_above_the_learning_rate_is_refused_only_when_it_was_stated() -> None:
    assert build({"optimizer.learning_rate": Value(1, "here")}).optimizer.min_learning_rate == 1
    with pytest.raises(ConfigError, match="is above") as caught:
        build({"optimizer.learning_rate": Value(1, "a"), "optimizer.min_learning_rate": Value(2, "b")})
    assert caught.value.where == "b"


def _values(key: str, hint: Any) -> st.SearchStrategy[Any]:
    low, high = rules._RANGES.get(key, (-1000.0, 1000.0))
    if get_origin(hint) is tuple:
        return st.lists(st.sampled_from(["must", "never"]), max_size=3)
    if isinstance(hint, types.UnionType):
        kind = next(arg for arg in get_args(hint) if arg is not types.NoneType)
        return st.none() | _values(key, kind)
    if key in rules._CHOICES:
        return st.sampled_from(rules._CHOICES[key])
    if key in rules._VARIABLES:
        return st.from_regex(r"|[A-Z_]{1,9}", fullmatch=True)
    if key in rules._ADDRESSES:
        return st.sampled_from(["", "http://127.0.0.1:8080/v1", "https://host/v1"])
    if hint is bool:
        return st.booleans()
    if hint is int:
        return st.integers(int(low), int(min(high, 10**6)))
    if hint is float:
        return st.floats(low, min(high, 1e6))
    if hint is str:
        return st.text(st.characters(codec="utf-8"), max_size=8)
    words = st.sampled_from(["prompt", "completion"])
    return st.dictionaries(words, words if get_args(hint)[1] is str else st.floats(0, 1e3))


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_what_a_run_recorded_is_the_configuration_again(data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.sampled_from(sorted(KEYS)), unique=True, max_size=12))
    layer = {key: Value(data.draw(_values(key, KEYS[key]), label=key), "here") for key in chosen}
    # These do not go with every other value.
    for key in ("optimizer.min_learning_rate", "optimizer.profile", "sleep.val_fraction", "sleep.test_fraction"):
        layer.pop(key, None)
    config = build(layer)
    recorded = json.loads(json.dumps(resolved(config)))
    assert from_resolved(recorded) == config


def test_a_key_that_this_version_does_not_know_is_named() -> None:
    recorded = resolved(Config())
    recorded["train"]["tomorrow"] = 1
    with pytest.raises(ConfigError, match=r"unknown key train\.tomorrow") as caught:
        from_resolved(recorded)
    assert caught.value.where == "recorded configuration"


@pytest.mark.parametrize("key", sorted(KEYS))
def test_every_key_can_be_set_and_is_seen(key: str) -> None:
    default = resolved(build({}))
    current: Any = default
    for part in key.split("."):
        current = current[part]
    assert resolved(build({key: Value(_other(key, current), "here")})) != default


def _other(key: str, current: Any) -> Any:
    """An allowed value that is not the default."""
    if key in rules._CHOICES:
        return next(choice for choice in rules._CHOICES[key] if choice != current)
    if key == "optimizer.min_learning_rate":
        return 1
    if isinstance(current, bool):
        return not current
    if isinstance(current, str):
        return "other"
    if isinstance(current, int | float | None):
        low, high = rules._RANGES.get(key, (0, float("inf")))
        return max(low, current or 0) + 1 if KEYS[key] is int else min(low + (current or 0) / 2 + 0.125, high)
    if get_args(KEYS[key])[1:] == (str,):
        return {"prompt": "other"}
    return ["other"] if isinstance(current, list | tuple) else {"prompt": 1.0}
