"""JSON out of what models write."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgit.optimizer.replies import extract_object, problem

CASES = json.loads((Path(__file__).parents[1] / "data/json_extraction.json").read_text())
REPAIRED = {'{"a": 1,}': {"a": 1}}
"""Where more is made of a reply than published: small damage whose mending leaves no doubt."""


@pytest.mark.parametrize("case", CASES, ids=[case["text"] for case in CASES])
def test_objects_are_found_as_published(case: dict[str, Any]) -> None:
    assert extract_object(case["text"]) == REPAIRED.get(case["text"], case["value"])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [1, 2,],}', {"a": [1, 2]}),
        ("{'a': 'it is'}", {"a": "it is"}),
        ('{"a": 1} and {"b": 2}', None),
        ('{"a": 1}\n{"b": 2}', None),
        ('{"edits": [{"op": "append", "content": "x"}', None),
        ('{"edits": [{"op": "append", "content": "x', None),
        ('{"edits": [{"op": "append"}, {"op":', None),
        ('```json\n{"edits": [{"op":', None),
        ("{}", {}),
        ("", None),
        ("}{", None),
        ("{", None),
        ('"{}"', {}),
        ('{"a": "line\nbreak"}', {"a": "line\nbreak"}),
        ('{"a": "\\"}"}', {"a": '"}'}),
        ('```json\n{"a": 1}\n```\nand also\n```json\n{"b": 2}\n```', {"a": 1}),
    ],
)
def test_nothing_is_guessed(text: str, value: Any) -> None:
    assert extract_object(text) == value


def test_a_code_fence_inside_a_string_does_not_end_the_object() -> None:
    value = {"edits": [{"op": "append", "content": "Run this:\n```sh\nmake\n```\nthen look."}]}
    text = json.dumps(value)
    assert extract_object(f"```json\n{text}\n```") == value
    assert extract_object(f"Here:\n```\n{text}\n```\nDone.") == value
    assert extract_object(f"```json\n{json.dumps(value, indent=2)}\n```") == value


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), JSON, max_size=5), st.sampled_from(["{}", "Sure!\n{}\nDone.", "```json\n{}\n```"]))
def test_every_object_is_found_whatever_stands_around_it(value: dict[str, Any], around: str) -> None:
    assert extract_object(around.replace("{}", json.dumps(value))) == value


@given(st.text() | st.text(alphabet="{}[]\",:'`\\\n 1a"))
def test_any_text_gives_an_object_or_nothing(text: str) -> None:
    value = extract_object(text)
    assert value is None or isinstance(value, dict)


@settings(max_examples=50)
@given(st.dictionaries(st.text(min_size=1), JSON, min_size=1, max_size=4), st.data())
def test_a_cut_reply_is_never_completed(value: dict[str, Any], data: Any) -> None:
    text = json.dumps(value)
    cut = text[: data.draw(st.integers(0, len(text) - 1))]
    found = extract_object(cut)
    assert found is None or cut.rstrip().endswith("}") or cut.count("{") != cut.count("}")
    if found is not None:
        assert found == json.loads(cut[cut.find("{") : cut.rfind("}") + 1], strict=False)


MONSTERS = {
    "lists": '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}",
    "objects": '{"a": ' * 60_000 + "1" + "}" * 60_000,
    "open": "{" * 300_000,
    "long": "{'a': '" + "x" * 300_000 + "'}",
    "many": "{" + '"k": [1,],' * 2_000 + "}",
}


@pytest.mark.parametrize("name", MONSTERS)
def test_monstrous_replies_are_read_or_given_up_in_time(name: str) -> None:
    started = time.monotonic()
    value = extract_object(MONSTERS[name])
    assert value is None or isinstance(value, dict)
    assert time.monotonic() - started < 20


def test_a_problem_is_one_short_sentence_with_a_place() -> None:
    schema = {"type": "object", "properties": {"edits": {"type": "array"}}, "required": ["edits"]}
    assert problem({"edits": []}, schema) == ""
    assert problem({"edits": "x"}, schema) == "$.edits: 'x' is not of type 'array'"
    assert len(problem({"edits": "x" * 10_000}, schema)) < 400
