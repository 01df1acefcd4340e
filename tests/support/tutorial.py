"""Follows a page of docs/tutorial by typing its commands."""

import difflib
import fcntl
import os
import pty
import re
import struct
import subprocess
import tempfile
import termios
from dataclasses import dataclass
from pathlib import Path

from .children import Failed


# The columns of the terminal that the pages show.
COLUMNS = 110
# The parts of the output that differ from run to run.
TIMES = re.compile(r"simulated in [\d.]+ m?s|\([\d.]+ \w+ a second\)")
# A line of a page instead of those that it leaves out.
OMITTED = "…"


@dataclass
class Step:
    """A command, with the lines that it takes behind it, and what the page says came of it."""

    command: str
    answer: str

    @property
    def may_fail(self):
        """True if the page shows an error."""
        return self.answer.startswith("weir: ")

    def shown(self, answer):
        """The lines of an output that the page shows: all, or as many before and behind `…`."""
        page, lines = self.answer.splitlines(), answer.splitlines()
        if OMITTED not in page:
            return lines
        first = page.index(OMITTED)
        last = len(page) - first - 1
        if first + last >= len(lines):
            return lines
        return [*lines[:first], OMITTED, *lines[len(lines) - last :]]

    def differs(self, answer):
        """The difference between the page's output and this one, apart from times."""
        if not self.answer:
            return ""
        both = (self.answer.splitlines(), self.shown(answer))
        page, run = ([TIMES.sub("…", line) for line in lines] for lines in both)
        return "\n".join(difflib.unified_diff(page, run, "page", "run", lineterm="", n=0))


def steps(text):
    """The commands of all console blocks: lines behind `$`, here-documents included."""
    found = []
    for block in re.findall(r"^```console\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        lines = block.splitlines()
        while lines:
            command = [lines.pop(0).removeprefix("$ ")]
            while "<<'END'" in command[0] and command[-1] != "END":
                command.append(lines.pop(0))
            answer = []
            while lines and not lines[0].startswith("$ "):
                answer.append(lines.pop(0))
            found.append(Step("\n".join(command), "\n".join(answer)))
    return found


def follow(page, folder, program, root, renew=False):
    """Type every command of a page in a folder; Failed where the output differs from the page's.

    With `renew`, the page gets the new output instead.
    """
    # Whatever the program's file is called, here it is `weir`.
    with tempfile.TemporaryDirectory(prefix="weir-") as path:
        Path(path, "weir").symlink_to(program)
        variables = {"PATH": f"{path}{os.pathsep}{os.environ['PATH']}", "WEIR": str(root)}
        text = page.read_text(encoding="utf-8")
        env = {**os.environ, **variables}
        for step in steps(text):
            answer = type_in(step, folder, env)
            if renew and step.answer:
                shown = "\n".join(step.shown(answer))
                old, new = (f"$ {step.command}\n{lines}\n" for lines in (step.answer, shown))
                text = text.replace(old, new)
            elif not renew and (differing := step.differs(answer)):
                raise Failed(f"{step.command}\n{differing}\n`scripts/pictures` renews the page")
        if renew:
            page.write_text(text, encoding="utf-8")


def type_in(step, folder, env):
    """Type a command at a terminal of the page's width; return its lines."""
    ours, theirs = pty.openpty()
    termios.tcsetattr(theirs, termios.TCSANOW, raw(termios.tcgetattr(theirs)))
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    with tempfile.TemporaryFile() as errors, subprocess.Popen(
        ["bash", "-c", step.command], cwd=folder, env=env, stdout=theirs, stderr=errors,
        stdin=subprocess.DEVNULL,
    ) as running:
        os.close(theirs)
        lines = received(ours)
        code = running.wait()
        errors.seek(0)
        lines += errors.read().decode()
    if step.may_fail != (code != 0):
        raise Failed(f"{step.command}\nended with {code}\n{lines}")
    return "\n".join(line.rstrip() for line in lines.strip("\n").splitlines())


def raw(attributes):
    """Attributes of a terminal without changes to the output."""
    attributes[1] &= ~termios.OPOST
    return attributes


def received(terminal):
    """Everything that is written to the other end of a terminal until it is closed."""
    parts = []
    with open(terminal, "rb", buffering=0) as file:
        while True:
            try:
                part = file.read(65536)
            except OSError:  # EIO: the other end is closed
                break
            if not part:
                break
            parts.append(part)
    return b"".join(parts).decode()
