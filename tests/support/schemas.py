"""The JSON Schemas of what `weir` prints with `--json`, held against what it prints.

`install` makes every process that a test starts from Python be looked at: if it is `weir` with
`--json`, the whole lines of its standard output are validated when it has ended, and the last line
of its standard error if it failed.
"""

import functools
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

from .weir import ROOT

FOLDER = ROOT / "docs/reference/json"
# Keywords whose value is a schema for a value inside, or several.
ONE = ("items", "additionalProperties", "contains")
# Lines of a process that are validated: the kinds of a longer output repeat.
MOST_LINES = 2_000
# Bytes of an output that are validated at most.
MOST_BYTES = 20_000_000


class Invalid(AssertionError):
    """An output is not as its schema says."""


class OfFile:
    """The JSON Schema of a kind of TOML file in `docs/reference`, by an independent validator."""

    def __init__(self, kind):
        from jsonschema import Draft202012Validator

        self.schema = json.loads((FOLDER.parent / f"{kind}.schema.json").read_text("utf-8"))
        Draft202012Validator.check_schema(self.schema)
        self.validator = Draft202012Validator(self.schema)

    def mistakes(self, text):
        """The mistakes of a text."""
        found = self.validator.iter_errors(tomllib.loads(text))
        return [f"{error.json_path}: {error.message}" for error in found]


@functools.cache
def commands():
    """The commands with a schema, as words."""
    names = {path.name.removesuffix(".schema.json") for path in FOLDER.iterdir()} - {"error"}
    return {tuple(name.split("-")): name for name in names}


def strict(schema, is_place=True):
    """The schema without room for fields that it does not name.

    Programs must ignore such fields, but here they are additions that are not in the reference.
    """
    if isinstance(schema, bool):
        return schema
    made = dict(schema)
    for key in ("properties", "$defs"):
        if key in made:
            place = key == "properties"
            made[key] = {name: strict(one, place) for name, one in made[key].items()}
    for key in ONE:
        if key in made:
            made[key] = strict(made[key])
    for key in ("prefixItems",):
        if key in made:
            made[key] = [strict(one) for one in made[key]]
    for key in ("anyOf", "oneOf", "allOf"):
        if key in made:
            made[key] = [strict(one, False) for one in made[key]]
    if is_place:
        made["unevaluatedProperties"] = False
    return made


