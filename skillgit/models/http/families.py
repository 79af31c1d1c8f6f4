"""Kinds of Chat Completions servers: where they are, and what their environment variables are called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from skillgit.models.base import Role

OPENAI_URL = "https://api.openai.com/v1"


def is_openai(url: str) -> bool:
    """Whether an address is OpenAI's own."""
    return urlsplit(url).hostname == urlsplit(OPENAI_URL).hostname


@dataclass(frozen=True)
class Family:
    """One kind of server.

    Attributes:
        prefix: of its environment variables; a role's own (`TARGET_<prefix>_…`) wins over the shared one.
        url: used where no address is configured.
        model_variable: name of the variable that names the model, if it is not `<prefix>_MODEL`.
        temperature: sent where none is configured.
    """

    prefix: str
    url: str
    model_variable: str = ""
    temperature: float | None = None

    def environment(self, environ: Mapping[str, str], role: Role, name: str) -> str:
        """The value of one of its variables, the role's own first; empty when neither is set."""
        values = (environ.get(variable, "").strip() for variable in self.variables(role, name))
        return next((value for value in values if value), "")

    def model(self, environ: Mapping[str, str], role: Role) -> str:
        """The model that the environment names for a role; empty when it names none."""
        own = f"{role.upper()}_{self.model_variable}"
        return environ.get(own, "").strip() if self.model_variable else self.environment(environ, role, "MODEL")

    def variables(self, role: Role, name: str) -> tuple[str, ...]:
        """The environment variables that are looked at, the first that is set wins."""
        who, key = role.upper(), f"{self.prefix}_{name}"
        # Azure's variables are found with the role before or after the name of the service.
        return f"{who}_{key}", f"{self.prefix}_{who}_{name}", key


FAMILIES: Mapping[str, Family] = {
    "openai_compatible": Family("OPENAI_COMPATIBLE", OPENAI_URL),
    "openai_chat": Family("AZURE_OPENAI", OPENAI_URL, model_variable="DEPLOYMENT"),
    "qwen_chat": Family("QWEN_CHAT", "http://localhost:8000/v1", temperature=0.7),
    "minimax_chat": Family("MINIMAX", "https://api.minimax.io/v1", temperature=0.7),
}
"""Backend to its kind of server."""

REGIONS: Mapping[str, str] = {"global_en": "https://api.minimax.io/v1", "cn_zh": "https://api.minimaxi.com/v1"}
"""Address of each MiniMax region."""
