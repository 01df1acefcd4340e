"""Follows a page of docs/tutorial by typing its commands."""

import os
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from .children import Failed


@dataclass
class Step:
    """A command, with the lines that it takes behind it, and what the page says came of it."""

    command: str
    answer: str

    @property
    def may_fail(self):
        """True if the page shows an error."""
        return self.answer.startswith("weir: ")


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


def follow(page, folder, program, root):
    """Type every command of a page in a folder; Failed where one goes otherwise than said."""
    # Whatever the program's file is called, here it is `weir`.
    with tempfile.TemporaryDirectory(prefix="weir-") as path:
        Path(path, "weir").symlink_to(program)
        variables = {"PATH": f"{path}{os.pathsep}{os.environ['PATH']}", "WEIR": str(root)}
        type_in(page, folder, variables)


def type_in(page, folder, variables):
    """The same with these variables."""
    env = {**os.environ, **variables}
    for step in steps(page.read_text(encoding="utf-8")):
        done = subprocess.run(
            ["bash", "-c", step.command], cwd=folder, env=env, capture_output=True, text=True,
            check=False,
        )
        if step.may_fail != (done.returncode != 0):
            raise Failed(f"{step.command}\nended with {done.returncode}\n{done.stderr}")
        heads = {line.split()[0] for line in step.answer.splitlines() if line.strip()}
        lines = (done.stdout + done.stderr).splitlines()
        said = {line.split()[0] for line in lines if line.strip()}
        if missing := heads - said - {"…"}:
            raise Failed(f"{step.command}\nsays nothing that begins with {missing}\n{done.stdout}")
