"""The JSON Schema of scenario files and the checker agree, by a validator that shares no code."""

import tomllib
import unittest

import weir
from support import schemas
from support.weir import ROOT

SCHEMA = schemas.OfFile("scenario")

# A file that is right, with all kinds of values.
RIGHT = """
    [scenario]
    duration = "1.5 min"
    seed = 7
    paths = 2
    strategy = "multicast"
    [topology]
    generator = "dumbbell"
    rate = "1_000 kbit/s"
    access = { rate = "1 Gbit/s", loss = { to_bad = 0.1, to_good = "25 %" } }
    [[node]]
    name = ["a", "b"]
    admission = "20 %"
    [[link]]
    between = ["a", "left"]
    rate = "10Mbit/s"
    queue = "100 packets"
    metric = 2.5
    marker = { scheme = "codel", target = "15 ms" }
    back = { queue = "9 kB" }
    [[content]]
    name = "/x"
    at = ["p0"]
    size = "20 MB"
    [[consumer]]
    at = "c0"
    name = "/x"
    control = "cubic"
    [[consumer]]
    at = "c1"
    name = "/x"
    rate = "140.5 /s"
    [[fault]]
    at = "1 s"
    kind = "link-down"
    link = ["a", "left"]
    [sweep]
    control = ["aimd", "cubic"]
    link.delay = ["1 ms"]
    repetitions = 3
"""

# Something right, and what is wrong in its place.
BROKEN = (
    ('duration = "1.5 min"', 'duration = "1.5 parsecs"'),
    ('duration = "1.5 min"', 'duration = "-1 s"'),
    ('duration = "1.5 min"', "duration = 5"),
    ('duration = "1.5 min"', ""),
    ("seed = 7", "sed = 7"),
    ("seed = 7", "seed = -7"),
    ("paths = 2", "paths = 99"),
    ('"multicast"', '"cubic"'),
    ('"dumbbell"', '"dumbell"'),
    ('"1_000 kbit/s"', '"1_000 kbps"'),
    ("loss = { to_bad = 0.1,", "loss = { to_bda = 0.1,"),
    ("to_bad = 0.1", "to_bad = 1.1"),
    ('"20 %"', '"some"'),
    ('["a", "left"]\n    rate', '["a"]\n    rate'),
    ('"100 packets"', '"100 pakets"'),
    ("metric = 2.5", "metric = -1"),
    ('scheme = "codel"', 'scheme = "codle"'),
    ("back = {", "bakc = {"),
    ('name = "/x"\n    at', 'name = "x"\n    at'),
    ('"140.5 /s"', '"140.5 Hz"'),
    ('"link-down"', '"link-dwn"'),
    ('["aimd", "cubic"]', '"aimd"'),
    ("repetitions = 3", "repetitions = 0"),
    ("[[content]]", "[[contents]]"),
)


class JsonSchema(unittest.TestCase):
    """Committed for editors; a test of `scenario` keeps it the program's."""

    def test_every_scenario_of_the_repository_is_valid_and_so_is_its_filled_form(self):
        count = 0
        for folder in ("scenarios", "bench"):
            for file in sorted(ROOT.joinpath(folder).rglob("*.toml")):
                text = file.read_text("utf-8")
                # Other tables are, say, of expected values.
                if "scenario" not in tomllib.loads(text):
                    continue
                with self.subTest(file):
                    self.assertEqual(SCHEMA.mistakes(text), [])
                    self.assertEqual(SCHEMA.mistakes(weir.Scenario.from_file(file).toml), [])
                count += 1
        self.assertGreater(count, 0, "there are scenarios")

    def test_both_accept_what_is_right(self):
        self.assertEqual(SCHEMA.mistakes(RIGHT), [])
        weir.Scenario.from_text(RIGHT)

    def test_both_reject_what_has_the_wrong_form(self):
        for right, broken in BROKEN:
            text = RIGHT.replace(right, broken, 1)
            with self.subTest(broken):
                self.assertNotEqual(text, RIGHT)
                self.assertNotEqual(SCHEMA.mistakes(text), [])
                with self.assertRaises(weir.ScenarioError):
                    weir.Scenario.from_text(text)
