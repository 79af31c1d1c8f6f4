"""The program that plays games. It runs by itself, with this file alone, and imports nothing of ours.

One JSON object a line comes in, and one goes out for each:

- `{"game": 1, "path": "…"}` opens a game, `{"game": 1, "action": "…"}` acts in it, `{"game": 1}` leaves it;
- `{"text": "…", "actions": […], "won": false, "over": false}` is what is seen then, `{}` after leaving,
  `{"fault": "…"}` says that the game cannot be played, and `{"missing": "…"}` that none can.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from typing import Any


def main() -> None:
    """Answer until the input ends."""
    # The engine and its planner write to standard output as they like; the conversation goes on beside it.
    out = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    games: dict[int, Any] = {}
    for line in sys.stdin.buffer:
        out.write(json.dumps(_answer(games, json.loads(line))) + "\n")
        out.flush()


def _answer(games: dict[int, Any], asked: dict[str, Any]) -> dict[str, Any]:
    try:
        return _do(games, asked)
    except ImportError as error:
        return {"missing": str(error)}
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a game file can fail in any way; the others go on
        return {"fault": f"{type(error).__name__}: {error}"}


def _do(games: dict[int, Any], asked: dict[str, Any]) -> dict[str, Any]:
    number = asked["game"]
    if "path" in asked:
        games[number] = _open(asked["path"])
        return _seen(games[number].reset(), over=False)
    if "action" in asked:
        state, _, over = games[number].step(asked["action"])
        return _seen(state, over=over)
    if number in games:
        games.pop(number).close()
    return {}


def _open(path: str) -> Any:
    textworld = import_module("textworld")
    names = import_module("alfworld.agents.environment.alfred_tw_env").AlfredDemangler
    infos = textworld.EnvInfos(won=True, admissible_commands=True)
    return textworld.start(path, request_infos=infos, wrappers=[names()])


def _seen(state: Any, *, over: bool) -> dict[str, Any]:
    won = bool(state["won"])
    return {"text": state.feedback, "actions": state["admissible_commands"], "won": won, "over": won or bool(over)}


if __name__ == "__main__":
    main()
