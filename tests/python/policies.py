"""Policies in ONNX files: the scheme `learned` beside the same policy in Python."""

import subprocess
import sysconfig
import tempfile
import unittest
from pathlib import Path

import numpy
import onnx
import onnxruntime
import weir
from onnx import TensorProto, helper, numpy_helper
from weir import env as envs

PROGRAM = Path(sysconfig.get_path("scripts"), "weir")
NEURONS = 8


def model(path, seed=1, inputs=8):
    """A neural network with weights by chance that keeps windows in use.

    It grows by up to a third a step, less the longer Data wait.
    """
    draw = numpy.random.default_rng(seed)

    def constant(name, values, kind=numpy.float32):
        return numpy_helper.from_array(numpy.asarray(values, dtype=kind), name)

    tensors = [
        constant("scale", [[0.02, 0.1, 0.01, 0.01, 0.02, 0.1, 0.1, 0.0][:inputs]]),
        constant("matrix", draw.normal(0, 0.5, (inputs, NEURONS))),
        constant("bias", draw.normal(0, 0.1, NEURONS)),
        constant("last", draw.normal(0, 0.2, (NEURONS, 1))),
        constant("two", [2], numpy.int64),
        constant("three", [3], numpy.int64),
        constant("at_rest", [[1.4]]),
    ]
    nodes = [
        helper.make_node("Mul", ["seen", "scale"], ["scaled"]),
        helper.make_node("Gemm", ["scaled", "matrix", "bias"], ["one"]),
        helper.make_node("Tanh", ["one"], ["hidden"]),
        helper.make_node("MatMul", ["hidden", "last"], ["opinion"]),
        helper.make_node("Gather", ["seen", "two"], ["rtt"], axis=1),
        helper.make_node("Gather", ["seen", "three"], ["rtt_min"], axis=1),
        helper.make_node("Div", ["rtt", "rtt_min"], ["stretched"]),
        helper.make_node("Sub", ["at_rest", "stretched"], ["pull"]),
        helper.make_node("Add", ["opinion", "pull"], ["sum"]),
        helper.make_node("Tanh", ["sum"], ["action"]),
    ]
    seen = helper.make_tensor_value_info("seen", TensorProto.FLOAT, ["flows", inputs])
    action = helper.make_tensor_value_info("action", TensorProto.FLOAT, ["flows", 1])
    graph = helper.make_graph(nodes, "policy", [seen], [action], tensors)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(made)
    onnx.save(made, path)


class Hosted(weir.WindowLaw):
    """The same in Python: written from the documentation of `weir.env` and of `learned`."""

    name = "hosted-policy"
    answers_every_mark = True
    session = None
    decisions = []

    def __init__(self):
        self.window = 10.0
        self.began = self.step_began = None
        self.last = self.rtt_min = 0.0
        self.in_flight = self.size = 0
        self.clear()

    def clear(self):
        """A step begins."""
        self.bytes = self.marks = self.losses = 0
        self.rtts = []

    def on_ack(self, cx, ack):
        """Sum up."""
        if self.began is None:
            self.began = self.step_began = ack.sent_at
        self.size, self.in_flight, self.rtt_min = ack.size, ack.in_flight, ack.rtt_min
        self.bytes += ack.size
        if ack.rtt is not None:
            self.rtts.append(ack.rtt)
            self.last = ack.rtt

    def on_congestion(self, cx, signal, rtt):
        """Count marks."""
        if signal == "mark":
            self.marks += 1
            self.bytes += self.size

    def on_round(self, cx, ended):
        """Ask the policy."""
        self.losses += ended.lost
        if self.began is None:
            return
        rtt = sum(self.rtts) / len(self.rtts) if self.rtts else self.last
        seen = [
            self.window,
            self.bytes * 8e-6 / (cx.now - self.step_began),
            rtt * 1e3,
            self.rtt_min * 1e3,
            self.in_flight,
            self.marks,
            self.losses,
            cx.now - self.began,
        ]
        seen = numpy.array([seen], dtype=numpy.float32)
        action = float(Hosted.session.run(None, {"seen": seen})[0].item())
        Hosted.decisions.append(action)
        self.window = min(max(self.window * 2.0 ** min(max(action, -1.0), 1.0), 1.0), 262_144.0)
        self.step_began = cx.now
        self.clear()


