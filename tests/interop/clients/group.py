"""State Vector Sync v3: a group of Weir's, NDNts' and ndnd's members."""

import json
import os
import subprocess
import tempfile
import unittest
import unittest.mock
from pathlib import Path

from clients import NDNTS, TOOLS
from support import weir
from support.children import Failed, wait_until

GROUP = "/demo/group"
MEMBER = TOOLS / "ndnd-group"
PATIENCE = 30


def plain(name):
    """A name without the types of its components, which only NDNts writes."""
    return name.replace("8=", "")


class Member:
    """A member of another project: it prints each state as a line of JSON."""

    def __init__(self, test, argv, name, certificate):
        self.name, self.certificate = name, certificate
        self.out = test.folder / f"{name.strip('/').replace('/', '-')}.out"
        with open(self.out, "wb") as out, open(self.out.with_suffix(".log"), "wb") as log:
            self.process = subprocess.Popen(
                [str(word) for word in argv], stdin=subprocess.PIPE, stdout=out, stderr=log
            )
        test.addCleanup(self.process.stdin.close)
        test.addCleanup(self.process.wait)
        test.addCleanup(self.process.kill)

    def publish(self, line="publication"):
        """Publish once."""
        self.process.stdin.write(f"{line}\n".encode())
        self.process.stdin.flush()

    @property
    def state(self):
        """The last publications, by member and start."""
        lines = self.out.read_text(encoding="utf-8").split("\n")[:-1]
        entries = json.loads(lines[-1]) if lines else []
        return {(plain(entry["name"]), entry["boot"]): entry["seq"] for entry in entries}


class Chat(Member):
    """`weir chat`, asked for its state."""

    @property
    def state(self):
        self.publish("/who")
        lines = self.out.read_text(encoding="utf-8").split("\n")[:-1]
        members = [line for line in map(json.loads, lines) if line["event"] == "members"]
        entries = members[-1]["members"] if members else []
        return {(entry["member"], entry["boot"]): entry["seq"] for entry in entries}


class Group(unittest.TestCase):
    """All members at one daemon."""

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="weir-group-")))
        self.weir = weir.program()
        listen = {"udp": "off", "tcp": "off"}
        self.daemon = weir.Daemon(self.weir, self.folder, "node", listen=listen)
        self.enterContext(self.daemon)

    def other(self, argv, name):
        """A member of another project; its certificate is there when it has started."""
        certificate = self.folder / f"{name.rpartition('/')[2]}.cert"
        member = Member(self, [*argv, GROUP, name, certificate], name, certificate)
        self.until(lambda: certificate.exists() and certificate.read_bytes(), member, "to start")
        return member

    def until(self, condition, member, what):
        """Wait, and print the member's messages if that is in vain."""
        try:
            wait_until(condition, f"{member.name} {what}", PATIENCE)
        except Failed as failed:
            log = member.out.with_suffix(".log").read_text(encoding="utf-8")[-2000:]
            raise Failed(f"{failed}\n{member.state}\n{log}") from None

    def chat(self, *others):
        """A member of Weir, which trusts the others."""
        home = {"WEIR_HOME": str(self.folder / "home")}
        self.enterContext(unittest.mock.patch.dict(os.environ, home))
        subprocess.run([self.weir, "key", "new", "/demo/weir"], check=True, capture_output=True)
        argv = [self.weir, "chat", GROUP, "--sign", "/demo/weir", "--trust", "/demo/weir"]
        for other in others:
            argv += ["--trust", other.certificate]
        argv += ["--socket", self.daemon.socket, "--heartbeat", "500 ms", "--json"]
        return Chat(self, argv, "/demo/weir", None)

    def agree(self, members, counts):
        """Wait until all members have the same state, with these numbers of publications."""

        def equal():
            states = [member.state for member in members]
            by_name = {name: seq for (name, _), seq in states[0].items()}
            return states.count(states[0]) == len(states) and by_name == counts

        for member in members:
            self.until(equal, member, f"to have {counts}")

    def exchange(self, others):
        """All members publish, and all of them have the same state after each round."""
        chat = self.chat(*others)
        members = [chat, *others]
        # The first publication of `weir chat` says that it is there.
        counts = {member.name: 0 for member in others} | {chat.name: 1}
        for _ in range(3):
            for member in members:
                for _ in range(2):
                    member.publish()
                    counts[member.name] += 1
            self.agree(members, counts)

    def test_ndnts_and_weir_have_one_state(self):
        """Each verifies that the other's packets are in the form of the specification."""
        self.exchange([self.other([*NDNTS, self.daemon.socket, "group"], "/demo/ndnts")])

    @unittest.skipUnless(MEMBER.exists(), "ndnd's library is not installed")
    def test_ndnd_and_weir_have_one_state(self):
        """The name of ndnd's Data packets is not the specification's."""
        self.exchange([self.other([MEMBER, self.daemon.socket], "/demo/ndnd")])

    @unittest.skipUnless(MEMBER.exists(), "ndnd's library is not installed")
    def test_all_three_have_one_state(self):
        """NDNts rejects the names of ndnd's Data packets, and learns its state from Weir."""
        ndnts = self.other([*NDNTS, self.daemon.socket, "group"], "/demo/ndnts")
        self.exchange([ndnts, self.other([MEMBER, self.daemon.socket], "/demo/ndnd")])


if __name__ == "__main__":
    unittest.main()
