"""Rule checks: nine operators on the text of a response. Hard is 1 when all pass; soft is the fraction that pass.

The operators mean what they mean in SkillOpt-Sleep, except that an empty set, an unknown operator or an unusable
argument is refused when the task is loaded.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from skillgit.tasks.base import Score, Task
from skillgit.tasks.judge import Judge, Setting, failed, no_answers, passed
from skillgit.tasks.patterns import found, pattern_problem
from skillgit.tasks.problems import suggest

_HEADING = re.compile(r" {0,3}#{1,6}[ \t](.*)")
_LOOSE_HEADING = re.compile(r"[ \t]{0,3}#{1,6}(.*)")
_REFUSALS = (
    "cannot complete",
    "i cannot",
    "i can't",
    "i'm unable",
    "i am unable",
    "unable to complete",
    "sorry, i can't",
    "sorry, i cannot",
    "no can do",
)
_REFUSAL_LENGTH = 600
"""A response of at least this many characters is taken for an attempt, whatever its first words."""


def _section_present(response: str, name: str) -> bool:
    return any(_titles(line.casefold(), name.strip().casefold()) for line in response.splitlines())


def _titles(line: str, name: str) -> bool:
    """Whether a line is a heading that ends with the name, a bold line with it, or starts with `name:`."""
    heading = _LOOSE_HEADING.match(line)
    if heading and heading[1].rstrip().endswith(name):
        return True
    bare = line.strip()
    bold = bare.removesuffix(":").rstrip()
    if len(bold) > 4 and bold.startswith("**") and bold.endswith("**") and name in bold[2:-2]:
        return True
    return bare.startswith(name) and bare[len(name) :].lstrip().startswith(":")


def _section_contains(response: str, name: str) -> bool:
    headings = (_HEADING.match(line) for line in response.splitlines())
    return any(name.casefold() in heading[1].casefold() for heading in headings if heading)


def _no_refusal(response: str, _: None) -> bool:
    bare = response.strip()
    start = bare.lstrip("#*_>-`~ \t\n").casefold().replace("’", "'")
    return bool(bare) and not (len(bare) < _REFUSAL_LENGTH and start.startswith(_REFUSALS))


def _tool_called(response: str, name: str) -> bool:
    return re.search(rf"TOOL_CALL:\s*{re.escape(name)}(?![\w-])", response, re.IGNORECASE) is not None


def _contains(response: str, text: str) -> bool:
    return text.casefold() in response.casefold()


def _text(arg: Any) -> str:
    return "" if isinstance(arg, str) and arg.strip() else "must be text"


def _length(arg: Any) -> str:
    whole = isinstance(arg, int) and not isinstance(arg, bool) and arg >= 1
    return "" if whole else "must be a whole number of at least 1"


def _nothing(arg: Any) -> str:
    return "" if arg is None else "must be absent"


@dataclass(frozen=True)
class Operator:
    """One kind of check. `problem` says what its argument must be, or gives an empty string."""

    passes: Callable[[str, Any], bool]
    problem: Callable[[Any], str]


OPERATORS: dict[str, Operator] = {
    "section_present": Operator(_section_present, _text),
    "section_contains": Operator(_section_contains, _text),
    "max_chars": Operator(lambda response, most: len(response) <= most, _length),
    "min_chars": Operator(lambda response, least: len(response) >= least, _length),
    "contains": Operator(_contains, _text),
    "not_contains": Operator(lambda response, text: not _contains(response, text), _text),
    "no_refusal": Operator(_no_refusal, _nothing),
    "regex": Operator(lambda response, pattern: found(pattern, response), pattern_problem),
    "tool_called": Operator(_tool_called, _text),
}


def checks_problem(checks: Any) -> str:
    """What is wrong with a set of checks, or an empty string."""
    if not isinstance(checks, list) or not checks:
        return 'must be a list with at least one {"op": …, "arg": …}'
    texts = ((i, _check_problem(check)) for i, check in enumerate(checks, 1))
    return "; ".join(f"check {i}: {text}" for i, text in texts if text)


def _check_problem(check: Any) -> str:
    if not isinstance(check, Mapping) or not isinstance(check.get("op"), str):
        return 'must be an object with "op"'
    extra = sorted(set(check) - {"op", "arg"})
    if extra:
        return f'unknown field "{extra[0]}"{suggest(extra[0], ("op", "arg"))}'
    operator = OPERATORS.get(check["op"])
    if operator is None:
        return f'unknown operator "{check["op"]}"{suggest(check["op"], OPERATORS)}'
    text = operator.problem(check.get("arg"))
    return text and f"{check['op']}: arg {text}"


def _score(task: Task, response: str) -> Score:
    checks = task.judge["checks"]
    missed = [c["op"] for c in checks if not OPERATORS[c["op"]].passes(response, c.get("arg"))]
    if not missed:
        return passed("")
    # Only operator names: analysts read this line, and an argument would tell them the test.
    names = ", ".join(op if n == 1 else f"{op} ×{n}" for op, n in Counter(missed).items())
    reason = f"checks: {len(missed)} of {len(checks)} checks failed ({names})"
    return failed("", reason, soft=1 - len(missed) / len(checks))


CHECKS = Judge(1, _score, {"checks": Setting(None, checks_problem)}, no_answers)
