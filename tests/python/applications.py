"""`weir.Application` through a real daemon."""

import contextlib
import gc
import hashlib
import os
import socket
import subprocess
import sys
import threading

import weir
from _application import FILES, LONG, ROOM, SHORT, TASKS, WithApplication
from support import ndn
from support.children import memory_bytes, wait_until


class Answers(WithApplication):
    """Handlers and what they return."""

    def test_a_function_answers_rejects_and_is_silent(self):
        """With each kind of value; the counters count."""
        below = weir.Reply("deep", name="/alice/app/below/it")
        given = {
            "bytes": b"\x00\xff",
            "text": "näive",
            "view": memoryview(b"view"),
            "reply": weir.Reply(b"r", freshness=2.5, content_type=3),
            "below": below,
            "none": None,
            "silent": weir.SILENT,
        }
        names = []

        def handler(interest):
            names.append(interest.name)
            return given[interest.name.rpartition("/")[2]]

        made = self.app.register("/alice/app", handler)
        self.assertEqual(self.prefixes(), {"/alice/app"})
        data = self.ask("/alice/app/bytes")
        self.assertEqual((data.name, bytes(data)), ("/alice/app/bytes", b"\x00\xff"))
        self.assertEqual((data.content_type, data.freshness), (0, None))
        # The tests' default key is alice's.
        self.assertEqual(data.verified, "key")
        self.assertRegex(data.key, "^/alice/KEY/")
        self.assertEqual(self.ask("/alice/app/text").content.decode(), "näive")
        self.assertEqual(self.ask("/alice/app/view").content, b"view")
        data = self.ask("/alice/app/reply", fresh=True)
        self.assertEqual((data.content, data.freshness, data.content_type), (b"r", 2.5, 3))
        data = self.ask("/alice/app/below", prefix=True)
        self.assertEqual((data.name, data.content), ("/alice/app/below/it", b"deep"))
        with self.assertRaisesRegex(weir.NotFound, "/alice/app/none has no such packet") as caught:
            self.ask("/alice/app/none")
        self.assertEqual(caught.exception.kind, "not-found")
        with self.assertRaisesRegex(weir.TimedOut, "no answer to /alice/app/silent within 50ms"):
            self.app.express("/alice/app/silent", lifetime=SHORT)
        self.assertTrue(issubclass(weir.TimedOut, (weir.TransferError, TimeoutError)))
        self.assertEqual(names, [f"/alice/app/{last}" for last in given])
        self.assertEqual((made.answered, made.rejected, made.failed), (5, 1, 0))
        self.assertIsNone(made.error)
        made.close()
        self.assertEqual(self.prefixes(), set())
        self.assertEqual((made.answered, self.app.registrations), (5, []))

    def test_an_interest_arrives_as_it_was_sent(self):
        """Its parameters, selectors, lifetime and hop limit."""
        seen = []

        @self.app.register("/alice/asked")
        def handler(interest):
            seen.append(interest)
            return weir.Reply(interest.parameters or b"none", freshness=1)

        self.assertEqual(handler.__name__, "handler")
        data = self.ask("/alice/asked/p", parameters="ä", fresh=True, hop_limit=9, lifetime=1.5)
        self.assertEqual(data.content, "ä".encode())
        self.assertRegex(data.name, "^/alice/asked/p/params-sha256=[0-9a-f]{64}$")
        self.assertEqual(self.ask("/alice/asked/q", prefix=True).content, b"none")
        first, second = seen
        self.assertEqual((first.name, first.parameters), (data.name, "ä".encode()))
        self.assertEqual((first.fresh, first.prefix, first.lifetime), (True, False, 1.5))
        # The daemon has taken one away.
        self.assertEqual((first.hop_limit, second.hop_limit), (8, None))
        self.assertEqual((second.fresh, second.prefix), (False, True))
        self.assertEqual(repr(second), "<weir.Interest /alice/asked/q>")

    def test_faults_of_a_handler_reject_the_interest_and_are_logged(self):
        """With the name and the exception. The registration goes on."""

        def handler(interest):
            last = interest.name.rpartition("/")[2]
            if last == "raises":
                raise ValueError("a mistake of the program")
            if last == "exits":
                sys.exit(3)
            made = {"number": 42, "inner": weir.Reply, "large": bytes(8800), "good": b"good"}
            return made.get(last) or weir.Reply(b"", name={"other": "/else", "noname": "x y"}[last])

        made = self.app.register("/alice/faulty", handler)
        expected = {
            "raises": "ValueError: a mistake of the program",
            "exits": "SystemExit: 3",
            "number": "TypeError: a handler returns bytes, a text, .* or None, not int",
            "inner": "TypeError: a handler returns .*, not type",
            "large": "UsageError: the reply to /alice/faulty/large has 8824 bytes",
            "other": "UsageError: a reply with the name /else does not answer /alice/faulty/other",
            "noname": "UsageError: the name of the reply: ",
        }
        for last, text in expected.items():
            with self.subTest(last), self.assertLogs("weir") as logs:
                with self.assertRaises(weir.NotFound):
                    self.ask(f"/alice/faulty/{last}")
                asked = f"handler of /alice/faulty failed for the Interest /alice/faulty/{last}"
                self.assertRegex(logs.output[0], asked)
                self.assertRegex(logs.output[0], text)
        self.assertEqual(self.ask("/alice/faulty/good").content, b"good")
        self.assertEqual((made.answered, made.rejected, made.failed), (1, 0, len(expected)))

    def test_wrong_arguments_have_clear_errors(self):
        """Before anything is sent."""
        for call, error, text in (
            (lambda: self.app.express("no name"), weir.UsageError, "no name"),
            (lambda: self.app.express("/a", lifetime=-1), weir.UsageError, "lifetime"),
            (lambda: self.app.express("/a", lifetime="4"), TypeError, "`lifetime` is a number"),
            (lambda: self.app.express("/a", hop_limit=256), ValueError, "at most 255"),
            (lambda: self.app.express("/a", parameters=7), TypeError, "`parameters` is bytes"),
            (lambda: self.app.express("/a", parameters=bytes(9000)), weir.UsageError, "8800"),
            (lambda: self.app.express("/a", trust="none.cert"), weir.UsageError, "none.cert"),
            (lambda: self.app.register("/a", 7), TypeError, "a handler is a function, not int"),
            (lambda: self.app.register("a b", print), weir.UsageError, "a b"),
            (lambda: self.app.register("/a", print, key="/nobody"), weir.UsageError, "/nobody"),
            (lambda: self.app.register("/a", print, key="/alice"), weir.UsageError, "not for /a"),
            (lambda: weir.Reply(7), TypeError, "`content` is bytes or a text, not int"),
            (lambda: weir.Reply("", freshness="1"), TypeError, "`freshness` is a number"),
            (lambda: weir.Application("ftp://x"), weir.UsageError, "ftp"),
            (lambda: weir.Application(self.socket, trust="none.cert"), weir.UsageError, "none"),
        ):
            with self.assertRaisesRegex(error, text):
                call()

        async def later(_):
            return b""

        with self.assertRaisesRegex(TypeError, "weir.aio.Application"):
            self.app.register("/a", later)
        with self.assertRaisesRegex(weir.NoForwarder, "no forwarder at .*absent.sock"):
            weir.Application(self.folder / "absent.sock")
        self.assertEqual(self.prefixes(), set())

    def test_a_handler_may_close_its_registration_and_its_application(self):
        """The handler returns, and the daemon knows the prefix no more."""
        for close in (lambda app: app.registrations[0].close(), lambda app: app.close()):
            app, returned = weir.Application(self.socket), threading.Event()

            def handler(_, app=app, close=close, returned=returned):
                close(app)
                returned.set()
                return "the last answer"

            app.register("/alice/once", handler)
            # The answer is on its way, or the thread has ended before it left.
            with contextlib.suppress(weir.TimedOut, weir.NotFound):
                self.app.express("/alice/once/1", lifetime=SHORT)
            self.assertTrue(returned.wait(LONG))
            wait_until(lambda: not self.prefixes(), "the end of the registration", LONG)
            app.close()

    def test_names_that_an_application_does_not_have_are_rejected_by_the_forwarder(self):
        """No route, and a prefix that applications may not have."""
        with self.assertRaisesRegex(weir.NotFound, "a forwarder returned /nobody/1"):
            self.ask("/nobody/1")
        with self.assertRaises(weir.TransferError) as caught:
            self.app.register("/localhost/nfd", lambda _: b"")
        self.assertEqual(caught.exception.kind, "rejected")


