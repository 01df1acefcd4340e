"""The output, files and exit codes of `weir compare`."""

import json
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from support import weir

FAILED, USAGE, FILE = 1, 2, 7
REFERENCE = weir.ROOT / "docs/reference/json.md"
SCENARIO = """
[scenario]
name = "two"
duration = "6 s"
[[node]]
name = ["near", "far"]
[[link]]
between = ["near", "far"]
rate = "10 Mbit/s"
delay = "5 ms"
[[content]]
name = "/film"
at = "far"
size = "1 MB"
[[consumer]]
at = "near"
name = "/film"
control = "aimd"
"""
SWEEP = '\n[sweep]\nlink.loss = ["0.5 %", "1 %"]\nrepetitions = 3\n'
OTHER = SCENARIO.replace('"near", "far"', '"here", "there"').replace('at = "far"', 'at = "there"')
OTHER = OTHER.replace('at = "near"', 'at = "here"')
# The same network at half the rate, in several folders that the tests only read.
FOLDERS = {
    "fast": ("one.toml",),
    "slow": ("one.toml", "--set", "link.rate=5 Mbit/s"),
    "again": ("one.toml",),
    "strange": ("other.toml",),
    "more": ("more.toml",),
    "aimd": ("many.toml",),
    "cubic": ("many.toml", "--set", "consumer.control=cubic"),
    "later": ("many.toml", "--seed", "11"),
}


