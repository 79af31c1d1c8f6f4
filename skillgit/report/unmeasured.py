"""Skills whose newest text was never measured although earlier texts were: after merging two proposals, say."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from skillgit.evals.evidence import read_evidence
from skillgit.git import notes
from skillgit.git.deploy.versions import objects_of
from skillgit.git.objects import resolve_many
from skillgit.git.repository import Repository
from skillgit.git.skillstore import Place


def unmeasured(repo: Repository, skills: Iterable[Place], learned: Collection[str] = ()) -> list[dict[str, Any]]:
    """Each skill of HEAD without a record on val, with its newest version that has one and the command that helps.

    Args:
        learned: paths of skills with adopted lessons; they count even when no version of them was ever measured.
    """
    if not learned and repo.resolve(notes.EVALS) is None:
        return []
    all_ = list(skills)
    heads = resolve_many(repo, [f"HEAD:{place.path}" for place in all_])
    measured = read_evidence(repo, [name for name in heads if name])
    left = {
        place.path: (place, name)
        for place, name in zip(all_, heads, strict=True)
        if name and not measured[name].record("val")
    }
    if not left:
        return []
    past = objects_of(repo, list(left), ["HEAD"])
    noted = notes.table(repo, notes.EVALS) if repo.resolve(notes.EVALS) else {}
    evidence = read_evidence(repo, [name for seen in past.values() for name in seen if name in noted])
    rows = []
    for path, (place, name) in left.items():
        earlier = next((o for o in past[path] if o in evidence and evidence[o].record("val")), None)
        if earlier:
            record = evidence[earlier].record("val") or {}
            told = {"object": earlier, "commit": past[path][earlier].commit, "val": record.get("score")}
            rows.append(_row(repo, place, name, told, learned=path in learned))
        elif path in learned:
            rows.append(_row(repo, place, name, None, learned=True))
    return rows


def _row(
    repo: Repository, place: Place, name: str, measured: dict[str, Any] | None, *, learned: bool
) -> dict[str, Any]:
    command = measuring(repo, place) if learned else f"skillgit eval {_given(place)}"
    return {"skill": place.name, "object": name, "measured": measured, "next": command}


def measuring(repo: Repository, place: Place) -> str:
    """The command that measures a skill with lessons of nights: on its own tasks, else on those of the next night."""
    if (repo.root / "evals" / place.name).is_dir():
        return f"skillgit eval {_given(place)}"
    return f"skillgit sleep run --skill {place.name}"


def _given(place: Place) -> str:
    return place.path if place.path == place.document else place.name
