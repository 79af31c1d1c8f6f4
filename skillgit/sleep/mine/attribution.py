"""Which skill a task is about: the one in play when it was asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from skillgit.sleep.base import Session
from skillgit.sleep.mine.asks import Ask


def skill_of(asks: Iterable[Ask], skills: Mapping[str, str]) -> str:
    """The skill that was in play wherever any was; blank when none was, or not always the same.

    Args:
        skills: name to path of the repository's skills; others cannot be improved here.
    """
    found = {_in_play(ask, skills) for ask in asks} - {""}
    return found.pop() if len(found) == 1 else ""


def _in_play(ask: Ask, skills: Mapping[str, str]) -> str:
    """A digest does not tell when a skill came into play: of several in a session, that one counts which is named."""
    known = list(dict.fromkeys(name for name in _known(ask.session, skills) if name))
    if len(known) > 1:
        said = ask.text.casefold()
        known = [name for name in known if name.casefold() in said]
    return known[0] if len(known) == 1 else ""


def _known(session: Session, skills: Mapping[str, str]) -> list[str]:
    return [_resolved(name, skills) for name in session.skills]


def _resolved(name: str, skills: Mapping[str, str]) -> str:
    """The repository's name of a skill; `plugin:name` and `folder/name` are known by their last part."""
    if name in skills:
        return name
    last = name.replace("/", ":").rsplit(":", 1)[-1].casefold()
    alike = [known for known in skills if known.replace("/", ":").rsplit(":", 1)[-1].casefold() == last]
    return alike[0] if len(alike) == 1 else ""