@functools.cache
def validator(name):
    """The strict validator of a schema."""
    from jsonschema import Draft202012Validator

    schema = json.loads((FOLDER / f"{name}.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(strict(schema))


# The schemas that something was validated against here.
SEEN = set()


def check(name, value):
    """Fail unless a value is as the schema says."""
    from jsonschema.exceptions import best_match

    error = best_match(validator(name).iter_errors(value))
    if error is not None:
        text = json.dumps(value)[:2_000]
        raise Invalid(f"{name}: {error.json_path}: {error.message[:2_000]}\nin {text}")
    SEEN.add(name)


def command_of(argv):
    """The name of the schema for a command line, or None if it is not `weir` with `--json`."""
    words = [os.fsdecode(word) if isinstance(word, bytes) else str(word) for word in argv]
    places = [n for n, word in enumerate(words) if Path(word).name == "weir"]
    # Before it may be `ip netns exec`, after it other arguments that end in its name.
    for place in places:
        rest = words[place + 1 :]
        options = rest[: rest.index("--")] if "--" in rest else rest
        if "--json" not in options or "--help" in options:
            continue
        for length in (2, 1):
            if (name := commands().get(tuple(rest[:length]))) is not None:
                return name
    return None


def printed(name, text):
    """Validate the whole lines of standard output, which hold one value each."""
    for line in text.split("\n")[:-1][:MOST_LINES]:
        try:
            value = json.loads(line)
        except ValueError:
            raise Invalid(f"{name}: not JSON: {line[:2_000]}") from None
        check(name, value)


def failed(status, text):
    """Validate the last line of standard error of a command that failed."""
    lines = text.rstrip("\n").split("\n")
    try:
        value = json.loads(lines[-1])
    except ValueError:
        raise Invalid(f"status {status}, and no error as JSON:\n{text[-2_000:]}") from None
    check("error", value)
    if value["error"]["exit"] != status:
        raise Invalid(f"status {status} with {lines[-1]}")


class Streams:
    """The output of a process, where it can be read besides its test."""

    def __init__(self, name, process, argv):
        self.name, self.process = name, process
        self.argv = [str(word) for word in argv]
        self.out, self.err, self.paths = None, None, []

    def follow(self, stream, target):
        """Read a file that a stream goes to, from its present end."""
        number = target if isinstance(target, int) else target.fileno()
        try:
            path = os.readlink(f"/proc/self/fd/{number}")
            reader = open(f"/proc/self/fd/{number}", "rb")
        except OSError:
            return
        if not path.startswith("/") or path.startswith("/dev/"):
            reader.close()
            return
        reader.seek(0, os.SEEK_END)
        setattr(self, stream, reader)
        self.paths.append(path)

    def take(self, stream):
        """The text of a stream, or None if it cannot be read here."""
        source = getattr(self, stream)
        setattr(self, stream, None)
        if source is None or isinstance(source, str):
            return source
        with source:
            return source.read(MOST_BYTES).decode("utf-8", "replace")

    def verify(self):
        """Validate what is there."""
        out, err = self.take("out"), self.take("err")
        # These print content, and their object on standard error.
        to_output = self.name in ("get", "repo-export") and "-" in self.argv
        is_content = self.name == "cat" or to_output
        # Messages are between the lines if both go to one file.
        is_mixed = len(self.paths) > len(set(self.paths))
        if out is not None and not is_content and not is_mixed:
            printed(self.name, out)
        status = self.process.returncode
        # A process that a signal ended prints nothing, and shells and tools such as `timeout` have
        # codes of their own. 101 is a panic, which prints no object.
        is_own = status is not None and (0 < status < 8 or status == 101)
        if err is not None and is_own:
            failed(status, err)


RUNNING = []
REAL = subprocess.Popen


class Observed(REAL):
    """A process whose output is validated at the end of its test."""

    def __init__(self, args, *rest, **options):
        name = None if isinstance(args, (str, bytes)) or options.get("shell") else command_of(args)
        self._streams = Streams(name, self, args) if name else None
        if self._streams:
            for stream, target in (("out", options.get("stdout")), ("err", options.get("stderr"))):
                if target not in (None, subprocess.PIPE, subprocess.DEVNULL, subprocess.STDOUT):
                    self._streams.follow(stream, target)
        super().__init__(args, *rest, **options)
        if self._streams:
            RUNNING.append(self._streams)

    def communicate(self, *rest, **options):
        """Keep what was read."""
        out, err = super().communicate(*rest, **options)
        if self._streams:
            for stream, text in (("out", out), ("err", err)):
                if text is not None:
                    text = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
                    setattr(self._streams, stream, text)
        return out, err


def install():
    """Look at every process from now on."""
    subprocess.Popen = Observed
    # Without the package nothing can be validated: better now than in the middle.
    validator("error")


def excuse(pid):
    """Leave out the process with this id: its output is cut on purpose."""
    RUNNING[:] = [streams for streams in RUNNING if streams.process.pid != pid]


def verify():
    """Validate the output of the processes that have ended since the last call."""
    running = list(RUNNING)
    RUNNING.clear()
    faults = []
    for streams in running:
        # Asking the system would take its status from the one that waits for it.
        if streams.process.returncode is None:
            RUNNING.append(streams)
            continue
        try:
            streams.verify()
        except Invalid as fault:
            faults.append(f"{' '.join(streams.argv)}\n{fault}")
    if faults:
        raise Invalid("\n\n".join(faults))


def use_environment():
    """Install what is needed, and go on in the environment that has it."""
    needed = ROOT / "tests/end_to_end/requirements.txt"
    subprocess.run([ROOT / "scripts/need", needed.relative_to(ROOT)], check=True, cwd=ROOT)
    if Path(sys.prefix).resolve() != ROOT / ".venv":
        python = str(ROOT / ".venv/bin/python")
        os.execv(python, [python, *sys.argv])
