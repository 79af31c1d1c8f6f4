"""skillgit: agent skills that are trained like weights and versioned like code."""

__version__ = "0.1.0"
