"""A key is bound to its host: what else is in the environment, or what a server answers, sends it nowhere else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from skillgit.errors import ConfigError, ModelConfigError, TransientModelError
from skillgit.models.base import ModelSpec
from skillgit.models.http import client as openai_compatible
from skillgit.models.http import failures
from skillgit.models.http.families import is_openai

from .test_servers import ANSWER, CHAT, KEY, ask, azure, sent, spec

BOTH = {"target": "t", "optimizer": "o"}
A, B = "https://a.example/v1", "https://b.example/v1"


def two(tmp_path: Path, settings: Mapping[str, str], environ: Mapping[str, str]) -> list[str]:
    """The keys of target and optimizer."""
    return [spec(tmp_path, role, {**BOTH, **settings}, environ).api_key for role in ("target", "optimizer")]


# --- one key, one host


@pytest.mark.parametrize(
    ("settings", "variable"),
    [
        ({"target_base_url": A, "optimizer_base_url": B, "api_key_env": "K"}, "K"),
        ({"base_url": A, "optimizer_base_url": B, "api_key_env": "K"}, "K"),
        ({"base_url": A, "optimizer_base_url": B, "target_api_key_env": "K", "api_key_env": "K"}, "K"),
        ({"target_base_url": A, "optimizer_base_url": B}, "OPENAI_COMPATIBLE_API_KEY"),
        ({"backend": "minimax_chat", "optimizer_backend": "minimax_chat", "target_region": "cn_zh"}, "MINIMAX_API_KEY"),
        (
            {
                "backend": "openai_chat",
                "azure.auth_mode": "api_key",
                "target_azure.endpoint": "https://t.openai.azure.com",
                "optimizer_azure.endpoint": "https://o.openai.azure.com",
            },
            "AZURE_OPENAI_API_KEY",
        ),
    ],
)
def test_one_key_for_the_servers_of_both_roles_is_refused(
    settings: dict[str, str], variable: str, tmp_path: Path
) -> None:
    for role in ("target", "optimizer"):
        with pytest.raises(ConfigError, match=f"the key in {variable} would go to two servers") as caught:
            spec(tmp_path, role, {**BOTH, **settings}, {variable: KEY})
        assert KEY not in str(caught.value)
        assert f"model.{role}_api_key_env" in caught.value.fix


def test_one_key_may_be_named_for_both_on_purpose_or_serve_both_on_one_host(tmp_path: Path) -> None:
    apart = {"target_base_url": A, "optimizer_base_url": B}
    named = {"target_api_key_env": "K", "optimizer_api_key_env": "K"}
    assert two(tmp_path, {**apart, **named}, {"K": KEY}) == [KEY, KEY]
    assert two(tmp_path, {"base_url": A, "api_key_env": "K"}, {"K": KEY}) == [KEY, KEY]
    assert two(tmp_path, {**apart, "api_key_env": "K", "target_api_key_env": "T"}, {"K": KEY, "T": "t"}) == ["t", KEY]
    program = {"target_base_url": A, "optimizer_backend": "claude_chat", "api_key_env": "K"}
    assert spec(tmp_path, "target", {**BOTH, **program}, {"K": KEY}).api_key == KEY


@pytest.mark.parametrize("prefix", ["OPENAI_COMPATIBLE", "QWEN_CHAT", "MINIMAX"])
def test_a_key_beside_an_address_in_the_environment_is_for_that_address(prefix: str, tmp_path: Path) -> None:
    backend = {"MINIMAX": "minimax_chat", "QWEN_CHAT": "qwen_chat"}.get(prefix, "openai_compatible")
    environ = {f"{prefix}_BASE_URL": A, f"{prefix}_API_KEY": KEY}
    assert spec(tmp_path, "target", {**BOTH, "backend": backend}, environ).api_key == KEY
    elsewhere = spec(tmp_path, "target", {**BOTH, "backend": backend, "base_url": B}, environ)
    assert (elsewhere.base_url, elsewhere.api_key) == (B, "")
    own = {**environ, f"TARGET_{prefix}_API_KEY": "own"}
    assert spec(tmp_path, "target", {**BOTH, "backend": backend, "base_url": B}, own).api_key == "own"
    away = {**own, f"TARGET_{prefix}_BASE_URL": A}
    assert spec(tmp_path, "target", {**BOTH, "backend": backend, "base_url": B}, away).api_key == ""


def test_a_key_of_azure_goes_to_its_resource_alone(tmp_path: Path) -> None:
    environ = {"AZURE_OPENAI_ENDPOINT": "https://mine.openai.azure.com", "AZURE_OPENAI_API_KEY": KEY}
    settings = {"azure.auth_mode": "api_key", "backend": "openai_chat", **BOTH}
    assert spec(tmp_path, "target", settings, environ).api_key == KEY
    other = {**settings, "azure.endpoint": "https://theirs.openai.azure.com"}
    assert spec(tmp_path, "target", other, environ).api_key == ""
    for more in ({"base_url": A}, {"target_base_url": A}):
        found = spec(tmp_path, "target", {**settings, **more}, environ)
        assert (found.base_url, found.api_key, "azure" in found.options) == (A, "", False)


@pytest.mark.parametrize("setting", ["base_url", "target_base_url", "azure.endpoint"])
def test_an_address_that_is_none_is_told(setting: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not a URL"):
        spec(tmp_path, "target", {"backend": "openai_chat", "target": "m", setting: "http://[x"}, {})


# --- what the SDK does on its own

AMBIENT = {
    "OPENAI_ORG_ID": "org-leak",
    "OPENAI_PROJECT_ID": "proj-leak",
    "OPENAI_CUSTOM_HEADERS": "X-Other: leak\nAuthorization: Bearer leak",
    "OPENAI_BASE_URL": "http://127.0.0.1:9/leak",
    "OPENAI_API_KEY": "sk-leak-0123456789",
    "OPENAI_ADMIN_KEY": "sk-leak-admin",
    "AZURE_OPENAI_AD_TOKEN": "leak",
}


@pytest.mark.parametrize("resource", [False, True])
def test_nothing_of_the_environment_is_sent_but_what_was_asked_for(
    resource: bool, httpserver: HTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in AMBIENT.items():
        monkeypatch.setenv(name, value)
    httpserver.expect_request(CHAT).respond_with_json(ANSWER)
    httpserver.expect_request("/openai/deployments/d1/chat/completions").respond_with_json(ANSWER)
    if resource:
        made = azure(tmp_path, {"AZURE_OPENAI_API_KEY": KEY}, endpoint=httpserver.url_for("/"), auth_mode="key")
    else:
        made = spec(tmp_path, "target", {"target": "m", "target_base_url": httpserver.url_for("/v1")}, {})
    ask(made)
    body, headers, _ = sent(httpserver)
    assert "leak" not in f"{body} {dict(headers)}"


def test_openai_itself_gets_the_organization(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-mine")
    model = openai_compatible.OpenAICompatible(spec(tmp_path, "target", {"target": "m"}, {"OPENAI_API_KEY": KEY}))
    assert model._open().organization == "org-mine"
    model.close()
    assert not is_openai("https://api.openai.com.evil.example/v1")


@pytest.mark.parametrize("status", [301, 302, 307, 308])
@pytest.mark.parametrize("resource", [False, True])
def test_a_server_cannot_send_the_question_on(
    status: int, resource: bool, httpserver: HTTPServer, tmp_path: Path
) -> None:
    there = {"Location": httpserver.url_for("/elsewhere")}
    for path in (CHAT, "/openai/deployments/d1/chat/completions"):
        httpserver.expect_request(path).respond_with_data("", status=status, headers=there)
    if resource:
        made = azure(tmp_path, {"AZURE_OPENAI_API_KEY": KEY}, endpoint=httpserver.url_for("/"), auth_mode="key")
    else:
        made = spec(tmp_path, "target", {"target": "m", "target_base_url": httpserver.url_for("/v1")}, {})
    with pytest.raises(ModelConfigError, match="another address"):
        ask(made)
    assert len(httpserver.log) == 1


def test_a_token_that_cannot_be_had_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("azure.identity")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ModelConfigError, match="gets no token by azure_cli") as caught:
        ask(azure(tmp_path, endpoint="https://x.openai.azure.com"))
    assert caught.value.fix == "az login"


# --- what comes back


def test_a_key_that_a_server_repeats_is_in_no_answer(httpserver: HTTPServer, tmp_path: Path) -> None:
    message: dict[str, Any] = {"role": "assistant", "content": f"got {KEY}", "reasoning": f"Bearer {KEY}"}
    httpserver.expect_request(CHAT).respond_with_json({"choices": [{"finish_reason": "stop", "message": message}]})
    settings = {"target": "m", "target_base_url": httpserver.url_for("/v1"), "target_api_key_env": "K"}
    reply = ask(spec(tmp_path, "target", settings, {"K": KEY}))
    assert (reply.text, reply.reasoning) == ("got [key]", "Bearer [key]")


@pytest.mark.parametrize("model", ["m", "gpt-5-codex"])
def test_a_key_at_the_cut_of_a_broken_body_is_not_told_by_half(
    model: str, httpserver: HTTPServer, tmp_path: Path
) -> None:
    httpserver.expect_request("/v1/responses").respond_with_data("x" * 70 + KEY)
    httpserver.expect_request(CHAT).respond_with_data("x" * 70 + KEY)
    settings = {"backend": "openai_chat", "target": model, "target_base_url": httpserver.url_for("/v1")}
    with pytest.raises(TransientModelError) as caught:
        ask(spec(tmp_path, "target", {**settings, "target_api_key_env": "K"}, {"K": KEY}))
    assert KEY[:6] not in str(caught.value)


def test_a_short_stand_in_for_a_key_is_left_in_answers() -> None:
    place = failures.endpoint(ModelSpec("target", "b", "m", "http://127.0.0.1/v1", "none"), "")
    assert place.blotted("none of them") == "none of them"


# --- the rest of the environment of servers


@pytest.mark.parametrize(
    ("environ", "thinking"),
    [
        ({"QWEN_CHAT_THINKING_MODE": "disabled"}, "disabled"),
        ({"QWEN_CHAT_THINKING_MODE": "server_default"}, None),
        ({"QWEN_CHAT_ENABLE_THINKING": "true"}, "enabled"),
        ({"QWEN_CHAT_ENABLE_THINKING": "false"}, None),
        ({"QWEN_CHAT_THINKING_MODE": "disabled", "TARGET_QWEN_CHAT_THINKING_MODE": "enabled"}, "enabled"),
    ],
)
def test_the_environment_has_a_switch_for_thinking_and_the_configuration_wins(
    environ: dict[str, str], thinking: str | None, tmp_path: Path
) -> None:
    settings = {"backend": "qwen_chat", "target": "q"}
    assert spec(tmp_path, "target", settings, environ).options.get("thinking") == thinking
    stated = {**settings, "thinking": "disabled"}
    assert spec(tmp_path, "target", stated, environ).options["thinking"] == "disabled"


@pytest.mark.parametrize(
    "environ",
    [
        {"QWEN_CHAT_THINKING_MODE": "maybe"},
        {"QWEN_CHAT_THINKING_MODE": "disabled", "QWEN_CHAT_ENABLE_THINKING": "1"},
    ],
)
def test_a_switch_that_cannot_be_read_is_an_error(environ: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="THINKING"):
        spec(tmp_path, "target", {"backend": "qwen_chat", "target": "q"}, environ)


def test_a_program_has_no_address(tmp_path: Path) -> None:
    settings = {"target": "t", "target_backend": "claude_chat", "base_url": A}
    assert spec(tmp_path, "target", settings, {}).base_url == ""


def test_a_responses_answer_of_odd_parts_is_read(httpserver: HTTPServer, tmp_path: Path) -> None:
    output = [{"type": "message", "content": 5, "summary": "x"}]
    filtered = {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}, "output": []}
    settings = {"backend": "openai_chat", "target": "gpt-5-codex", "target_base_url": httpserver.url_for("/v1")}
    for body, said in (({"output": output}, "empty reply"), (filtered, "declined")):
        httpserver.expect_oneshot_request("/v1/responses").respond_with_data(json.dumps(body))
        with pytest.raises(Exception, match=said):
            ask(spec(tmp_path, "target", settings, {}))
