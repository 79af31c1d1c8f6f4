"""The `skillgit` command: global options, lazily loaded subcommands, and what an error looks like."""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import click

from skillgit import __version__
from skillgit.errors import PendingAnswerError, SkillgitError

# Name: module, help line. Help is kept here so that `--help` imports no command.
_GROUPS = {
    "Start": {
        "demo": ("skillgit.cli.demo", "Train an example skill, with embedded models or without any."),
        "init": ("skillgit.cli.init", "Set up a repository for skills; safe to repeat."),
        "new": ("skillgit.cli.new", "Create a skill and its first task files."),
        "doctor": ("skillgit.cli.doctor", "Check that everything skillgit needs is in order."),
        "models": ("skillgit.cli.models", "List backends, what each needs, and whether it is ready."),
    },
    "Train": {
        "train": ("skillgit.cli.train", "Train a skill: every accepted patch becomes a commit."),
        "eval": ("skillgit.cli.evaluate", "Measure a skill as of a revision and keep the record."),
        "noise": ("skillgit.cli.noise", "Measure how much a skill's score moves by itself."),
        "best": ("skillgit.cli.best", "Print (or export) the best version of a run."),
        "import-run": ("skillgit.cli.import_run", "Import the output directory of a SkillOpt run."),
        "data": ("skillgit.cli.data", "Make the data of published benchmarks runnable, and check it."),
    },
    "Sleep": {
        "sleep": ("skillgit.cli.sleep", "Learn from coding-agent sessions: proposals as branches."),
        "mcp": ("skillgit.cli.mcp", "Serve read tools and nights to an agent (Model Context Protocol)."),
    },
    "Review": {
        "status": ("skillgit.cli.status", "List training runs, and what agents have installed."),
        "log": ("skillgit.cli.log", "List a skill's versions with their scores."),
        "show": ("skillgit.cli.show", "Show one version: patch, gate, flipped tasks, reasoning."),
        "diff": ("skillgit.cli.diff", "Compare two versions rule by rule, with scores."),
        "blame": ("skillgit.cli.blame", "Show which step wrote each line, and what that gained."),
        "bisect": ("skillgit.cli.bisect", "Find the commit that broke a task or lowered the score."),
        "revert": ("skillgit.cli.revert", "Undo one step or lesson in a new commit."),
    },
    "Keep": {
        "lint": ("skillgit.cli.lint", "Check skills: format, links, size, secrets, hidden text."),
        "gate": ("skillgit.cli.gate", "Check from records that changed skills are not worse."),
        "hooks": ("skillgit.cli.hooks", "Install, remove or inspect git hooks."),
        "export": ("skillgit.cli.export", "Install a version where an agent finds it."),
        "sync": ("skillgit.cli.sync", "Exchange records with a remote; nothing is overwritten."),
        "notes": ("skillgit.cli.notes", "Render gate lines again, or repair records."),
    },
}
_COMMANDS = {name: entry for group in _GROUPS.values() for name, entry in group.items()}

# What git calls, not people.
_HIDDEN = {"hook": "skillgit.cli.hook", "merge-driver": "skillgit.cli.merge_driver"}

_ATTRIBUTES = {"eval": "evaluate"}  # where it is not the command's name: this one would hide a builtin


class _Commands(click.Group):
    """Subcommands imported when they are used: starting up stays fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        module = _HIDDEN.get(cmd_name) or _COMMANDS.get(cmd_name, ("",))[0]
        if not module:
            return None
        attribute = _ATTRIBUTES.get(cmd_name, cmd_name.replace("-", "_"))
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        width = max(map(len, _COMMANDS))
        for title, group in _GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:{width}}", line) for name, (_, line) in group.items()])


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="skillgit")
@click.option("-C", "folder", type=click.Path(path_type=Path), default=".", help="Run as if started in this folder.")
@click.option("-q", "--quiet", is_flag=True, help="Print results and errors only.")
@click.option("-v", "--verbose", is_flag=True, help="Print more of what happens.")
@click.pass_context
def cli(ctx: click.Context, folder: Path, quiet: bool, verbose: bool) -> None:
    """Train agent skills and keep them in git.

    A skill is a Markdown document that coding agents follow. skillgit improves it as a training framework improves
    weights: roll out tasks, reflect on failures, propose a few edits, and accept them only when a held-out score
    strictly rises. Accepted patches are commits, scores are git notes.

    \b
    First steps:
      skillgit demo --scripted      a tour in seconds, no model needed
      skillgit init                 set up your repository
      skillgit new my-skill         a skill with its first tasks
      skillgit train my-skill       train it
      skillgit lint                 check the skills you have, trained or not

    \b
    Exit codes: 0 done, 1 checked and failed, 2 usage or configuration, 3 unexpected error, 4 git, 5 model,
    6 limit reached, 7 needs a person, 130 interrupted.
    """
    from skillgit.cli.app import App

    ctx.obj = App(folder, quiet=quiet, verbose=verbose)


def main() -> None:
    """Run the command line and exit with the documented code."""
    interrupts = _Interrupts()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, interrupts)
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        # A terminal that is closed; programs that we run have sessions of their own, and would live on.
        signal.signal(signal.SIGHUP, interrupts)
    sys.exit(run(sys.argv[1:]))


class _Interrupts:
    """The first signal ends the work in order, keeping the calls in flight, which are paid for; the next ends it."""

    def __init__(self) -> None:
        self._seen = False

    def __call__(self, number: int, frame: object) -> None:  # noqa: ARG002 - the shape of a signal handler
        if self._seen:
            # Threads that wait for a model cannot be stopped, and Python would wait for them; their programs can.
            if programs := sys.modules.get("skillgit.models.clients.process"):
                programs.end_all()
            os._exit(130)
        self._seen = True
        # Not click.echo: a signal may arrive inside a write.
        with suppress(OSError):
            os.write(2, b"\nstopping in order; once more to stop at once\n")
        raise KeyboardInterrupt


def run(args: list[str]) -> int:
    """Run one command and return its exit code."""
    try:
        cli.main(args, prog_name="skillgit", standalone_mode=False)
    except SkillgitError as error:
        click.echo(f"error: {error}", err=True)
        if isinstance(error, PendingAnswerError) and "--json" in args:
            click.echo(json.dumps(error.to_json(), ensure_ascii=False))
        return error.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return 2
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.exceptions.Exit as error:
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted; finished work is kept", err=True)
        return 130
    except BrokenPipeError:
        # The reader of our output went away (`skillgit log | head`); python must not complain at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # noqa: BLE001 - the last resort: a log file instead of a traceback on the screen
        return _unexpected(error)
    return 0


def _unexpected(error: Exception) -> int:
    import tempfile
    import traceback

    text = f"skillgit {__version__}, Python {sys.version}\n\n{''.join(traceback.format_exception(error))}"
    with tempfile.NamedTemporaryFile("w", prefix="skillgit-", suffix=".log", delete=False, encoding="utf-8") as log:
        log.write(text)
    click.echo(f"error: unexpected {type(error).__name__}: {error}\n  log:  {log.name}", err=True)
    return 3
