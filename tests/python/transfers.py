"""Fetching and publishing through a real daemon, blocking and with asyncio."""

import asyncio
import contextlib
import gc
import hashlib
import io
import os
import signal
import subprocess
import sys
from pathlib import Path
from unittest import mock

import weir
from _published import WithDaemon
from support.children import wait_until
from weir import _transfer, aio

CONTENT = bytes(range(256)) * 4096
RULES = """
[[anchor]]
certificate = "alice.cert"

[[rule]]
data = "/alice/{...}"
signer = "/alice"
"""


def has_ended(process):
    """True if a process runs no more. Without a parent, it may stay in the list."""
    try:
        about = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    except FileNotFoundError:
        return True
    return about.rpartition(") ")[2].startswith("Z")


class Transfers(WithDaemon):
    """Through a daemon that peers cannot reach."""

    def test_bytes_files_and_iterators_go_in_and_come_out(self):
        """Each the same content."""
        file = self.folder / "sent"
        file.write_bytes(CONTENT)
        pieces = (CONTENT[at : at + 100_000] for at in range(0, len(CONTENT), 100_000))
        for number, content in enumerate([CONTENT, file, io.BytesIO(CONTENT), pieces]):
            made = self.publish(f"/alice/form/{number}", content, sign="/alice")
            fetched = weir.fetch(f"/alice/form/{number}", socket=self.socket)
            self.assertEqual(fetched.content, CONTENT)
            self.assertEqual((fetched.name, fetched.verified), (made.name, "key"))
            self.assertTrue(fetched.key.startswith("/alice/KEY/"))
        to = self.folder / "copy"
        fetched = weir.fetch("/alice/form/0", to, socket=self.socket, control="cubic")
        self.assertIsNone(fetched.content)
        self.assertEqual(to.read_bytes(), CONTENT)
        self.assertEqual(fetched.summary["control"], "cubic")
        hashed = hashlib.sha256()
        for piece in weir.stream("/alice/form/0", socket=self.socket):
            hashed.update(piece)
        self.assertEqual(hashed.digest(), hashlib.sha256(CONTENT).digest())

    def test_trust_rules_are_those_of_the_daemon(self):
        """A key that they do not name is rejected, with the command line's text."""
        rules = self.folder / "rules.toml"
        rules.write_text(RULES, encoding="utf-8")
        self.publish("/alice/trusted", CONTENT, sign="/alice")
        self.publish("/mallory/forged", CONTENT, sign="/mallory")
        fetched = weir.fetch("/alice/trusted", socket=self.socket, trust=rules)
        self.assertEqual(fetched.content, CONTENT)
        with self.assertRaises(weir.NotVerified) as caught:
            weir.fetch("/mallory/forged", socket=self.socket, trust=rules)
        # Metadata or manifest, whichever comes first.
        expected = (
            r"^/mallory/forged/\S+ is not trusted: no rule lets /mallory/KEY/\w+ sign it; "
            "--trust names the keys and certificates that are trusted$"
        )
        self.assertRegex(str(caught.exception), expected)
        pieces = weir.stream("/mallory/forged", socket=self.socket, trust=rules)
        with self.assertRaises(weir.NotVerified):
            b"".join(pieces)

    def test_errors_have_their_classes(self):
        """No route, no forwarder, a wrong name, a file that is not there."""
        with self.assertRaises(weir.NotFound) as caught:
            weir.fetch("/nobody/has/this", socket=self.socket)
        self.assertEqual(caught.exception.kind, "no-route")
        absent = str(self.folder / "absent.sock")
        for call in (weir.fetch, lambda name, **o: weir.publish(name, CONTENT, **o)):
            with self.assertRaisesRegex(weir.NoForwarder, "no forwarder at .*absent.sock"):
                call("/alice/x", socket=absent)
        with self.assertRaises(weir.UsageError):
            weir.fetch("/alice/x", socket=self.socket, control="cubik")
        with self.assertRaises(weir.FileFailed):
            weir.publish("/alice/x", self.folder / "none", socket=self.socket)
        with self.assertRaisesRegex(TypeError, "no option `contrl`"):
            next(weir.stream("/alice/x", contrl="cubic"))

    def test_a_stream_that_is_left_and_a_publication_that_is_closed_end(self):
        """No process stays."""
        made = self.publish("/alice/left", CONTENT * 20, sign="/alice")
        pieces = weir.stream("/alice/left", socket=self.socket)
        self.assertTrue(next(pieces))
        pieces.close()
        self.assertTrue(made.is_serving)
        made.close()
        self.assertFalse(made.is_serving)
        forgotten = weir.publish("/alice/forgotten", CONTENT, socket=self.socket)
        process = forgotten._process
        del forgotten
        gc.collect()
        self.assertIsNotNone(process.poll())

    def test_a_publication_ends_with_its_program(self):
        """Without `close`, and without any other finalizer in the program."""
        code = "import sys, weir\nmade = weir.publish('/alice/ended', b'1', socket=sys.argv[1])\n"
        code += "print(made._process.pid)"
        command = [sys.executable, "-c", code, self.socket]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        self.assertEqual(done.stderr, "")
        place = Path(f"/proc/{int(done.stdout)}")
        self.addCleanup(lambda: place.exists() and os.kill(int(done.stdout), signal.SIGINT))
        self.assertFalse(place.exists(), "the process has ended")

    def test_a_publication_ends_with_a_program_that_was_killed(self):
        """The program itself cannot end it then, and a forked process does not keep it."""
        for fork in ("", "if os.fork() == 0: os.close(1); os.close(2); time.sleep(600)\n"):
            with self.subTest(fork=fork):
                code = "import os, signal, sys, time, weir\n"
                code += "made = weir.publish('/alice/killed', b'1', socket=sys.argv[1])\n"
                code += "print(made._process.pid, flush=True)\n" + fork
                code += "os.kill(os.getpid(), signal.SIGKILL)"
                command = [sys.executable, "-c", code, self.socket]
                begun = {"stdout": subprocess.PIPE, "text": True, "start_new_session": True}
                with subprocess.Popen(command, **begun) as program:
                    try:
                        serving = int(program.stdout.readline())
                        wait_until(lambda: has_ended(serving), "the end of the publication")
                    finally:
                        # The forked process waits, and what should have ended, too.
                        with contextlib.suppress(ProcessLookupError):
                            os.killpg(program.pid, signal.SIGKILL)

    def test_asyncio(self):
        """Several transfers at a time."""

        async def several():
            async with aio.publish("/alice/aio", CONTENT, socket=self.socket, sign="/alice"):
                name = "/alice/aio"
                tasks = [aio.fetch(name, socket=self.socket) for _ in range(3)]
                fetched = await asyncio.gather(*tasks)
                pieces = [piece async for piece in aio.stream(name, socket=self.socket)]
                with self.assertRaises(weir.NotFound):
                    await aio.fetch("/nobody/has/this", socket=self.socket)
                return [one.content for one in fetched], b"".join(pieces)

        fetched, piece = asyncio.run(several())
        self.assertEqual(fetched + [piece], [CONTENT] * 4)

    def test_texts_are_for_programs(self):
        """They speak of calls, not of commands."""
        text = '{"error": {"message": "it broke off", "next": "run the same command again to x"}}'
        error = _transfer.failure(1, f"some text\n{text}\n")
        self.assertEqual(str(error), "it broke off; repeat the call to x")
        error = _transfer.failure(1, '{"error": {"message": "it broke off", "next": null}}')
        self.assertEqual(str(error), "it broke off")

    def test_a_cancelled_task_ends_its_process(self):
        """A forwarder that accepts the connection and never answers keeps the fetch waiting."""
        made, created = [], asyncio.Event()
        create = asyncio.create_subprocess_exec

        async def recorded(*command, **options):
            made.append(await create(*command, **options))
            created.set()
            return made[0]

        async def cancelled(path):
            accepted = asyncio.Event()
            server = await asyncio.start_unix_server(lambda *_: accepted.set(), path)
            async with server:
                waiting = asyncio.create_task(aio.fetch("/alice/none", socket=path))
                await asyncio.gather(accepted.wait(), created.wait())
                waiting.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await waiting
                return made[0].returncode

        with mock.patch("asyncio.create_subprocess_exec", recorded):
            status = asyncio.run(cancelled(str(self.folder / "silent.sock")))
        self.assertIsNotNone(status, "the process has ended")
