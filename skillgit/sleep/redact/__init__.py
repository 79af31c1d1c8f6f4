"""Keeping secrets out of what is kept of a session: clean, then redact, then clip; any other order leaks."""

from skillgit.sleep.redact.cleaning import clean
from skillgit.sleep.redact.clipping import clip
from skillgit.sleep.redact.hiding import redact
from skillgit.sleep.redact.values import redact_value

__all__ = ["clean", "clip", "redact", "redact_value"]