class Policies(unittest.TestCase):
    """Files in a folder."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="weir-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.file = self.folder / "policy.onnx"

    def scenario(self, loss="0 %"):
        """A link of 20 Mbit/s and 40 ms both ways."""
        made = envs.network(rate=20e6, delay=0.02, queue=60, duration=20.0)
        return made.set(link__loss=loss)

    def windows(self, results):
        """The sampled windows."""
        frame = results.series.to_pandas()
        rows = frame[frame["quantity"].str.startswith("window")]
        self.assertGreater(len(rows), 50)
        return rows["value"].to_numpy()

    def test_decisions_are_those_of_the_same_policy_in_python(self):
        """With two evaluators of the file, and two accounts of the flow."""
        for seed, loss in ((1, "0 %"), (2, "0 %"), (3, "0.5 %")):
            with self.subTest(seed=seed, loss=loss):
                model(self.file, seed)
                Hosted.session = onnxruntime.InferenceSession(
                    self.file, providers=["CPUExecutionProvider"]
                )
                Hosted.decisions = []
                scenario = self.scenario(loss)
                hosted = weir.run(scenario, control=Hosted, progress=False)
                learned = weir.run(scenario, control=f"learned:model={self.file}", progress=False)
                self.assertGreater(numpy.ptp(Hosted.decisions), 0.1, "the policy does something")
                # Both compute with numbers of 32 bits, and sum up in another order: a window may
                # differ in its sixth digit, and a packet leave some nanoseconds earlier.
                # Where Data are lost, one that leaves a moment earlier may be lost in place of
                # another, and the windows go their own ways: the flow is judged as a whole.
                if loss == "0 %":
                    numpy.testing.assert_allclose(
                        self.windows(learned), self.windows(hosted), rtol=1e-3
                    )
                one, other = (run.flows.to_pandas().iloc[0] for run in (learned, hosted))
                self.assertAlmostEqual(
                    one["goodput_mbps"],
                    other["goodput_mbps"],
                    delta=other["goodput_mbps"] / (1000 if loss == "0 %" else 20),
                )

    def test_equal_seeds_give_equal_runs(self):
        """To the last bit."""
        model(self.file)
        scenario = self.scenario("1 %")
        hashes = {
            weir.run(scenario, control=f"learned:model={self.file}", progress=False).summary[
                "trace_hash"
            ]
            for _ in range(3)
        }
        self.assertEqual(len(hashes), 1)

    def test_an_environment_with_the_policy_has_the_same_windows(self):
        """Steps of 100 ms: the first Data after it ends one of `learned`."""
        model(self.file)
        session = onnxruntime.InferenceSession(self.file, providers=["CPUExecutionProvider"])
        env = envs.Flow(self.scenario(), step=0.1)
        seen, _ = env.reset(seed=1)
        reached = []
        for _ in range(199):
            action = session.run(None, {"seen": seen[None]})[0][0] if seen[3] else [0.0]
            seen, *_ = env.step(numpy.clip(action, -1.0, 1.0))
            reached.append(seen[0])
        settings = f"learned:model={self.file},step=100 ms"
        learned = weir.run(self.scenario(), control=settings, progress=False)
        # A step of `learned` is up to a packet longer, 3 ms of 100.
        last = self.windows(learned)[-1]
        self.assertAlmostEqual(last, reached[-1], delta=0.1 * last)

    def test_a_sweep_knows_the_content_of_the_file(self):
        """Another policy under the same path is another point."""
        model(self.file)
        control = f"learned:model={self.file}"
        scenario = self.scenario().set(scenario__duration="1 s")
        place = self.folder / "results"
        for count in (1, 0):
            made = weir.sweep(scenario, place, control=[control], progress=False)
            self.assertEqual(made.new, count)
        model(self.file, seed=2)
        self.assertEqual(weir.sweep(scenario, place, control=[control], progress=False).new, 1)

    def test_a_path_is_relative_to_the_scenario(self):
        """In both forms of a choice."""
        model(self.folder / "p.onnx")
        text = self.scenario().set(scenario__duration="1 s").text
        for choice in ('"learned:model=p.onnx"', '{ scheme = "learned", model = "p.onnx" }'):
            file = self.folder / "film.toml"
            file.write_text(text.replace("[[consumer]]", f"[[consumer]]\ncontrol = {choice}"))
            scenario = weir.Scenario.from_file(file)
            self.assertGreater(weir.run(scenario, progress=False).flows.to_pandas()["data"][0], 0)

    def test_files_that_are_no_policy_are_rejected_before_anything_runs(self):
        """In a scenario, and in `weir get` before it looks for a forwarder."""
        model(self.folder / "seven.onnx", inputs=7)
        self.folder.joinpath("text.onnx").write_text("a text")
        self.folder.joinpath("large.onnx").write_bytes(bytes(2_000_000))
        said = {
            "seven.onnx": "its input is \\? by 7 numbers",
            "text.onnx": "it is not an ONNX model",
            "large.onnx": "more than 1000000 bytes",
            "missing.onnx": "cannot read the model",
        }
        for name, text in said.items():
            with self.subTest(name):
                control = f"learned:model={self.folder / name}"
                with self.assertRaisesRegex(weir.ScenarioError, text):
                    weir.run(self.scenario(), control=control, progress=False)
                command = [PROGRAM, "get", "/x", "--control", control, "--socket", "/nowhere"]
                got = subprocess.run(command, capture_output=True, text=True, cwd=self.folder)
                self.assertRegex(got.stderr, text)
                self.assertNotIn("/nowhere", got.stderr)
                self.assertEqual(got.returncode, 7 if name == "missing.onnx" else 2)
