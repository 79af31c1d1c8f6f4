"""Start-up time of `skillgit --help` and `--version`, as a multiple of `python -c pass`.

python -m tests.bench.startup
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time

HEAVY = ("openai", "git", "watchdog", "rich", "jsonschema", "json_repair", "yaml", "sqlite3")
COMMANDS = {"--help": ["-m", "skillgit", "--help"], "--version": ["-m", "skillgit", "--version"]}


def seconds(args: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, *args], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def measure(rounds: int) -> dict[str, float]:
    """Median seconds by command, the rounds interleaved so that a busy machine is fair to all."""
    commands = {"python": ["-c", "pass"], **COMMANDS}
    taken = {name: [] for name in commands}
    for _ in range(rounds):
        for name, args in commands.items():
            taken[name].append(seconds(args))
    return {name: statistics.median(times) for name, times in taken.items()}


def imported(*args: str) -> set[str]:
    """Heavy packages that a command line loads."""
    code = (
        "import sys; from skillgit.cli.main import run; "
        f"run({list(args)!r}); print('LOADED', *({set(HEAVY)!r} & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    return set(out.splitlines()[-1].split()[1:])


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=15)
    given = options.parse_args()
    taken = measure(given.rounds)
    for name in COMMANDS:
        print(f"{name:10} {taken[name] * 1000:6.0f} ms, {taken[name] / taken['python']:.1f} times python -c pass")
        print(f"{'':10} heavy packages loaded: {', '.join(sorted(imported(name))) or 'none'}")


if __name__ == "__main__":
    main()
