"""Linting many skills: what is read, what each is judged by, and what may be mended."""

from __future__ import annotations

import gc
import os
import posixpath
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from skillgit.config.schema import Config
from skillgit.errors import TaskError
from skillgit.git.skillfiles import find_skills, folder_of, name_of, read_skill
from skillgit.skills.lint.case import Before, Case, Finding, Skill
from skillgit.skills.lint.fixes import FIXABLE, fixed
from skillgit.skills.lint.judge import findings, lint
from skillgit.skills.lint.layout import collisions
from skillgit.skills.lint.page import Hit
from skillgit.skills.lint.rules import Policy, make_policy, rules

if TYPE_CHECKING:
    from skillgit.git.repository import Repository

_FEW = 48  # skills that are judged sooner than a second process starts
_PLACE = re.compile(r"(.*):(\d+)")
_MAIN_ONLY = frozenset(("byte-order-mark", "unquoted-colon"))


@dataclass(frozen=True)
class Report:
    """What was found.

    Attributes:
        skills: how many were judged.
        findings: by place.
        fixed: files that were mended.
        patch: what would be mended, when nothing was to be written.
    """

    skills: int
    findings: tuple[Finding, ...]
    fixed: tuple[str, ...] = ()
    patch: str = ""


def policy_of(config: Config, profile: str = "") -> Policy:
    """The policy of a configuration; `profile` wins over the configured one. Raises `ConfigError`."""
    lint_config = config.lint
    return make_policy(
        profile or lint_config.profile,
        lint_config.levels,
        max_description_tokens=lint_config.max_description_tokens,
        max_body_tokens=lint_config.max_body_tokens,
    )


def lint_folders(cwd: Path, root: Path, paths: Sequence[str], config: Config, policy: Policy) -> Report:
    """Judge skills in the working tree.

    Args:
        cwd: where `paths` and the paths of findings are seen from.
        root: where tasks lie (`evals/<skill>`).
        paths: see `find_skills`.
    """
    folders = find_skills(cwd, paths)
    tasked = [folder for folder in folders if _has_tasks(root, name_of(folder))]
    plain = [folder for folder in folders if folder not in set(tasked)]
    found = [finding for part in _each(partial(_lint_folder, base=cwd, policy=policy), plain) for finding in part]
    for folder in tasked:
        found += _lint_with_tasks(read_skill(folder, cwd), root, cwd, config, policy)
    found += _same_names((Path(os.path.relpath(folder, cwd)).as_posix() for folder in folders), policy)
    return Report(len(folders), _sorted(found))


def lint_staged(
    repo: Repository, cwd: Path, paths: Sequence[str], env: Mapping[str, str], config: Config, policy: Policy
) -> Report:
    """Judge skills as they are staged; see `staged_skills` for the arguments."""
    from skillgit.git.stagedskills import staged_skills

    found: list[Finding] = []
    staged = staged_skills(repo, cwd, paths, env)
    for item in staged:
        mine = _lint_with_tasks(item.skill, repo.root, cwd, config, policy, before=item.before)
        if any(finding.rule == "protected-change" for finding in mine):
            # A text that was measured came from training, whatever way it was brought here.
            before = replace(item.before, measured=_is_measured(repo, item.object))
            mine = _lint_with_tasks(item.skill, repo.root, cwd, config, policy, before=before)
        found += mine
    found += _same_names((item.skill.folder for item in staged), policy)
    return Report(len(staged), _sorted(found))


def _is_measured(repo: Repository, skill_object: str) -> bool:
    # Few commits need the room of evaluations, which takes long to import.
    from skillgit.evals.evidence import read_evidence

    return bool(read_evidence(repo, [skill_object])[skill_object].records)


def seen_from(report: Report, cwd: Path, top: Path) -> Report:
    """The report with the paths of its findings seen from `top` instead of `cwd`."""
    way = Path(os.path.relpath(cwd, top)).as_posix()
    moved = (replace(f, path=posixpath.normpath(posixpath.join(way, f.path))) for f in report.findings)
    return replace(report, findings=tuple(moved))


