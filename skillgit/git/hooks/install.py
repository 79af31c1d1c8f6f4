"""Native hooks: what installing and removing them changes, as data before any of it is done."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from skillgit.errors import GitError
from skillgit.git.hooks import shims
from skillgit.git.hooks.place import KEY, Place, find_place, is_own, own_folder, settings
from skillgit.git.repository import Repository

NAMES = ("pre-commit", "pre-merge-commit", "commit-msg", "pre-push", "post-merge", "post-rewrite")

_MADE = ".made-by-skillgit"  # in a hooks folder that was not there before, so that it can go again


@dataclass(frozen=True)
class Change:
    """One thing to do: `write`, `rename`, `remove`, `set` or `unset`, to what, and what to know of it."""

    verb: str
    what: str
    detail: str = ""
    act: Callable[[], object] = field(default=lambda: None, compare=False, repr=False)


def plan_install(repo: Repository, names: Sequence[str] = NAMES) -> list[Change]:
    """What makes git run skillgit in `names`; nothing where that is so already. Hooks that are there are kept and run.

    Raises:
        GitError: a hook and the one it once replaced are both others' by now, or `core.hooksPath` is passing.
    """
    place = find_place(repo)
    if place.kind == "outer":
        return list(_stand_in(repo, place, names))
    if place.kind == "husky":
        plan = [change for name in names for change in _write_block(place.folder / name, name)]
    else:
        plan = [change for name in names for change in _write_shim(place.folder, name)]
        if not place.folder.exists():
            plan.insert(0, _write(place.folder / _MADE, b"", mode=0o644))
    # A folder that stood in for an outer one would hide the hooks just written.
    return [*plan, *_dismiss(repo)]


def plan_uninstall(repo: Repository, names: Sequence[str] = NAMES) -> list[Change]:
    """What takes our hooks out of every place this worktree uses or used, and puts back what they replaced."""
    place = find_place(repo)
    folders = [repo.common_dir / "hooks"]
    if place.kind in ("plain", "tracked") and place.folder not in folders:
        folders.append(place.folder)
    plan = [change for folder in folders for change in _remove_shims(folder, names)]
    if place.kind == "husky":
        plan += [change for name in names for change in _remove_block(place.folder / name)]
    own = own_folder(repo)
    ours = [name for name in NAMES if shims.calls_skillgit(own / name)]
    if set(ours) <= set(names):
        return [*plan, *_dismiss(repo)]
    return plan + [_write(own / name, shims.passing(name, place.outer)) for name in names if name in ours]


def carry_out(plan: Sequence[Change]) -> None:
    """Do it, in order. Raises `GitError` for a file that cannot be written."""
    for change in plan:
        try:
            change.act()
        except OSError as error:
            raise GitError(f"cannot {change.verb} {change.what}", why=str(error)) from error


def _write_shim(folder: Path, name: str) -> Iterator[Change]:
    path, data = folder / name, shims.shim(name)
    if shims.is_ours(shims.legacy(path)) and shims.is_framework(path):
        path = shims.legacy(path)
    elif os.path.lexists(path) and not shims.is_ours(path) and not _is_back(path):
        if os.path.lexists(shims.kept(path)):
            raise GitError(
                f"{path} and {shims.kept(path).name} are both there",
                why="another program has replaced skillgit's hook",
                fix=f"put into {name} what both do, remove {shims.kept(path).name}, then run this again",
            )
        yield _rename(path, shims.kept(path), "it runs first")
    if not _same(path, data):
        yield _write(path, data)


def _is_back(path: Path) -> bool:
    """True when the hook that ours replaced stands there again, as `git checkout` brings back a tracked one."""
    kept = shims.kept(path)
    return path.is_file() and kept.is_file() and not shims.is_ours(path) and path.read_bytes() == kept.read_bytes()


def _write_block(path: Path, name: str) -> Iterator[Change]:
    if path.is_symlink():
        raise GitError(f"{path} is a symbolic link", fix="put the script itself there, then run this again")
    before = path.read_bytes() if path.is_file() else b""
    after = shims.with_block(before, name)
    if after != before:
        # A script that is there keeps its mode; husky needs none.
        yield _write(path, after, mode=None)


def _remove_shims(folder: Path, names: Sequence[str]) -> Iterator[Change]:
    gone = 0
    for name in names:
        path = folder / name
        ours = [shim for shim in (path, shims.legacy(path)) if shims.is_ours(shim)]
        gone += len(ours)
        yield from map(_remove, ours)
        if os.path.lexists(shims.kept(path)) and (ours or not os.path.lexists(path)):
            yield _rename(shims.kept(path), ours[0] if ours else path, "as it was")
        elif _is_back(path):
            yield _remove(shims.kept(path))
    made = folder / _MADE
    if gone and made.exists() and len(list(folder.iterdir())) == gone + 1:
        yield _remove(made)
        yield Change("remove", str(folder), act=folder.rmdir)


def _remove_block(path: Path) -> Iterator[Change]:
    if shims.has_block(path) and not path.is_symlink():
        rest = shims.without_block(path.read_bytes())
        yield _write(path, rest, mode=None) if rest else _remove(path)


def _stand_in(repo: Repository, place: Place, names: Sequence[str]) -> Iterator[Change]:
    """Shims in a folder of ours, which also run every hook of the outer folder, and the setting that names it."""
    own, outer = place.folder, (repo.top or repo.common_dir) / place.outer
    ours = {*names, *(name for name in NAMES if shims.calls_skillgit(own / name))}
    for name in sorted({*ours, *_hooks_in(outer)}):
        data = (shims.shim if name in ours else shims.passing)(name, place.outer)
        if not _same(own / name, data):
            yield _write(own / name, data)
    if place.effective != own:
        set_it = partial(repo.git.run, "config", place.scope, "--add", KEY, own.as_posix())
        yield Change("set", KEY, f"{own}; hooks of {place.outer} still run", set_it)


def _dismiss(repo: Repository) -> Iterator[Change]:
    """Remove the folder that stood in for an outer one, and its setting, which is ours alone."""
    for setting in settings(repo):
        if is_own(repo, setting):
            args = ("config", f"--{setting.scope}", "--fixed-value", "--unset-all", KEY, setting.value)
            yield Change("unset", KEY, setting.value, partial(repo.git.run, *args))
    own = own_folder(repo)
    found = sorted(own.iterdir()) if own.is_dir() else []
    yield from map(_remove, filter(shims.is_ours, found))
    if found and all(map(shims.is_ours, found)):
        yield Change("remove", str(own), act=own.rmdir)


def _hooks_in(folder: Path) -> list[str]:
    """Names of the hooks that git would run from a folder."""
    found = folder.iterdir() if folder.is_dir() else []
    return [path.name for path in found if "." not in path.name and shims.runnable(path)]


def _same(path: Path, data: bytes) -> bool:
    return shims.runnable(path) and path.read_bytes() == data


def _write(path: Path, data: bytes, mode: int | None = 0o755) -> Change:
    return Change("write", str(path), act=partial(_write_file, path, data, mode))


def _write_file(path: Path, data: bytes, mode: int | None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    if mode is not None:
        path.chmod(mode)


def _rename(path: Path, to: Path, why: str) -> Change:
    return Change("rename", str(path), f"{to.name}; {why}", partial(path.rename, to))


def _remove(path: Path) -> Change:
    return Change("remove", str(path), act=path.unlink)
