"""A Debian system in namespaces, without a network: its first process is systemd, or only waits.

It is made of a small installation that is kept in `target`, and changes stay in memory.
"""

import os
import platform
import shutil
import subprocess
from pathlib import Path

from support import weir
from support.children import Child, Failed, wait_until

HERE = Path(__file__).resolve().parent
# Beyond the essential packages: `useradd`, and for its unit systemd.
INCLUDED = ("passwd", "systemd")
SYSTEMD = "/lib/systemd/systemd --system --unit=basic.target --log-target=console --show-status=no"
WAITING = "sleep infinity"
PATIENCE = 60
INSTALLATION_PATIENCE = 600
# The folder of the users' homes.
HOMES = Path("/", "home")


def installation():
    """The folder of a small Debian of this machine's release, made if it is missing."""
    release = platform.freedesktop_os_release()["VERSION_CODENAME"]
    target = Path(os.environ.get("CARGO_TARGET_DIR", weir.ROOT / "target")).resolve()
    folder = target / "packages" / "-".join([release, *INCLUDED])
    if folder.exists():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    options = ["--variant=minbase", f"--include={','.join(INCLUDED)}", "--format=directory"]
    command = ["mmdebstrap", "--quiet", *options, release, str(part)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=INSTALLATION_PATIENCE
    )
    if done.returncode != 0:
        shutil.rmtree(part, ignore_errors=True)
        raise Failed(f"mmdebstrap: status {done.returncode}\n{done.stderr[-2000:]}")
    return part.rename(folder)


def control_groups(name):
    """A group of that name below this process's group in each hierarchy: paths."""
    mounts = []
    for line in Path("/proc/self/mountinfo").read_text("utf-8").splitlines():
        fields, _, rest = line.partition(" - ")
        kind, _, options = rest.split()[:3]
        if kind in ("cgroup", "cgroup2"):
            mounts.append((kind, set(options.split(",")), *fields.split()[3:5]))
    for line in Path("/proc/self/cgroup").read_text("utf-8").splitlines():
        _, controllers, path = line.split(":", 2)
        for kind, options, root, place in mounts:
            is_it = set(controllers.split(",")) <= options if controllers else kind == "cgroup2"
            if is_it:
                yield Path(place) / os.path.relpath(path, root) / name


class Machine:
    """A running system."""

    def __init__(self, folder, first=SYSTEMD):
        self.folder = folder
        self.groups = list(control_groups(f"weir-packages-{os.getpid()}-{id(self)}"))
        for group in self.groups:
            group.mkdir()
        root = installation()
        self.log = folder / "console.log"
        argv = ["unshare", "--mount", "--pid", "--fork", "--kill-child"]
        self.process = Child([*argv, HERE / "boot", root, first, *self.groups], self.log)
        try:
            wait_until(lambda: self.first and self.has_begun(first), "the system's first process")
            if first == SYSTEMD:
                manager = Path(f"/proc/{self.first}/root/run/systemd/private")
                wait_until(manager.exists, "systemd to take commands")
                self.run("systemctl", "is-system-running", "--wait")
        except BaseException:
            self.end()
            raise

    @property
    def first(self):
        """The number of its first process, here; empty if there is none yet."""
        pid = self.process.pid
        if not self.process.running:
            raise Failed(f"the system ended\n{self.process.last_words()}")
        return Path(f"/proc/{pid}/task/{pid}/children").read_text("utf-8").strip()

    def has_begun(self, first):
        """True if the preparations are over."""
        words = Path(f"/proc/{self.first}/cmdline").read_text("utf-8").split("\0")
        return words[0] == first.split()[0]

    def command(self, *argv, user="root"):
        """A command as it has to be started to run in the system, as one of its users."""
        inside = ["nsenter", f"--target={self.first}", "--all", "--root", "--wd"]
        # A login's environment, and nothing of this process's.
        clean = ["env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8"]
        if user != "root":
            home = ["env", f"--chdir={HOMES / user}", f"HOME={HOMES / user}"]
            return [*inside, *clean, "runuser", "-u", user, "--", *home, *map(str, argv)]
        return [*inside, *clean, "DEBIAN_FRONTEND=noninteractive", *map(str, argv)]

    def attempt(self, *argv, user="root", given=None):
        """Run a command to its end; its output is text."""
        return subprocess.run(
            self.command(*argv, user=user),
            input=given or "",
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )

    def run(self, *argv, user="root", given=None):
        """The output of a command that must succeed."""
        done = self.attempt(*argv, user=user, given=given)
        if done.returncode != 0:
            said = (done.stdout + done.stderr).strip()
            raise Failed(f"{' '.join(map(str, argv))}: status {done.returncode}\n{said}")
        return done.stdout

    def child(self, *argv, user="root", log):
        """A command that runs until it is stopped."""
        return Child(self.command(*argv, user=user), self.folder / log)

    def bring(self, path, to):
        """Copy a file into the system, readable by all."""
        with open(path, "rb") as file:
            argv = self.command("sh", "-c", 'cat >"$1" && chmod 644 "$1"', "sh", to)
            subprocess.run(argv, stdin=file, check=True, timeout=PATIENCE)
        return to

    def add_user(self, name, *groups):
        """A user with a home."""
        options = ["--groups", ",".join(groups)] if groups else []
        self.run("useradd", "--create-home", *options, name)
        return name

    def end(self):
        """End all of it, and remove its control groups."""
        self.process.kill()
        wait_until(lambda: all(map(removed, self.groups)), "the system's control groups to end")


def removed(group):
    """Remove a control group and those below it: True if it is gone."""
    for folder, _, _ in os.walk(group, topdown=False):
        try:
            os.rmdir(folder)
        except FileNotFoundError:
            continue
        except OSError:
            # A process of it has not ended yet.
            return False
    return True
