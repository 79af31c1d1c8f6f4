"""Writes every command's help into skillgit/cli/HELP.md: python -m tests.cli.help_pages"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from skillgit.cli.main import cli

PAGE = Path(__file__).parents[2] / "skillgit/cli/HELP.md"


def pages() -> str:
    """The help of the program and of each command, those inside groups included, as Markdown.

    Only right in a process that has shown no help before: click remembers how a command's help option was spelled.
    """
    root = click.Context(cli, info_name="skillgit", terminal_width=100, **cli.context_settings)
    head = "# Commands\n\nWritten by `python -m tests.cli.help_pages`; a test keeps it equal to `--help`."
    return "\n\n".join([head, *_pages(root)]) + "\n"


def _pages(ctx: click.Context) -> Iterator[str]:
    yield f"## {ctx.command_path}\n\n```text\n{ctx.get_help()}\n```"
    group = ctx.command
    for name in group.list_commands(ctx) if isinstance(group, click.Group) else ():
        command = group.get_command(ctx, name)
        assert command is not None
        yield from _pages(click.Context(command, info_name=name, parent=ctx, terminal_width=100))


if __name__ == "__main__":
    if sys.argv[1:] == ["--print"]:
        sys.stdout.write(pages())
    else:
        PAGE.write_text(pages(), encoding="utf-8")
