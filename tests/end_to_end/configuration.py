"""The JSON Schema of configurations agrees with the check; the validator is not ours."""

import contextlib
import json
import re
import subprocess
import tempfile
import tomllib
import unittest
from pathlib import Path

from support import schemas, weir

SCHEMA = schemas.OfFile("configuration")

# A file that is right, with all kinds of values.
RIGHT = """
    [daemon]
    log = "info"
    memory = "auto"
    [listen]
    udp = "127.0.0.1:6363"
    tcp = ["127.0.0.1:6363", "[::1]:6363"]
    websocket = "off"
    websocket_origins = ["https://app.example"]
    unix = "/tmp/weir-schema.sock"
    unix_links = "/tmp/weir-schema-link.sock"
    unix_mode = "660"
    [on_demand]
    unproved_exempt = ["local", "192.0.2.0/24"]
    [[face]]
    uri = "udp4://192.0.2.1:6363"
    name = "far"
    rate = "10 Mbit/s"
    rate_in = "measured"
    delay = "20 ms"
    loss = { to_bad = 0.1, to_good = "25 %" }
    queue = "+100 packets"
    marker = { scheme = "codel", target = "15 ms" }
    [[route]]
    prefix = "/a"
    face = "far"
    cost = 7
    [content_store]
    capacity = "64. MB"
    policy = "lfu"
    admission = "1.0"
    no_cache = "/a/live"
    [[strategy]]
    prefix = "/a"
    strategy = "multicast"
    [[authorize]]
    from = "local"
    commands = ["rib", "trace"]
    user = "root"
"""

# Something right, and what is wrong in its place.
BROKEN = (
    ('memory = "auto"', 'memory = "automatic"'),
    ('memory = "auto"', "memory = 7"),
    ('udp = "127.0.0.1:6363"', 'udp = "127.0.0.1"'),
    ('udp = "127.0.0.1:6363"', "udp = 66000"),
    ('"[::1]:6363"]', "true]"),
    ('"[::1]:6363"]', "[6363]]"),
    ('"127.0.0.1:6363", "', '"127.0.0.1.1:6363", "'),
    ('unix = "/tmp/weir-schema.sock"', 'unix = "schema.sock"'),
    ('unix_mode = "660"', 'unix_mode = "999"'),
    ('"https://app.example"', '"app.example"'),
    ('"local", "192.0.2.0/24"', '"host"'),
    ('memory = "auto"', 'scheme = "cubic"'),
    ('"/tmp/weir-schema-link.sock"', '"link.sock"'),
    ('uri = "udp4://192.0.2.1:6363"', 'uri = "192.0.2.1:6363"'),
    ('uri = "udp4://192.0.2.1:6363"', 'uri = "http://192.0.2.1:6363"'),
    ('uri = "udp4://192.0.2.1:6363"', ""),
    ('rate = "10 Mbit/s"', 'rate = "10 Mb/s"'),
    ('rate_in = "measured"', 'rate_in = "mesured"'),
    ('delay = "20 ms"', "delay = 20"),
    ("to_bad = 0.1", "to_bad = 1.1"),
    ("to_bad", "to_worse"),
    ('"+100 packets"', '"100 pakets"'),
    ('"+100 packets"', '"0 packets"'),
    ('scheme = "codel"', 'scheme = "codle"'),
    ('prefix = "/a"\n    face', 'prefix = "a"\n    face'),
    ("cost = 7", "cost = -7"),
    ('policy = "lfu"', 'policy = "lifo"'),
    ('admission = "1.0"', 'admission = "some"'),
    ('admission = "1.0"', 'admission = "5"'),
    ('admission = "1.0"', 'admission = "120 %"'),
    ('no_cache = "/a/live"', 'no_cache = "live"'),
    ('strategy = "multicast"', 'strategy = "cubic"'),
    ('from = "local"', 'from = "here"'),
    ('"rib", "trace"', '"rib", "tracing"'),
    ("[content_store]", "[contentstore]"),
    ("[[route]]", "[route]"),
)


BLOCK = r"(?:^    .*\n|^\n(?=    ))+"
SECTION = r"^    \[+(listen|on_demand|face|daemon|content_store)\]+"


def examples():
    """Configurations in the repository, and those in its documents that are whole."""
    yield (
        "packaging/weir.toml",
        weir.ROOT.joinpath("packaging/weir.toml").read_text("utf-8"),
    )
    for page in sorted(weir.ROOT.glob("docs/how-to/*.md")):
        # Blocks of four spaces, with the blank lines in them.
        for block in re.findall(BLOCK, page.read_text("utf-8"), re.MULTILINE):
            with contextlib.suppress(tomllib.TOMLDecodeError):
                if re.search(SECTION, block, re.MULTILINE) and tomllib.loads(block):
                    yield page.name, block


class Configuration(unittest.TestCase):
    """Committed for editors; a test of `net` keeps it the program's."""

    @classmethod
    def setUpClass(cls):
        cls.program = weir.program()

    def checked(self, text):
        """The daemon's check of a text, as it ended."""
        with tempfile.TemporaryDirectory(prefix="weir-configuration-") as folder:
            file = Path(folder) / "weir.toml"
            file.write_text(text, encoding="utf-8")
            command = [self.program, "daemon", "--config", file, "--check"]
            return subprocess.run(command, capture_output=True, text=True, check=False)

    def test_the_program_prints_it(self):
        command = [self.program, "daemon", "--schema"]
        said = subprocess.run(command, capture_output=True, check=True)
        self.assertEqual(json.loads(said.stdout), SCHEMA.schema)

    def test_examples_are_valid(self):
        count = 0
        for place, text in examples():
            with self.subTest(place):
                self.assertEqual(SCHEMA.mistakes(text), [])
            count += 1
        self.assertGreater(count, 5)

    def test_both_accept_what_is_right(self):
        self.assertEqual(SCHEMA.mistakes(RIGHT), [])
        done = self.checked(RIGHT)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_both_reject_what_has_the_wrong_form(self):
        for right, broken in BROKEN:
            text = RIGHT.replace(right, broken, 1)
            with self.subTest(broken):
                self.assertNotEqual(text, RIGHT)
                self.assertNotEqual(SCHEMA.mistakes(text), [])
                self.assertEqual(self.checked(text).returncode, 2)
