"""What git tells of commits and trees: messages with their trailers, listings, renames, the state of the work tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from skillgit.errors import GitError
from skillgit.git.objects import Entry
from skillgit.git.repository import Repository
from skillgit.git.scratch import index_copy

_TRAILERS = ("Run", "Step", "Epoch", "Gate", "Evidence")
# Each field ends with a NUL, the one byte that no commit message can hold.
_FORMAT = "".join(
    f"{field}%x00"
    for field in (
        "%H",
        *(f"%(trailers:key=Skillgit-{name},valueonly,unfold,separator=%x2C)" for name in _TRAILERS),
        "%s",
    )
)
# Settings of the user that would change what is read.
_PLAIN = ("-c", "log.follow=false", "-c", "log.showSignature=false")


@dataclass(frozen=True)
class Logged:
    """One commit, as its message tells it.

    Attributes:
        run, step, epoch, verdict, evidence: from its trailers; empty or `None` where it has none.
        graph: lines of git's graph that stand before it; the last one stands on its own line.
    """

    commit: str
    subject: str
    run: str
    step: int | None
    epoch: int | None
    verdict: str
    evidence: str
    graph: tuple[str, ...] = ()


def log(repo: Repository, start: Sequence[str], path: str = "", *, limit: int = 0, graph: bool = False) -> list[Logged]:
    """The commits that changed `path`, newest first; none when there is nothing to start from.

    Args:
        start: revisions.
        limit: most commits, 0 for all.
        graph: draw how they hang together, in git's signs.
    """
    if not start:
        return []
    args = ["--graph"] if graph else ["--date-order"]
    args += [f"-{limit}"] if limit else []
    return _log(repo, *args, "--end-of-options", *start, "--", *([f":(top,literal){path}"] if path else []))


def messages(repo: Repository, commits: Iterable[str]) -> dict[str, Logged]:
    """What the messages of these commits tell, whatever the commits changed."""
    names = list(dict.fromkeys(commits))
    found = _log(repo, "--no-walk=unsorted", "--stdin", data="".join(f"{name}\n" for name in names)) if names else []
    return {entry.commit: entry for entry in found}


def _log(repo: Repository, *args: str, data: str = "") -> list[Logged]:
    plain = ("--no-ext-diff", "--no-color", "--encoding=UTF-8", f"--format={_FORMAT}")
    out = repo.git.run(*_PLAIN, "log", *plain, *args, data=data.encode()).decode("utf-8", "replace")
    fields = out.split("\0")
    size = len(_TRAILERS) + 2
    return [_parse(fields[at : at + size]) for at in range(0, len(fields) - size + 1, size)]


def _parse(fields: Sequence[str]) -> Logged:
    *drawn, last = fields[0].removeprefix("\n").split("\n")
    mark, _, commit = last.rpartition(" ")
    _, run, step, epoch, gate, evidence, subject = fields
    verdict = gate.split(" ", 1)[0]
    return Logged(commit, subject, run, _number(step), _number(epoch), verdict, evidence, (*drawn, mark))


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) < 10 else None


def listing(repo: Repository, tree: str) -> dict[str, Entry]:
    """Every path of a tree with its mode and object; folders are listed too."""
    out = repo.git.run("ls-tree", "-r", "-t", "-z", "--full-tree", "--end-of-options", tree)
    rows = (row.split("\t", 1) for row in out.decode("utf-8", "surrogateescape").split("\0") if row)
    return {path: Entry(meta.split(" ")[0], meta.split(" ")[2]) for meta, path in rows}


def renames(repo: Repository, before: str, after: str) -> dict[str, str]:
    """New path to old path of every file that git takes for the same file under another name."""
    plain = ("--no-ext-diff", "--find-renames", "--diff-filter=R", "--name-status")
    out = repo.git.text("diff-tree", "-r", "-z", *plain, "--end-of-options", before, after)
    fields = out.split("\0")[:-1]
    return dict(zip(fields[2::3], fields[1::3], strict=True))


def patch(repo: Repository, before: str, after: str, paths: Sequence[str]) -> str:
    """The change of `paths` between two trees or commits, as `git diff` writes it; empty when there is none."""
    plain = ("--no-ext-diff", "--no-textconv", "--no-color", "--find-renames", "--patch")
    literal = [f":(top,literal){path}" for path in paths]
    return repo.git.text("diff-tree", "-r", *plain, "--end-of-options", before, after, "--", *literal)


def parents(repo: Repository, commit: str) -> list[str]:
    """Parents of a commit."""
    return repo.git.text("log", "-1", "--no-show-signature", "--format=%P", "--end-of-options", commit).split()


def working_tree(repo: Repository, document: str = "") -> str:
    """Id of a tree that holds the skills as they are in the working tree; the user's index stays as it is.

    Args:
        document: one more file or folder that counts as a skill.

    Raises:
        GitError: a bare repository, or a skill has merge conflicts.
    """
    if repo.top is None:
        raise GitError("a bare repository has no working tree", fix="name both revisions to compare")
    with index_copy(repo) as copy:
        if paths := list(_present(repo, document, copy)):
            # Names go in on standard input: there may be more than a command line holds.
            names = "\0".join(f":(top,literal){path}" for path in paths).encode("utf-8", "surrogateescape")
            repo.git.run("add", "--all", "--pathspec-from-file=-", "--pathspec-file-nul", data=names, env=copy)
        # What is still unmerged is no skill; git makes no tree as long as it is there.
        rows = repo.git.run("ls-files", "--unmerged", "-z", "--full-name", ":/", env=copy).split(b"\0")[:-1]
        unmerged = b"".join(row.split(b"\t", 1)[1] + b"\0" for row in rows)
        if unmerged:
            repo.git.run("update-index", "--force-remove", "-z", "--stdin", data=unmerged, env=copy)
        return repo.git.text("write-tree", env=copy)


def _present(repo: Repository, document: str, env: Mapping[str, str]) -> Iterator[str]:
    """Skill folders, and the named file, that git tracks or would track; not those that a sparse checkout left out."""
    wanted = [":(top,glob)**/SKILL.md", *([f":(top,literal){document}"] if document else [])]
    out = repo.git.text("ls-files", "-t", "-z", "--cached", "--others", "--exclude-standard", "--", *wanted, env=env)
    for row in dict.fromkeys(out.split("\0")[:-1]):
        tag, path = row.split(" ", 1)
        if tag == "M":
            raise GitError(f"{path} has merge conflicts", fix=f"settle them, then git add {path}")
        if tag != "S":
            yield path.rpartition("/")[0] if path.endswith("/SKILL.md") else path
