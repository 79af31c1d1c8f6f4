"""Configuration as SkillOpt writes it is accepted under its own names and told, or refused with a reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from skillgit.cli.published import translate_args
from skillgit.config import backends, published
from skillgit.config.load import load_config
from skillgit.config.schema import Config
from skillgit.errors import ConfigError
from skillgit.models.base import ROLES
from skillgit.models.roles import role_spec

FILES = Path(__file__).parents[1] / "data/published"
ALIASES = [(key, word, to) for key, words in published._VALUE_ALIASES.items() for word, to in words.items()]
FLAT = [(flat, place) for flat, place in published.FLAT.items() if place not in published._WITHOUT_EFFECT]


def load(root: Path, text: str, *overrides: str) -> tuple[Config, list[str]]:
    """The configuration of a file's text and what was reported about it."""
    (root / "skillgit.yaml").write_text(text)
    told: list[str] = []
    return load_config(root, "", overrides, told.append), told


def refused(root: Path, text: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        load(root, text)
    assert caught.value.exit_code == 2
    return caught.value


def at(config: Config, key: str) -> Any:
    value: Any = config
    for part in key.split("."):
        value = getattr(value, part)
    return value


def test_the_base_file_is_accepted_whole_and_what_has_no_effect_is_told() -> None:
    told: list[str] = []
    config = load_config(FILES, "base.yaml", (), told.append)
    raw = yaml.safe_load((FILES / "base.yaml").read_text())
    ours = {key for key in Config.__dataclass_fields__ if key in raw}
    same = {f"{name}.{leaf}": value for name in ours for leaf, value in raw[name].items()}
    kept = {key: value for key, value in same.items() if hasattr(getattr(config, key.split(".")[0]), key.split(".")[1])}
    assert {key: at(config, key) for key in kept} == kept
    silent = [key for key, value in same.items() if key not in kept and value not in (None, "")]
    assert [key for key in silent if not any(f" {key} " in line for line in told)] == []
    assert len(kept) > 35


def test_a_benchmarks_file_inherits_from_it() -> None:
    config = load_config(FILES, "searchqa.yaml")
    assert (config.train.num_epochs, config.train.train_size, config.env.workers) == (4, 8, 24)
    assert (config.env.name, config.env.split_mode) == ("searchqa", "split_dir")


def test_a_flat_file_says_the_same_as_a_structured_one() -> None:
    told: list[str] = []
    config = load_config(FILES, "flat.yaml", (), told.append)
    assert (config.env.name, config.model.backend, config.model.target) == ("searchqa", "openai_compatible", "gpt-5.5")
    optimizer = config.optimizer
    assert (optimizer.learning_rate, optimizer.min_learning_rate, optimizer.lr_control_mode) == (3, 1, "fixed")
    assert (optimizer.longitudinal_pair_policy, optimizer.skill_update_mode) == ("changed", "patch")
    assert not optimizer.use_meta_skill
    given = yaml.safe_load((FILES / "flat.yaml").read_text())
    assert [key for key in given if not any(f": {key} is read as " in line for line in told)] == []


def test_a_flat_child_overrides_a_structured_base(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text("train: {batch_size: 40, seed: 7}\n")
    config, _ = load(tmp_path, "_base_: base.yaml\nbatch_size: 8\n")
    assert (config.train.batch_size, config.train.seed) == (8, 7)


@pytest.mark.parametrize(("flat", "place"), FLAT)
def test_every_flat_name_is_read_as_its_place_and_told(tmp_path: Path, flat: str, place: str) -> None:
    default = at(Config(), place)
    words = {
        "optimizer.lr_scheduler": "constant",
        "optimizer.lr_control_mode": "none",
        "evaluation.gate_metric": "soft",
    }
    words |= {"optimizer.skill_update_mode": "rewrite_from_suggestions", "env.split_mode": "ratio"}
    words |= {"env.search_mode": "custom_search", "env.image_detail": "low", "env.mode": "single"}
    words |= {"optimizer.longitudinal_pair_policy": "changed", "optimizer.skill_aware_appendix_source": "failure_only"}
    other = {bool: lambda: not default, str: lambda: words.get(place, "other"), tuple: lambda: ["word"]}
    # A floor must not be above the rate, and weights stay below one.
    numbers = {"gradient.merge_batch_size": 3}
    value = other.get(type(default), lambda: numbers.get(place, 1 if default != 1 else 2))()
    config, told = load(tmp_path, yaml.safe_dump({flat: value}))
    assert at(config, place) == (tuple(value) if isinstance(value, list) else value) != default
    assert any(f"{flat} is read as {place}" in line for line in told)


@pytest.mark.parametrize(("key", "word", "means"), ALIASES)
def test_every_alias_of_a_value_is_read_and_told(tmp_path: Path, key: str, word: str, means: str) -> None:
    config, told = load(tmp_path, yaml.safe_dump({key: word}))
    assert at(config, key) == means
    assert any(f"{key} {word!r} is read as {means!r}" in line for line in told)
    assert at(load(tmp_path, yaml.safe_dump({key: means}))[0], key) == means


@pytest.mark.parametrize(("word", "means"), published._BACKEND_ALIASES.items())
def test_every_alias_of_a_backend_is_read_and_told(tmp_path: Path, word: str, means: str) -> None:
    config, told = load(tmp_path, f"model: {{backend: {word}, target_backend: {word}}}\n")
    assert (config.model.backend, config.model.target_backend) == (
        means,
        {"azure_openai": "openai_chat", "codex": "codex_exec"}.get(means, means),
    )
    assert len([line for line in told if f"{word!r} is read as {means!r}" in line]) == 2


def test_old_spellings_are_known_at_the_top_and_in_their_section(tmp_path: Path) -> None:
    for old in (*published._OLD_AZURE, *published._CODEX_ALIASES):
        for name in (old.removeprefix("model."), old):
            config, told = load(tmp_path, f'{name}: ""\n')
            assert config == Config()
            assert f"{name} is read as model." in told[0]


def test_a_key_of_what_is_not_here_is_neutral_when_blank_and_refused_when_it_asks_for_something(tmp_path: Path) -> None:
    for key, (neutral, why) in published._WITHOUT_EFFECT.items():
        assert load(tmp_path, f'{key}: ""\n') == (Config(), [])
        if neutral is published._anything:
            _, told = load(tmp_path, f"{key}: zzz\n")
            assert told == [f"{tmp_path / 'skillgit.yaml'}:1: {key} has no effect: {why}"]
        else:
            error = refused(tmp_path, f"{key}: zzz\n")
            assert (error.what, error.why) == (f"{key} cannot be honoured", why)


def test_credentials_in_a_file_are_refused_and_not_repeated(tmp_path: Path) -> None:
    kinds = [
        f"{role}{kind}" for role in ("", "optimizer_", "target_") for kind in ("azure_openai", "qwen_chat", "minimax")
    ]
    for key in (f"{section}{kind}_api_key" for section in ("", "model.") for kind in [*kinds, "azure"]):
        error = refused(tmp_path, f"{key}: hunter2\n")
        assert "would put a secret into a file" in error.what
        assert "hunter2" not in str(error)
        assert load(tmp_path, f'{key}: ""\n')[0] == Config()


def test_an_unknown_key_is_an_error_beside_published_ones(tmp_path: Path) -> None:
    assert refused(tmp_path, "optimizer: {lerning_rate: 9}\n").fix == "did you mean optimizer.learning_rate?"
    assert refused(tmp_path, "lerning_rate: 9\n").fix == "did you mean optimizer.learning_rate?"


def test_two_spellings_of_one_setting_must_not_differ(tmp_path: Path) -> None:
    assert "differ" in refused(tmp_path, "batch_size: 8\ntrain: {batch_size: 9}\n").what
    assert load(tmp_path, "batch_size: 8\ntrain: {batch_size: 8}\n")[0].train.batch_size == 8


# --- backends


@pytest.mark.parametrize("role_backend", ["", "openai_chat", "OpenAI_Chat"])
def test_a_role_that_chose_no_backend_takes_the_label(tmp_path: Path, role_backend: str) -> None:
    model = {"backend": "compat", "optimizer_backend": role_backend, "target_backend": role_backend, "target": "t"}
    config, _ = load(tmp_path, yaml.safe_dump({"model": model}))
    assert role_spec(config, "target", {}, tmp_path).backend == "openai_compatible"


def test_a_role_that_chose_a_backend_keeps_it(tmp_path: Path) -> None:
    model = {"backend": "compat", "optimizer_backend": "scripted", "optimizer": "o"}
    config, _ = load(tmp_path, yaml.safe_dump({"model": model}))
    assert role_spec(config, "optimizer", {}, tmp_path).backend == "scripted"


@pytest.mark.parametrize("label", ["azure_openai", "openai_chat", "azure"])
def test_the_labels_of_openai_name_one_backend(tmp_path: Path, label: str) -> None:
    config, _ = load(tmp_path, f"_base_: {FILES / 'base.yaml'}\nmodel: {{backend: {label}}}\n")
    assert {role_spec(config, role, {}, tmp_path).backend for role in ROLES} == {"openai_chat"}


@pytest.mark.parametrize(("label", "pair"), backends.LABELS.items())
def test_a_label_names_a_backend_for_each_role_and_says_so(tmp_path: Path, label: str, pair: tuple[str, str]) -> None:
    config, told = load(tmp_path, f"_base_: {FILES / 'base.yaml'}\nmodel: {{backend: {label}}}\n")
    assert (config.model.optimizer_backend, config.model.target_backend or label) == pair
    assert [line for line in told if "gives the optimizer the backend" in line]


def test_a_blank_label_is_the_published_default_and_told(tmp_path: Path) -> None:
    config, told = load(tmp_path, "model: {backend: ''}\n")
    assert (config.model.optimizer_backend, config.model.target_backend) == ("openai_chat", "openai_chat")
    assert any("model.backend is blank, which is read as 'azure_openai'" in line for line in told)


def test_a_role_backend_of_the_command_line_is_meant(tmp_path: Path) -> None:
    base = f"_base_: {FILES / 'base.yaml'}\nmodel: {{backend: claude}}\n"
    config, _ = load(tmp_path, base, "model.target_backend=openai_chat")
    specs = [role_spec(config, role, {}, tmp_path) for role in ("optimizer", "target")]
    assert [spec.backend for spec in specs] == ["claude_chat", "openai_chat"]


def test_the_base_files_model_is_read_as_the_backends_own_and_told(tmp_path: Path) -> None:
    base = f"_base_: {FILES / 'base.yaml'}\nmodel: {{backend: minimax, minimax_model: M9}}\n"
    config, told = load(tmp_path, base)
    assert (config.model.optimizer, config.model.target) == ("gpt-5.5", "M9")
    assert any("minimax_model is read as model.target" in line for line in told)
    config, told = load(tmp_path, f"_base_: {FILES / 'base.yaml'}\nmodel: {{backend: claude}}\n")
    assert (config.model.optimizer, config.model.target) == ("claude-sonnet-4-6",) * 2
    assert any(
        "model.target 'gpt-5.5' is read as 'claude-sonnet-4-6', the model of claude_chat" in line for line in told
    )
    config, _ = load(tmp_path, base, "model.target=gpt-5.5")
    assert config.model.target == "gpt-5.5"


def test_family_keys_become_settings_of_the_roles_that_use_the_family(tmp_path: Path) -> None:
    keys = "qwen_chat_base_url: http://127.0.0.1:1/v1\nqwen_chat_temperature: '0.3'\nqwen_chat_enable_thinking: true\n"
    own = "optimizer_qwen_chat_base_url: http://127.0.0.1:2/v1\nqwen_chat_max_tokens: 99\n"
    config, told = load(tmp_path, f"model_backend: qwen\noptimizer_backend: qwen_chat\n{keys}{own}")
    model = config.model
    assert (model.optimizer_base_url, model.target_base_url) == ("http://127.0.0.1:2/v1", "http://127.0.0.1:1/v1")
    assert (model.optimizer_temperature, model.target_temperature) == (0.3, 0.3)
    assert (model.optimizer_thinking, model.optimizer_max_tokens, config.env.max_completion_tokens) == (
        "enabled",
        99,
        99,
    )
    assert any("qwen_chat_base_url is read as model.target_base_url" in line for line in told)
    _, told = load(tmp_path, keys)
    assert all("no role of it uses qwen_chat" in line for line in told if "has no effect" in line)
    assert len([line for line in told if "has no effect" in line]) == 3


def test_settings_of_agents_as_targets_are_kept_in_the_sections_of_their_programs(tmp_path: Path) -> None:
    text = """
codex_exec_sandbox: workspace-write
codex_exec_network_access: true
codex_exec_web_search: true
codex_exec_approval_policy: never
claude_code_exec_profile: careful
claude_code_exec_max_thinking_tokens: 16384
cursor_exec_sandbox: enabled
copilot_exec_allow_all_tools: true
codex_trace_to_optimizer: false
"""
    config, told = load(tmp_path, text)
    model = config.model
    assert (model.codex.sandbox, model.codex.network_access, model.codex.web_search) == ("workspace-write", True, True)
    assert (model.codex.approval_policy, model.claude.profile) == ("never", "careful")
    assert (model.claude.max_thinking_tokens, model.cursor.sandbox) == (16384, "enabled")
    assert model.copilot.allow_all_tools
    assert not model.trace_to_optimizer
    assert len(told) == len(text.split("\n")) - 2
    blank = "".join(f"{line.partition(':')[0]}: null\n" for line in text.strip().splitlines())
    assert load(tmp_path, blank)[0] == Config()


@pytest.mark.parametrize(("key", "value"), [("codex_exec_sandbox", "none"), ("cursor_exec_sandbox", "on")])
def test_an_unknown_sandbox_is_refused(tmp_path: Path, key: str, value: str) -> None:
    assert "choose one of" in refused(tmp_path, f"{key}: '{value}'\n").fix


@pytest.mark.parametrize("key", ["codex_exec_use_sdk", "claude_code_exec_use_sdk"])
def test_an_sdk_may_be_left_to_chance_but_not_asked_for(tmp_path: Path, key: str) -> None:
    for word in ("auto", "cli", "false", "off"):
        assert "agents are run by their command lines" in load(tmp_path, f"{key}: {word}\n")[1][-1]
    for word in ("sdk", "true", "1"):
        assert "cannot be honoured" in refused(tmp_path, f"{key}: {word}\n").what


def test_the_effort_of_claude_as_the_target_is_the_targets_and_none_is_none(tmp_path: Path) -> None:
    for word, effort in (("high", "high"), ("none", ""), ("off", "")):
        text = f"model_backend: claude_code_exec\nclaude_code_exec_effort: '{word}'\n"
        config, _ = load(tmp_path, text)
        assert (config.model.target_reasoning_effort, config.model.optimizer_reasoning_effort) == (effort, "")
    _, told = load(tmp_path, "model_backend: compat\nclaude_code_exec_effort: high\n")
    assert any("no role of it uses claude_code_exec" in line for line in told)


def test_copilot_as_the_target_chooses_its_model_where_the_base_file_names_one_for_all(tmp_path: Path) -> None:
    config, told = load(tmp_path, f"_base_: {FILES / 'base.yaml'}\nmodel: {{backend: copilot_exec}}\n")
    assert role_spec(config, "target", {}, tmp_path).model == "copilot_exec"
    assert any("is read as '', the model of copilot_exec" in line for line in told)


def test_settings_for_work_do_not_count_for_a_chat_with_the_same_program(tmp_path: Path) -> None:
    text = "codex_exec_sandbox: workspace-write\ncodex_exec_profile: mine\nmodel_backend: codex\n"
    config, _ = load(tmp_path, text)
    specs = {role: role_spec(config, role, {}, tmp_path).options["client"] for role in ROLES}
    assert specs["optimizer"] == {"profile": "mine"}
    assert specs["target"] == {"profile": "mine", "sandbox": "workspace-write"}


# --- command lines


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("--cfg-options a=1 b.c=2 --json", "--set a=1 --set b.c=2 --json"),
        ("--cfg-options=a=1 b=2", "--set a=1 --set b=2"),
        ("--cfg-options a=1 name", "--set a=1 name"),
        ("--batch_size 8 --cfg-options batch_size=9", "--set batch_size=9 --set batch_size=8"),
        ("--batch_size=8", "--set batch_size=8"),
        ("--use_gate 1 --failure_only no", "--set use_gate=true --set failure_only=false"),
        ("--azure_openai_endpoint x --codex_path c", "--set azure_openai_endpoint=x --set codex_path=c"),
        ("--mode multi --data_root d", "--set mode=multi --set data_root=d"),
        ("--minimax_api_key k", "--set minimax_api_key=k"),
        ("--skill s.md --split test", "--skill s.md --split test"),
        ("--backend compat", "--set model_backend=compat"),
        ("--unknown x", "--unknown x"),
        ("--batch_size", "--set batch_size="),
    ],
)
def test_command_lines_are_translated(given: str, read: str) -> None:
    assert translate_args(given.split(), ("--config", "--skill", "--split")) == read.split()


