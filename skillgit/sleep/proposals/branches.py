"""Branches under sleep/, here and on remotes as they were last fetched."""

from __future__ import annotations

import re
from dataclasses import dataclass

from skillgit.git.repository import Repository
from skillgit.sleep.proposals.names import BRANCHES, is_skill

_REF = re.compile(rf"refs/(?:heads|remotes/(?P<remote>[^/]+))/{BRANCHES}/(?P<skill>[^/]+)/(?P<night>[^/]+)")


@dataclass(frozen=True)
class Branch:
    """A branch of a proposal.

    Attributes:
        name: as git takes it: `sleep/SKILL/NIGHT`, or `REMOTE/sleep/SKILL/NIGHT`.
        remote: name of the remote that it is known from; blank for one of this repository.
    """

    skill: str
    night: str
    name: str
    tip: str
    remote: str = ""


def find_branches(repo: Repository, skill: str = "") -> dict[tuple[str, str], Branch]:
    """Skill and night to branch; one of this repository comes before one of a remote."""
    refs = repo.refs(f"refs/heads/{BRANCHES}/*/*", f"refs/remotes/*/{BRANCHES}/*/*")
    found: dict[tuple[str, str], Branch] = {}
    for ref in sorted(refs, key=lambda ref: not ref.startswith("refs/heads/")):
        match = _REF.fullmatch(ref)
        if match and is_skill(match["skill"]) and skill in ("", match["skill"]):
            name = ref.split("/", 2)[2]
            one = Branch(match["skill"], match["night"], name, refs[ref], match["remote"] or "")
            found.setdefault((one.skill, one.night), one)
    return found
