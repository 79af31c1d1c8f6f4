"""Swapping two folders in one step: there is no instant without a folder at either name."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from pathlib import Path

_HERE = {"linux": -100, "darwin": -2}  # AT_FDCWD
_SWAP = 2  # RENAME_EXCHANGE of Linux, RENAME_SWAP of macOS
_CANNOT = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)


def exchange(one: Path, other: Path) -> bool:
    """Swap two folders of one file system; false, and nothing moved, where the system has no such call.

    Raises:
        OSError: the system has the call and refused.
    """
    name = {"linux": "renameat2", "darwin": "renameatx_np"}.get(sys.platform, "")
    call = getattr(ctypes.CDLL(None, use_errno=True), name, None) if name else None
    if call is None:
        return False
    here = _HERE[sys.platform]
    if call(here, os.fsencode(one), here, os.fsencode(other), ctypes.c_uint(_SWAP)) == 0:
        return True
    code = ctypes.get_errno()
    if code in _CANNOT:
        return False
    raise OSError(code, os.strerror(code), str(other))
