"""Sweeps: points are run once, also after an interruption; failed ones are reported."""

import functools
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from unittest import mock

import networkx
import numpy
import weir
from _network import SCENARIO
from weir import _weir

TWO = weir.Scenario.from_text(SCENARIO, name="two.toml")


class Sweeps(unittest.TestCase):
    """A sweep of four points."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="weir-")
        self.addCleanup(folder.cleanup)
        self.place = Path(folder.name, "results")

    def sweep(self, **settings):
        """Schemes and losses."""
        settings = {"control": ["aimd", "cubic"], "link__loss": ["0 %", "1 %"], **settings}
        return weir.sweep(TWO, self.place, **settings)

    def test_a_point_is_never_run_twice(self):
        """A larger sweep runs only what is new; results are those of `run`."""
        first = self.sweep()
        self.assertEqual((len(first), first.new, first.done), (4, 4, 4))
        self.assertEqual(self.sweep().new, 0)
        larger = self.sweep(control=["aimd", "cubic", "fixed"], repetitions=2)
        self.assertEqual((len(larger), larger.new), (12, 8))
        flows = larger.flows.to_pandas()
        self.assertEqual(list(flows["run"]), list(range(12)))
        self.assertEqual(list(flows["link.loss"])[:4], [0, 0, 0.01, 0.01])
        alone = weir.run(TWO, control="cubic", link__loss="1 %", seed=2)
        same = flows[(flows.control == "cubic") & (flows["link.loss"] == 0.01) & (flows.seed == 2)]
        self.assertEqual(list(same["bytes"]), [alone.summary["flows"][0]["bytes"]])

    def test_another_version_or_scenario_is_another_point(self):
        """And the results of the first stay."""
        self.sweep()
        with mock.patch.object(_weir, "BUILD", "9.9.9 (123456789, 2026-11-29)"):
            self.assertEqual(self.sweep().new, 4)
        self.assertEqual(self.sweep(link__delay="7 ms").new, 4)
        self.assertEqual(self.sweep().new, 0)

    def test_columns_have_the_types_of_one_run(self):
        """Numbers where all values are numbers of one kind, whatever their units; else texts."""
        lists = {"link__delay": ["5 ms", "0.01 s"], "link__queue": ["20 packets", "100 kB"]}
        runs = self.sweep(control="aimd", link__loss="0 %", **lists).runs
        text = "\n[sweep]\nlink.delay = {}\nlink.queue = {}\n".format(*lists.values())
        expected = weir.run(weir.Scenario.from_text(SCENARIO + text)).runs.to_arrow()
        for name in ("link.delay", "link.queue"):
            self.assertEqual(runs.schema.field(name), expected.schema.field(name))
            self.assertEqual(runs[name].to_pylist(), expected[name].to_pylist())
        self.assertEqual(runs["link.delay"].to_pylist(), [0.005, 0.005, 0.01, 0.01])
        self.assertEqual(len(weir.sweep(TWO, self.place).runs), 1, "without a swept field")

    def test_another_base_class_is_another_point(self):
        """The class that is named has the same text; its behaviour is inherited."""
        text = """import weir

class Base(weir.WindowLaw, register=False):
    def on_congestion(self, cx, signal, rtt):
        self.window = max(1.0, self.window * {factor})

class Derived(Base):
    window = 10.0
"""
        new = []
        for name, factor in [("_first", 0.5), ("_second", 0.9), ("_third", 0.5)]:
            file = self.place.with_name(f"{name}.py")
            file.write_text(text.format(factor=factor), encoding="utf-8")
            spec = importlib.util.spec_from_file_location(name, file)
            # The source of a class is found by its module.
            sys.modules[name] = importlib.util.module_from_spec(spec)
            self.addCleanup(sys.modules.pop, name)
            spec.loader.exec_module(sys.modules[name])
            new.append(self.sweep(control="derived", link__loss="0 %").new)
        self.assertEqual(new, [1, 1, 0])

    def test_a_seed_is_one_point_however_it_is_chosen(self):
        """By repetitions, or by the field."""
        settings = {"control": "aimd", "link__loss": "0 %"}
        self.assertEqual(self.sweep(repetitions=2, **settings).new, 2)
        self.assertEqual(self.sweep(seed=2, **settings).new, 0)
        self.assertEqual(self.sweep(seed=3, **settings).new, 1)

    def test_another_content_of_a_named_file_is_another_point(self):
        """A topology of GraphML, under the same path."""
        file = self.place.with_name("two.graphml")
        text = """[scenario]
duration = "1 s"

[topology]
file = "two.graphml"
rate = "10 Mbit/s"
delay = "5 ms"

[[content]]
name = "/film"
at = "b"
size = "10 kB"

