"""The `model` section of the configuration: which models, and how they are reached."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class LocalModel:
    """`model.local`: the embedded llama.cpp server.

    Attributes:
        path: a GGUF file used for both roles instead of the model names.
        context: tokens of context per model.
        threads: processor threads; 0 takes all cores but one (waiting threads of llama.cpp keep a core busy).
    """

    path: str = ""
    context: int = 4096
    threads: int = 0


@dataclass(frozen=True)
class Azure:
    """`model.azure`, `model.optimizer_azure`, `model.target_azure`: an Azure OpenAI resource for `openai_chat`.

    Blank fields of a role take the shared ones.

    Attributes:
        endpoint: address of the resource; blank reaches OpenAI itself.
        api_version: version of the API.
        auth_mode: `azure_cli`, `managed_identity`, `api_key`, or `openai_compatible` for a plain server at `endpoint`.
        ad_scope: scope that tokens are asked for.
        managed_identity_client_id: of a user-assigned identity.
    """

    endpoint: str = ""
    api_version: str = ""
    auth_mode: str = ""
    ad_scope: str = ""
    managed_identity_client_id: str = ""


@dataclass(frozen=True)
class Program:
    """`model.opencode`, `model.pi`: a command-line agent.

    Attributes:
        path: its executable; blank looks for it on PATH.
    """

    path: str = ""


@dataclass(frozen=True)
class Claude:
    """`model.claude`: Claude Code's command line. All but `path` is for `claude_code_exec`.

    Attributes:
        path: its executable; blank looks for it on PATH.
        permission_mode: `dontAsk` denies what is not allowed, `acceptEdits` lets files be edited, `bypassPermissions`
            lets it do anything on this machine; blank takes `acceptEdits` for tasks that need edits, else `dontAsk`.
        bash: let it run commands for tasks that need edits; they run as you, without a sandbox.
        profile: a word for its system prompt on how to work.
        max_thinking_tokens: most tokens of thought; 0 says nothing.
    """

    path: str = ""
    permission_mode: str = ""
    bash: bool = False
    profile: str = ""
    max_thinking_tokens: int = 0


@dataclass(frozen=True)
class Codex:
    """`model.codex`: Codex's command line. All but `path` and `profile` is for a target.

    Attributes:
        path: its executable; blank looks for it on PATH.
        profile: of the user's Codex configuration, which is read only when this is named.
        sandbox: `read-only`, `workspace-write`, or `danger-full-access` for none; blank takes `workspace-write` for
            tasks that need edits, else `read-only`.
        network_access: let commands in `workspace-write` reach the network.
        web_search: let it search the web.
        approval_policy: when it asks a person, who is not there; blank takes `never`.
    """

    path: str = ""
    profile: str = ""
    sandbox: str = ""
    network_access: bool = False
    web_search: bool = False
    approval_policy: str = ""


@dataclass(frozen=True)
class Copilot:
    """`model.copilot`: GitHub Copilot's command line.

    Attributes:
        path: its executable; blank looks for it on PATH.
        home: its folder of settings and logins; blank keeps the usual one.
        allow_all_tools: let `copilot_exec` use every tool without asking, commands as you and without a sandbox.
    """

    path: str = ""
    home: str = ""
    allow_all_tools: bool = False


@dataclass(frozen=True)
class Cursor:
    """`model.cursor`: Cursor's command line.

    Attributes:
        path: its executable; blank looks for it on PATH.
        sandbox: `enabled` or `disabled` for the commands of `cursor_exec`; blank takes `enabled`.
    """

    path: str = ""
    sandbox: str = ""


@dataclass(frozen=True)
class Model:
    """`model`: which models, and how they are reached. API keys come from the environment only.

    Attributes:
        backend: backend of both roles, unless a role names its own.
        optimizer, target: model of each role.
        optimizer_backend, target_backend: backend of one role; blank takes `backend`.
        base_url, optimizer_base_url, target_base_url: address of a Chat Completions server, ending in `/v1`.
        api_key_env, optimizer_api_key_env, target_api_key_env: name of the environment variable with the key.
        timeout, optimizer_timeout, target_timeout: seconds per attempt; a role's 0 takes `timeout`.
        retries: further attempts after a transient failure.
        optimizer_temperature, target_temperature: blank keeps the backend's default.
        optimizer_max_tokens: most tokens of one optimizer reply; 0 keeps the backend's default.
        rewrite_max_completion_tokens: the same for replies that hold a whole document.
        optimizer_price, target_price: dollars per million tokens, keys `prompt` and `completion`.
        reasoning_effort: how much the model shall think (`low`, `medium`, …) where the backend's protocol has a word
            for it; blank asks for nothing.
        optimizer_reasoning_effort, target_reasoning_effort: the same for one role, sent to any server.
        rewrite_reasoning_effort: the same for replies that hold a whole document.
        thinking, optimizer_thinking, target_thinking: `enabled` or `disabled` for servers with a switch; blank or
            `server_default` says nothing.
        optimizer_region, target_region: of MiniMax: `global_en` or `cn_zh`.
        azure, optimizer_azure, target_azure: Azure OpenAI, for both roles and for one.
        claude, codex, copilot, cursor, opencode, pi: command-line agents, used by backends of their names.
        trace_to_optimizer: whether analysts see what the target thought or did before it answered, where it tells.
        script: reply script of the `scripted` backend.
        local: the embedded server.
    """

    backend: str = "openai_compatible"
    optimizer: str = ""
    target: str = ""
    optimizer_backend: str = ""
    target_backend: str = ""
    base_url: str = ""
    optimizer_base_url: str = ""
    target_base_url: str = ""
    api_key_env: str = ""
    optimizer_api_key_env: str = ""
    target_api_key_env: str = ""
    timeout: float = 300.0
    optimizer_timeout: float = 0.0
    target_timeout: float = 0.0
    retries: int = 4
    optimizer_temperature: float | None = None
    target_temperature: float | None = None
    optimizer_max_tokens: int = 16384
    rewrite_max_completion_tokens: int = 64000
    optimizer_price: Mapping[str, float] = field(default_factory=dict)
    target_price: Mapping[str, float] = field(default_factory=dict)
    reasoning_effort: str = ""
    optimizer_reasoning_effort: str = ""
    target_reasoning_effort: str = ""
    rewrite_reasoning_effort: str = ""
    thinking: str = ""
    optimizer_thinking: str = ""
    target_thinking: str = ""
    optimizer_region: str = ""
    target_region: str = ""
    azure: Azure = Azure()
    optimizer_azure: Azure = Azure()
    target_azure: Azure = Azure()
    claude: Claude = Claude()
    codex: Codex = Codex()
    copilot: Copilot = Copilot()
    cursor: Cursor = Cursor()
    opencode: Program = Program()
    pi: Program = Program()
    trace_to_optimizer: bool = True
    script: str = ""
    local: LocalModel = LocalModel()
