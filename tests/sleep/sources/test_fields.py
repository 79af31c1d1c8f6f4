"""Values of other programs' records."""

from __future__ import annotations

import time

from skillgit.sleep.sources.fields import skill_files


def test_the_skill_is_the_folder_that_its_file_is_in() -> None:
    assert skill_files("cat '/x/skills/greeter/SKILL.md' b\\\\tidy\\\\SKILL.md greeter/SKILL.md") == ("greeter", "tidy")
    assert skill_files("SKILL.md /SKILL.md x/SKILL.md.orig x/MYSKILL.md") == ()
    assert skill_files("x/" + "n" * 500 + "/SKILL.md") == ()


def test_a_command_of_one_long_word_is_looked_through_at_once() -> None:
    begun = time.process_time()
    assert skill_files("f" * 1_000_000) == ()
    assert skill_files("/" * 1_000_000) == ()
    assert time.process_time() - begun < 2
