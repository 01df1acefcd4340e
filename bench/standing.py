"""A scenario's network (`weir testbed up`), with rates by the kernel, for any program."""

import json
import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from support import weir
from support.children import Child, Failed, cpu_seconds, memory_bytes, run, wait_until

SCENARIOS = weir.ROOT / "scenarios"
# Two benchmarks may run at the same time.
NAME = f"bench-{os.getpid()}"
SAMPLE_SECONDS = 0.1


@dataclass
class Sent:
    """Traffic of one end of a link: frames with all headers, and their payload."""

    wire_bytes: int = 0
    frames: int = 0
    drops: int = 0
    bytes: int = 0
    interests: int = 0
    data: int = 0
    nacks: int = 0

    def __sub__(self, other):
        fields = vars(self)
        return Sent(**{name: fields[name] - getattr(other, name) for name in fields})


class Node(weir.Daemon):
    """A node of the network: its address, its namespace, and the daemon that runs there."""

    def __init__(self, program, folder, said):
        super().__init__(program, folder, said["node"])
        self.address = said["address"]
        self.namespace = said["namespace"]
        self.pid = said["pid"]
        self.cgroup = said["cgroup"] and Path(said["cgroup"])
        self._socket = said["socket"]

    @property
    def socket(self):
        """Where local applications find its daemon."""
        return self._socket

    def command(self, *argv):
        """The command with the prefix that runs it here."""
        where = ["nsenter", f"--net=/run/netns/{self.namespace}"]
        if self.cgroup:
            # Programs started here share the node's processor quota.
            share = f'echo $$ >{self.cgroup}/cgroup.procs; exec "$@"'
            where += ["sh", "-c", share, "sh"]
        return where + [str(word) for word in argv]


class Standing:
    """The network of a scenario, until the `with` block ends."""

    def __init__(self, lab, scenario, settings=(), mtu=1500):
        argv = [lab.weir, "testbed", "up", SCENARIOS / f"{scenario}.toml", "--name", NAME]
        argv += ["--json", "--mtu", mtu, *(word for one in settings for word in ("--set", one))]
        out = lab.folder / "up.json"
        out.unlink(missing_ok=True)
        self._child = Child(argv, lab.folder / "up.log", out)
        try:
            wait_until(lambda: self._stands(out), f"{scenario} to stand")
            said = json.loads(out.read_text(encoding="utf-8"))
        except BaseException:
            self._child.stop()
            raise
        self.nodes = {one["node"]: Node(lab.weir, lab.folder, one) for one in said["nodes"]}
        self._links = said["links"]

    def _stands(self, out):
        if not self._child.running:
            raise Failed(f"weir testbed up ended\n{self._child.last_words()}")
        return out.read_bytes().endswith(b"\n")

    def __getitem__(self, name):
        return self.nodes[name]

    def sent(self):
        """The traffic of each end of each link until now, by the names of the ends."""
        wires = {name: self._wires(node) for name, node in self.nodes.items()}
        faces = {name: self._faces(node) for name, node in self.nodes.items()}
        found = {}
        for link in self._links:
            for here, there in (link["between"], link["between"][::-1]):
                wire = wires[here][link["interface"]]
                face = faces[here].get(link["interface"], {})
                counts = {
                    kind: face.get(kind, 0) for kind in ("bytes", "interests", "data", "nacks")
                }
                found[here, there] = Sent(wire["bytes"], wire["packets"], wire["drops"], **counts)
        return found

    def carried(self, here, there):
        """Bytes that one node has sent to another so far, with all headers."""
        ends = next(link for link in self._links if {here, there} == set(link["between"]))
        return self._wires(self.nodes[here])[ends["interface"]]["bytes"]

    def _wires(self, node):
        said = run(["tc", "-n", node.namespace, "-s", "-j", "qdisc", "show"])
        return {one["dev"]: one for one in json.loads(said) if one["kind"] == "tbf"}

    def _faces(self, node):
        return {face["name"]: face["sent"] for face in node.status()["faces"]}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._child.stop()


class Routers:
    """The processor and memory of some nodes' daemons during the `with` block."""

    def __init__(self, nodes):
        self._pids = {node.name: node.pid for node in nodes}
        self._seen = {name: [] for name in self._pids}
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def _look(self):
        while True:
            for name, pid in self._pids.items():
                looked = time.monotonic(), cpu_seconds(pid), memory_bytes(pid, "VmRSS")
                self._seen[name].append(looked)
            if self._end.wait(SAMPLE_SECONDS):
                return

    def parts(self, name, count=4):
        """For each part of the time the share of a processor in %, and the most memory in MB."""
        seen = self._seen[name]
        begin, span = seen[0][0], (seen[-1][0] - seen[0][0]) / count or 1
        found = []
        for part in range(count):
            edges = begin + part * span, begin + (part + 1) * span + SAMPLE_SECONDS / 2
            inside = [one for one in seen if edges[0] - SAMPLE_SECONDS / 2 <= one[0] <= edges[1]]
            time_taken = inside[-1][0] - inside[0][0] if inside else 0
            share = (inside[-1][1] - inside[0][1]) / time_taken if time_taken else 0
            found.append((share * 100, max((one[2] for one in inside), default=0) / 1e6))
        return found

    def most(self):
        """The peak memory of any of them, in bytes."""
        return max(looked[2] for seen in self._seen.values() for looked in seen)

    def cpu_seconds(self):
        """Processor seconds of the one that took most."""
        return max(seen[-1][1] - seen[0][1] for seen in self._seen.values())

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._end.set()
        self._thread.join()


def passed(after, before):
    """The traffic between two samples."""
    return {ends: after[ends] - before[ends] for ends in after}
