"""Each kind of server, over HTTP: exactly what it is sent, and where keys go."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from skillgit.config.load import load_config
from skillgit.errors import ConfigError, ContextLengthError, ModelConfigError, RefusalError, TransientModelError
from skillgit.models import registry
from skillgit.models.base import Message, ModelSpec, Reply, Request
from skillgit.models.roles import role_spec

ASK = Request((Message("system", "Be brief."), Message("user", "Hi")), max_tokens=50)
ANSWER = {
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Hello."}}],
    "usage": {"prompt_tokens": 7, "completion_tokens": 2},
}
MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]
KEY = "sk-0123456789abcdef"
CHAT = "/v1/chat/completions"


def spec(tmp_path: Path, role: Any, settings: Mapping[str, str], environ: Mapping[str, str]) -> ModelSpec:
    config = load_config(tmp_path, "", [f"model.{key}={value}" for key, value in {"retries": "0", **settings}.items()])
    return role_spec(config, role, environ, tmp_path)


def ask(made: ModelSpec, request: Request = ASK) -> Reply:
    model = registry.build(made)
    try:
        return model.complete(request)
    finally:
        model.close()


def sent(server: HTTPServer) -> tuple[dict[str, Any], Mapping[str, str], str]:
    """Body, headers and address of the one request that the server saw."""
    ((request, _),) = server.log
    return json.loads(request.data), request.headers, request.full_path.rstrip("?")


SETTINGS = {
    "openai_chat": ({}, {"max_completion_tokens": 50}),
    "openai_compatible": ({}, {"max_tokens": 50}),
    "qwen_chat": ({}, {"max_tokens": 50, "temperature": 0.7}),
    "minimax_chat": ({}, {"max_tokens": 50, "temperature": 0.7, "thinking": {"type": "disabled"}}),
}


@pytest.mark.parametrize("backend", SETTINGS)
def test_a_plain_request_holds_this_and_nothing_else(backend: str, httpserver: HTTPServer, tmp_path: Path) -> None:
    httpserver.expect_request(CHAT, method="POST").respond_with_json(ANSWER)
    settings = {"backend": backend, "target": "m1", "target_base_url": httpserver.url_for("/v1"), "api_key_env": "K"}
    reply = ask(spec(tmp_path, "target", settings, {"K": KEY}))
    assert (reply.text, reply.usage.prompt_tokens, reply.usage.completion_tokens) == ("Hello.", 7, 2)
    body, headers, path = sent(httpserver)
    assert body == {"model": "m1", "messages": MESSAGES, **SETTINGS[backend][1]}
    assert headers["authorization"] == f"Bearer {KEY}"
    assert path == CHAT


@pytest.mark.parametrize(
    ("settings", "extra"),
    [
        ({"backend": "openai_chat", "reasoning_effort": "low"}, {"reasoning_effort": "low"}),
        ({"backend": "openai_compatible", "reasoning_effort": "low"}, {}),
        ({"backend": "openai_compatible", "target_reasoning_effort": "low"}, {"reasoning_effort": "low"}),
        ({"backend": "qwen_chat", "thinking": "server_default"}, {}),
        ({"backend": "qwen_chat", "thinking": "enabled"}, {"chat_template_kwargs": {"enable_thinking": True}}),
        ({"backend": "qwen_chat", "target_thinking": "disabled"}, {"chat_template_kwargs": {"enable_thinking": False}}),
        ({"backend": "minimax_chat", "thinking": "enabled"}, {"thinking": {"type": "adaptive"}}),
        ({"backend": "minimax_chat", "target": "MiniMax-M2.5"}, {"thinking": {"type": "adaptive"}}),
        ({"backend": "minimax_chat", "thinking": "disabled"}, {"thinking": {"type": "disabled"}}),
    ],
)
def test_thinking_is_asked_for_in_the_servers_own_words(
    settings: dict[str, str], extra: dict[str, Any], httpserver: HTTPServer, tmp_path: Path
) -> None:
    httpserver.expect_request(CHAT).respond_with_json(ANSWER)
    given = {"target": "m1", "target_base_url": httpserver.url_for("/v1"), **settings}
    ask(spec(tmp_path, "target", given, {}))
    body, _, _ = sent(httpserver)
    common = ("model", "messages", "max_tokens", "max_completion_tokens", "temperature")
    assert {name: value for name, value in body.items() if name not in common} == extra


def test_an_effort_beside_tools_is_left_out_and_a_requests_own_effort_wins(
    httpserver: HTTPServer, tmp_path: Path
) -> None:
    httpserver.expect_request(CHAT).respond_with_json(ANSWER)
    settings = {"backend": "openai_chat", "target": "m1", "target_base_url": httpserver.url_for("/v1")}
    made = spec(tmp_path, "target", {**settings, "reasoning_effort": "low"}, {})
    tool = {"type": "function", "function": {"name": "look", "parameters": {}}}
    ask(made, Request(ASK.messages, tools=(tool,)))
    ask(made, Request(ASK.messages, effort="high"))
    bodies = [json.loads(request.data) for request, _ in httpserver.log]
    assert ["reasoning_effort" in body for body in bodies] == [False, True]
    assert bodies[1]["reasoning_effort"] == "high"


def test_a_model_of_the_responses_api_is_reached_through_it(httpserver: HTTPServer, tmp_path: Path) -> None:
    output = [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
        {"type": "message", "content": [{"type": "output_text", "text": '{"ok": true}'}]},
    ]
    usage = {"input_tokens": 9, "output_tokens": 3, "input_tokens_details": {"cached_tokens": 4}}
    httpserver.expect_request("/v1/responses").respond_with_json(
        {"status": "completed", "output": output, "usage": usage}
    )
    settings = {"backend": "openai_chat", "target": "gpt-5-codex-2026", "reasoning_effort": "low"}
    schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
    made = spec(tmp_path, "target", {**settings, "target_base_url": httpserver.url_for("/v1")}, {})
    reply = ask(made, Request(ASK.messages, schema=schema, max_tokens=50, seed=3))
    assert (reply.text, reply.reasoning, reply.finish) == ('{"ok": true}', "hm", "stop")
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens, reply.usage.cached_tokens) == (9, 3, 4)
    body, _, _ = sent(httpserver)
    assert body == {
        "model": "gpt-5-codex-2026",
        "instructions": "Be brief.",
        "input": [{"role": "user", "content": "Hi"}],
        "max_output_tokens": 50,
        "reasoning": {"effort": "low"},
        "text": {"format": {"type": "json_schema", "name": "reply", "strict": True, "schema": schema}},
    }


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ({"status": "incomplete", "output": []}, TransientModelError),
        ({"status": "completed", "output": []}, TransientModelError),
        ({"output": [{"type": "message", "content": [{"type": "refusal", "refusal": "no"}]}]}, RefusalError),
        ({"error": {"message": "boom", "code": "server_error"}}, TransientModelError),
        (["odd"], TransientModelError),
    ],
)
def test_responses_that_hold_no_answer_are_errors(
    answer: Any, error: type, httpserver: HTTPServer, tmp_path: Path
) -> None:
    httpserver.expect_request("/v1/responses").respond_with_json(answer)
    settings = {"backend": "openai_chat", "target": "codex-mini", "target_base_url": httpserver.url_for("/v1")}
    with pytest.raises(error):
        ask(spec(tmp_path, "target", settings, {}))


def test_function_calls_of_the_responses_api_look_like_those_of_chat(httpserver: HTTPServer, tmp_path: Path) -> None:
    call = {"type": "function_call", "call_id": "c1", "name": "look", "arguments": '{"at": 1}'}
    httpserver.expect_request("/v1/responses").respond_with_json({"status": "completed", "output": [call]})
    settings = {"backend": "openai_chat", "target": "codex-mini", "target_base_url": httpserver.url_for("/v1")}
    tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
    reply = ask(spec(tmp_path, "target", settings, {}), Request(ASK.messages, tools=(tool,)))
    function = {"name": "look", "arguments": '{"at": 1}'}
    assert (reply.finish, reply.tool_calls) == ("tool_calls", ({"id": "c1", "type": "function", "function": function},))
    assert sent(httpserver)[0]["tools"] == [{"type": "function", "name": "look", "parameters": {"type": "object"}}]


FAILURES = [
    (401, {"message": "bad key"}, ModelConfigError),
    (404, {"message": "no such model"}, ModelConfigError),
    (400, {"message": "too long", "code": "context_length_exceeded"}, ContextLengthError),
    (400, {"message": "blocked", "code": "content_filter"}, RefusalError),
    (429, {"message": "slow down"}, TransientModelError),
    (500, {"message": "oops"}, TransientModelError),
]


@pytest.mark.parametrize("backend", SETTINGS)
@pytest.mark.parametrize(("status", "error", "kind"), FAILURES)
def test_each_failure_has_its_kind_on_every_server(
    backend: str, status: int, error: Any, kind: type, httpserver: HTTPServer, tmp_path: Path
) -> None:
    httpserver.expect_request(CHAT).respond_with_json({"error": error}, status=status)
    settings = {"backend": backend, "target": "m1", "target_base_url": httpserver.url_for("/v1")}
    with pytest.raises(kind) as caught:
        ask(spec(tmp_path, "target", settings, {"OPENAI_COMPATIBLE_API_KEY": KEY}))
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("field", ["temperature", "reasoning_effort"])
def test_a_setting_that_a_model_does_not_take_is_named(field: str, httpserver: HTTPServer, tmp_path: Path) -> None:
    httpserver.expect_request(CHAT).respond_with_json({"error": {"message": "unsupported", "param": field}}, status=400)
    value = {"temperature": "0.5", "reasoning_effort": "low"}[field]
    settings = {"backend": "openai_chat", "target": "m1", f"target_{field}": value}
    with pytest.raises(ModelConfigError) as caught:
        ask(spec(tmp_path, "target", {**settings, "target_base_url": httpserver.url_for("/v1")}, {}))
    assert f"leave model.target_{field} blank" in caught.value.fix


def test_a_seed_that_a_server_does_not_take_is_left_out(httpserver: HTTPServer, tmp_path: Path) -> None:
    refusal = {"error": {"message": "unknown field", "param": "seed"}}
    httpserver.expect_ordered_request(CHAT).respond_with_json(refusal, status=400)
    httpserver.expect_ordered_request(CHAT).respond_with_json(ANSWER)
    settings = {"backend": "qwen_chat", "target": "m1", "target_base_url": httpserver.url_for("/v1")}
    assert ask(spec(tmp_path, "target", settings, {}), Request(ASK.messages, seed=1)).text == "Hello."
    assert ["seed" in json.loads(request.data) for request, _ in httpserver.log] == [True, False]


# --- addresses and keys


@pytest.mark.parametrize("backend", ["openai_compatible", "qwen_chat", "minimax_chat"])
def test_the_environment_of_each_kind_of_server_is_read_and_a_roles_own_wins(backend: str, tmp_path: Path) -> None:
    prefix = {"openai_compatible": "OPENAI_COMPATIBLE", "qwen_chat": "QWEN_CHAT", "minimax_chat": "MINIMAX"}[backend]
    shared = {"BASE_URL": "http://127.0.0.1:1/v1", "API_KEY": "shared", "MODEL": "m", "TEMPERATURE": "0.2"}
    environ = {f"{prefix}_{name}": value for name, value in shared.items()}
    environ |= {f"TARGET_{prefix}_API_KEY": "own", f"{prefix}_MAX_TOKENS": "64", f"{prefix}_TIMEOUT_SECONDS": "9"}
    target, optimizer = (
        spec(tmp_path, role, {"target_backend": backend, "optimizer_backend": backend}, environ)
        for role in ("target", "optimizer")
    )
    assert (target.base_url, target.model, target.temperature, target.timeout) == (shared["BASE_URL"], "m", 0.2, 9.0)
    assert (target.api_key, optimizer.api_key) == ("own", "shared")
    assert target.options["cap"] == 64


def test_a_temperature_of_none_in_the_environment_sends_none(tmp_path: Path) -> None:
    settings = {"backend": "qwen_chat", "target": "m"}
    assert spec(tmp_path, "target", settings, {"QWEN_CHAT_TEMPERATURE": "none"}).temperature is None
    assert spec(tmp_path, "target", {**settings, "target_temperature": "0"}, {}).temperature == 0
    with pytest.raises(ConfigError, match="QWEN_CHAT_TEMPERATURE"):
        spec(tmp_path, "target", settings, {"QWEN_CHAT_TEMPERATURE": "warm"})


def test_each_region_of_minimax_has_its_address(tmp_path: Path) -> None:
    settings = {"backend": "minimax_chat", "target": "m", "optimizer": "m", "optimizer_backend": "minimax_chat"}
    assert spec(tmp_path, "target", settings, {}).base_url == "https://api.minimax.io/v1"
    assert (
        spec(tmp_path, "target", {**settings, "target_region": "cn_zh"}, {}).base_url == "https://api.minimaxi.com/v1"
    )
    assert spec(tmp_path, "optimizer", settings, {"MINIMAX_REGION": "cn_zh"}).base_url == "https://api.minimaxi.com/v1"
    with pytest.raises(ConfigError, match="MINIMAX_REGION"):
        spec(tmp_path, "target", settings, {"MINIMAX_REGION": "mars"})


def test_a_key_of_openai_goes_to_openai_alone(tmp_path: Path) -> None:
    environ = {"OPENAI_API_KEY": KEY, "AZURE_OPENAI_API_KEY": "azure"}
    for backend in ("openai_chat", "openai_compatible"):
        assert spec(tmp_path, "target", {"backend": backend, "target": "m"}, environ).api_key == KEY
        elsewhere = {"backend": backend, "target": "m", "target_base_url": "https://elsewhere.example/v1"}
        assert spec(tmp_path, "target", elsewhere, {"OPENAI_API_KEY": KEY}).api_key == ""


@pytest.mark.parametrize("backend", SETTINGS)
def test_no_key_goes_over_plain_http_except_to_this_machine(backend: str, tmp_path: Path) -> None:
    settings = {"backend": backend, "target": "m", "target_base_url": "http://10.0.0.5/v1"}
    with pytest.raises(ModelConfigError, match="unencrypted"):
        registry.build(spec(tmp_path, "target", {**settings, "api_key_env": "K"}, {"K": KEY}))
    registry.build(spec(tmp_path, "target", settings, {})).close()


# --- Azure


def azure(tmp_path: Path, environ: Mapping[str, str] = {}, role: Any = "target", **fields: str) -> ModelSpec:
    settings = {"backend": "openai_chat", "target": "d1", "optimizer": "d2"}
    return spec(tmp_path, role, settings | {f"azure.{name}": value for name, value in fields.items()}, environ)


def test_an_azure_resource_with_a_key(httpserver: HTTPServer, tmp_path: Path) -> None:
    httpserver.expect_request("/openai/deployments/d1/chat/completions").respond_with_json(ANSWER)
    endpoint = httpserver.url_for("/")
    ask(azure(tmp_path, {"AZURE_OPENAI_API_KEY": KEY}, endpoint=endpoint, auth_mode="key"))
    body, headers, path = sent(httpserver)
    assert path == "/openai/deployments/d1/chat/completions?api-version=2024-12-01-preview"
    assert headers["api-key"] == KEY
    assert "authorization" not in headers
    assert body == {"model": "d1", "messages": MESSAGES, "max_completion_tokens": 50}


def test_an_azure_resource_in_compatible_mode_is_a_plain_server(httpserver: HTTPServer, tmp_path: Path) -> None:
    httpserver.expect_request(CHAT).respond_with_json(ANSWER)
    made = azure(tmp_path, {"AZURE_OPENAI_API_KEY": KEY}, endpoint=httpserver.url_for("/v1/"), auth_mode="compat")
    ask(made)
    assert sent(httpserver)[1]["authorization"] == f"Bearer {KEY}"


def test_the_roles_of_azure_are_configured_and_authenticated_on_their_own(tmp_path: Path) -> None:
    environ = {
        "TARGET_AZURE_OPENAI_ENDPOINT": "https://t.openai.azure.com",
        "AZURE_OPENAI_OPTIMIZER_ENDPOINT": "https://o.openai.azure.com",
        "AZURE_OPENAI_AUTH_MODE": "api_key",
        "TARGET_AZURE_OPENAI_API_KEY": "t-key",
        "AZURE_OPENAI_API_KEY": "o-key",
        "TARGET_DEPLOYMENT": "dt",
    }
    settings = {"backend": "openai_chat", "optimizer": "d2"}
    target, optimizer = (spec(tmp_path, role, settings, environ) for role in ("target", "optimizer"))
    assert (target.base_url, target.api_key, target.model) == ("https://t.openai.azure.com", "t-key", "dt")
    assert (optimizer.base_url, optimizer.api_key) == ("https://o.openai.azure.com", "o-key")


def test_an_azure_key_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelConfigError) as caught:
        ask(azure(tmp_path, endpoint="https://x.openai.azure.com", auth_mode="api_key"))
    assert "AZURE_OPENAI_API_KEY" in caught.value.fix
    with pytest.raises(ConfigError, match="auth_mode is 'magic'"):
        azure(tmp_path, endpoint="https://x.openai.azure.com", auth_mode="magic")


@pytest.mark.parametrize("endpoint", ["https://x.openai.azure.com.evil.example", "http://x.openai.azure.com"])
@pytest.mark.parametrize("mode", ["azure_cli", "managed_identity"])
def test_a_token_goes_to_azure_over_https_alone(endpoint: str, mode: str, tmp_path: Path) -> None:
    with pytest.raises(ModelConfigError, match="gets no token"):
        ask(azure(tmp_path, endpoint=endpoint, auth_mode=mode))


def test_the_azure_cli_gives_the_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a real azure-identity and a stand-in for the `az` program."""
    pytest.importorskip("azure.identity")
    from skillgit.models.http import azure as room
    from skillgit.models.http.failures import endpoint

    program = tmp_path / "az"
    token = {"accessToken": "tok-123", "expires_on": 4102444800}
    program.write_text(f"#!/bin/sh\necho \"$@\" >> {tmp_path}/asked\necho '{json.dumps(token)}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    made = azure(tmp_path, endpoint="https://x.openai.azure.com")
    provider = room._tokens(endpoint(made, ""), made.options["azure"])
    assert provider() == "tok-123"
    asked = (tmp_path / "asked").read_text()
    assert "get-access-token" in asked
    assert "https://cognitiveservices.azure.com" in asked


def test_no_key_is_in_a_description(tmp_path: Path) -> None:
    made = azure(tmp_path, {"AZURE_OPENAI_API_KEY": KEY}, endpoint="https://x.openai.azure.com", auth_mode="api_key")
    model = registry.build(made)
    assert KEY not in f"{made} {model} {model.settings()}"
