from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from skillgit.errors import ConfigError, ContextLengthError, ModelConfigError, TransientModelError
from skillgit.models.base import Message, ModelSpec, Request
from skillgit.models.local import Local, build, catalog, server, store

NAME = "qwen2.5-coder-0.5b"
FILE = store.folder() / catalog.entry(NAME).file
needs_model = [
    pytest.mark.model,
    pytest.mark.skipif(not FILE.is_file(), reason=f"the file of {NAME} is not in the data folder"),
]
ASK = Request((Message("user", "What is the capital of France? One word."),), max_tokens=8)


def spec(model: str = NAME, **options: Any) -> ModelSpec:
    return ModelSpec("target", "local", model, timeout=120.0, retries=0, options={"offline": True, **options})


# --- without a model ----------------------------------------------------------------------------------------------


def test_building_checks_and_loads_nothing() -> None:
    with pytest.raises(ModelConfigError, match="unknown local model"):
        build(spec("qwen9"))
    for bad in ({"context": 0}, {"context": "4096"}, {"threads": -1}, {"price": {"prompt": 1}}):
        with pytest.raises(ConfigError):
            build(spec(**bad))


def test_settings_identify_the_file_by_content(tmp_path: Path) -> None:
    named = build(spec()).settings()
    assert named["file"] == f"sha256:{catalog.entry(NAME).sha256}"
    assert named["temperature"] == 0.0
    mine = tmp_path / "mine.gguf"
    mine.write_bytes(b"GGUF" + bytes(3 << 20))
    before = build(spec(path=str(mine))).settings()
    assert str(tmp_path) not in json.dumps(before)
    mine.write_bytes(b"GGUF" + bytes(3 << 20)[:-1] + b"x")
    assert build(spec(path=str(mine))).settings() != before
    assert build(spec(context=512)).settings() != named


def test_a_file_that_is_not_a_model(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    fake = tmp_path / "fake.gguf"
    fake.write_bytes(b"GGUF but nothing else")
    with pytest.raises(ModelConfigError, match="cannot load") as caught:
        build(spec(path=str(fake))).complete(ASK)
    assert str(fake) in str(caught.value)


def test_without_llama_cpp_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    fake = tmp_path / "fake.gguf"
    fake.write_bytes(b"GGUF")
    with pytest.raises(ModelConfigError, match=r"pip install 'skillgit\[local\]'"):
        build(spec(path=str(fake))).complete(ASK)


def test_close_before_use() -> None:
    build(spec()).close()


# --- with one -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def model() -> Any:
    made = build(spec(context=1024))
    yield made
    made.close()


class TestWithModel:
    pytestmark = needs_model

    def test_answers_repeat_and_cost_nothing(self, model: Local) -> None:
        first, second = model.complete(ASK), model.complete(ASK)
        assert "Paris" in first.text
        assert first.text == second.text
        assert first.usage.cost == 0.0
        assert first.usage.prompt_tokens

    def test_a_schema_is_followed(self, model: Local) -> None:
        schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
        reply = model.complete(Request(ASK.messages, schema=schema, max_tokens=40))
        assert set(json.loads(reply.text)) == {"city"}

    def test_a_seed_means_one_answer_whatever_was_asked_before(self, model: Local) -> None:
        asked = Request((Message("user", "Tell me something about cats."),), temperature=0.8, seed=3, max_tokens=12)
        texts = []
        for _ in range(2):
            model.complete(ASK)
            texts += [model.complete(asked).text, model.complete(asked).text]
        assert len(set(texts)) == 1
        assert model.complete(asked).usage.cached_tokens == 0
        assert model.complete(ASK).usage.cached_tokens is not None

    def test_too_long_is_said(self, model: Local) -> None:
        with pytest.raises(ContextLengthError):
            model.complete(Request((Message("user", "word " * 3000),)))

    def test_many_threads_get_the_same_answer(self, model: Local) -> None:
        texts: list[str] = []
        threads = [threading.Thread(target=lambda: texts.append(model.complete(ASK).text)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(texts) == 4
        assert len(set(texts)) == 1

    def test_waiting_counts(self, model: Local) -> None:
        running, _ = model._open()
        with running.turn(1.0), pytest.raises(TransientModelError, match="busy"):
            model.complete(ASK, timeout=0.2)

    def test_roles_share_one_server(self, model: Local) -> None:
        other = build(spec(context=1024))
        other.prepare()
        assert len(server._servers) == 1
        other.close()
        other.close()
        assert "Paris" in model.complete(ASK).text

    def test_the_terminal_stays_clean_and_the_end_is_quiet(self) -> None:
        code = (
            "from skillgit.models.local import build; from skillgit.models.base import *;"
            f"m = build(ModelSpec('target', 'local', {NAME!r}, options={{'offline': True, 'context': 512}}));"
            "print(m.complete(Request((Message('user', 'Hi'),), max_tokens=3)).finish)"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, "length\n", "")

    def test_closing_stops_and_a_call_starts_again(self) -> None:
        made = build(spec(context=512))
        made.complete(ASK)
        made.close()
        assert all(setup.context != 512 for setup in server._servers)
        assert "Paris" in made.complete(ASK).text
        made.close()
