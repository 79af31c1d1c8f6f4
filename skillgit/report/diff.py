"""Two states of a repository compared skill by skill: rules, other files, length, scores and flipped tasks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from skillgit.errors import SkillError
from skillgit.evals.evidence import SPLITS, Evidence, compare, read_evidence
from skillgit.git.objects import Entry, read_blobs
from skillgit.git.repository import Repository
from skillgit.report.sides import Pair, Side, is_file, pairs
from skillgit.skills import compare as rules
from skillgit.skills.document import Document
from skillgit.skills.size import tokens


def differences(repo: Repository, before: Side, after: Side, skill: str = "", cwd: Path | None = None) -> list[Any]:
    """What differs, skill by skill, as JSON values.

    Args:
        skill: a name or path; empty for every skill folder that differs.

    Raises:
        SkillError: the named skill is on neither side.
    """
    found = pairs(repo, before, after, skill, cwd)
    objects = [name for pair in found for name in (before.object(pair.before), after.object(pair.after)) if name]
    evidence = read_evidence(repo, objects)
    files = [(_files(before, pair.before), _files(after, pair.after)) for pair in found]
    texts = _texts(repo, [part for sides in files for part in sides])
    return [_difference(before, after, pair, sides, texts, evidence) for pair, sides in zip(found, files, strict=True)]


def _texts(repo: Repository, skills: Iterable[Mapping[str, Entry]]) -> dict[str, str]:
    """Object id to text of every document and reference, read by one git.

    What is no text can still be compared: what cannot be read shows as such.
    """
    read = [entry for files in skills for path, entry in files.items() if path == "SKILL.md" or _is_reference(path)]
    names = list(dict.fromkeys(str(entry.object) for entry in read if is_file(entry)))
    blobs = read_blobs(repo, names)
    return {name: (blob or b"").decode("utf-8", "replace") for name, blob in zip(names, blobs, strict=True)}


def _is_reference(path: str) -> bool:
    return path.startswith("references/")


def _difference(
    before: Side,
    after: Side,
    pair: Pair,
    files: tuple[Mapping[str, Entry], Mapping[str, Entry]],
    texts: Mapping[str, str],
    evidence: Mapping[str, Evidence],
) -> dict[str, Any]:
    old, new = files
    documents = (_document(old, texts), _document(new, texts))
    objects = (before.object(pair.before), after.object(pair.after))
    known = [evidence.get(name or "", Evidence()) for name in objects]
    return {
        "skill": _text(pair.name),
        "path": _text(pair.path),
        "old_path": _text(pair.before) or None,
        "status": "same" if objects[0] == objects[1] and pair.status == "changed" else pair.status,
        "before": objects[0],
        "after": objects[1],
        **_rules(rules.compare(*documents)),
        "files": list(_file_changes(old, new)),
        "tokens": {
            "before": _tokens(documents[0], old, texts),
            "after": _tokens(documents[1], new, texts),
        },
        "scores": {split: score_change(known[0], known[1], split) for split in SPLITS},
    }


def _text(path: str) -> str:
    """A path as text, also when its bytes are none."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _files(side: Side, path: str) -> dict[str, Entry]:
    """Files of a skill, by path inside it; the document of a bare file is called `SKILL.md` too."""
    if not path or path not in side.files:
        return {}
    if side.files[path].mode != "040000":
        return {"SKILL.md": side.files[path]}
    inner = {name.removeprefix(f"{path}/"): entry for name, entry in side.files.items() if name.startswith(f"{path}/")}
    return {name: entry for name, entry in inner.items() if entry.mode != "040000"}


def _document(files: Mapping[str, Entry], texts: Mapping[str, str]) -> Document:
    entry = files.get("SKILL.md")
    return Document(texts[str(entry.object)] if entry and is_file(entry) else "")


def _rules(found: rules.Comparison) -> dict[str, Any]:
    return {
        "frontmatter": [{"key": field.key, "before": field.before, "after": field.after} for field in found.fields],
        "rules": [_rule(change) for change in found.changes],
        "layout": found.layout,
    }


def _rule(change: rules.Change) -> dict[str, Any]:
    before, after = change.before, change.after
    return {
        "change": change.kind,
        "what": change.what,
        "section": list(change.block.section),
        "from": list(before.section) if before and after else None,
        "before": before.key if before else None,
        "after": after.key if after else None,
        "similarity": round(change.similarity, 3),
        "words": [[piece.op, piece.text] for piece in change.words],
    }


def _file_changes(old: Mapping[str, Entry], new: Mapping[str, Entry]) -> Iterator[dict[str, Any]]:
    for path in sorted({*old, *new}):
        one, other = old.get(path), new.get(path)
        mode = [entry.mode if entry else None for entry in (one, other)]
        same = one is not None and other is not None and one.object == other.object
        # What changed in the document itself is told rule by rule; only its mode is told here.
        if one == other or (path == "SKILL.md" and (mode[0] == mode[1] or None in mode)):
            continue
        change = "added" if one is None else "removed" if other is None else "mode" if same else "changed"
        yield {"path": _text(path), "change": change, "mode": mode}


def _tokens(document: Document, files: Mapping[str, Entry], texts: Mapping[str, str]) -> dict[str, int]:
    """What the agent always reads (name and description), reads when it uses the skill, and may look up."""
    references = [texts[str(e.object)] for path, e in files.items() if _is_reference(path) and is_file(e)]
    return {
        "always": _always(document),
        "on_invoke": tokens(document.text[document.body_start :]),
        "references": sum(map(tokens, references)),
    }


def _always(document: Document) -> int:
    try:
        front = document.frontmatter
    except SkillError:
        return 0
    return tokens(f"{front.get('name', '')}{front.get('description', '')}")


def score_change(before: Evidence, after: Evidence, split: str) -> dict[str, Any]:
    """Both scores on a split, and why they cannot be compared when they cannot."""
    found = compare(before, after, split)
    records = (found.before, found.after) if found else (before.record(split), after.record(split))
    return {
        "before": _measured(records[0]),
        "after": _measured(records[1]),
        "change": found.change if found else None,
        "improved": list(found.improved) if found else [],
        "regressed": list(found.regressed) if found else [],
        "tasks_known": found.known if found else False,
        "problem": _problem(records, comparable=found is not None),
    }


def _problem(records: Sequence[Mapping[str, Any] | None], *, comparable: bool) -> str | None:
    if None in records:
        return "unmeasured" if not any(records) else f"{'before' if records[0] is None else 'after'} unmeasured"
    if not comparable:
        return "measured under different conditions"
    return None if all(record and record.get("complete") for record in records) else "measured in part"


def _measured(record: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if record is None:
        return None
    bound = record.get("bound")
    most = {"at_most": bound["score_at_most"]} if isinstance(bound, dict) else {}
    return {key: record.get(key) for key in ("score", "metric", "n")} | most
