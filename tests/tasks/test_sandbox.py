"""Generated Python: what it can do, what it cannot, and that it is gone afterwards."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgit.errors import ModelError
from skillgit.models.clients.process import scratch
from skillgit.tasks import sandbox
from skillgit.tasks.sandbox import Limits, Ran

Try = Callable[..., Ran]
KERNEL = pytest.mark.skipif(
    sys.platform != "linux" or sandbox.isolation() != "no files of others, no network, no processes",
    reason="this kernel guards neither files nor system calls",
)
LIBC = "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"


@pytest.fixture
def attempt(tmp_path: Path) -> Try:
    """Run code in an empty folder."""
    folder = tmp_path / "work"
    folder.mkdir()

    def run(code: str, seconds: float = 20.0, **given: str) -> Ran:
        (folder / "solution.py").write_text(code)
        return sandbox.run_python(folder / "solution.py", folder, given, limits=Limits(seconds=seconds))

    return run


def test_code_finds_its_variables_and_libraries_and_its_own_folder(attempt: Try, tmp_path: Path) -> None:
    code = (
        "import pandas, openpyxl, tempfile, shutil, threading\n"
        "open('a.txt', 'w').write(NAME)\nshutil.copy('a.txt', 'b.txt')\n"
        "t = threading.Thread(target=lambda: print(open('b.txt').read()))\nt.start()\nt.join()\n"
        "print(__name__, tempfile.NamedTemporaryFile().read())"
    )
    assert attempt(code, NAME="Ada") == Ran("Ada\n__main__ b''\n")
    assert (tmp_path / "work/b.txt").read_text() == "Ada"


def test_a_failure_is_told_as_python_tells_it_but_without_what_differs_from_run_to_run(attempt: Try) -> None:
    ran = attempt("def f():\n    raise ValueError(object(), __file__)\nf()\n")
    assert not ran.ok
    assert ran.problem.startswith('File "solution.py", line 3, in <module>')
    assert ran.problem.endswith("ValueError: (<object object at 0x…>, 'solution.py')")
    assert "child.py" not in ran.problem
    assert attempt("print({'a', 'b', 'c', 'd'})") == attempt("print({'a', 'b', 'c', 'd'})")


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("import sys; sys.exit('bad data')", "it ended with exit code 1: bad data"),
        ("import ctypes; ctypes.string_at(0)", "it was ended by SIGSEGV"),
        ("x = (", "SyntaxError"),
        ("", ""),
        ("import sys; sys.exit(0)", ""),
    ],
)
def test_how_it_ended(attempt: Try, code: str, problem: str) -> None:
    assert problem in attempt(code).problem
    assert attempt(code).ok is not bool(problem)


def test_an_endless_loop_is_ended(attempt: Try) -> None:
    started = time.monotonic()
    assert attempt("while True: pass", seconds=1.0).problem == "it was ended, for it took longer than 1 s"
    assert time.monotonic() - started < 10


def test_memory_and_files_are_limited(attempt: Try) -> None:
    raised = "import resource\nresource.setrlimit(resource.RLIMIT_AS, (2**40, 2**40))"
    assert "ValueError: not allowed to raise maximum limit" in attempt(raised).problem
    assert len(attempt("raise ValueError('x' * 1_000_000)").problem) < 21_000
    assert attempt("x = bytearray(10 * 2**30)").problem.endswith("MemoryError")
    assert "File too large" in attempt("open('big', 'wb').write(bytes(200 * 2**20))").problem


def test_the_environment_holds_no_secret(attempt: Try, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-1234")
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    ran = attempt("import os\nprint(dict(os.environ))\nprint(os.getcwd())")
    assert ran.ok
    assert "secret" not in ran.out
    assert "OPENAI" not in ran.out
    assert "nowhere" not in ran.out


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("open(OUTSIDE + '/x', 'w')", "refused to write outside the working folder"),
        ("import os; os.open(OUTSIDE + '/x', os.O_CREAT | os.O_WRONLY)", "refused to write outside"),
        ("open('../x', 'a')", "refused to write outside"),
        ("import os; os.remove(OUTSIDE + '/kept')", "refused to change what is outside"),
        ("import os; os.rename(OUTSIDE + '/kept', 'mine')", "refused to change what is outside"),
        ("import os; os.chmod(OUTSIDE + '/kept', 0)", "refused to change what is outside"),
        ("import os; os.symlink(OUTSIDE, 'link')", "refused to change what is outside"),
        ("import subprocess; subprocess.run(['true'])", "refused to start another program"),
        ("import os\nwhile True: os.fork()", "refused to start another program"),
        ("import os; os.system('true')", "refused to start another program"),
        ("import os; os.kill(os.getppid(), 9)", "refused to send a signal"),
        ("import socket; socket.create_connection(('127.0.0.1', 9))", "refused to use the network"),
    ],
)
def test_python_refuses_what_leads_out(attempt: Try, tmp_path: Path, code: str, problem: str) -> None:
    (tmp_path / "kept").write_text("kept")
    ran = attempt(code, OUTSIDE=str(tmp_path))
    assert problem in ran.problem
    assert "PermissionError" in ran.problem
    assert {path.name for path in tmp_path.iterdir()} == {"kept", "work"}


@KERNEL
@pytest.mark.parametrize(
    "code",
    [
        "print(libc.open(OUTSIDE + b'/x', 0o101, 0o644) < 0)",
        "print(libc.open(OUTSIDE + b'/kept', 0) < 0)",
        "print(libc.fork() < 0)",
        "print(libc.socket(2, 1, 0) < 0, libc.socket(1, 1, 0) < 0)",
        "import os; print(libc.kill(os.getppid(), 0) < 0, libc.kill(-1, 0) < 0)",
        "import os; print(libc.open(b'/proc/%d/environ' % os.getppid(), 0) < 0)",
        "print(libc.unlink(OUTSIDE + b'/kept') < 0)",
        "print(libc.execv(b'/bin/true', None) < 0)",
        "print(libc.ptrace(16, 1, 0, 0) < 0)",
        "import os; print(libc.setuid(os.getuid() + 1) < 0, libc.sethostname(b'x', 1) < 0)",
    ],
)
def test_the_kernel_refuses_it_even_below_python(attempt: Try, tmp_path: Path, code: str) -> None:
    (tmp_path / "kept").write_text("kept")
    ran = attempt(f"{LIBC}OUTSIDE = OUTSIDE.encode()\n{code}", OUTSIDE=str(tmp_path))
    assert set(ran.out.split()) == {"True"}, ran
    assert {path.name for path in tmp_path.iterdir()} == {"kept", "work"}


@KERNEL
def test_files_of_others_cannot_be_read(attempt: Try, tmp_path: Path) -> None:
    (tmp_path / "answer.xlsx").write_text("42")
    assert "Permission denied" in attempt("print(open('../answer.xlsx').read())").problem
    assert "Permission denied" in attempt("import os; print(os.listdir(HOME))", HOME=str(Path.home())).problem


def test_a_machine_that_cannot_start_it_is_no_failure_of_the_code(
    attempt: Try, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(ModelError, match="generated code cannot be run"):
        attempt("print(1)")


def test_without_a_kernel_that_helps_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "_run", lambda *args: Ran('{"files": false, "calls": false, "limits": false}'))
    told = sandbox.isolation.__wrapped__()
    assert told == "files of others can be read, network and processes refused by Python only, memory not limited"


@KERNEL
@pytest.mark.parametrize(
    "code",
    [
        "libc.memfd_create(b'x', 0)",
        "libc.shmget(0, 10 << 20, 0o1600)",
        "libc.semget(0, 5, 0o1600)",
        "libc.msgget(0, 0o1600)",
        "libc.socketpair(1, 1, 0, (ctypes.c_int * 2)())",
        "libc.fcntl(0, 8, os.getppid())",
        "libc.open_by_handle_at(os.open('.', 0), (ctypes.c_uint * 9)(32, 1), 0)",
    ],
)
def test_nothing_is_kept_beside_the_limits_and_nobody_is_signalled_by_a_file(attempt: Try, code: str) -> None:
    ran = attempt(f"{LIBC}import os\nassert {code} == -1\nprint(ctypes.get_errno())")
    assert ran == Ran("1\n")


@KERNEL
def test_files_of_others_keep_their_permissions_owners_and_times(attempt: Try, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.write_text("x")
    theirs.chmod(0o640)
    before = theirs.stat()
    name = f"{str(theirs)!r}.encode()"
    code = (
        f"{LIBC}libc.chmod({name}, 0o777)\nlibc.utimes({name}, None)\nlibc.chown({name}, 1, 1)\n"
        f"libc.fchmodat(-100, {name}, 0o777, 0)\nlibc.setxattr({name}, b'user.x', b'1', 1, 0)\n"
        "import shutil\nopen('a', 'w').write('x')\nshutil.copy2('a', 'b')"
    )
    assert attempt(code).ok
    after = theirs.stat()
    assert (after.st_mode, after.st_uid, after.st_mtime_ns, after.st_ctime_ns) == (
        before.st_mode,
        before.st_uid,
        before.st_mtime_ns,
        before.st_ctime_ns,
    )


@pytest.mark.parametrize(
    "code",
    [
        "n = 0\nwhile True:\n    open(str(n), 'wb').write(bytes(5 << 20))\n    n += 1",
        "n = 0\nwhile True:\n    open(str(n), 'w').close()\n    n += 1",
        pytest.param(
            "import os\nwhile True:\n    f = open('d', 'wb')\n    f.write(bytes(1 << 20))\n    os.unlink('d')",
            marks=pytest.mark.skipif(sys.platform != "linux", reason="nobody tells what a process has written"),
        ),
    ],
)
def test_the_disk_is_not_filled(tmp_path: Path, code: str) -> None:
    (tmp_path / "solution.py").write_text(code)
    ran = sandbox.run_python(tmp_path / "solution.py", tmp_path, limits=Limits(seconds=20, space=20 << 20))
    assert ran.problem == "it was ended, for it wrote more than 20 MB"


def test_a_job_of_any_length_is_run(tmp_path: Path) -> None:
    (tmp_path / "solution.py").write_text("import sys\nprint(len(sys.argv[1]), repr(sys.stdin.read()))")
    assert sandbox.run_python(tmp_path / "solution.py", tmp_path, arguments=["x" * 300_000]) == Ran("300000 ''\n")


def test_folders_within_folders_are_taken_away_however_deep() -> None:
    with scratch() as folder:
        code = "import os\nfor _ in range(1500):\n    os.mkdir('a' * 9)\n    os.chdir('a' * 9)"
        (folder / "solution.py").write_text(code)
        sandbox.run_python(folder / "solution.py", folder)
        deep = len(list(os.walk(folder)))
    assert deep > 100
    assert not folder.exists()
