"""The recipes and example skills of the benchmarks that are asked in a few turns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skillgit.config.load import load_config
from skillgit.config.packaged import packaged
from tests.tasks.benchmarks.project import Run

PUBLISHED = {
    "searchqa": {"train_size": 400, "split_dir": "data/searchqa_split", "workers": 24},
    "docvqa": {"split_dir": "data/docvqa/splits", "workers": 16, "image_detail": "auto"},
    "livemathematicianbench": {
        **{"split_dir": "data/livemathematicianbench_split", "workers": 64, "exec_timeout": 300.0},
        **{"shuffle_choices": True, "use_theorem": False, "use_sketch": False},
    },
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_recipe_has_the_published_values(name: str, tmp_path: Path) -> None:
    told: list[str] = []
    config = load_config(tmp_path, name, report=told.append)
    assert told == []
    wanted: dict[str, Any] = {
        **{"name": name, "split_mode": "split_dir", "max_turns": 1, "max_completion_tokens": 16384, "limit": 0},
        **{"exec_timeout": 120.0, **PUBLISHED[name]},
    }
    assert config.train.train_size == wanted.pop("train_size", 0)
    assert {key: getattr(config.env, key) for key in wanted} == wanted
    sizes = (config.train.batch_size, config.train.accumulation, config.train.num_epochs, config.train.seed)
    assert sizes == (40, 1, 4, 42)
    assert (config.gradient.minibatch_size, config.gradient.merge_batch_size) == (8, 8)
    assert (config.optimizer.learning_rate, config.optimizer.lr_scheduler) == (4, "cosine")
    assert config.model.reasoning_effort == "medium"


@pytest.mark.parametrize("name", PUBLISHED)
def test_an_example_skill_is_sound(name: str, skillgit: Run) -> None:
    code, out, err = skillgit(packaged("examples"), "lint", f"benchmarks/{name}")
    assert (code, out + err) == (0, "1 skill: nothing found\n")


def test_recipes_of_benchmarks_are_found_by_name(tmp_path: Path) -> None:
    from skillgit.errors import ConfigError

    with pytest.raises(ConfigError, match="no configuration file or recipe 'dokvqa'") as caught:
        load_config(tmp_path, "dokvqa")
    assert "docvqa" in caught.value.fix
    (tmp_path / "docvqa").write_text("env: {workers: 3}\n")
    assert load_config(tmp_path, "docvqa", cwd=tmp_path).env.workers == 3


@pytest.mark.parametrize(("name", "seconds"), [("alfworld", 3600), ("officeqa", 900)])
def test_a_published_limit_that_would_end_whole_tasks_is_told(name: str, seconds: int, tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text("env: {exec_timeout: 120}\n")
    (tmp_path / "it.yaml").write_text(f"_base_: base.yaml\nenv: {{name: {name}}}\n")
    told: list[str] = []
    load_config(tmp_path, "it.yaml", report=told.append, cwd=tmp_path)
    assert [f"--set env.exec_timeout={seconds}" in line and "base.yaml:1: " in line for line in told] == [True]
    told.clear()
    load_config(tmp_path, "it.yaml", ["env.exec_timeout=121"], report=told.append, cwd=tmp_path)
    load_config(tmp_path, name, report=told.append)
    assert told == []
