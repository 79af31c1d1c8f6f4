from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from skillgit.errors import ConfigError, ModelConfigError, TransientModelError
from skillgit.models import registry
from skillgit.models.base import Message, ModelSpec, Reply, Request, Usage
from skillgit.models.scripted import Scripted


def spec(role: Any = "target", **options: Any) -> ModelSpec:
    return ModelSpec(role, "scripted", "s1", options=options)


def ask(user: str = "Hi", system: str = "", seed: int | None = None) -> Request:
    return Request((Message("system", system), Message("user", user)), seed=seed)


@pytest.fixture
def script(tmp_path: Path) -> Any:
    def write(role: str = "target", **data: Any) -> Scripted:
        path = tmp_path / "script.json"
        path.write_text(json.dumps(data))
        made = registry.build(spec(role, script=str(path)))
        assert isinstance(made, Scripted)
        return made

    return write


def rejected(tmp_path: Path, text: str) -> str:
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        registry.build(spec(script=str(path)))
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_the_first_rule_whose_patterns_are_all_found_wins(script: Any) -> None:
    made = script(
        rules=[
            {"system": "upper", "user": r"city of (?P<city>\w+)", "reply": r"\g<city>!"},
            {"user": r"city of (\w+)", "reply": r"<\1>"},
            {"reply": "any"},
        ]
    )
    assert made.complete(ask("the city of Bern", "use upper case")).text == "Bern!"
    assert made.complete(ask("the city of Bern")).text == "<Bern>"
    assert made.complete(ask("else")).text == "any"


def test_user_looks_at_the_last_user_turn_and_unless_at_every_turn(script: Any) -> None:
    made = script(rules=[{"user": "a", "unless": "stop", "reply": "rule"}], default="default")
    turns = (Message("user", "a"), Message("assistant", "x"), Message("user", "b"))
    assert made.complete(Request(turns)).text == "default"
    assert made.complete(ask("a")).text == "rule"
    assert made.complete(ask("a", system="please stop")).text == "default"
    assert made.complete(Request((Message("user", "a"), Message("assistant", "stop")))).text == "default"


def test_patterns_span_lines(script: Any) -> None:
    made = script(rules=[{"user": r"^x.*y$", "reply": "found"}], default="no")
    assert made.complete(ask("head\nx\ny\ntail")).text == "found"


def test_roles_have_their_own_rules(script: Any) -> None:
    rules = [{"role": "optimizer", "reply": {"edits": [1]}}, {"role": "target", "reply": "t"}]
    assert script("optimizer", rules=rules).complete(ask()).text == '{"edits": [1]}'
    assert script("target", rules=rules).complete(ask()).text == "t"


def test_several_replies_are_picked_by_seed(script: Any) -> None:
    made = script(rules=[{"replies": ["a", "b", {"c": 1}]}])
    texts = [made.complete(ask(seed=seed)).text for seed in (None, 0, 1, 2, 3, -1)]
    assert texts == ["a", "a", "b", '{"c": 1}', "a", '{"c": 1}']


def test_usage_is_estimated_the_same_every_time(script: Any) -> None:
    made = script(default="12345")
    assert made.complete(ask("x" * 9, "")).usage == Usage(prompt_tokens=3, completion_tokens=2)


def test_flip_answers_the_default_for_a_fixed_share(script: Any) -> None:
    made = script(rules=[{"reply": "rule"}], default="default", flip=0.25)
    first = [made.complete(ask(str(n))).text for n in range(400)]
    assert first == [made.complete(ask(str(n))).text for n in range(400)]
    assert 60 < first.count("default") < 140
    assert first != [made.complete(ask(str(n), seed=1)).text for n in range(400)]


@pytest.mark.parametrize(("flip", "text"), [(0, "rule"), (1, "default")])
def test_flip_at_its_ends(script: Any, flip: float, text: str) -> None:
    made = script(rules=[{"reply": "rule"}], default="default", flip=flip)
    assert {made.complete(ask(str(n))).text for n in range(50)} == {text}


def test_latency_takes_its_time_and_respects_the_limit(script: Any) -> None:
    made = script(default="x", latency=0.2)
    start = time.monotonic()
    made.complete(ask())
    assert time.monotonic() - start >= 0.2
    start = time.monotonic()
    with pytest.raises(TransientModelError, match="latency"):
        made.complete(ask(), timeout=0.05)
    assert time.monotonic() - start < 0.2


def test_no_rule_and_no_default(script: Any) -> None:
    with pytest.raises(ModelConfigError, match="no rule answers"):
        script(rules=[{"user": "a", "reply": "b"}]).complete(ask("zzz"))


def test_an_empty_reply_is_an_error_not_an_answer(script: Any) -> None:
    with pytest.raises(TransientModelError):
        script(default=" ").complete(ask())


def test_settings_change_with_the_script(script: Any) -> None:
    first, second = script(default="a").settings(), script(default="b").settings()
    assert first != second
    assert "/" not in json.dumps(first)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("{", "not JSON"),
        ("[]", "object"),
        ('{"rulez": []}', "unknown key 'rulez'"),
        ('{"rules": {}}', "list"),
        ('{"rules": [{"reply": "a"}, {"user": "(", "reply": "a"}]}', "rule 1: user"),
        ('{"rules": [{"usr": "a", "reply": "a"}]}', "rule 0: unknown key 'usr'"),
        ('{"rules": [{"user": "a"}]}', "rule 0"),
        ('{"rules": [{"reply": "a", "replies": ["b"]}]}', "rule 0"),
        ('{"rules": [{"replies": []}]}', "rule 0"),
        ('{"rules": [{"user": 3, "reply": "a"}]}', "rule 0: user"),
        ('{"rules": [3]}', "rule 0"),
        ('{"rules": [{"role": "judge", "reply": "a"}]}', "judge"),
        (r'{"rules": [{"user": "a", "reply": "\\1"}]}', "rule 0"),
        (r'{"rules": [{"user": "a", "reply": "\\g<b>"}]}', "rule 0"),
        ('{"flip": 2}', "flip"),
        ('{"flip": 0.5}', "default"),
        ('{"latency": -1}', "latency"),
        ('{"latency": "1"}', "latency"),
    ],
)
def test_scripts_that_cannot_be_used(tmp_path: Path, text: str, word: str) -> None:
    assert word in rejected(tmp_path, text)


def test_no_script() -> None:
    with pytest.raises(ConfigError, match=r"model\.script"):
        registry.build(spec())
    with pytest.raises(ConfigError, match="cannot be read"):
        registry.build(spec(script="nowhere/script.json"))


def test_a_function_can_answer() -> None:
    plain = Scripted(spec(), lambda request: request.messages[-1].content.upper())
    assert plain.complete(ask("hi")).text == "HI"
    full = Scripted(spec(price={"prompt": 1, "completion": 1}), lambda _: Reply("x", Usage(10, 20), "length"))
    reply = full.complete(ask())
    assert reply.finish == "length"
    assert reply.usage.cost == pytest.approx(30e-6)
    full.close()
