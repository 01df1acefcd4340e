"""The guide for clusters: its objects of Kubernetes, its job of Slurm, and its commands."""

import re
import shlex
import subprocess
import sys
import unittest
from pathlib import Path

import kubernetes_validate
import yaml

GUIDE = Path(__file__).resolve().parents[2] / "docs/how-to/run-a-sweep.md"


def block(language):
    """The text in a language of the guide."""
    text = GUIDE.read_text(encoding="utf-8")
    return re.search(rf"(?s)```{language}\n(.*?)```", text)[1]


class Guides(unittest.TestCase):
    """Texts that a reader copies."""

    def test_the_objects_of_kubernetes_have_its_schemas(self):
        """Strictly: fields that are unknown are mistakes. Names agree with each other."""
        objects = list(yaml.safe_load_all(block("yaml")))
        for one in objects:
            kubernetes_validate.validate(one, kubernetes_validate.latest_version(), strict=True)
        kinds = {(one["kind"], one["metadata"]["name"]): one["spec"] for one in objects}
        service = kinds["Service", "dask"]
        scheduler = kinds["Deployment", "dask-scheduler"]["template"]["metadata"]["labels"]
        self.assertEqual(service["selector"], scheduler)
        address = f"tcp://dask:{service['ports'][0]['port']}"
        (worker,) = kinds["Deployment", "dask-workers"]["template"]["spec"]["containers"]
        (job,) = kinds["Job", "sweep"]["template"]["spec"]["containers"]
        self.assertIn(address, worker["command"])
        self.assertEqual(job["env"], [{"name": "DASK_SCHEDULER_ADDRESS", "value": address}])
        # Dask takes the options of the workers.
        (option,) = [part for part in worker["command"] if part.endswith("workers")]
        done = subprocess.run(
            [sys.executable, "-m", "distributed.cli.dask_worker", "--help"],
            capture_output=True,
            text=True,
            check=True,
        )
        self.assertIn(option, done.stdout)
        self.help_of(job["command"])

    def test_the_job_of_slurm_is_a_script(self):
        """Its command is one of the program."""
        script = block("bash")
        subprocess.run(["bash", "-n"], input=script, text=True, check=True)
        (command,) = re.findall(r"weir sweep .*", script)
        self.help_of(shlex.split(command))

    def test_the_shares_of_wrong_decisions_are_those_of_the_script(self):
        """`python/decisions` draws the same numbers each time."""
        script = GUIDE.parents[2] / "python/decisions"
        command = [sys.executable, "-P", script]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        self.assertIn(f"\n\n{done.stdout}\n", GUIDE.read_text(encoding="utf-8"))
        shares = re.findall(r"(?m)\| ([\d.]+) % \| ([\d.]+) % \|$", done.stdout)
        # Three standard deviations of a share of 2,000 sweeps.
        self.assertLess(max(float(median) for median, _ in shares), 5 + 1.5)
        self.assertEqual(len(shares), 5)

    def help_of(self, command):
        """The program knows all options of a command."""
        done = subprocess.run(["weir", "sweep", "--help"], capture_output=True, check=True)
        for option in filter(lambda part: part.startswith("--"), command):
            self.assertIn(option.encode(), done.stdout)
