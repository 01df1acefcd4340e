"""Scenarios from files, texts and code; running them; errors; interruption."""

import _thread
import copy
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from datetime import timedelta
from pathlib import Path

import networkx
import weir
from _network import SCENARIO

SECTIONS = {
    "scenario": {"name": "two", "question": "How fast is it?", "duration": timedelta(seconds=2)},
    "node": {"name": ["near", "far"]},
    "link": {"between": ("near", "far"), "rate": 1e7, "delay": 0.005, "queue": 20},
    "content": {"name": "/film", "at": "far", "size": 1_000_000},
    "consumer": {"at": "near", "name": "/film", "control": "aimd"},
}
LONG = {**SECTIONS, "scenario": {"duration": 10_000}}
LARGE = {"name": "/film", "at": "far", "size": "100 GB"}
LONG = {**LONG, "content": {**LARGE, "signing": "none"}}


def trace(results):
    """The number that is equal for equal runs only."""
    return results.summary["trace_hash"]


class Scenarios(unittest.TestCase):
    """One network, said in several ways."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="weir-")
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name, "two.toml")
        self.file.write_text(SCENARIO, encoding="utf-8")

    def test_file_text_and_code_are_the_same_run(self):
        """Numbers are in seconds, bit/s, bytes and packets."""
        expected = trace(weir.run(self.file))
        self.assertEqual(trace(weir.run(weir.Scenario.from_text(SCENARIO))), expected)
        self.assertEqual(trace(weir.run(weir.Scenario(**SECTIONS))), expected)
        other = weir.run(weir.Scenario(**SECTIONS), seed=2, consumer__control="cubic")
        self.assertNotEqual(trace(other), expected)
        self.assertEqual(other.summary["flows"][0]["control"], "cubic")

    def test_copies_are_the_same_scenario(self):
        """With the settings that it was given."""
        one = weir.Scenario.from_file(self.file).set(link__loss="1 %").set(consumer__control="bbr")
        for other in (copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
            self.assertEqual(trace(weir.run(other)), trace(weir.run(one)))
            self.assertNotEqual(trace(weir.run(other)), trace(weir.run(self.file)))

    def test_the_program_gives_the_same_result(self):
        """`weir sim run --json` in another process."""
        command = ["weir", "sim", "run", self.file, "--set", "link.rate=5 Mbit/s", "--json", "-q"]
        said = subprocess.run(command, capture_output=True, text=True, check=True)
        ours = weir.run(self.file, link__rate=5_000_000)
        self.assertIn(trace(ours), said.stdout)

    def test_a_mistake_has_class_position_and_the_programs_text(self):
        """Line 8, column 8 is the value of the wrong field."""
        self.file.write_text(SCENARIO.replace('"10 Mbit/s"', '"10 Mbps"'), encoding="utf-8")
        with self.assertRaises(weir.ScenarioError) as caught:
            weir.Scenario.from_file(self.file)
        error = caught.exception
        line = SCENARIO.split("\n").index('rate = "10 Mbit/s"') + 1
        self.assertEqual((error.line, error.column), (line, 8))
        self.assertEqual(error.mistakes[0].file, str(self.file))
        self.assertIsInstance(error, (weir.WeirError, ValueError))
        said = subprocess.run(
            ["weir", "sim", "run", self.file], capture_output=True, text=True, check=False
        )
        self.assertEqual(said.stderr.strip(), f"weir: {error}")
        with self.assertRaisesRegex(weir.ScenarioError, "did you mean `cubic`") as caught:
            weir.run(weir.Scenario(**SECTIONS), control="cubik")
        self.assertNotIn("scenario check", str(caught.exception), "there is no file to check")
        with self.assertRaisesRegex(weir.ScenarioError, "cannot read the scenario"):
            weir.Scenario.from_file(self.file.with_name("none.toml"))

    def test_a_value_of_a_wrong_kind_names_its_field(self):
        """Before there is a text that could have a position."""
        for value, what in [(float("nan"), "not a finite number"), (object(), "not object")]:
            with self.assertRaisesRegex((TypeError, ValueError), f"`rate`: .*{what}"):
                weir.Scenario(link={"between": ("a", "b"), "rate": value})
        deep = []
        for _ in range(100):
            deep = [deep]
        with self.assertRaisesRegex(ValueError, "nested too deeply"):
            weir.Scenario(link={"between": deep})

    def test_a_graph_goes_in_and_comes_out(self):
        """Nodes and links of networkx, with rates each way."""
        graph = networkx.path_graph(["a", "b", "c"])
        graph.edges["a", "b"]["rate"] = "5 Mbit/s"
        graph.nodes["b"]["colour"] = "red"
        scenario = weir.Scenario.from_networkx(
            graph,
            link={"rate": 2e7, "delay": 0.001},
            scenario={"duration": "1 s"},
            content={"name": "/x", "at": "c", "size": "1 kB"},
            consumer={"at": "a", "name": "/x"},
        )
        back = scenario.to_networkx()
        self.assertEqual(set(back.edges), set(graph.edges))
        self.assertEqual(back.edges["a", "b"]["rate"], 5_000_000)
        self.assertEqual(back.edges["b", "c"]["rate_back"], 20_000_000)
        self.assertEqual(back.edges["b", "c"]["delay"], 0.001)
        self.assertEqual(
            [back.nodes[n]["role"] for n in "abc"], ["consumer", "forwarder", "producer"]
        )
        # A link from the last node to the first, with another rate and delay each way.
        crossed = {"between": ["c", "a"], "rate": 1e6, "delay": 0.002}
        crossed["back"] = {"rate": "3 Mbit/s", "delay": "4 ms"}
        graph = weir.Scenario(
            scenario={"duration": 1},
            node={"name": ["a", "c"]},
            link=crossed,
            content={"name": "/x", "at": "c", "size": 1000},
            consumer={"at": "a", "name": "/x"},
        ).to_networkx()
        ((first, second, edge),) = graph.edges(data=True)
        self.assertEqual((first, second), edge["ends"])
        ways = {edge["ends"]: (edge["rate"], edge["delay"])}
        ways[edge["ends"][::-1]] = edge["rate_back"], edge["delay_back"]
        self.assertEqual(ways, {("c", "a"): (1e6, 0.002), ("a", "c"): (3e6, 0.004)})
        with self.assertRaisesRegex(ValueError, "to_undirected"):
            weir.Scenario.from_networkx(networkx.DiGraph([("a", "b"), ("b", "a")]))

    def test_other_threads_run_meanwhile_and_progress_is_shown(self):
        """Another thread runs while the first one is inside of the run, not in `progress`."""
        met, ended, shares, main = threading.Event(), threading.Event(), [], threading.get_ident()

        def watch():
            while not ended.is_set():
                inside = sys._current_frames()[main].f_code is weir.run.__code__
                if inside and shares:
                    met.set()

        def stop(share, events):
            shares.append(share)
            if met.is_set() and events > 0 and len(shares) > 3 or events > 100_000_000:
                raise StopIteration

        self.addCleanup(ended.set)
        thread = threading.Thread(target=watch)
        thread.start()
        with self.assertRaises(StopIteration):
            weir.run(weir.Scenario(**LONG), progress=stop)
        ended.set()
        thread.join()
        self.assertTrue(met.is_set())
        self.assertEqual(shares, sorted(shares))

    def test_an_interruption_keeps_what_was_recorded(self):
        """As Ctrl-C does, once something was simulated."""

        def interrupt(share, events):
            if events > 10_000:
                _thread.interrupt_main()

        # A shell that starts the tests in the background has this signal ignored.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        with self.assertRaises(weir.Interrupted) as caught:
            weir.run(weir.Scenario(**LONG), progress=interrupt)
        results = caught.exception.results
        self.assertIsInstance(caught.exception, KeyboardInterrupt)
        self.assertTrue(results.interrupted)
        flow = results.summary["flows"][0]
        self.assertGreater(flow["bytes"], 100_000)
        self.assertGreater(len(results.series), 0)

    def test_a_run_can_be_ended_while_its_content_is_hashed(self):
        """A manifest of 100 GB takes minutes, in which no simulated time passes."""

        def stop(share, events):
            raise StopIteration

        with self.assertRaises(StopIteration):
            weir.run(weir.Scenario(**{**LONG, "content": LARGE}), progress=stop)

    def test_results_that_cannot_be_written_are_kept_in_memory(self):
        """A file takes the place of the folder during the run."""
        place = self.file.with_name("results")

        def occupy(share, events):
            place.write_text("in the way", encoding="utf-8")

        with self.assertRaises(weir.ResultsError) as caught:
            weir.run(self.file, out=place, progress=occupy)
        self.assertIn("choose another folder", str(caught.exception))
        alone = weir.run(self.file)
        self.assertEqual(trace(caught.exception.results), trace(alone))

    def test_a_folder_is_what_the_program_writes(self):
        """`out` has everything, the report included."""
        place = self.file.with_name("results")
        weir.run(self.file, control="cubic", out=place)
        self.assertEqual(
            sorted(path.name for path in place.iterdir()),
            sorted(
                ["command.txt", "flows.parquet", "layout.json", "report.html", "runs.csv"]
                + ["scenario.toml", "series.parquet", "summary.json", "version.txt"]
            ),
        )
        command = place.joinpath("command.txt").read_text(encoding="utf-8")
        self.assertEqual(command.strip(), f"weir sim run {self.file} --set 'control=\"cubic\"'")
        with self.assertRaises(weir.ResultsError) as caught:
            weir.run(self.file, out=self.file)
        self.assertIn("choose another folder", str(caught.exception))
