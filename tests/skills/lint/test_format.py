"""The Agent Skills format, exactly: each rule with the line and column a person would point at."""

from __future__ import annotations

import pytest

from skillgit.skills.lint.case import Skill, SkillFile
from skillgit.skills.lint.judge import lint
from tests.skills.lint.helpers import HEAD, found, places, policy


def front(*lines: str) -> str:
    return "\n".join(["---", *lines, "---", "", "# Demo", ""])


NAME, DESCRIPTION = "name: demo", "description: Fills forms."


@pytest.mark.parametrize(
    "text",
    [
        front(NAME, DESCRIPTION),
        front(NAME, "description: |", "  Fills forms: all of them.", "  Use it."),
        front(NAME, "description: >-", "  Fills forms", "  in two lines."),
        front(NAME, "description: Fills forms", "  in a value that goes on."),
        front(NAME, 'description: "Use when: asked"'),
        front(NAME, "description: --- is no end"),
        front(NAME, DESCRIPTION, "metadata:", "  version: 1.0", "  on: 2026-01-02", "  yes: no"),
        front(NAME, DESCRIPTION, "license: MIT", "compatibility: Needs git", "allowed-tools: Read Bash(git:*)"),
        front('"name": demo', DESCRIPTION, "# a comment"),
        front(NAME, f"description: {'ä' * 780}"),
    ],
)
def test_a_sound_skill_has_no_findings(text: str) -> None:
    assert places(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [("frontmatter-missing", 1, 1)]),
        ("# Demo\n", [("frontmatter-missing", 1, 1)]),
        ("\n" + front(NAME, DESCRIPTION), [("frontmatter-missing", 1, 1)]),
        ("\ufeff" + front(NAME, DESCRIPTION), [("byte-order-mark", 1, 1)]),
        ("---\nname: demo\n", [("frontmatter-unclosed", 1, 1)]),
        (front("- a", "- b"), [("frontmatter-yaml", 2, 1)]),
        (front(NAME, "description: [beta] Fills"), [("frontmatter-yaml", 3, 21)]),
        (front(NAME, "description: Use when: asked"), [("unquoted-colon", 3, 22)]),
        (front(NAME, "description: Use:"), [("unquoted-colon", 3, 17)]),
        (front(NAME, DESCRIPTION, "metadata:", "  note: a: b"), [("unquoted-colon", 5, 10)]),
        (front(NAME, "description: a: b", "license: c: d"), [("unquoted-colon", 3, 15), ("unquoted-colon", 4, 11)]),
        (front(NAME, DESCRIPTION, "metadata:", "\tauthor: x"), [("frontmatter-tab", 5, 1)]),
        (front(NAME, DESCRIPTION, NAME), [("duplicate-key", 4, 1)]),
        (front(NAME, DESCRIPTION, "metadata:", "  a: b", "  a: c"), [("duplicate-key", 6, 3)]),
        (front(NAME, DESCRIPTION, "version: '1'"), [("unknown-key", 4, 1)]),
        (front(DESCRIPTION), [("name-missing", 1, 1)]),
        (front("name:", DESCRIPTION), [("name-missing", 2, 6)]),
        (front("name: Demo", DESCRIPTION), [("name-folder", 2, 7), ("name-format", 2, 7)]),
        (front("name: [demo]", DESCRIPTION), [("field-type", 2, 7)]),
        (front(NAME), [("description-missing", 1, 1)]),
        (front(NAME, "description: ''"), [("description-missing", 3, 14)]),
        (front(NAME, "description: '  '"), [("description-missing", 3, 14)]),
        (front(NAME, "description: a <b> c"), [("description-markup", 3, 14)]),
        (front(NAME, DESCRIPTION, "compatibility: ''"), [("compatibility-length", 4, 16)]),
        (front(NAME, DESCRIPTION, "compatibility: " + "x" * 501), [("compatibility-length", 4, 16)]),
        (front(NAME, DESCRIPTION, "license: {a: b}"), [("field-type", 4, 10)]),
        (front(NAME, DESCRIPTION, "metadata: text"), [("field-type", 4, 11)]),
        (front(NAME, DESCRIPTION, "metadata:", "  tags: [a]"), [("field-type", 5, 3)]),
        (front(NAME, DESCRIPTION, "allowed-tools:", "  - Read"), [("field-type", 5, 3)]),
    ],
)
def test_each_fault_is_found_once_and_at_its_place(text: str, expected: list[tuple[str, int, int]]) -> None:
    assert places(text) == expected


