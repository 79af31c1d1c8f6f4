"""Where coding agents read skills: data, each with the page that says so."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Agent:
    """One agent.

    Attributes:
        name: as given to `--agent`.
        project: its folder of skills, from a repository's top.
        user: its folder of skills, from the home folder.
        source: the page that names both folders.
    """

    name: str
    project: str
    user: str
    source: str


_OPENCODE = "https://opencode.ai/docs/skills"  # it also reads Claude Code's folders and names them
_COPILOT = "https://docs.github.com/en/copilot/concepts/agents/about-agent-skills"

AGENTS = (
    Agent("agents", ".agents/skills", ".agents/skills", "https://agentskills.io/client-implementation"),
    Agent("claude-code", ".claude/skills", ".claude/skills", _OPENCODE),
    Agent("codex", ".agents/skills", ".agents/skills", "https://developers.openai.com/codex/skills"),
    Agent("copilot", ".github/skills", ".copilot/skills", _COPILOT),
    Agent("cursor", ".cursor/skills", ".cursor/skills", "https://cursor.com/docs/context/skills"),
    Agent("gemini", ".gemini/skills", ".gemini/skills", "https://geminicli.com/docs/cli/using-agent-skills"),
    Agent("opencode", ".opencode/skills", ".config/opencode/skills", _OPENCODE),
)
"""By name; `agents` is the folder that many clients share."""
