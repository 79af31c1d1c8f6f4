"""Command lines as SkillOpt writes them: `--cfg-options a=1 b=2`, and its flat flags such as `--batch_size 8`."""

from __future__ import annotations

import click

from skillgit.config.published import FLAT


class PublishedCommand(click.Command):
    """A command that accepts SkillOpt's spellings beside its own."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse after translating."""
        return super().parse_args(ctx, translate_args(args))


def translate_args(args: list[str]) -> list[str]:
    """`--cfg-options a=1 b=2` as `--set a=1 --set b=2`, and `--flat_name value` as `--set flat_name=value`."""
    out: list[str] = []
    spreading = False
    rest = iter(args)
    for arg in rest:
        if arg == "--cfg-options":
            spreading = True
            continue
        if spreading and not arg.startswith("-") and "=" in arg:
            out += ["--set", arg]
            continue
        spreading = False
        name, equals, value = arg.removeprefix("--").partition("=")
        if arg.startswith("--") and name in FLAT:
            out += ["--set", f"{name}={value if equals else next(rest, '')}"]
        else:
            out.append(arg)
    return out
