"""LibreOffice, where it is installed: it calculates the formulas that a program wrote."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path

from skillgit.tasks import sandbox

_LIMITS = sandbox.Limits(seconds=90.0, memory=8 * 2**30)


@cache
def office() -> str:
    """The program's path; empty when it is not installed."""
    return shutil.which("soffice") or shutil.which("libreoffice") or ""


def calculated(folder: Path, book: Path) -> Path | None:
    """The same workbook with its formulas calculated, in `folder`; `None` when LibreOffice made none.

    Raises:
        ModelError: it cannot be started.
    """
    home, made = folder.resolve() / ".office", folder.resolve() / ".calculated"
    shutil.rmtree(made, ignore_errors=True)
    argv = [office(), "--headless", "--norestore", f"-env:UserInstallation={home.as_uri()}"]
    argv += ["--convert-to", "xlsx:Calc MS Excel 2007 XML", "--outdir", str(made), str(book.resolve())]
    sandbox.run_apart(argv, folder, _LIMITS)
    found = made / f"{book.stem}.xlsx"
    return found if found.is_file() and not found.is_symlink() else None
