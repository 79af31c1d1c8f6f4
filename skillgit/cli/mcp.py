"""`skillgit mcp`."""

from __future__ import annotations

import os

import click

from skillgit.cli.app import App, pass_app


@click.command(short_help="Serve an agent.")
@pass_app
def mcp(app: App) -> None:
    """Serve this repository to a coding agent over standard input and output (Model Context Protocol).

    The agent can read: proposals, mined tasks, versions, scores, findings. It can start a night, which ends as a branch
    that you review. It cannot merge or turn down anything, choose a model, or leave the repository.

    An agent's client starts this command; register `skillgit -C REPOSITORY mcp` there.
    """
    from skillgit.errors import ConfigError

    folder, top = app.folder.resolve(), app.repo().root.resolve()
    try:
        from skillgit.cli.mcp_server.server import build
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("mcp"):
            raise
        raise ConfigError(
            "the mcp package is not installed", why=str(error), fix="pip install 'skillgit[mcp]'"
        ) from error
    try:
        build(folder, top).run("stdio")
    except KeyboardInterrupt:
        # Commands are stopped by now. The thread that reads standard input cannot be, and Python would wait for it.
        os._exit(130)