class Verification(WithApplication):
    """Keys of replies, and rules of trust."""

    def test_replies_are_signed_and_other_keys_are_rejected(self):
        """By the application's key, that of the registration, and an unknown one."""
        trust = self.folder / "alice.cert"
        with weir.Application(self.socket, trust=trust, key="/alice") as alice:
            alice.register("/alice/signed", lambda _: weir.Reply("hers", freshness=1))
            alice.register("/mallory/signed", lambda _: "not hers", key="/mallory")
            data = alice.express("/alice/signed/1", lifetime=LONG)
            self.assertEqual((data.content, data.verified), (b"hers", "key"))
            self.assertTrue(data.key.startswith("/alice/KEY/"))
            with self.assertRaisesRegex(weir.NotVerified, "/mallory/signed/1") as caught:
                alice.express("/mallory/signed/1", lifetime=LONG)
            self.assertEqual(caught.exception.kind, "not-verified")
            other = self.folder / "mallory.cert"
            data = alice.express("/mallory/signed/2", lifetime=LONG, trust=[other])
            self.assertTrue(data.key.startswith("/mallory/KEY/"))
            # A digest detects corruption only.
            self.app.register("/plain", lambda _: "anybody's")
            self.assertEqual(self.ask("/plain/1").verified, "digest")
            with self.assertRaises(weir.NotVerified):
                alice.express("/plain/2", lifetime=LONG)

    def test_forged_data_is_not_returned(self):
        """A digest of other content. The same packet with its own digest is accepted."""
        path = str(self.folder / "forger.sock")
        server = socket.socket(socket.AF_UNIX)
        self.addCleanup(server.close)
        server.bind(path)
        server.listen()
        named = ndn.name("forged")
        fields = named + ndn.tlv(0x15, b"content") + ndn.tlv(0x16, ndn.tlv(0x1B, b"\0"))
        right = hashlib.sha256(fields).digest()
        for digest, accepted in ((bytes(32), False), (right, True)):
            packet = ndn.tlv(6, fields + ndn.tlv(0x17, digest))

            def forge(packet=packet):
                # The first connection only looks whether a forwarder is there.
                server.accept()[0].close()
                peer = server.accept()[0]
                with peer:
                    peer.recv(9000)
                    peer.sendall(packet)
                    # Until the consumer has it.
                    peer.recv(9000)

            thread = threading.Thread(target=forge, daemon=True)
            thread.start()
            with weir.Application(path) as app:
                if accepted:
                    self.assertEqual(app.express("/forged", lifetime=LONG).content, b"content")
                else:
                    with self.assertRaises(weir.NotVerified):
                        app.express("/forged", lifetime=LONG)
            thread.join(LONG)

    def test_objects_are_fetched_and_published_by_forwarder_trust_and_key(self):
        """Those of the application. Its publications end with it."""
        trust = self.folder / "alice.cert"
        with weir.Application(self.socket, trust=trust, key="/alice") as alice:
            made = alice.publish("/alice/object", b"content")
            self.publish("/mallory/object", b"content", sign="/mallory")
            fetched = alice.fetch("/alice/object")
            self.assertEqual((fetched.content, fetched.verified), (b"content", "key"))
            with self.assertRaises(weir.NotVerified):
                alice.fetch("/mallory/object")
            self.assertEqual(alice.fetch("/mallory/object", trust=()).content, b"content")
            self.assertTrue(made.is_serving)
        self.assertFalse(made.is_serving)


