"""Schemes in Python: chosen by name, equal to the built-in ones, and ended when they are wrong."""

import itertools
import sys
import threading
import unittest
import weakref

import weir
from _network import SCENARIO

TWO = weir.Scenario.from_text(SCENARIO, name="two.toml")


class Steady(weir.WindowLaw):
    """One segment more a round trip, a quarter less at congestion."""

    beta = weir.Param(0.75, low=0.05, high=0.99, help="the window's factor at congestion")

    def __init__(self):
        self.window = 10.0

    def on_round(self, cx, round):
        if round.window_limited:
            self.window += 1.0

    def on_congestion(self, cx, signal, rtt):
        self.window = max(1.0, self.window * self.beta)
        cx.note("shrunk", self.window)


def flow(results):
    """The only flow of a run."""
    return results.summary["flows"][0]


def end_left_behind(ended):
    """Ends the waiting call of a run that was left behind, and waits for the run's thread.

    The interpreter must not end before it.
    """
    ended.set()
    while len(sys._current_frames()) > threading.active_count():
        pass


class Schemes(unittest.TestCase):
    """Each part, and each way to be wrong."""

    def test_a_law_is_chosen_by_name_with_its_parameters(self):
        """It moves the file, as often as it is asked with the same result."""
        narrow = TWO.set(link__queue=4)
        first = weir.run(narrow, control="steady")
        self.assertTrue(flow(first)["complete"])
        again = weir.run(narrow, control=Steady)
        self.assertEqual(first.summary["trace_hash"], again.summary["trace_hash"])
        other = weir.run(narrow, control="steady:beta=0.3")
        self.assertNotEqual(first.summary["trace_hash"], other.summary["trace_hash"])
        with self.assertRaisesRegex(
            weir.ScenarioError, "`beta` = 3 is out of range; .* 0.05 to 0.99"
        ):
            weir.run(TWO, control="steady:beta=3")
        scheme = weir.schemes()["steady"]
        self.assertEqual(
            scheme.summary, "One segment more a round trip, a quarter less at congestion."
        )
        self.assertEqual(scheme.parameters[0].default, "0.75")

    def test_a_law_in_python_is_the_law_in_rust(self):
        """The window that is always 7 segments, beside the built-in scheme of a fixed window."""

        class Seven(weir.WindowLaw):
            """Seven segments."""

            pacing_gain = 0.0

            def __init__(self):
                self.window = 7

            def on_congestion(self, cx, signal, rtt):
                """Nothing changes."""

            def seed(self, segments):
                """Nothing changes."""

        ours, built_in = (weir.run(TWO, control=name) for name in ("seven", "fixed:window=7"))
        self.assertAlmostEqual(flow(ours)["window_mean"], 7.0)
        self.assertEqual(flow(ours)["bytes"], flow(built_in)["bytes"])

    def test_a_cut_without_congestion_is_undone(self):
        """A law is copied before it is cut; the copy does not share what the law holds."""
        calls = []

        class Copied(Steady):
            """Keeps a list, and forgets it at congestion."""

            def __init__(self):
                super().__init__()
                self.history = []

            def on_ack(self, cx, ack):
                self.history.append(ack.rtt)
                calls.append(("ack", self.window, len(self.history)))

            def on_congestion(self, cx, signal, rtt):
                calls.append(("cut", self.window, len(self.history)))
                self.history.clear()
                super().on_congestion(cx, signal, rtt)

        # From some time on Data take longer than Interests wait for them, and none are lost.
        fault = '[[fault]]\nkind = "link-delay"\nat = "0.2 s"\nlink = ["far", "near"]\n'
        slower = weir.Scenario.from_text(SCENARIO + fault + 'delay = "250 ms"\n')
        results = weir.run(slower, control="copied")
        self.assertEqual([link["drops"] for link in results.summary["links"]], [0, 0])
        undone = [
            (before, after)
            for before, after in itertools.pairwise(calls)
            if (before[0], after[0]) == ("cut", "ack") and after[1] == before[1]
        ]
        self.assertEqual(len(undone), 1, calls)
        # Everything that the law held before the cut, and the Data packet after it.
        (((_, window, held), after),) = undone
        self.assertEqual(after, ("ack", window, held + 1))
        self.assertGreater(held, 5)

    def test_defining_a_class_again_replaces_it(self):
        """As when a cell of a notebook runs again; the name of a published scheme is taken."""
        for window in (3, 9):

            class Again(weir.WindowLaw):
                """Another one each time."""

                size = window

                def __init__(self):
                    self.window = self.size

                def on_congestion(self, cx, signal, rtt):
                    """Nothing changes."""

            mean = flow(weir.run(TWO, control="again"))["window_mean"]
            self.assertAlmostEqual(mean, window)
        with self.assertRaisesRegex(weir.WeirError, "published scheme"):
            type("Cubic", (weir.WindowLaw,), {})
        with self.assertRaisesRegex(weir.WeirError, "`agent` is the scheme of the flows"):
            type("Agent", (weir.WindowLaw,), {})
        with self.assertRaisesRegex(weir.WeirError, "not the name of a scheme"):
            type("X", (weir.WindowLaw,), {"name": "a:b"})

    def broken(self, **members):
        """The exception of a run with a law that has these methods."""
        members = {"on_congestion": lambda *_: None, **members}
        type("Broken", (weir.WindowLaw,), members)
        with self.assertRaises(weir.SchemeError) as caught:
            weir.run(TWO, control="broken", patience=0.3)
        self.assertEqual(caught.exception.scheme, "broken")
        return caught.exception

    def test_a_law_that_raises_ends_its_run_with_traceback_and_time(self):
        """The record until then is kept."""

        def on_ack(self, cx, ack):
            if cx.now > 0.5:
                raise ZeroDivisionError("by hand")
            self.window += 1 / self.window

        error = self.broken(on_ack=on_ack)
        self.assertIsInstance(error.__cause__, ZeroDivisionError)
        self.assertEqual(error.__cause__.__traceback__.tb_frame.f_code.co_name, "on_ack")
        self.assertTrue(0.5 < error.time < 0.6, error.time)
        self.assertIn("raised ZeroDivisionError: by hand at 0.5", str(error))
        self.assertTrue(error.results.interrupted)
        self.assertGreater(flow(error.results)["bytes"], 100_000)

    def test_a_law_that_raises_in_its_constructor_or_lacks_a_method(self):
        """At the beginning of the run."""

        def init(self):
            raise RuntimeError("no")

        self.assertIn("raised RuntimeError: no at 0.000000 s", str(self.broken(__init__=init)))
        type("Lacking", (weir.WindowLaw,), {"window": 100.0})
        with self.assertRaisesRegex(weir.SchemeError, "needs the method `on_congestion`"):
            weir.run(TWO, control="lacking")
        type("Pathless", (weir.Strategy,), {})
        with self.assertRaisesRegex(weir.SchemeError, "needs the method `on_interest`"):
            weir.run(TWO, scenario__strategy="pathless")

    def test_wrong_windows_end_the_run(self):
        """Not a number, no number, infinite."""

        def becomes(value):
            def on_ack(self, cx, ack):
                self.window = value

            return on_ack

        for value, what in [
            (float("nan"), "`window` is NaN; it must be a finite number of segments"),
            (float("inf"), "`window` is inf; it must be"),
            ("wide", "raised TypeError"),
        ]:
            self.assertIn(what, str(self.broken(on_ack=becomes(value))))

    def test_a_law_that_does_not_return_ends_its_run(self):
        """In Python, and in a call that waits; the interpreter survives."""

        def spin(self, cx, ack):
            while True:
                pass

        ended = threading.Event()
        self.addCleanup(ended.set)
        for method, place in [(spin, "in spin"), (lambda *_: ended.wait(), "in wait")]:
            error = self.broken(on_ack=method)
            self.assertIn("did not return from a call", str(error))
            self.assertIn(place, str(error))
        end_left_behind(ended)
        self.assertTrue(flow(weir.run(TWO, control="steady"))["complete"])

    def test_the_other_runs_end_with_one_that_does_not_return(self):
        """They would continue in the background, with nothing that could end them."""
        begun, ended, dropped = threading.Event(), threading.Event(), threading.Event()
        self.addCleanup(ended.set)

        class Hanging(Steady):
            """Waits, once the other run has begun."""

            def on_ack(self, cx, ack):
                if begun.is_set():
                    ended.wait()

        class Endless(Steady):
            """Is dropped when its run ends, and not before: it is never cut, so never copied."""

            def __init__(self):
                self.window = 2.0

            def on_round(self, cx, round):
                """Nothing changes."""

            def on_ack(self, cx, ack):
                # Others are made and dropped when the scenario is checked.
                if not begun.is_set():
                    weakref.finalize(self, dropped.set)
                begun.set()

        # Years of Data: the run does not end by itself while the test waits.
        years = {"content__signing": "none", "content__size": "100 TB", "record__interval": "1 h"}
        text = SCENARIO + '\n[sweep]\ncontrol = ["hanging", "endless"]\n'
        years["scenario__duration"] = "100000000 s"
        both = weir.Scenario.from_text(text, name="two.toml", **years)
        with self.assertRaises(weir.SchemeError) as caught:
            weir.run(both, jobs=2, patience=0.3)
        self.assertEqual(caught.exception.scheme, "hanging")
        self.assertTrue(dropped.wait(60))
        end_left_behind(ended)

    def test_a_context_is_of_one_call(self):
        """Random numbers repeat; a context that was kept is of no use."""
        drawn = []

        def on_ack(self, cx, ack):
            drawn.append(cx.random())
            self.kept = cx

        type(
            "Random",
            (weir.WindowLaw,),
            {"name": "drawing", "on_ack": on_ack, "on_congestion": lambda *_: None},
        )
        for _ in range(2):
            weir.run(TWO, control="drawing")
        half = len(drawn) // 2
        self.assertEqual(drawn[:half], drawn[half:])
        self.assertGreater(len(set(drawn)), half - 2)

        def late(self, cx, ack):
            Schemes.kept = getattr(self, "kept", None) or cx
            self.kept = Schemes.kept

        type("Late", (weir.WindowLaw,), {"on_ack": late, "on_congestion": lambda *_: None})
        weir.run(TWO, control="late")
        with self.assertRaisesRegex(RuntimeError, "belong to a call"):
            Schemes.kept.random()

    def test_a_controller(self):
        """A fixed rate: an Interest every 10 ms brings 100 segments a second."""

        class Ticking(weir.Controller):
            """One Interest each period."""

            period = weir.Param(0.01, low=0.001, high=1, unit="s", help="between Interests")

            def __init__(self):
                self.next = 0.0

            def permit(self, now, ask):
                return True if now >= self.next else self.next

            def on_sent(self, cx, sent):
                self.next = cx.now + self.period
                return 1.0

        results = weir.run(TWO, control="ticking:period=20 ms")
        # 2 s of one segment of 8000 bytes each 20 ms, but for the round trip.
        self.assertAlmostEqual(flow(results)["bytes"], 100 * 8000, delta=2 * 8000)

    def test_a_marker_and_a_strategy(self):
        """Marks reach the consumer; Interests go where the strategy says."""

        class Marking(weir.Marker):
            """Marks what has waited."""

            def on_dequeue(self, cx, link, packet, sojourn):
                return 1 if sojourn > 0.002 else None

        class Second(weir.Strategy):
            """The second next hop, if there is one."""

            def on_interest(self, cx, entry):
                return [("forward", entry.next_hops[-1][0])]

        marked = weir.run(TWO, control="cubic", link__marker="marking")
        self.assertGreater(flow(marked)["marks"], 0)
        diamond = weir.Scenario(
            scenario={"duration": "1 s", "strategy": Second, "paths": 2},
            node={"name": ["c", "left", "right", "p"]},
            link=[
                {"between": (a, b), "rate": 1e7, "delay": delay}
                for a, b, delay in [
                    ("c", "left", 0.001),
                    ("left", "p", 0.001),
                    ("c", "right", 0.01),
                    ("right", "p", 0.01),
                ]
            ],
            content={"name": "/x", "at": "p", "size": 100_000},
            consumer={"at": "c", "name": "/x"},
        )
        links = {(one["from"], one["to"]): one for one in weir.run(diamond).summary["links"]}
        self.assertGreater(links["right", "c"]["bytes"], 100_000)
        self.assertEqual(links["left", "c"]["bytes"], 0)

    def test_a_shaper(self):
        """Interests that it holds come out one by one, 10 ms apart."""

        class Slow(weir.Shaper):
            """Holds every Interest."""

            def __init__(self):
                self.held, self.free_at = [], 0.0

            def offer(self, cx, link, other, packet):
                self.held.append(packet.handle)
                self.next_release = max(cx.now, self.free_at)

            def release(self, cx, link):
                if cx.now < self.free_at or not self.held:
                    return None
                self.free_at = cx.now + 0.01
                self.next_release = self.free_at if len(self.held) > 1 else None
                return self.held.pop(0)

        large = TWO.set(content__size="10 MB")
        alone = weir.run(large, control="fixed:window=5")
        results = weir.run(large, control="fixed:window=5", link__shaper="slow")
        # One Interest every 10 ms for 2 s; the Data of the last two are still under way.
        self.assertGreater(flow(alone)["data"], 250)
        self.assertTrue(198 <= flow(results)["data"] <= 201, flow(results)["data"])
