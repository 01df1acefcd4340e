"""Forged metadata, roots and segments in caches, and hostile producers on a shared prefix."""

import os
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

from support import content, namespaces, weir
from support.children import Child, run, wait_until

PREFIX, NAME = "/alice", "/alice/file"
PORT = 6363
# A fetch takes a second on an idle machine, and some more where each segment has to be asked for
# twice; a loaded machine gets a multiple.
PATIENCE = 60
NOT_VERIFIED = 4
FORGER = Path(__file__).parent / "_forger.py"
# In milliseconds since 1970: the versions of the files.
OLD, NEW = 1_700_000_000_000, 1_700_000_500_000


class Stage(unittest.TestCase):
    """consumer -- middle -- honest, and a hostile host beside the honest one."""

    size = 300_000

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="weir-forged-")))
        # Before its home is another one: it may have to be built.
        self.program = weir.program()
        home = {"HOME": str(self.folder), "WEIR_HOME": str(self.folder)}
        self.enterContext(unittest.mock.patch.dict(os.environ, home))
        network = self.enterContext(namespaces.Network())
        names = ("consumer", "middle", "honest", "hostile")
        self.hosts = {name: network.host(name) for name in names}
        self.daemons = {}
        for name in names[:3]:
            listen = {"tcp": "off"}
            self.daemons[name] = weir.Daemon(
                self.program, self.folder, name, self.hosts[name], listen=listen
            )
        self.uris = {}
        for name in ("consumer", "honest", "hostile"):
            cable = network.cable(self.hosts["middle"], self.hosts[name])
            self.uris[name] = f"udp4://{cable.addresses[1]}:{PORT}"
            self.daemons["middle"].faces.append((name, self.uris[name]))
            if name == "consumer":
                daemon = self.daemons[name]
                daemon.faces.append(("middle", f"udp4://{cable.addresses[0]}:{PORT}"))
                daemon.routes.append((PREFIX, "middle"))
        certificate = run([self.program, "key", "new", PREFIX, "--default"])
        self.certificate = self.folder / "alice.cert"
        self.certificate.write_text(certificate, encoding="utf-8")
        for daemon in self.daemons.values():
            self.enterContext(daemon)

    def route(self, verb, name, *options):
        """Add a route of the middle daemon to a host, or remove it."""
        middle = self.daemons["middle"]
        argv = [self.program, "route", verb, PREFIX, self.uris[name], *options]
        run(middle.command(*argv, "--socket", middle.socket))

    def forger(self, kind):
        """Start the hostile producer."""
        log = self.folder / f"forger-{kind}.log"
        argv = self.hosts["hostile"].command(sys.executable, FORGER, PORT, kind)
        child = self.enterContext(Child(argv, log))
        wait_until(lambda: "ready" in log.read_text(encoding="utf-8"), "the forger to listen")
        return child

    def publish(self, version, daemon="honest"):
        """Publish a file of that version; the file."""
        sent = content.make(self.folder / f"sent-{version}", self.size)
        os.utime(sent, ns=(version * 10**6, version * 10**6))
        self.enterContext(self.daemons[daemon].put(NAME, sent))
        return sent

    def fetch(self, name, *options):
        """Fetch under the trusted certificate; the running fetch."""
        trust = ("--trust", self.certificate)
        return self.daemons["consumer"].get(name, self.folder / "got", options=trust + options)

    def assert_fetched(self, name, sent, version):
        """It comes whole, signed, in that version; the summary."""
        summary = self.fetch(name).finish(PATIENCE).summary
        self.assertEqual(content.sha256(self.folder / "got"), content.sha256(sent))
        self.assertEqual(summary["name"], f"{NAME}/v={version}")
        self.assertEqual(summary["verified"], "key")
        (self.folder / "got").unlink()
        return summary


class Poisoned(Stage):
    """Leftovers of hostile producers, and effects of newer versions."""

    def test_poisoned_caches(self):
        """Attack: before the honest producer is there, a hostile one fills all caches on the way
        with metadata of version 2^63, roots and segments, fresh for an hour.

        Service: the object is fetched by its name and by its version, under a trusted key, without
        erasing a cache.
        """
        forger = self.forger("static")
        self.route("add", "hostile")
        for name in (NAME, f"{NAME}/v={OLD}"):
            poisoned = self.fetch(name, "--patience", "2s")
            self.assertEqual(poisoned.child.wait(PATIENCE), NOT_VERIFIED)
        forger.kill()
        self.route("remove", "hostile")
        self.route("add", "honest")
        before = self.daemons["middle"].status()["content_store"]["entries"]
        self.assertGreater(before, 0, "nothing was poisoned")
        sent = self.publish(OLD)
        for name in (NAME, f"{NAME}/v={OLD}"):
            self.assertGreater(self.assert_fetched(name, sent, OLD)["forged"], 0)

    def test_an_old_version(self):
        """Attack: none. A producer announces a newer version, and another one has the old one.

        Service: each version is fetched by its name, and the newer one without.
        """
        old = self.publish(OLD)
        new = self.publish(NEW, "middle")
        self.route("add", "honest", "--cost", "10")
        self.assert_fetched(NAME, new, NEW)
        self.assert_fetched(f"{NAME}/v={NEW}", new, NEW)
        self.assert_fetched(f"{NAME}/v={OLD}", old, OLD)


class Beside(Stage):
    """Hostile and honest producers at the same time."""

    size = 60_000

    def beside(self, kind, strategy):
        """The hostile producer is nearer than the honest one."""
        self.forger(kind)
        middle = self.daemons["middle"]
        argv = [self.program, "strategy", "set", PREFIX, strategy, "--socket", middle.socket]
        run(middle.command(*argv))
        self.route("add", "hostile", "--cost", "1")
        self.route("add", "honest", "--cost", "10")
        sent = self.publish(OLD)
        for name in (f"{NAME}/v={OLD}", NAME):
            self.assert_fetched(name, sent, OLD)

    def test_the_same_forgeries(self):
        """Attack: a hostile producer that is nearer answers everything, always alike.

        Service: the object is fetched by its version and by its name.
        """
        self.beside("static", "best-route")

    def test_new_forgeries(self):
        """Attack: as before, but each answer is a new packet.

        Service: the object is fetched by its version and by its name.
        """
        self.beside("fresh", "best-route")
