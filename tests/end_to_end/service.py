"""A daemon as a service: what its supervisor is told, its metrics, its configuration read again."""

import json
import os
import re
import signal
import socket
import tempfile
import unittest
import unittest.mock
import urllib.error
import urllib.request
from pathlib import Path

from support import content, ndn, weir
from support.children import wait_until
from support.ports import free_port

LISTEN = {"udp": "off", "tcp": "off"}
SIZE = content.MEGABYTE
PATIENCE = 60


class Service(unittest.TestCase):
    """One daemon and the test as its supervisor."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="weir-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        place = self.folder / "notify"
        self.received = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(self.received.close)
        self.received.bind(str(place))
        self.received.settimeout(PATIENCE)
        given = {"NOTIFY_SOCKET": str(place)}
        patch = unittest.mock.patch.dict(os.environ, given)
        patch.start()
        self.addCleanup(patch.stop)
        faces = [("nobody", "udp4://127.0.0.1:9")]
        self.metrics = f"127.0.0.1:{free_port()}"
        self.daemon = weir.Daemon(
            weir.program(),
            self.folder,
            "daemon",
            faces=faces,
            listen=LISTEN,
            sections={"metrics": {"listen": self.metrics}},
            about={"drain": "20 s"},
        )
        self.daemon.start()
        self.addCleanup(self.daemon.process.kill)
        self.assertEqual(self.told(), "READY=1")

    def told(self):
        """The next thing that the supervisor is told."""
        return self.received.recv(4096).decode()

    def ask(self, path="/metrics", method="GET", **fields):
        """Status and text."""
        url = f"http://{self.metrics}{path}"
        request = urllib.request.Request(url, method=method, headers=fields)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as rejected:
            return rejected.code, rejected.read().decode()

    def test_supervisor_is_notified_of_begin_reload_and_end(self):
        """READY=1 once it answers, RELOADING=1 and READY=1 for SIGHUP, STOPPING=1 at the end."""
        text = self.daemon.text().replace("127.0.0.1:9", "127.0.0.1:10")
        self.daemon.config.write_text(text, encoding="utf-8")
        os.kill(self.daemon.process.pid, signal.SIGHUP)
        self.assertRegex(self.told(), r"^RELOADING=1\nMONOTONIC_USEC=\d+$")
        self.assertEqual(self.told(), "READY=1")
        uris = [face["uri"] for face in self.daemon.status()["faces"]]
        self.assertIn("udp4://127.0.0.1:10", uris)
        self.assertNotIn("udp4://127.0.0.1:9", uris)
        os.kill(self.daemon.process.pid, signal.SIGTERM)
        self.assertEqual(self.told(), "STOPPING=1")

    def test_mistake_changes_nothing(self):
        """With a mistake in the file the daemon goes on as it was, and says where it is."""
        self.daemon.config.write_text("[[face]]\nuri = 'udp9://x'\n", encoding="utf-8")
        os.kill(self.daemon.process.pid, signal.SIGHUP)
        self.told()
        self.assertEqual(self.told(), "READY=1")
        uris = [face["uri"] for face in self.daemon.status()["faces"]]
        self.assertIn("udp4://127.0.0.1:9", uris)
        log = (self.folder / "daemon.log").read_text(encoding="utf-8")
        self.assertRegex(log, r"daemon\.toml.*2")
        self.assertIn("udp9", log)

    def test_metrics_are_what_prometheus_reads(self):
        """Every sample's family was introduced before it; other paths and methods are rejected."""
        status, text = self.ask()
        self.assertEqual(status, 200)
        known = set()
        for line in text.splitlines():
            if line.startswith("# TYPE "):
                known.add(line.split()[2])
            elif not line.startswith("#"):
                sample = re.fullmatch(r'([a-z_]+)(\{[a-z]+=".*"\})? (\d+(\.\d+)?)', line)
                self.assertIsNotNone(sample, line)
                self.assertIn(re.sub("_(bucket|sum|count)$", "", sample[1]), known)
        self.assertIn('weir_face_up{face="2",uri="udp4://127.0.0.1:9"} 1', text)
        self.assertEqual(self.ask("/")[0], 404)
        self.assertEqual(self.ask(method="POST")[0], 405)

    def reload(self, text):
        """Has the daemon read this as its configuration."""
        self.daemon.config.write_text(text, encoding="utf-8")
        os.kill(self.daemon.process.pid, signal.SIGHUP)
        self.told()
        self.assertEqual(self.told(), "READY=1")

    def health(self, path):
        """Status and object."""
        status, text = self.ask(path)
        return status, json.loads(text)

    def test_healthy_daemon_is_alive_and_ready(self):
        """It says where it listens; other methods and foreign pages are rejected."""
        status, alive = self.health("/healthz")
        self.assertEqual((status, alive["alive"], alive["problems"]), (200, True, []))
        status, ready = self.health("/readyz")
        self.assertEqual((status, ready["ready"], ready["problems"]), (200, True, []))
        self.assertEqual(ready["listening"], [f"unix://{self.daemon.socket}"])
        for path in ("/healthz", "/readyz"):
            self.assertEqual(self.ask(path, "POST")[0], 405)
            self.assertEqual(self.ask(path, "HEAD"), (200, ""))
            self.assertEqual(self.ask(path, Host="example.org")[0], 421)
            self.assertEqual(self.ask(path, Origin="http://example.org")[0], 403)

    def test_blocked_loop_is_not_alive(self):
        """The loop waits for a file that nothing writes, until something does."""
        text = self.daemon.text()
        self.daemon.config.unlink()
        os.mkfifo(self.daemon.config)
        os.kill(self.daemon.process.pid, signal.SIGHUP)
        self.assertRegex(self.told(), "^RELOADING=1")
        for path, what in (("/healthz", "alive"), ("/readyz", "ready")):
            status, said = self.health(path)
            self.assertEqual((status, said[what]), (503, False))
            self.assertRegex(said["problems"][0], "blocked")
        self.daemon.config.write_text(text, encoding="utf-8")
        self.assertEqual(self.told(), "READY=1")
        self.assertEqual([self.ask(path)[0] for path in ("/healthz", "/readyz")], [200, 200])

    def test_configuration_that_cannot_be_applied_is_named(self):
        """Without a listener it is not ready; with a mistake it goes on as before."""
        whole = self.daemon.text()
        with socket.create_server(("127.0.0.1", 0)) as other:
            taken = other.getsockname()[1]
            self.reload(whole.replace('tcp = "off"', f'tcp = "127.0.0.1:{taken}"'))
            status, ready = self.health("/readyz")
            self.assertEqual((status, ready["ready"], len(ready["problems"])), (503, False, 1))
            self.assertIn(f"tcp4://127.0.0.1:{taken}", ready["problems"][0])
            self.assertEqual(self.health("/healthz")[0], 200)
            self.assertIn("weir_config_last_reload_successful 0\n", self.ask()[1])
        self.reload(whole + "[nothing]\n")
        status, ready = self.health("/readyz")
        self.assertEqual(status, 503, "the listener is missing all the same")
        self.assertRegex(ready["warnings"][0], "nothing")
        self.reload(whole)
        status, ready = self.health("/readyz")
        self.assertEqual((status, ready["problems"], ready["warnings"]), (200, [], []))
        self.assertIn("weir_config_last_reload_successful 1\n", self.ask()[1])

    def test_stopping_daemon_is_not_ready(self):
        """While it sends what is queued, it is alive and says that it ends."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer:
            peer.bind(("127.0.0.1", 0))
            port = peer.getsockname()[1]
            self.daemon.faces = [("slow", f"udp4://127.0.0.1:{port}", {"rate": "8 kbit/s"})]
            self.daemon.routes = [("/slow", "slow")]
            self.reload(self.daemon.text())
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as application:
                application.connect(str(self.daemon.socket))
                names = range(1000)
                asked = [ndn.interest("slow", number, nonce=number + 1) for number in names]
                application.sendall(b"".join(asked))
                waiting = re.compile(r"^weir_face_queue_packets.* [1-9]\d\d+$", re.MULTILINE)
                wait_until(lambda: waiting.search(self.ask()[1]), "packets to wait", PATIENCE)
                os.kill(self.daemon.process.pid, signal.SIGTERM)
                self.assertEqual(self.told(), "STOPPING=1")
                self.assertEqual(self.health("/healthz")[0], 200)
                status, ready = self.health("/readyz")
        self.assertEqual((status, ready["ready"], ready["listening"]), (503, False, []))
        self.assertRegex(ready["problems"][0], "stopping")

    def test_collector_that_says_nothing_does_not_stop_others(self):
        """Connections that send nothing end by themselves."""
        host, _, port = self.metrics.rpartition(":")
        with socket.create_connection((host, int(port))):
            self.assertEqual(self.ask()[0], 200)
