"""The wheel: a module that needs nothing else, and the program."""

import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import unittest
from pathlib import Path

# Without the paths of the tests and of other libraries.
ALONE = [sys.executable, "-I", "-S", "-c"]
ROOT = Path(__file__).resolve().parents[2]


class Package(unittest.TestCase):
    """The parts that `pip install` gives."""

    def test_the_module_runs_a_scenario_without_any_library(self):
        """Only the standard library is there; the wheel is put on the path by hand."""
        place = sysconfig.get_path("purelib")
        scenario = (
            "scenario={'duration': '1 s'}, node=[{'name': ['a', 'b']}],"
            "link=[{'between': ('a', 'b'), 'rate': 1e7}],"
            "content=[{'name': '/x', 'at': 'b', 'size': 100000}],"
            "consumer=[{'at': 'a', 'name': '/x'}]"
        )
        code = (
            f"import sys; sys.path.append({place!r}); import weir;"
            f"done = weir.run(weir.Scenario({scenario}));"
            "print(done.summary['flows'][0]['bytes'], len(done.flows), done, weir.aio.__name__)"
        )
        said = subprocess.run([*ALONE, code], capture_output=True, text=True, check=False)
        self.assertEqual(said.stderr, "")
        expected = "100000 1 <weir.Results scenario: 1 run, 1 flow> weir.aio"
        self.assertEqual(said.stdout.strip(), expected)

    def test_the_program_is_installed_and_knows_the_same_schemes(self):
        """`weir schemes --json` beside `weir.schemes()`."""
        import weir

        program = Path(sysconfig.get_path("scripts"), "weir")
        said = subprocess.run([program, "schemes", "--json"], capture_output=True, check=True)
        listed = json.loads(said.stdout)
        ours = weir.schemes()
        self.assertGreater(len(listed), 40)
        for row in listed:
            scheme = ours[row["name"]]
            self.assertEqual((scheme.summary, scheme.paper), (row["summary"], row["paper"]))
            self.assertEqual(list(scheme.parts), row["parts"])
            self.assertEqual([vars(one) for one in scheme.parameters], row["parameters"])

    def test_the_package_is_typed_and_has_the_version_of_the_program(self):
        """`py.typed` is there, and one version."""
        import weir

        program = Path(sysconfig.get_path("scripts"), "weir")
        said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
        # The commit may follow.
        self.assertEqual(said.stdout.split()[1], weir.__version__)
        self.assertEqual(said.stdout, f"weir {weir._weir.BUILD}\n")
        self.assertEqual(importlib.metadata.version("weir"), weir.__version__)
        self.assertTrue(Path(weir.__file__).with_name("py.typed").exists())
        extras = importlib.metadata.metadata("weir").get_all("Provides-Extra")
        expected = {"dask", "env", "fsspec", "notebook", "optuna", "ray", "s3", "sweep"}
        self.assertEqual(set(extras), expected)

    def test_notebooks_open_for_root_and_without_a_display(self):
        """`scripts/notebook` beside programs that print their arguments."""
        folder = tempfile.TemporaryDirectory(prefix="weir-")
        self.addCleanup(folder.cleanup)
        place = Path(folder.name)
        programs = {
            "scripts/wheel": "echo made.whl",
            "bin/id": 'echo "$USER_ID"',
            "target/notebook/bin/pip": ":",
            "target/notebook/bin/jupyter": 'echo "$@"',
        }
        for name, text in programs.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
            (place / name).chmod(0o755)
        shutil.copy(ROOT / "scripts/notebook", place / "scripts")
        path = f"{place / 'bin'}:{os.environ['PATH']}"
        for user, display, options in (
            ("0", "", "--allow-root --no-browser --port=1"),
            ("1000", ":0", "--port=1"),
        ):
            env = {"PATH": path, "USER_ID": user, "DISPLAY": display}
            command = [place / "scripts/notebook", "--port=1"]
            done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
            expected = f"lab {options} docs/notebooks/first-simulation.ipynb"
            self.assertEqual(done.stdout.strip(), expected)
