"""A copy of the workspace with the switches in it, and the test binaries built from it."""

import json
import os
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from . import sites
from .groups import GROUPS, ROOT, WORK

# The mutated code itself is wrong: the mutant cannot be compiled. Any other error comes from the
# rewriting.
UNVIABLE = {
    "E0061", "E0067", "E0271", "E0277", "E0308", "E0368", "E0369", "E0423", "E0425", "E0433",
    "E0599", "E0600", "E0603", "E0604", "E0606", "E0614", "E0624",
}
NOT_CONST = re.compile(r"cannot call non-const .*`([^`]*)` in (.*)")


def copy_workspace(to, but=()):
    """The committed and the changed files; one that is the same already stays as it is."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True,
    )
    names = {name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()}
    for name in names - set(but):
        put(to / name, (ROOT / name).read_bytes(), (ROOT / name).stat().st_mode)
    for old in to.rglob("*.rs"):
        if str(old.relative_to(to)) not in names | set(but):
            old.unlink()


def put(path, content, mode=0o644):
    """Writes a file unless it holds that already, so that cargo sees no change."""
    if path.is_file() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(mode)


def cargo(tree, *arguments):
    """Runs cargo, and returns its messages and whether it succeeded. Each tree has a target folder
    of its own, beside it: cargo takes the same crate in two trees for one, and what was built from
    another tree for fresh, where both are below the target folder. Then a mutant that has a build
    of its own is never built, and switches of one group are in the tests of another."""
    into = {"CARGO_TARGET_DIR": str(tree.with_name(f"{tree.name}-target"))}
    done = subprocess.run(
        ["cargo", *arguments, "--message-format=json"],
        cwd=tree, env=os.environ | into, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )
    messages = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 and not any(m["reason"] == "compiler-message" for m in messages):
        raise SystemExit(f"scripts/mutants: cargo {' '.join(arguments)}:\n{done.stderr}")
    return messages, done.returncode == 0


@dataclass
class Binary:
    """A test binary and the folder that its tests run in."""

    path: str
    name: str
    cwd: str


def binaries(tree, package, messages):
    """The test binaries among cargo's messages."""
    found = []
    for message in messages:
        if message["reason"] == "compiler-artifact" and message["executable"]:
            folder = str(Path(message["manifest_path"]).parent)
            if message["profile"]["test"]:
                found.append(Binary(message["executable"], message["target"]["name"], folder))
    return found


