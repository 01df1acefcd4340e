"""`scripts/mutants [--survivors] [--switched] [--page] [--file=PATTERN] [GROUP...]`"""

import json
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from fnmatch import fnmatchcase

from . import build, judge, page
from .groups import GROUPS, ROOT, WORK, mutants_of


def load(group):
    """The known results of the group: {name of the mutant: [verdict, by which test or why]}."""
    file = WORK / group / "results.json"
    return json.loads(file.read_text()) if file.is_file() else None


def save(group, results):
    """Keeps the verdicts with the commit and the day."""
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--exclude", "*"], cwd=ROOT, check=True,
        stdout=subprocess.PIPE, text=True,
    ).stdout.strip()
    kept = {"commit": commit, "day": date.today().isoformat(), "mutants": results}
    file = WORK / group / "results.json"
    file.write_text(json.dumps(kept, indent=1), encoding="utf-8")


def progress(group, done, total, counts):
    """One line that replaces itself on a terminal, and one in a hundred elsewhere."""
    if sys.stderr.isatty() or done % 100 == 0 or done == total:
        end = "\r" if sys.stderr.isatty() and done < total else "\n"
        print(f"{group}: {done} of {total}: {dict(counts)}", end=end, file=sys.stderr, flush=True)


def switched(group, chosen, suites, site_of, results):
    """Judges the mutants that are switched on, two at a time."""
    counts = Counter()

    def one(mutant):
        return mutant, judge.judge(suites, *site_of[mutant.number])

    with ThreadPoolExecutor(2) as pool:
        for done, (mutant, (verdict, by, _)) in enumerate(pool.map(one, chosen), 1):
            results[mutant.name] = [verdict, by]
            counts[verdict] += 1
            if done % 50 == 0:
                save(group, results)
            progress(group, done, len(chosen), counts)


def alone(group, chosen, suites, reasons, results):
    """Judges the mutants that need a build of their own, one after another."""
    if chosen:
        build.copy_workspace(WORK / group / "alone")
    counts = Counter()
    for done, mutant in enumerate(chosen, 1):
        made = build.build_alone(group, mutant)
        if made is None:
            verdict, by = "unviable", "does not compile"
        else:
            verdict, by, _ = judge.judge_alone(made, suites)
        results[mutant.name] = [verdict, by, reasons[mutant.number][1]]
        save(group, results)
        counts[verdict] += 1
        progress(f"{group}, a build each", done, len(chosen), counts)


def try_group(group, files, only_survivors, with_alone):
    """Builds, runs and keeps the results of a group, or of those of its files that match."""
    mutants = mutants_of(group)
    before = (load(group) or {"mutants": {}})["mutants"]
    known = {m.name: before[m.name] for m in mutants if m.name in before}
    chosen = [m for m in mutants if fnmatchcase(m.file, f"*{files}")]
    if only_survivors:
        chosen = [m for m in chosen if known.get(m.name, ["survived"])[0] == "survived"]
    again = {m.name for m in chosen}
    results = {name: known[name] for name in known if name not in again}
    plan = build.Switched(group, mutants)
    suites = [judge.measure(binary) for binary in plan.build()]
    for suite in suites:
        judge.record(suite)
    for mutant in mutants:
        if plan.without.get(mutant.number, ("",))[0] == "unviable":
            results[mutant.name] = ["unviable", plan.without[mutant.number][1]]
    can = [m for m in chosen if m.number not in plan.without]
    switched(group, can, suites, plan.site_of, results)
    save(group, results)
    single = [m for m in chosen if plan.without.get(m.number, ("",))[0] == "alone"]
    if with_alone:
        alone(group, single, suites, plan.without, results)
    else:
        for m in single:
            print(f"{m.name}: not tried: {plan.without[m.number][1]}", file=sys.stderr)
    save(group, {m.name: results[m.name] for m in mutants if m.name in results})


def main(arguments):
    """Tries the groups, prints the table, and writes the page."""
    groups = [word for word in arguments if not word.startswith("-")] or list(GROUPS)
    options = {word for word in arguments if word.startswith("-")}
    patterns = [word.removeprefix("--file=") for word in options if word.startswith("--file=")]
    options -= {f"--file={pattern}" for pattern in patterns}
    if unknown := (set(groups) - set(GROUPS)) | (options - {"--survivors", "--page", "--switched"}):
        print(f"scripts/mutants: what is {', '.join(sorted(unknown))}? Groups: {', '.join(GROUPS)}")
        return 2
    if "--page" not in options:
        for group in groups:
            files = patterns[0] if patterns else "*"
            try_group(group, files, "--survivors" in options, "--switched" not in options)
    return page.show({g: (mutants_of(g), load(g)) for g in GROUPS}, groups)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
