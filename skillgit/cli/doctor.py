"""`skillgit doctor`."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

import click

from skillgit.cli.app import App, json_option, load, pass_app, print_json
from skillgit.cli.cells import plain
from skillgit.errors import CheckFailedError, SkillgitError
from skillgit.git.health import Check

if TYPE_CHECKING:
    from skillgit.git.repository import Repository
    from skillgit.models.readiness.control import Control

_GIT = (2, 34)


@click.command(short_help="Check the set-up.")
@click.option("--models", is_flag=True, help="Also ask each role's model two tiny questions, which may cost a little.")
@json_option
@pass_app
def doctor(app: App, models: bool, as_json: bool) -> None:
    """Check git, the repository in every worktree, records, the configuration, models, tasks, and what sleep needs.

    Changes nothing, and asks no model without --models. Exits 1 on a failure; what only matters to some users is
    marked with a dash.
    """
    checks = list(_checks(app))
    asked = _asked(app) if models else []
    checks += [check for found in asked for check in _shown(found)]
    if as_json:
        more = {"models": [asdict(found) for found in asked]} if models else {}
        print_json({"checks": [asdict(check) for check in checks], **more})
    else:
        marks = {True: "[green]ok[/]  ", False: "[red]FAIL[/]", None: "[dim]–[/]   "}
        for check in checks:
            app.console().print(f"{marks[check.ok]} {plain(f'{check.name:14} {check.detail}')}")
            if check.fix and check.ok is not True:
                app.console().print(f"     next: {plain(check.fix)}")
    failed = [check.name for check in checks if check.ok is False]
    if failed:
        raise CheckFailedError(f"{len(failed)} of {len(checks)} checks failed: {', '.join(failed)}")


def _checks(app: App) -> Iterator[Check]:
    yield _tried("git", lambda: _git_version(app))
    try:
        repo = app.repo()
    except SkillgitError as error:
        yield Check("repository", False, error.what, error.fix)
        return
    where = "bare repository" if repo.top is None else "working tree"
    head = repo.head()
    at = f"HEAD {head[:12]}" if head else "no commit yet"
    yield Check("repository", True, f"{repo.top or repo.common_dir} ({where}, {at})")
    yield from _git_checks(repo)
    yield _tried("identity", lambda: repo.identity().rsplit(" ", 2)[0])
    yield _tried("signing", lambda: _signing(repo))
    yield _tried("configuration", lambda: _configuration(app, repo))
    yield _local()
    yield from _tasks(app, repo)
    yield from _each("sleep", partial(_sleep, app, repo))


def _tried(name: str, action: Callable[[], str]) -> Check:
    try:
        return Check(name, True, action())
    except SkillgitError as error:
        return Check(name, False, f"{error.what}{f' ({error.why})' if error.why else ''}", error.fix)


def _git_version(app: App) -> str:
    from skillgit.errors import GitError
    from skillgit.git.runner import Runner

    text = Runner(app.folder).text("version").split()[2]
    version = tuple(int(part) for part in text.split(".")[:2])
    if version < _GIT:
        raise GitError(f"git {text} is too old", fix=f"install git {_GIT[0]}.{_GIT[1]} or newer")
    return f"{text} at {shutil.which('git')}"


def _git_checks(repo: Repository) -> Iterator[Check]:
    from skillgit.git import health

    yield from health.settings(repo)
    yield health.attributes(repo)
    yield from _each("hooks", partial(health.worktrees, repo))
    yield _records(repo)
    yield _journals(repo)
    yield from _each("sync", partial(health.evidence, repo))


def _sleep(app: App, repo: Repository) -> Iterator[Check]:
    from skillgit.report.sleep import health

    try:
        config = load(app, repo.root)
    except SkillgitError:
        return  # the check of the configuration has told
    yield from health.checks(repo, config)


def _each(name: str, checks: Callable[[], Iterator[Check]]) -> Iterator[Check]:
    """Checks that may not get to their end."""
    try:
        yield from checks()
    except SkillgitError as error:
        yield Check(name, False, error.what, error.fix)


def _records(repo: Repository) -> Check:
    from skillgit.git.health import measured
    from skillgit.train.noterepair import repair_notes

    kinds = Counter(finding.kind for finding in repair_notes(repo, dry_run=True) if finding.kind != "journal")
    found = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    detail = f"{measured(repo)} skill objects have records{f'; to look at: {found}' if found else ''}"
    return Check("records", not kinds or None, detail, "skillgit notes repair --dry-run")


def _journals(repo: Repository) -> Check:
    from skillgit.report.history import trained_skills
    from skillgit.train.journal import RUNS, read_states

    found = {skill: read_states(repo, skill) for skill in trained_skills(repo)}
    bad = [f"{RUNS}/{skill}/{run}" for skill, journals in found.items() for run in journals.unreadable]
    count = sum(len(journals.states) for journals in found.values())
    if bad:
        return Check("journals", False, f"cannot be read: {', '.join(bad)}", f"git log --stat {bad[0]}")
    return Check("journals", True, f"{count} runs can be read")


def _signing(repo: Repository) -> str:
    from skillgit.git import signing

    signing.check(repo)
    return "commits are signed" if signing.wanted(repo) else "commits are not signed"


def _configuration(app: App, repo: Repository) -> str:
    from skillgit.models.base import ROLES
    from skillgit.models.roles import role_spec

    config = load(app, repo.root)
    specs = [role_spec(config, role, os.environ, repo.root) for role in ROLES]
    return ", ".join(f"{spec.role} {spec.backend}/{spec.model}" for spec in specs)


def _asked(app: App) -> list[Control]:
    """What each role's model answers: at most two calls for each."""
    import dataclasses

    from skillgit.cli.models import place
    from skillgit.evals.setup import make_model
    from skillgit.models.base import ROLES
    from skillgit.models.readiness.backends import readiness
    from skillgit.models.readiness.control import control

    try:
        here, repo = place(app), app.repo()
    except SkillgitError:
        return []  # the checks before have told
    # A try that fails is what is to be seen, so it is not repeated.
    config = dataclasses.replace(here.config, model=dataclasses.replace(here.config.model, retries=0))
    found = []
    for role in ROLES:
        ready = readiness(here, here.uses(role), role)
        found.append(control(role, ready, partial(make_model, repo, config, role, os.environ)))
    return found


