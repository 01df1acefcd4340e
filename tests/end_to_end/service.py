"""A daemon as a service: what its supervisor is told, its metrics, its configuration read again."""

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

from support import content, weir
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
        self.heard = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(self.heard.close)
        self.heard.bind(str(place))
        self.heard.settimeout(PATIENCE)
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
        )
        self.daemon.start()
        self.addCleanup(self.daemon.process.kill)
        self.assertEqual(self.told(), "READY=1")

    def told(self):
        """The next thing that the supervisor is told."""
        return self.heard.recv(4096).decode()

    def ask(self, path="/metrics", method="GET"):
        """Status and text."""
        url = f"http://{self.metrics}{path}"
        request = urllib.request.Request(url, method=method)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.read().decode()

    def test_supervisor_hears_of_begin_reload_and_end(self):
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
        """Every sample's family was introduced before it; other paths and methods are refused."""
        status, text = self.ask()
        self.assertEqual(status, 200)
        known = set()
        for line in text.splitlines():
            if line.startswith("# TYPE "):
                known.add(line.split()[2])
            elif not line.startswith("#"):
                sample = re.fullmatch(r'([a-z_]+)(\{[a-z]+=".*"\})? (\d+)', line)
                self.assertIsNotNone(sample, line)
                self.assertIn(sample[1], known)
        self.assertIn('weir_face_up{face="2",uri="udp4://127.0.0.1:9"} 1', text)
        self.assertEqual(self.ask("/")[0], 404)
        self.assertEqual(self.ask(method="POST")[0], 405)

    def test_collector_that_says_nothing_does_not_stop_others(self):
        """Connections that send nothing end by themselves."""
        host, _, port = self.metrics.rpartition(":")
        with socket.create_connection((host, int(port))):
            self.assertEqual(self.ask()[0], 200)