@dataclass
class Switched:
    """The mutants that can be switched, and those that cannot: {number: (verdict, reason)}."""

    group: str
    mutants: list
    without: dict = field(default_factory=dict)
    keep_const: set = field(default_factory=set)
    also_unconst: set = field(default_factory=set)
    site_of: dict = field(default_factory=dict)
    rewritten: dict = field(default_factory=dict)

    @property
    def tree(self):
        return WORK / self.group / "tree"

    @property
    def crate(self):
        return Path(*Path(self.mutants[0].file).parts[:2]) / "src"

    def write(self):
        """Writes the workspace with the switches of all mutants that still have one."""
        files = sorted({m.file for m in self.mutants} | {f for f, _ in self.also_unconst})
        numbers, self.site_of, changed = 1, {}, {}
        for file in files:
            source = (ROOT / file).read_bytes()
            mine = [m for m in self.mutants if m.file == file and m.number not in self.without]
            found, without = sites.sites_of(source, mine)
            self.without |= without
            unconst, kept = [], []
            for name, start, end, word, stop in sites.const_functions(source):
                has = any(start <= s.start < end for s in found)
                has = has or (file, name) in self.also_unconst
                if has and (file, name) in self.keep_const:
                    kept.append((start, end))
                elif has:
                    unconst.append((word, stop))
            for site in list(found):
                if any(start <= site.start < end for start, end in kept):
                    found.remove(site)
                    for mutant, _ in site.branches:
                        self.without[mutant.number] = ("alone", "in a const fn that constants call")
            first = {}
            for site in found:
                first[id(site)] = numbers
                for index, (mutant, _) in enumerate(site.branches):
                    self.site_of[mutant.number] = (numbers, numbers + index)
                numbers += len(site.branches)
            changed[file] = sites.rewrite(source, found, lambda s, f=first: f[id(s)], unconst)
        self.rewritten = changed
        for file, new in changed.items():
            put(self.tree / file, new.text)
        switch = (ROOT / "scripts/mutation/switch.rs").read_bytes()
        put(self.tree / self.crate / "mutant_switch.rs", switch)
        for root in ("lib.rs", "main.rs"):
            if (ROOT / self.crate / root).is_file():
                file = str(self.crate / root)
                text = changed[file].text if file in changed else (ROOT / file).read_bytes()
                put(self.tree / file, text + b"\n#[doc(hidden)]\npub mod mutant_switch;\n")

    def blame(self, messages):
        """Drops the mutants that the compiler's errors are about; whether any was found."""
        before = (len(self.without), len(self.keep_const), len(self.also_unconst))
        unexplained = []
        for message in messages:
            if message["reason"] != "compiler-message" or message["message"]["level"] != "error":
                continue
            error = message["message"]
            # An iterator's type is an error of the signature, with the body for a second place.
            places = sorted(error["spans"], key=lambda span: not span["is_primary"])
            if places and not any(self.blame_one(error, place) for place in places):
                unexplained.append(error["rendered"])
        after = (len(self.without), len(self.keep_const), len(self.also_unconst))
        if before == after:
            text = "\n".join(unexplained)
            raise SystemExit(f"scripts/mutants: the switches do not compile:\n{text}")

    def blame_one(self, error, span):
        code = (error["code"] or {}).get("code", "")
        while span.get("expansion") and span["file_name"] not in self.rewritten:
            span = span["expansion"]["span"]
        file, start, end = span["file_name"], span["byte_start"], span["byte_end"]
        new = self.rewritten.get(file)
        called = NOT_CONST.search(error["message"])
        if called and "mutant_switch" not in called[1]:
            return self.blame_const(called, file, span)
        if new is None:
            return False
        for begin, stop, mutant in new.branches:
            if begin <= start and end <= stop:
                # A type that cannot be told is as unknown where the value is returned early; an
                # error without a code is one of syntax.
                unknown = code in ("E0282", "E0283") and mutant.genre == "FnValue"
                doubtful = not (code in UNVIABLE or code == "" or unknown)
                verdict = ("alone", f"error {code}") if doubtful else ("unviable", code)
                self.without.setdefault(mutant.number, verdict)
                return True
        if code == "E0004":
            # Without a wildcard: the arms of this match that can be switched off.
            arms = sites.match_at(new.text, start)
            for begin, stop, mutants in new.sites:
                if arms[0] <= begin and stop <= arms[1] and mutants[0].genre == "MatchArm":
                    self.without.setdefault(mutants[0].number, ("alone", "no wildcard"))
            return True
        around = [s for s in new.sites if s[0] <= start and end <= s[1]]
        if not around:
            return False
        for mutant in min(around, key=lambda s: s[1] - s[0])[2]:
            self.without.setdefault(mutant.number, ("alone", f"error {code} beside it"))
        return True

    def blame_const(self, called, file, span):
        """A constant, or a `const fn`, calls what is no `const fn` any more."""
        name = called[1].split("::")[-1]
        if "constant functions" in called[2]:
            text = (self.tree / file).read_bytes()
            for caller, start, end, _, _ in sites.const_functions(text):
                if start <= span["byte_start"] < end and (file, caller) not in self.keep_const:
                    self.also_unconst.add((file, caller))
                    return True
        for other in self.rewritten:
            for known, *_ in sites.const_functions((ROOT / other).read_bytes()):
                if known == name:
                    self.keep_const.add((other, name))
        return True

    def build(self):
        """The test binaries, after leaving out what does not compile."""
        package, tests, _ = GROUPS[self.group]
        roots = {str(self.crate / root) for root in ("lib.rs", "main.rs", "mutant_switch.rs")}
        copy_workspace(self.tree, {m.file for m in self.mutants} | roots)
        for _ in range(40):
            self.write()
            messages, done = cargo(
                self.tree, "test", "--no-run", "--package", package, "--no-fail-fast", *tests
            )
            if done:
                return binaries(self.tree, package, messages)
            self.blame(messages)
        raise SystemExit("scripts/mutants: the switches do not compile")


def build_alone(group, mutant):
    """The test binaries with this mutant in its plain form; `None` if it does not compile."""
    (package, tests, _), tree = GROUPS[group], WORK / group / "alone"
    path = tree / mutant.file
    source = (ROOT / mutant.file).read_bytes()
    new = source[: mutant.start] + mutant.replacement.encode() + source[mutant.end :]
    path.write_bytes(new)
    try:
        messages, done = cargo(tree, "test", "--no-run", "--package", package, *tests)
        return binaries(tree, package, messages) if done else None
    finally:
        path.write_bytes(source)
