"""`weir traceroute`: three forwarders in a row, asked one after the other."""

import json
import socket
import struct
import unittest

from support import content, ndn, weir
from support.ports import free_udp_port
from tools import NOT_FOUND, PATIENCE, USAGE, Tools

KEYWORD, SEQUENCE = 32, 58
# The second forwarder of the row with this name does not reply.
SILENT = "quiet"


class Traceroute(Tools):
    """Names under /far lead from the first forwarder to the third."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        ports = {name: free_udp_port() for name in ("one", "two", SILENT, "three")}
        link = {name: f"udp4://127.0.0.1:{port}" for name, port in ports.items()}
        ways = {
            "one": ([("two", link["two"]), (SILENT, link[SILENT])], [("/far", "two")]),
            "two": ([("three", link["three"])], [("/far", "three")]),
            SILENT: ([("three", link["three"])], [("/silent", "three")]),
            "three": ([], []),
        }
        ways["one"][1].append(("/silent", SILENT))
        cls.row = {}
        for name, (faces, routes) in ways.items():
            # Each traceroute has a face of its own at the first forwarder, and asks it once.
            rate = 1 if name == "one" else 1000
            replies = {"name": f"/router/{name}", "rate": rate, "answer": name != SILENT}
            daemon = weir.Daemon(
                cls.program,
                cls.folder,
                name,
                faces=faces,
                routes=routes,
                listen={"udp": f"127.0.0.1:{ports[name]}", "tcp": "off"},
                sections={"traceroute": replies},
            )
            daemon.start()
            cls.addClassCleanup(daemon.process.kill)
            cls.row[name] = daemon

    def trace(self, name, *options, status=0):
        """The hops of a traceroute from the first forwarder."""
        argv = ("traceroute", name, "--socket", self.row["one"].socket, "--json", *options)
        done = self.run_weir(*argv)
        self.assertEqual(done.returncode, status, done.stderr)
        found = json.loads(done.stdout)
        self.assertEqual((found["name"], found["reached"]), (name, status == 0))
        self.assert_documented("weir traceroute", found)
        hops = found["hops"]
        self.assertEqual([hop["hop"] for hop in hops], list(range(1, len(hops) + 1)))
        return hops

    def publish(self, name):
        """Publish a small file at the last forwarder."""
        file = content.make(self.here / "small", 8000)
        return self.keep(self.row["three"].put(name, file))

    def test_all_forwarders_reply(self):
        """Each has its name; the last one has the producer. Stores that have Data are marked."""
        self.publish("/far/file")
        # Replies are not content: those to the first traceroute are in no store.
        self.trace("/far/file")
        hops = self.trace("/far/file")
        names = [f"/router/{name}" for name in ("one", "two", "three")]
        self.assertEqual([hop["name"] for hop in hops], names)
        self.assertEqual([hop["next"] for hop in hops], ["forwarder", "forwarder", "application"])
        self.assertEqual([hop["stored"] for hop in hops], [False] * 3)
        self.assertEqual(len({hop["node"] for hop in hops}), 3)
        self.assertTrue(all(hop["rtt_ms"] > 0 for hop in hops))
        self.row["one"].get("/far/file", self.here / "got").finish(PATIENCE)
        self.assertEqual([hop["stored"] for hop in self.trace("/far/file")], [True] * 3)
        self.assertEqual(len(self.trace("/far/file", "--hops", "2", status=NOT_FOUND)), 2)

    def test_lines_for_people(self):
        """One line per forwarder."""
        self.publish("/far/lines")
        done = self.run_weir("traceroute", "/far/lines", "--socket", self.row["one"].socket)
        lines = done.stdout.splitlines()
        self.assertEqual((done.returncode, len(lines), done.stderr), (0, 3, ""))
        self.assertRegex(lines[0], r"\A  1  /router/one  \d+\.\d{3} ms\Z")
        self.assertRegex(lines[2], r"\A  3  /router/three  \d+\.\d{3} ms, the producer is here\Z")

    def test_the_end_of_the_routes(self):
        """The forwarder without a route is the last one."""
        hops = self.trace("/far/none", status=NOT_FOUND)
        self.assertEqual((len(hops), hops[-1]["next"]), (3, "none"))
        hops = self.trace("/elsewhere", status=NOT_FOUND)
        self.assertEqual((len(hops), hops[-1]["next"]), (1, "none"))

    def test_a_forwarder_that_does_not_reply(self):
        """It rejects the probe like other Interests without a way, and the next one replies."""
        self.publish("/silent/file")
        hops = self.trace("/silent/file")
        self.assertEqual(
            [(hop["name"], hop["rejected"]) for hop in hops],
            [("/router/one", None), (None, "no route"), ("/router/three", None)],
        )

    def test_replies_are_limited(self):
        """A hundred probes at once have a few replies, and the forwarder goes on."""
        one = self.row["one"]
        before = one.status()["drops"].get("hop-limit", 0)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as attacker:
            attacker.connect(str(one.socket))
            for number in range(100):
                attacker.sendall(probe(number))
            # The forwarder handles what is sent before this request.
            self.assertEqual(self.trace("/elsewhere", status=NOT_FOUND)[0]["next"], "none")
        self.assertGreater(one.status()["drops"]["hop-limit"], before + 50)

    def test_bad_input_has_a_message(self):
        """A name that no packet takes; no forwarder to ask."""
        trace = ("traceroute", "/" + "a" * 8795, "--socket", self.row["one"].socket)
        self.rejected(USAGE, ["does not fit into a packet", "shorter name"], *trace)
        done = self.run_weir(*trace[:1], "/a", *trace[2:], "--hops", "0")
        self.assertEqual(done.returncode, USAGE)


def probe(number):
    """A probe that ends at the first forwarder."""
    sequence = struct.pack(">Q", 1 << 63 | number)
    parts = ((8, b"elsewhere"), (KEYWORD, b"traceroute"), (SEQUENCE, sequence))
    name = ndn.tlv(7, b"".join(ndn.tlv(kind, value) for kind, value in parts))
    fields = ndn.tlv(0x0A, struct.pack(">I", number)) + ndn.tlv(0x22, b"\x01")
    return ndn.tlv(5, name + fields)


if __name__ == "__main__":
    unittest.main()