def test_a_commands_own_option_keeps_its_meaning() -> None:
    assert translate_args(["--backend", "x"], ("--backend",)) == ["--backend", "x"]


LISTED = """env optimizer_model target_model optimizer_backend target_backend reasoning_effort
rewrite_reasoning_effort rewrite_max_completion_tokens skill_init num_epochs train_size steps_per_epoch batch_size
accumulation seed edit_budget min_edit_budget lr_scheduler lr_control_mode merge_batch_size max_analyst_rounds
sel_env_num test_env_num eval_test use_gate max_steps max_api_workers analyst_workers failure_only minibatch_size
skill_update_mode use_slow_update slow_update_samples longitudinal_pair_policy use_meta_skill
use_skill_aware_reflection skill_aware_appendix_source skill_aware_consolidate_threshold data_path split_mode
split_ratio split_seed split_dir split_output_dir data_root max_turns workers limit shuffle_choices use_theorem
use_sketch image_detail judge_model judge_max_completion_tokens judge_retries out_root mode azure_endpoint
azure_api_version azure_api_key optimizer_azure_openai_auth_mode target_qwen_chat_max_tokens qwen_chat_api_key
minimax_region minimax_enable_thinking codex_exec_path codex_exec_full_auto claude_code_exec_max_thinking_tokens
cursor_exec_sandbox copilot_exec_home copilot_chat_timeout codex_trace_to_optimizer"""


