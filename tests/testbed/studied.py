"""A study's runs on real daemons stand beside its simulation, in pages that were there before."""

import json
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import testbed
from support import weir

STUDY = weir.ROOT / "crates/study/tests/bottleneck"
# The file sweeps what the cases are; one of them is run, for long enough to have a goodput.
SECTION = """[experiment.testbed]
cases = ["cubic"]
set = ["scenario.duration=2 s", "content.size=3 MB"]
cause = "Nobody knows."
"""
# The result of an earlier run of another experiment.
BEFORE = {
    "on_daemons": "one",
    "version": "0",
    "experiments": [{"experiment": "window", "rows": [], "failures": ["aimd: no room"]}],
}


class Studied(unittest.TestCase):
    """A small study, of which one case is run on daemons too."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="weir-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        shutil.copytree(STUDY, self.folder / "one")
        path = self.folder / "one/expected.toml"
        text = path.read_text(encoding="utf-8")
        mark = "[experiment.measures]"
        path.write_text(text.replace(mark, SECTION + mark, 1), encoding="utf-8")

    def study(self, *options):
        """Run the command on the study."""
        command = [weir.program(), "study", "one", "--only", "bottleneck", "--out", "x", *options]
        return subprocess.run(
            command,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=testbed.PATIENCE,
        )

    def test_it_is_put_into_the_pages_and_kept_for_those_to_come(self):
        page, kept = self.folder / "x/one.md", self.folder / "x/one.testbed.json"
        self.assertEqual(self.study("--quick", "-q").returncode, 0)
        self.assertNotIn("On real daemons", page.read_text(encoding="utf-8"))
        kept.write_text(json.dumps(BEFORE), encoding="utf-8")
        done = self.study("--testbed", "--json")
        # An earlier failure, in an experiment that is not run now, is not a failure of this run.
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        [told] = json.loads(done.stdout)["studies"]
        [experiment] = told["experiments"]
        self.assertEqual((experiment["experiment"], experiment["failures"]), ("bottleneck", []))
        goodput = next(row for row in experiment["rows"] if row["what"].startswith("goodput"))
        self.assertEqual(goodput["case"], "cubic")
        # The link has 10 Mbit/s.
        self.assertTrue(0 < goodput["real"] < 10 and 0 < goodput["simulated"] < 10, goodput)
        with_it = page.read_text(encoding="utf-8")
        self.assertIn("On real daemons, one run of each", with_it)
        names = [one["experiment"] for one in json.loads(kept.read_text("utf-8"))["experiments"]]
        self.assertEqual(names, ["bottleneck", "window"])
        self.assertEqual(self.study("--quick", "-q").returncode, 0)
        self.assertIn("On real daemons, one run of each", page.read_text(encoding="utf-8"))
        self.assertEqual(testbed.leftovers("one"), [])

    def test_it_is_run_as_it_is_written(self):
        done = self.study("--testbed", "--quick")
        self.assertEqual(done.returncode, 2)
        self.assertIn("cannot be used with", done.stderr)
