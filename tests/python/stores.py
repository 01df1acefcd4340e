"""Folders of results that are damaged, incomplete, full, not writable, or have odd names."""

import contextlib
import errno
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

import polars
import pyarrow
import pyarrow.parquet  # it is loaded before a test gives up its rights
import weir
from _network import SCENARIO
from weir import _store, _study

TWO = weir.Scenario.from_text(SCENARIO.replace("1 MB", "20 kB"), name="two.toml")
GUIDE = Path(__file__).resolve().parents[2] / "docs/how-to/run-a-sweep.md"
# Tables of a point.
FIRST = ("runs", "flows")
# A user without rights.
NOBODY = 65534


@contextlib.contextmanager
def without_rights():
    """As a user who may write nothing of root's."""
    if os.geteuid():
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


class Folders(unittest.TestCase):
    """A sweep of two points into a folder."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="weir-")
        self.addCleanup(folder.cleanup)
        self.place = Path(folder.name, "results")

    def sweep(self, place=None, **settings):
        """Two schemes."""
        return weir.sweep(TWO, place or self.place, control=["aimd", "cubic"], **settings)

    def test_incomplete_points_are_run_again(self):
        """Without the last file, without a table, with an empty file, as an empty folder."""
        made = self.sweep()
        expected = made.flows.to_pylist()
        folder = self.place / made._points[0].key
        for name in ("point.json", "runs.parquet", "flows.parquet", "scenario.toml"):
            for how in ("remove", "empty", "folder"):
                with self.subTest(name=name, how=how):
                    (folder / name).unlink()
                    if how == "empty":
                        (folder / name).touch()
                    elif how == "folder":
                        (folder / name).mkdir()
                    again = self.sweep()
                    self.assertEqual((again.new, again.done), (1, 2))
                    self.assertEqual(again.flows.to_pylist(), expected)
        for file in folder.iterdir():
            file.unlink()
        self.assertEqual(self.sweep().new, 1)
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()
        folder.write_text("in the way", encoding="utf-8")
        self.assertEqual(self.sweep().new, 1)
        self.assertEqual(self.sweep().flows.to_pylist(), expected)
        self.assertEqual(len(list(self.place.iterdir())), 2, "nothing else is left")

    def test_damaged_files_have_a_place_and_a_remedy(self):
        """Following the remedy helps."""
        made = self.sweep()
        folder = self.place / made._points[1].key
        file = folder / "runs.parquet"
        whole = file.read_bytes()
        for content in (b"rubbish", whole[:-20], whole[:200] + bytes(200) + whole[400:]):
            file.write_bytes(content)
            with self.assertRaises(weir.ResultsError) as caught:
                self.assertEqual(len(self.sweep().runs), 2)
            text = str(caught.exception)
            self.assertIn(f"cannot read {file}: ", text)
            self.assertIn(f"; remove the folder {folder}, and repeat the call", text)
            self.assertNotIn("\n", text)
        for one in folder.iterdir():
            one.unlink()
        folder.rmdir()
        self.assertEqual(self.sweep().new, 1)
        self.assertEqual(len(self.sweep().runs), 2)

    def test_a_flipped_bit_changes_no_number(self):
        """It is an error with the file's name, or in a part that has no number."""
        made = weir.sweep(TWO, self.place, control=["aimd"])
        key = made._points[0].key
        file, damaged = self.place / key / "runs.parquet", 0
        table, whole = made._store.read(key, "runs"), file.read_bytes()
        expected = repr(table.to_pylist())
        goodput = struct.pack("<d", table["goodput_mbps"][0].as_py())
        # In the number itself, where only a checksum finds it, and anywhere.
        numbers = [8 * found.start() for found in re.finditer(re.escape(goodput), whole)]
        self.assertTrue(numbers)
        for number in numbers + random.Random(1).sample(range(len(whole) * 8), 30):
            content = bytearray(whole)
            content[number // 8] ^= 1 << number % 8
            file.write_bytes(content)
            with self.subTest(bit=number):
                try:
                    self.assertEqual(repr(made._store.read(key, "runs").to_pylist()), expected)
                except weir.ResultsError as error:
                    self.assertIn(f"cannot read {file}: ", str(error))
                    damaged += 1
        self.assertGreater(damaged, 1)

    def test_damaged_records_of_a_study_are_none(self):
        """A cluster does their runs again, instead of the host that makes the pages."""
        runs = [_study.Run(f"key{number}", number, "folder", ()) for number in range(7)]
        records = _study.Records(self.place, runs)
        whole = b'{"wall_s": 1.5}'
        contents = (whole, b"", whole[:-1], b"[]", b"[" * 100_000, b"\xff" + whole)
        for run, content in zip(runs, contents, strict=False):
            (self.place / f"{run.key}.json").write_bytes(content)
        self.assertEqual([records.has(run) for run in runs], [True] + [False] * 6)
        self.assertEqual(records._left(runs), runs[1:])
        records._keep(runs[1], mock.Mock(tables={"record": whole.decode()}))
        self.assertTrue(records.has(runs[1]))

    def test_files_with_another_content(self):
        """They can be read, and are none of this point."""
        made = self.sweep()
        first, second = (self.place / point.key for point in made._points)
        runs, flows = (pyarrow.parquet.read_table(first / f"{name}.parquet") for name in FIRST)
        other = pyarrow.table({"a": [1, 2]})
        number = runs.column_names.index("fct_s")
        texts = runs.set_column(number, "fct_s", pyarrow.array(["fast"]))
        for name, table, reason in (
            ("runs", other, "it has no column `run`"),
            ("runs", texts, "its column `fct_s` has another type than `double`"),
            ("runs", pyarrow.concat_tables([runs, runs]), "it has 2 rows instead of 1"),
            ("runs", runs.slice(0, 0), "it has 0 rows instead of 1"),
            ("runs", runs.append_column("x", [[1]]), "it has a column `x`"),
            ("flows", runs, "it has no column `"),
        ):
            file = first / f"{name}.parquet"
            pyarrow.parquet.write_table(table, file)
            text = f"cannot read {file}: {reason}"
            with self.subTest(reason=reason):
                with self.assertRaisesRegex(weir.ResultsError, f"^{re.escape(text)}.*; remove the"):
                    self.sweep().table(name)
            pyarrow.parquet.write_table({"runs": runs, "flows": flows}[name], file)
        about = (first / "point.json").read_bytes()
        deep = b"[" * 100_000
        for content in (b"rubbish", b"[]", b"{}", deep, (second / "point.json").read_bytes()):
            (first / "point.json").write_bytes(content)
            text = f"cannot read {first}/point.json: it is of another point; remove the folder"
            with self.assertRaisesRegex(weir.ResultsError, f"^{re.escape(text)}"):
                self.sweep().table("runs")
        (first / "point.json").write_bytes(about)
        self.assertEqual(self.sweep().runs.to_pylist(), made.runs.to_pylist())

    def test_a_name_with_a_colon_is_a_folder(self):
        """Only `s3://` is an address, and others are not taken for folders."""
        self.place.mkdir()
        with contextlib.chdir(self.place):
            self.assertEqual(self.sweep("film:v2").new, 2)
            self.assertEqual(len(self.sweep("film:v2").flows), 2)
            self.assertEqual(self.sweep(Path("loss=1 %")).flows.num_rows, 2)
            with self.assertRaisesRegex(weir.ResultsError, "^s3:/bucket/film is a path, and no b"):
                self.sweep(Path("s3://bucket/film"))
            with self.assertRaisesRegex(weir.ResultsError, "the place of the results is empty"):
                weir.sweep(TWO, "", control=["aimd"])
            for place in ("gs://bucket/film", "S3://bucket", "file:///film"):
                with self.assertRaisesRegex(weir.ResultsError, "folder, or s3://BUCKET/PREFIX"):
                    self.sweep(place)
        self.assertEqual({one.name for one in self.place.iterdir()}, {"film:v2", "loss=1 %"})

    def test_a_folder_that_cannot_be_written(self):
        """Nothing is run; results that are there can be read."""
        made = self.sweep()
        self.place.chmod(0o555)
        self.place.parent.chmod(0o755)
        self.addCleanup(self.place.chmod, 0o755)
        ran = mock.patch("weir._sweep._weir.run", side_effect=AssertionError("it was run"))
        remedy = "Permission denied; make the folder writable, or choose another one$"
        with ran, without_rights():
            self.assertEqual(self.sweep().flows.to_pylist(), made.flows.to_pylist())
            place = re.escape(str(self.place))
            with self.assertRaisesRegex(weir.ResultsError, f"^cannot write {place}: {remedy}"):
                self.sweep(repetitions=2)
            with self.assertRaisesRegex(weir.ResultsError, f"^cannot write .*new: {remedy}"):
                self.sweep(self.place / "new")

    def test_a_folder_that_becomes_full_or_read_only(self):
        """While points are written. Nothing incomplete is left, and complete points stay."""
        write, calls = pyarrow.parquet.write_table, []
        for number, remedy in ((errno.ENOSPC, "make room"), (errno.EROFS, "writable, or choose")):

            def fail(table, file, number=number, **more):
                # The first point is complete.
                calls.append(file)
                if len(calls) > len(_store.TABLES) + 1:
                    raise OSError(number, "[Errno] of pyarrow")
                write(table, file, **more)

            place = self.place / str(number)
            calls.clear()
            with mock.patch("pyarrow.parquet.write_table", fail):
                text = f"cannot write {re.escape(str(place))}/[0-9a-f]+: .*; .*{remedy}"
                with self.assertRaisesRegex(weir.ResultsError, text):
                    self.sweep(place, jobs=1)
            self.assertEqual(len(list(place.iterdir())), 1)
            self.assertEqual(self.sweep(place).new, 1)

    @unittest.skipIf(os.geteuid(), "it makes a small file system")
    def test_a_full_disk(self):
        """A real one."""
        self.place.mkdir()
        code = (
            "import sys, weir; sys.path.insert(0, sys.argv[2]); from _network import SCENARIO\n"
            "try: weir.sweep(weir.Scenario.from_text(SCENARIO), sys.argv[1],"
            " control=['aimd', 'cubic'], repetitions=50)\n"
            "except weir.ResultsError as error: print(error)"
        )
        script = 'mount -t tmpfs -o size=400k none "$1" && "$2" -c "$3" "$1" "$4"'
        here = str(Path(__file__).parent)
        command = ["unshare", "-m", "sh", "-c", script, "sh", self.place, sys.executable, code]
        done = subprocess.run([*command, here], capture_output=True, text=True, check=False)
        if "unshare" in done.stderr or "mount" in done.stderr:
            self.skipTest(done.stderr)
        self.assertRegex(done.stdout, "^cannot write .*No space left on device; make room\n$")
        self.assertEqual(done.stderr, "")

    def test_leftovers_of_killed_processes_are_removed(self):
        """Its own, and old ones of other hosts; not those of processes that run."""
        self.place.mkdir()
        with subprocess.Popen([sys.executable, "-c", ""]) as ended:
            pass
        host = _store._host()
        names = {
            "ended": f"{host}-{ended.pid}-abc",
            "running": f"{host}-{os.getpid()}-abc",
            "new": f"other.example-{ended.pid}-abc",
            "old": "other.example-1-abc",
            "before": "of_an_older_program",
        }
        for name in names.values():
            (self.place / f".unfinished-{name}" / "key").mkdir(parents=True)
        past = time.time() - 2 * 24 * 3600
        for name in ("old", "before"):
            os.utime(self.place / f".unfinished-{names[name]}", (past, past))
        self.sweep()
        left = {one.name.removeprefix(".unfinished-") for one in self.place.glob(".unfinished-*")}
        self.assertEqual(left, {names["running"], names["new"]})

    def test_two_sweeps_may_write_a_point_at_the_same_time(self):
        """The second finds the results of the first, and keeps them."""
        made = self.sweep()
        point = made._points[0]
        file = self.place / point.key / "runs.parquet"
        before = file.stat().st_ino
        table = made._store.read(point.key, "runs")
        made._store.keep(point, {name: table for name in _store.TABLES})
        self.assertEqual(file.stat().st_ino, before)
        error = weir.ResultsError("cannot read it; make it readable")
        with mock.patch.object(made._store, "_move", side_effect=error):
            with self.assertRaisesRegex(weir.ResultsError, "^cannot read it; make it readable$"):
                made._store.keep(point, {name: table for name in _store.TABLES})
        self.assertEqual(len(list(self.place.iterdir())), 2)

    def test_the_files_as_one_data_set(self):
        """The text of the guide: swept fields are not in the files of points."""
        self.sweep(link__loss=["0 %", "1 %"])
        text = GUIDE.read_text(encoding="utf-8")
        (code,) = re.findall(r"(?s)```python\n(import json.*?)```", text)
        names = {}
        with contextlib.chdir(self.place.parent):
            exec(code, names)  # noqa: S102 (a text of this repository)
        runs = names["runs"]
        self.assertEqual(runs.height, 4)
        self.assertEqual(set(runs["control"]), {"aimd", "cubic"})
        self.assertEqual(set(runs["link.loss"]), {"0 %", "1 %"})
        expected = self.sweep(link__loss=["0 %", "1 %"]).runs.to_pandas()
        for row in runs.iter_rows(named=True):
            same = expected[expected.control == row["control"]]
            loss = {"0 %": 0.0, "1 %": 0.01}[row["link.loss"]]
            same = same[same["link.loss"] == loss]
            self.assertEqual(list(same.goodput_mbps), [row["goodput_mbps"]])
        self.assertNotIn("control", polars.read_parquet(self.place / "*/runs.parquet").columns)
