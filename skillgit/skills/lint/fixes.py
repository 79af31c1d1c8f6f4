"""Changes that are safe to make unasked: few bytes, the same rendering, and nothing left to do the second time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import pairwise

from skillgit.skills.document import Document, Span
from skillgit.skills.lines import BOM, line_starts
from skillgit.skills.lint.case import Case
from skillgit.skills.lint.colons import quote_colons
from skillgit.skills.lint.page import Hit
from skillgit.skills.lint.prose import CodeSpans, code_lines, html_lines
from skillgit.skills.lint.rules import Policy


def check_style(case: Case, policy: Policy) -> Iterator[Hit]:  # noqa: ARG001 - the shape of a check
    """Spaces at line ends, line ends, and the end of the file, in Markdown."""
    for page in case.pages:
        if not page.is_markdown:
            continue
        for start, _ in trailing_spaces(page.doc):
            yield page.hit("trailing-space", start, "spaces at the end of a line", fixable=True)
        if "\r\n" in page.text:
            at = page.text.index("\r\n")
            yield page.hit("crlf", at, "lines end with CR and LF", fixable=not page.doc.marks.spans)
        if _lacks_end(page.doc):
            yield page.hit("final-newline", len(page.text), "the last line does not end", fixable=True)


def fixed(doc: Document, rules: Collection[str]) -> Document:
    """The document with everything mended that can be mended safely. Protected regions stay byte for byte.

    Args:
        rules: ids of the rules that may be applied.
    """
    for rule, mend in _MENDS.items():
        if rule in rules:
            doc = Document(mend(doc), doc.where)
    return doc


def trailing_spaces(doc: Document) -> tuple[Span, ...]:
    """Spans of spaces and tabs at line ends that mean nothing: not in code, not a break, not protected."""
    text = doc.text
    if not any(f"{space}{end}" in text for space in " \t" for end in "\r\n") and not text.endswith((" ", "\t")):
        return ()
    body = text[doc.body_start :]
    kept = [(doc.body_start + low, doc.body_start + high) for low, high in (*code_lines(body), *html_lines(body))]
    kept += [(0, doc.body_start), *doc.marks.spans]
    starts = [*line_starts(text), len(text)]
    lines = [text[low:high] for low, high in pairwise(starts)]
    code = CodeSpans(body)
    found = _apart(_spans(lines, starts), sorted(kept))
    return tuple(span for span in found if span[0] - doc.body_start not in code)


def _spans(lines: list[str], starts: list[int]) -> Iterator[Span]:
    for number, line in enumerate(lines):
        content = line.rstrip("\r\n")
        bare = content.rstrip(" \t")
        if bare == content:
            continue
        # Markdown calls a line blank that holds spaces and tabs only; a no-break space shows.
        follows = number + 1 < len(lines) and lines[number + 1].strip(" \t\r\n")
        # Two spaces break a line, and a tab shows; one space before the next line does neither.
        breaks = bool(bare and follows) and content[len(bare) :] != " "
        if not breaks and not bare.endswith("\\"):
            yield starts[number] + len(bare), starts[number] + len(content)


def _apart(spans: Iterable[Span], kept: list[Span]) -> Iterator[Span]:
    """Those spans, given in order, that touch none of `kept`, sorted."""
    at, reached = 0, 0
    for low, high in spans:
        while at < len(kept) and kept[at][0] < high:
            reached = max(reached, kept[at][1])
            at += 1
        if reached <= low:
            yield low, high


def _without_trailing_spaces(doc: Document) -> str:
    ends = [0, *(edge for span in trailing_spaces(doc) for edge in span), len(doc.text)]
    return "".join(doc.text[low:high] for low, high in zip(ends[::2], ends[1::2], strict=True))


def _without_crlf(doc: Document) -> str:
    return doc.text if doc.marks.spans else doc.text.replace("\r\n", "\n")


def _lacks_end(doc: Document) -> bool:
    if not doc.text.lstrip(BOM) or doc.text.endswith(("\n", "\r")):
        return False
    return not any(high == len(doc.text) and doc.text[low:high].strip() for low, high in doc.marks.spans)


def _with_end(doc: Document) -> str:
    return doc.text + doc.newline if _lacks_end(doc) else doc.text


_MENDS: Mapping[str, Callable[[Document], str]] = {
    "byte-order-mark": lambda doc: doc.text.removeprefix(BOM),
    "unquoted-colon": lambda doc: quote_colons(doc.text),
    "crlf": _without_crlf,
    "trailing-space": _without_trailing_spaces,
    "final-newline": _with_end,
}
FIXABLE = frozenset(_MENDS)
