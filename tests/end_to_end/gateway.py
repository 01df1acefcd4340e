"""Content by HTTP: `weir gateway`, and `weir get -o -` into a pipe, with readers of all kinds."""

import concurrent.futures
import contextlib
import hashlib
import http.client
import os
import signal
import subprocess
import unittest.mock

from alone import SIZE, Alone
from support import children, content
from support.gateway import PATIENCE, Gateway

MEGABYTE = content.MEGABYTE
LARGE = 60 * MEGABYTE
# The memory of a process without unnecessary buffers: the program itself, one thread or two, 4 MB
# for each client or 16 MB for standard output. The whole object would be far more.
SMALL = 45 * MEGABYTE
INTERRUPTED = 5
SEGMENT = 8000


class ByHttp(Alone):
    """One daemon with a small and a large object, and a gateway for each test."""

    faces = (("nobody", "udp4://127.0.0.1:9"),)
    routes = (("/nobody", "nobody"),)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.large = content.make(cls.folder / "large.webm", LARGE, seed=2)
        for name, path in (("/film.webm", cls.sent), ("/large.webm", cls.large)):
            child = cls.daemon.put(name, path, options=["--segment-size", f"{SEGMENT} B"])
            cls.addClassCleanup(child.kill)

    def gateway(self, *options):
        """A gateway for as long as the test takes."""
        gateway = Gateway(self.daemon, self.here, *options)
        self.addCleanup(gateway.child.kill)
        return gateway

    def test_the_whole_a_part_the_head_and_nothing_new(self):
        gateway, sent = self.gateway(), self.sent.read_bytes()
        status, headers, body = gateway.ask("/film.webm")
        self.assertEqual((status, body == sent), (200, True))
        self.assertEqual(headers["Content-Type"], "video/webm")
        self.assertEqual(headers["Content-Length"], str(SIZE))
        tag = headers["ETag"]
        status, headers, body = gateway.ask("/film.webm", "HEAD")
        self.assertEqual((status, headers["Content-Length"], body), (200, str(SIZE), b""))
        for asked, span in (
            ("bytes=0-", (0, SIZE)),
            ("bytes=100000-899999", (100_000, 900_000)),
            ("bytes=-1000", (SIZE - 1000, SIZE)),
        ):
            status, headers, body = gateway.ask("/film.webm", Range=asked, If_Range=tag)
            shown = f"bytes {span[0]}-{span[1] - 1}/{SIZE}"
            self.assertEqual((status, headers["Content-Range"]), (206, shown))
            self.assertTrue(body == sent[slice(*span)], asked)
        status, headers, body = gateway.ask("/film.webm", Range=f"bytes={SIZE}-")
        self.assertEqual((status, headers["Content-Range"]), (416, f"bytes */{SIZE}"))
        status, headers, body = gateway.ask("/film.webm", If_None_Match=tag)
        self.assertEqual((status, headers["ETag"], body), (304, tag, b""))
        self.assertEqual(gateway.ask("/film.webm", If_Match=tag)[0], 200)
        self.assertEqual(gateway.ask("/film.webm", If_Match='"v=1"')[0], 412)
        version = tag.strip('"')
        self.assertTrue(gateway.ask(f"/film.webm/{version}")[2] == sent)
        self.assertFalse([said for said in gateway.answered(10) if said["error"]])

    def test_a_part_costs_its_segments_only(self):
        gateway = self.gateway()
        gateway.ask("/large.webm", Range="bytes=40000000-40079999")
        gateway.ask("/large.webm", "HEAD")
        part, head = gateway.answered(2)
        self.assert_documented("weir gateway", part)
        self.assertEqual((part["bytes"], part["segments"]), (80_000, 10))
        self.assertEqual((head["bytes"], head["segments"]), (0, 1))
        # Besides them: metadata, two nodes of the manifest, and what was asked for once more.
        self.assertLess(part["interests"], 20)
        self.assertLess(head["interests"], 10)

    def test_one_connection_serves_one_request_after_the_other(self):
        gateway = self.gateway()
        with contextlib.closing(gateway.connect()) as connection:
            for path, status in (("/film.webm", 200), ("/none", 404), ("/film.webm", 200)):
                connection.request("GET", path)
                answer = connection.getresponse()
                self.assertEqual((answer.status, answer.read() != b""), (status, True))

    def test_a_client_that_does_not_read_is_not_read_for(self):
        gateway = self.gateway()
        with gateway.begin("/large.webm") as slow:
            # Another one gets all of it meanwhile.
            body = gateway.ask("/large.webm")[2]
            self.assertEqual(hashlib.sha256(body).hexdigest(), content.sha256(self.large))
            self.assertEqual(len(gateway.answered(1)), 1, "the slow one's is not over")
            self.assertLess(children.peak_bytes(gateway.child.pid), SMALL)
            answer = http.client.HTTPResponse(slow)
            answer.begin()
            self.assertTrue(answer.read() == body, "he gets the rest when he reads")
        self.assertLess(children.peak_bytes(gateway.child.pid), SMALL)

    def test_the_fetch_of_a_client_that_goes_away_ends(self):
        gateway = self.gateway()
        with gateway.begin("/large.webm") as gone:
            gone.recv(1000)
        [said] = gateway.answered(1)
        self.assertEqual(said["error"], "the client disconnected")
        self.assertLess(said["segments"], LARGE // SEGMENT)

    def test_more_clients_than_places_wait_for_their_turn(self):
        gateway = self.gateway("--clients", "2")
        digest = content.sha256(self.sent)

        def one(_):
            return hashlib.sha256(gateway.ask("/film.webm")[2]).hexdigest()

        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            self.assertEqual(set(pool.map(one, range(40))), {digest})
        self.assertEqual({said["status"] for said in gateway.answered(40)}, {200})

    def test_unavailable_paths_get_error_replies(self):
        self.addCleanup(self.daemon.put("/other", self.sent).kill)
        gateway = self.gateway("--prefix", "/other", "--prefix", "/nobody", "--patience", "1 s")
        for path, status, part in (
            ("/other/none", 404, "/other/none was not found"),
            ("/nobody/film", 404, "no answer in 1.00 s"),
            ("/film.webm", 403, "ask for a name below /other, /nobody"),
            ("/", 400, "the path has no name"),
            ("/other//x", 400, "a component is empty"),
            ("/other/" + "x" * 9000, 414, "more than 8000 bytes"),
        ):
            got, headers, body = gateway.ask(path)
            self.assertEqual((got, headers["Content-Type"][:10]), (status, "text/plain"), body)
            self.assertIn(part, body.decode())
        status, headers, _ = gateway.ask("/other", "POST")
        self.assertEqual((status, headers["Allow"]), (405, "GET, HEAD"))
        self.assertEqual(gateway.ask("/other", Cookie="x" * 60_000)[0], 431)
        self.assertEqual(gateway.ask("/other")[0], 200)

    def test_untrusted_content_is_not_served(self):
        home = unittest.mock.patch.dict(os.environ, {"WEIR_HOME": str(self.here / "home")})
        home.start()
        self.addCleanup(home.stop)
        certificate = self.here / "certificate"
        certificate.write_text(children.run([self.program, "key", "new", "/somebody"]))
        status, _, body = self.gateway("--trust", certificate).ask("/film.webm")
        self.assertEqual((status, b"--trust" in body), (502, True), body)

    def test_an_answer_that_cannot_go_on_has_no_proper_end(self):
        doomed = self.daemon.put("/doomed", self.large)
        self.addCleanup(doomed.kill)
        gateway = self.gateway("--patience", "1 s")
        with gateway.begin("/doomed") as client:
            first = client.recv(1000)
            doomed.kill()
            self.assertTrue(first.startswith(b"HTTP/1.1 200 OK\r\n"))
            rest = b"".join(iter(lambda: client.recv(MEGABYTE), b""))
        self.assertLess(len(first) + len(rest), LARGE)
        [said] = gateway.answered(1)
        self.assertIn("did not arrive", said["error"])

    def test_ctrl_c_ends_it_with_answers_under_way(self):
        gateway = self.gateway()
        with gateway.begin("/large.webm") as client:
            client.recv(1000)
            os.kill(gateway.child.pid, signal.SIGINT)
            self.assertEqual(gateway.child.wait(PATIENCE), 0)


class IntoAPipe(Alone):
    """`weir get -o -`, as for a player that reads its standard input."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.large = content.make(cls.folder / "large", LARGE, seed=2)
        cls.addClassCleanup(cls.daemon.put("/large", cls.large).kill)

    def begin(self):
        """A fetch into a pipe without a reader yet; it holds 64 kB."""
        argv = [self.program, "get", "/large", "-o", "-", "--socket", self.daemon.socket]
        streams = {"stdin": subprocess.DEVNULL, "stderr": subprocess.PIPE}
        running = subprocess.Popen(argv, stdout=subprocess.PIPE, **streams)
        self.addCleanup(running.wait)
        self.addCleanup(running.kill)
        self.addCleanup(running.stderr.close)
        self.addCleanup(running.stdout.close)
        self.assertEqual(running.stdout.peek(1)[:1], self.large.read_bytes()[:1])
        return running

    def test_a_reader_that_pauses_gets_all_and_little_is_kept_for_him(self):
        running = self.begin()
        # Time enough to fetch all of it.
        self.daemon.get("/large", self.here / "copy").finish(PATIENCE)
        self.assertLess(children.peak_bytes(running.pid), SMALL)
        self.assertTrue(running.stdout.read() == self.large.read_bytes())
        self.assertEqual(running.wait(PATIENCE), 0, running.stderr.read())

    def test_a_reader_that_never_reads_again_can_be_left(self):
        running = self.begin()
        running.send_signal(signal.SIGINT)
        said = running.stderr.read().decode()
        self.assertEqual(running.wait(PATIENCE), INTERRUPTED)
        self.assertRegex(said, r"\Aweir: interrupted .*; run the same command again to start over")

    def test_a_reader_that_goes_away_ends_it(self):
        running = self.begin()
        running.stdout.close()
        said = running.stderr.read().decode()
        self.assertEqual(running.wait(PATIENCE), 7)
        self.assertIn("its reader closed it before all data had arrived", said)
