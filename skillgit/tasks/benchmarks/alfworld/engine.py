"""What plays games, as the benchmark sees it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


class GameFaultError(Exception):
    """A game that cannot be played, for a fault of its own; the message says why, without a place of this machine."""


@dataclass(frozen=True)
class Seen:
    """What a game shows.

    Attributes:
        text: what one sees, in words.
        actions: what can be done now, sorted.
        won: the task is done.
        over: the game takes no further action.
    """

    text: str
    actions: tuple[str, ...]
    won: bool
    over: bool


class Game(Protocol):
    """One game that is being played. The same actions always lead to the same end."""

    seen: Seen

    def act(self, action: str) -> Seen:
        """Do something; what is not among the actions changes nothing.

        Raises:
            GameFaultError: the game itself broke.
            ModelError: whatever plays it did.
        """
        ...

    def close(self) -> None:
        """Leave the game. Idempotent."""
        ...


class Engine(Protocol):
    """Opens games. Safe to call from many threads."""

    def open(self, path: Path) -> Game:
        """A game from its beginning. Raises as `Game.act`, and `ConfigError` when no game can be played here."""
        ...
