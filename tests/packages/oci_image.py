"""The OCI image: its layout, and a container of it."""

import hashlib
import json
import os
import re
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path

import packages
from support import content
from support.children import Child, run, wait_until

PROGRAM = "/usr/bin/weir"
# A runtime's own file systems that need neither control groups nor devices.
MOUNTS = ("/proc", "/dev", "/dev/pts", "/dev/shm")


class Image(unittest.TestCase):
    """The layout in a folder, and its one image."""

    @classmethod
    def setUpClass(cls):
        """Skip all of it if there is none."""
        packages.need("image")

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="weir-")))
        self.layout = self.folder / "layout"
        with tarfile.open(packages.path(".oci.tar")) as archive:
            archive.extractall(self.layout, filter="data")
        index = json.loads((self.layout / "index.json").read_text("utf-8"))
        (entry,) = index["manifests"]
        self.tag = entry["annotations"]["org.opencontainers.image.ref.name"]
        self.manifest = self.blob(entry)
        self.image = self.blob(self.manifest["config"])

    def blob(self, descriptor):
        """The JSON object that a descriptor names."""
        return json.loads((self.layout / self.place(descriptor["digest"])).read_text("utf-8"))

    @staticmethod
    def place(digest):
        """Where the layout has the content of a digest."""
        return f"blobs/{digest.replace(':', '/')}"

    def test_layout_has_exactly_its_blobs(self):
        """Each with its size and digest."""
        index = json.loads((self.layout / "index.json").read_text("utf-8"))
        named = [*index["manifests"], self.manifest["config"], *self.manifest["layers"]]
        for descriptor in named:
            data = (self.layout / self.place(descriptor["digest"])).read_bytes()
            self.assertEqual(len(data), descriptor["size"])
            self.assertEqual(f"sha256:{hashlib.sha256(data).hexdigest()}", descriptor["digest"])
        found = {f"blobs/sha256/{path.name}" for path in (self.layout / "blobs/sha256").iterdir()}
        self.assertEqual(found, {self.place(descriptor["digest"]) for descriptor in named})
        marker = json.loads((self.layout / "oci-layout").read_text("utf-8"))
        self.assertEqual(marker, {"imageLayoutVersion": "1.0.0"})

    def test_container_publishes_and_fetches(self):
        """As a user without rights, on the port that the image exposes."""
        bundle = self.unpacked()
        self.assertRegex(self.image["config"]["User"], r"^[1-9]\d*:[1-9]\d*$")
        runtime = ["runc", "--root", self.folder / "state"]
        name = f"weir-packages-{os.getpid()}"
        inside = [*runtime, "exec", name, PROGRAM]
        log = self.folder / "daemon.log"
        with Child([*runtime, "run", "--bundle", bundle, name], log) as container:
            try:
                wait_until(lambda: says(log, "forwarder is up") or not container.running, "it")
                self.assertTrue(container.running, container.last_words())
                port, protocol = self.exposed()
                self.assertRegex(log.read_text("utf-8"), rf"{protocol}4://0\.0\.0\.0:{port}\b")
                self.check_rights(json.loads(run([*runtime, "state", name]))["pid"])
                for size in packages.SIZES:
                    self.transfer(bundle, inside, size)
            finally:
                # Its processes are not this one's children.
                subprocess.run([*runtime, "delete", "--force", name], check=True)
        written = [path for path in bundle.glob("rootfs/**/*") if path.stat().st_mode & 0o2]
        self.assertEqual([path for path in written if path.name != "tmp"], [])

    def unpacked(self):
        """A bundle for a runtime, without a terminal."""
        bundle = self.folder / "bundle"
        run(["umoci", "unpack", "--image", f"{self.layout}:{self.tag}", bundle])
        path = bundle / "config.json"
        settings = json.loads(path.read_text("utf-8"))
        settings["process"]["terminal"] = False
        settings["mounts"] = [row for row in settings["mounts"] if row["destination"] in MOUNTS]
        del settings["linux"]["resources"]
        path.write_text(json.dumps(settings), encoding="utf-8")
        return bundle

    def exposed(self):
        """Port and protocol."""
        (exposed,) = self.image["config"]["ExposedPorts"]
        return exposed.split("/")

    def check_rights(self, pid):
        """The container's first process is of the image's user, which only its own group joins."""
        status = Path(f"/proc/{pid}/status").read_text("utf-8")
        user, group = self.image["config"]["User"].split(":")
        self.assertEqual(re.search(r"(?m)^Uid:\s+(.*)$", status)[1].split(), [user] * 4)
        self.assertEqual(re.search(r"(?m)^Gid:\s+(.*)$", status)[1].split(), [group] * 4)
        socket = Path(f"/proc/{pid}/root/run/nfd/nfd.sock").stat()
        self.assertEqual((socket.st_mode & 0o777, socket.st_uid), (0o660, int(user)))

    def transfer(self, bundle, inside, size):
        """A file from a publisher to a consumer, both in the container."""
        home = bundle / "rootfs/var/lib/weir"
        content.make(home / "file", size)
        (home / "file").chmod(0o644)
        log = self.folder / f"put-{size}.log"
        with Child([*inside, "put", f"/demo/{size}", "file", "--linger", "1 s"], log):
            wait_until(lambda: says(log, f"/demo/{size}"), "a publisher")
            run([*inside, "get", f"/demo/{size}", "-o", "copy"])
        self.assertEqual(content.sha256(home / "copy"), content.sha256(home / "file"))
        (home / "copy").unlink()


def says(log, words):
    """True if a program has printed that."""
    return words in log.read_text("utf-8", errors="replace")
