"""The table of verdicts, the explanations of survivors, and docs/reference/mutants.md."""

import re
import tomllib
from collections import Counter
from fnmatch import fnmatchcase

from .groups import ROOT

PAGE = ROOT / "docs/reference/mutants.md"
EXPLANATIONS = ROOT / "scripts/mutation/survivors.toml"
HEAD = """# Mutants

`scripts/mutants` breaks the code that security rests on, one place at a time, and runs the tests of
its package. A mutant is killed when a test fails, or does not end in ten times its usual time. The
mutants are those of cargo-mutants: a function that returns a constant, another operator, an arm of
a `match` that is missing. All mutants of a group are in one build, and an environment variable
switches one of them on; those that cannot be switched, in constants for example, have a build each.
[Contributing](../../CONTRIBUTING.md) says how to run it.

This page is generated from the last run. `scripts/mutation/survivors.toml` has the reason for each
survivor; a survivor without one makes the script fail.

"""


def explanations():
    """The entries of the file, in its order."""
    return tomllib.loads(EXPLANATIONS.read_text(encoding="utf-8"))["survivor"]


def literal(text):
    """A pattern in which only `*` has a meaning."""
    return text.replace("[", "[[]").replace("?", "[?]")


def reason_of(mutant, entries, used):
    """The reason for a survivor, or `None`."""
    for number, entry in enumerate(entries):
        if (
            mutant.file.endswith(entry["file"])
            and fnmatchcase(mutant.what, literal(entry["mutant"]))
            and entry.get("code", "") in mutant.code
        ):
            used.add(number)
            return entry["reason"]
    return None


def verdicts(mutants, known):
    """{number: verdict} of a group; `untried` for those that no run has judged."""
    results = known["mutants"] if known else {}
    return {m.number: results.get(m.name, ["untried"])[0] for m in mutants}


def row(group, found):
    """A row of the table: the group and its numbers."""
    count = Counter(found.values())
    killed = count["caught"] + count["timeout"]
    judged = killed + count["survived"]
    share = f"{100 * killed / judged:.1f} %" if judged else "-"
    return [
        group, len(found), count["caught"], count["timeout"], count["survived"], share,
        count["unviable"], count["untried"],
    ]


TITLES = [
    "group", "mutants", "failed tests", "too slow", "survived", "killed", "no build", "untried",
]


def total(rows):
    """The row of all groups together."""
    sums = [sum(row[column] for row in rows) for column in (1, 2, 3, 4, 6, 7)]
    killed, survived = sums[1] + sums[2], sums[3]
    share = f"{100 * killed / (killed + survived):.1f} %" if killed + survived else "-"
    return ["all", *sums[:4], share, *sums[4:]]


def kept(group):
    """Row, date and survivors of a group on the page: what is known where its results are not."""
    text = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    found = re.search(rf"^\| {group} +\|(.*)\|$", text, re.M)
    when = re.search(rf"^- {group}: .*\n", text, re.M)
    if not found or not when or "not tried yet" in when[0]:
        return None
    cells = [cell.strip() for cell in found[1].split("|")]
    cells = [group, *(int(cell) if cell.isdigit() else cell for cell in cells)]
    survivors = re.search(rf"\n## Survivors: {group}\n.*?(?=\n## |\Z)", text, re.S)
    return cells, when[0], survivors[0] if survivors else ""


def table(rows, titles):
    """A table in Markdown, whose first column is text."""
    rows = [titles] + rows
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(titles))]

    def line(row):
        cells = [str(cell).rjust(width) for cell, width in zip(row, widths)]
        return "| " + " | ".join([str(row[0]).ljust(widths[0]), *cells[1:]]) + " |"

    rule = ["-" * (widths[0] + 2), *("-" * (width + 1) + ":" for width in widths[1:])]
    return "\n".join([line(titles), "|" + "|".join(rule) + "|", *map(line, rows[1:])])


def show(known, chosen):
    """Prints the table; writes the page if every survivor is explained. The exit status."""
    entries, used = explanations(), set()
    found = {group: verdicts(*of) for group, of in known.items()}
    before = {group: kept(group) for group, (_, results) in known.items() if not results}
    before = {group: page for group, page in before.items() if page}
    rows = [before[g][0] if g in before else row(g, found[g]) for g in known]
    unexplained, survivors = [], {}
    for group, (mutants, _) in known.items():
        for mutant in mutants:
            if found[group][mutant.number] != "survived":
                continue
            reason = reason_of(mutant, entries, used)
            if reason is None:
                unexplained.append((group, mutant))
            survivors.setdefault(group, {}).setdefault(reason, []).append(mutant)
    print(table([r for r in rows if r[0] in chosen], TITLES))
    for group, mutant in unexplained:
        if group in chosen:
            print(f"  {mutant.name}\n      {mutant.code}")
    all_tried = not before and not any(r[-1] for r in rows)
    stale = [e for n, e in enumerate(entries) if n not in used] if all_tried else []
    for entry in stale:
        print(f"  no survivor has this reason: {entry['file']}: {entry['mutant']}")
    if not unexplained and not stale:
        write(known, rows + [total(rows)], survivors, before)
        print(PAGE)
    return 1 if stale or any(group in chosen for group, _ in unexplained) else 0


def write(known, rows, survivors, before):
    """Writes the page. Of groups that were not tried here, what is on it stays."""
    parts = [HEAD, table(rows, TITLES), "\n\n"]
    for group, (_, results) in known.items():
        when = f"commit {results['commit']}, {results['day']}" if results else "not tried yet"
        parts.append(before[group][1] if group in before else f"- {group}: {when}\n")
    for group in known:
        parts.append(before[group][2] if group in before else "")
        reasons = survivors.get(group)
        if not reasons:
            continue
        parts.append(f"\n## Survivors: {group}\n")
        for reason, mutants in reasons.items():
            parts.append(f"\n{reason}\n\n")
            parts.extend(f"- `{m.file}`, line {m.line}: {quoted(m.what)}\n" for m in mutants)
    PAGE.write_text("".join(parts), encoding="utf-8")


def quoted(what):
    """Code in a line of Markdown, which may hold any character but a backquote."""
    return f"`{what}`"
