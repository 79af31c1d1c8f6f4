"""Records of any shape, made of the words of a format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from skillgit.sleep.base import Record


def objects(keys: Sequence[str], words: Sequence[str]) -> st.SearchStrategy[dict[str, Any]]:
    """JSON objects of these keys, to any depth, that hold these words or something else."""
    leaves = st.sampled_from(words) | st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
    key = st.sampled_from(keys)
    nested = st.recursive(
        leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(key, inner, max_size=5), max_leaves=12
    )
    return st.dictionaries(key, nested, max_size=8)


def well_formed(record: Record) -> bool:
    """Whether every field holds what it must."""
    texts = (record.session, record.key, record.text, record.cwd, record.branch, record.reason)
    names = (*record.skills, *record.tools, *record.files)
    if record.role not in ("user", "assistant", "none") or not record.session or not record.key:
        return False
    times = record.at is None or isinstance(record.at, float)
    return times and isinstance(record.failed, bool) and all(isinstance(text, str) for text in (*texts, *names))