@pytest.mark.parametrize("name", ["-a", "a-", "a--b", "A", "a_b", "a b", "é", "ａ", "a.b"])
def test_names_are_of_ascii_lowercase_digits_and_single_hyphens(name: str) -> None:
    assert [finding.rule for finding in found(front(f"name: {name}", DESCRIPTION), name=name)] == ["name-format"]


def test_limits_of_length_are_those_of_the_format() -> None:
    for size, rules in ((64, []), (65, ["name-length"])):
        name = "a" * size
        assert [f.rule for f in found(front(f"name: {name}", DESCRIPTION), name=name)] == rules
    for size, rules in ((1024, ["description-tokens"]), (1025, ["description-length", "description-tokens"])):
        assert [f.rule for f in found(front(NAME, f"description: {'x' * size}"))] == rules


def test_size_of_the_body() -> None:
    short = "x\n" * 490
    assert [f.rule for f in found(HEAD + short)] == []
    assert [f.rule for f in found(HEAD + "x\n" * 495)] == ["skill-lines"]
    assert [f.rule for f in found(f"{HEAD}{'word ' * 4001}\n".replace(" \n", "\n"))] == ["body-tokens"]


def test_the_file_must_be_there_and_spelled_right() -> None:
    assert places({"README.md": "# Demo\n"}) == [("skill-file-missing", 1, 1)]
    assert places({"skill.md": front(NAME, DESCRIPTION)}) == [("skill-file-name", 1, 1)]
    both = {"skill.md": front(NAME, DESCRIPTION), "SKILL.md": front(NAME, DESCRIPTION)}
    assert [rule for rule, _, _ in places(both)] == ["name-collision"]


def test_bytes_that_are_no_text_are_named_with_their_place() -> None:
    assert places(b"---\nname: caf\xe9\n---\n") == [("not-utf8", 2, 10)]
    assert places(front(NAME, DESCRIPTION).encode("utf-16-le")) == [("not-utf8", 1, 2)]
    assert places(b"a\rb\r\xff") == [("not-utf8", 3, 1)]
    assert places(front(NAME, DESCRIPTION) + "a\0b\n") == [("not-utf8", 7, 2)]
    fine = {"SKILL.md": front(NAME, DESCRIPTION), "assets/x.bin": b"\xff\xfe\x00", "assets/y.bin": b"a\x00"}
    assert places(fine) == []


def test_a_main_file_that_was_not_read_does_not_pass() -> None:
    """What is larger than a megabyte has no data here, and neither has a link."""
    fine = {"README.md": "# Demo\n"}
    assert places(fine, links={"SKILL.md": "README.md"}) == [("skill-file-unread", 1, 1)]
    (large,) = lint(Skill("x", "x", (SkillFile("SKILL.md"),)), policy())
    assert (large.rule, large.level, "too large" in large.message) == ("skill-file-unread", "error", True)


def test_an_instruction_is_as_exact_as_it_can_be() -> None:
    fixes = {f.rule: f.fix for f in found(front("name: demo", DESCRIPTION, "allowed_tools: Read", "x: y"))}
    assert "move it under metadata" in fixes["unknown-key"]
    (listed,) = found(front(NAME, DESCRIPTION, "allowed-tools: [Read, Grep]"))
    assert listed.fix == "write: allowed-tools: Read Grep"
    (misspelled,) = found(front(NAME, DESCRIPTION, "allowed_tools: Read"))
    assert misspelled.fix == "write it as `allowed-tools`"


def test_profiles_know_the_keys_of_their_agents() -> None:
    text = front(NAME, DESCRIPTION, "argument-hint: '[file]'", "disable-model-invocation: true", "when_to_use: often")
    expected = {"spec": 3, "codex": 3, "cursor": 2, "copilot": 1, "claude-code": 0}
    assert {name: len(found(text, policy(name))) for name in expected} == expected


def test_claude_code_takes_lists_of_tools_and_skills_without_a_name() -> None:
    text = front("description: Fills forms.", "allowed-tools: [Read, Grep]")
    assert found(text, policy("claude-code")) == []
    (mismatch,) = found(front("name: other", DESCRIPTION), policy("claude-code"))
    assert (mismatch.rule, mismatch.level) == ("name-folder", "warning")


def test_levels_are_changed_and_switched_off() -> None:
    text = front(NAME, DESCRIPTION, "version: '1'")
    assert [f.level for f in found(text, policy(unknown_key="advice"))] == ["advice"]
    assert found(text, policy(unknown_key="off")) == []
