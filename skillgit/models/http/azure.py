"""Azure OpenAI: the same API at a resource's own address, with a key or a token of Microsoft Entra."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from skillgit.errors import ModelConfigError
from skillgit.models.http.failures import Endpoint

if TYPE_CHECKING:
    import openai

_HOSTS = tuple(
    f".{service}.{cloud}"
    for service in ("openai", "cognitiveservices", "services.ai")
    for cloud in ("azure.com", "azure.us", "azure.cn")
)
"""Ends of the names of hosts that may get a token; a token for Azure is of no use, and a danger, anywhere else."""


def connect(place: Endpoint, azure: Mapping[str, str], http: Any) -> openai.AzureOpenAI:
    """A client for the resource.

    Args:
        azure: `api_version`, `auth_mode` (`api_key`, `azure_cli` or `managed_identity`), `ad_scope` and
            `managed_identity_client_id`.
        http: the SDK's HTTP client.

    Raises:
        ModelConfigError: a key is missing, a token would go to a host that is not Azure's, or the package that gets
            tokens is not installed.
    """
    import openai

    how: dict[str, Any] = {"api_key": place.key}
    if azure["auth_mode"] != "api_key":
        how = {"azure_ad_token_provider": _tokens(place, azure)}
    elif not place.key:
        raise ModelConfigError(
            f"{place.name} needs a key",
            fix=f"export AZURE_OPENAI_API_KEY=…, or set model.{place.role}_azure.auth_mode=azure_cli",
        )
    return openai.AzureOpenAI(
        azure_endpoint=place.url, api_version=azure["api_version"], max_retries=0, http_client=http, **how
    )


def _tokens(place: Endpoint, azure: Mapping[str, str]) -> Callable[[], str]:
    parts = urlsplit(place.url)
    if parts.scheme != "https" or not (parts.hostname or "").endswith(_HOSTS):
        raise ModelConfigError(
            f"{place.url} is no Azure OpenAI address, so it gets no token",
            fix=f"check model.{place.role}_azure.endpoint, or use auth_mode=api_key",
        )
    try:
        from azure import identity
    except ImportError as error:
        raise ModelConfigError(
            f"logging in to Azure by {azure['auth_mode']} needs azure-identity", fix="pip install 'skillgit[azure]'"
        ) from error
    client = azure["managed_identity_client_id"] or None
    managed = azure["auth_mode"] == "managed_identity"
    credential = identity.ManagedIdentityCredential(client_id=client) if managed else identity.AzureCliCredential()
    return _telling(identity.get_bearer_token_provider(credential, azure["ad_scope"]), place, azure["auth_mode"])


def _telling(tokens: Callable[[], str], place: Endpoint, mode: str) -> Callable[[], str]:
    from azure.core.exceptions import AzureError

    def token() -> str:
        try:
            return tokens()
        except AzureError as error:
            fix = "az login" if mode == "azure_cli" else "give this machine an identity that may use the resource"
            raise ModelConfigError(
                f"{place.name} gets no token by {mode}", why=place.clean(str(error)), fix=fix
            ) from None

    return token
