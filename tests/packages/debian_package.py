"""The Debian package in a small Debian system: installed, used, upgraded, removed, purged."""

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import packages
from machine import HOMES, WAITING, Machine, installation
from support import content, weir
from support.children import Failed, run, wait_until

WANTED = "/etc/systemd/system/multi-user.target.wants"
# By Debian's policy, a removed package keeps its configuration, so also whether it was enabled.
KEPT = {"/etc/weir", "/etc/weir/weir.toml", f"{WANTED}/weir.service"}
SOCKET = "/run/nfd/nfd.sock"
CONFIGURATION = "/etc/weir/weir.toml"
# In tenths, as `systemd-analyze security` counts: 0 is closed, 100 is open.
EXPOSURE = 20
# Places with files of the package manager and of programs that run meanwhile.
CHANGING = "|".join(
    (
        r"/(proc|sys|dev|run|tmp)(/|$)",
        r"/var/(cache|log|tmp)/",
        r"/var/lib/(dpkg|systemd)/",
        # The former versions of the files of users, and the lock of them.
        r"/etc/(passwd|group|shadow|gshadow|subuid|subgid)-$",
        r"/etc/\.pwd\.lock$",
    )
)


def changed(folder, version, configuration=None):
    """The package with another version, and a default configuration with more lines."""
    tree = folder / f"tree-{version}"
    run(["dpkg-deb", "--raw-extract", packages.path(".deb"), tree])
    control = tree / "DEBIAN/control"
    text = re.sub(r"(?m)^Version: .*$", f"Version: {version}", control.read_text("utf-8"))
    control.write_text(text, encoding="utf-8")
    if configuration:
        with open(tree / CONFIGURATION[1:], "a", encoding="utf-8") as file:
            file.write(configuration)
    made = folder / f"{version}.deb"
    run(["dpkg-deb", "--build", "--root-owner-group", "-Znone", tree, made])
    return made


class Installed(unittest.TestCase):
    """A machine without Rust."""

    first = None

    @classmethod
    def setUpClass(cls):
        """Skip all of it where no Debian can be had, as without a network."""
        try:
            installation()
        except Failed as reason:
            raise unittest.SkipTest(str(reason)) from reason

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="weir-")))
        self.machine = Machine(self.folder, *filter(None, [self.first]))
        self.addCleanup(self.machine.end)

    def install(self, package, *options):
        """Install or upgrade, as a user's package manager does."""
        place = self.machine.bring(package, "/tmp/weir.deb")
        return self.machine.run("dpkg", *options, "--install", place)

    def files(self):
        """All that is in the system."""
        found = self.machine.run("find", "/", "-xdev").splitlines()
        return {path for path in found if not re.match(CHANGING, path)}

    def state(self):
        """`active`, `inactive` or the like."""
        return self.machine.attempt("systemctl", "is-active", "weir").stdout.strip()

    def is_known(self, kind):
        """True if there is an entry of the package's user or group."""
        return self.machine.attempt("getent", kind, "weir").returncode == 0


