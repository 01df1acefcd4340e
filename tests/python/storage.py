"""Sweeps into a bucket of a real S3 server, which is absent, rejects, and dies in mid-sweep."""

import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import weir
from _network import SCENARIO
from support.buckets import KEYS, Server, environment
from weir import _store

TWO = weir.Scenario.from_text(SCENARIO.replace("1 MB", "20 kB"), name="two.toml")


class Buckets(unittest.TestCase):
    """A sweep of four points into a bucket."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="weir-")
        self.addCleanup(folder.cleanup)
        self.bucket = Path(folder.name, "sweeps")
        self.bucket.mkdir()
        self.server = Server(folder.name)
        self.server.start()
        self.addCleanup(self.server.stop)
        self.enterContext(mock.patch.dict(os.environ, environment(self.server.address)))
        self.enterContext(mock.patch.object(_store, "REQUESTS", 1))

    def sweep(self, place="s3://sweeps/two", **settings):
        """Schemes and losses."""
        settings = {"control": ["aimd", "cubic"], "link__loss": ["0 %", "1 %"], **settings}
        return weir.sweep(TWO, place, jobs=1, **settings)

    def test_a_bucket_has_what_a_folder_has(self):
        """And a point is never run twice."""
        made = self.sweep()
        self.assertEqual((made.new, made.done, made.place), (4, 4, "s3://sweeps/two"))
        self.assertEqual(self.sweep().new, 0)
        self.assertEqual(self.sweep(repetitions=2).new, 4)
        local = self.sweep(self.bucket / "local")
        self.assertEqual(local.flows.to_pylist(), made.flows.to_pylist())
        self.assertEqual(local.new, 4)
        # A copy of the bucket is a folder of a sweep.
        self.assertEqual(self.sweep(self.bucket / "two").new, 0)

    def test_points_of_deeper_prefixes_are_others(self):
        """A sweep below another one, and objects that are missing or empty."""
        self.assertEqual(self.sweep("s3://sweeps/two/deeper").new, 4)
        made = self.sweep()
        self.assertEqual((made.new, made.done, len(made.runs)), (4, 4, 4))
        folders = [self.bucket / "two" / point.key for point in made._points]
        (folders[0] / "runs.parquet").unlink()
        (folders[1] / "scenario.toml").write_bytes(b"")
        again = self.sweep()
        self.assertEqual((again.new, again.flows.to_pylist()), (2, made.flows.to_pylist()))
        file = folders[2] / "runs.parquet"
        key = again._points[2].key
        remedy = f"two/{key}/runs.parquet: .*; remove s3://sweeps/two/{key}, and repeat the call"
        # Behind the back of the server, whose checksum shows it, and through it.
        file.write_bytes(file.read_bytes()[:-9])
        with self.assertRaisesRegex(weir.ResultsError, f"cannot read s3://sweeps/{remedy}"):
            self.assertEqual(len(again.runs), 4)
        with again._store._fs.open_output_stream(f"sweeps/two/{key}/runs.parquet") as object_:
            object_.write(b"rubbish")
        with self.assertRaisesRegex(weir.ResultsError, f"cannot read s3://sweeps/{remedy}"):
            self.assertEqual(len(again.runs), 4)
        file.unlink()
        with self.assertRaisesRegex(weir.ResultsError, "it is gone; remove s3://sweeps/two/"):
            self.assertEqual(len(again.runs), 4)

    def test_a_server_that_dies_and_comes_back(self):
        """Nothing is lost or doubled; the point that was being written is run again."""
        ended = []

        def die(share, count):
            ended.append(count)
            if count >= 1:
                self.server.stop()

        with self.assertRaisesRegex(weir.ResultsError, "does not answer.*same call runs the"):
            self.sweep(progress=die, repetitions=3)
        self.server.start()
        kept = len(list(self.bucket.glob("two/*/point.json")))
        self.assertGreaterEqual(kept, 1)
        self.assertLess(kept, 12)
        # An object of a point that was interrupted is not a result.
        broken = next(self.bucket.glob("two/*/point.json"))
        broken.unlink()
        made = self.sweep(repetitions=3)
        self.assertEqual((made.new, made.done, len(made)), (12 - kept + 1, 12, 12))
        self.assertEqual(len(list(self.bucket.glob("two/*"))), 12)
        self.assertEqual(list(made.runs.to_pandas()["run"]), list(range(12)))

    def test_buckets_that_cannot_be_used(self):
        """Nothing is run, and the message names the remedy."""
        with self.assertRaisesRegex(weir.ResultsError, "there is no bucket `absent`; make it"):
            self.sweep("s3://absent/two")
        with self.assertRaisesRegex(weir.ResultsError, "names no bucket"):
            self.sweep("s3://")
        for name in KEYS:
            with mock.patch.dict(os.environ, {name: "wrong"}):
                rejected = "rejects the credentials; set AWS_ACCESS_KEY_ID"
                with self.assertRaisesRegex(weir.ResultsError, rejected):
                    self.sweep()
        self.server.stop()
        with self.assertRaisesRegex(weir.ResultsError, "does not answer; see AWS_ENDPOINT_URL"):
            self.sweep()
        self.assertEqual(list(self.bucket.iterdir()), [])

    def test_a_library_without_s3(self):
        """The message names the extra."""
        with mock.patch.dict("sys.modules", {"pyarrow.fs": None}):
            with self.assertRaisesRegex(weir.WeirError, r"with \[s3\]"):
                self.sweep()
