"""`skillgit init`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skillgit.cli.app import App, json_option, pass_app, print_json

if TYPE_CHECKING:
    from skillgit.git.repository import Repository

_CONFIG = """\
# skillgit's settings for this repository. Every key: skillgit train SKILL --dry-run -v
model:
  backend: openai_compatible   # or: local
  # base_url: http://127.0.0.1:8080/v1
  # api_key_env: MY_API_KEY     # keys come from the environment only
  target: ""                    # the model that does the tasks
  optimizer: ""                 # the model that proposes edits
"""


@click.command(short_help="Set up a repository.")
@click.option("--dry-run", is_flag=True, help="Show what would be set.")
@json_option
@pass_app
def init(app: App, dry_run: bool, as_json: bool) -> None:
    """Set up this repository for skills. Safe to repeat; each thing set is reported.

    Sets how git shows, keeps and merges skillgit's notes, and that git merges skills rule by rule. Adds lines to
    .gitattributes, so that this holds for skills and they have the same bytes everywhere, and writes a skillgit.yaml to
    fill in. Commits nothing.
    """
    from skillgit.git import install

    repo = app.repo()
    done: list[dict[str, Any]] = []
    for setting in install.SETTINGS:
        was = install.is_set(repo, setting)
        if not was and not dry_run:
            install.apply(repo, setting)
        done.append({"what": setting.shown, "why": setting.why, "changed": not was})
    if repo.top:
        done += _files(repo, repo.top, dry_run=dry_run)
    if as_json:
        print_json({"dry_run": dry_run, "items": done})
        return
    verb = "would set" if dry_run else "set"
    for item in done:
        app.say(f"{verb if item['changed'] else 'kept':10} {item['what']}  ({item['why']})")
    app.say("next       skillgit doctor, then: skillgit new SKILL")


def _files(repo: Repository, top: Path, *, dry_run: bool) -> Iterator[dict[str, Any]]:
    """The files of a working tree that are to be committed."""
    from skillgit.git import install

    lines = install.missing_attributes(repo)
    if lines and not dry_run:
        install.add_attributes(repo, lines)
    yield {
        "what": ".gitattributes",
        "why": "skills have the same bytes everywhere and merge by rule",
        "changed": bool(lines),
    }
    config = top / "skillgit.yaml"
    fresh = not config.exists()
    if fresh and not dry_run:
        config.write_text(_CONFIG, encoding="utf-8", newline="\n")
    yield {"what": "skillgit.yaml", "why": "the default configuration", "changed": fresh}
