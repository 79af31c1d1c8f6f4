"""Flipping any key of the `sleep` section changes something that a harvest, a night or the watcher does."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from skillgit.config.load import load_config
from skillgit.config.schema import Config
from skillgit.models.base import Request
from skillgit.sleep.harvest.collect import harvest
from skillgit.sleep.mine.mine import mine
from skillgit.sleep.sources.registry import sources
from skillgit.sleep.watch.due import at_the_hour, due
from skillgit.sleep.watch.state import State
from skillgit.sleep.watch.watcher import Pace, Watcher, Work
from tests.config.test_schema import KEYS
from tests.conftest import SKILL, git
from tests.sleep.night.lab import NightLab, mined, proposing, words
from tests.sleep.stores import claude, codex, copilot, copilot_cli, cursor, devin, neutral, opencode, pi

Settings = tuple[str, ...]
Observe = Callable[[NightLab, Settings], Any]

WRITERS = {
    "claude_home": claude,
    "codex_home": codex,
    "cursor_home": cursor,
    "pi_home": pi,
    "vscode_workspace_storage": copilot,
    "neutral_sessions": neutral,
    "devin_transcripts": devin,
}
DATABASES = {"opencode_db": (opencode, "opencode.db"), "copilot_cli_session_store": (copilot_cli, "session-store.db")}
TURNS = (
    ("Say the price of the red lamp, mail anna@example.org, see /home/anna/notes.", "4 dollars"),
    ("No, write $4 and nothing else.", "$4"),
    ("Perfect, thanks!", "Good."),
)
OTHER = (("What does the blue rug in the hall cost?", "7 dollars"), ("schnafte", "Good."))
RULE = "- Answer in capital letters."


# --- what can be observed; each takes a repository and settings, and gives something to compare


def stores(lab: NightLab) -> Path:
    """One session of every agent, younger and older ones of Claude Code, and one of another project."""
    folder, here, now = lab.folder.parent / "stores", str(lab.folder), time.time()
    if not folder.exists():
        for key, writer in WRITERS.items():
            writer.write_session(folder / key, f"s-{key}", TURNS, cwd=here, at=now - 7200)
        for key, (writer, _) in DATABASES.items():
            (folder / key).mkdir(parents=True)
            writer.write_session(folder / key, f"s-{key}", TURNS, cwd=here, at=now - 7200)
        home = folder / "claude_home"
        claude.write_session(home, "second", OTHER, cwd=here, at=now - 3600)
        claude.write_session(home, "days-ago", OTHER, cwd=here, at=now - 50 * 3600)
        old = claude.write_session(home, "weeks-ago", OTHER, cwd=here, at=now - 500 * 3600)
        claude.write_session(home, "elsewhere", OTHER, cwd="/home/anna/other", at=now - 3600)
        _date(old, now - 500 * 3600)
    return folder


def _date(file: Path, at: float) -> None:
    import os

    os.utime(file, (at, at))


def _config(lab: NightLab, settings: Settings) -> Config:
    folder = str(stores(lab))
    return load_config(lab.folder, "", [setting.replace("STORES", folder) for setting in settings])


def kept(lab: NightLab, settings: Settings) -> Any:
    """What a harvest keeps."""
    found = harvest(
        lab.repo, _config(lab, settings), lab.events.append, path=lab.folder.parent / f"{time.time_ns()}.db"
    )
    return sorted((one.source, one.project, [turn.text for turn in one.turns]) for one in found.sessions)


def asked(lab: NightLab, settings: Settings) -> Any:
    """The tasks that are mined."""
    config = _config(lab, settings)
    found = harvest(lab.repo, config, lab.events.append, path=lab.folder.parent / f"{time.time_ns()}.db")
    return [(one.task.input, one.split, one.outcome) for one in mine(found.sessions, config.sleep).tasks]


def splits(lab: NightLab, settings: Settings) -> Any:
    """How many tasks are in each split, of sixty."""
    from skillgit.sleep.base import Session, Turn

    roles = ("user", "assistant", "user")
    texts = [(f"What does thing {chr(97 + n % 26)}{n} of room {n * 7} cost?", f"${n}", "Perfect!") for n in range(60)]
    talks = [
        Session("claude", f"s{n}", "/p", tuple(Turn(r, t) for r, t in zip(roles, row, strict=True)))  # type: ignore[arg-type]
        for n, row in enumerate(texts)
    ]
    tasks = mine(talks, load_config(lab.folder, "", list(settings)).sleep).tasks
    return [sum(one.split == split for one in tasks) for split in ("train", "val", "test")]


def night(lab: NightLab, settings: Settings) -> Any:
    """What a night asks, proposes and writes."""
    tasks = [
        mined(f"t{n}", f"Say word{n}.", f"WORD{n}", "val" if n < 4 else "train", said=("In capitals!",), skill=skill)
        for skill in ("", "greeter")
        for n in (range(8) if not skill else range(10, 18))
    ]

    def target(request: Request) -> str:
        word = f"word{request.messages[-1].content.partition('word')[2].rstrip('.')}"
        # One val task gets worse by the rule.
        if word == "word0":
            return "WORD0" if RULE not in words(request) else "oops"
        return word.upper() if RULE in words(request) else word

    def optimizer(request: Request) -> Any:
        if "requests" in (request.schema or {}).get("properties", {}):
            return {"requests": [f"Please say {words(request).partition('Say ')[2].partition('.')[0]}!"]}
        return proposing("- Be brief.", RULE)

    records = lab.run(tasks, target, optimizer, *settings)
    told = [
        (one.skill, one.path, one.verdict, [(lesson.rule, lesson.verdict) for lesson in one.lessons]) for one in records
    ]
    seen = sorted({words(request) for request in lab.asked})
    names = git(lab.folder, "for-each-ref", "--format=%(refname)")
    trees = [git(lab.folder, "ls-tree", "-r", "--name-only", name) for name in names.splitlines()]
    return told, len(lab.asked), seen, names, trees, lab.text("main", "skills/greeter/SKILL.md")


def recalled(lab: NightLab, settings: Settings) -> Any:
    """What a night over sessions asks, when there are more tasks than it takes."""
    stores(lab)
    home = lab.folder.parent / "many"
    things = ("coat by the door", "red lamp", "oak table upstairs", "garden chair", "blue rug of Anna", "silver clock")
    for number, thing in enumerate(things):
        turns = (
            (f"What does the {thing} cost?", "4 dollars"),
            (f"No, write ${number}.", f"${number}"),
            ("Perfect!", "Good."),
        )
        claude.write_session(home, f"lamp-{number}", turns, cwd=str(lab.folder), at=time.time() - 3600 * number)
    around = ("sleep.source=claude", f"sleep.claude_home={home}", "sleep.max_tasks=3")
    lab.run(None, lambda request: "no", lambda request: proposing(), *around, *settings)
    return sorted({request.messages[-1].content for request in lab.asked if not request.schema})


def mining(lab: NightLab, settings: Settings) -> Any:
    """How many calls mining makes."""
    home = lab.folder.parent / "one"
    claude.write_session(home, "one", (("Please explain the plan of the house.", "Long."),), cwd=str(lab.folder))
    around = ("sleep.source=claude", f"sleep.claude_home={home}", "sleep.miner=auto")
    lab.run(None, lambda request: "no", lambda request: {"tasks": [], "edits": []}, *around, *settings)
    return len(lab.asked)


def times(lab: NightLab, settings: Settings) -> Any:
    """When the watcher runs a night."""
    sleep = load_config(lab.folder, "", list(settings)).sleep
    states = State(day="2026-01-01")
    hours = [at_the_hour(states, sleep, datetime(2026, 1, 2, hour)) for hour in range(24)]
    return hours, [due(states, sleep, datetime(2026, 1, 1, 12), waiting, "config") for waiting in range(8)]


def watching(lab: NightLab, settings: Settings) -> Any:
    """How the watcher looks at the stores."""
    around = ("sleep.source=claude", "sleep.claude_home=STORES/claude_home", *settings)
    work = Work(lambda: _config(lab, around), lambda config: 0, lambda: None)  # type: ignore[arg-type, return-value]
    watcher = Watcher(lab.repo, work, lab.events.append, Pace())
    followed: list[Path] = []

    class Notices:
        refused: dict[Path, str] = {}  # noqa: RUF012

        def follow(self, folders: list[Path]) -> None:
            followed.extend(folders)

    watcher._follow(Notices())  # type: ignore[arg-type]
    return watcher._settled.quiet, sorted(map(str, followed))


def unread(lab: NightLab, settings: Settings) -> Any:
    """The sources that are there."""
    return [(one.name, [str(root) for root in one.roots()]) for one in sources(_config(lab, settings).sleep)]


CLAUDE = ("sleep.source=claude", "sleep.claude_home=STORES/claude_home")
BOTH = ("sleep.claude_home=STORES/claude_home", "sleep.codex_home=STORES/codex_home")
TABLE: dict[str, tuple[str, Observe, Settings]] = {
    "source": ("codex", kept, BOTH),
    "scope": ("all", kept, CLAUDE),
    **{key: (f"STORES/{key}", unread, ()) for key in WRITERS},
    **{key: (f"STORES/{key}/{name}", unread, ()) for key, (_, name) in DATABASES.items()},
    "lookback_hours": ("0", kept, CLAUDE),
    "keep_days": ("1", kept, CLAUDE),
    "max_sessions": ("1", kept, CLAUDE),
    "exclude": ("blue rug", kept, CLAUDE),
    "redact_email": ("true", kept, CLAUDE),
    "redact_home": ("true", kept, (*CLAUDE, "sleep.scope=all")),
    "negative": ("schnafte", asked, (*CLAUDE, "sleep.positive=schnafte")),
    "positive": ("schnafte", asked, CLAUDE),
    "miner": ("llm", mining, ()),
    "max_tasks": ("1", asked, (*CLAUDE, "sleep.positive=schnafte")),
    "val_fraction": ("0.6", splits, ()),
    "test_fraction": ("0.3", splits, ()),
    "min_val": ("9", night, ()),
    "edit_budget": ("1", night, ()),
    "no_regression": ("false", night, ()),
    "rollouts": ("2", night, ()),
    "dream_factor": ("1", night, ()),
    "recall": ("2", recalled, ()),
    "preferences": ("be kind", night, ()),
    "skills": ("greeter", night, ()),
    "learned_skill": ("house", night, ()),
    "memory": ("CLAUDE.md", night, ()),
    "commit_tasks": ("true", night, ()),
    "auto_adopt": ("lessons", night, ("sleep.no_regression=false",)),
    "hour": ("7", times, ()),
    "min_sessions": ("2", times, ()),
    "quiet_minutes": ("3", watching, ()),
    "polling": ("true", watching, ()),
}


def test_every_key_of_the_section_is_in_the_table() -> None:
    assert {f"sleep.{key}" for key in TABLE} == {key for key in KEYS if key.startswith("sleep.")}


def _lab(folder: Path) -> NightLab:
    lab = NightLab.at(folder / "repo", {"skills/greeter/SKILL.md": SKILL})
    git(lab.folder, "branch", "lessons")
    return lab


@pytest.mark.parametrize("key", list(TABLE))
def test_flipping_a_key_changes_what_is_observed(key: str, tmp_path: Path) -> None:
    value, observe, around = TABLE[key]
    # The same folder for both, since its name is part of what is seen.
    (tmp_path / "lab").mkdir()
    before = observe(_lab(tmp_path / "lab"), around)
    (tmp_path / "lab").rename(tmp_path / "first")
    (tmp_path / "lab").mkdir()
    assert observe(_lab(tmp_path / "lab"), (*around, f"sleep.{key}={value}")) != before
