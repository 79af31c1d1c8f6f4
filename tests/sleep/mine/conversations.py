"""Sessions written by hand: short conversations, and a person who corrects the same habits again and again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from skillgit.sleep.base import Session, Turn

PROJECT = "/w/shop"


def session(name: str, *texts: str, at: float | None = 1000.0, **more: Any) -> Session:
    """A session whose turns alternate, the person's first, a minute apart."""
    turns = tuple(
        Turn("assistant" if number % 2 else "user", text, None if at is None else at + 60 * number)
        for number, text in enumerate(texts)
    )
    return Session("claude", name, more.pop("project", PROJECT), turns, started=at, **more)


def habits(count: int = 20) -> list[Session]:
    """One correction per session, of three habits: prices as $40, dates as 2026-05-03, orders as ORD-123."""
    return [
        session(f"s{number}", *texts, at=1000.0 * number) for number, texts in zip(range(count), _all(), strict=False)
    ]


def _all() -> Iterator[tuple[str, ...]]:
    things = ("coat", "belt", "hat", "scarf", "lamp", "chair", "kettle", "clock")
    colours = ("grey", "brown", "red", "green", "white", "black", "blue", "yellow")
    asides = (
        "It has been in the window since May.",
        "Nobody has asked for it yet.",
        "The label is a little torn.",
        "My sister wants to see it first.",
        "We got it from the old shop.",
        "It stands next to the door.",
        "The box is missing.",
        "Two people looked at it today.",
    )
    for at in range(8):
        price, order, day = 40 + 7 * at, 123 + 31 * at, 3 + 2 * at
        name, colour, aside = things[at], colours[at], asides[at]
        yield (
            f"The {colour} {name} costs {price} dollars. {aside} What does the {name} cost?",
            f"The {name} costs {price} dollars.",
            f"No, write it as ${price} and nothing else.",
            f"${price}",
            "Perfect, thanks.",
        )
        yield (
            f"The {name} fair opens on {day} May 2026. {aside} When does the {name} fair open?",
            f"It opens on {day} May 2026.",
            f"No, dates are written like 2026-05-{day:02}.",
            f"2026-05-{day:02}",
            "Great, thank you!",
        )
        yield (
            f"Order {order} is the {colour} {name} for the north office. {aside} Which order has the {name}?",
            f"That is order {order}.",
            f"Wrong, write orders as ORD-{order}, only that.",
            f"ORD-{order}",
            "Perfect.",
        )
