"""The `sleep` section of the configuration: which sessions are read, and what a night makes of them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sleep:
    """`sleep`: lessons from coding-agent sessions. Models, limits and the gate's metric are those of their sections.

    Attributes:
        source: agents whose sessions are read, separated by commas; `auto` takes every store that is there.
        scope: whose sessions: `repository` for those of this repository's worktrees, `all`, or folders separated by
            commas.
        claude_home, codex_home, cursor_home, pi_home: where these agents keep their files; blank is their default.
            `codex_home` may be a list separated by commas.
        opencode_db, copilot_cli_session_store: these agents' databases.
        vscode_workspace_storage: VS Code's folder of workspaces.
        devin_transcripts: folder of Devin's transcripts.
        neutral_sessions: folder of sessions in the neutral format, for any other agent.
        lookback_hours: how old a session may be when it is first read; 0 is no limit.
        keep_days: how long a session's redacted digest is kept.
        max_sessions: newest sessions that one night mines; 0 is no limit.
        exclude: phrases; a session whose first prompt holds one is left out.
        negative, positive: further phrases by which a person says that an answer was wrong, or right.
        redact_email, redact_home: also hide e-mail addresses, and home folders in paths.
        miner: `heuristic`, `llm`, or `auto`: the optimizer where it is a real model.
        max_tasks: most tasks of one night, those asked most often first.
        val_fraction, test_fraction: shares (0 to 1) of the tasks that the gate measures on, and only a report sees.
        min_val: fewer val tasks than this verify nothing.
        edit_budget: most lessons that one night tries per document.
        no_regression: reject a lesson that makes any val task worse.
        rollouts: answers per train task; with several, what told good answers from bad ones is shown.
        dream_factor: reworded copies of each train task.
        recall: earlier similar tasks of the same project that are added to the train tasks.
        preferences: what lessons should respect, in your words.
        skills: the only skills that lessons are proposed for, separated by commas; empty takes all.
        learned_skill: the skill for tasks in which no skill was in play; blank leaves them out.
        memory: memory files such as `CLAUDE.md` that lessons are proposed for as well.
        commit_tasks: keep the tasks of a night, which are transcript text, in its record in git.
        auto_adopt: branch onto which verified proposals are merged unasked; blank never does.
        hour: local hour (0 to 23) at which the watcher runs a night; -1 sets none.
        min_sessions: new sessions with which the watcher runs a night at any hour; 0 waits for the hour.
        quiet_minutes: how long nothing may be written to a session before it counts as finished.
        polling: watch by looking again and again, where the system does not tell of changes.
    """

    source: str = "auto"
    scope: str = "repository"
    claude_home: str = ""
    codex_home: str = ""
    cursor_home: str = ""
    pi_home: str = ""
    opencode_db: str = ""
    copilot_cli_session_store: str = ""
    vscode_workspace_storage: str = ""
    devin_transcripts: str = ""
    neutral_sessions: str = ""
    lookback_hours: float = 72.0
    keep_days: int = 180
    max_sessions: int = 0
    exclude: tuple[str, ...] = ()
    negative: tuple[str, ...] = ()
    positive: tuple[str, ...] = ()
    redact_email: bool = False
    redact_home: bool = False
    miner: str = "auto"
    max_tasks: int = 40
    val_fraction: float = 0.34
    test_fraction: float = 0.0
    min_val: int = 3
    edit_budget: int = 4
    no_regression: bool = True
    rollouts: int = 1
    dream_factor: int = 0
    recall: int = 0
    preferences: str = ""
    skills: tuple[str, ...] = ()
    learned_skill: str = "learned"
    memory: tuple[str, ...] = ()
    commit_tasks: bool = False
    auto_adopt: str = ""
    hour: int = 3
    min_sessions: int = 5
    quiet_minutes: float = 10.0
    polling: bool = False
