#!/usr/bin/env python3
"""Compares the packets of Weir with those of python-ndn, both ways.

    compare.py [COUNT [SEED]]

Weir makes COUNT random packets, and python-ndn has to find in them what Weir says is there and to
verify their signatures. python-ndn makes COUNT random packets, Weir has to find in them what
python-ndn says is there, and what Weir writes from these fields, python-ndn has to read again with
the same signature.
"""

import json
import random
import subprocess
import sys
from collections import Counter

import fields
import packets

VECTORS = ["cargo", "run", "--quiet", "--package", "packet", "--example", "vectors", "--"]
KINDS = ["interest", "interest", "data", "link"]


class Tally:
    """Counts what was compared, and shows the first differences."""

    def __init__(self):
        self.right = Counter()
        self.wrong = Counter()

    def note(self, what, message=None):
        """One comparison; a message means that it found a difference."""
        if message is None:
            self.right[what] += 1
            return
        self.wrong[what] += 1
        if self.wrong[what] <= 5:
            print(f"{what}: {message}", file=sys.stderr)

    def report(self):
        """Prints the counts; the last line says how many kinds of comparison passed."""
        names = sorted(self.right.keys() | self.wrong.keys())
        for what in names:
            print(f"{what}: {self.right[what]} alike, {self.wrong[what]} different")
        failed = sum(self.wrong[what] > 0 for what in names)
        print(f"{len(names) - failed} passed, {failed} failed")
        return failed


def difference(expected, found):
    """The first field in which two packets differ, in words; None if there is none."""
    for key in sorted(expected.keys() | found.keys()):
        if expected.get(key) != found.get(key):
            return f"{key}: expected {expected.get(key)}, found {found.get(key)}"
    return None


def read_ours(line, tally):
    """Lets python-ndn read one packet of Weir."""
    expected = json.loads(line)
    kind, wire = expected["kind"], bytes.fromhex(expected["wire"])
    what = f"python-ndn reads our {kind}"
    try:
        found, _, pointers = fields.READERS[kind](wire)
    except Exception as error:  # whatever it raises is a difference
        tally.note(what, f"{error!r} in {line}")
        return
    message = difference(expected["fields"], found)
    text = expected.get("uri")
    if message is None and text is not None:
        components = [bytes(c) for c in fields.parse_name(wire)]
        if packets.read_text(text) != components:
            message = f"{text} means something else"
    tally.note(what, message and f"{message} in {line}")
    if pointers is not None and pointers.signature_info is not None:
        right = fields.verified(pointers, {})
        if right is not None:
            tally.note(f"python-ndn verifies our {kind}", None if right else f"wrong in {line}")


def ours(count, seed, tally):
    """Weir's packets, read by python-ndn."""
    emit = subprocess.run(
        [*VECTORS, "emit", str(seed), str(count)], stdout=subprocess.PIPE, check=True, text=True
    )
    for line in emit.stdout.splitlines():
        read_ours(line, tally)


def read_again(kind, wire, written, one_way, keys, tally):
    """Lets python-ndn read what Weir wrote from the fields of a packet of python-ndn's."""
    if one_way:
        message = None if written == wire else f"{written.hex()} instead of {wire.hex()}"
        tally.note(f"we write the {kind} of python-ndn as it did", message)
        _, _, pointers = fields.READERS[kind](written)
        if pointers is not None and pointers.signature_info is not None:
            right = fields.verified(pointers, keys)
            if right is not None:
                what = f"python-ndn verifies its {kind} that we wrote"
                tally.note(what, None if right else f"wrong in {written.hex()}")


def theirs(count, seed, tally):
    """python-ndn's packets, read by Weir."""
    dice, keys = random.Random(seed), packets.make_keys()
    made, lines = [], []
    for i in range(count):
        kind = KINDS[i % len(KINDS)]
        wire, one_way = packets.make(kind, dice, keys)
        found, text, _ = fields.READERS[kind](wire)
        line = {"kind": kind, "wire": wire.hex(), "uri": text, "fields": found}
        made.append((kind, wire, one_way))
        lines.append(json.dumps(line) + "\n")
    check = subprocess.run(
        [*VECTORS, "check"], input="".join(lines), stdout=subprocess.PIPE, check=False, text=True
    )
    answers = check.stdout.splitlines()
    if len(answers) != len(made):
        tally.note("we answer for every packet", f"{len(answers)} answers for {len(made)} packets")
    for (kind, wire, one_way), answer in zip(made, answers):
        if answer:
            tally.note(f"we read the {kind} of python-ndn")
            read_again(kind, wire, bytes.fromhex(answer), one_way, keys, tally)
        else:
            tally.note(f"we read the {kind} of python-ndn", f"rejected or different: {wire.hex()}")


def main(arguments):
    """Runs both ways."""
    count = int(arguments[0]) if arguments else 2000
    seed = int(arguments[1]) if len(arguments) > 1 else 1
    tally = Tally()
    ours(count, seed, tally)
    theirs(count, seed, tally)
    print(f"{count} packets of ours read by python-ndn, {count} of its packets read by us")
    return 1 if tally.report() else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
