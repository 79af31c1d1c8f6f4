"""What secrets are looked up in: spans of words by hash, shorter phrases, and texts where symbols matter."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from skillgit.skills.leaks_rules import LITERAL, is_unseen, squeeze
from skillgit.skills.leaks_words import SPAN, Located, fold, locate, readings, size, spell, window_ends, window_keys

_BUCKETS = 256


@dataclass(frozen=True)
class Hit:
    """One secret found.

    Attributes:
        key: what was found; equal for the same secret in another text.
        owner: number of the source.
        start, end: where it stands.
    """

    key: Hashable
    owner: int
    start: int
    end: int


class Windows:
    """Every span of `SPAN` words of many texts, at twelve bytes per word.

    Spans are kept as 64-bit hashes, so a span that was never added is taken for a known one with a probability below
    one in a billion per skill and million words.
    """

    def __init__(self, texts: Iterable[tuple[Sequence[str], int]] = ()) -> None:
        keys, owners = [array("q") for _ in range(_BUCKETS)], [array("I") for _ in range(_BUCKETS)]
        for words, owner in texts:
            for key in window_keys(words):
                keys[key % _BUCKETS].append(key)
                owners[key % _BUCKETS].append(owner)
        for at in range(_BUCKETS):
            # Read backwards, so that a span belongs to the first text that has it.
            first = dict(zip(reversed(keys[at]), reversed(owners[at]), strict=True))
            keys[at] = array("q", sorted(first))
            owners[at] = array("I", map(first.__getitem__, keys[at]))
        self._keys, self._owners = keys, owners

    def __len__(self) -> int:
        return sum(map(len, self._keys))

    def owner(self, key: int) -> int | None:
        """Number of the first text that has the span; `None` when none has."""
        keys = self._keys[key % _BUCKETS]
        at = bisect_left(keys, key)
        return self._owners[key % _BUCKETS][at] if at < len(keys) and keys[at] == key else None


@dataclass
class Net:
    """All secrets of one kind. Finding them takes time linear in the text, whatever the number of secrets."""

    windows: Windows = field(default_factory=Windows)
    phrases: dict[tuple[str, ...], int] = field(default_factory=dict)
    lengths: tuple[int, ...] = ()
    quotes: dict[str, list[tuple[str, int]]] = field(default_factory=dict)

    @classmethod
    def of(cls, texts: Iterable[tuple[Sequence[str], int]], quotes: Iterable[tuple[str, int]] = ()) -> Net:
        """Collect secrets.

        Args:
            texts: folded words with the number of their source; `SPAN` words in a row of a long one are enough to find
                it, a shorter one is found as a whole.
            quotes: texts to be found symbol for symbol.
        """
        net = cls()
        net.windows = Windows(net._without_phrases(texts))
        net.lengths = tuple(sorted({len(phrase) for phrase in net.phrases}))
        for quote, owner in quotes:
            text = squeeze(fold(quote))
            net.quotes.setdefault(text[:LITERAL], []).append((text, owner))
        return net

    def hits(self, looks: Sequence[Located], squeezed: tuple[str, Sequence[int]]) -> Iterator[Hit]:
        """Every secret in a text, given by its readings and its squeezed form (see `look_at`)."""
        for look in looks:
            yield from self._spans(look) if len(self.windows) else ()
            yield from self._phrases(look)
        yield from self._quotes(*squeezed) if self.quotes else ()

    def _without_phrases(self, texts: Iterable[tuple[Sequence[str], int]]) -> Iterator[tuple[Sequence[str], int]]:
        for words, owner in texts:
            if size(words) >= SPAN:
                yield words, owner
            elif words:
                self.phrases.setdefault(tuple(words), owner)

    def _spans(self, look: Located) -> Iterator[Hit]:
        ends = window_ends(look.words)
        for first, (key, end) in enumerate(zip(window_keys(look.words), ends, strict=True)):
            owner = self.windows.owner(key)
            if owner is not None:
                yield Hit(key, owner, look.starts[first], look.ends[end - 1])

    def _phrases(self, look: Located) -> Iterator[Hit]:
        for length in self.lengths:
            for first in range(len(look.words) - length + 1):
                phrase = look.words[first : first + length]
                if phrase in self.phrases:
                    yield Hit(phrase, self.phrases[phrase], look.starts[first], look.ends[first + length - 1])

    def _quotes(self, text: str, origin: Sequence[int]) -> Iterator[Hit]:
        for first in range(len(text) - LITERAL + 1):
            for quote, owner in self.quotes.get(text[first : first + LITERAL], ()):
                if text.startswith(quote, first):
                    yield Hit(quote, owner, origin[first], origin[first + len(quote) - 1] + 1)


def look_at(text: str) -> tuple[list[Located], tuple[str, Sequence[int]]]:
    """What `Net.hits` needs to know of a text: its words in each reading, and its symbols with their offsets."""
    folded, origin = spell(text)
    kept = [at for at, char in enumerate(folded) if not is_unseen(char)]
    squeezed = "".join(folded[at] for at in kept)
    return [locate(reading) for reading in readings(text)], (squeezed, [origin[at] for at in kept])
