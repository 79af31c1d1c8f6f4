"""Checks of what must not stand in a skill, and of what nobody may change by hand."""

from __future__ import annotations

from collections.abc import Iterator

from skillgit.skills.document import Document, Kind
from skillgit.skills.frontmatter import FlawError, locate, read
from skillgit.skills.lint.case import Before, Case
from skillgit.skills.lint.page import Hit, Page
from skillgit.skills.lint.rules import Policy
from skillgit.skills.markers import KINDS
from skillgit.skills.regions import region_text
from skillgit.skills.secrets import find_secrets


def check_contents(case: Case, policy: Policy) -> Iterator[Hit]:
    """Credentials in every text; leaked tasks and damaged regions in Markdown."""
    for page in case.pages:
        for secret in find_secrets(page.text):
            yield page.hit("secret", secret.start, f"this looks like a credential: {secret.name}")
        if not page.is_markdown:
            continue
        for leak in policy.leaks.find(page.text) if policy.leaks else ():
            yield page.hit("leaked-text", leak.start, f"{leak.reason} ({leak.source})")
        for flaw in page.doc.marks.flaws:
            yield page.hit("damaged-region", flaw.start, flaw.message)


def check_changes(case: Case, policy: Policy) -> Iterator[Hit]:  # noqa: ARG001 - the shape of a check
    """Protected things against the documents before."""
    page, before = case.main, case.before
    if page is None or before is None:
        return
    if before.head is not None:
        yield from _renamed(case, page, before.head)
    if before.parents and not before.measured:
        for kind in KINDS:
            yield from _region(page, before, kind)


def _renamed(case: Case, page: Page, head: Document) -> Iterator[Hit]:
    old, new = _name(head), _name(page.doc)
    # A name that becomes the folder's mends a fault.
    if case.skill.named and old[0] and new[0] and old[0] != new[0] != case.skill.name:
        yield page.hit("name-change", new[1], f"the name was `{old[0]}`, and the folder is still `{case.skill.name}`")


def _name(doc: Document) -> tuple[str, int]:
    try:
        entries = read(doc.text, locate(doc.text))
    except FlawError:
        return "", 0
    name = entries.values.get("name", "")
    return (name, entries.places["name"][1]) if isinstance(name, str) and name else ("", 0)


def _region(page: Page, before: Before, kind: Kind) -> Iterator[Hit]:
    now = region_text(page.doc, kind)
    known = {region_text(doc, kind) for doc in before.parents}
    if now in known:
        return
    found = next((region.start for region in page.doc.regions if region.kind == kind), 0)
    done = "removed" if not now else "added" if known == {""} else "changed"
    yield page.hit("protected-change", found, f"the {kind} region was {done} by hand")
