"""What is particular to each published benchmark: where its data comes from, and how a row becomes an item."""

from __future__ import annotations

from skillgit.errors import ConfigError
from skillgit.tasks.data.kinds.alfworld import ALFWORLD
from skillgit.tasks.data.kinds.base import Kind
from skillgit.tasks.data.kinds.docvqa import DOCVQA
from skillgit.tasks.data.kinds.questions import LIVEMATH, OFFICEQA, SEARCHQA
from skillgit.tasks.data.kinds.spreadsheet import SPREADSHEET
from skillgit.tasks.problems import suggest

KINDS = {kind.name: kind for kind in (SEARCHQA, DOCVQA, ALFWORLD, OFFICEQA, LIVEMATH, SPREADSHEET)}


def kind(name: str) -> Kind:
    """The benchmark called `name`. Raises `ConfigError` for one that has no released lists."""
    if name in KINDS:
        return KINDS[name]
    raise ConfigError(f'there is no data to materialise for "{name}"{suggest(name, KINDS)}')
