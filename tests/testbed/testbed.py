"""The command, a scenario to give to it, and what it may leave behind: nothing."""

import json
import subprocess
import tempfile
from pathlib import Path

from support import weir

NAMESPACES = Path("/run/netns")
HOMES = Path("/run/weir-testbed")
# Far more than any of these runs takes; what hangs is told apart by it.
PATIENCE = 300

LINE = """
[scenario]
duration = "{duration}"
seed = 1
scheme = "cubic"

[[node]]
name = ["consumer", "middle", "producer"]

[[link]]
between = ["consumer", "middle"]
rate = "50 Mbit/s"
delay = "1 ms"

[[link]]
between = ["middle", "producer"]
rate = "20 Mbit/s"
delay = "5 ms"
queue = "100 kB"

[[content]]
name = "/example/object"
at = "producer"
size = "{size}"

[[consumer]]
at = "consumer"
name = "/example/object"
"""


def start(driver, scenario, *options):
    """Start `weir sim run` or `weir testbed run`."""
    command = [weir.program(), driver, "run", scenario, "--json", *options]
    return subprocess.Popen(
        [str(word) for word in command],
        cwd=weir.ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(driver, scenario, *options):
    """The same to its end: exit status, the JSON object that it printed if any, what it said."""
    process = start(driver, scenario, *options)
    printed, said = process.communicate(timeout=PATIENCE)
    return process.returncode, json.loads(printed) if printed else None, said


def file(case, text):
    """A scenario in a temporary folder that goes with the test case, or with the class."""
    folder = tempfile.TemporaryDirectory(prefix="weir-")
    add = case.addClassCleanup if isinstance(case, type) else case.addCleanup
    add(folder.cleanup)
    path = Path(folder.name) / "line.toml"
    path.write_text(text, encoding="utf-8")
    return path


def leftovers(name):
    """Namespaces, folders and processes of a testbed."""
    namespaces = [path.name for path in NAMESPACES.glob(f"weir-{name}.*")]
    homes = [path.name for path in HOMES.glob(name)]
    commands = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    processes = [line for line in commands.stdout.splitlines() if f"{HOMES}/{name}/" in line]
    return namespaces + homes + processes
