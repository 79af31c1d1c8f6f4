"""Harvesting a large store of Claude Code: megabytes per second, peak memory, and seconds to find nothing new.

python -m tests.bench.harvest
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.bench.common import workshop
from tests.conftest import git
from tests.sleep.stores import claude

MEMORY_AIM = 200.0  # MB
AGAIN_AIM = 1.0  # seconds for 5,000 files

# What one harvest takes, in a process of its own: the figures of the benchmark itself must not count.
_CHILD = """
import dataclasses, json, resource, sys, time
from pathlib import Path
begun = time.perf_counter()
from skillgit.config.schema import Config
from skillgit.events import ignore
from skillgit.git.repository import Repository
from skillgit.sleep.harvest.collect import harvest
plain = Config()
given = {"source": "claude", "claude_home": sys.argv[2], "lookback_hours": 0.0, "keep_days": 10**6}
config = dataclasses.replace(plain, sleep=dataclasses.replace(plain.sleep, **given))
found = harvest(Repository.open(Path(sys.argv[1])), config, ignore)
used = resource.getrusage(resource.RUSAGE_SELF)
told = Path("/proc/self/status")
if told.exists():  # on Linux, ru_maxrss still holds what the parent had when it forked
    peak = int(told.read_text().partition("VmHWM:")[2].split()[0]) * 1024 / 1e6
else:
    peak = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6
spent = used.ru_utime + used.ru_stime
print(json.dumps([found.kept, found.new, found.bytes / 1e6, found.seconds, time.perf_counter() - begun, spent, peak]))
"""
_ASKS = (
    "Round the totals of {} to two decimals and keep the public names.",
    "Why does {} fail on an empty list? The log says: IndexError: list index out of range, in line {}.",
    "Add a retry with a growing pause to {}, and a test that shows it.",
)
_WORDS = (
    "the",
    "module",
    "now",
    "handles",
    "this",
    "case",
    "and",
    "its",
    "tests",
    "pass",
    "nothing",
    "else",
    "uses",
    "it",
)
_TOOL_BYTES = 1500  # of one output: with the calls, two thirds of what an exchange takes
_EXCHANGE = 12_700  # bytes it takes then


@dataclass(frozen=True)
class Harvested:
    """One harvest.

    Attributes:
        seconds: of the harvest itself.
        total, processor: seconds of the process, its imports included, by the clock and of the processor.
        peak: memory in MB.
    """

    kept: int
    new: int
    megabytes: float
    seconds: float
    total: float
    processor: float
    peak: float


def build(folder: Path, files: int, megabytes: float) -> tuple[Path, Path]:
    """A repository, and a store of that many sessions held in it, two thirds of which is the traffic of tools."""
    repo, store = folder / "repo", folder / "claude"
    git(folder, "init", "--quiet", str(repo))
    mean = megabytes * 1e6 / files / _EXCHANGE
    for number in range(files):
        # A tenth of the sessions holds half of all.
        turns = _turns(number, max(1, round(mean * (5 if number % 10 == 0 else 5 / 9))))
        name = f"session-{number:05}"
        claude.write_noisy_session(store, name, turns, cwd=str(repo), tool_bytes=_TOOL_BYTES, seed=number)
    return repo, store


def _turns(number: int, count: int) -> Sequence[tuple[str, str]]:
    asks = (_ASKS[(number + turn) % len(_ASKS)].format(f"src/part{number}.py", turn) for turn in range(count))
    answers = (" ".join(_WORDS[(turn + word) % len(_WORDS)] for word in range(150)) for turn in range(count))
    return list(zip(asks, answers, strict=True))


def measure(repo: Path, store: Path) -> Harvested:
    """One harvest in a process of its own."""
    args = [sys.executable, "-c", _CHILD, str(repo), str(store)]
    done = subprocess.run(args, check=True, capture_output=True, text=True)
    return Harvested(*json.loads(done.stdout))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--megabytes", type=float, default=1000)
    options.add_argument("--files", type=int, default=5000)
    given = options.parse_args()
    with workshop() as folder:
        repo, store = build(folder, given.files, given.megabytes)
        first = measure(repo, store)
        again = [measure(repo, store) for _ in range(3)]
        print(f"store    {given.files} files, {first.megabytes:.0f} MB, {first.kept} sessions kept")
        print(
            f"first    {first.seconds:.1f} s, {first.megabytes / first.seconds:.0f} MB/s; "
            f"{first.processor:.1f} s of the processor, {first.megabytes / first.processor:.0f} MB/s"
        )
        print(f"memory   {first.peak:.0f} MB at most, aim {MEMORY_AIM:g} MB: {first.peak / MEMORY_AIM:.2f} of it")
        best = min(again, key=lambda one: one.seconds)
        print(
            f"again    {best.seconds:.2f} s ({best.total:.2f} s with a fresh process), nothing new: {not best.new}, "
            f"aim {AGAIN_AIM:g} s: {best.seconds / AGAIN_AIM:.2f} of it"
        )
        size = sum(file.stat().st_size for file in repo.glob(".git/skillgit/sleep.db*"))
        print(f"archive  {size / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
