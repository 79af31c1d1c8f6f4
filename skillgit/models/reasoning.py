"""What a model thinks before it answers, kept apart from the answer."""

from __future__ import annotations

_OPEN, _CLOSE = "<think>", "</think>"


def split_reasoning(text: str) -> tuple[str, str]:
    """Reasoning and answer of a reply that marks its thoughts with `<think>` tags.

    The opening tag may be missing, for some chat templates put it into the prompt. Thoughts that never end leave no
    answer. Tags anywhere else are part of the answer.
    """
    start = text.lstrip()
    opened = start.startswith(_OPEN)
    thought, closing, answer = start.removeprefix(_OPEN).partition(_CLOSE)
    if closing and (opened or _OPEN not in thought):
        return thought.strip(), answer.lstrip()
    return (thought.strip(), "") if opened else ("", text)
