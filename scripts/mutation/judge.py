"""Runs tests against mutants: which tests reach which mutant, and whether one of them fails."""

import os
import re
import resource
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

# A mutant that uses more memory counts as caught, because it would harm the host.
MEMORY = 3 << 30
TIMES, SECONDS = 10, 5
TEST = re.compile(r"^test (.*?)(?: - should panic)? \.\.\. (\w+).* <([\d.]+)s>$")
# Property tests draw the same cases every time, and keep no failed ones for the next mutant.
STEADY = {
    "PROPTEST_RNG_SEED": "1",
    "PROPTEST_DISABLE_FAILURE_PERSISTENCE": "1",
    "RUSTC_BOOTSTRAP": "1",
    "RUST_BACKTRACE": "0",
}


@dataclass
class Suite:
    """A test binary with its tests and how many seconds each takes."""

    path: str
    name: str
    cwd: str
    tests: dict = field(default_factory=dict)
    seconds: float = 0.0
    reached: dict = field(default_factory=dict)


def limits():
    """Of a child: memory, and no core file."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(suite, arguments, seconds, extra):
    """(verdict, output) of one run of a test binary: passed, failed or timeout."""
    with tempfile.TemporaryDirectory(prefix="wm-", ignore_cleanup_errors=True) as folder:
        # No tmpfs: a file-backed output does not block a child that prints without end.
        with open(Path(folder) / "output", "w+b") as output:
            variables = os.environ | STEADY | extra | {"TMPDIR": folder}
            variables["CARGO_MANIFEST_DIR"] = suite.cwd
            command = ["nice", "-n", "10", suite.path, "-Z", "unstable-options", *arguments]
            child = subprocess.Popen(
                command, cwd=suite.cwd, env=variables, stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT, process_group=0, preexec_fn=limits,
            )
            try:
                verdict = "passed" if child.wait(timeout=seconds) == 0 else "failed"
            except subprocess.TimeoutExpired:
                verdict = "timeout"
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            child.wait()
            output.seek(0)
            return verdict, output.read(4 << 20).decode("utf-8", "replace")


def measure(binary):
    """A suite with the durations of its tests; rejects one that fails without any mutant."""
    suite = Suite(binary.path, binary.name, binary.cwd)
    began = time.monotonic()
    verdict, text = run(suite, ["--report-time", "--test-threads=2"], 900, {})
    suite.seconds = time.monotonic() - began
    if verdict != "passed":
        raise SystemExit(f"scripts/mutants: {binary.name} fails without any mutant:\n{text}")
    for line in text.splitlines():
        if found := TEST.match(line):
            suite.tests[found[1]] = float(found[3])
    return suite


def record(suite):
    """Notes which tests reach which site: {site: tests, or `None` for all}."""
    with tempfile.TemporaryDirectory(prefix="wm-") as folder:
        file = Path(folder) / "sites"
        run(suite, ["--test-threads=2"], 900, {"WEIR_MUTANT_SITES": str(file)})
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    for line in lines:
        thread, site = line.rsplit("\t", 1)
        here = suite.reached.setdefault(int(site), set())
        here.add(thread if thread in suite.tests else None)


def attempt(suite, tests, switch):
    """Runs some tests of a suite (`None`: all), the quickest first."""
    chosen = sorted(suite.tests if tests is None else tests, key=lambda t: suite.tests[t])
    usual = sum(suite.tests[t] for t in chosen)
    # A suite with a harness of its own does not say how long its tests take.
    seconds = TIMES * (usual if tests is not None else max(usual, suite.seconds)) + SECONDS
    names = [] if tests is None else ["--exact", *chosen]
    extra = {"WEIR_MUTANT": str(switch)} if switch else {}
    verdict, text = run(suite, ["--fail-fast", "--test-threads=1", *names], seconds, extra)
    failed = re.search(r"^test (.*?)(?: - should panic)? \.\.\. FAILED", text, re.M)
    return verdict, failed[1] if failed else ""


def parts(suite, tests):
    """The tests in portions, so that slow ones run only if quick ones see nothing."""
    order = sorted(tests, key=lambda t: suite.tests[t])
    quick = [t for t in order if suite.tests[t] < 0.05]
    slow = [t for t in order if suite.tests[t] >= 0.05]
    return [part for part in (quick, slow[:4], slow[4:]) if part]


def judge(suites, site, switch):
    """(verdict, by which test, seconds) of a mutant that is switched on."""
    began = time.monotonic()
    reaching = [s for s in suites if site in s.reached]
    if not reaching:
        return "survived", "no test reaches it", 0.0

    def done(verdict, by):
        return verdict, by, round(time.monotonic() - began, 2)

    portions = [
        (sum(s.tests[t] for t in part), number, s, part)
        for number, s in enumerate(reaching)
        for part in parts(s, s.reached[site] - {None})
    ]
    for _, _, suite, part in sorted(portions, key=lambda p: p[:2]):
        verdict, test = attempt(suite, part, switch)
        if verdict != "passed":
            return done(*verdict_of(verdict), f"{suite.name}: {test}")
    # Calls by shared fixtures of tests, and by other threads, are not visible by name.
    for suite in reaching:
        verdict, test = attempt(suite, None, switch)
        if verdict != "passed":
            return done(*verdict_of(verdict), f"{suite.name}: {test}")
    return done("survived", "")


def verdict_of(verdict):
    return ("timeout" if verdict == "timeout" else "caught",)


def judge_alone(binaries, known):
    """(verdict, by which test, seconds) of a mutant that has its own build."""
    began = time.monotonic()
    usual = {suite.name: suite for suite in known}
    for binary in binaries:
        like = usual[binary.name]
        suite = Suite(binary.path, binary.name, binary.cwd, like.tests, like.seconds)
        verdict, test = attempt(suite, None, None)
        if verdict != "passed":
            return (*verdict_of(verdict), f"{suite.name}: {test}", time.monotonic() - began)
    return "survived", "", round(time.monotonic() - began, 2)
