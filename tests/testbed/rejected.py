"""Unsupported scenarios are reported before anything is built."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import testbed
from support import weir

NAME = "weir-tests"


class Rejected(unittest.TestCase):
    """One message each, and nothing left behind."""

    def fails(self, text, status, *words, name=NAME, options=(), env=None):
        """The scenario is rejected with these words."""
        path = testbed.file(self, text)
        command = [weir.program(), "testbed", "run", path, "--name", name, *options]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env=env, timeout=testbed.PATIENCE
        )
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(done.stdout, "")
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertEqual(testbed.leftovers(NAME), [])

    def test_simulator_only_features_are_rejected(self):
        text = testbed.LINE.format(duration="1 s", size="1 MB")
        text += '[[link]]\nbetween = ["consumer", "producer"]\nrate = "1 Mbit/s"\n'
        text += 'duplicate = "1 %"\n'
        self.fails(text, 2, "2 things that a testbed does not", "link consumer-producer")

    def test_a_scenario_too_large_for_the_host_is_rejected(self):
        text = testbed.LINE.format(duration="1 s", size="1 MB")
        text = text.replace("50 Mbit/s", "1 Tbit/s").replace("20 Mbit/s", "1 Tbit/s")
        self.fails(text, 1, "too large for a testbed here", "lower the rates", "--anyway")

    def test_a_name_that_is_none(self):
        text = testbed.LINE.format(duration="1 s", size="1 MB")
        self.fails(text, 2, "is not a name for a testbed", name="a/b")

    def test_an_existing_namespace_is_rejected(self):
        name = f"weir-{NAME}.middle"
        subprocess.run(["ip", "netns", "add", name], check=True)
        self.addCleanup(subprocess.run, ["ip", "netns", "delete", name], check=True)
        path = testbed.file(self, testbed.LINE.format(duration="1 s", size="1 MB"))
        status, _, said = testbed.run("testbed", path, "--name", NAME)
        self.assertEqual(status, 1)
        self.assertIn(f"there is a network namespace {name} already", said)
        self.assertEqual(testbed.leftovers(NAME), [name])

    def test_a_machine_without_token_buckets(self):
        text = testbed.LINE.format(duration="1 s", size="1 MB")
        with tempfile.TemporaryDirectory(prefix="weir-") as folder:
            for program in ("unshare", "sh", "true", "ip"):
                Path(folder, program).symlink_to(shutil.which(program))
            options, env = ("--shape", "kernel"), {"PATH": folder}
            self.fails(text, 1, "cannot run `tc`", "iproute2", options=options, env=env)
            # One of a kernel that has none says this.
            rejects = "#!/bin/sh\necho 'Error: Specified qdisc kind is unknown.' >&2; exit 1\n"
            Path(folder, "tc").write_text(rejects, encoding="utf-8")
            Path(folder, "tc").chmod(0o755)
            self.fails(text, 1, "no token buckets", "sch_tbf", options=options, env=env)

    def test_schemes_that_look_into_queues_of_the_kernel(self):
        text = testbed.LINE.format(duration="1 s", size="1 MB")
        text = text.replace('queue = "100 kB"', 'marker = "codel"')
        words = "link middle-producer", "leave --shape kernel away"
        self.fails(text, 2, *words, options=("--shape", "kernel"))

    def test_more_content_than_memory(self):
        text = testbed.LINE.format(duration="1 s", size="1 MB")
        more = '[[node]]\nname = "small"\nmemory = "32 MB"\ncontent_store = "64 MB"\n'
        self.fails(text + more, 2, "node small", "capacity")

    def test_a_machine_without_the_programs(self):
        text = testbed.LINE.format(duration="1 s", size="1 MB")
        with tempfile.TemporaryDirectory(prefix="weir-") as folder:
            for program in ("unshare", "sh", "true"):
                Path(folder, program).symlink_to(shutil.which(program))
            self.fails(text, 1, "cannot run `ip`", "iproute2", env={"PATH": folder})


if __name__ == "__main__":
    unittest.main()