def _shown(found: Control) -> Iterator[Check]:
    """What a role's control showed, as checks."""
    name = f"{found.role} model"
    if not found.calls or not found.ok:
        yield Check(name, found.ok, f"{found.backend}: {found.said}", found.fix)
    else:
        where = f" at {found.address}" if found.address else ""
        yield Check(name, True, f"{found.backend}/{found.model}{where} answered in {found.latency:.1f} s; {found.used}")
    if found.schema is not None:
        detail = "JSON follows a schema" if found.schema else f"no JSON that follows a schema: {found.schema_said}"
        fix = "the optimizer's replies are JSON: use a model that can" if found.role == "optimizer" else ""
        yield Check(f"{found.role} JSON", found.schema or None, detail, fix)
    for need in (need for need in found.program if need.ok is not False):
        yield Check(f"{found.role} {need.name}", need.ok, need.detail, need.fix)


def _local() -> Check:
    from importlib.util import find_spec

    found = find_spec("xllamacpp") is not None
    detail = "embedded models can run" if found else "embedded models are not installed"
    return Check("local models", found or None, detail, "pip install 'skillgit[local]'")


def _tasks(app: App, repo: Repository) -> Iterator[Check]:
    from skillgit.evals.setup import load_tasks
    from skillgit.git.skillstore import find

    def counts(name: str) -> str:
        place = find(repo, name)
        _, splits = load_tasks(repo, load(app, repo.root), place)
        return f"{len(splits.train)} train, {len(splits.val)} val, {len(splits.test)} test"

    for folder in sorted((repo.root / "evals").glob("*")):
        if folder.is_dir():
            yield _tried(f"tasks {folder.name}", partial(counts, folder.name))
