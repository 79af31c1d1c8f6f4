"""ALFWorld: the list names game files, which stay below `$ALFWORLD_DATA`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillgit.tasks.benchmarks.alfworld.engine import GameFaultError
from skillgit.tasks.benchmarks.alfworld.items import find_game
from skillgit.tasks.data.kinds.base import Found, Kind, Sink, UnusableError, first_of, text


def _build(wanted: Mapping[str, Any], found: Found, sink: Sink) -> dict[str, Any]:
    name = text(wanted, "gamefile")
    try:
        sink.refer(name, find_game(name, found.folders[-1]))
    except GameFaultError as error:
        raise UnusableError(f"{name}: {error}", "file") from error
    except OSError as error:
        raise UnusableError(f"{name} cannot be read ({error.strerror})", "file") from error
    return {"id": str(wanted["id"]), "gamefile": name, "task_type": text(wanted, "task_type")}


ALFWORLD = Kind(
    name="alfworld",
    title="ALFWorld",
    folder="data/alfworld_path_split",
    released=(39, 18, 134),
    repo="",
    hub=(),
    patterns=(),
    id_fields=("id",),
    row_id=first_of("id"),
    build=_build,
    also="the games stay where they are: keep ALFWORLD_DATA set",
)