class Service(Installed):
    """With systemd, which runs the forwarder."""

    def test_members_of_the_group_use_the_forwarder(self):
        """It runs as its own user as soon as it is installed; other users are rejected."""
        machine = self.machine
        self.assertNotEqual(machine.attempt("sh", "-c", "command -v cargo rustc").returncode, 0)
        self.install(packages.path(".deb"))
        self.assertEqual(self.state(), "active")
        self.check_user()
        self.check_socket()
        alice, bob = machine.add_user("alice", "weir"), machine.add_user("bob")
        for size in packages.SIZES:
            self.transfer(alice, size)
        done = machine.attempt("weir", "get", "/demo/3000000", "-o", "copy", user=bob)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, rf"\Aweir: permission denied: .*{SOCKET}.*\n\Z")
        self.assertNotEqual(machine.attempt("test", "-e", HOMES / bob / "copy").returncode, 0)
        # No other way in: of TCP there is no listener.
        tcp = ["weir", "status", "--socket", "tcp://127.0.0.1:6363"]
        self.assertNotEqual(machine.attempt(*tcp, user=bob).returncode, 0)

    def check_user(self):
        """A user of its own, without a password, a shell and a home."""
        machine = self.machine
        main = machine.run("systemctl", "show", "weir", "--property=MainPID", "--value").strip()
        owner = machine.run("stat", "--format=%U %G", f"/proc/{main}").split()
        self.assertEqual(owner, ["weir", "weir"])
        words = machine.run("cat", f"/proc/{main}/cmdline").split("\0")
        unit = (weir.ROOT / "packaging/weir.service").read_text("utf-8")
        (command,) = re.findall(r"(?m)^ExecStart=(.*)$", unit)
        self.assertEqual(words[:-1], command.split())
        entry = machine.run("getent", "passwd", "weir").strip().split(":")
        self.assertEqual(entry[4:], ["NDN forwarder", "/", "/usr/sbin/nologin"])
        self.assertEqual(machine.run("passwd", "--status", "weir").split()[1], "L")
        capabilities = machine.run("grep", "^Cap", f"/proc/{main}/status").split()[1::2]
        self.assertEqual({int(word, 16) for word in capabilities}, {0})

    def check_socket(self):
        """Only the user and the group may connect, also by the path of older libraries."""
        machine = self.machine
        mode = ["stat", "--dereference", "--format=%a %U %G"]
        self.assertEqual(machine.run(*mode, SOCKET).split(), ["660", "weir", "weir"])
        self.assertEqual(machine.run(*mode, "/run/nfd").split(), ["750", "weir", "weir"])
        self.assertEqual(machine.run("readlink", "--canonicalize", "/run/nfd.sock"), f"{SOCKET}\n")
        open_to_all = machine.run("find", "/run/nfd", "/etc/weir", "-perm", "-o+w")
        self.assertEqual(open_to_all, "")

    def transfer(self, user, size):
        """A user publishes and fetches a file."""
        machine, name = self.machine, f"/demo/{size}"
        file = content.make(self.folder / "file", size)
        machine.bring(file, "/tmp/file")
        with machine.child("weir", "put", name, "/tmp/file", user=user, log="put.log") as put:
            wait_until(lambda: name in put.log.read_text("utf-8"), "a publisher")
            machine.run("weir", "get", name, "-o", "copy", user=user)
        digest = machine.run("sha256sum", HOMES / user / "copy").split()[0]
        self.assertEqual(digest, content.sha256(file))
        machine.run("rm", HOMES / user / "copy")
        put.log.unlink()

    def test_unit_is_correct_and_closed(self):
        """By systemd's own judgement."""
        self.install(packages.path(".deb"))
        done = self.machine.attempt("systemd-analyze", "--man=no", "verify", "weir.service")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        security = ["systemd-analyze", "security", f"--threshold={EXPOSURE}", "weir.service"]
        self.machine.run(*security)

    def test_upgrade_keeps_the_configuration_of_the_administrator(self):
        """An unchanged one is replaced by the new default."""
        machine = self.machine
        older = changed(self.folder, "0.0.1-1", "# An older line.\n")
        new = packages.path(".deb")
        default = machine.run("cat", CONFIGURATION) if self.install(new) else ""
        machine.run("dpkg", "--purge", "weir")
        self.install(older)
        self.assertIn("older line", machine.run("cat", CONFIGURATION))
        self.install(new)
        self.assertEqual(machine.run("cat", CONFIGURATION), default)
        machine.run("dpkg", "--purge", "weir")

        self.install(older)
        before = machine.run("systemctl", "show", "weir", "--property=MainPID")
        own = machine.run("cat", CONFIGURATION).replace("udp = 6363", "udp = 6464")
        machine.run("tee", CONFIGURATION, given=own)
        self.install(new, "--force-confold")
        self.assertEqual(machine.run("cat", CONFIGURATION), own)
        self.assertEqual(self.state(), "active")
        after = machine.run("systemctl", "show", "weir", "--property=MainPID")
        self.assertNotEqual(before, after)
        self.assertIn(f":{6464:04X} ", machine.run("cat", "/proc/net/udp"))

    def test_program_uses_the_libraries_of_the_system(self):
        """Its memory functions are those of the system's C library; the package names it."""
        self.install(packages.path(".deb"))
        libraries = self.machine.run("ldd", "/usr/bin/weir")
        self.assertRegex(libraries, r"(?m)^\s*libc\.so\.6 => /")
        self.assertNotIn("not found", libraries)
        depends = self.machine.run("dpkg-query", "--show", "--showformat=${Depends}", "weir")
        self.assertRegex(depends, r"\blibc6 \(>= 2\.\d+\)")

    def test_administrator_may_have_it_stopped(self):
        """A disabled forwarder stays so in an upgrade."""
        self.install(changed(self.folder, "0.0.1-1"))
        self.machine.run("systemctl", "disable", "--now", "weir")
        self.install(packages.path(".deb"))
        enabled = self.machine.attempt("systemctl", "is-enabled", "weir").stdout.strip()
        self.assertEqual((self.state(), enabled), ("inactive", "disabled"))

    def test_nothing_is_left_behind(self):
        """Removal leaves the configuration alone, and purge nothing."""
        machine, before = self.machine, self.files()
        self.install(packages.path(".deb"))
        machine.add_user("alice", "weir")
        machine.run("weir", "status", user="alice")
        with_it = self.files()
        self.assertIn("/usr/bin/weir", with_it)
        machine.run("dpkg", "--remove", "weir")
        self.assertEqual(self.state(), "inactive")
        homes = {path for path in self.files() if re.match(f"{HOMES}/|/var/mail/", path)}
        self.assertEqual(self.files() - before - homes, KEPT)
        for path in ("/run/nfd", "/run/nfd.sock"):
            self.assertEqual(machine.attempt("test", "-e", path, "-o", "-L", path).returncode, 1)
        machine.run("dpkg", "--purge", "weir")
        self.assertEqual(self.files() - homes, before)
        self.assertEqual([self.is_known(kind) for kind in ("passwd", "group")], [False, False])
        left = machine.run("find", "/var/lib/systemd", "/var/lib/dpkg/info", "-name", "*weir*")
        self.assertEqual(left, "")
        units = machine.attempt("systemctl", "list-unit-files", "weir*", "--quiet")
        self.assertEqual(units.stdout, "")


class Unsupervised(Installed):
    """Without a running systemd, as where an image of a system is made."""

    first = WAITING

    def test_it_is_installed_and_not_started(self):
        """With its user. Purge removes all of it here as well."""
        before = self.files()
        self.install(packages.path(".deb"))
        self.assertEqual([self.is_known(kind) for kind in ("passwd", "group")], [True, True])
        said = self.machine.run("weir", "daemon", "--config", CONFIGURATION, "--check")
        self.assertIn("no mistakes", said)
        self.assertEqual(self.machine.attempt("test", "-e", SOCKET).returncode, 1)
        self.machine.run("dpkg", "--purge", "weir")
        self.assertEqual(self.files(), before)
        self.assertFalse(self.is_known("passwd"))


class Policy(unittest.TestCase):
    """Debian's own checks."""

    def test_lintian_finds_nothing(self):
        """No error and no warning but the one for packages that Debian itself has not got."""
        options = ["--allow-root", "--fail-on=error,warning", "--tag-display-limit=0"]
        options += ["--suppress-tags=initial-upload-closes-no-bugs"]
        command = ["lintian", *options, packages.path(".deb")]
        environment = {**os.environ, "LC_ALL": "C.UTF-8"}
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False, timeout=300
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
