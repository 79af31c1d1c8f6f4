"""A model file from its publisher on the hub, over HTTPS; a broken download goes on where it stopped."""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from pathlib import Path

from skillgit.models.local.catalog import Entry
from skillgit.models.local.store import Progress, UnavailableError, need_space

_BLOCK = 1 << 20
_SECONDS = 30.0  # without a single byte


def from_hub(entry: Entry, target: Path, progress: Progress) -> None:
    """Write `target`. What has arrived stays there when the connection breaks.

    Raises:
        UnavailableError: the hub cannot be reached, or sent something else.
    """
    have = target.stat().st_size if target.exists() else 0
    if have > entry.size:
        target.unlink()
        have = 0
    need_space(target.parent, entry.size - have)
    if have == entry.size:
        return
    try:
        _fetch(entry, target, have, progress)
    except urllib.error.HTTPError as err:
        err.close()
        raise UnavailableError(f"HTTP {err.code} from {entry.url}") from err
    except (OSError, http.client.HTTPException) as err:
        raise UnavailableError(f"{entry.url}: {getattr(err, 'reason', err) or type(err).__name__}") from err


def _fetch(entry: Entry, target: Path, have: int, progress: Progress) -> None:
    headers = {"Range": f"bytes={have}-"} if have else {}
    request = urllib.request.Request(entry.url, headers=headers)  # noqa: S310 - the catalog's own address
    with urllib.request.urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310
        done = have if answer.status == 206 else 0
        with target.open("ab" if done else "wb") as out:
            while block := answer.read(_BLOCK):
                done += len(block)
                if done > entry.size:
                    raise UnavailableError(f"{entry.url} is larger than the model")
                out.write(block)
                progress(done, entry.size, "downloading")
    if done < entry.size:
        raise UnavailableError(f"{entry.url} broke off at {done} of {entry.size} bytes")
