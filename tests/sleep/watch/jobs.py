"""Jobs for tests of schedulers."""

from __future__ import annotations

import sys
from pathlib import Path

from skillgit.sleep.watch.schedule.base import Job

ECHO = "import json, os, sys; print(json.dumps([sys.argv[1:], os.environ.get('CODEX_HOME')]))"


def job(*options: str, id_: str = "0123456789ab", hour: int = 3, minute: int = 17) -> Job:
    """A job as skillgit makes it."""
    command = (sys.executable, "-P", "-m", "skillgit", "-C", "/w/a b", "sleep", "nightly", *options)
    return Job(id_, Path("/w/a b"), command, hour, minute, {"PATH": "/usr/bin:/bin", "CODEX_HOME": "/c d/100%"})
