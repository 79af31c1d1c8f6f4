"""What a commit message may say, and what a learned commit may change."""

from __future__ import annotations

import pytest

from skillgit.skills.commit_message import KEYS, Message, Staged, check_changes, check_message, is_learned, needs_git

TOKEN = "ghp_" + "a1B2" * 9
SCISSORS = "# ------------------------ >8 ------------------------"
DOCUMENT = b"---\nname: x\ndescription: d\n---\n\n- rule\n"


def found(text: str, *trailers: tuple[str, str], comment: str = "#") -> list[tuple[str, int, str]]:
    problems = check_message(Message.read(text, comment=comment, scissors=True), trailers)
    return [(problem.level, problem.line, problem.message) for problem in problems]


def test_plain_words_are_fine() -> None:
    assert found("Fix it\n\nSigned-off-by: A <a@b>\n", ("Signed-off-by", "A <a@b>")) == []
    assert not needs_git("Fix it\n")


def test_a_secret_is_named_with_its_line_and_not_repeated() -> None:
    text = f"Fix\n# comment\n\nlogin with {TOKEN}\n"
    assert needs_git(text)
    assert found(text) == [("error", 4, "the message holds a secret (GitHub token)")]


def test_what_git_takes_out_is_not_judged() -> None:
    assert found(f"Fix\n# {TOKEN}\n{SCISSORS}\n+{TOKEN}\nSkillgit-Foo: 1\n") == []
    assert len(found(f"Fix\n# {TOKEN}\n", comment="")) == 1
    assert found(f"Fix\n; {TOKEN}\n", comment=";") == []


@pytest.mark.parametrize(("length", "count"), [(72, 0), (73, 1)])
def test_only_the_subject_of_a_skill_commit_is_measured(length: int, count: int) -> None:
    subject = f"skill(x): {'a' * (length - 10)}"
    assert [level for level, _, _ in found(f"\n{subject}\n\nbody\n")] == ["warning"] * count
    assert found("a" * 100) == []


def test_every_known_trailer_passes() -> None:
    values = {"Skillgit-Step": "3", "Skillgit-Epoch": "0"}
    trailers = [(key, values.get(key, "some words")) for key in KEYS]
    assert found("Fix\n\n" + "".join(f"{key}: {value}\n" for key, value in trailers), *trailers) == []
    assert is_learned([("skillgit-run", "r")])
    assert not is_learned([("Skillgit-Gate", "accept")])


@pytest.mark.parametrize(
    ("trailers", "message"),
    [
        ([("Skillgit-Runs", "r")], "unknown trailer Skillgit-Runs"),
        ([("Skillgit-Run", "")], "trailer Skillgit-Run has no value"),
        ([("Skillgit-Step", "two")], "trailer Skillgit-Step must be a whole number"),
        ([("Skillgit-Step", "two"), ("Skillgit-Step", "2")], "trailer Skillgit-Step must be a whole number"),
    ],
)
def test_a_malformed_trailer_is_an_error(trailers: list[tuple[str, str]], message: str) -> None:
    assert ("error", 0, message) in found("Fix", *trailers)


def test_a_trailer_that_git_does_not_read_is_told_of() -> None:
    text = "Fix\n\nSkillgit-Run: r\n\nmore words\n"
    assert needs_git(text)
    assert found(text) == [("warning", 3, "not in the last paragraph, so git does not read it: Skillgit-Run")]


def test_the_trailers_of_squashed_steps_do_not_stop_the_rebase() -> None:
    steps = [[("Skillgit-Run", "r"), ("Skillgit-Step", str(number))] for number in (1, 2)]
    blocks = ["".join(f"{key}: {value}\n" for key, value in step) for step in steps]
    apart = f"One\n\n{blocks[0]}\nTwo\n\n{blocks[1]}"
    # The run stands in the trailers too; the step is that of the other commit.
    assert found(apart, *steps[1]) == [
        ("warning", 4, "not in the last paragraph, so git does not read it: Skillgit-Step")
    ]
    joined = f"One\n\n{blocks[0]}{blocks[1]}"
    assert found(joined, *steps[0], *steps[1]) == [("warning", 0, "given more than once: Skillgit-Run, Skillgit-Step")]


def test_a_folded_trailer_is_known_by_its_first_line() -> None:
    assert found("Fix\n\nSkillgit-Gate: accept\n  +0.1\n", ("Skillgit-Gate", "accept +0.1")) == []


def staged(path: str, skill: str = "skills/x", mode: str = "100644", after: bytes = DOCUMENT) -> Staged:
    return Staged(path, skill, mode, DOCUMENT, after)


@pytest.mark.parametrize(
    "changes",
    [
        [staged("skills/x/SKILL.md", after=DOCUMENT + b"- more\n"), staged("skills/x/references/a.md")],
        [staged("skills/x/references/a.md", mode="000000")],
        [Staged("one.md", "one.md", "100644", b"a", b"b")],
        [Staged("skills/x/SKILL.md", "skills/x", "100644", None, DOCUMENT)],
    ],
)
def test_documents_of_one_skill_may_change(changes: list[Staged]) -> None:
    assert check_changes(changes) == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            [staged("skills/x/SKILL.md", after=DOCUMENT.replace(b"name: x", b"name: y"))],
            "frontmatter name is protected",
        ),
        ([staged("skills/x/SKILL.md", after=b"---\nname: [\n---\n")], "frontmatter name is protected"),
        ([staged("skills/x/SKILL.md", after=b"\xff")], "frontmatter name is protected"),
        ([staged("skills/x/SKILL.md", mode="000000")], "the skill would be gone"),
        ([staged("skills/x/SKILL.md", mode="120000")], "no plain file"),
        ([staged("skills/x/scripts/run.sh")], "scripts are protected"),
        ([staged("skills/x/scripts/notes.md")], "scripts are protected"),
        ([staged("skills/x/data.json")], "it is no document of a skill"),
        (
            [staged("skills/x/SKILL.md"), staged("README.md", "README.md")],
            "changes one skill, not 2: README.md, skills/x",
        ),
        ([staged("skills/x/SKILL.md"), staged("skills/y/a.md", "skills/y")], "changes one skill, not 2"),
    ],
)
def test_nothing_else_may(changes: list[Staged], message: str) -> None:
    problems = check_changes(changes)
    assert [message in problem.message for problem in problems] == [True]
    assert {problem.level for problem in problems} == {"error"}