[[consumer]]
at = "a"
name = "/film"
"""
        scenario = file.with_name("graph.toml")
        scenario.write_text(text, encoding="utf-8")
        new = []
        for names in ("ab", "abc", "ab"):
            graph = networkx.path_graph(list(names))
            networkx.set_node_attributes(graph, {name: name for name in names}, "label")
            networkx.write_graphml(graph, file)
            new.append(weir.sweep(scenario, self.place).new)
        self.assertEqual(new, [1, 1, 0])

    def test_an_interrupted_sweep_goes_on_where_it_was(self):
        """Unfinished points are run again, finished ones are not."""

        def interrupt(share, ended):
            if ended >= 1:
                raise KeyboardInterrupt

        with self.assertRaises(weir.Interrupted) as caught:
            self.sweep(progress=interrupt, jobs=1)
        done = caught.exception.results.done
        self.assertGreaterEqual(done, 1)
        rest = self.sweep()
        self.assertEqual(rest.new, 4 - done)
        self.assertEqual([p for p in self.place.iterdir() if p.name.startswith(".")], [])
        shutil.rmtree(self.place / rest._points[2].key)
        self.assertEqual(self.sweep().new, 1)

    def test_a_point_that_fails_does_not_end_the_others(self):
        """It is reported with its settings, and run again the next time."""

        class Fragile(weir.WindowLaw):
            """Raises as long as a test sets it."""

            broken = True

            def on_ack(self, cx, ack):
                if self.broken:
                    raise RuntimeError("fragile")

            def on_congestion(self, cx, signal, rtt):
                """Nothing changes."""

        made = self.sweep(control=["fragile", "aimd"])
        self.assertEqual((made.new, len(made.failed)), (2, 2))
        (key, *_), error = next(iter(made.failed)), next(iter(made.failed.values()))
        self.assertEqual(key, ("control", "fragile"))
        self.assertIsInstance(error, weir.SchemeError)
        self.assertEqual(len(made.flows), 2)
        Fragile.broken = False
        again = self.sweep(control=["fragile", "aimd"])
        self.assertEqual((again.new, len(again.failed)), (2, 0))

    def test_a_point_that_a_grid_has_twice_is_run_once(self):
        """Its rows are there twice."""
        made = self.sweep(control=["aimd", "aimd"], link__loss=["1 %", "1 %"])
        self.assertEqual((len(made), made.new, len(made.runs)), (4, 1, 4))
        self.assertEqual(len(set(made.runs["fct_s"].to_pylist())), 1)

    def test_arrays_and_ranges_are_lists(self):
        """And numbers of numpy are numbers."""
        made = self.sweep(control="aimd", link__loss=numpy.array([0.0, 0.01]), seed=range(1, 3))
        self.assertEqual((len(made), made.new), (4, 4))
        self.assertEqual(self.sweep(control="aimd", link__loss=[0.0, 0.01], seed=[1, 2]).new, 0)
        one = {"control": "aimd", "link__loss": numpy.float64(0.0), "seed": numpy.array(1)}
        self.assertEqual(len(self.sweep(repetitions=numpy.int64(2), **one)), 2)
        measured = TWO.set(link__measured=numpy.bool_(True))
        self.assertEqual(measured.toml, TWO.set(link__measured=True).toml)
        for settings in ({"repetitions": 2.0}, {"repetitions": "2"}, {"jobs": 1.5}):
            with self.assertRaisesRegex(TypeError, "is a whole number, not"):
                self.sweep(**settings)

    def test_a_patience_is_a_number_from_0(self):
        """Another one would never end a call that blocks."""
        for patience in (-1, -0.001, float("nan"), float("-inf")):
            with self.assertRaisesRegex(ValueError, "`patience` is a number of seconds from 0"):
                self.sweep(patience=patience)
            with self.assertRaisesRegex(ValueError, "`patience` is a number of seconds from 0"):
                weir.run(TWO, patience=patience)
        self.assertEqual(list(self.place.iterdir()), [])
        self.assertEqual(self.sweep(patience=float("inf")).new, 4)

    def test_a_place_that_cannot_be_written(self):
        """Before anything is run."""
        self.place.write_text("in the way", encoding="utf-8")
        with self.assertRaisesRegex(weir.ResultsError, "choose another folder"):
            self.sweep()
        with self.assertRaisesRegex(ValueError, "no engine `clouds`"):
            self.sweep(engine="clouds")


# A scheme whose key another process computes. `{note}` changes lines, and `{window}` what it does.
OTHER = """import weir
{note}
class Elsewhere(weir.WindowLaw):
    # {note}
    known = {{"gap", "mark", "nack", "timeout"}}
    window = {window}

    def on_congestion(self, cx, signal, rtt):
        if signal in {{"gap", "mark", "nack", "timeout"}}:
            self.window = max(1.0, self.window / 2)
