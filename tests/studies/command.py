"""The output, files and exit codes of `weir study`."""

import fcntl
import json
import os
import pty
import shutil
import struct
import subprocess
import tempfile
import termios
import unittest
from pathlib import Path

from support import weir

STUDY = weir.ROOT / "crates/study/tests/bottleneck"


class Command(unittest.TestCase):
    """A small study, in a folder of its own for each test."""

    @classmethod
    def setUpClass(cls):
        cls.program = weir.program()

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="weir-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        shutil.copytree(STUDY, self.folder / "one")

    def change(self, file, old, new):
        """Put something else into a file of the study."""
        path = self.folder / "one" / file
        text = path.read_text(encoding="utf-8")
        self.assertIn(old, text)
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    def study(self, *arguments):
        """Run the command."""
        command = [self.program, "study", *arguments]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)

    def test_a_study_is_shown_and_written(self):
        done = self.study("one")
        self.assertEqual((done.returncode, done.stderr), (0, "written to studies\n"))
        self.assertIn("5 claims: 4 hold, 1 does not and is explained", done.stdout)
        written = sorted(path.name for path in (self.folder / "studies").iterdir())
        self.assertEqual(written, ["README.md", "index.html", "one.html", "one.json", "one.md"])
        kept = json.loads((self.folder / "studies/one.json").read_text(encoding="utf-8"))
        names = ["rate", "order", "wrong", "short-aimd", "short-cubic"]
        self.assertEqual([claim["id"] for claim in kept["claims"]], names)

    def test_no_line_is_wider_than_the_terminal(self):
        """Values of an order have no signs between them, measures have units."""
        for width in (80, 40):
            terminal, end = pty.openpty()
            fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
            command = [self.program, "study", "one", "--quick", "--out", "x"]
            with open(terminal, "rb", buffering=0):
                # The output is small enough for the terminal's buffer.
                subprocess.run(
                    command, cwd=self.folder, stdout=end, stderr=subprocess.DEVNULL, check=True
                )
                text = os.read(terminal, 65536).decode()
                os.close(end)
            lines = text.splitlines()
            self.assertLessEqual(max(map(len, lines)), width, lines)
            self.assertRegex(text, r"measured +[\d.]+, [\d.]+, [\d.]+")
            self.assertIn("fct (s)", text)
            self.assertIn("result", text)

    def test_json_is_one_object(self):
        done = self.study("one", "--quick", "--json", "--out", "x")
        outcome = json.loads(done.stdout)
        self.assertEqual(outcome["study"], "one")
        wanted = {"id", "experiment", "what", "published", "measured", "ci95", "tolerance"}
        wanted |= {"holds", "explained", "off", "kind"}
        self.assertLessEqual(wanted, outcome["claims"][0].keys())
        self.assertEqual(done.stderr, "")

    def test_all_has_a_page_that_leads_to_each(self):
        shutil.copytree(self.folder / "one", self.folder / "two")
        done = self.study("--all", ".", "--quick", "--quiet")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        index = (self.folder / "studies/README.md").read_text(encoding="utf-8")
        self.assertIn("](one.md)", index)
        self.assertIn("](two.md)", index)

    def test_one_experiment_can_be_chosen(self):
        done = self.study("one", "--only", "window", "--json")
        self.assertEqual(json.loads(done.stdout)["claims"], [])
        done = self.study("one", "--only", "windows")
        self.assertEqual(done.returncode, 2)
        wanted = "has no experiment windows; choose one of bottleneck, window, short, beyond"
        self.assertIn(wanted, done.stderr)

    def test_an_unexplained_failed_claim_fails_the_study(self):
        self.change("expected.toml", 'explained = "it-does-not"\n', "")
        done = self.study("one", "--quick")
        self.assertEqual(done.returncode, 1)
        self.assertIn("neither held nor explained: wrong", done.stderr)
        self.assertIn("NO", done.stdout)

    def test_a_measure_that_fails_hides_nothing(self):
        self.change("expected.toml", 'link = "r > c"', 'link = "*"')
        done = self.study("one", "--quick")
        self.assertEqual(done.returncode, 1)
        self.assertIn("failed: aimd, seed 1: `queue` has 4 values", done.stdout)
        self.assertIn("4 claims: 3 hold, 1 does not and is explained", done.stdout)
        page = (self.folder / "studies/one.md").read_text(encoding="utf-8")
        self.assertIn("Failed: aimd, seed 1", page)

    def test_mistakes_are_reported_before_any_run(self):
        self.change("expected.toml", '"9 Mbit/s"', '"9"')
        done = self.study("one")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("one/expected.toml:25:13: 9 of what? Write the unit", done.stderr)
        self.assertFalse((self.folder / "studies").exists())

    def test_a_folder_without_a_study_is_rejected(self):
        done = self.study("nowhere")
        self.assertEqual(done.returncode, 7)
        self.assertIn("nowhere has no expected.toml", done.stderr)
        (self.folder / "studies").write_text("a file", encoding="utf-8")
        done = self.study("one", "--quick")
        self.assertEqual((done.returncode, done.stdout), (7, ""))
        self.assertIn("cannot write studies", done.stderr)


if __name__ == "__main__":
    unittest.main()
