"""Child processes that never outlive us, and what they cost.

Every child dies with the process that started it, however that one ends, and is only ever
signalled by its own process id.
"""

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
SAMPLE_SECONDS = 0.02

PRCTL = ctypes.CDLL(None).prctl
PR_SET_PDEATHSIG = 1  # from <linux/prctl.h>


@dataclass
class Usage:
    """The resources of a process until now: processor seconds, and peak memory."""

    cpu_seconds: float
    peak_bytes: int


class Failed(Exception):
    """A command ended badly; the message holds its last log lines."""


class Child:
    """A running command. Its output goes to files, because a full pipe would stop it.

    `log` takes standard error, and standard output too unless `out` is given for it.
    """

    def __init__(self, argv, log, out=None):
        self.argv = [str(word) for word in argv]
        self.log = Path(log)
        self.started = time.monotonic()
        self.seconds = None
        self.status = None
        self._usage = Usage(0.0, 0)
        with open(self.log, "ab") as said, open(out or self.log, "ab") as printed:
            self._process = subprocess.Popen(
                self.argv,
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=said,
                preexec_fn=die_with_caller(os.getpid()),
            )
        self.pid = self._process.pid
        self._sampler = threading.Thread(target=self._sample, daemon=True)
        self._sampler.start()

    def _sample(self):
        # The kernel discards a process's peak when it ends, and the peak of wait4 starts with the
        # parent's size; so it is read while the process lives.
        while self.status is None:
            self._usage.peak_bytes = max(self._usage.peak_bytes, peak_bytes(self.pid))
            time.sleep(SAMPLE_SECONDS)

    @property
    def running(self):
        """True until it has ended."""
        if self.status is None:
            self._reap(os.WNOHANG)
        return self.status is None

    def _reap(self, options):
        pid, status, used = os.wait4(self.pid, options)
        if pid == 0:
            return
        self.seconds = time.monotonic() - self.started
        self._usage.cpu_seconds = used.ru_utime + used.ru_stime
        self.status = os.waitstatus_to_exitcode(status)
        self._process.returncode = self.status

    def wait(self, timeout):
        """Wait for its end and return its exit status; after the time it is killed."""
        if self.running:
            # Readable when the process has ended; looking now and then would add to its time.
            handle = os.pidfd_open(self.pid)
            try:
                select.select([handle], [], [], timeout)
            finally:
                os.close(handle)
        if self.running:
            self.kill()
            raise Failed(f"{self.name} did not end within {timeout} s\n{self.last_words()}")
        return self.status

    def stop(self, timeout=10):
        """Ask it to end and wait until it has."""
        if self.running:
            os.kill(self.pid, signal.SIGTERM)
            self.wait(timeout)
        return self.status

    def kill(self):
        """End it at once, as a crash would."""
        if self.running:
            os.kill(self.pid, signal.SIGKILL)
            self._reap(0)

    def usage(self):
        """Its resources, until now or until its end."""
        if self.running:
            self._usage.cpu_seconds = cpu_seconds(self.pid)
            self._usage.peak_bytes = max(self._usage.peak_bytes, peak_bytes(self.pid))
        return Usage(self._usage.cpu_seconds, self._usage.peak_bytes)

    @property
    def name(self):
        """The command as one would type it."""
        return " ".join(self.argv)

    def last_words(self, lines=12):
        """The end of what it printed."""
        text = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join(f"    {line}" for line in text[-lines:])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()


def die_with_caller(caller):
    """Runs in a new process before it becomes the command: ties its life to the caller's.

    It has happened by the time that the caller knows the process id, so there is no moment at which
    the caller's death would leave the child behind. It takes no lock that a thread could hold.
    """

    def tie():
        PRCTL(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != caller:
            os._exit(1)

    return tie


def cpu_seconds(pid):
    """Processor time of a running process, its threads included; user and system together."""
    text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    # The second field is the program's name in brackets and may hold spaces.
    fields = text.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND


def peak_bytes(pid):
    """The most memory that a process has held; 0 if it has ended."""
    return memory_bytes(pid, "VmHWM")


def memory_bytes(pid, field):
    """The memory of a process now (VmRSS), or its peak (VmHWM); 0 if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    for line in lines:
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    return 0


def open_files(pid):
    """The open files of a running process: their paths by their handles in /proc."""
    files = {}
    for handle in Path(f"/proc/{pid}/fd").iterdir():
        # The process may close any of them meanwhile.
        with contextlib.suppress(FileNotFoundError):
            files[handle] = os.readlink(handle)
    return files


def run(argv, timeout=60):
    """Run a short command to its end and return what it printed; Failed if it ends badly."""
    done = subprocess.run(
        [str(word) for word in argv],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    if done.returncode != 0:
        words = " ".join(done.args)
        raise Failed(f"{words}: status {done.returncode}\n{done.stderr.strip()}")
    return done.stdout


def wait_until(condition, what, timeout=30):
    """Wait until the condition holds; Failed, saying what was awaited, if it never does."""
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > deadline:
            raise Failed(f"waited {timeout} s in vain for {what}")
        time.sleep(0.005)


def let_pass(seconds):
    """Watch for so long."""
    end = time.monotonic() + seconds
    wait_until(lambda: time.monotonic() >= end, "time to pass", seconds + 1)
