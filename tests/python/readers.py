"""Results and networks of other programs. The files in `foreign` were written by these programs."""

import collections
import gzip
import json
import os
import pickle
import subprocess
import sys
import tempfile
import tracemalloc
import types
import unittest
from pathlib import Path
from unittest import mock

import numpy
import pandas
import polars
import pyarrow
import weir
from weir import readers, sections

FOREIGN = Path(__file__).with_name("foreign")
NETWORK = """[nodes]
a: _ radius=0.5 angle=2.64159265359
B: _ radius=0.6 angle=3.64159265359
[links]
a:b delay=10ms bw=8 max_queue_size=50
"""


class Folder(unittest.TestCase):
    """A folder for files."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="weir-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def file(self, content, name="file"):
        """A file with this content."""
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path


class Traces(Folder):
    """The tracers of ndnSIM."""

    def test_delays(self):
        """Seconds become milliseconds; both kinds of delay are rows."""
        table = weir.read(FOREIGN / "app-delays-trace.txt")
        rows = table.to_arrow().to_pylist()
        first = {"time_s": 0.0417792, "node": "node2", "app": 0, "segment": 0}
        first |= {"kind": "LastDelay", "delay_ms": 41.7792, "interests": 1, "hops": 2}
        self.assertEqual(rows[0], first)
        self.assertEqual(rows[3], first | {"time_s": 1.04178, "segment": 10, "kind": "FullDelay"})
        self.assertEqual(len(table), 4)
        self.assertIn("the last one", table.columns["kind"])
        self.assertIn("<td><code>delay_ms</code></td>", table._repr_html_())

    def test_rates(self):
        """Kilobytes per second, of 1024 bytes, become Mbit/s; bytes are whole."""
        rows = weir.read(FOREIGN / "rate-trace.txt").to_arrow().to_pylist()
        self.assertEqual(rows[4]["throughput_mbps"], 0.196875 * 1024 * 8 / 1e6)
        self.assertEqual((rows[4]["packets_per_s"], rows[4]["packets"]), (5.6, 7))
        # An Interest has 36 bytes: 0.0351562 kB.
        self.assertEqual([row["bytes"] for row in rows], [36, 72, 0, 72, 252])
        self.assertEqual(rows[3]["face_description"], "appFace://")
        self.assertEqual([row["face"] for row in rows], [257, 257, 257, 258, 257])

    def test_stores_and_drops(self):
        """Counts, and a first line that ends in a tab."""
        rows = weir.read(FOREIGN / "cs-trace.txt").to_pandas()
        self.assertEqual(rows.groupby("kind", observed=True)["packets"].sum()["CacheMisses"], 10)
        drops = weir.read(FOREIGN / "drop-trace.txt").to_pandas()
        # Packets of 1076 bytes.
        self.assertEqual(drops["bytes"].tolist(), [0, 5 * 1076, 10 * 1076, 11 * 1076])
        self.assertEqual(drops["packets"].sum(), 26)

    def test_every_library_reads_them_beside_results(self):
        """pyarrow, polars and pandas; compressed files too."""
        content = (FOREIGN / "rate-trace.txt").read_bytes()
        table = weir.readers.ndnsim(self.file(gzip.compress(content), "rate-trace.txt.gz"))
        self.assertEqual(polars.DataFrame(table)["packets"].sum(), 12)
        self.assertEqual(pyarrow.table(table).num_rows, 5)
        ours = pandas.DataFrame({"time_s": [1.0], "throughput_mbps": [0.5]}).assign(by="weir")
        both = pandas.concat([ours, table.to_pandas().assign(by="ndnSIM")])
        self.assertEqual(both.groupby("by")["time_s"].count().to_dict(), {"ndnSIM": 5, "weir": 1})

    def test_faces_together_have_no_number(self):
        """-1 is none."""
        head = (FOREIGN / "rate-trace.txt").read_text().splitlines()[0]
        path = self.file(f"{head}\n1\t0\t-1\tall\tSatisfiedInterests\t1\t0\t1.5e+06\t0\n\n")
        (row,) = weir.read(path).to_arrow().to_pylist()
        self.assertEqual((row["face"], row["packets"]), (None, 1_500_000))

    def test_wrong_lines_are_named(self):
        """File, line, and what is expected."""
        head = "Time\tNode\tType\tPackets\t\n1\t2\tCacheHits\t3\n"
        for content, text in (
            (head + "1\t2\tCacheHits\n", ":3: 3 columns, but 4 are expected: Time Node Type"),
            (head + "1\t2\tCacheHits\t3\t4\n", ":3: 5 columns, but 4 are expected"),
            (head + "1\t2\tCacheHits\t-1\n", ":3: column `Packets` is `-1`; a whole number from"),
            (head + "1\t2\tCacheHits\t1.5\n", ":3: column `Packets` is `1.5`; a whole number"),
            (head + "nan\t2\tCacheHits\t1\n", ":3: column `Time` is `nan`; a number is expected"),
            (head + "x" * 100_000, ":3: a line of more than 65536 bytes"),
            (head.encode() + b"\xff\xfe\n", ":3: cannot read on: stream did not contain valid"),
            ("Time,Node\n", ":1: the first line is not a known head of a trace; there are `Time N"),
            ("", ":1: the first line is not a known head"),
            (b"\x1f\x8b\x08\x00rest", ":1: cannot read on: "),
        ):
            path = self.file(content)
            with self.assertRaises(weir.ResultsError, msg=text) as caught:
                weir.read(path)
            self.assertTrue(str(caught.exception).startswith(f"{path}{text}"), caught.exception)
        with self.assertRaisesRegex(weir.ResultsError, "^cannot read .*none: no such file"):
            weir.read(self.folder / "none")
        with self.assertRaisesRegex(weir.ResultsError, "^cannot read .*: is a directory"):
            weir.read(self.folder)

    def test_large_traces_are_read_in_pieces(self):
        """One piece of 65,536 rows at a time."""
        path = self.folder / "large"
        with path.open("w", encoding="utf-8") as file:
            file.write("Time\tNode\tType\tPackets\t\n")
            for second in range(200_000):
                file.write(f"{second}\tnode{second % 7}\tCacheHits\t{second}\n")
        table = weir.read(path)
        self.assertEqual(len(table), 200_000)
        reader = pyarrow.RecordBatchReader.from_stream(table)
        sizes, total = [], 0
        for batch in reader:
            sizes.append(batch.num_rows)
            total += sum(batch["packets"].to_pylist())
        self.assertEqual(sizes, [65_536, 65_536, 65_536, 3_392])
        self.assertEqual(total, 200_000 * 199_999 // 2)
        self.assertEqual(table.to_pandas()["node"].nunique(), 7)
        # The file may have changed since the check.
        path.write_text(path.read_text(encoding="utf-8") + "1\n", encoding="utf-8")
        with self.assertRaisesRegex(pyarrow.ArrowException, "large:200002: 1 columns"):
            table.to_arrow()


class Icarus(Folder):
    """Results of Icarus."""

    def pickled(self, experiments, protocol):
        """A file as Icarus writes it, made with classes of the same names and forms."""

        class Tree(collections.defaultdict):
            def __init__(self, data=()):
                parts = dict(data)
                nested = {
                    key: Tree(one) if isinstance(one, dict) else one for key, one in parts.items()
                }
                super().__init__(Tree, nested)

            def __reduce__(self):
                made = super().__reduce__()
                return (made[0], (), *made[2:])

        class ResultSet:
            def __init__(self):
                self._results = collections.deque(
                    (Tree(parameters), Tree(results)) for parameters, results in experiments
                )
                self.attr = {}

        modules = {"icarus": types.ModuleType("icarus")}
        for name, one in (("icarus.util", Tree), ("icarus.results.readwrite", ResultSet)):
            modules[name] = types.ModuleType(name)
            setattr(modules[name], one.__name__, one)
            one.__module__, one.__qualname__ = name, one.__name__
        modules["icarus.results"] = types.ModuleType("icarus.results")
        with mock.patch.dict(sys.modules, modules):
            return self.file(pickle.dumps(ResultSet(), protocol), "results.pickle")

    def test_a_file_of_python_2(self):
        """One row for each experiment, and a column for each parameter and result."""
        results = weir.read(FOREIGN / "results.pickle")
        self.assertEqual(repr(results), "<weir.readers.Icarus: 2 experiments, 0 values>")
        runs = results.runs.to_pandas()
        self.assertEqual(runs["strategy.name"].tolist(), ["CL4M", "LCE"])
        self.assertEqual(runs["strategy.network_cache"].tolist(), [0.003439221, 0.005158832])
        self.assertEqual(runs["latency_mean_ms"].tolist(), [59.38362335627172, 58.61265926279212])
        self.assertEqual(runs["workload.n_contents"].tolist(), [581_527, 581_527])
        self.assertEqual(runs["workload.n_warmup"].isna().tolist(), [False, True])

    def test_results_with_many_values(self):
        """Per node, per link, CDFs and numbers of numpy, in all protocols."""
        experiments = [
            (
                {"strategy": {"name": "LCE"}, "seeds": [1, 2], "run": 7, "big": 1 << 80},
                {
                    "CACHE_HIT_RATIO": {
                        "MEAN": numpy.float64(0.25),
                        "PER_NODE_CACHE_HIT_RATIO": {3: 0.125, "r": numpy.float32(0.5)},
                    },
                    "LINK_LOAD": {
                        "MEAN_INTERNAL": 250_000.0,
                        "PER_LINK_INTERNAL": {(1, 2): 125_000.0},
                    },
                    "LATENCY": {"MEAN": numpy.int64(60), "CDF": [(2.0, 0.5), (6.0, 1.0)]},
                    "PATH_STRETCH": {"CDF": ([1.0, 2.0, 3.0], [0.5, 0.75, 1.0])},
                },
            )
        ]
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            results = weir.read(self.pickled(experiments, protocol))
            (row,) = results.runs.to_arrow().to_pylist()
            expected = {"run": 0, "strategy.name": "LCE", "seeds": "[1, 2]", "parameters.run": 7}
            expected |= {"big": str(1 << 80), "CACHE_HIT_RATIO.MEAN": 0.25}
            # 250 kB/s are 2 Mbit/s.
            expected |= {"link_load_mean_internal_mbps": 2.0, "latency_mean_ms": 60}
            self.assertEqual(row, expected, protocol)
            values = {
                (row["quantity"], row["key"]): row["value"]
                for row in results.values.to_arrow().to_pylist()
            }
            node = "CACHE_HIT_RATIO.PER_NODE_CACHE_HIT_RATIO"
            expected = {(node, "3"): 0.125, (node, "r"): 0.5}
            expected |= {("link_load_per_link_internal_mbps", "1-2"): 1.0}
            expected |= {("latency_cdf_ms", "2.0"): 0.5, ("latency_cdf_ms", "6.0"): 1.0}
            stretch = zip(("1.0", "2.0", "3.0"), (0.5, 0.75, 1.0), strict=True)
            expected |= {("PATH_STRETCH.CDF", key): value for key, value in stretch}
            self.assertEqual(values, expected, protocol)

    def test_json(self):
        """As `ResultSet.json()` writes it."""
        pairs = [
            [{"strategy": {"name": name}}, {"LATENCY": {"MEAN": at}}]
            for name, at in (("LCE", 60.5), ("LCD", None))
        ]
        runs = weir.read(self.file(json.dumps(pairs))).runs.to_pandas()
        self.assertEqual(runs["strategy.name"].tolist(), ["LCE", "LCD"])
        self.assertEqual(runs["latency_mean_ms"][0], 60.5)
        self.assertTrue(numpy.isnan(runs["latency_mean_ms"][1]))

    def test_wrong_content_has_a_message(self):
        """Other pickles, other JSON, and what breaks off."""
        for content, text in (
            (b"[1]", "experiment 0 is 1; a pair of parameters and results is expected"),
            (b"[{]", "expecting property name"),
            (b'[[{}, {"X": {"PER_NODE": {"a": "b"}}}]]', "`X.PER_NODE.a` is 'b'; a number is"),
            (b'[[{}, {"CDF": [1]}]]', "a CDF is not a list of pairs"),
            (b"[" * 100_000, "its values are nested too deeply"),
            (pickle.dumps({"a": 1}), "no results of Icarus: .* is not a list of experiments"),
            (pickle.dumps([(1, 2)]), "experiment 0 is .1, 2.; a pair"),
            (pickle.dumps([({}, {})])[:-3], "no results of Icarus: it is cut off; copy it again"),
            (b"\x80\x04X\xff\xff\xff\x7f", "no results of Icarus: it is cut off; copy it again"),
            (b"\x80\x04", "no results of Icarus: it is cut off; copy it again"),
        ):
            with self.assertRaisesRegex(weir.ResultsError, text):
                weir.read(self.file(content))

    def test_a_set_without_experiments_is_a_table_without_rows(self):
        """In JSON and in a pickle."""
        for content in (b"[]", pickle.dumps([]), pickle.dumps(())):
            results = weir.read(self.file(content))
            self.assertEqual((len(results), len(results.values)), (0, 0))
            self.assertEqual(results.runs.to_arrow().schema.names, ["run"])
            self.assertEqual(str(results.runs.to_arrow().schema.types[0]), "int64")

    def test_names_that_no_file_can_have(self):
        """They are errors of this package too."""
        for call in (weir.read, readers.icarus, readers.ndnsim):
            for name in ("none\0", "\ud800"):
                with self.assertRaisesRegex(weir.ResultsError, "^cannot read ", msg=name):
                    call(name)

    def test_keys_are_small(self):
        """Tuples in tuples would overflow the stack, or take 2^60 steps, when they are hashed."""
        deep, wide = b")" + b"\x85" * 200_000, b")" + b"2\x86" * 60
        large = b"\x8a\x08" + (1 << 61).to_bytes(8, "little")
        many = b"(" + b"K\x01" * 9 + b"t"
        forms = {
            "SETITEM": b"](}%bK\x01s}e.",
            "SETITEMS": b"](}(%bK\x01u}e.",
            "DICT": b"]((%bK\x01d}e.",
            "ADDITEMS": b"](}K\x01\x8f(%b\x90s}e.",
            "FROZENSET": b"](}K\x01(%b\x91s}e.",
            "dtype": b"cnumpy\ndtype\n(%btR.",
            "set in a set": b"](}K\x01\x8f((%b\x91\x90s}e.",
        }
        paths = [
            self.file(b"\x80\x04" + form % key, f"{name}{number}")
            for name, form in forms.items()
            for number, key in enumerate((wide, large, many))
        ]
        paths.append(self.file(b"\x80\x04" + forms["SETITEM"] % deep, "deep"))
        # In a process of their own: a broken reader takes it along.
        code = "import sys, weir\nfor path in sys.argv[1:]:\n  print(path, flush=True)\n"
        code += "  try: weir.read(path)\n  except weir.ResultsError as error: print(error)"
        command = [sys.executable, "-c", code, *map(str, paths)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)
        self.assertEqual(done.returncode, 0, done)
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), 2 * len(paths))
        for line in lines[1::2]:
            self.assertRegex(line, "Icarus: a (key is not a text, number or|number of numpy of)")
        # Links between nodes that are pairs themselves.
        tree = {"PER_LINK": {((0, 1), (0, "b")): 0.5, (1.5, None): 1.0}}
        values = weir.read(self.file(pickle.dumps([({}, tree)]))).values.to_arrow()
        self.assertEqual(values["key"].to_pylist(), ["0-1-0-b", "1.5-None"])

    def test_pickles_change_nothing_for_later_ones(self):
        """A state is only for objects, not for the functions in the place of classes."""
        # collections.deque, with __defaults__ = ([(1, 2)],): each call without arguments has it.
        state = pickle.dumps({"__defaults__": ([(1, 2)],)}, 2)[2:-1]
        names = (b"collections\ndeque", b"icarus.util\nTree", b"_codecs\nencode")
        for name in (*names, b"copy_reg\n_reconstructor", b"numpy.core.multiarray\nscalar"):
            for build in (state + b"b.", b"N" + state + b"\x86b."):
                path = self.file(b"\x80\x02c" + name + b"\n" + build)
                with self.assertRaisesRegex(weir.ResultsError, "a state of what has none"):
                    weir.read(path)
        results = weir.read(self.file(b"\x80\x02ccollections\ndeque\n)R."))
        self.assertEqual(len(results), 0)

    def test_pickles_run_no_code(self):
        """Objects of other classes are rejected, whatever would make them."""
        touched = self.folder / "touched"

        class Touch:
            def __reduce__(self):
                return os.mkdir, (str(touched),)

        class Evaluate:
            def __reduce__(self):
                return eval, (f"__import__('os').mkdir({str(touched)!r})",)

        names = [b"cos\nsystem\n(Vtrue\ntR.", b"c__builtin__\neval\n(V1\ntR."]
        # Through names with dots, which newer protocols look up part by part.
        names += [b"\x80\x04\x8c\x0bcollections\x8c\x10deque.__init__.x\x93."]
        names += [b"\x80\x04\x8c\x08builtins\x8c\x15object.__subclasses__\x93)R."]
        contents = [pickle.dumps(one) for one in ([Touch()], [Evaluate()])]
        for content in contents + names:
            path = self.file(content)
            with self.assertRaisesRegex(weir.ResultsError, "which Icarus does not write") as caught:
                readers.icarus(path)
            self.assertIn("nothing of it was run", str(caught.exception))
            self.assertFalse(touched.exists())
        # Names of plain classes are texts, which cannot be called.
        with self.assertRaises(weir.ResultsError):
            readers.icarus(self.file(b"c__builtin__\nobject\n(tR."))

    def test_small_files_do_not_become_large(self):
        """Trees that name a part often, and themselves."""
        tree = {"x": 1}
        for _ in range(25):
            tree = {"a": tree, "b": tree}
        content = pickle.dumps([(tree, tree)])
        self.assertLess(len(content), 1000)
        with mock.patch.object(readers, "_MOST_VALUES", 100_000):
            tracemalloc.start()
            with self.assertRaisesRegex(weir.ResultsError, "it has more than 100000 values"):
                readers.icarus(self.file(content))
            _now, most = tracemalloc.get_traced_memory()
            tracemalloc.stop()
        self.assertLess(most, 100e6)
        tree["a"] = tree
        with self.assertRaisesRegex(weir.ResultsError, "nested more than 32 levels deep"):
            readers.icarus(self.file(pickle.dumps([(tree, {})])))
        with mock.patch.object(readers, "_MOST_BYTES", 10):
            with self.assertRaisesRegex(weir.ResultsError, "it has more than 10 bytes"):
                readers.icarus(FOREIGN / "results.pickle")

    def test_lengths_in_files_do_not_take_memory(self):
        """Buffers, experiments, columns of all rows, arguments, and texts that are named often."""
        text = b"(X\x00\x00\x10\x00" + b"x" * (1 << 20) + b"q\x000"
        columns = [({f"p{number}": 1 for number in range(900)}, {})] + [({}, {})] * 200
        many = b"](" + b"K\x01" * 2000 + b"eq\x000"
        too_many = "it has more than 100000 values"
        cases = (
            (b"\x96" + (1 << 33).to_bytes(8, "little") + b".", "an instruction that Icarus does"),
            (b"](}}\x86q\x00" + b"h\x00" * 2000 + b"e.", "it has more than 1000 experiments"),
            (pickle.dumps(columns, 2), "201 experiments and 901 parameters and results would have"),
            (text + b"](}K\x01h\x00s}\x86q\x01" + b"h\x01" * 20 + b"e.", too_many),
            (text + b"](}h\x00K\x01s}\x86q\x01" + b"h\x01" * 20 + b"e.", too_many),
            (text + b"](}}h\x00K\x01s\x86q\x01" + b"h\x01" * 20 + b"e.", too_many),
            (text + b"](c_codecs\nencode\nh\x00\x85Re.", "no number of numpy to encode"),
            (many + b"](ccollections\ndeque\nh\x00Re.", "arguments that Icarus does not write"),
            (many + b"cnumpy\ndtype\nh\x00\x81.", "arguments that Icarus does not write"),
        )
        for content, why in cases:
            path = self.file(b"\x80\x04" + content)
            tracemalloc.start()
            with (
                mock.patch.object(readers, "_MOST_EXPERIMENTS", 1000),
                mock.patch.object(readers, "_MOST_VALUES", 100_000),
                self.assertRaisesRegex(weir.ResultsError, why),
            ):
                readers.icarus(path)
            _now, most = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            self.assertLess(most, 50e6, why)


class Networks(Folder):
    """Networks of Mini-NDN in scenarios from Python."""

    def test_a_network_of_mini_ndn(self):
        """Nodes in lower case, as there."""
        scenario = weir.Scenario(
            sections.Scenario(duration="5 s", name="old"),
            sections.Topology(file=self.file(NETWORK, "two.conf")),
            sections.Content(name="/x", at="b", size="1 MB"),
            sections.Consumer(at="a", name="/x", control="cubic"),
        )
        graph = scenario.to_networkx()
        self.assertEqual(graph.edges["a", "b"]["rate"], 8e6)
        self.assertEqual(graph.edges["a", "b"]["delay"], 0.01)
        flow = weir.run(scenario).summary["flows"][0]
        self.assertEqual(flow["bytes"], 1_000_000)
        # 1 MB at 8 Mbit/s takes one second at least.
        self.assertGreater(flow["fct_s"], 1.0)
