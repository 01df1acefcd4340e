"""`weir doctor`: the host, the forwarder and the keys, with and without faults."""

import contextlib
import fcntl
import json
import os
import pty
import re
import resource
import struct
import subprocess
import termios

from support.children import wait_until
from tools import FAILED, PATIENCE, Tools

# Checks that every host has, whatever their results.
ALWAYS = ["receive-buffer", "send-buffer", "open-files", "inotify-watches", "inotify-instances"]
ALWAYS += ["ethernet", "udp-gso", "udp-gro", "mtu", "clock", "clock-synchronised", "forwarder"]
ALWAYS += ["home-folder", "keys-folder", "free-space", "default-key"]
RESULTS = {"good", "advice", "wrong", "unchecked"}
# Files that containers may lack, by folders that hide them.
HIDDEN = 'for at in /proc/sys /sys; do mount -t tmpfs none "$at" || exit; done; exec "$@"'


class Doctor(Tools):
    """One daemon, a home that is empty at first, and faults one at a time."""

    def setUp(self):
        super().setUp()
        self.home = self.here / "home"

    def doctor(self, *options, status=0, **run):
        """All checks, after their form has been checked."""
        done = self.run_weir("doctor", "--json", *options, **run)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        # The results say what is wrong; the failure is for programs alone.
        self.assertEqual(done.stderr.count("\n"), int(status != 0), done.stderr)
        checks = json.loads(done.stdout)
        for check in checks:
            self.assertIn(check["result"], RESULTS)
            self.assertTrue(check["found"] and check["wanted"], check)
            if check["result"] in ("advice", "wrong"):
                self.assertTrue(check["change"], check)
        wrong = any(check["result"] == "wrong" for check in checks)
        self.assertEqual(wrong, status == FAILED)
        return checks

    def one(self, checks, name):
        """The only check of this name."""
        found = [check for check in checks if check["check"] == name]
        self.assertEqual(len(found), 1, checks)
        return found[0]

    def new_default_key(self):
        """Make a key, and return its name."""
        made = self.run_weir("key", "new", "/alice", "--default")
        self.assertEqual(made.returncode, 0, made.stderr)
        return json.loads(self.run_weir("key", "list", "--json").stdout)[0]

    def test_an_empty_home_without_a_forwarder_is_no_failure(self):
        """Both are advice, and looking makes no folder."""
        checks = self.doctor()
        self.assertEqual(set(ALWAYS) - {check["check"] for check in checks}, set())
        self.assert_documented("weir doctor", checks)
        forwarder = self.one(checks, "forwarder")
        self.assertEqual(forwarder["result"], "advice")
        self.assertIn("weir daemon", forwarder["change"])
        key = self.one(checks, "default-key")
        self.assertEqual((key["result"], key["found"]), ("advice", "no keys"))
        self.assertFalse(self.home.exists())

    def test_a_daemon_and_a_key_are_good(self):
        """The forwarder's address comes from the option, or from the environment."""
        key = self.new_default_key()
        address = f"unix://{self.daemon.socket}"
        environment = {**os.environ, "NDN_CLIENT_TRANSPORT": address}
        for options, run in [(("--socket", self.daemon.socket), {}), ((), {"env": environment})]:
            checks = self.doctor(*options, **run)
            forwarder = self.one(checks, "forwarder")
            self.assertEqual((forwarder["result"], forwarder["subject"]), ("good", address))
            self.assertRegex(forwarder["found"], r"\Aweir-\d+\.\d+\.\d+\Z")
            self.assertEqual(self.one(checks, "default-key")["found"], key["name"])
            self.assertEqual(self.one(checks, "private-keys")["result"], "good")
            self.assertEqual(self.one(checks, "certificates")["result"], "good")
            self.assertEqual(self.one(checks, "forwarder-folder")["result"], "good")

    def test_a_socket_for_everybody_is_advised_against(self):
        """Its mode decides; the folder around it must belong to its user."""
        mode = self.daemon.socket.stat().st_mode & 0o777
        self.addCleanup(self.daemon.socket.chmod, mode)
        for mode, result in [(0o666, "advice"), (0o660, "good")]:
            self.daemon.socket.chmod(mode)
            checks = self.doctor("--socket", self.daemon.socket)
            self.assertEqual(self.one(checks, "forwarder-socket")["result"], result)
        self.addCleanup(self.folder.chmod, self.folder.stat().st_mode & 0o7777)
        self.folder.chmod(0o777)
        checks = self.doctor("--socket", self.daemon.socket, status=FAILED)
        folder = self.one(checks, "forwarder-folder")
        self.assertEqual(folder["result"], "wrong")
        self.assertEqual(folder["change"], f"chmod o-w {self.folder}")

    def test_another_user_may_not_connect(self):
        """The command that admits an ordinary user is printed."""
        before = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        # Others may pass the folder on the way to the socket, and may not use it.
        for path, mode in [(self.folder, 0o711), (self.daemon.socket, 0o660)]:
            self.addCleanup(path.chmod, path.stat().st_mode & 0o7777)
            path.chmod(mode)
        if self.run_weir("--version", before=before).returncode:
            self.skipTest("this system does not change the user")
        address = ("--socket", self.daemon.socket)
        checks = self.doctor(*address, before=before, status=FAILED)
        forwarder = self.one(checks, "forwarder")
        self.assertEqual(forwarder["result"], "wrong")
        self.assertRegex(forwarder["change"], r"\Ausermod --append --groups \S+ \S+, and log in")
        # The home is in a folder that this user may not enter.
        for name in ("home-folder", "keys-folder", "private-keys"):
            self.assertEqual(self.one(checks, name)["result"], "unchecked")

    def test_a_certificate_that_ends_is_renewed(self):
        """Soon is advice; over is wrong; the command that is printed repairs it."""
        key = self.new_default_key()["name"]
        self.assertEqual(self.run_weir("key", "renew", key, "--days", "10").returncode, 0)
        soon = self.one(self.doctor(), "certificates")
        self.assertEqual((soon["result"], soon["subject"]), ("advice", key))
        self.assertEqual(self.run_weir("key", "renew", key, "--days", "0").returncode, 0)
        wait_until(lambda: self.run_weir("doctor").returncode == FAILED, "the end of a certificate")
        expired = self.one(self.doctor(status=FAILED), "certificates")
        self.assertEqual((expired["result"], expired["subject"]), ("wrong", key))
        self.assertRegex(expired["found"], r"\Aexpired \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\Z")
        program, *arguments = expired["change"].split(" ")
        self.assertEqual(program, "weir")
        self.assertEqual(self.run_weir(*arguments).returncode, 0)
        self.assertEqual(self.one(self.doctor(), "certificates")["result"], "good")

    def test_a_private_key_that_others_can_read_is_wrong(self):
        """The command that is printed closes it."""
        secret = self.new_default_key()["secret"]
        os.chmod(secret, 0o644)
        check = self.one(self.doctor(status=FAILED), "private-keys")
        self.assertEqual((check["result"], check["subject"]), ("wrong", secret))
        self.assertEqual(check["found"], "mode 644")
        command = check["change"].partition(";")[0]
        self.assertEqual(command, f"chmod 600 {secret}")
        subprocess.run(command.split(" "), check=True, timeout=PATIENCE)
        self.assertEqual(self.one(self.doctor(), "private-keys")["result"], "good")

    def test_a_folder_that_others_can_write_is_wrong(self):
        """The folder of the keys, and the home around it."""
        self.new_default_key()
        for folder, name in [(self.home, "home-folder"), (self.home / "keys", "keys-folder")]:
            folder.chmod(0o777)
            check = self.one(self.doctor(status=FAILED), name)
            self.assertEqual((check["result"], check["change"]), ("wrong", f"chmod go-w {folder}"))
            folder.chmod(0o700)
        self.doctor()

    def test_few_open_files_are_reported(self):
        """Below 64 they are wrong."""
        for limit, result, status in [(32, "wrong", FAILED), (128, "advice", 0)]:
            lower = self.limits(limit)
            check = self.one(self.doctor(status=status, preexec_fn=lower), "open-files")
            self.assertEqual((check["result"], check["found"]), (result, str(limit)))
            self.assertTrue(check["change"].startswith("ulimit -n "), check)

    def limits(self, files):
        """A function that lowers the limit of open files."""
        return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    def test_settings_hidden_by_a_container_are_unchecked(self):
        """Without /sys and /proc/sys there are no numbers, and no failure."""
        before = ["unshare", "--mount", "sh", "-c", HIDDEN, "sh"]
        if subprocess.run([*before, "true"], check=False, capture_output=True).returncode:
            self.skipTest("this system hides no folders")
        checks = self.doctor(before=before)
        for name in ["receive-buffer", "send-buffer", "inotify-watches", "inotify-instances"]:
            check = self.one(checks, name)
            self.assertEqual(check["result"], "unchecked", check)
            self.assertTrue(check["found"].startswith("cannot read /proc/sys/"), check)

    def test_every_width_shows_each_check_and_each_change(self):
        """No line is wider than the terminal; what is to be typed is complete."""
        for columns in (100, 80, 40):
            shown = self.on_terminal(columns)
            words = shown.split()
            self.assertTrue(set(ALWAYS) <= set(words), shown)
            self.assertRegex(shown, r"\A0 wrong, \d+ advice, \d+ good, \d+ not\s")
            self.assertLessEqual(max(map(len, shown.splitlines())), columns, shown)
            text = re.sub(r"\s+", " ", shown)
            self.assertIn("change: weir key new /your/name --default", text)

    def on_terminal(self, columns):
        """The output in a terminal of this width."""
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        argv, shown = [str(self.program), "doctor"], b""
        with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs) as run:
            os.close(theirs)
            # The system reports the end of the last program as an error.
            with contextlib.suppress(OSError):
                while part := os.read(ours, 65536):
                    shown += part
            self.assertEqual(run.wait(PATIENCE), 0, shown)
        return shown.decode().replace("\r", "")
