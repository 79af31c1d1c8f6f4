"""`skillgit sleep`: lessons from coding-agent sessions, as branches to review."""

from __future__ import annotations

from importlib import import_module

import click

# Name: module, help line. Help is kept here so that `--help` imports no command.
_COMMANDS = {
    "harvest": ("skillgit.cli.sleep.harvest", "Read new sessions and show the tasks mined from them."),
    "run": ("skillgit.cli.sleep.run", "Run a night: replay tasks, try lessons, propose what helps."),
    "list": ("skillgit.cli.sleep.proposals", "List proposals and what became of them."),
    "show": ("skillgit.cli.sleep.proposals", "Show one proposal: lessons, evidence, what each gained."),
    "adopt": ("skillgit.cli.sleep.adopt", "Merge a proposal, or chosen lessons of it."),
    "reject": ("skillgit.cli.sleep.adopt", "Turn a proposal down, with the reason."),
    "watch": ("skillgit.cli.sleep.watch", "Watch for finished sessions and run nights by itself."),
    "schedule": ("skillgit.cli.sleep.schedule", "Run a night every day, by the system's own scheduler."),
    "unschedule": ("skillgit.cli.sleep.schedule", "Remove what schedule set up."),
    "status": ("skillgit.cli.sleep.status", "Show sources, harvest, watcher, schedule and open proposals."),
}

# What an agent's session-end hook calls, and what schedulers and the watcher start.
_HIDDEN = {"signal": "skillgit.cli.sleep.signal", "nightly": "skillgit.cli.sleep.nightly"}

_ATTRIBUTES = {"list": "list_"}


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        module = _HIDDEN.get(cmd_name) or _COMMANDS.get(cmd_name, ("",))[0]
        if not module:
            return None
        command: click.Command = getattr(import_module(module), _ATTRIBUTES.get(cmd_name, cmd_name))
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in _COMMANDS.items()])


@click.command(cls=_Commands)
def sleep() -> None:
    """Learn from coding-agent sessions: lessons arrive as branches that you review and merge.

    A night reads the sessions of your agents (redacted, on this machine), mines the tasks that people really asked,
    tries new rules on them, and keeps a rule only when a held-out score rises. Each lesson is one commit on
    sleep/SKILL/DATE, with its evidence and what it gained.

    \b
    First steps:
      skillgit sleep harvest     what would be learned from, nothing is asked of a model
      skillgit sleep run         one night now
      skillgit sleep list        proposals that wait for you
    """