def mend(cwd: Path, paths: Sequence[str], policy: Policy, *, write: bool) -> tuple[tuple[str, ...], str]:
    """Mend what can be mended safely in the working tree.

    Returns:
        The files that changed (or would, when `write` is false), and the change as a patch.
    """
    from skillgit.skills.patch import unified_diff

    names: list[str] = []
    patch = ""
    for place in find_skills(cwd, paths):
        skill = read_skill(place, cwd)
        case = Case.of(skill)
        for page in case.pages:
            allowed = FIXABLE & set(policy.levels) - (set() if page is case.main else _MAIN_ONLY)
            after = fixed(page.doc, allowed) if page.is_markdown else page.doc
            if after.text != page.text:
                names.append(skill.at(page.path))
                patch += unified_diff(skill.at(page.path), page.doc, after)
                if write:
                    _replace(folder_of(place) / page.path, after.encode())
    return tuple(names), patch


def _lint_folder(folder: Path, *, base: Path, policy: Policy) -> tuple[Finding, ...]:
    return lint(read_skill(folder, base), policy)


def _each(judge: Callable[[Path], tuple[Finding, ...]], folders: Sequence[Path]) -> Iterator[tuple[Finding, ...]]:
    """The findings of every folder, with a process per core where that is faster."""
    workers = min(os.cpu_count() or 1, 8, len(folders) // _FEW + 1)
    if workers == 1:
        yield from map(judge, folders)
        return
    from concurrent.futures import ProcessPoolExecutor

    # Parsing makes many small objects and no cycles worth looking for; the processes end soon.
    with ProcessPoolExecutor(workers, initializer=gc.disable) as pool:
        yield from pool.map(judge, folders, chunksize=max(1, len(folders) // (workers * 16)))


def _has_tasks(root: Path, name: str) -> bool:
    return any((root / "evals" / name).glob("*"))


def _lint_with_tasks(
    skill: Skill, root: Path, cwd: Path, config: Config, policy: Policy, before: Before | None = None
) -> tuple[Finding, ...]:
    """The findings of one skill, leaks of its own tasks included; tasks that cannot be read are a finding."""
    if not _has_tasks(root, skill.name):
        return lint(skill, policy, before)
    from skillgit.tasks import registry
    from skillgit.tasks.base import BenchmarkContext
    from skillgit.tasks.leakage import leak_index

    options = {**asdict(config.env), "allow_missing_val": True}
    context = BenchmarkContext(root, skill.name, options, config.train.seed)
    try:
        index = leak_index(registry.build(config.env.name, context).load(), config.leaks)
    except TaskError as error:
        return (*lint(skill, policy, before), *_unreadable(error, skill, policy, os.path.relpath(root, cwd)))
    return lint(skill, replace(policy, leaks=index), before)


def _unreadable(error: TaskError, skill: Skill, policy: Policy, root: str) -> Iterator[Finding]:
    place = _PLACE.fullmatch(error.where)
    level = policy.levels.get("tasks-unreadable")
    if level is not None:
        path, line = (place[1], int(place[2])) if place else (error.where or f"evals/{skill.name}", 1)
        path = posixpath.normpath(posixpath.join(Path(root).as_posix(), path))
        why = "; ".join(line.strip() for line in error.why.splitlines())
        message = f"{error.what}: {why}".removesuffix(": ")
        fix = error.fix or rules()["tasks-unreadable"].fix
        yield Finding(path, line, 1, "tasks-unreadable", level, message, fix)


def _same_names(folders: Iterable[str], policy: Policy) -> Iterator[Finding]:
    for folder, other in collisions(folders):
        message = f"on some systems this is the same folder as {other}"
        where = Skill(folder, Path(folder).name, ())
        yield from findings(iter([Hit("name-collision", "SKILL.md", 1, 1, message)]), where, policy)


def _sorted(found: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(found, key=lambda finding: (finding.path, finding.line, finding.column, finding.rule)))


def _replace(path: Path, data: bytes) -> None:
    """Write a file whole or not at all, with the mode it had."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".skillgit-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        shutil.copymode(path, name)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def counts(report: Report) -> Mapping[str, int]:
    """How many findings there are of each level."""
    return {level: sum(f.level == level for f in report.findings) for level in ("error", "warning", "advice")}
