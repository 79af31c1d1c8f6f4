"""LiveMathematicianBench: multiple choice on research mathematics. Scores are SkillOpt's: hard = soft = the label."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count, product
from string import ascii_uppercase
from typing import Any

from skillgit.tasks.base import Ask, BenchmarkContext, Score, Splits, Task, Trajectory, digest
from skillgit.tasks.benchmarks.items import data_identity, item_source, refuse_manifest
from skillgit.tasks.benchmarks.turns import Turns, with_skill
from skillgit.tasks.dataset import SplitOptions, load_splits
from skillgit.tasks.options import flag_option
from skillgit.tasks.problems import Problems
from skillgit.tasks.record import Record
from skillgit.tasks.rows import Row
from skillgit.tasks.scorers import livemath
from skillgit.tasks.text import clip, quote

_SCORER = 1
"""Version of `score` and of the order of choices."""


@dataclass(frozen=True)
class Asking:
    """What a question is asked with.

    Attributes:
        seed: of the order of choices; `None` keeps the order of the data.
        theorem, sketch: show the theorem, and the sketch of its proof.
    """

    seed: int | None = None
    theorem: bool = False
    sketch: bool = False

    @classmethod
    def of(cls, ctx: BenchmarkContext) -> Asking:
        """From `env.shuffle_choices` (on), `use_theorem` and `use_sketch`; the seed is the run's."""
        kept = ctx.options.get("shuffle_choices") is not None and not flag_option(ctx.options, "shuffle_choices")
        shown = (flag_option(ctx.options, name) for name in ("use_theorem", "use_sketch"))
        return cls(None if kept else ctx.seed, *shown)


class LiveMath:
    """One question with its choices per task."""

    name = "livemathematicianbench"

    def __init__(self, ctx: BenchmarkContext) -> None:
        self._ctx = ctx
        self._asking, self._turns = Asking.of(ctx), Turns.of(ctx)
        self.requests = self._turns.most

    def load(self) -> Splits:
        """The items of `env.split_dir`, or of `env.data_path` split by `env.split_ratio` (2:1:7).

        An item's choices come in an order that the run's seed and its id give, the same in every evaluation.
        """
        source = item_source(self._ctx, "LiveMathematicianBench")
        options = SplitOptions.of(self._ctx, "2:1:7")
        return load_splits(source, partial(parse_item, self._asking), options, self._ctx.root)

    def judge_digest(self) -> str:
        """Covers the scorer, the prompt, and the data where it has a digest; what is shown is in the tasks."""
        prompt = [(m.role, m.content) for m in with_skill("livemath", "", material="", question="")]
        known = {"livemathematicianbench": _SCORER, "prompt": prompt}
        return digest(known | self._turns.identity() | data_identity(self._ctx))

    def rollout(self, task: Task, skill: str, ask: Ask) -> Trajectory:
        """The question with its choices; without a skill its section is left out."""
        material = f"{task.context}\n\n" if task.context else ""
        messages = with_skill("livemath", skill, material=material, question=task.input)
        return self._turns.ask(messages, ask, lambda response: score(task, response))


def parse_item(asking: Asking, row: Row, problems: Problems) -> Task | None:
    """One item as published, or with its `mcq` fields beside the others. Stops at once at an id manifest."""
    record = Record.of(row, problems)
    if record is None:
        return None
    refuse_manifest(record, "livemathematicianbench", ("question", "mcq", "choices"))
    inner = record.value.get("mcq")
    record = replace(record, value={**record.value, **(inner if isinstance(inner, dict) else {})})
    name, question = _id(record), record.text("question")
    choices = _choices(record)
    correct = _correct(record, choices) if choices else None
    if not (name and question and choices and correct):
        return None
    choices, correct = _ordered(choices, correct, name, asking.seed)
    listed = "\n".join(f"{label}. {text}" for label, text in choices.items())
    return Task(
        name,
        f"{question}\n\n{listed}",
        context=_material(record, asking),
        answers=(correct, choices[correct]),
        tags=_types(record),
        where=row.where,
        data={"choices": [[label, text] for label, text in choices.items()]},
    )


