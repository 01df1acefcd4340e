"""Every study in its quick form: whatever the machine, each order that a paper claims holds, and
each number of a run that is not shortened; or it is known not to, and what was found still is."""

import json
import subprocess
import tempfile
import unittest
from pathlib import Path

from support import weir

SCENARIOS = weir.ROOT / "scenarios"


class Quick(unittest.TestCase):
    """All studies, run once."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="weir-")
        cls.addClassCleanup(folder.cleanup)
        cls.out = Path(folder.name)
        command = [weir.program(), "study", "--all", "--quick", "--json"]
        cls.done = subprocess.run(
            [*command, "--out", cls.out], cwd=weir.ROOT, capture_output=True, text=True, check=False
        )
        cls.studies = json.loads(cls.done.stdout)["studies"]

    def test_every_study_was_run(self):
        names = sorted(path.parent.name for path in SCENARIOS.glob("*/expected.toml"))
        self.assertEqual([study["study"] for study in self.studies], names)
        for study in self.studies:
            self.assertTrue((self.out / f"{study['study']}.html").exists())
            self.assertTrue((self.out / f"{study['study']}.md").exists())
        self.assertTrue((self.out / "index.html").exists())

    def test_judged_claims_hold_or_are_explained(self):
        wrong = [
            f"{study['study']}: {claim['id']}: {claim['measured']}"
            for study in self.studies
            for claim in study["claims"]
            if claim["judged"] and not (claim["holds"] or claim["explained"] or claim["off"])
        ]
        self.assertEqual(wrong, [])
        self.assertEqual(self.done.returncode, 0, self.done.stderr)

    def test_no_run_failed_and_every_claim_that_is_judged_has_a_value(self):
        for study in self.studies:
            for one in study["experiments"]:
                self.assertEqual(one["failures"], [], study["study"])
                self.assertEqual(one["runs"], one["wanted"], study["study"])
            # A number may need what comes after the quick form's end: when a flow has ended.
            for claim in study["claims"]:
                if claim["judged"]:
                    self.assertIsNone(claim["failure"], f"{study['study']}: {claim['id']}")


if __name__ == "__main__":
    unittest.main()
