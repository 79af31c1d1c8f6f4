"""A process of its own that publishes records, for the tests of many writers at once.

Arguments: folder, name of the writer, number of records; then the objects, in turn. A record is printed once it is in.
"""

from __future__ import annotations

import sys
from pathlib import Path

from skillgit.git import notes
from skillgit.git.objects import Commit, write_commits
from skillgit.git.publish import Publication, RefUpdate, publish
from skillgit.git.repository import Repository


def main(folder: str, writer: str, count: str, *objects: str) -> None:
    repo = Repository.open(Path(folder))
    ref, tip = f"refs/skillgit/runs/x/{writer}", None
    for number in range(int(count)):
        name = objects[number % len(objects)]
        record = notes.canonical({"id": f"{writer}-{number}", "skill": name})
        new = write_commits(repo, [Commit(f"{number}\n", (tip,) if tip else (), {"step": b"%d" % number})])[0].commit
        additions = {kind: {name: (record,)} for kind in (notes.EVALS, notes.RESULTS)}
        publish(repo, Publication([RefUpdate(ref, new, tip)], notes=additions))
        tip = new
        print(number, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
