"""The kinds of Chat Completions servers: what each wants beyond the common protocol, as a small table of functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from skillgit.models.base import ModelSpec, Request
from skillgit.models.http.client import OpenAICompatible

Extra = Callable[[ModelSpec, Request], Mapping[str, Any]]


def openai_chat(spec: ModelSpec) -> OpenAICompatible:
    """OpenAI itself, or Azure OpenAI."""
    return _server(spec, _effort)


def openai_compatible(spec: ModelSpec) -> OpenAICompatible:
    """Any server that speaks Chat Completions."""
    return _server(spec, _effort)


def qwen_chat(spec: ModelSpec) -> OpenAICompatible:
    """A server of Qwen models (vLLM, SGLang), whose chat template has a switch for thinking."""
    return _server(spec, lambda spec, request: {**_effort(spec, request), **_template(spec)})


def minimax_chat(spec: ModelSpec) -> OpenAICompatible:
    """MiniMax's API."""
    return _server(spec, lambda spec, request: {**_effort(spec, request), **_adaptive(spec)})


def _server(spec: ModelSpec, extra: Extra) -> OpenAICompatible:
    return OpenAICompatible(spec, lambda request: extra(spec, request))


def _effort(spec: ModelSpec, request: Request) -> dict[str, Any]:
    """OpenAI refuses an effort beside tools."""
    effort = request.effort or spec.options.get("effort")
    return {"reasoning_effort": effort} if effort and not request.tools else {}


def _template(spec: ModelSpec) -> dict[str, Any]:
    thinking = spec.options.get("thinking")
    return {"chat_template_kwargs": {"enable_thinking": thinking == "enabled"}} if thinking else {}


def _adaptive(spec: ModelSpec) -> dict[str, Any]:
    """MiniMax-M2 models always think; others only when asked to."""
    adaptive = spec.options.get("thinking") == "enabled" or spec.model.startswith("MiniMax-M2")
    return {"thinking": {"type": "adaptive" if adaptive else "disabled"}}
