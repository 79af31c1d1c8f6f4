"""OfficeQA as a benchmark: documents with tools, pages alone, or searches; or a folder of documents for an agent."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from skillgit.errors import ConfigError, TaskError
from skillgit.models.base import Message
from skillgit.models.prompt import render, text
from skillgit.tasks.base import Ask, BenchmarkContext, Splits, Task, Trajectory, digest
from skillgit.tasks.benchmarks.items import data_identity, item_source
from skillgit.tasks.benchmarks.officeqa import pages, scoring
from skillgit.tasks.benchmarks.officeqa.corpus import Corpus
from skillgit.tasks.benchmarks.officeqa.items import parse_item
from skillgit.tasks.benchmarks.officeqa.pages import Pages
from skillgit.tasks.benchmarks.officeqa.rounds import search_rounds
from skillgit.tasks.benchmarks.officeqa.search import Search
from skillgit.tasks.benchmarks.officeqa.tools import Shelf
from skillgit.tasks.benchmarks.single import ask_once, max_tokens, trajectory
from skillgit.tasks.benchmarks.turns import unusable, with_skill
from skillgit.tasks.dataset import SplitOptions, load_splits
from skillgit.tasks.options import flag_option, text_option, whole_option
from skillgit.tasks.toolloop import converse

_LISTED = 20
"""Most documents that a question names, and most that an agent gets with one."""

_HANDED = 10_000_000
"""Most bytes of documents that an agent gets with one question."""

_DEFAULT_FOLDER = "data/officeqa_docs_official"


class OfficeQA:
    """One question with its documents per task."""

    name = "officeqa"

    def __init__(self, ctx: BenchmarkContext) -> None:
        self._ctx, self._limit = ctx, max_tokens(ctx)
        self._turns = whole_option(ctx.options, "max_tool_turns", 24) or 24
        self._queries = whole_option(ctx.options, "max_queries_per_turn", 4) or 4
        self._tools = flag_option({"use_local_tools": True, **ctx.options}, "use_local_tools")
        self._mode = text_option(ctx.options, "search_mode") or "offline"
        if self._mode not in ("offline", "custom_search"):
            raise ConfigError(f"unknown env.search_mode {self._mode!r}", fix="choose one of: offline, custom_search")
        self._search = Search.of(ctx.options) if self._mode == "custom_search" else None
        self.requests = self._turns if self._tools or self._search else 1

    def load(self) -> Splits:
        """The items of `env.split_dir`, or of `env.data_path` split by `env.split_ratio` (2:1:7); the documents are
        indexed, too, so that they are known to be there before any model is asked."""
        source = item_source(self._ctx, "OfficeQA", tables=True)
        splits = load_splits(source, parse_item, SplitOptions.of(self._ctx, "2:1:7"), self._ctx.root)
        if self._search is None:
            self._check_documents([*splits.train, *splits.val, *splits.test])
        return splits

    def judge_digest(self) -> str:
        """Covers the scorer, the prompts, tools and limits, the documents' names and sizes, and the data's digest."""
        known: dict[str, Any] = {"officeqa": scoring.VERSION, "mode": self._mode, "turns": self.requests}
        known["prompt"] = [(m.role, m.content) for m in with_skill("officeqa", "", **_blank(self._guidance))]
        if self._search:
            said = [text(name) for name in ("officeqa_more", "officeqa_last")]
            return digest(known | self._search.identity() | {"said": said, "queries": self._queries} | self._data)
        known |= {"documents": self._corpus.identity(), "pages": [pages.PAGE, pages.ALL], "listed": _LISTED}
        known["agent"] = [text("officeqa_agent"), _HANDED]
        known["tools"] = [tool.offer() for tool in Shelf(self._corpus, ()).tools()] if self._tools else []
        return digest(known | self._data)

    def rollout(self, task: Task, skill: str, ask: Ask) -> Trajectory:
        """The question with its pages and tools until it is answered; without a skill its section is left out."""
        if self._search:
            messages = self._asked(task, skill, "")
            return search_rounds(task, messages, self._search, ask, (self._turns, self._queries, self._limit))
        names = self._documents(task)
        if not names:
            return unusable(task, _missing(task))
        messages = self._asked(task, skill, self._material(task, names[:_LISTED], len(names)))
        if not self._tools:
            turns, cut = ask_once(messages, self._limit, ask)
            return trajectory(turns, scoring.score(task, turns[-1].content), cut)
        tools = Shelf(self._corpus, names).tools()
        talk = converse(messages, tools, ask, most_turns=self._turns, max_tokens=self._limit)
        score = scoring.score(task, talk.text if talk.ended else "")
        if not talk.ended:
            score = replace(score, reason=f"officeqa: still called tools in turn {self._turns}, its last")
        return trajectory(talk.turns, score, talk.cut)

    def attachments(self, task: Task) -> Mapping[str, str | bytes]:
        """The documents of a question, as far as they are few and small enough to be handed over."""
        if self._search or not self._tools:
            return {}
        room = _HANDED
        handed: dict[str, str | bytes] = {}
        for name in self._documents(task)[:_LISTED]:
            size = self._corpus.files[name].size
            if size <= room and (found := self._corpus.readable(name)) is not None:
                handed[name] = found
                room -= size
        return handed

    def work(self, task: Task, ask: Ask) -> Trajectory:
        """The question for an agent, which has the documents as files and needs no tools of ours."""
        if self._search or not self._tools:
            return self.rollout(task, "", ask)
        names = self._documents(task)
        handed = list(self.attachments(task))
        if not handed:
            return unusable(task, "none of its documents can be handed over" if names else _missing(task))
        material = self._material(task, handed, len(names))
        turns, cut = ask_once(self._asked(task, "", material, text("officeqa_agent")), self._limit, ask)
        return trajectory(turns, scoring.score(task, turns[-1].content), cut)

    @cached_property
    def _corpus(self) -> Corpus:
        named = self._ctx.options.get("data_dirs") or os.environ.get("OFFICEQA_DOCS_DIR", "").strip() or _DEFAULT_FOLDER
        folders = [named] if isinstance(named, str) else list(named)
        return Corpus.build([self._ctx.root / Path(folder).expanduser() for folder in folders])

    @cached_property
    def _pages(self) -> Pages:
        return Pages(self._corpus.parsed)

    @cached_property
    def _data(self) -> dict[str, Any]:
        return data_identity(self._ctx)

    def _check_documents(self, tasks: Sequence[Task]) -> None:
        """One item without its documents is that item's fault; all of them without are a wrong folder."""
        if not any(self._documents(task) for task in tasks):
            named = ", ".join(tasks[0].data["files"][:3])
            raise TaskError(
                "the documents that the items name are not there",
                why=f"the first item is about {named}, and no item finds its own",
                fix="set env.data_dirs to the folders that hold them",
            )

    @property
    def _guidance(self) -> str:
        if self._search:
            return render("officeqa_search", most=str(self._queries))[0].content
        return text("officeqa_tools" if self._tools else "officeqa_pages")

    def _documents(self, task: Task) -> list[str]:
        """What a question may look into: the documents that it names, or all of them when it names none."""
        named = task.data["files"]
        return self._corpus.named(named) if named else list(self._corpus.files)

    def _asked(self, task: Task, skill: str, material: str, guidance: str = "") -> tuple[Message, ...]:
        values = {"question": task.input, "material": material, "guidance": guidance or self._guidance}
        system, user = with_skill("officeqa", skill, **values)
        return system, replace(user, content=user.content.rstrip())

    def _material(self, task: Task, names: list[str], among: int) -> str:
        """Pages, documents and sources; nothing of them that is not there."""
        more = f"\n[and {among - len(names)} more]" if among > len(names) else ""
        parts = {
            "Pages": self._pages.of(task.data["files"], task.data["links"]),
            "Documents": _list(names) + more if self._tools else "",
            "Where they come from": _list(task.data["links"]),
        }
        return "\n\n".join(f"## {title}\n\n{part}" for title, part in parts.items() if part)


def _list(names: Iterable[str]) -> str:
    return "\n".join(f"- {name}" for name in names)


def _blank(guidance: str) -> dict[str, str]:
    return {"question": "", "material": "", "guidance": guidance}


def _missing(task: Task) -> str:
    return f"none of its documents is in env.data_dirs: {', '.join(task.data['files'][:3])}"
