"""Two roles on two servers with keys of their own: each server sees its own key alone, and no file sees any."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.models import server
from tests.train.endpoint import Endpoint, endpoint
from tests.train.processes import SETTINGS, make_repository

Run = Callable[..., tuple[int, str, str]]

KEYS = {
    "MY_TARGET_KEY": "sk-target-5f1c9ab2e7d04431",
    "MY_OPTIMIZER_KEY": "sk-optimizer-77aa01c2d3e4f506",
    "OPENAI_API_KEY": "sk-proj-never-sent-0a1b2c3d4e5f",
    "OPENAI_COMPATIBLE_API_KEY": "sk-shared-never-sent-998877",
    "ANTHROPIC_API_KEY": "sk-ant-never-sent-112233445566",
    "AZURE_OPENAI_API_KEY": "azure-never-sent-aabbccddeeff",
    "GITHUB_TOKEN": "ghp_neverSent0123456789abcdefghijklmnop",
    "AWS_SECRET_ACCESS_KEY": "aws/never/sent/0123456789abcdef",
}


@pytest.fixture
def servers() -> Iterator[tuple[Endpoint, Endpoint]]:
    with endpoint() as target, endpoint() as optimizer:
        yield target, optimizer


@pytest.fixture
def train(
    tmp_path: Path, servers: tuple[Endpoint, Endpoint], skillgit: Run, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], tuple[Path, int, str]]:
    """Train with every key in the environment: the repository, the exit code, and all that was printed."""
    for name, key in KEYS.items():
        monkeypatch.setenv(name, key)
    target, optimizer = servers
    own = {
        "model.backend": "openai_compatible",
        "model.target_base_url": target.url,
        "model.optimizer_base_url": optimizer.url,
        "model.target_api_key_env": "MY_TARGET_KEY",
        "model.optimizer_api_key_env": "MY_OPTIMIZER_KEY",
        "model.retries": "0",
    }
    settings = [part for key, value in {**SETTINGS, **own}.items() for part in ("--set", f"{key}={value}")]
    repo = make_repository(tmp_path / "repo")

    def call() -> tuple[Path, int, str]:
        code, out, err = skillgit(repo, "-v", "train", "greeter", *settings)
        return repo, code, out + err

    return call


def test_each_server_sees_its_own_role_and_key_alone(servers: tuple[Endpoint, Endpoint], train) -> None:
    _, code, said = train()
    assert code == 0, said
    target, optimizer = servers
    assert set(target.asked) == {"target"}
    assert {"analyst"} <= set(optimizer.asked) <= {"analyst", "merge", "ranking", "slow_update", "meta_skill"}
    for place, name in ((target, "MY_TARGET_KEY"), (optimizer, "MY_OPTIMIZER_KEY")):
        assert {headers["authorization"] for headers in place.fake.headers} == {f"Bearer {KEYS[name]}"}
        seen = str(place.fake.headers) + str(place.fake.bodies)
        assert [other for other, key in KEYS.items() if other != name and key in seen] == []


def test_no_key_is_in_any_file_object_or_line(servers: tuple[Endpoint, Endpoint], train) -> None:
    repo, code, said = train()
    assert code == 0, said
    assert found(said.encode()) == []
    assert [(path, name) for path, data in contents(repo) for name in found(data)] == []


def test_no_key_is_told_when_a_server_fails_with_it(servers: tuple[Endpoint, Endpoint], train) -> None:
    target, _ = servers
    echo = KEYS["MY_TARGET_KEY"]
    target.faulty = lambda number, kind, body: server.error(500, f"cannot use Bearer {echo} or {echo}")
    repo, code, said = train()
    assert code == 5
    assert found(said.encode()) == []
    assert [(path, name) for path, data in contents(repo) for name in found(data)] == []


def found(data: bytes) -> list[str]:
    """Which keys, or halves of them, stand in some bytes."""
    return [name for name, key in KEYS.items() if re.search(re.escape(key[4 : len(key) // 2 + 6].encode()), data)]


def contents(repo: Path) -> Iterator[tuple[str, bytes]]:
    """Every file below a repository, and every object of git as it is before compression."""
    for path in repo.rglob("*"):
        if path.is_file():
            yield str(path), path.read_bytes()
    batch = ["git", "-C", str(repo), "cat-file", "--batch", "--batch-all-objects"]
    yield "objects", subprocess.run(batch, capture_output=True, check=True).stdout
