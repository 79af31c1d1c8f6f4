"""Agreement with the reference validator on the rules it checks; where the two differ, each difference is named.

The same comparison over other people's skills: python -m tests.skills.lint.test_skills_ref FOLDER
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

from skillgit.git.skillfiles import find_skills, read_skill
from skillgit.skills.lint.judge import lint
from skillgit.skills.lint.rules import make_policy, rules
from tests.skills.lint.shapes import FAULTY, ONLY_SKILLGIT, ONLY_SKILLS_REF, SOUND

skills_ref = pytest.importorskip("skills_ref", reason="skills-ref is not installed")

# What the reference validator does not look at.
UNCHECKED = frozenset(name for name, rule in rules().items() if rule.level != "error") | {
    *("skill-file-name", "not-utf8", "leaked-text", "secret", "damaged-region", "name-change", "protected-change"),
    *("bidi-control", "hidden-text", "name-collision", "symlink-outside", "skill-file-unread"),
}

# The rule here, and words of the complaint there.
SAME = {
    "empty": ("frontmatter-missing", "must start with"),
    "no frontmatter": ("frontmatter-missing", "must start with"),
    "byte order mark": ("byte-order-mark", "must start with"),
    "never closed": ("frontmatter-unclosed", "not properly closed"),
    "colon": ("unquoted-colon", "Invalid YAML"),
    "brackets": ("frontmatter-yaml", "Invalid YAML"),
    "tab": ("frontmatter-tab", "Invalid YAML"),
    "key twice": ("duplicate-key", "Invalid YAML"),
    "unknown key": ("unknown-key", "Unexpected fields"),
    "no name": ("name-missing", "Missing required field in frontmatter: name"),
    "empty name": ("name-missing", "non-empty string"),
    "upper case": ("name-format", "must be lowercase"),
    "underscore": ("name-format", "invalid characters"),
    "leading hyphen": ("name-format", "cannot start or end"),
    "double hyphen": ("name-format", "consecutive hyphens"),
    "long name": ("name-length", "exceeds 64"),
    "another folder": ("name-folder", "must match skill name"),
    "no description": ("description-missing", "Missing required field in frontmatter: description"),
    "empty description": ("description-missing", "non-empty string"),
    "long description": ("description-length", "exceeds 1024"),
    "long compatibility": ("compatibility-length", "exceeds 500"),
    "list as compatibility": ("field-type", "must be a string"),
}


def both(folder: Path) -> tuple[set[str], list[str]]:
    """The rules broken here, and the complaints there."""
    from skills_ref.validator import validate

    ours = {finding.rule for finding in lint(read_skill(folder, folder.parent), make_policy("spec", {}))}
    return ours - UNCHECKED, validate(folder)


def written(folder: Path, text: str) -> Path:
    place = folder / "demo"
    place.mkdir()
    (place / "SKILL.md").write_bytes(text.encode())
    return place


@pytest.mark.parametrize("shape", SOUND)
def test_both_accept_a_sound_skill(shape: str, tmp_path: Path) -> None:
    assert both(written(tmp_path, SOUND[shape])) == (set(), [])


@pytest.mark.parametrize("shape", FAULTY)
def test_both_refuse_a_faulty_skill(shape: str, tmp_path: Path) -> None:
    ours, theirs = both(written(tmp_path, FAULTY[shape]))
    assert ours
    assert theirs
    if shape in SAME:
        rule, words = SAME[shape]
        assert rule in ours
        assert any(words in complaint for complaint in theirs)


@pytest.mark.parametrize("shape", ONLY_SKILLGIT)
def test_only_skillgit_refuses(shape: str, tmp_path: Path) -> None:
    text, why = ONLY_SKILLGIT[shape]
    ours, theirs = both(written(tmp_path, text) if "letters" not in shape else _named(tmp_path, text))
    assert (bool(ours), theirs) == (True, []), why


@pytest.mark.parametrize("shape", ONLY_SKILLS_REF)
def test_only_the_reference_refuses(shape: str, tmp_path: Path) -> None:
    text, why = ONLY_SKILLS_REF[shape]
    ours, theirs = both(written(tmp_path, text))
    assert (ours, bool(theirs)) == (set(), True), why


def test_a_folder_without_the_file_is_refused_by_both_and_a_lowercase_file_by_one(tmp_path: Path) -> None:
    (tmp_path / "demo").mkdir()
    ours, theirs = both(tmp_path / "demo")
    assert (ours, bool(theirs)) == ({"skill-file-missing"}, True)
    (tmp_path / "demo/skill.md").write_text(SOUND["plain"])
    found = {finding.rule for finding in lint(read_skill(tmp_path / "demo", tmp_path), make_policy("spec", {}))}
    # The reference prefers SKILL.md and takes skill.md; the format has one spelling.
    assert (found, both(tmp_path / "demo")[1]) == ({"skill-file-name"}, [])


def _named(folder: Path, text: str) -> Path:
    """The skill in a folder of its own name."""
    place = written(folder, text)
    return place.rename(folder / text.split("name: ")[1].splitlines()[0])


def main() -> None:
    seen: Counter[str] = Counter()
    for folder in find_skills(Path(sys.argv[1]), []):
        ours, theirs = both(folder)
        same = bool(ours) == bool(theirs)
        seen["agree" if same else "differ"] += 1
        if not same:
            print(folder, sorted(ours), theirs)
    print(dict(seen))


if __name__ == "__main__":
    main()