def test_every_flag_of_the_published_command_line_is_known() -> None:
    assert [flag for flag in LISTED.split() if translate_args([f"--{flag}", "x"], ())[0] != "--set"] == []


@pytest.mark.parametrize(
    ("word", "means"), [("on", True), ("off", False), ("yes", True), ("no", False), ("True", True)]
)
def test_switches_take_the_words_of_yaml(tmp_path: Path, word: str, means: bool) -> None:
    assert load(tmp_path, f"optimizer: {{use_compaction: {word}}}\n")[0].optimizer.use_compaction is means
    assert load(tmp_path, "", f"optimizer.use_compaction={word}")[0].optimizer.use_compaction is means


def test_off_is_a_word_where_a_word_is_wanted(tmp_path: Path) -> None:
    assert load(tmp_path, "evaluation: {no_regression: off}\n")[0].evaluation.no_regression == "off"
    assert load(tmp_path, "optimizer: {lr_control_mode: off}\n")[0].optimizer.lr_control_mode == "none"


def test_an_inherited_floor_gives_way_to_a_lower_rate_and_is_told(tmp_path: Path) -> None:
    config, told = load(tmp_path, f"_base_: {FILES / 'base.yaml'}\n", "edit_budget=1")
    assert (config.optimizer.learning_rate, config.optimizer.min_learning_rate) == (1, 1)
    assert any("optimizer.min_learning_rate gives way to the lower rate at --set" in line for line in told)
    assert "is above" in refused(tmp_path, "optimizer: {learning_rate: 1, min_learning_rate: 2}\n").what