class Compare(unittest.TestCase):
    """Folders that are made once."""

    @classmethod
    def setUpClass(cls):
        cls.program = weir.program()
        folder = tempfile.TemporaryDirectory(prefix="weir-")
        cls.addClassCleanup(folder.cleanup)
        cls.here = Path(folder.name)
        (cls.here / "one.toml").write_text(SCENARIO, encoding="utf-8")
        (cls.here / "many.toml").write_text(SCENARIO + SWEEP, encoding="utf-8")
        more = SCENARIO + '[[consumer]]\nat = "near"\nname = "/film"\nstart = "5 s"\n'
        (cls.here / "more.toml").write_text(more, encoding="utf-8")
        (cls.here / "other.toml").write_text(OTHER, encoding="utf-8")
        for name, arguments in FOLDERS.items():
            command = [cls.program, "sim", "run", *arguments, "--out", name, "--quiet"]
            subprocess.run(command, cwd=cls.here, check=True)

    def compare(self, *arguments):
        """Run the command; the finished process."""
        command = [self.program, "compare", *arguments]
        return subprocess.run(command, cwd=self.here, capture_output=True, text=True, check=False)

    def object(self, *arguments):
        """Its output as JSON."""
        done = self.compare(*arguments, "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def goodput(self, folder):
        """The goodput of the only flow of a folder."""
        summary = (self.here / folder / "summary.json").read_text(encoding="utf-8")
        return json.loads(summary)["flows"][0]["goodput_mbps"]

    def difference(self, case, kind, quantity):
        """A quantity of the first thing of a kind."""
        found = [d for d in case["differences"] if (d["kind"], d["quantity"]) == (kind, quantity)]
        return found[0]

    def test_two_results_are_shown_and_written(self):
        done = self.compare("fast", "slow", "--output", "page.html")
        self.assertEqual((done.returncode, done.stderr), (0, "written to page.html\n"))
        self.assertIn("two: fast (1 run) and slow (1 run)", done.stdout)
        rates = [self.goodput(folder) for folder in ("fast", "slow")]
        share = 100 * (rates[0] - rates[1]) / rates[0]
        row = r"goodput \(Mbit/s\) +([\d.]+) +([\d.]+) +-[\d.]+ +-([\d.]+)  \*\n"
        shown = [float(value) for value in re.search(row, done.stdout).groups()]
        for value, wanted in zip(shown, [*rates, share], strict=True):
            self.assertAlmostEqual(value, wanted, delta=0.005 * wanted)
        self.assertNotIn("±", done.stdout, "of single runs")
        page = (self.here / "page.html").read_text(encoding="utf-8")
        self.assertIn("<h1>two: how does slow differ from fast?</h1>", page)
        self.assertIn("near /film", page)

    def test_a_link_has_the_same_use_and_queue_everywhere(self):
        """In the tables of a run and of a comparison: until the last flow ended."""
        command = [self.program, "sim", "run", "one.toml"]
        done = subprocess.run(command, cwd=self.here, capture_output=True, text=True, check=True)
        self.assertIn("are of the time until the last flow ended.", done.stdout)
        self.assertRegex(done.stdout, r"(?m)^from +to +rate \(Mbit/s\) +used \(%\) +queue \(kB\)")
        row = re.search(r"(?m)^far +near +10\.0 +([\d.]+) +([\d.]+) ", done.stdout).groups()
        [case] = self.object("fast", "again")["cases"]
        for value, quantity, factor in zip(
            map(float, row), ("utilization", "queue_mean_bytes"), (100, 1e-3), strict=True
        ):
            found = [
                one["first"]["mean"] * factor
                for one in case["differences"]
                if (one["quantity"], one["entity"]) == (quantity, "far > near")
            ]
            self.assertAlmostEqual(value, found[0], delta=0.01 * value)

    def test_the_object_is_what_the_manual_says(self):
        found = self.object("fast", "slow")
        manual = REFERENCE.read_text(encoding="utf-8")
        part = manual.split("\n## `weir compare --json`\n")[1].split("\n## ")[0]
        told = re.findall(r"^\| `([^`]+)` \|", part, re.MULTILINE)
        case, difference = found["cases"][0], found["cases"][0]["differences"][0]
        for prefix, has in (
            ("", found),
            ("first.", found["first"]),
            ("cases[].", case),
            ("cases[].differences[].", difference),
        ):
            fields = [name.removeprefix(prefix) for name in told if name.startswith(prefix)]
            self.assertEqual([name for name in fields if "." not in name], list(has))
        queue = self.difference(found["cases"][0], "link", "queue_mean_bytes")
        self.assertEqual((queue["main"], queue["first"]["n"]), (True, 1))
        self.assertIsNone(queue["difference"]["ci95"])

    def test_equal_seeds_are_pairs_and_others_are_not(self):
        found = self.object("aimd", "cubic")
        settings = [case["settings"] for case in found["cases"]]
        self.assertEqual(settings, [[["link.loss", "0.5 %"]], [["link.loss", "1 %"]]])
        for case in found["cases"]:
            self.assertEqual((case["method"], case["first_seeds"]), ("paired", [1, 2, 3]))
            goodput = self.difference(case, "network", "goodput_mbps")
            gained = goodput["second"]["mean"] - goodput["first"]["mean"]
            self.assertAlmostEqual(goodput["difference"]["mean"], gained)
            self.assertGreater(goodput["difference"]["ci95"], 0)
        later = self.object("aimd", "later")
        self.assertEqual({case["method"] for case in later["cases"]}, {"welch"})
        said = self.compare("aimd", "cubic").stdout
        self.assertIn("link.loss 0.5 %", said)
        self.assertIn("±", said)

    def test_a_tolerance_decides_how_it_ends(self):
        done = self.compare("fast", "again", "--within", "0 %", "--quiet")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        done = self.compare("fast", "slow", "--within", "5 %", "--quiet")
        self.assertEqual((done.returncode, done.stdout), (FAILED, ""))
        self.assertRegex(done.stderr, r"^weir: \d of \d+ goodputs, .* more than 5 % apart: ")
        self.assertRegex(done.stderr, r"completion of near /film \(\+\d+.* %\).*compare\.html")
        done = self.compare("fast", "more", "--within", "100 %", "--quiet")
        self.assertEqual(done.returncode, FAILED)
        self.assertIn("flow near /film #2 (in one alone)", done.stderr)
        done = self.compare("fast", "slow", "--within", "300 %")
        self.assertEqual(done.returncode, USAGE)
        done = self.compare("fast", "slow", "--within", "5 %", "--json")
        self.assertEqual(done.returncode, FAILED)
        self.assertGreater(json.loads(done.stdout)["beyond"], 0)

    def test_incomparable_folders_are_rejected(self):
        (self.here / "empty").mkdir(exist_ok=True)
        (self.here / "broken").mkdir(exist_ok=True)
        (self.here / "broken/summary.json").write_text("{", encoding="utf-8")
        for folders, code, wanted in [
            (("fast", "nowhere"), FILE, "nowhere has no summary.json: it is not a folder that"),
            (("empty", "fast"), FILE, "empty has no summary.json: it is not a folder that"),
            (("fast", "broken"), FILE, "broken/summary.json is damaged"),
            (("fast", "strange"), USAGE, "fast and strange have nothing in common: no flow"),
            (("aimd", "fast"), USAGE, "aimd and fast have nothing in common: no run"),
            (("fast", "./fast"), USAGE, "./fast is the first folder again"),
        ]:
            done = self.compare(*folders)
            self.assertEqual((done.returncode, done.stdout), (code, ""), folders)
            self.assertIn(wanted, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_a_page_that_cannot_be_written(self):
        done = self.compare("fast", "slow", "--output", "nowhere/page.html")
        self.assertEqual((done.returncode, done.stdout), (FILE, ""))
        self.assertRegex(done.stderr, "^weir: cannot write nowhere/page.html: .*; choose another")


if __name__ == "__main__":
    unittest.main()
