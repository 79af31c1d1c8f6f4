"""Made-up conversations between a person and a coding agent, for stores of any format."""

from __future__ import annotations

import random
from dataclasses import dataclass

from tests.sleep.stores import Turns

_BEGAN = 1_767_225_600.0  # 1 January 2026

_ASKS = (
    "Round the {thing} totals to two decimals in {file}.",
    "Add a retry with a growing pause to the {thing} fetcher.",
    "Why does {file} fail on an empty {thing} list?\n\nThe log says:\n  IndexError: list index out of range",
    "Rename `load_{thing}` to `read_{thing}` everywhere.",
    "Schreibe einen Test für {file}, auch für leere Einträge – bitte knapp.",
    "{file} の {thing} を直してください 🙏",
)
_CORRECTIONS = (
    "No, keep the public name. Only the private helper changes.",
    "Still wrong: negative amounts are rounded up.",
    "Use the logger of the module, never print.",
)
_THANKS = ("Thanks, that works.", "Perfect.", "Good. Commit it.")
_ANSWERS = (
    "Done: {file} now handles this, and the tests pass.",
    "I changed {file}.\n\n```python\ntotal = round(total, 2)\n```\n\nNothing else uses it.",
    "The {thing} list may be empty; I return early there.",
)
_TOOLS = ("bash", "edit", "grep", "read", "write")


@dataclass(frozen=True)
class Exchange:
    """What the person said, what the agent answered, and the tools it used in between.

    Attributes:
        at: seconds since 1970 UTC at which the person spoke.
        took: seconds until the answer.
    """

    ask: str
    answer: str
    at: float
    took: float
    tools: tuple[str, ...]
    file: str
    output: str


@dataclass(frozen=True)
class Talk:
    """One session."""

    id: str
    cwd: str
    branch: str
    exchanges: tuple[Exchange, ...]


def talks(count: int, *, seed: int = 0, cwd: str = "/w/shop") -> list[Talk]:
    """`count` sessions, the same for the same seed."""
    rng = random.Random(seed)
    return [_talk(rng, cwd, _BEGAN + index * 3600) for index in range(count)]


def talk_of(session: str, turns: Turns, *, cwd: str, at: float) -> Talk:
    """The session in which this was said, without any tools; a turn every minute, answered in half of one."""
    exchanges = (
        Exchange(ask, answer, at + 60 * index, 30, (), f"{cwd}/api.py", "") for index, (ask, answer) in enumerate(turns)
    )
    return Talk(session, cwd, "main", tuple(exchanges))


def _talk(rng: random.Random, cwd: str, start: float) -> Talk:
    said = [rng.choice(_ASKS), *rng.sample(_CORRECTIONS, rng.randrange(3)), rng.choice(_THANKS)]
    thing, file = rng.choice(("invoice", "order", "tax")), f"src/{rng.choice(('api', 'core', 'jobs'))}.py"
    exchanges = []
    for index, text in enumerate(said):
        exchanges.append(
            Exchange(
                ask=text.format(thing=thing, file=file),
                answer=rng.choice(_ANSWERS).format(thing=thing, file=file),
                at=start + 90 * index,
                took=rng.uniform(4, 60),
                tools=tuple(rng.sample(_TOOLS, rng.randrange(1, 4))),
                file=f"{cwd}/{file}",
                output="\n".join(f"{file}:{line}: {rng.getrandbits(64):016x}" for line in range(rng.randrange(5, 60))),
            )
        )
    return Talk(f"{rng.getrandbits(128):032x}", cwd, rng.choice(("main", "fix/totals")), tuple(exchanges))
