"""Take over a finished SkillOpt run: its directory becomes a branch, records and a journal, in one transaction."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skillgit.errors import ConfigError, GitError, SkillError
from skillgit.git.objects import Change, Commit, inside, read_blob, read_blobs, write_commits
from skillgit.git.publish import refuse_blocked
from skillgit.git.repository import Repository
from skillgit.git.signing import resign, wanted
from skillgit.git.skillstore import Place, find
from skillgit.tasks.base import digest
from skillgit.train import journal
from skillgit.train.import_records import Step, Version, message, note_lines, records, step_record
from skillgit.train.import_records import state as import_state
from skillgit.train.published_files import Problem, word
from skillgit.train.published_run import PublishedRun, chain, read
from skillgit.train.state import IMPORTED

_MANIFEST = "import.json"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


@dataclass(frozen=True)
class Imported:
    """What an import wrote, or would write.

    Attributes:
        status: `new`, `grown` (an imported run went on since) or `known` (nothing to do).
        steps: everything that happened, with the commits it made.
        records: number of evaluation records.
        left_out: configuration keys that hold credentials.
    """

    place: Place
    run: str
    status: str
    steps: tuple[Step, ...]
    records: int
    left_out: tuple[str, ...]
    problems: tuple[Problem, ...]

    @property
    def branch(self) -> str:
        """Branch of the versions."""
        return f"train/{self.place.name}/{self.run}"

    @property
    def versions(self) -> tuple[Step, ...]:
        """The steps that made a version."""
        return tuple(step for step in self.steps if step.changes)


@dataclass(frozen=True)
class _Earlier:
    """An import of the same run, made when the directory had this much."""

    run: str
    tip: str
    chain: list[str]
    rest: str


def import_run(
    repo: Repository, folder: Path, *, skill: str = "", path: str = "", dry_run: bool = False, sign: bool = True
) -> Imported:
    """Import a directory. HEAD, index and working tree stay as they are; importing again adds nothing.

    Args:
        skill: its name; by default the environment's in the configuration, else the directory's.
        path: folder or Markdown file of the skill in the repository; by default where a skill of this name lies.
        sign: sign the commits when git is set up to.

    Raises:
        ConfigError: no version of the skill can be read, or name and path cannot be used.
        GitError: the branch was moved by someone else, or git refused.
    """
    published = read(folder)
    if not published.ticks:
        raise ConfigError(
            f"{folder} holds no readable version of a skill",
            why="; ".join(f"{problem.file} {problem.what}" for problem in published.problems[:3]),
            fix="give the output directory of a SkillOpt run (the one with skills/skill_v0000.md)",
        )
    place = _place(repo, published, folder, skill, path)
    links = chain(published.ticks, place.document)
    rest = digest([dict(published.config), dict(published.summary), published.best])
    earlier = _earlier(repo, place, links)
    run = earlier.run if earlier else f"{IMPORTED}{digest(links)[:8]}"
    known = earlier is not None and (len(links) < len(earlier.chain) or (links, rest) == (earlier.chain, earlier.rest))
    writer = _Writer(repo, place, run, published, earlier, sign=sign and wanted(repo))
    steps = writer.steps(dry=dry_run or known)
    count = len(records(published, steps, run))
    if not (dry_run or known):
        manifest = {"v": 1, "chain": links, "rest": rest, "harness": published.harness}
        writer.publish(steps, manifest | {"problems": [dataclasses.asdict(p) for p in published.problems]})
    status = "known" if known else "grown" if earlier else "new"
    return Imported(place, run, status, tuple(steps), count, published.left_out, published.problems)


def _place(repo: Repository, published: PublishedRun, folder: Path, skill: str, path: str) -> Place:
    if path:
        return _placed(path.rstrip("/").removesuffix("/SKILL.md"), skill)
    found = skill or word(published.setting("env")) or folder.resolve().name
    name = re.sub(r"[^a-z0-9]+", "-", found.lower()).strip("-")[:64].strip("-")
    if not name:
        raise ConfigError(f"{found!r} makes no name for a skill", fix="name it with --skill")
    try:
        place = find(repo, name)
    except SkillError:
        return Place(name, f"skills/{name}", f"skills/{name}/SKILL.md")
    return place if place.name == name else _placed(f"skills/{name}", "")


def _placed(path: str, skill: str) -> Place:
    """A place by its path. A skill is called after its folder or file, so that every command finds it."""
    name = Path(path).stem if path.endswith(".md") else Path(path).name
    if not inside(path) or not _NAME.fullmatch(name):
        raise ConfigError(f"--path {path!r} names no skill", fix="give a folder or Markdown file, from the top folder")
    if skill and skill != name:
        raise ConfigError(
            f"a skill at {path} is called {name}, not {skill}", fix="drop --skill, or give a path that ends in its name"
        )
    return Place(name, path, path if path.endswith(".md") else f"{path}/SKILL.md")


def _earlier(repo: Repository, place: Place, links: list[str]) -> _Earlier | None:
    """The import that this directory is, continues, or is an older copy of."""
    tips = {run: tip for run, tip in journal.runs(repo, place.name).items() if run.startswith(IMPORTED)}
    blobs = read_blobs(repo, [f"{tip}:{_MANIFEST}" for tip in tips.values()])
    for (run, tip), blob in zip(tips.items(), blobs, strict=True):
        manifest = _manifest(blob)
        old = manifest.get("chain")
        if isinstance(old, list) and old and old[: len(links)] == links[: len(old)]:
            return _Earlier(run, tip, old, str(manifest.get("rest")))
    return None


def _manifest(blob: bytes | None) -> dict[str, Any]:
    try:
        value = json.loads(blob or b"{}")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


class _Writer:
    """Writes the versions of one run as commits, then makes them visible together."""

    def __init__(
        self,
        repo: Repository,
        place: Place,
        run: str,
        published: PublishedRun,
        earlier: _Earlier | None,
        *,
        sign: bool,
    ) -> None:
        self.repo, self.place, self.run, self.published, self.earlier = repo, place, run, published, earlier
        self.sign, self.head = sign, repo.head()
        self.branch = f"train/{place.name}/{run}"

    def steps(self, *, dry: bool) -> list[Step]:
        """Every tick, with the commit it made and the object of what it proposed. With `dry`, nothing is written."""
        old = self._known()
        steps: list[Step] = []
        for number, tick in enumerate(self.published.ticks):
            step = Step(number, tick, steps[-1].current if steps else Version())
            if number < len(old):
                step = dataclasses.replace(step, **old[number])
            elif not dry:
                step = self._written(step)
            steps.append(step)
        return steps

    def _known(self) -> list[dict[str, Any]]:
        """Commits and objects of the ticks that are in the journal already."""
        records = journal.steps(self.repo, self.earlier.tip) if self.earlier else []
        return [{name: record.get(name) for name in ("commit", "object", "candidate")} for record in records]

    def _written(self, step: Step) -> Step:
        tick, base = step.tick, step.base.commit or self.head
        if step.changes and tick.text is not None:
            commit, name = self._version(step, tick.text, base)
            step = dataclasses.replace(step, commit=commit, object=name)
        if tick.candidate is None:
            return step
        same = next((v.object for v in (step.current, step.base) if v.text == tick.candidate), None)
        return dataclasses.replace(step, candidate=same or self._commit(tick.candidate, base, "candidate\n")[1])

    def _version(self, step: Step, text: str, base: str | None) -> tuple[str, str]:
        """Commit and object of a version; HEAD itself when it is the first one already."""
        if step.base.commit is None and base and read_blob(self.repo, f"{base}:{self.place.document}") == text.encode():
            return base, self.repo.resolve(f"{base}:{self.place.path}") or ""
        commit, name = self._commit(text, base, message(self.published, step, self.place.name, self.run))
        return (resign(self.repo, commit) if self.sign else commit), name

    def _commit(self, text: str, base: str | None, words: str) -> tuple[str, str]:
        commit = Commit(words, (base,) if base else (), {self.place.document: text.encode()})
        written = write_commits(self.repo, [commit], [self.place.path])[0]
        return written.commit, written.at[self.place.path]

    def publish(self, steps: Sequence[Step], manifest: Mapping[str, Any]) -> None:
        """Make branch, journal and notes visible in one transaction."""
        at = self._branch_tip()
        state = import_state(self.published, steps, self.place, self.run, digest(manifest["chain"]))
        moved = state.current.commit != at
        entry = journal.Entry(
            state=state,
            record={},
            subject=f"import {len(steps)} entries of a SkillOpt run",
            files=self._files(steps, manifest),
            notes=note_lines(self.published, steps, self.run),
            branch_from=at if moved else None,
            branch_to=state.current.commit if moved else None,
        )
        journal.write(self.repo, entry, self.earlier.tip if self.earlier else None)

    def _branch_tip(self) -> str | None:
        """Where the branch is. Raises `GitError` when that is not where an import left it."""
        at = self.repo.resolve(f"refs/heads/{self.branch}")
        left = journal.load(self.repo, self.place.name, self.run)[0].current.commit if self.earlier else None
        if at not in (None, left):
            raise GitError(
                f"branch {self.branch} is not where an import left it",
                why=f"expected {left[:12] if left else 'no branch'}, found {at[:12]}",
                fix=f"git branch -m {self.branch} {self.branch.replace('/', '-')}, then import again",
            )
        if at is None:
            refuse_blocked(self.repo, self.branch)
        return at

    def _files(self, steps: Sequence[Step], manifest: Mapping[str, Any]) -> dict[str, Change]:
        """Files of the journal."""
        published = self.published
        files: dict[str, Change] = {"config.json": _json(published.config), _MANIFEST: _json(manifest)}
        if published.summary:
            files["summary.json"] = _json(published.summary)
        if published.best is not None:
            files["best_skill.md"] = published.best.encode()
        whole = self.place.path == self.place.document
        for step in steps:
            files[f"steps/{step.number:04d}.json"] = _json(step_record(published, step, self.run))
            if step.candidate and step.tick.kind != "baseline":
                content = (step.tick.candidate or "").encode() if whole else step.candidate
                files[f"candidates/{step.number:04d}{'.md' if whole else ''}"] = content
        return files


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()
