"""What a commit message may say, and what a commit that claims to be learned may change. Pure."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from skillgit.errors import SkillError
from skillgit.skills.secrets import find_secrets

KEYS = tuple(f"Skillgit-{name}" for name in ("Run", "Step", "Epoch", "Gate", "Optimizer", "Target", "Evidence"))
LEARNED = ("Skillgit-Run", "Skillgit-Evidence")
"""Trailers that say a commit was learned and not written by a person."""

SUBJECT = 72

_SCISSORS = re.compile(r"^\S+ -{24} >8 -{24}$")
_OURS = re.compile(r"skillgit-[a-z-]*(?=:)", re.IGNORECASE)
_PREFIX = "skillgit-"
_NUMBERS = ("Skillgit-Step", "Skillgit-Epoch")

Trailer = tuple[str, str]


def subject(skill: str, phrase: str) -> str:
    """`skill(<name>): <phrase>` in at most 72 characters."""
    text = f"skill({skill}): {phrase}"
    return text if len(text) <= SUBJECT else f"{text[: SUBJECT - 1].rstrip()}…"


@dataclass(frozen=True)
class Problem:
    """One finding; `error` stops the commit. `line` is of the message file, 0 when it is about no line of it."""

    level: Literal["error", "warning"]
    message: str
    fix: str = ""
    line: int = 0


@dataclass(frozen=True)
class Message:
    """The lines of a message that git will keep, each with its number in the file."""

    lines: tuple[tuple[int, str], ...]

    @classmethod
    def read(cls, raw: str, *, comment: str = "", scissors: bool = False) -> Message:
        """Read a message file.

        Args:
            comment: what starts a comment line; empty when git keeps such lines.
            scissors: git cuts at the scissors line.
        """
        lines = raw.replace("\r\n", "\n").split("\n")
        if scissors:
            lines = lines[: next((n for n, line in enumerate(lines) if _SCISSORS.match(line)), None)]
        kept = enumerate(lines, 1)
        return cls(tuple((n, line) for n, line in kept if not comment or not line.startswith(comment)))

    @property
    def text(self) -> str:
        """The kept lines as one text."""
        return "".join(f"{line}\n" for _, line in self.lines)

    @property
    def claims(self) -> bool:
        """True when a line looks like a trailer of ours, wherever it stands."""
        return any(_OURS.match(line) for _, line in self.lines)


def needs_git(raw: str) -> bool:
    """True for the few messages whose judgement depends on how git cleans them up, and on what they come with."""
    return Message.read(raw).claims or bool(find_secrets(raw))


def check_message(message: Message, trailers: Sequence[Trailer] = ()) -> list[Problem]:
    """Everything wrong with the words of a message.

    Args:
        trailers: key and value of what git takes for trailers of it.
    """
    return [*_secrets(message), *_subject(message), *_trailers(message, trailers)]


def is_learned(trailers: Iterable[Trailer]) -> bool:
    """True when the trailers say that a run or a night wrote the commit."""
    names = {key.lower() for key, _ in trailers}
    return any(key.lower() in names for key in LEARNED)


def _secrets(message: Message) -> Iterator[Problem]:
    text = message.text
    for hit in find_secrets(text):
        line = message.lines[text.count("\n", 0, hit.start)][0]
        what = f"the message holds a secret ({hit.name})"
        yield Problem("error", what, "take it out; it would stay in history", line)


def _subject(message: Message) -> Iterator[Problem]:
    number, subject = next(((n, line.strip()) for n, line in message.lines if line.strip()), (0, ""))
    if subject.startswith("skill(") and len(subject) > SUBJECT:
        yield Problem("warning", f"the subject has {len(subject)} characters", f"use at most {SUBJECT}", number)


def _trailers(message: Message, trailers: Sequence[Trailer]) -> Iterator[Problem]:
    ours = [(key, value.strip()) for key, value in trailers if key.lower().startswith(_PREFIX)]
    known = {key.lower(): key for key in KEYS}
    for key, value in dict.fromkeys(ours):
        name = known.get(key.lower(), "")
        if not name:
            yield Problem("error", f"unknown trailer {key}", _nearest(key))
        elif not value:
            yield Problem("error", f"trailer {name} has no value", "give it one, or leave it out")
        elif name in _NUMBERS and not value.isdecimal():
            yield Problem("error", f"trailer {name} must be a whole number", f"it says {value[:40]!r}")
    # Squashed commits bring a set of trailers each: what is left of them is for the person who squashes to say.
    counts = Counter(key.lower() for key, _ in ours)
    if repeated := [known[low] for low, count in counts.items() if count > 1 and low in known]:
        what = f"given more than once: {', '.join(repeated)}"
        yield Problem("warning", what, "keep the set that the commit is about; of squashed steps mostly the last")
    yield from _misplaced(message, ours)


def _misplaced(message: Message, ours: Sequence[Trailer]) -> Iterator[Problem]:
    """Lines that look like our trailers and are none to git; one finding for all of them."""
    found = [(number, line) for number, line in message.lines if _OURS.match(line) and not _is_one_of(line, ours)]
    if found:
        names = ", ".join(dict.fromkeys(line.partition(":")[0] for _, line in found))
        fix = "put into the last paragraph, with other trailers only, what is to count"
        yield Problem("warning", f"not in the last paragraph, so git does not read it: {names}", fix, found[0][0])


def _is_one_of(line: str, trailers: Sequence[Trailer]) -> bool:
    key, _, value = line.partition(":")
    # Of a folded value, the line holds the beginning.
    return any(key.lower() == name.lower() and whole.startswith(value.strip()) for name, whole in trailers)


def _nearest(key: str) -> str:
    """What to do about an unknown trailer; the prefix that all share makes none more alike."""
    names = {known.lower().removeprefix(_PREFIX): known for known in KEYS}
    near = difflib.get_close_matches(key.lower().removeprefix(_PREFIX), names, 1, 0.6)
    return f"did you mean {names[near[0]]}?" if near else f"leave it out; known are {', '.join(KEYS)}"


@dataclass(frozen=True)
class Staged:
    """One file as a commit changes it.

    Attributes:
        path: from the repository's top.
        skill: folder of the skill that it belongs to, or the file itself when it is in none.
        mode: new file mode; all zeros when the file goes.
        before, after: its bytes; `None` where there is none.
    """

    path: str
    skill: str
    mode: str
    before: bytes | None = None
    after: bytes | None = None


def check_changes(changes: Sequence[Staged]) -> list[Problem]:
    """What a learned commit changes and may not: it is held to documents of one skill, without their names."""
    wrong = [f"a learned commit may not change {change.path}: {why}" for change in changes if (why := _why(change))]
    skills = sorted({change.skill for change in changes if not _why(change)})
    if len(skills) > 1:
        wrong.append(f"a learned commit changes one skill, not {len(skills)}: {', '.join(skills)}")
    fix = "unstage it (git restore --staged FILE), or take the Skillgit trailers out: then it is a person's commit"
    return [Problem("error", message, fix) for message in wrong]


def _why(change: Staged) -> str:
    """Why a learned commit may not make a change; empty when it may."""
    inner = PurePosixPath(change.path).relative_to(change.skill).parts if change.skill != change.path else ()
    if inner[:1] and inner[0].lower() == "scripts":
        return "scripts are protected"
    if not change.path.lower().endswith(".md"):
        return "it is no document of a skill"
    main = not inner or (len(inner) == 1 and inner[0].lower() == "skill.md")
    if not change.mode.strip("0"):
        return "the skill would be gone" if main else ""
    if change.mode not in ("100644", "100755"):
        return "it would be no plain file"
    if main and change.before is not None and _name(change.before) != _name(change.after or b""):
        return "its frontmatter name is protected"
    return ""


def _name(data: bytes) -> object:
    """The frontmatter's name, or the whole block where it cannot be read."""
    # Markdown and YAML take longer to import than all the rest of a commit-msg hook, and few commits get here.
    from skillgit.skills.document import Document

    try:
        document = Document.parse(data)
    except SkillError:
        return data
    try:
        return document.frontmatter.get("name")
    except SkillError:
        return document.head
