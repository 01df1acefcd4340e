"""The files of an installation beside the program: completions and man pages; its version."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from support import weir

FILE = 7
PATIENCE = 60
SHELLS = ("bash", "elvish", "fish", "powershell", "zsh")
# Reads the completions, and prints the candidates for the words of a line, one on each line.
BASH = """
source <("$1" completions bash) || exit
shift
read -ra specification < <(complete -p weir)
for at in "${!specification[@]}"; do
    [ "${specification[at]}" = -F ] && complete_line=${specification[at + 1]}
done
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
"$complete_line" weir "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\\n' "${COMPREPLY[@]}"
"""


class Installation(unittest.TestCase):
    """The program alone, with a folder for each test."""

    def setUp(self):
        self.program = weir.program()
        folder = tempfile.TemporaryDirectory(prefix="weir-")
        self.addCleanup(folder.cleanup)
        self.here = Path(folder.name)

    def run_weir(self, *arguments):
        """Run the program to its end."""
        argv = [self.program, *map(str, arguments)]
        return subprocess.run(argv, capture_output=True, text=True, check=False, timeout=PATIENCE)

    def printed(self, *arguments):
        """The standard output of the program, which succeeds."""
        done = self.run_weir(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def commands(self, *above):
        """The commands below one, from its help."""
        text = self.printed(*above, "--help").partition("\nCommands:\n")[2].partition("\n\n")[0]
        return [word for word in re.findall(r"^  (\S+)", text, re.MULTILINE) if word != "help"]

    def completed(self, *words):
        """The candidates of Bash for the last word."""
        argv = ["bash", "--norc", "-c", BASH, "bash", self.program, "weir", *words]
        done = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=PATIENCE)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_the_version_names_the_commit(self):
        """The version and, unless the program is built from an archive, commit and date."""
        commit = r"\([0-9a-f]{9}, \d{4}-\d\d-\d\d\)"
        for option in ("--version", "-V"):
            self.assertRegex(self.printed(option), rf"\Aweir \d+\.\d+\.\d+( {commit})?\n\Z")

    def test_every_shell_gets_every_command(self):
        """Each script names the commands, and nothing else is printed."""
        commands = self.commands()
        self.assertIn("status", commands)
        for shell in SHELLS:
            with self.subTest(shell=shell):
                script = self.printed("completions", shell)
                for command in commands:
                    self.assertIn(command, script)

    def test_scripts_have_no_mistakes(self):
        """The shells of this machine read their scripts."""
        for shell in ("bash", "zsh", "fish"):
            if not shutil.which(shell):
                continue
            script = self.here / shell
            script.write_text(self.printed("completions", shell), encoding="utf-8")
            with self.subTest(shell=shell):
                argv = [shell, "-n", script]
                done = subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_bash_completes(self):
        """Commands, commands below them, options, and the words that an option takes."""
        self.assertEqual(sorted(self.completed("st")), ["status", "strategy", "study"])
        self.assertEqual(sorted(self.completed("route", "")), sorted(self.bash_below("route")))
        self.assertEqual(self.completed("status", "--so"), ["--socket"])
        self.assertEqual(self.completed("key", "new", "/a", "--type", "e"), ["ed25519", "ecdsa"])
        # A file is completed where one is wanted.
        (self.here / "film.mp4").touch()
        wanted = str(self.here / "fi")
        self.assertEqual(self.completed("get", "/a", "--output", wanted), [f"{wanted}lm.mp4"])

    def bash_below(self, command):
        """All that may follow a command."""
        return ["-h", "--help", "help", *self.commands(command)]

    def test_every_command_has_a_page(self):
        """A page for each command, below the folder that is made for them."""
        folder = self.here / "share/man/man1"
        said = self.printed("man", folder)
        expected = {"weir.1"}
        for command in self.commands():
            expected.add(f"weir-{command}.1")
            expected |= {f"weir-{command}-{below}.1" for below in self.commands(command)}
        self.assertIn("weir-face-create.1", expected)
        self.assertEqual({path.name for path in folder.iterdir()}, expected)
        self.assertEqual(said, f"{len(expected)} pages in {folder}\n")
        self.assertEqual((folder / "weir.1").read_text(), self.printed("man"))
        # A second time, over the first.
        self.assertEqual(self.printed("man", folder), said)

    def test_pages_are_readable(self):
        """Each is formatted without a warning, and begins and ends as pages do."""
        self.printed("man", self.here)
        formats = {
            "groff": ["groff", "-man", "-Tutf8", "-ww"],
            "mandoc": ["mandoc", "-T", "utf8", "-W", "error"],
        }
        found = [argv for name, argv in formats.items() if shutil.which(name)]
        if not found:
            self.skipTest("there is neither groff nor mandoc")
        for page in sorted(self.here.iterdir()):
            for argv in found:
                with self.subTest(page=page.name, program=argv[0]):
                    done = subprocess.run(
                        [*argv, page], capture_output=True, text=True, timeout=PATIENCE
                    )
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    shown = re.sub("\x1b\\[[0-9;]*m|.\b", "", done.stdout)
                    for head in ("NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS"):
                        self.assertRegex(shown, rf"(?m)^{head}$")
                    words = " ".join(shown.replace("\u2010", "-").split())
                    self.assertIn(f"NAME {page.stem} - ", words)

    def test_man_finds_the_pages(self):
        """`man weir-get`, with the folder in MANPATH."""
        if not shutil.which("man"):
            self.skipTest("there is no man")
        self.printed("man", self.here / "man1")
        about = {**os.environ, "MANPATH": str(self.here), "MANWIDTH": "80", "MANPAGER": "cat"}
        argv = ["man", "weir-get"]
        done = subprocess.run(argv, capture_output=True, text=True, env=about, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("--checksum", done.stdout)

    def test_a_file_in_the_place_of_the_folder(self):
        """One line says so."""
        (self.here / "file").touch()
        done = self.run_weir("man", self.here / "file")
        self.assertEqual((done.returncode, done.stdout), (FILE, ""))
        self.assertRegex(done.stderr, r"\Aweir: cannot write \S+/file: .*; [^;\n]+\n\Z")
