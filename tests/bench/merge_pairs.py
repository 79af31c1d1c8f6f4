"""How often two proposals merge cleanly, with the merge driver and with git's text merge alone.

python -m tests.bench.merge_pairs

A skill of 40 rules in five sections. Each proposal is a branch with one to four lessons, made by the applier that
training uses: a rule appended to the skill, put after another one, reworded or deleted. Pairs of proposals are merged
by real `git merge`. A clean result is whole when it has every rule that both sides kept or one side added or reworded,
and none that a side removed.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from skillgit.git.install import driver_command
from skillgit.skills.blocks import split_blocks
from skillgit.skills.document import Document
from skillgit.skills.edits import Edit, apply_edits
from tests.bench.common import workshop
from tests.conftest import git

PATH = "skills/bench/SKILL.md"
SECTIONS = ("Reading the question", "Searching", "Writing the answer", "Numbers and units", "Before sending")
_DO = ("Check", "Write", "Quote", "Convert", "Compare", "Keep", "Name", "Round", "Sort", "Drop")
_WHAT = ("dates", "file names", "amounts", "table headers", "names of people", "units", "links", "list items")
_HOW = (
    "exactly as the question writes them",
    "only after the sources agree",
    "in the order of the document",
    "without a final dot",
    "before giving the answer",
    "even when they look the same",
)
_WHY = (
    "because graders compare text",
    "since rounding hides errors",
    "unless the user asks otherwise",
    "when in doubt",
)


@dataclass(frozen=True)
class Shares:
    """What became of the pairs merged one way, as shares in [0, 1].

    Attributes:
        clean: merged without conflict.
        whole: of those, the ones that have every rule of both sides.
    """

    clean: float
    whole: float


def lesson(chance: random.Random) -> str:
    """One rule as an optimizer would word it."""
    words = [chance.choice(part) for part in (_DO, _WHAT, _HOW)]
    return f"- {' '.join(words)}, {chance.choice(_WHY)}."


def skill(chance: random.Random) -> Document:
    """A skill of 40 different rules."""
    rules: dict[str, None] = {}
    while len(rules) < 40:
        rules[lesson(chance)] = None
    lines = ["---", "name: bench", "description: For measuring.", "---", "", "# Bench", "", "Follow every rule below."]
    for at, title in enumerate(SECTIONS):
        lines += ["", f"## {title}", "", *list(rules)[at * 8 : at * 8 + 8]]
    return Document("\n".join([*lines, ""]))


def proposal(base: Document, chance: random.Random) -> Document:
    """The skill with one to four lessons learned."""
    doc = base
    for _ in range(chance.randint(1, 4)):
        doc, _ = apply_edits(doc, [_edit(doc, chance)])
    return doc


def _edit(doc: Document, chance: random.Random) -> Edit:
    old = chance.choice([block.text for block in split_blocks(doc).blocks if block.kind == "item"]).rstrip("\n")
    op = chance.choices(("append", "insert_after", "replace", "delete"), (4, 3, 2, 1))[0]
    if op == "replace":
        return Edit("replace", f"{old[:-1]}; {chance.choice(_HOW)}.", old)
    if op == "delete":
        return Edit("delete", target=f"{old}\n")
    return Edit(op, lesson(chance), "" if op == "append" else old)


def measure(pairs: int, seed: int = 0) -> dict[str, Shares]:
    """Merge the same pairs by `text` and by `driver`."""
    chance = random.Random(seed)
    with workshop() as folder:
        git(folder, "init", "--quiet", "--initial-branch=main", "repo")
        repo, base = folder / "repo", skill(chance)
        (repo / ".gitattributes").write_text("skills/**/SKILL.md merge=skillgit\n")
        _commit(repo, base, "main")
        cases = [_branches(repo, base, number, chance) for number in range(pairs)]
        shares = {"text": _share(repo, base, cases)}
        git(repo, "config", "merge.skillgit.driver", driver_command(sys.executable))
        return shares | {"driver": _share(repo, base, cases)}


def _branches(repo: Path, base: Document, number: int, chance: random.Random) -> tuple[Document, Document]:
    """Both proposals, committed as `a<number>` and `b<number>`."""
    docs = proposal(base, chance), proposal(base, chance)
    for name, doc in zip("ab", docs, strict=True):
        git(repo, "checkout", "--quiet", "-b", f"{name}{number}", "main")
        _commit(repo, doc, name)
    return docs


def _commit(repo: Path, doc: Document, message: str) -> None:
    (repo / PATH).parent.mkdir(parents=True, exist_ok=True)
    (repo / PATH).write_bytes(doc.encode())
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "--allow-empty", "-m", message)


def _share(repo: Path, base: Document, cases: list[tuple[Document, Document]]) -> Shares:
    results = list(_merged(repo, len(cases)))
    clean = [(docs, merged) for docs, merged in zip(cases, results, strict=True) if merged is not None]
    whole = sum(_is_whole(base, *docs, merged) for docs, merged in clean)
    return Shares(len(clean) / len(cases), whole / max(len(clean), 1))


def _merged(repo: Path, pairs: int) -> Iterator[Document | None]:
    """The clean results, `None` for a conflict."""
    for number in range(pairs):
        git(repo, "checkout", "--quiet", "--detach", f"a{number}")
        merge = ["git", "-C", str(repo), "merge", "--quiet", "--no-edit", f"b{number}"]
        done = subprocess.run(merge, capture_output=True, check=False)
        yield None if done.returncode else Document.parse((repo / PATH).read_bytes())
        git(repo, "reset", "--quiet", "--hard")


def _is_whole(base: Document, ours: Document, theirs: Document, merged: Document) -> bool:
    b, o, t, m = ({block.key for block in split_blocks(doc).blocks} for doc in (base, ours, theirs, merged))
    return m == (o & t) | (o - b) | (t - b)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--pairs", type=int, default=100)
    given = options.parse_args()
    for name, shares in measure(given.pairs).items():
        print(f"{name:7} {shares.clean:5.0%} of {given.pairs} pairs merge cleanly, {shares.whole:.0%} of them whole")


if __name__ == "__main__":
    main()
