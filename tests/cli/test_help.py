"""Help texts: complete, pinned in the docs, and cheap."""

from __future__ import annotations

import subprocess
import sys

import click
import pytest

from skillgit.cli.main import _COMMANDS, cli
from tests.cli.help_pages import PAGE


def test_the_page_in_the_docs_is_what_help_prints() -> None:
    command = [sys.executable, "-m", "tests.cli.help_pages", "--print"]
    done = subprocess.run(command, capture_output=True, cwd=PAGE.parents[2], check=True)
    assert PAGE.read_text(encoding="utf-8") == done.stdout.decode(), "run: python -m tests.cli.help_pages"


@pytest.mark.parametrize("name", _COMMANDS)
def test_every_option_says_what_it_does(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    options = [param for param in command.params if isinstance(param, click.Option)]
    assert [option.name for option in options if not option.help] == []


@pytest.mark.parametrize("arg", ["--version", "--help"])
def test_starting_up_loads_neither_openai_nor_gitpython(arg: str) -> None:
    code = (
        "import sys; from skillgit.cli.main import run; run([sys.argv[1]]);"
        "print(sorted({'openai', 'git', 'yaml', 'rich', 'markdown_it'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code, arg], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_both_console_scripts_name_the_same_program() -> None:
    from importlib.metadata import entry_points

    scripts = {point.name: point.value for point in entry_points(group="console_scripts")}
    assert scripts["git-skill"] == scripts["skillgit"] == "skillgit.cli.main:main"
