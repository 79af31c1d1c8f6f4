"""Time of `skillgit lint` on many skills, start-up included.

python -m tests.bench.lint
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path

from tests.bench.common import workshop

AIM = 1.5  # seconds for 1,000 skills on two cores
_SYLLABLES = (
    "re",
    "port",
    "ta",
    "ble",
    "va",
    "lue",
    "for",
    "mat",
    "row",
    "cal",
    "in",
    "dex",
    "que",
    "ry",
    "com",
    "mit",
)
_WORDS = [a + b + c for a in _SYLLABLES for b in _SYLLABLES for c in ("", "s", "ing", "er")]
_WEIGHTS = [1 / (place + 5) for place in range(len(_WORDS))]  # a few words are common, most are rare, as in prose


def write_skills(folder: Path, count: int) -> int:
    """`count` skills of 60 to 150 lines with headings, rules, code, links and a reference; returns the lines."""
    rng = random.Random(7)
    lines = 0
    for number in range(count):
        name = f"skill-{number}"
        place = folder / "skills" / name
        (place / "references").mkdir(parents=True)
        text = _skill(rng, name)
        lines += text.count("\n")
        (place / "SKILL.md").write_text(text, encoding="utf-8")
        (place / "references/details.md").write_text(f"# Details\n\n{_sentence(rng)}\n", encoding="utf-8")
    return lines


def _skill(rng: random.Random, name: str) -> str:
    lines = ["---", f"name: {name}", f'description: "{_sentence(rng)} Use when: {_sentence(rng)}"', "license: MIT"]
    lines += ["metadata:", "  author: bench", "---", "", f"# {name}", "", "See [details](references/details.md).", ""]
    size = rng.randint(60, 150)
    while len(lines) < size:
        lines += [f"## {_sentence(rng)[:30]}", "", _sentence(rng), ""]
        lines += [f"- {_sentence(rng)} Use `{rng.choice(_WORDS)}`." for _ in range(rng.randint(3, 9))]
        lines += ["", "```sh", f"run --{rng.choice(_WORDS)} {rng.randint(1, 99)}", "```", ""]
    return "\n".join(lines).rstrip() + "\n"


def _sentence(rng: random.Random) -> str:
    return " ".join(rng.choices(_WORDS, _WEIGHTS, k=rng.randint(6, 14))).capitalize() + "."


def measure(count: int, rounds: int) -> tuple[float, float, int, str]:
    """Median seconds of the command, processor seconds per run, lines of all SKILL.md files, and what it says last."""
    with workshop() as folder:
        lines = write_skills(folder, count)
        taken = []
        before = _processor_seconds()
        for _ in range(rounds):
            started = time.perf_counter()
            args = [sys.executable, "-m", "skillgit", "-C", str(folder), "lint"]
            done = subprocess.run(args, check=True, capture_output=True, text=True)
            taken.append(time.perf_counter() - started)
        spent = (_processor_seconds() - before) / rounds
    return statistics.median(taken), spent, lines, done.stdout.splitlines()[-1]


def _processor_seconds() -> float:
    used = os.times()
    return used.children_user + used.children_system


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--skills", type=int, default=1000)
    options.add_argument("--rounds", type=int, default=5)
    given = options.parse_args()
    seconds, spent, lines, said = measure(given.skills, given.rounds)
    print(said)
    print(f"{given.skills} skills, {lines} lines: {seconds:.2f} s with start-up, {seconds / AIM:.2f} of the aim")
    print(f"processor time {spent:.2f} s, {spent * 1000 / given.skills:.2f} ms per skill, on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