"""


def of_a_factory(size):
    """A method has a variable of the function around its class."""

    class Enclosed(weir.WindowLaw):
        def on_ack(self, cx, ack):
            self.window = size

        def on_congestion(self, cx, signal, rtt):
            """Nothing changes."""

    return Enclosed


def of_a_loop(size):
    """An attribute has it."""

    class Looped(weir.WindowLaw):
        window = size

        def on_congestion(self, cx, signal, rtt):
            """Nothing changes."""

    return Looped


def set_later(size):
    """An attribute gets it after the class was made."""
    made = of_a_loop(1.0)
    made.window = size
    return made


def with_a_default(size):
    """An argument has it as its default."""
    made = of_a_loop(1.0)

    def on_ack(self, cx, ack, size=size):
        self.window = size

    made.on_ack = on_ack
    return made


def decorated(size):
    """A decorator of a method has it."""

    def times(method):
        @functools.wraps(method)
        def on_ack(self, cx, ack):
            self.window = size

        return on_ack

    class Decorated(weir.WindowLaw):
        @times
        def on_ack(self, cx, ack):
            """Nothing changes."""

        def on_congestion(self, cx, signal, rtt):
            """Nothing changes."""

    return Decorated


def of_a_base(size):
    """A base class has it."""

    class Derived(of_a_loop(size)):
        """Inherits."""

    return Derived


def of_an_object(size):
    """An object in an attribute has it."""
    made = of_a_loop(1.0)
    made.table = {"sizes": [weir.Param(size)]}
    return made


def key_of(scheme):
    """The key of the first point with a scheme."""
    return weir._sweep._points(weir._sweep._expanded(TWO, None, {"control": scheme}))[0].key


class Keys(unittest.TestCase):
    """Points of schemes in Python are those of what runs."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="weir-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def keys(self, make, *values):
        """The keys of a scheme that is made from values."""
        return [key_of(make(value)) for value in values]

    def test_classes_with_the_same_text_are_not_the_same(self):
        """A value comes from outside: from a factory, a loop, a decorator, an assignment."""
        for make in (
            of_a_factory,
            of_a_loop,
            set_later,
            with_a_default,
            decorated,
            of_a_base,
            of_an_object,
        ):
            with self.subTest(make=make.__name__):
                first, other, again = self.keys(make, 3.0, 60.0, 3.0)
                self.assertNotEqual(first, other)
                self.assertEqual(first, again)

    def test_a_file_that_was_edited_is_not_what_runs(self):
        """Results of the loaded class are kept as those, and the new text is another point."""
        file = self.folder / "edited.py"
        sys.path.insert(0, str(self.folder))
        self.addCleanup(sys.path.remove, str(self.folder))
        file.write_text(OTHER.format(note="", window=3.0), encoding="utf-8")
        module = importlib.import_module("edited")
        self.addCleanup(sys.modules.pop, "edited")
        before = key_of("elsewhere")
        file.write_text(OTHER.format(note="", window=60.0), encoding="utf-8")
        self.assertEqual(key_of("elsewhere"), before)
        with mock.patch.object(sys, "dont_write_bytecode", True):
            shutil.rmtree(self.folder / "__pycache__", ignore_errors=True)
            importlib.reload(module)
        self.assertNotEqual(key_of("elsewhere"), before)

    def test_processes_folders_and_comments_do_not_change_a_key(self):
        """Nor does the order of a set, which differs between processes."""
        code = "import elsewhere, sweeps; print(sweeps.key_of('elsewhere'))"
        found = {}
        for number, (note, window) in enumerate([("", 3), ("# A note.", 3), ("\n\n", 3), ("", 4)]):
            folder = self.folder / str(number)
            folder.mkdir()
            text = OTHER.format(note=note, window=window)
            (folder / "elsewhere.py").write_text(text, encoding="utf-8")
            path = os.pathsep.join([str(folder), *filter(None, sys.path)])
            env = {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": str(number)}
            done = subprocess.run(
                [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False
            )
            self.assertEqual(done.stderr, "")
            found.setdefault(done.stdout, []).append(number)
        self.assertEqual(list(found.values()), [[0, 1, 2], [3]])

    def test_a_class_without_a_source_can_be_swept(self):
        """As in a notebook, or made by `type`."""
        made = []
        for number, window in enumerate((3.0, 60.0, 3.0)):
            names = {"__name__": "__main__"}
            text = OTHER.format(note="", window=window)
            exec(compile(text, f"<cell {number}>", "exec"), names)  # noqa: S102 (text of this file)
            made.append(weir.sweep(TWO, self.folder, control=["elsewhere"]).new)
        self.assertEqual(made, [1, 1, 0])
        methods = {"on_congestion": lambda self, cx, signal, rtt: None}
        type("Made", (weir.WindowLaw,), methods)
        self.assertEqual(weir.sweep(TWO, self.folder, control=["made"]).new, 1)

    def test_a_value_without_an_identity(self):
        """The message says where it is."""

        class Locked(weir.WindowLaw):
            """Has a lock, which no other process has."""

            guards = {"first": threading.Lock()}

            def on_congestion(self, cx, signal, rtt):
                """Nothing changes."""

        text = (
            "^scheme `locked` cannot be identified: `first` of `guards` is a `lock`, whose content "
            "is not known; leave it out of the class, or make it in `__init__`$"
        )
        with self.assertRaisesRegex(weir.WeirError, text):
            weir.sweep(TWO, self.folder, control=["locked"])
        Locked.guards = {}
        self.assertEqual(weir.sweep(TWO, self.folder, control=["locked"]).new, 1)
