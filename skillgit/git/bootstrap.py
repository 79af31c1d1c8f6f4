"""A new repository around files that are there."""

from __future__ import annotations

from pathlib import Path

from skillgit.git import install
from skillgit.git.repository import Repository
from skillgit.git.runner import Runner, scrub_environment


def first_commit(folder: Path, message: str) -> Repository:
    """Make `folder` a repository set up for skills, with all its files in one commit on `main`."""
    scrub_environment()
    Runner(folder).run("init", "--quiet", "--initial-branch=main")
    repo = Repository.open(folder)
    for setting in install.SETTINGS:
        install.apply(repo, setting)
    install.add_attributes(repo, install.missing_attributes(repo))
    repo.git.run("add", "--all", "--", ".")
    tree = repo.git.text("write-tree")
    author = f"{repo.identity('AUTHOR').rsplit(' ', 2)[0]}"
    name, mail = author.removesuffix(">").split(" <", 1)
    commit = repo.git.run(
        "-c", f"user.name={name}", "-c", f"user.email={mail}", "commit-tree", tree, data=message.encode()
    )
    repo.git.run("update-ref", "refs/heads/main", commit.decode().strip(), repo.zero)
    return repo
