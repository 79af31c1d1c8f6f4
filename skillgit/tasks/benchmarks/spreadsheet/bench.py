"""The benchmark: single, multi and react with a model, and a folder to work in with an agent."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

from skillgit.errors import ConfigError
from skillgit.models.base import Message, Request
from skillgit.models.clients.process import scratch
from skillgit.models.prompt import render
from skillgit.tasks.base import Ask, BenchmarkContext, Splits, Task, Trajectory, digest
from skillgit.tasks.benchmarks.items import item_source
from skillgit.tasks.benchmarks.single import max_tokens
from skillgit.tasks.benchmarks.spreadsheet.books import preview, read_books, whole
from skillgit.tasks.benchmarks.spreadsheet.cases import UnusableError, cases_of, read_book
from skillgit.tasks.benchmarks.spreadsheet.code import program_in
from skillgit.tasks.benchmarks.spreadsheet.compare import Verdict, areas_of
from skillgit.tasks.benchmarks.spreadsheet.load import item_parser, marked
from skillgit.tasks.benchmarks.spreadsheet.office import office
from skillgit.tasks.benchmarks.spreadsheet.react import solution, tools
from skillgit.tasks.benchmarks.spreadsheet.report import report, score
from skillgit.tasks.benchmarks.spreadsheet.talk import Patience, talk
from skillgit.tasks.benchmarks.spreadsheet.work import INPUT, OUTPUT, SOLUTION, Prepared, Work
from skillgit.tasks.benchmarks.turns import unusable, with_skill
from skillgit.tasks.data.digest import data_digest
from skillgit.tasks.dataset import SplitOptions, load_splits
from skillgit.tasks.options import text_option, whole_option
from skillgit.tasks.problems import suggest
from skillgit.tasks.rows import shown
from skillgit.tasks.sandbox import isolation
from skillgit.tasks.toolloop import converse

_SCORER = 1
"""Version of the comparison, of the tools and of what is shown of a workbook."""

_TURNS = 30
_MODES = ("single", "multi", "react")
_PROMPTS = ("", "_react", "_agent", "_no_code", "_error", "_wrong")
_KEPT_CELLS, _KEPT_BYTES = 20_000, 2_000_000
"""A task with more cells in its answer, or larger workbooks, is read anew each time."""


@dataclass(frozen=True)
class _Done:
    """What the target did: turns, its last program, and whether an output of the first case stands already."""

    turns: tuple[Message, ...]
    code: str
    cut: bool = False
    made: bool = False


class SpreadsheetBench:
    """Workbooks to change. An agent may change files; a model writes a program that does."""

    name = "spreadsheetbench"
    edits = True

    def __init__(self, ctx: BenchmarkContext) -> None:
        missing = [name for name in ("openpyxl", "pandas") if find_spec(name) is None]
        if missing:
            raise ConfigError(f"{' and '.join(missing)} not found", fix="pip install 'skillgit[spreadsheetbench]'")
        self._ctx, self._mode = ctx, text_option(ctx.options, "mode") or "multi"
        if self._mode not in _MODES:
            raise ConfigError(f'unknown env.mode "{self._mode}"{suggest(self._mode, _MODES)}')
        turns = 1 if self._mode == "single" else whole_option(ctx.options, "max_turns") or _TURNS
        self.requests = turns
        self._patience = Patience(turns, float(ctx.options.get("exec_timeout") or 600.0), max_tokens(ctx))
        self._prepared: dict[str, Prepared] = {}
        self._lock = threading.Lock()

    @property
    def scoring(self) -> str:
        """What this machine has to run programs with, and to calculate formulas."""
        return f"{'formulas calculated by LibreOffice' if office() else 'formulas not calculated'}; {isolation()}"

    def load(self) -> Splits:
        """The items of `env.split_dir`, or of `env.data_path` split by `env.split_ratio` (2:1:7)."""
        source = item_source(self._ctx, "SpreadsheetBench")
        options = SplitOptions.of(self._ctx, "2:1:7")
        root = self._root()
        return marked(load_splits(source, item_parser(root), options, self._ctx.root), shown(root, self._ctx.root))

    def judge_digest(self) -> str:
        """Covers the scorer, the prompts, the mode, its limits, and whether formulas are calculated."""
        prompts = {name: [(turn.role, turn.content) for turn in _blank(f"spreadsheet{name}")] for name in _PROMPTS}
        asked = {"mode": self._mode, "turns": self._patience.turns, "calculates": bool(office())}
        if self._mode == "multi":
            asked["seconds"] = self._patience.seconds
        data = data_digest(item_source(self._ctx, "SpreadsheetBench").folder)
        return digest({"spreadsheetbench": _SCORER, "prompts": prompts, **asked, "data": data})

    def rollout(self, task: Task, skill: str, ask: Ask) -> Trajectory:
        """Talk until there is a program, then run it on every test case."""
        return self._roll(task, lambda prepared, work: self._told(task, prepared, work, skill, ask))

    def attachments(self, task: Task) -> Mapping[str, str | bytes]:
        """The workbook of the first test case, where it can be read."""
        try:
            return {INPUT: read_book(self._root(), cases_of(task)[0].given)} if _usable(task) else {}
        except UnusableError:
            return {}

    def work(self, task: Task, ask: Ask) -> Trajectory:
        """An agent leaves `solution.py`, or the changed workbook, in its folder."""
        return self._roll(task, lambda prepared, work: _left(task, prepared, work, ask))

    def _roll(self, task: Task, do: Callable[[Prepared, Work], _Done]) -> Trajectory:
        try:
            prepared = self._prepare(task)
        except UnusableError as error:
            return unusable(task, str(error))
        with scratch() as folder:
            work = Work(prepared, folder)
            done = do(prepared, work)
            verdicts = work.verdicts(done.code, keep_first=done.made)
        return _trajectory(done, verdicts, work.office_said)

    def _told(self, task: Task, prepared: Prepared, work: Work, skill: str, ask: Ask) -> _Done:
        react = self._mode == "react"
        messages = with_skill("spreadsheet_react" if react else "spreadsheet", skill, **_asked(task, prepared))
        if not react:
            said = talk(messages, work, ask, self._patience, feedback=bool(task.data.get("feedback")))
            return _Done(said.turns, said.code, said.cut)
        patience = self._patience
        spoken = converse(messages, tools(work), ask, most_turns=patience.turns, max_tokens=patience.tokens)
        return _Done(spoken.turns, solution(work), spoken.cut, made=True)

    def _prepare(self, task: Task) -> Prepared:
        """What is known of a task; read once, for it is the same in every rollout."""
        key = task.digest()
        with self._lock:
            known = self._prepared.get(key)
        if known is None:
            known = _prepare(task, self._root())
            cells = sum(len(area.cells) for area in known.areas) * len(known.cases)
            if cells <= _KEPT_CELLS and sum(map(len, known.given)) <= _KEPT_BYTES:
                with self._lock:
                    self._prepared[key] = known
        return known

    def _root(self) -> Path:
        """Folder of the workbooks: `env.data_root`, else where the items are."""
        named = text_option(self._ctx.options, "data_root")
        root = self._ctx.root / named if named else item_source(self._ctx, "SpreadsheetBench").folder
        if not root.is_dir():
            raise ConfigError("there is no such folder", where=shown(root, self._ctx.root), fix="check env.data_root")
        return root


def _usable(task: Task) -> bool:
    return "unusable" not in task.data


def _prepare(task: Task, root: Path) -> Prepared:
    if not _usable(task):
        raise UnusableError(str(task.data["unusable"]))
    areas, cases = areas_of(task.data["position"], task.judge["sheet"]), cases_of(task)
    names = [cases[0].given, *(case.wanted for case in cases)]
    given = tuple(read_book(root, case.given) for case in cases)
    with scratch() as folder:
        paths = [folder / f"{number}.xlsx" for number in range(len(names))]
        for name, path in zip(names, paths, strict=True):
            path.write_bytes(read_book(root, name))
        first, *wanted = [whole(b, n) for b, n in zip(read_books(folder, paths, areas, heads=True), names, strict=True)]
    for book in wanted:
        if None in book.areas:
            raise UnusableError("the sheet of the answer is not in the workbook that is wanted")
    return Prepared(tuple(cases), areas, given, tuple(wanted), preview(first))


def _asked(task: Task, prepared: Prepared) -> dict[str, str]:
    kind = task.data["type"] or "not given"
    return {"instruction": task.input, "kind": kind, "position": task.context, "preview": prepared.preview}


def _left(task: Task, prepared: Prepared, work: Work, ask: Ask) -> _Done:
    """What an agent left in its folder, else the program in its words."""
    messages = render("spreadsheet_agent", **_asked(task, prepared))
    reply = ask(Request(messages=messages))
    thoughts = (Message("reasoning", reply.reasoning),) if reply.reasoning else ()
    turns = (*messages, *thoughts, Message("assistant", reply.text))
    code = reply.files.get(SOLUTION, b"").decode("utf-8", "replace")
    made = OUTPUT in reply.files
    if made:
        work.put(0, reply.files[OUTPUT])
    spoken = program_in(reply.text) if "```" in reply.text and not made else ""
    return _Done(turns, code or spoken, made=made)


def _trajectory(done: _Done, verdicts: list[Verdict], office_said: str) -> Trajectory:
    words = [turn.content for turn in done.turns if turn.role == "assistant"]
    told = score(verdicts)
    if done.cut and told.reason:
        told = replace(told, reason=f"{told.reason} (the reply was cut at the token limit)")
    turns = (*done.turns, Message("tool", report(verdicts, office_said)))
    return Trajectory(turns, words[-1], told)


def _blank(prompt: str) -> tuple[Message, ...]:
    """A prompt with nothing in it, for its identity."""
    names = ("skill_section", "instruction", "kind", "position", "preview", "error", "cells")
    return render(prompt, **dict.fromkeys(names, ""))
