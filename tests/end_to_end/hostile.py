"""Hostile and mistaken inputs to the command line and to files that the programs read."""

import os
import signal
import subprocess

from support import content
from support.children import wait_until
from tools import FAILED, FILE, INTERRUPTED, NOT_FOUND, USAGE, Tools, catches


class Hostile(Tools):
    """One message, the right exit code, and nothing left behind."""

    def configured(self, text):
        """A configuration file with this text."""
        path = self.here / "daemon.toml"
        path.write_text(text, encoding="utf-8")
        return path

    def test_names(self):
        """A name that no packet takes is rejected at once. A long one is asked for."""
        long = "/" + "a" * 9000
        self.rejected(USAGE, ["room for", "shorter name"], *self.on_daemon("get", long, "-o", "x"))
        command = self.on_daemon("get", "/" + "a" * 8700, "-o", "x")
        self.rejected(NOT_FOUND, ["no route leads to"], *command)
        self.assertEqual(os.listdir(self.here), [])
        long, parts = "/" + "a" * 8780, ["does not fit into a packet", "shorter name"]
        self.rejected(USAGE, parts, *self.on_daemon("strategy", "set", long, "multicast"))
        self.rejected(USAGE, parts, *self.on_daemon("cs", "erase", long))

    def test_output_names(self):
        """Files that cannot be written are named, with the reason, before anything is fetched."""
        self.put("/small/file", content.make(self.folder / "small", 1))
        (self.here / "folder").mkdir()
        (self.here / "loop").symlink_to("loop")
        for target, part in (
            ("new/", "there is no such folder"),
            ("folder/", "it is a folder"),
            (".", "it is a folder"),
            ("loop", "Too many levels of symbolic links"),
            ("loop/file", "Too many levels of symbolic links"),
            ("x" * 300, "File name too long; choose another name"),
            ("/proc/file", "/proc/file"),
        ):
            with self.subTest(target=target):
                command = self.on_daemon("get", "/small/file", "-o", target)
                self.rejected(FILE, [f"cannot write {target}", part, "-o FILE"], *command)
        command = self.on_daemon("get", "/small/file", "-o", "same", "--record", "same")
        self.rejected(USAGE, ["both output and record", "--record"], *command)
        self.assertEqual(set(os.listdir(self.here)), {"folder", "loop"})

    def test_endless_files(self):
        """Devices without an end, and files of a terabyte, are no configurations and no keys."""
        huge = self.here / "huge"
        with open(huge, "wb") as file:
            file.truncate(1 << 40)
        for endless in ("/dev/zero", huge):
            with self.subTest(endless=endless):
                parts = [f"cannot read the configuration {endless}", "more than 16 MB"]
                self.rejected(USAGE, parts, "daemon", "--check", "--config", endless)
                section = f'[[authorize]]\nfrom = "remote"\nkey = "{endless}"\n'
                command = ("daemon", "--check", "--config", self.configured(section))
                self.rejected(FAILED, [f"certificate {endless}", "more than 16 MB"], *command)
                section = f'[[authorize]]\nfrom = "remote"\ntrust = "{endless}"\n'
                command = ("daemon", "--check", "--config", self.configured(section))
                self.rejected(FAILED, [f"trust rules {endless}", "more than 16 MB"], *command)
        command = self.on_daemon("get", "/a", "--trust", huge)
        self.rejected(FILE, [f"the trust anchor {huge}", "more than 16 MB"], *command)

    def test_many_segments(self):
        """Ctrl-C ends the preparation of more segments than memory has room for."""
        huge = self.here / "huge"
        with open(huge, "wb") as file:
            file.truncate(100_000_000_000)
        argv = self.on_daemon("put", "/huge", huge, "--segment-size", "1 B")
        argv = [str(self.program), *map(str, argv)]
        with subprocess.Popen(argv, stderr=subprocess.PIPE, text=True) as put:
            wait_until(lambda: catches(put.pid, signal.SIGINT), "the signal to be expected")
            put.send_signal(signal.SIGINT)
            said = put.stderr.read()
        self.assertEqual(put.returncode, INTERRUPTED)
        self.assertIn("nothing was published", said)

    def test_links_to_the_socket(self):
        """A link that cannot be made is named as one, and the socket is removed again."""
        for link, part in (("/proc/link", "/proc/link"), (f"{self.here}/{'l' * 300}", "too long")):
            with self.subTest(link=link):
                unix = self.here / "s"
                text = f'[listen]\nudp = "off"\ntcp = "off"\nunix = "{unix}"\n'
                config = self.configured(text + f'unix_links = "{link}"\n')
                parts = ["cannot make the symbolic link", part, "`unix_links` under [listen]"]
                done = self.run_weir("daemon", "--config", config)
                self.assertEqual(done.returncode, FAILED, done.stderr)
                *_, last = done.stderr.splitlines(keepends=True)
                self.assert_message(last, parts)
                self.assertFalse(unix.exists(), "left behind")
