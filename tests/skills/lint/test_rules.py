"""The rules as data: each is documented, each is reached, and a policy names what it does not know."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import skillgit.skills.lint as package
from skillgit.errors import ConfigError
from skillgit.skills.lint.fixes import FIXABLE
from skillgit.skills.lint.rules import LEVELS, make_policy, nearest, profiles, rules


@pytest.mark.parametrize("rule", rules().values(), ids=lambda rule: rule.id)
def test_every_rule_is_documented(rule: object) -> None:
    fields = vars(rule)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", fields["id"])
    assert fields["level"] in LEVELS
    assert all(fields[name].strip() for name in ("title", "why", "fix", "example"))
    assert fields["example"].count(" -> ") == 1
    assert "\\n" not in fields["example"]
    assert fields["fix"][0].islower()


def test_every_rule_is_used_and_every_used_rule_is_there() -> None:
    folder = Path(str(package.__file__)).parent
    code = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.py"))
    code += (folder.parents[1] / "report/linting.py").read_text(encoding="utf-8")
    assert {name for name in rules() if f'"{name}"' in code} == set(rules())
    named = re.findall(r'(?:page\.hit|Hit|_hit)\((?:page, )?"([a-z0-9-]+)"', code)
    assert set(named) <= set(rules())
    assert set(rules()) >= FIXABLE


def test_every_profile_changes_levels_of_rules_that_are_there() -> None:
    for profile in profiles().values():
        assert profile.title
        assert make_policy(profile.name, {}).profile == profile


@pytest.mark.parametrize(
    ("profile", "levels", "what", "fix"),
    [
        ("specs", {}, "unknown profile 'specs'", "spec"),
        ("spec", {"broken-links": "off"}, "names no rule 'broken-links'", "broken-link"),
        ("spec", {"broken-link": "fatal"}, "the level 'fatal'", "off"),
    ],
)
def test_what_a_policy_does_not_know_is_named(profile: str, levels: dict[str, str], what: str, fix: str) -> None:
    with pytest.raises(ConfigError, match=what) as caught:
        make_policy(profile, levels)
    assert fix in caught.value.fix


def test_the_nearest_rule_is_found_for_a_misspelled_one() -> None:
    assert nearest("trailing-spaces") == "trailing-space"
