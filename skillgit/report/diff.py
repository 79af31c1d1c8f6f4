"""Two states of a repository compared skill by skill: rules, other files, length, scores and flipped tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
    return [_difference(repo, before, after, pair, evidence) for pair in found]


def _difference(
    repo: Repository, before: Side, after: Side, pair: Pair, evidence: Mapping[str, Evidence]
) -> dict[str, Any]:
    old, new = (_files(side, path) for side, path in ((before, pair.before), (after, pair.after)))
    documents = (_document(repo, old), _document(repo, new))
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
            "before": _tokens(repo, documents[0], old),
            "after": _tokens(repo, documents[1], new),
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


def _document(repo: Repository, files: Mapping[str, Entry]) -> Document:
    entry = files.get("SKILL.md")
    if entry is None or not is_file(entry):
        return Document("")
    (data,) = read_blobs(repo, [str(entry.object)])
    # A document that is no text can still be compared; what cannot be read shows as such.
    return Document((data or b"").decode("utf-8", "replace"))


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


def _tokens(repo: Repository, document: Document, files: Mapping[str, Entry]) -> dict[str, int]:
    """What the agent always reads (name and description), reads when it uses the skill, and may look up."""
    references = [str(e.object) for path, e in files.items() if path.startswith("references/") and is_file(e)]
    texts = [blob.decode("utf-8", "replace") for blob in read_blobs(repo, references) if blob]
    return {
        "always": _always(document),
        "on_invoke": tokens(document.text[document.body_start :]),
        "references": sum(map(tokens, texts)),
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
