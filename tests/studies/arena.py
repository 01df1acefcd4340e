"""The arena in its quick form: regrets are those of the committed results."""

import json
import subprocess
import tempfile
import tomllib
import unittest
from pathlib import Path

from support import weir

ARENA = weir.ROOT / "scenarios/arena"
COMMITTED = weir.ROOT / "docs/studies/arena.json"
# The quick form's first seed is the first of the committed ones, and runs repeat byte for byte. A
# change of a scheme is seen here; regrets that differ by less are no reason to run all again.
TOLERANCE = 0.02


def regrets(scores):
    """The distance of each score from the best, as a share of it."""
    best = max(scores.values())
    return {name: 1 - score / best if best else 0.0 for name, score in scores.items()}


def scores(outcome, seeds):
    """By cell, the mean score of each scheme over its first seeds."""
    names = outcome["schemes"]
    return {
        cell["cell"]: {
            name: sum(row[:seeds]) / seeds
            for name, row in zip(names, cell["scores"], strict=True)
        }
        for cell in outcome["cells"]
    }


class Quick(unittest.TestCase):
    """The quick form, run once."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="weir-")
        cls.addClassCleanup(folder.cleanup)
        cls.out = Path(folder.name)
        command = [weir.program(), "study", ARENA, "--quick", "--json", "--out", cls.out]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        cls.outcome = json.loads(done.stdout)
        cls.committed = json.loads(COMMITTED.read_text(encoding="utf-8"))

    def test_regrets_are_the_committed_ones(self):
        seeds = self.outcome["seeds"]
        self.assertLessEqual(seeds, self.committed["seeds"])
        known = scores(self.committed, seeds)
        wrong = []
        for cell, found in scores(self.outcome, seeds).items():
            before = regrets({name: known[cell][name] for name in found})
            for name, regret in regrets(found).items():
                if abs(regret - before[name]) > TOLERANCE:
                    wrong.append(f"{cell}: {name} {regret:.3f}, committed {before[name]:.3f}")
        self.assertEqual(wrong, [], "if a scheme was changed on purpose, run scripts/arena")

    def test_the_regret_of_each_is_by_its_scores(self):
        found = scores(self.outcome, self.outcome["seeds"])
        for cell in self.outcome["cells"]:
            expected = regrets(found[cell["cell"]])
            for name, regret in zip(self.outcome["schemes"], cell["regret"], strict=True):
                # Scores are written in thousandths.
                self.assertAlmostEqual(regret, expected[name], delta=0.002)

    def test_the_page_is_written(self):
        page = (self.out / "arena.md").read_text(encoding="utf-8")
        self.assertIn("geometric mean of the factors", page)
        for scheme in self.outcome["schemes"]:
            self.assertIn(f"`{scheme}`", page)
        self.assertTrue((self.out / "arena.html").exists())
        self.assertTrue((self.out / "pictures/arena-front-1.svg").exists())

    def test_the_committed_results_are_of_the_cells_of_the_file(self):
        names = [cell["cell"] for cell in self.committed["cells"]]
        written = tomllib.loads((ARENA / "arena.toml").read_text(encoding="utf-8"))["cell"]
        self.assertEqual(names, [cell["name"] for cell in written])
        self.assertGreaterEqual(len(names), 30)


class Mistakes(unittest.TestCase):
    """Arguments that an arena does not take."""

    def study(self, *arguments):
        """Run the command, which must fail as a wrong usage."""
        done = subprocess.run(
            [weir.program(), "study", *arguments], capture_output=True, text=True, check=False
        )
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        return done.stderr

    def test_an_unknown_cell_is_reported_with_the_known_cells(self):
        said = self.study(ARENA, "--only", "nowhere")
        self.assertIn("has no cell nowhere; choose one of buffer-tenth", said)

    def test_seeds_are_for_arenas(self):
        folder = weir.ROOT / "crates/study/tests/bottleneck"
        self.assertIn("--seeds is for an arena", self.study(folder, "--seeds", "2"))

    def test_daemons_are_not_for_arenas(self):
        self.assertIn("simulator alone", self.study(ARENA, "--testbed"))


if __name__ == "__main__":
    unittest.main()