def _id(record: Record) -> str | None:
    """`<month>:<no>` where the item has no id of its own."""
    value, month, number = record.value, record.value.get("month"), record.value.get("no")
    if "id" not in value and number is not None:
        record = replace(record, value={**value, "id": f"{month}:{number}" if month else number})
    return record.id()


def _labels() -> Iterator[str]:
    """A to Z, then AA, AB and so on."""
    for length in count(1):
        yield from map("".join, product(ascii_uppercase, repeat=length))


def _choices(record: Record) -> dict[str, str] | None:
    """Label to text. Choices are objects with a label and a text, texts that get labels, or an object of both."""
    given = record.value.get("choices")
    if isinstance(given, dict):
        given = [{"label": label, "text": text} for label, text in given.items()]
    if not isinstance(given, list) or not given:
        record.bad('"choices" must be a list of choices' if given else 'has no "choices"')
        return None
    pairs = [_pair(label, choice) for label, choice in zip(_labels(), given, strict=False)]
    found = {label: text for label, text in pairs if label and text}
    if len(found) < len(pairs):
        record.bad('"choices" must hold texts, or a label of its own and a text each')
        return None
    return found


def _pair(label: str, choice: Any) -> tuple[str, str]:
    if isinstance(choice, dict):
        label, choice = choice.get("label", label), choice.get("text")
    label = label.strip().upper() if isinstance(label, str) else ""
    return label, choice.strip() if isinstance(choice, str) else ""


def _correct(record: Record, choices: dict[str, str]) -> str | None:
    """The label of the correct choice, which joins the others when it is not among them."""
    value = record.value
    told = value.get("correct_choice", {"label": value.get("correct_label"), "text": value.get("correct_text")})
    label, text = _pair("", told if isinstance(told, dict) else {"label": told, "text": ""})
    same = next((name for name, other in choices.items() if text and other == text), None)
    if label in choices or same:
        return label if label in choices else same
    if label and text:
        choices[label] = text
        return label
    record.bad('"correct_choice" must be the label of a choice, or a label and a text')
    return None


def _ordered(choices: Mapping[str, str], correct: str, name: str, seed: int | None) -> tuple[dict[str, str], str]:
    """The choices in the task's own order under labels from A on, and the correct one's label there."""
    labels = list(choices)
    if seed is not None:
        start = int(hashlib.sha256(f"{seed}:{name}".encode()).hexdigest()[:16], 16)
        random.Random(start).shuffle(labels)  # noqa: S311 - must be repeatable, not secret
    named = dict(zip(_labels(), labels, strict=False)) if seed is not None else {label: label for label in labels}
    place = next(new for new, old in named.items() if old == correct)
    return {new: choices[old] for new, old in named.items()}, place


def _material(record: Record, asking: Asking) -> str:
    shown: Sequence[tuple[str, str, bool]] = (
        ("theorem", "Theorem", asking.theorem),
        ("sketch", "Sketch of a proof", asking.sketch),
    )
    texts = [(title, record.optional_text(field)) for field, title, wanted in shown if wanted]
    return "\n\n".join(f"## {title}\n\n{text.strip()}" for title, text in texts if text.strip())


def _types(record: Record) -> tuple[str, ...]:
    given = record.value.get("theorem_type")
    kinds = [given] if isinstance(given, str) else given if isinstance(given, list) else []
    return tuple(kind.strip() for kind in kinds if isinstance(kind, str) and kind.strip())


def score(task: Task, response: str) -> Score:
    """Whether the label that the response picks is the correct one."""
    choices = dict(task.data["choices"])
    label, value = livemath.score(response, choices, task.answers[0])
    if value:
        return Score(1.0, 1.0, label, lenient=1.0)
    meant = livemath.lenient_label(response, choices)
    reason = f"livemathematicianbench: picked {quote(label)}, expected {quote(task.answers[0])}"
    return Score(0.0, 0.0, clip(label), reason, float(meant == task.answers[0]))
