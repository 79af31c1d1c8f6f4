"""What the demo shows at its end: the history, the diff, and the score before and after."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape

from skillgit.git.repository import Repository
from skillgit.git.skillstore import Place


def tell(console: Console, repo: Repository, place: Place, branch: str) -> None:
    """Print history with gate lines, the skill's whole diff, and the commands that show them again."""
    log = ("log", "--notes=skillgit/gates", "--format=%h %s%n%N", f"main..{branch}")
    diff = ("diff", "--no-ext-diff", "main", branch, "--", place.path)
    console.print(f"\n[bold]$ git log --notes=skillgit/gates main..{branch}[/]")
    lines = [line for line in repo.git.text(*log).splitlines() if line.strip()]
    console.print(escape("\n".join(f"    {line}" if ": val " in line else line for line in lines)))
    console.print(f"\n[bold]$ git diff main {branch}[/]")
    console.print(escape(repo.git.text(*diff)))
    console.print(f"\nLook around: cd {escape(str(repo.root))}")
    console.print(f"             skillgit log {place.name}")
    console.print(f"             git notes --ref=skillgit/evals show {branch}:{place.path}")
