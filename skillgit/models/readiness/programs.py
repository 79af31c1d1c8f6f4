"""What the command-line agents need: the program, and a login as far as files and variables tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from skillgit.errors import ModelConfigError
from skillgit.models.base import ModelSpec
from skillgit.models.clients.base import Client
from skillgit.models.clients.claude import Claude
from skillgit.models.clients.codex import Codex
from skillgit.models.clients.copilot import Copilot
from skillgit.models.clients.cursor import Cursor
from skillgit.models.clients.model import find_program
from skillgit.models.clients.opencode import OpenCode
from skillgit.models.clients.pi import Pi
from skillgit.models.clients.process import clean_environment, run_program, scratch
from skillgit.models.readiness.needs import Need

_SECONDS = 15.0
_LONGEST = 80  # characters of a version


@dataclass(frozen=True)
class Login:
    """Where a program finds its login.

    Attributes:
        variables: any of which is a login of its own.
        files: any of which it wrote when somebody logged in: folders as variables (each with what stands for it when
            it is not set, from the home folder), then the rest of the path.
    """

    variables: tuple[str, ...]
    files: tuple[tuple[str, str, str], ...] = ()


_AWAY = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY")

_CLAUDE = (
    Claude(),
    Login(
        ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"),
        (("CLAUDE_CONFIG_DIR", ".claude", ".credentials.json"),),
    ),
)
_CODEX = (Codex(), Login(("CODEX_API_KEY", "OPENAI_API_KEY"), (("CODEX_HOME", ".codex", "auth.json"),)))
_COPILOT = (
    Copilot(),
    Login(("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"), (("GH_CONFIG_DIR", ".config/gh", "hosts.yml"),)),
)
_CURSOR = (Cursor(), Login(("CURSOR_API_KEY", "CURSOR_AUTH_TOKEN")))

PROGRAMS: Mapping[str, tuple[Client, Login]] = {
    "claude_chat": _CLAUDE,
    "claude_code_exec": _CLAUDE,
    "codex_exec": _CODEX,
    "copilot_chat": _COPILOT,
    "copilot_exec": _COPILOT,
    "cursor_chat": _CURSOR,
    "cursor_exec": _CURSOR,
    "opencode": (OpenCode(), Login(_AWAY, (("XDG_DATA_HOME", ".local/share", "opencode/auth.json"),))),
    "pi": (Pi(), Login((*_AWAY, "DEEPSEEK_API_KEY"), (("PI_CODING_AGENT_DIR", ".pi/agent", "auth.json"),))),
}
"""Backend to the program behind it."""


def program_needs(backend: str, path: str, environ: Mapping[str, str]) -> Sequence[Need]:
    """The program and the login of one backend.

    Args:
        path: of the program, when one is configured.
    """
    client, login = PROGRAMS[backend]
    spec = ModelSpec("target", backend, backend, options={"client": {"path": path}})
    try:
        program = find_program(spec, client, environ)
    except ModelConfigError as error:
        return [Need("program", False, error.what, error.fix), _logged_in(login, client, environ)]
    return [_version(program, client, environ), _logged_in(login, client, environ)]


def _version(program: str, client: Client, environ: Mapping[str, str]) -> Need:
    fix = f"try it by hand: {program} --version"
    clean = clean_environment(environ, client.variables)
    with scratch() as folder:
        argv = [program, "--version"]
        try:
            done = run_program(argv, folder=folder, stdin="", environ=clean, seconds=_SECONDS)
        except TimeoutError:
            return Need("program", False, f"{program} gave no version within {_SECONDS:.0f} s", fix)
        except OSError as error:
            return Need("program", False, f"{program} cannot be run: {error.strerror}", fix)
    # Some tell it on standard error.
    said = (done.out.strip() or done.err.strip()).splitlines()
    if done.code or not said:
        return Need("program", False, f"{program} --version ended with exit code {done.code}", fix)
    return Need("program", True, f"{program}, {said[0].strip()[:_LONGEST]}")


def _logged_in(login: Login, client: Client, environ: Mapping[str, str]) -> Need:
    variables = {name: bool(environ.get(name, "").strip()) for name in login.variables}
    if by := next((name for name, there in variables.items() if there), ""):
        return Need("login", True, f"by {by}", variables=variables)
    for variable, default, rest in login.files:
        path = Path(environ.get(variable) or Path(environ.get("HOME") or Path.home()) / default) / rest
        if path.is_file() and path.stat().st_size:
            return Need("login", True, f"by {path}", variables=variables)
    fix = f"set one of the variables, or run {client.program} once and log in"
    return Need("login", None, "unknown: no variable or file tells", fix, variables)
