"""libweir in programs: the examples in C and Go, and calls with wrong arguments."""

import contextlib
import os
import subprocess
import tempfile
import unittest
import unittest.mock
from pathlib import Path

from support import content, weir

CAPI = weir.ROOT / "crates/capi"
SIZE = 3_000_000
# The most seconds of a program on a slow machine.
PATIENCE = 300
STRICT = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
# They find wrong uses of memory and memory that is lost, also within the library, whose allocator
# is the C library's. Valgrind ends programs that read the clock as the library does.
SANITIZERS = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


def library():
    """Build the library, unless WEIR_LIBRARY names its folder, and return that."""
    if given := os.environ.get("WEIR_LIBRARY"):
        return Path(given).resolve()
    # As a build of all tests has made it, so that nothing is compiled again for other features.
    build = ["cargo", "test", "--workspace", "--test", "header", "--no-run", "--quiet"]
    subprocess.run(build, cwd=weir.ROOT, stdin=subprocess.DEVNULL, check=True)
    target = os.environ.get("CARGO_TARGET_DIR", weir.ROOT / "target")
    return Path(target).resolve() / "debug/deps"


class Library(unittest.TestCase):
    """A daemon, a file, and the programs."""

    @classmethod
    def setUpClass(cls):
        cls.programs = Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="weir-c-")))
        cls.weir, cls.library = weir.program(), library()
        for source in [*CAPI.glob("examples/*.c"), *Path(__file__).parent.glob("*.c")]:
            cls.compile(source, "cc", *STRICT, *SANITIZERS)

    @classmethod
    def compile(cls, source, compiler, *options):
        """Compile and link a program against the library."""
        flags = [f"-I{CAPI / 'include'}", f"-L{cls.library}", f"-Wl,-rpath,{cls.library}"]
        out = cls.programs / source.stem
        argv = [compiler, *options, source, *flags, "-lweir", "-pthread", "-o", out]
        subprocess.run(argv, check=True)

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="weir-c-")))
        listen = {"udp": "off", "tcp": "off"}
        store = {"capacity": "0 B"}
        self.daemon = weir.Daemon(self.weir, self.folder, "node", listen=listen, store=store)
        home = {"HOME": str(self.folder), "WEIR_HOME": str(self.folder / "weir")}
        environment = {**home, "NDN_CLIENT_TRANSPORT": f"unix://{self.daemon.socket}"}
        kept = {name: os.environ[name] for name in ("GOCACHE", "GOPATH") if name in os.environ}
        # Go keeps what it compiles in the home folder.
        kept.setdefault("GOCACHE", str(weir.ROOT / "target/go"))
        self.enterContext(unittest.mock.patch.dict(os.environ, {**environment, **kept}))
        self.file = content.make(self.folder / "file", SIZE)
        self.copy = self.folder / "copy"
        self.enterContext(self.daemon)

    def call(self, *argv, status=0):
        """Run a program to its end, and return what it printed."""
        words = [self.programs / argv[0], *argv[1:]]
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False
        )
        self.assertEqual(done.returncode, status, done.stderr.decode(errors="replace"))
        return done.stdout if status == 0 else done.stderr.decode()

    @contextlib.contextmanager
    def serving(self, *argv):
        """A program that serves until its standard input ends; it must end well."""
        words = [self.programs / argv[0], *argv[1:]]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        with subprocess.Popen(words, **pipes) as child:
            try:
                line = child.stdout.readline().decode().strip()
                self.assertNotEqual(line, "", "it ended early")
                yield line.partition(" ")[2]
            finally:
                child.stdin.close()
                status = child.wait(PATIENCE)
        self.assertEqual(status, 0)

    def same(self, got):
        """The bytes are those of the file."""
        self.assertEqual(content.sha256(got), content.sha256(self.file))

    def weir_get(self, name):
        """`weir get` into the copy."""
        self.copy.unlink(missing_ok=True)
        subprocess.run([self.weir, "get", name, "-o", self.copy, "--quiet"], check=True)
        return self.copy

    def test_weir_get_fetches_what_c_publishes(self):
        """By the name, and by the version that the program prints."""
        with self.serving("publish", "/c/file", self.file) as name:
            self.assertRegex(name, r"^/c/file/v=\d+$")
            self.same(self.weir_get("/c/file"))
            self.same(self.weir_get(name))
        # Nothing is registered any more.
        late = subprocess.run(
            [self.weir, "get", "/c/file", "-o", self.copy, "--quiet", "--patience", "1s"],
            capture_output=True,
            check=False,
        )
        self.assertEqual(late.returncode, 3, late.stderr)

    def test_c_fetches_what_weir_put_publishes(self):
        """Into a file, which stays what it was after a failure."""
        with self.daemon.put("/weir/file", self.file):
            self.call("fetch", "/weir/file", self.copy)
        self.same(self.copy)
        said = self.call("fetch", "/weir/none", self.copy, status=3)
        self.assertIn("/weir/none", said)
        self.same(self.copy)

    def go(self, package, name):
        """Build an example in Go as the program `name`."""
        flags = {
            "CGO_CFLAGS": f"-I{CAPI / 'include'}",
            "CGO_LDFLAGS": f"-L{self.library} -Wl,-rpath,{self.library}",
        }
        subprocess.run(
            ["go", "build", "-o", self.programs / name, package],
            cwd=CAPI / "examples/go",
            env={**os.environ, **flags},
            check=True,
        )

    def key(self, name):
        """Make a key."""
        subprocess.run([self.weir, "key", "new", name], capture_output=True, check=True)

    def test_go_fetches_what_c_publishes(self):
        """By cgo."""
        self.go(".", "go-fetch")
        with self.serving("publish", "/c/file", self.file):
            self.copy.write_bytes(self.call("go-fetch", "/c/file"))
        self.same(self.copy)
        self.assertIn("/c/none", self.call("go-fetch", "/c/none", status=1))

    def test_weir_peek_is_answered_by_a_function_in_c(self):
        """With its name, or by a rejection."""
        peek = [self.weir, "peek", "--content"]
        with self.serving("answer", "/c/app"):
            said = subprocess.run([*peek, "/c/app/x"], capture_output=True, check=True).stdout
            self.assertEqual(said, b"you asked for /c/app/x\n")
            rejected = subprocess.run([*peek, "/c/app"], capture_output=True, check=False)
            self.assertEqual(rejected.returncode, 3, rejected.stderr)

    def test_members_in_c_and_go_publish_for_each_other(self):
        """Each prints what the other one has published; a member that joins late gets it, too."""
        self.key("/c/lab")
        self.go("./talk", "go-talk")
        words = [self.programs / "talk", "/c/lab", "/c/lab/alice", "/c/lab"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        with subprocess.Popen(words, text=True, **pipes) as alice:
            self.assertEqual(alice.stdout.readline(), "joined /c/lab\n")
            alice.stdin.write("hello from C\n")
            alice.stdin.flush()
            said = self.call("go-talk", "/c/lab", "/c/lab/bob", "/c/lab", "hello from Go")
            self.assertEqual(said, b"/c/lab/alice 1 hello from C\n")
            self.assertEqual(alice.stdout.readline(), "/c/lab/bob 1 hello from Go\n")
            alice.stdin.close()
            self.assertEqual(alice.wait(PATIENCE), 0)
        said = self.call("go-talk", "/c/lab", "/c/lab/bob", "/c/none", "hello", status=1)
        self.assertIn("/c/none", said)

    def test_a_member_in_c_without_a_thread_fails(self):
        """The system starts no thread for it; its exit status shows the error."""
        self.key("/c/lab")
        failing = self.folder / "failing.c"
        failing.write_text("int __wrap_pthread_create(void) { return 11; }\n")
        talk = self.folder / "talk_alone.c"
        talk.write_bytes((CAPI / "examples/talk.c").read_bytes())
        self.compile(talk, "cc", "-Wl,--wrap=pthread_create", failing)
        said = self.call("talk_alone", "/c/lab", "/c/lab/alice", "/c/lab", status=1)
        self.assertIn("no thread", said)

    def test_wrong_arguments_are_errors_and_no_memory_is_lost(self):
        """Null, text that is not UTF-8, cancelling, blocks, ranges, groups."""
        self.key("/c/lab")
        self.call("misuse", self.daemon.socket)

    def test_the_header_is_for_cxx_too(self):
        """It compiles as C++."""
        source = self.folder / "include.cpp"
        source.write_text("#include <weir.h>\nint main() { return !weir_version(); }\n")
        self.compile(source, "c++", "-Wall", "-Wextra", "-Werror")
        self.call("include")
