"""Configuration files and overrides: every value lands where it was meant to, and every fault names its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillgit.config import layers
from skillgit.config.load import load_config
from skillgit.config.schema import Config
from skillgit.errors import ConfigError


def load(root: Path, text: str | bytes, *overrides: str) -> Config:
    """The configuration with `text` as skillgit.yaml."""
    (root / "skillgit.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_config(root, "", overrides)


def refused(root: Path, text: str | bytes, *overrides: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        load(root, text, *overrides)
    assert caught.value.exit_code == 2
    return caught.value


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    assert load_config(tmp_path) == Config()


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n", "null\n", "{}\n", "model:\n", "model: {}\ntrain: ~\n"])
def test_a_file_or_section_without_keys_is_the_defaults(tmp_path: Path, text: str) -> None:
    assert load(tmp_path, text) == Config()


def test_sections_nest_and_values_have_their_types(tmp_path: Path) -> None:
    config = load(
        tmp_path,
        "model: {target: a, timeout: 30, local: {context: 512}, target_price: {prompt: 1, completion: 2.5}}\n"
        "train:\n  seed: 7\nevaluation:\n  use_gate: false\n  max_error_rate: 1e-3\n",
    )
    assert (config.model.target, config.model.timeout, config.model.local.context) == ("a", 30.0, 512)
    assert isinstance(config.model.timeout, float)
    assert config.model.target_price == {"prompt": 1.0, "completion": 2.5}
    assert (config.train.seed, config.evaluation.use_gate, config.evaluation.max_error_rate) == (7, False, 0.001)


def test_dotted_keys_are_the_same_keys(tmp_path: Path) -> None:
    assert load(tmp_path, "train.seed: 7\n").train.seed == 7


# --- unknown keys


@pytest.mark.parametrize(
    ("key", "near"),
    [
        ("train.bach_size", "train.batch_size"),
        ("training.batch_size", "train.batch_size"),
        ("optimizer.lr_schedular", "optimizer.lr_scheduler"),
        (("batch_sizes", "train.batch_size")),
        ("model.local.contxt", "model.local.context"),
    ],
)
def test_an_unknown_key_names_its_line_and_the_nearest(tmp_path: Path, key: str, near: str) -> None:
    error = refused(tmp_path, f"model:\n  target: a\n\n{key}: 1\n")
    assert error.what == f"unknown key {key}"
    assert error.where == f"{tmp_path / 'skillgit.yaml'}:4"
    assert error.fix == f"did you mean {near}?"


def test_an_unknown_key_like_none_lists_the_sections(tmp_path: Path) -> None:
    assert refused(tmp_path, "zzzz: 1\n").fix.startswith("sections: model, train, gradient")


def test_a_section_with_a_value_lists_its_keys(tmp_path: Path) -> None:
    error = refused(tmp_path, "budget: 100\n")
    assert (error.what, error.fix) == (
        "budget is a section of keys, not a value",
        "its keys: calls, tokens, cost, time",
    )


@pytest.mark.parametrize(
    "key",
    [
        "model.api_key",
        "model.azure_openai_api_key",
        "env.hub_TOKEN",
        "x.password",
        "optimizer.client_secret",
        "api_key",
    ],
)
def test_a_secret_is_refused_and_not_repeated(tmp_path: Path, key: str) -> None:
    error = refused(tmp_path, f"{key}: hunter2\n")
    assert "would put a secret into a file" in error.what
    assert "hunter2" not in str(error)
    assert "hunter2" not in str(refused(tmp_path, "", f"{key}=hunter2"))


@pytest.mark.parametrize("key", ["api_key_env", "optimizer_api_key_env", "target_api_key_env"])
def test_a_key_in_the_place_of_its_variables_name_is_refused(tmp_path: Path, key: str) -> None:
    error = refused(tmp_path, f"model:\n  {key}: sk-hunter2\n")
    assert "must be the name of an environment variable" in error.what
    assert error.where.endswith(":2")
    assert "hunter2" not in str(error)
    assert load(tmp_path, f"model:\n  {key}: MY_KEY_2\n")


@pytest.mark.parametrize("key", ["base_url", "optimizer_base_url", "target_base_url"])
def test_an_address_with_a_password_is_refused(tmp_path: Path, key: str) -> None:
    error = refused(tmp_path, f"model:\n  {key}: https://me:hunter2@host/v1\n")
    assert "holds a name, a password or a query" in error.what
    assert "hunter2" not in str(error)
    assert "hunter2" not in str(refused(tmp_path, f"model:\n  {key}: https://host/v1?key=hunter2\n"))
    assert load(tmp_path, f"model:\n  {key}: https://host/v1/@x\n")


# --- faults of a file


def test_a_key_given_twice_names_both_places(tmp_path: Path) -> None:
    error = refused(tmp_path, "train:\n  seed: 1\n  batch_size: 2\n  seed: 3\n")
    place = tmp_path / "skillgit.yaml"
    assert (error.what, error.where, error.why) == ("train.seed is given twice", f"{place}:4", f"first at {place}:2")
    assert refused(tmp_path, "train: {seed: 1}\ntrain.seed: 2\n").what == "train.seed is given twice"
    assert refused(tmp_path, "train: {seed: 1}\ntrain: {seed: 2}\n").what == "train.seed is given twice"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("train: [1\n", "is not YAML"),
        ("train:\n\tseed: 1\n", "is not YAML"),
        ("a: &x {b: *x}\n", "is not YAML"),
        ("train: {seed: !!python/name:os.system x}\n", "is not YAML"),
        ("train: {seed: !custom x}\n", "is not YAML"),
        ("train: {seed: !!int x}\n", "is not YAML"),
        (f"train: {{seed: {'9' * 5000}}}\n", "is not YAML"),
        ("[" * 5000, "is not YAML"),
        ("a: 1\n---\nb: 2\n", "is not YAML"),
        ("a: \x01\n", "is not YAML"),
        ("- a\n", "must hold sections with keys"),
        ("text\n", "must hold sections with keys"),
        ("? [a, b]\n: 1\n", "a key must be a word"),
        ("? {a: b}\n: 1\n", "a key must be a word"),
        (b"model: {target: caf\xe9}\n", "cannot be read"),
        ("model: {target: a}\n".encode("utf-16"), "cannot be read"),
    ],
)
def test_a_file_that_cannot_be_used_is_named(tmp_path: Path, text: str | bytes, says: str) -> None:
    error = refused(tmp_path, text)
    assert error.what == says
    assert error.where.startswith(str(tmp_path / "skillgit.yaml"))


def test_bad_yaml_names_its_line(tmp_path: Path) -> None:
    assert refused(tmp_path, "train:\n  seed: 1\n bad\n").where == f"{tmp_path / 'skillgit.yaml'}:3"


def test_a_byte_order_mark_and_crlf_do_not_matter(tmp_path: Path) -> None:
    assert load(tmp_path, b"\xef\xbb\xbftrain:\r\n  seed: 7\r\n").train.seed == 7


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("train.seed: x", "train.seed must be a whole number, not 'x'"),
        ("train.seed: 1.5", "train.seed must be a whole number, not 1.5"),
        ("train.seed: true", "train.seed must be a whole number, not True"),
        ("train.seed: null", "train.seed must be a whole number, not None"),
        ("train.seed: ''", "train.seed must be a whole number, not ''"),
        ("train.seed: [1]", "train.seed must be a whole number, not [1]"),
        ("train.seed: {}", "train.seed must be a whole number, not {}"),
        ("train.seed: 1_000", "train.seed must be a whole number, not '1_000'"),
        ("model.timeout: fast", "model.timeout must be a number, not 'fast'"),
        ("model.timeout: .inf", "model.timeout must be a number, not '.inf'"),
        ("model.timeout: true", "model.timeout must be a number, not True"),
        (f"model.timeout: {'9' * 400}", "model.timeout must be a number, not inf"),
        ("model.timeout: 1e999", "model.timeout must be a number, not inf"),
        ("model.target: 5", "model.target must be text, not 5"),
        ("model.target: [a]", "model.target must be text, not ['a']"),
        ("evaluation.use_gate: 1", "evaluation.use_gate must be true or false, not 1"),
        ("evaluation.use_gate: 'true'", "evaluation.use_gate must be true or false, not 'true'"),
        ("model.target_temperature: warm", "model.target_temperature must be a number, not 'warm'"),
        ("model.target_price: 3", "model.target_price takes the keys prompt and completion"),
        ("model.target_price: {input: 3}", "model.target_price takes the keys prompt and completion"),
        ("model.target_price: {prompt: x}", "model.target_price.prompt must be a number, not 'x'"),
    ],
)
def test_a_wrong_type_is_named_with_its_line(tmp_path: Path, value: str, expected: str) -> None:
    error = refused(tmp_path, f"# first\n{value}\n")
    assert (error.what, error.where) == (expected, f"{tmp_path / 'skillgit.yaml'}:2")


# --- numbers and words as YAML 1.2 has them


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ("2:1:7", "2:1:7"),
        ("'2:1:7'", "2:1:7"),
        ('"2:1:7"', "2:1:7"),
        ("2026-01-02", "2026-01-02"),
        ("qwen2.5:0.5b", "qwen2.5:0.5b"),
        ("null", ""),
        ("~", ""),
        ("", ""),
        ("''", ""),
        ("'null'", "null"),
        ("' spaced '", " spaced "),
        ("a=b=c", "a=b=c"),
        ("ünï", "ünï"),
    ],
)
def test_text_overrides(tmp_path: Path, raw: str, value: str) -> None:
    assert load_config(tmp_path, "", [f"env.split_ratio={raw}"]).env.split_ratio == value


@pytest.mark.parametrize(
    ("raw", "value"), [("7", 7), (" 7", 7), ("+7", 7), ("-7", -7), ("010", 10), ("08", 8), ("0", 0)]
)
def test_whole_number_overrides(tmp_path: Path, raw: str, value: int) -> None:
    assert load_config(tmp_path, "", [f"train.seed={raw}"]).train.seed == value


@pytest.mark.parametrize(
    ("raw", "value"), [("1e-3", 0.001), (".5", 0.5), ("1.", 1.0), ("1", 1.0), ("1E2", 100.0), ("0", 0.0)]
)
def test_number_overrides(tmp_path: Path, raw: str, value: float) -> None:
    found = load_config(tmp_path, "", [f"model.target_temperature={raw}"]).model.target_temperature
    assert (found, type(found)) == (value, float)


@pytest.mark.parametrize("raw", ["null", "~", "", "''"])
def test_an_optional_number_can_be_unset(tmp_path: Path, raw: str) -> None:
    text = "model: {target_temperature: 0.7}\n"
    assert load(tmp_path, text, f"model.target_temperature={raw}").model.target_temperature is None


def test_zero_is_not_unset(tmp_path: Path) -> None:
    assert load_config(tmp_path, "", ["model.target_temperature=0"]).model.target_temperature == 0.0


def test_a_mapping_override(tmp_path: Path) -> None:
    config = load_config(tmp_path, "", ["model.target_price={prompt: 0.5, completion: 2}"])
    assert config.model.target_price == {"prompt": 0.5, "completion": 2.0}


def test_overrides_win_over_the_file_and_the_last_one_wins(tmp_path: Path) -> None:
    assert load(tmp_path, "train: {seed: 1}\n", "train.seed=2", "train.seed=3").train.seed == 3


@pytest.mark.parametrize(
    "text",
    ["train.seed", "=1", "  =1", "train.seed=[1", "train.seed=@x", "train.seed=[1, 2]", "train.sed=1", "train=1"],
)
def test_a_bad_override_says_that_it_is_one(tmp_path: Path, text: str) -> None:
    error = refused(tmp_path, "train: {batch_size: 3}\n", text)
    assert error.where == "--set"


# --- _base_


def _write(root: Path, **files: str) -> None:
    for name, text in files.items():
        path = root / f"{name.replace('__', '/')}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_a_chain_of_bases_is_read_from_the_ground_up(tmp_path: Path) -> None:
    _write(
        tmp_path,
        ground="train: {seed: 1, batch_size: 1, num_epochs: 1}\n",
        sub__middle="_base_: ../ground.yaml\ntrain: {batch_size: 2, num_epochs: 2}\n",
        top="_base_: sub/middle.yaml\ntrain:\n  num_epochs: 3\n",
    )
    train = load_config(tmp_path, "top.yaml").train
    assert (train.seed, train.batch_size, train.num_epochs) == (1, 2, 3)


def test_a_fault_in_a_base_names_the_base(tmp_path: Path) -> None:
    _write(tmp_path, ground="train:\n  sed: 1\n", skillgit="_base_: ground.yaml\n")
    with pytest.raises(ConfigError) as caught:
        load_config(tmp_path)
    assert caught.value.where == f"{tmp_path / 'ground.yaml'}:2"


@pytest.mark.parametrize(
    "files",
    [
        {"a": "_base_: a.yaml\n"},
        {"a": "_base_: b.yaml\n", "b": "_base_: a.yaml\n"},
        {"a": "_base_: b.yaml\n", "b": "_base_: c.yaml\n", "c": "_base_: ./b.yaml\n"},
    ],
)
def test_a_circle_of_bases_is_refused(tmp_path: Path, files: dict[str, str]) -> None:
    _write(tmp_path, **files)
    with pytest.raises(ConfigError, match="circular _base_") as caught:
        load_config(tmp_path, "a.yaml")
    assert "->" in caught.value.why


@pytest.mark.parametrize("base", ["missing.yaml", "sub"])
def test_a_base_that_cannot_be_read_is_named(tmp_path: Path, base: str) -> None:
    (tmp_path / "sub").mkdir()
    _write(tmp_path, skillgit=f"_base_: {base}\n")
    with pytest.raises(ConfigError, match="cannot be read") as caught:
        load_config(tmp_path)
    assert base in caught.value.where


@pytest.mark.parametrize("base", ["[a.yaml, b.yaml]", "7", "null", "{}"])
def test_a_base_is_one_path(tmp_path: Path, base: str) -> None:
    _write(tmp_path, skillgit=f"_base_: {base}\n")
    with pytest.raises(ConfigError, match="_base_ must be one path") as caught:
        load_config(tmp_path)
    assert caught.value.where.endswith(":1")


# --- which file


def test_a_named_file_replaces_the_default_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _write(tmp_path, skillgit="train: {seed: 1, batch_size: 9}\n", sub__mine="train: {seed: 2}\n")
    assert load_config(tmp_path, "sub/mine.yaml").train.batch_size == Config().train.batch_size
    monkeypatch.chdir(tmp_path / "sub")
    assert load_config(tmp_path, "mine.yaml").train.seed == 2
    assert load_config(tmp_path, str(tmp_path / "sub/mine.yaml")).train.seed == 2


def test_a_recipe_is_found_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _write(tmp_path, recipes__quick="train: {num_epochs: 1}\n", recipes__deep="_base_: quick.yaml\n")
    monkeypatch.setattr(layers, "packaged", lambda _: tmp_path / "recipes")
    assert load_config(tmp_path, "deep").train.num_epochs == 1
    for name in ("quik", "../quick", "recipes", "."):
        with pytest.raises(ConfigError, match="no configuration file or recipe") as caught:
            load_config(tmp_path, name)
        assert caught.value.fix == "recipes: deep, quick"


def test_a_file_wins_over_a_recipe_of_the_same_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _write(tmp_path, recipes__quick="train: {seed: 1}\n")
    (tmp_path / "quick").write_text("train: {seed: 2}\n")
    monkeypatch.setattr(layers, "packaged", lambda _: tmp_path / "recipes")
    assert load_config(tmp_path, "quick").train.seed == 2


def test_every_shipped_recipe_loads(tmp_path: Path) -> None:
    for path in layers.packaged("configs").glob("*.yaml"):
        assert load_config(tmp_path, path.stem)
