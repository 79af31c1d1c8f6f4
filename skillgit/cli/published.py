"""Command lines as SkillOpt writes them: `--cfg-options a=1 b=2`, and its flat flags such as `--batch_size 8`."""

from __future__ import annotations

from collections.abc import Collection

import click

from skillgit.config.published import SWITCHES, is_flat

_CFG = "--cfg-options"


class PublishedCommand(click.Command):
    """A command that accepts SkillOpt's spellings beside its own."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse after translating."""
        own = {name for parameter in self.params for name in parameter.opts}
        return super().parse_args(ctx, translate_args(args, own))


def translate_args(args: list[str], own: Collection[str]) -> list[str]:
    """`--cfg-options a=1 b=2` as `--set a=1 --set b=2`, and `--flat_name value` as `--set flat_name=value`.

    As in SkillOpt, flags win over `--cfg-options`, wherever they stand.

    Args:
        own: options of the command itself, which keep their meaning.
    """
    out: list[str] = []
    flags: list[str] = []
    spreading = False
    rest = iter(args)
    for arg in rest:
        name, equals, value = arg.partition("=")
        flat = "model_backend" if name == "--backend" else name.removeprefix("--")
        if name == _CFG:
            spreading = True
            out += ["--set", value] if equals else []
        elif spreading and not arg.startswith("-") and equals:
            out += ["--set", arg]
        elif arg.startswith("--") and name not in own and is_flat(flat):
            spreading = False
            flags += ["--set", f"{flat}={_value(flat, value if equals else next(rest, ''))}"]
        else:
            spreading = False
            out.append(arg)
    return [*out, *flags]


def _value(name: str, value: str) -> str:
    """A flag's value; SkillOpt's switches are on for true, 1 and yes, and off for anything else."""
    return str(value.lower() in ("true", "1", "yes")).lower() if name in SWITCHES else value
