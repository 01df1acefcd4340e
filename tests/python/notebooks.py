"""The notebooks of docs/notebooks run from their first to their last cell."""

import json
import os
import re
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import nbformat
import numpy
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).resolve().parents[2] / "docs/notebooks"
# Seconds for a cell, on a slow machine.
PATIENCE = 300


class Notebooks(unittest.TestCase):
    """Executed without an error, kept without outputs."""

    def execute(self, name):
        """The outputs of a notebook."""
        file = NOTEBOOKS / f"{name}.ipynb"
        notebook = nbformat.read(file, as_version=4)
        with tempfile.TemporaryDirectory(prefix="weir-") as folder:
            about = {"metadata": {"path": folder}}
            client = NotebookClient(notebook, timeout=PATIENCE, resources=about)
            # Plots are drawn into the notebook, not to nowhere.
            with mock.patch.dict(os.environ):
                os.environ.pop("MPLBACKEND", None)
                client.execute()
        outputs = [one for cell in notebook.cells for one in cell.get("outputs", [])]
        warned = [one["text"] for one in outputs if one.get("name") == "stderr"]
        self.assertFalse([text for text in warned if "Warning" in text])
        return outputs

    def test_a_first_simulation(self):
        """Network, table and plots are shown, and the mistake has a message."""
        shown = self.execute("first-simulation")
        kinds = {kind for one in shown for kind in one.get("data", {})}
        self.assertLessEqual({"image/svg+xml", "text/html", "image/png"}, kinds)
        said = "".join(one.get("text", "") for one in shown)
        self.assertIn("did you mean `cubic`?", said)

    def test_compare_schemes(self):
        """The second sweep runs nothing again."""
        shown = [
            one["data"]["text/plain"] for one in self.execute("compare-schemes") if "data" in one
        ]
        self.assertIn("0", shown)
        self.assertTrue(any("8 of 8 points" in text for text in shown), shown)

    def test_write_a_scheme(self):
        """The broken scheme ends with its time; marks keep the queue short."""
        shown = self.execute("write-a-scheme")
        said = "".join(one.get("text", "") for one in shown)
        self.assertIn("scheme `broken` raised ZeroDivisionError", said)
        self.assertIn("interrupted", said)
        rows = [one["data"]["text/html"] for one in shown if "text/html" in one.get("data", {})]
        self.assertIn("early:limit=20 ms", rows[-1])

    def test_learn_a_scheme(self):
        """The policy gets better, its file says the same, and it fills links with short queues."""
        shown = self.execute("learn-a-scheme")
        said = "".join(one.get("text", "") for one in shown)
        self.assertIn("the same learned", said)
        first, last = map(float, re.search(r"reward (\S+) at first, (\S+) after", said).groups())
        self.assertGreater(last, first)
        texts = [one["data"]["text/plain"] for one in shown if "text/plain" in one.get("data", {})]
        [pair] = [text for text in texts if re.fullmatch(r"\([-\d., e]+\)", text)]
        by_file, by_hand = map(float, pair.strip("()").split(","))
        # The file has numbers of 32 bits.
        self.assertAlmostEqual(by_file, by_hand, places=5)
        rows = re.findall(r"^(\d+) Mbit/s, \d+ ms +([\d. ]+)$", "\n".join(texts), re.MULTILINE)
        self.assertEqual([rate for rate, _ in rows], ["20", "40", "50", "80"])
        for rate, row in rows:
            used, round_trips = numpy.array(row.split(), dtype=float).reshape(2, 3)
            _, cubic, learned = range(3)
            self.assertLess(round_trips[learned], round_trips[cubic])
            # The reward is what it uses, less what it pays for waiting.
            self.assertGreater(used[learned], 100 * last if rate != "40" else 0)

    def test_a_sweep_on_ray(self):
        """All points have results, and the second sweep runs nothing."""
        shown = [one["data"]["text/plain"] for one in self.execute("sweep-on-ray") if "data" in one]
        self.assertIn("2.0", shown)
        self.assertTrue(any("36 of 36 points" in text for text in shown), shown)
        self.assertIn("0", shown)

    def test_a_figure_of_a_paper(self):
        """A PDF, and queues within 2 % of those that the paper has."""
        shown = [
            one["data"]["text/plain"] for one in self.execute("figure-of-a-paper") if "data" in one
        ]
        (last,) = [text for text in shown if "%PDF" in text]
        share = float(re.search(r"([\d.]+)% off", last)[1])
        self.assertLessEqual(share, 2.0)

    def test_real_daemons(self):
        """Both transfers arrive whole, from daemons as in the simulator."""
        shown = self.execute("real-daemons")
        texts = [one["data"]["text/plain"] for one in shown if "text/plain" in one.get("data", {})]
        (table,) = [text for text in texts if "goodput_mbps" in text]
        rows = re.findall(r"(simulator|daemons) +([\d.]+) +([\d.]+) ", table)
        self.assertEqual([by for by, *_ in rows], ["simulator", "daemons"] * 2, table)
        for _, goodput, time in rows:
            # 4 MB over 10 Mbit/s take 3.2 s at least.
            self.assertLess(float(goodput), 10)
            self.assertGreater(float(time), 3.2)

    def test_no_outputs_are_kept(self):
        """They would be out of date."""
        for file in NOTEBOOKS.glob("*.ipynb"):
            for cell in json.loads(file.read_text(encoding="utf-8"))["cells"]:
                self.assertFalse(cell.get("outputs"), file.name)
                self.assertIsNone(cell.get("execution_count"), file.name)