class Lives(WithApplication):
    """Threads, ends, restarts and forks."""

    def test_several_threads_use_one_application(self):
        """While one waits for its answer, others go on."""
        self.app.register("/alice/threads", lambda interest: interest.name)
        self.app.register("/alice/waiting", lambda _: weir.SILENT)
        failures, waiting = [], threading.Event()

        def ask(number):
            for turn in range(10):
                name = f"/alice/threads/{number}/{turn}"
                if self.ask(name).content.decode() != name:
                    failures.append(name)

        def wait():
            try:
                waiting.set()
                self.ask("/alice/waiting/1", lifetime=3600)
            except weir.UsageError as error:
                failures.append(str(error))

        blocked = threading.Thread(target=wait, daemon=True)
        blocked.start()
        waiting.wait()
        threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertTrue(blocked.is_alive())
        self.app.close()
        blocked.join(LONG)
        self.assertEqual(failures, ["the application was closed meanwhile"])

    def test_a_closed_application_does_nothing(self):
        """It says so. `close` may be repeated, and `wait` ends."""
        self.app.register("/alice/closed", lambda _: b"")
        waiting = threading.Thread(target=self.app.wait, daemon=True)
        waiting.start()
        self.app.wait(timeout=0.01)
        self.app.close()
        self.app.close()
        waiting.join(LONG)
        self.assertFalse(waiting.is_alive())
        for call in (
            lambda: self.app.express("/alice/closed/1"),
            lambda: self.app.register("/alice/closed", lambda _: b""),
            lambda: self.app.fetch("/alice/closed"),
            lambda: self.app.publish("/alice/closed", b""),
            self.app.wait,
            self.app.__enter__,
        ):
            with self.assertRaisesRegex(weir.UsageError, "the application is closed"):
                call()
        self.assertEqual(self.prefixes(), set())

    def test_registrations_survive_the_daemon(self):
        """They are there again after its restart."""
        self.app.register("/alice/again", lambda _: "here")
        self.assertEqual(self.ask("/alice/again/1").content, b"here")
        self.daemon.process.kill()
        with self.assertRaises(weir.NoForwarder):
            self.ask("/alice/again/2")
        self.daemon.start()
        self.addClassCleanup(self.daemon.process.kill)
        wait_until(lambda: "/alice/again" in self.prefixes(), "the registration", LONG)
        self.assertEqual(self.ask("/alice/again/3").content, b"here")

    def test_an_application_that_is_garbage_ends(self):
        """Also if its handlers refer to it."""

        def begun():
            app = weir.Application(self.socket)
            app.register("/alice/garbage", lambda _: repr(app))
            return app.register("/alice/other", lambda _: b"")

        made = begun()
        self.assertEqual(self.prefixes(), {"/alice/garbage", "/alice/other"})
        gc.collect()
        self.assertEqual(self.ask("/alice/other/1").content, b"", "a registration keeps it")
        del made
        gc.collect()
        wait_until(lambda: not self.prefixes(), "the end of the registrations", LONG)

    def test_nothing_grows(self):
        """Threads, descriptors and memory after many operations."""

        def several(count):
            for _ in range(count):
                with self.app.register("/alice/grows", lambda interest: interest.name):
                    for number in range(10):
                        self.ask(f"/alice/grows/{number}")
                    with self.assertRaises(weir.NotFound):
                        self.ask("/nobody/1")

        several(10)
        gc.collect()
        before = (len(list(TASKS.iterdir())), len(list(FILES.iterdir())))
        memory = memory_bytes(os.getpid(), "VmRSS")
        several(40)
        gc.collect()

        def left():
            return (len(list(TASKS.iterdir())), len(list(FILES.iterdir()))) <= before

        wait_until(left, "the end of threads and files", LONG)
        self.assertLess(memory_bytes(os.getpid(), "VmRSS"), memory + ROOM)

    def test_an_interpreter_that_ends_closes_its_registrations(self):
        """With handlers that are idle, busy, and blocked, and without an error."""
        child, out = self.script("""
begun = threading.Event()
@app.register("/alice/idle")
def idle(interest):
    return b""
@app.register("/alice/blocked")
def blocked(interest):
    begun.set()
    time.sleep(3600)
@app.register("/alice/endless")
def endless(interest):
    while True:
        pass
@app.register("/alice/busy")
def busy(interest):
    return interest.name
def flood():
    number = 0
    while True:
        number += 1
        app.express(f"/alice/busy/{number}")
def ask(name):
    app.express(name, lifetime=3600)
sys.unraisablehook = threading.excepthook = lambda _: None
for target, *names in ((ask, "/alice/blocked/1"), (ask, "/alice/endless/1"), (flood,), (flood,)):
    threading.Thread(target=target, args=names, daemon=True).start()
begun.wait()
print("ends")
""")
        self.check_end(child, out, ["ends"])
        wait_until(lambda: not self.prefixes(), "the end of the registrations", LONG)

    def test_control_c_ends_an_interest_that_waits(self):
        """And the wait of an application."""
        child, out = self.script("""
asked = threading.Event()
@app.register("/alice/silent")
def silent(interest):
    asked.set()
    return weir.SILENT
def interrupt():
    asked.wait()
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    app.express("/alice/silent/1", lifetime=3600)
except KeyboardInterrupt:
    print("express")
try:
    threading.Thread(target=interrupt).start()
    app.wait()
except KeyboardInterrupt:
    print("wait")
""")
        self.check_end(child, out, ["express", "wait"])

    def test_a_fork_has_no_part_in_the_application(self):
        """It gets an error, and ends well; the parent goes on."""
        child, out = self.script("""
made = app.register("/alice/forked", lambda _: b"parent")
for exits in (lambda: sys.exit(0), lambda: os._exit(0)):
    child = os.fork()
    if child == 0:
        one, other = lambda: app.express("/alice/forked/1"), lambda: app.register("/b", print)
        for call in (one, other, lambda: made.error):
            try:
                call()
            except weir.UsageError as error:
                os.write(1, (str(error).replace(" ", "_") + "\\n").encode())
        made.close()
        app.close()
        del made, app
        exits()
    assert os.waitpid(child, 0)[1] == 0
    print(app.express("/alice/forked/1").content.decode(), flush=True)
""")
        said = "the_application_was_made_before_a_fork;_make_one_in_each_process"
        self.check_end(child, out, [said, said, said, "parent"] * 2)


CONSUMER = """
import asyncio, sys
from ndn.app import NDNApp
from ndn.encoding import Name
from ndn.security import KeychainDigest

async def main():
    for name in sys.argv[1:]:
        found, _, content = await app.express_interest(
            name, can_be_prefix=True, lifetime=60000, app_param=b"asked")
        print(Name.to_str(found[:2]), bytes(content).decode())
    app.shutdown()

app = NDNApp(keychain=KeychainDigest())
app.run_forever(after_start=main())
"""


class Interoperation(WithApplication):
    """python-ndn's library as consumer."""

    def test_a_consumer_of_python_ndn_is_answered(self):
        """With parameters, whose digest both compute."""

        @self.app.register("/alice/both")
        def answer(interest):
            return interest.parameters

        # python-ndn takes a Nack without a reason, as rejections are, for an Interest.
        command = [sys.executable, "-c", CONSUMER, "/alice/both/1", "/alice/both/2"]
        environment = {**os.environ, "NDN_CLIENT_TRANSPORT": f"unix://{self.socket}"}
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=LONG, check=False
        )
        self.assertEqual(done.stdout, "/alice/both asked\n" * 2, done.stderr)
        self.assertEqual((self.app.registrations[0].answered, done.returncode), (2, 0))
