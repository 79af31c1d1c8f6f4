"""Schedulers that are not this machine's: small programs that stand before the real ones on PATH."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

CRONTAB = """
case "$1" in
-l)
  if [ -f refusal ]; then cat refusal >&2; exit 1; fi
  if [ -f table ]; then cat table; else echo "no crontab for tester" >&2; exit 1; fi;;
-)
  if [ -f full ]; then echo "no room" >&2; exit 1; fi
  cat > table;;
*) exit 2;;
esac
"""

# A user manager: `broken` makes `enable` fail, `absent` everything; timers that run are files in `on`.
SYSTEMCTL = """
echo "$@" >> calls
if [ -f absent ]; then echo "Failed to connect to bus" >&2; exit 1; fi
shift
case "$1" in
is-active) [ -f "on-$3" ];;
restart) : > "on-$2";;
disable) rm -f "on-$3";;
enable) if [ -f broken ]; then echo "Access denied" >&2; exit 1; fi;;
esac
"""

LAUNCHCTL = """
echo "$@" >> calls
case "$1" in
bootstrap) : > "on-$(basename "$3" .plist)";;
bootout) rm "on-$(basename "$2")";;
print) [ -f "on-$(basename "$2")" ];;
esac
"""

SCHTASKS = """
case "$1" in
/create) cp "$5" "$(echo "$3" | tr '\\\\' '_').xml"; rm -f listing; for f in *.xml; do
  echo "\\"$(echo "${f%.xml}" | tr '_' '\\\\')\\",\\"N/A\\",\\"Ready\\"" >> listing; done;;
/delete) rm "$(echo "$3" | tr '\\\\' '_').xml"; : > listing;;
/query) if [ "$2" = /fo ]; then cat listing 2>/dev/null || true; else cat "$(echo "$3" | tr '\\\\' '_').xml"; fi;;
esac
"""


@pytest.fixture(autouse=True)
def schedulers(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one folder of state per stand-in; none of the real programs can be reached by its name."""
    place = tmp_path_factory.mktemp("schedulers")
    (place / "bin").mkdir()
    for name, text in {
        "crontab": CRONTAB,
        "systemctl": SYSTEMCTL,
        "launchctl": LAUNCHCTL,
        "schtasks": SCHTASKS,
    }.items():
        (place / name).mkdir()
        program = place / "bin" / name
        program.write_text(f'#!/bin/sh\ncd "{place / name}" || exit 9\n{text}')
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{place / 'bin'}{os.pathsep}/usr/bin{os.pathsep}/bin")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return place
