"""Asking for everything that can be asked before a person is waited for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ParamSpec, TypeVar

from skillgit.errors import Pending, PendingAnswerError

P = ParamSpec("P")
T = TypeVar("T")


def held(function: Callable[P, T]) -> Callable[P, T | PendingAnswerError]:
    """`function`, but a missing answer is returned, so that the calls after it are made as well."""

    def call(*args: P.args, **kwargs: P.kwargs) -> T | PendingAnswerError:
        try:
            return function(*args, **kwargs)
        except PendingAnswerError as error:
            return error

    return call


def answered(results: Iterable[T | PendingAnswerError]) -> list[T]:
    """Results of held calls, all of which are made first.

    Raises:
        PendingAnswerError: some answers are missing; it names all of them.
    """
    done: list[T] = []
    missing: list[Pending] = []
    for result in results:
        if isinstance(result, PendingAnswerError):
            missing += result.pending
        else:
            done.append(result)
    if missing:
        raise PendingAnswerError(missing)
    return done
