"""What Linux refuses this process from now on, if asked to; no privilege is needed for it.

Only the standard library is imported: generated code runs in the process that this module confines.
"""

from __future__ import annotations

import ctypes
import os
import platform
import socket
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

Step = tuple[int, int, int, int]
"""One instruction of a filter of system calls: code, jump if so, jump if not, value."""

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCH, _FIRST_ARGUMENT, _SECOND_ARGUMENT = 0, 4, 16, 24
_ALLOW, _PASS_OVER = 0x7FFF0000, 0x00050000  # the second one answers that it was done
_REFUSE, _UNKNOWN = 0x00050000 | 1, 0x00050000 | 38  # EPERM, ENOSYS
_CLONE_THREAD = 0x10000
_NO_NEW_PRIVS, _SECCOMP, _FILTER = 38, 22, 2

_CALLS: dict[str, tuple[int, dict[str, int]]] = {
    "x86_64": (
        0xC000003E,
        {
            **{"socket": 41, "clone": 56, "fork": 57, "vfork": 58, "execve": 59, "kill": 62, "ptrace": 101},
            **{"rt_sigqueueinfo": 129, "mount": 165, "tkill": 200, "tgkill": 234, "add_key": 248, "request_key": 249},
            **{"keyctl": 250, "unshare": 272, "rt_tgsigqueueinfo": 297, "perf_event_open": 298, "prlimit64": 302},
            **{"setns": 308, "process_vm_readv": 310, "process_vm_writev": 311, "bpf": 321, "execveat": 322},
            **{"shmget": 29, "socketpair": 53, "semget": 64, "msgget": 68, "fcntl": 72, "mq_open": 240},
            **{"memfd_create": 319, "chmod": 90, "fchmod": 91, "chown": 92, "fchown": 93, "lchown": 94, "utime": 132},
            **{"setxattr": 188, "lsetxattr": 189, "fsetxattr": 190, "removexattr": 197, "lremovexattr": 198},
            **{"fremovexattr": 199, "utimes": 235, "fchownat": 260, "futimesat": 261, "fchmodat": 268},
            **{"utimensat": 280, "open_by_handle_at": 304},
        },
    ),
    "aarch64": (
        0xC00000B7,
        {
            **{"mount": 40, "unshare": 97, "ptrace": 117, "kill": 129, "tkill": 130, "tgkill": 131, "socket": 198},
            **{"rt_sigqueueinfo": 138, "add_key": 217, "request_key": 218, "keyctl": 219, "clone": 220, "execve": 221},
            **{"rt_tgsigqueueinfo": 240, "perf_event_open": 241, "prlimit64": 261, "setns": 268, "bpf": 280},
            **{"process_vm_readv": 270, "process_vm_writev": 271, "execveat": 281},
            **{"fcntl": 25, "mq_open": 180, "msgget": 186, "semget": 190, "shmget": 194, "socketpair": 199},
            **{"memfd_create": 279, "setxattr": 5, "lsetxattr": 6, "fsetxattr": 7, "removexattr": 14},
            **{"lremovexattr": 15, "fremovexattr": 16, "fchmod": 52, "fchmodat": 53, "fchownat": 54, "fchown": 55},
            **{"utimensat": 88, "open_by_handle_at": 265},
        },
    ),
}
_EVERYWHERE = {
    **{"pidfd_send_signal": 424, "io_uring_setup": 425, "pidfd_open": 434, "clone3": 435, "memfd_secret": 447},
    **{"fchmodat2": 452, "setxattrat": 463, "removexattrat": 466, "file_setattr": 469},
}
_PROCESSES = frozenset({"fork", "vfork", "execve", "execveat", "clone", "clone3"})
_TO_ITSELF = frozenset({"kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "prlimit64"})
_HOARDS = frozenset({"shmget", "semget", "msgget", "mq_open", "memfd_create", "memfd_secret", "socketpair"})
"""Memory that no limit counts, some of which stays when its process is gone."""

_LABELS = frozenset(
    (
        *("chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat"),
        *("utime", "utimes", "futimesat", "utimensat", "setxattr", "lsetxattr", "fsetxattr", "setxattrat"),
        *("removexattr", "lremovexattr", "fremovexattr", "removexattrat", "file_setattr"),
    )
)
"""Changes of whose a file is and who may read it: the rules on files do not cover them, and programs can do without."""

_OF_PROGRAMS = _PROCESSES | _TO_ITSELF | _HOARDS | _LABELS
"""What is left to programs of this machine."""

_OWNERS = (8, 10, 15)  # of fcntl: who gets a signal when there is something to read, and which one

_CREATE_RULESET, _ADD_RULE, _RESTRICT = 444, 445, 446
_RUN, _WRITE, _READ, _LIST, _REMOVE, _MAKE_SOCKET, _TRUNCATE, _IOCTL = 1, 2, 4, 8, 1 << 5, 1 << 9, 1 << 14, 1 << 15
_OF_FILES = _RUN | _WRITE | _READ | _TRUNCATE | _IOCTL
_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}  # version to how many rights on files it knows


_CAPABILITIES_V3 = 0x20080522
_TO_READ_ALL = 1 << 1 | 1 << 2  # what keeps libraries readable that another user installed; rules on files still hold


class _Instruction(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_ushort),
        ("yes", ctypes.c_ubyte),
        ("no", ctypes.c_ubyte),
        ("value", ctypes.c_uint32),
    )


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.POINTER(_Instruction)))


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32))


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("process", ctypes.c_int))


