"""More to learn from: rewordings of tonight's train tasks, and earlier tasks of the same project that are like them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from skillgit.models.pending import answered, held
from skillgit.models.prompt import render
from skillgit.optimizer.advisor import Advisor
from skillgit.skills.words import bag, similarity
from skillgit.sleep.mine.base import MinedTask

_NEAR = 0.8  # as alike as this, two requests are the same one
_FACTS = re.compile(r"\d[\w.,:/-]*|\"[^\"]+\"|`[^`]+`|[\w./-]+\.\w{1,5}\b|(?<=[a-z,] )[A-Z]\w+")
_SCHEMA = {
    "type": "object",
    "properties": {"requests": {"type": "array", "items": {"type": "string", "minLength": 1}}},
    "required": ["requests"],
}


def dreams(advisor: Advisor, tasks: Sequence[MinedTask], factor: int, workers: int) -> list[MinedTask]:
    """Up to `factor` rewordings of each train task, judged as the task itself is.

    One that lost a number, name or quotation of the original would have another answer, and is dropped.
    """
    train = [mined for mined in tasks if mined.split == "train" and mined.origin == "real"]
    if not factor or not train:
        return []

    def ask(numbered: tuple[int, MinedTask]) -> list[MinedTask]:
        index, mined = numbered
        messages = render("dream", request=mined.task.input.replace("</request", "‹/request"), count=str(factor))
        reply = advisor.ask(messages, _SCHEMA, stage="dream", step=0, index=index, spare=True)
        return list(_variants(mined, reply["requests"][:factor])) if reply else []

    with ThreadPoolExecutor(workers, "dream") as pool:
        return [variant for some in answered(pool.map(held(ask), enumerate(train))) for variant in some]


def _variants(mined: MinedTask, texts: Iterable[str]) -> Iterator[MinedTask]:
    facts = set(_FACTS.findall(mined.task.input))
    for number, text in enumerate(dict.fromkeys(" ".join(text.split()) for text in texts), 1):
        if text != mined.task.input and all(fact in text for fact in facts):
            task = replace(mined.task, id=f"{mined.task.id}-dream{number}", input=text)
            yield replace(mined, task=task, origin="dream", derived_from=mined.task.id)


def recall(tasks: Sequence[MinedTask], earlier: Sequence[MinedTask], most: int) -> list[MinedTask]:
    """Up to `most` earlier tasks of the same project that are most like tonight's train tasks, to learn from.

    Only those that are train tasks themselves are: another one measures on some night. None that is nearly a task of
    tonight's, of any split, is taken: it would bring a val task into train.
    """
    train = [(bag(mined.task.input), mined.project) for mined in tasks if mined.split == "train"]
    tonight = [bag(mined.task.input) for mined in tasks]
    found = []
    for mined in (one for one in earlier if one.split == "train"):
        words = bag(mined.task.input)
        near = max((similarity(words, other) for other, project in train if project == mined.project), default=0.0)
        if near > 0 and all(similarity(words, other) < _NEAR for other in tonight):
            found.append((-near, mined.task.id, mined))
    nearest = [mined for *_, mined in sorted(found)[:most]]
    return [replace(mined, origin="recall", derived_from=mined.task.id) for mined in nearest]
