"""Skills of many shapes, written for the tests: folder name to SKILL.md (or to files), by what they show."""

from __future__ import annotations

NAME, DESCRIPTION = "name: demo", "description: Fills forms. Use when a form must be filled."


def front(*lines: str, newline: str = "\n") -> str:
    return newline.join(["---", *lines, "---", "", "# Demo", "", "- Fill the form.", ""])


SOUND = {
    "plain": front(NAME, DESCRIPTION),
    "windows line ends": front(NAME, DESCRIPTION, newline="\r\n"),
    "quoted": front("name: 'demo'", 'description: "Use when: asked"'),
    "block scalar": front(NAME, "description: |", "  Fills forms: all.", "  Use it."),
    "folded scalar": front(NAME, "description: >", "  Fills", "  forms."),
    "value on two lines": front(NAME, "description: Fills forms", "  and more."),
    "every field": front(
        *(NAME, DESCRIPTION, "license: MIT", "compatibility: Needs git", "allowed-tools: Read Grep"),
        *("metadata:", "  author: me", "  version: '1.0'"),
    ),
    "values that look like other types": front(
        NAME, DESCRIPTION, "metadata:", "  a: 1.0", "  b: on", "  c: 2026-01-02"
    ),
    "comments": front("# first", NAME, DESCRIPTION + " # why"),
    "longest description": front(NAME, "description: " + "x" * 1024),
    "nothing after the frontmatter": f"---\n{NAME}\n{DESCRIPTION}\n---\n",
    "no last line end": f"---\n{NAME}\n{DESCRIPTION}\n---",
    "a rule in the body": front(NAME, DESCRIPTION) + "\n---\n\nmore\n",
    "other scripts": front(NAME, "description: 填写表格。"),
}

FAULTY = {
    "dashes that begin a word": f"---more\n{NAME}\n{DESCRIPTION}\n---\n",
    "empty": "",
    "no frontmatter": "# Demo\n",
    "blank first line": "\n" + front(NAME, DESCRIPTION),
    "never closed": f"---\n{NAME}\n{DESCRIPTION}\n",
    "byte order mark": "\ufeff" + front(NAME, DESCRIPTION),
    "a list": front("- a", "- b"),
    "a text": front("just words"),
    "colon": front(NAME, "description: Use when: asked"),
    "brackets": front(NAME, "description: [beta] Fills"),
    "star": front(NAME, "description: *bold* forms"),
    "tab": front(NAME, DESCRIPTION, "metadata:", "\ta: b"),
    "key twice": front(NAME, DESCRIPTION, NAME),
    "unknown key": front(NAME, DESCRIPTION, "version: 1"),
    "no name": front(DESCRIPTION),
    "empty name": front("name:", DESCRIPTION),
    "upper case": front("name: Demo", DESCRIPTION),
    "underscore": front("name: de_mo", DESCRIPTION),
    "leading hyphen": front("name: -demo", DESCRIPTION),
    "double hyphen": front("name: de--mo", DESCRIPTION),
    "long name": front("name: " + "a" * 65, DESCRIPTION),
    "another folder": front("name: other", DESCRIPTION),
    "no description": front(NAME),
    "empty description": front(NAME, "description: ''"),
    "long description": front(NAME, "description: " + "x" * 1025),
    "long compatibility": front(NAME, DESCRIPTION, "compatibility: " + "x" * 501),
    "list as compatibility": front(NAME, DESCRIPTION, "compatibility:", "  - git"),
    "list as name": front("name:", "  - demo", DESCRIPTION),
}

ONLY_SKILLGIT = {
    "list of tools": (
        front(NAME, DESCRIPTION, "allowed-tools:", "  - Read"),
        "the format says one text; unchecked there",
    ),
    "text as metadata": (front(NAME, DESCRIPTION, "metadata: text"), "the format says a map; unchecked there"),
    "list in metadata": (
        front(NAME, DESCRIPTION, "metadata:", "  tags:", "    - a"),
        "the format says texts; unchecked",
    ),
    "list as license": (front(NAME, DESCRIPTION, "license:", "  - MIT"), "the format says a text; unchecked there"),
    "empty compatibility": (front(NAME, DESCRIPTION, "compatibility: ''"), "the format says 1 to 500; 0 passes there"),
    "letters beyond a-z": (front("name: démo", DESCRIPTION), "the format says a-z; any Unicode letter passes there"),
    "wide letters": (front("name: ｄｅｍｏ", DESCRIPTION), "names are normalised there before they are compared"),
    "dashes in a line": (f"---\n{NAME}\n{DESCRIPTION} --- x\n", "the first three dashes anywhere end the block there"),
    "space around the name": (front("name: ' demo '", DESCRIPTION), "names are trimmed there; clients do not"),
}

ONLY_SKILLS_REF = {
    "map in one line": (front(NAME, DESCRIPTION, "metadata: {author: me}"), "valid YAML; strictyaml has no flow style"),
    "anchor": (front(NAME, "description: &a Fills forms."), "valid YAML; strictyaml has no anchors"),
    "dashes in a value": (front(NAME, "description: --- and more"), "the first dashes anywhere end the block there"),
    "tag": (front(NAME, "description: !!str Fills forms."), "valid YAML; strictyaml has no tags"),
}
