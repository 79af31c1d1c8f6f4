"""Writes every command's help into skillgit/cli/HELP.md: python -m tests.cli.help_pages"""

from __future__ import annotations

from pathlib import Path

import click

from skillgit.cli.main import cli

PAGE = Path(__file__).parents[2] / "skillgit/cli/HELP.md"


def pages() -> str:
    """The help of the program and of each command, as Markdown."""
    root = click.Context(cli, info_name="skillgit", terminal_width=100, **cli.context_settings)
    parts = [
        "# Commands\n\nWritten by `python -m tests.cli.help_pages`; a test keeps it equal to `--help`.",
        _page(root),
    ]
    for name in cli.list_commands(root):
        command = cli.get_command(root, name)
        assert command is not None
        parts.append(_page(click.Context(command, info_name=name, parent=root, terminal_width=100)))
    return "\n\n".join(parts) + "\n"


def _page(ctx: click.Context) -> str:
    return f"## {ctx.command_path}\n\n```text\n{ctx.get_help()}\n```"


if __name__ == "__main__":
    PAGE.write_text(pages(), encoding="utf-8")
