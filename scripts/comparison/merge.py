"""Puts the rows of some schemes into the page that is there, without running the others."""

import re

from comparison import page

ROW = re.compile(r"\| `([^`]+)` \|")
ABSENT = "The pictures lack schemes that came after the latest run of all: "


def merged(text, results, rows):
    """The page with the rows of these results and costs, in the place of those that it had."""
    for which, found in results.items():
        lines = page.table(found).splitlines()[2:]
        text = with_rows(text, f"## {page.title(which)}\n", lines)
    text = with_rows(text, "## What they cost\n", page.costs_rows(rows))
    names = [result.scheme for result in next(iter(results.values()))]
    return with_absent(text, names)


def with_rows(text, heading, lines):
    """The same with these rows in the table of a section, in alphabetical order."""
    before, section = text.split(heading, 1)
    section, *after = re.split(r"(?m)^(?=## )", section, maxsplit=1)
    known = section.splitlines(keepends=True)
    at = [place for place, line in enumerate(known) if ROW.match(line)]
    rows = {ROW.match(known[place])[1]: known[place] for place in at}
    rows |= {ROW.match(line)[1]: f"{line}\n" for line in lines}
    known[at[0] : at[-1] + 1] = [rows[name] for name in sorted(rows)]
    return before + heading + "".join(known) + "".join(after)


def with_absent(text, names):
    """The same with the names of the schemes that the pictures lack, before the first section."""
    head, *sections = re.split(r"(?m)^(?=## )", text, maxsplit=1)
    head, *known = head.split(ABSENT)
    absent = sorted({*names, *re.findall("`([^`]+)`", "".join(known))})
    return head + ABSENT + ", ".join(f"`{name}`" for name in absent) + ".\n\n" + "".join(sections)
