"""Puts the rows of some schemes into the page that is there, without running the others."""

import re

from comparison import page

ROW = re.compile(r"\| `([^`]+)` \|")
ABSENT = "The pictures lack schemes that came after the latest run of all: "
EARLIER = "The pictures show earlier runs of "
# The same under each picture.
LACKS, SHOWS = "lacks", "shows earlier runs of"
PICTURE = re.compile(r"(?m)^!\[.*\]\(.*\)$")
NOTE = re.compile(r"(?m)^(!\[.*\]\(.*\))\n\n<sub>This picture .*</sub>$")


def mistake(arguments):
    """Why this command line cannot merge; None if it can, or is not to."""
    names = [word for word in arguments if not word.startswith("-")]
    if "--merge" in arguments and (not names or "--quick" in arguments):
        return "--merge needs names of schemes, and does not go with --quick"
    return None


def merged(text, results, rows):
    """The page with the rows of these results and costs, in the place of those that it had."""
    names = [result.scheme for result in next(iter(results.values()))]
    text = with_remarks(text, names)
    for which, found in results.items():
        lines = page.table(found).splitlines()[2:]
        text = with_rows(text, f"## {page.title(which)}\n", lines)
    return with_rows(text, "## What they cost\n", page.costs_rows(rows))


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


def with_remarks(text, names):
    """The same with remarks before the first section, on schemes that the pictures lack or show as
    they were before. A scheme is in the pictures if it has rows and no remark says otherwise."""
    head, *sections = re.split(r"(?m)^(?=## )", text, maxsplit=1)
    remarks = re.compile(rf"(?m)^({re.escape(ABSENT)}|{re.escape(EARLIER)})(.*)\.\n\n?")
    said = {first: set(re.findall("`([^`]+)`", rest)) for first, rest in remarks.findall(head)}
    drawn = {row[1] for row in ROW.finditer(text)} - said.get(ABSENT, set())
    absent = said.get(ABSENT, set()) | (set(names) - drawn)
    earlier = said.get(EARLIER, set()) | (set(names) & drawn)
    head = remarks.sub("", head)
    notes = []
    for first, note, schemes in ((ABSENT, LACKS, absent), (EARLIER, SHOWS, earlier)):
        if schemes:
            listed = ", ".join(f"`{name}`" for name in sorted(schemes))
            head += f"{first}{listed}.\n\n"
            notes.append(f"{note} {listed}")
    rest = NOTE.sub(r"\1", "".join(sections))
    if notes:
        under = f"\n\n<sub>This picture {' and '.join(notes)}.</sub>"
        rest = PICTURE.sub(lambda found: found[0] + under, rest)
    return head + rest
