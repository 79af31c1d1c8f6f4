"""Time of a commit of one staged skill with skillgit's hooks, as a multiple of `git commit` alone.

python -m tests.bench.hook_time
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path

from skillgit.git.hooks.install import carry_out, plan_install
from skillgit.git.repository import Repository
from tests.bench.common import make_repository, workshop
from tests.bench.startup import HEAVY
from tests.conftest import git

_SKILL = "skills/bench/SKILL.md"

# What is installed for each row.
ROWS: dict[str, tuple[str, ...]] = {
    "git commit": (),
    "commit-msg": ("commit-msg",),
    "pre-commit": ("pre-commit",),
    "both": ("pre-commit", "commit-msg"),
}
HOOKS = {"pre-commit": (), "commit-msg": ("message",)}


def measure(rounds: int) -> dict[str, list[float]]:
    """Seconds of each commit by row, the rounds interleaved so that a busy machine is fair to all."""
    with workshop() as folder:
        repos = {row: _prepared(folder / row.replace(" ", "-"), names) for row, names in ROWS.items()}
        taken: dict[str, list[float]] = {row: [] for row in ROWS}
        for number in range(rounds):
            for row, repo in repos.items():
                taken[row].append(_commit(repo, number))
        return taken


def imported(name: str) -> set[str]:
    """Heavy packages that a hook loads for one staged skill."""
    code = (
        f"import sys; from skillgit.cli.main import run; run(['hook', {name!r}, *{HOOKS[name]!r}]); "
        f"print('LOADED', *({set(HEAVY)!r} & set(sys.modules)))"
    )
    with workshop() as folder:
        repo = _prepared(folder / "repo", ())
        (repo / "message").write_text("words\n")
        _stage(repo, 0)
        out = subprocess.run([sys.executable, "-c", code], cwd=repo, check=True, capture_output=True, text=True).stdout
    return set(out.splitlines()[-1].split()[1:])


def _prepared(folder: Path, names: tuple[str, ...]) -> Path:
    make_repository(folder, {})
    if names:
        carry_out(plan_install(Repository.open(folder), names))
    return folder


def _stage(repo: Path, number: int) -> None:
    with (repo / _SKILL).open("a") as file:
        file.write(f"- Rule {number}.\n")
    git(repo, "add", "--all")


def _commit(repo: Path, number: int) -> float:
    _stage(repo, number)
    started = time.perf_counter()
    git(repo, "commit", "--quiet", "-m", f"rule {number}")
    return time.perf_counter() - started


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=15)
    given = options.parse_args()
    taken = measure(given.rounds)
    for title, of in (("median", statistics.median), ("fastest", min)):
        alone = of(taken["git commit"])
        print(f"{title} of {given.rounds}")
        for row, times in taken.items():
            more = f", {(of(times) - alone) * 1000:5.0f} ms more" if row != "git commit" else ""
            print(f"  {row:10} {of(times) * 1000:6.0f} ms, {of(times) / alone:5.1f} times git commit alone{more}")
    for name in HOOKS:
        print(f"{name:12} heavy packages loaded: {', '.join(sorted(imported(name))) or 'none'}")


if __name__ == "__main__":
    main()
