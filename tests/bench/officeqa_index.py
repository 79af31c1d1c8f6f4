"""How long OfficeQA takes to index its documents, and to look into one of them.

python -m tests.bench.officeqa_index
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

from skillgit.tasks.benchmarks.officeqa.corpus import Corpus
from skillgit.tasks.benchmarks.officeqa.tools import Shelf
from tests.bench.common import workshop


def write(folder: Path, count: int, size: int) -> None:
    """`count` documents of about `size` bytes, in folders of a hundred."""
    line = "| {n} | receipts | 1,234 | 5,678 |\n"
    text = "".join(line.format(n=n) for n in range(size // len(line)))
    for number in range(count):
        path = folder / f"{number // 100:02d}" / f"bulletin_{number:04d}.txt"
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(f"document {number}\n{text}")


def measure(folder: Path, rounds: int) -> tuple[float, float, int]:
    """Median seconds of an index, and of a `grep` of one document that was not read before; how many there are."""
    indexed, found = [], []
    for _ in range(rounds):
        started = time.perf_counter()
        corpus = Corpus.build([folder])
        indexed.append(time.perf_counter() - started)
        name = next(reversed(corpus.files))
        grep = next(tool for tool in Shelf(corpus, [name]).tools() if tool.name == "grep")
        started = time.perf_counter()
        assert grep.call({"path": name, "pattern": "DOCUMENT"}).startswith(f"[{name}]")
        found.append(time.perf_counter() - started)
    return statistics.median(indexed), statistics.median(found), len(corpus.files)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--count", type=int, default=2000)
    options.add_argument("--size", type=int, default=100_000)
    options.add_argument("--rounds", type=int, default=5)
    given = options.parse_args()
    with workshop() as folder:
        write(folder / "docs", given.count, given.size)
        index, grep, count = measure(folder / "docs", given.rounds)
    print(
        f"{count} documents indexed in {index * 1000:.0f} ms; grep of one of {given.size} bytes: {grep * 1000:.1f} ms"
    )


if __name__ == "__main__":
    main()
