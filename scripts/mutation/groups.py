"""The groups: the package and its tests that judge, and the files that are mutated."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "target/mutants"

# All tests of a package, or those that reach the files and take no longer than seconds.
ALL = ["--lib", "--bins", "--tests"]
AUTHORITY = ["--lib", "--test", "authority", "--test", "replay"]

GROUPS = {
    "security": ("security", ALL, ["crates/security/src/**"]),
    "verification": (
        "transport",
        ALL,
        [
            "crates/transport/src/fetch/verify.rs",
            "crates/transport/src/fetch/certificates.rs",
            "crates/transport/src/fetch/heads.rs",
            "crates/transport/src/fetch/object.rs",
            "crates/transport/src/rdr.rs",
        ],
    ),
    "authority": (
        "net",
        AUTHORITY,
        [
            "crates/net/src/management/authority.rs",
            "crates/net/src/management/authority/**",
            "crates/net/src/management/command.rs",
            "crates/net/src/management/judging.rs",
        ],
    ),
    "tables": ("forwarder", ALL, ["crates/forwarder/src/tables/**"]),
    "journal": (
        "weir",
        ["--bin", "weir"],
        [
            "crates/weir/src/file/journal.rs",
            "crates/weir/src/file/part.rs",
            "crates/weir/src/file/writeback.rs",
        ],
    ),
}


@dataclass
class Mutant:
    """One mutant as cargo-mutants lists it; offsets are bytes of the file."""

    number: int
    name: str
    genre: str
    file: str
    start: int
    end: int
    replacement: str
    line: int
    code: str
    function: str
    returns: str

    @property
    def what(self):
        """The name without its place."""
        return self.name.split(": ", 1)[1]


def offset(lines, place):
    """The byte at which cargo-mutants' line and column (in characters, from 1) are."""
    before = sum(len(line.encode()) for line in lines[: place["line"] - 1])
    return before + len(lines[place["line"] - 1][: place["column"] - 1].encode())


def mutants_of(group):
    """All mutants of the group, numbered from 1 in the order of their places."""
    package, _, files = GROUPS[group]
    command = ["cargo", "mutants", "--list", "--json", "--package", package]
    for file in files:
        command += ["--file", file]
    listed = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE)
    texts, found = {}, []
    for entry in json.loads(listed.stdout):
        file = entry["file"]
        if file not in texts:
            texts[file] = (ROOT / file).read_text(encoding="utf-8").splitlines(keepends=True)
        start, end = (offset(texts[file], entry["span"][side]) for side in ("start", "end"))
        line = entry["span"]["start"]["line"]
        function = entry["function"] or {}
        found.append(
            Mutant(
                0, entry["name"], entry["genre"], file, start, end, entry["replacement"], line,
                texts[file][line - 1].strip(), function.get("function_name") or "",
                function.get("return_type") or "",
            )
        )
    for number, mutant in enumerate(found, 1):
        mutant.number = number
    return found