class _Powers(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


def drop_powers() -> bool:
    """Give up what root may do beyond others, such as to raise limits. False where this cannot be had."""
    if sys.platform != "linux" or not _no_new_privileges():
        return False
    header, both = _Header(_CAPABILITIES_V3, 0), (_Powers * 2)()
    if _libc().capget(ctypes.byref(header), both):
        return False
    kept = both[0].permitted & _TO_READ_ALL
    both[0], both[1] = _Powers(kept, kept, 0), _Powers(0, 0, 0)
    done: int = _libc().capset(ctypes.byref(header), both)
    return done == 0


def deny_calls(*, programs: bool) -> bool:
    """Refuse the network, other processes' memory and signals to others; and, unless `programs`, new processes and
    memory without a limit. Changes of permissions, owners and times of files are then passed over.

    Where programs are allowed, sockets that stay on this machine are, too. False where this cannot be had.
    """
    if sys.platform != "linux" or platform.machine() not in _CALLS or not _no_new_privileges():
        return False
    steps = [_Instruction(*step) for step in _filter(programs)]
    table = (_Instruction * len(steps))(*steps)
    program = _Program(len(steps), table)
    done: int = _libc().prctl(_SECCOMP, _FILTER, ctypes.byref(program), 0, 0)
    return done == 0


def restrict_files(readable: Iterable[str], writable: Iterable[str], meeting: Iterable[str] = ()) -> bool:
    """From now on only these files, and what is below these folders, can be read or written.

    In the folders for `meeting` sockets can be made, and files taken away.

    False where this cannot be had. Paths that do not exist are passed over.
    """
    if sys.platform != "linux" or not _no_new_privileges():
        return False
    version = _libc().syscall(_CREATE_RULESET, None, 0, 1)
    if version < 1:
        return False
    known = (1 << _RIGHTS.get(version, 16)) - 1
    sizes = {1: 8, 2: 8, 3: 8, 4: 16, 5: 16}
    wanted = _Ruleset(known, 0, 3 if version >= 6 else 0)
    rules = _libc().syscall(_CREATE_RULESET, ctypes.byref(wanted), sizes.get(version, 24), 0)
    if rules < 0:
        return False
    for paths, rights in ((readable, _RUN | _READ | _LIST), (writable, known), (meeting, _REMOVE | _MAKE_SOCKET)):
        for path in paths:
            _allow(rules, path, rights & known)
    done: int = _libc().syscall(_RESTRICT, rules, 0)
    os.close(rules)
    return done == 0


def _allow(rules: int, path: str, rights: int) -> None:
    if not path or not Path(path).exists():
        return
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rule = _Beneath(rights if Path(path).is_dir() else rights & _OF_FILES, place)
        _libc().syscall(_ADD_RULE, rules, 1, ctypes.byref(rule), 0)
    finally:
        os.close(place)


def _filter(programs: bool) -> Iterator[Step]:
    """The program that the kernel runs on each system call."""
    arch, own = _CALLS[platform.machine()]
    calls = {**own, **_EVERYWHERE}
    yield from ((_LOAD, 0, 0, _ARCH), (_EQUAL, 1, 0, arch), (_RETURN, 0, 0, _REFUSE), (_LOAD, 0, 0, _NUMBER))
    # Numbers of a second kind that the same processor understands.
    yield from ((_AT_LEAST, 0, 1, 0x40000000), (_RETURN, 0, 0, _REFUSE))
    for name, number in calls.items():
        if programs and name in _OF_PROGRAMS:
            continue
        steps = _verdict(name, programs)
        yield (_EQUAL, 0, len(steps), number)
        yield from steps
    yield (_RETURN, 0, 0, _ALLOW)


def _verdict(name: str, programs: bool) -> list[Step]:
    """What happens to one call that is looked at."""
    refuse: Step = (_RETURN, 0, 0, _REFUSE)
    allow: Step = (_RETURN, 0, 0, _ALLOW)
    load: Step = (_LOAD, 0, 0, _FIRST_ARGUMENT)
    if name in _LABELS:
        return [(_RETURN, 0, 0, _PASS_OVER)]
    if name == "fcntl":
        load = (_LOAD, 0, 0, _SECOND_ARGUMENT)
        return [load, *(step for what in _OWNERS for step in ((_EQUAL, 0, 1, what), refuse)), allow]
    if name == "clone3":
        return [(_RETURN, 0, 0, _UNKNOWN)]  # so that threads are made by the older call, which can be looked into
    if name == "clone":
        return [load, (_ANY_BIT, 0, 1, _CLONE_THREAD), allow, refuse]
    if name in _TO_ITSELF:
        return [
            load,
            (_EQUAL, 1, 0, os.getpid()),
            (_EQUAL, 0, 1, 0 if name == "prlimit64" else os.getpid()),
            allow,
            refuse,
        ]
    if name == "socket" and programs:
        return [load, (_EQUAL, 0, 1, int(socket.AF_UNIX)), allow, refuse]
    return [refuse]


def _no_new_privileges() -> bool:
    done: int = _libc().prctl(_NO_NEW_PRIVS, 1, 0, 0, 0)
    return done == 0


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
