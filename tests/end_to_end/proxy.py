"""Files of HTTP origins by name: `weir proxy`, in front of `weir get` and `weir gateway`."""

import http.client
import itertools
import json
import os
import subprocess

from alone import Alone
from support import children, content
from support.children import Child, wait_until
from support.gateway import Gateway
from support.origin import DATE, Origin

PATIENCE = 60
BLOCK = 128 * 8000
# The program with its libraries takes 20 MB, and its eight threads for the origin a stack and a
# buffer of 64 kB each. The file of the test is larger, so that a copy of it in memory would show.
SMALL = 80 * content.MEGABYTE
NOT_FOUND = 3
FAILED = 1


class Proxied(Alone):
    """An origin, a proxy for it and a gateway; the daemon is shared."""

    options = ()

    def setUp(self):
        super().setUp()
        # The daemon's content store has the files of other tests.
        self.name = f"/example/{self.id().rpartition('.')[2]}"
        self.origin = Origin()
        self.addCleanup(self.origin.close)
        self.proxy = self.start(*self.options)

    def start(self, *options, name=None, url=None, before=()):
        """A proxy that is ready. The command follows the words `before`."""
        name = name or self.name
        out = self.here / f"proxy-{len(list(self.here.glob('proxy-*')))}.json"
        argv = [*before, self.program, "proxy", f"{name}={url or self.origin.url}", "--json"]
        argv += ["--socket", self.daemon.socket, *options]
        child = Child(argv, out.with_suffix(".log"), out)
        self.addCleanup(child.kill)
        wait_until(lambda: out.read_text(encoding="utf-8"), "the proxy to serve")
        child.out = out
        return child

    def gateway(self, *options):
        """A gateway for the origin's files below /hub."""
        gateway = Gateway(self.daemon, self.here, "--mirror", f"/hub={self.name}", *options)
        self.addCleanup(gateway.child.kill)
        return gateway

    def get(self, name, *options, status=0, daemon=None):
        """Fetch by name; the bytes, and the messages."""
        argv = [self.program, "cat", name, "--socket", (daemon or self.daemon).socket, *options]
        done = subprocess.run(argv, capture_output=True, timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout, done.stderr.decode()


class Files(Proxied):
    """An origin that does what it should."""

    def test_a_file_is_fetched_by_its_name(self):
        data = os.urandom(3 * BLOCK + 4321)
        self.origin.files = {"/a b/file.bin": data, "/empty": b"", "/one": b"1"}
        self.assertTrue(self.get(f"{self.name}/a%20b/file.bin")[0] == data)
        self.assertEqual(self.get(f"{self.name}/empty")[0], b"")
        self.assertEqual(self.get(f"{self.name}/one")[0], b"1")
        self.get(f"{self.name}/none", status=NOT_FOUND)

    def test_the_parts_of_a_file_share_connections(self):
        data = os.urandom(40 * BLOCK)
        self.origin.files["/long"] = data
        self.assertTrue(self.get(f"{self.name}/long")[0] == data)
        # Four transfers run at a time, while the origin may be asked for the version.
        self.assertGreater(len(self.origin.requests), 5)
        self.assertLessEqual(self.origin.connections, 5)

    def test_equal_files_have_equal_names_at_every_proxy(self):
        self.origin.files = {"/file": b"content"}
        self.start(name="/example/other")
        names = set()
        for prefix in (self.name, "/example/other"):
            argv = [self.program, "get", f"{prefix}/file", "--json", "-o", self.here / "out"]
            argv += ["--socket", self.daemon.socket]
            summary = json.loads(children.run([str(word) for word in argv]))
            names.add(summary["name"].rpartition("/")[2])
        self.assertEqual(len(names), 1, names)

    def test_a_part_costs_its_blocks_only(self):
        data = os.urandom(20 * BLOCK)
        self.origin.files = {"/large": data}
        gateway = self.gateway()
        first = 15 * BLOCK
        status, headers, body = gateway.ask("/hub/large", Range=f"bytes={first}-{first + 9}")
        self.assertEqual((status, body), (206, data[first : first + 10]))
        self.assertEqual(headers["Content-Range"], f"bytes {first}-{first + 9}/{len(data)}")
        # The first block comes with the headers.
        self.assertLessEqual(self.origin.sent["/large"], 2 * BLOCK)

    def test_the_gateway_answers_as_the_origin_does(self):
        data = os.urandom(BLOCK + 7)
        self.origin.files = {"/file": data}
        gateway = self.gateway()
        status, headers, body = gateway.ask("/hub/file")
        self.assertTrue((status, body) == (200, data))
        self.assertEqual(headers["Content-Type"], "application/x-test")
        self.assertEqual(headers["Last-Modified"], DATE)
        self.assertEqual(headers["Content-Length"], str(len(data)))
        tag = headers["ETag"]
        self.assertEqual(gateway.ask("/hub/file", If_None_Match=tag)[0], 304)
        self.assertEqual(gateway.ask("/hub/file", Range="bytes=5-9")[2], data[5:10])
        self.assertEqual(gateway.ask("/hub/file", Range=f"bytes={len(data)}-")[0], 416)
        status, headers, body = gateway.ask("/hub/file", "HEAD")
        self.assertEqual((status, headers["Content-Length"], body), (200, str(len(data)), b""))
        status, headers, body = gateway.ask("/hub/none")
        self.assertEqual((status, body), (404, b"nothing here\n"))
        self.assertEqual(headers["X-Error-Code"], "EntryNotFound")
        self.assertEqual(gateway.ask("/hub/file", "POST")[0], 405)

    def test_a_query_is_part_of_the_name(self):
        def answer(handler):
            body = json.dumps({"asked": handler.path}).encode()
            handler.answer(200, body, {"Content-Type": "application/json"})

        self.origin.special["/api"] = answer
        gateway = self.gateway()
        for path in ("/api", "/api?a=b%2Fc", "/api?a=d"):
            status, headers, body = gateway.ask(f"/hub{path}")
            self.assertEqual((status, json.loads(body)), (200, {"asked": path}))
            self.assertEqual(headers["Content-Type"], "application/json")

    def test_a_changed_file_is_a_new_version_within_its_freshness(self):
        self.proxy.kill()
        self.proxy = self.start("--fresh", "1 s")
        gateway = self.gateway()
        self.origin.files = {"/file": b"old"}
        self.assertEqual(gateway.ask("/hub/file")[2], b"old")
        self.origin.files = {"/file": b"newer"}
        wait_until(lambda: gateway.ask("/hub/file")[2] == b"newer", "the new version")
        # A file that was not there is found, too.
        self.assertEqual(gateway.ask("/hub/late")[0], 404)
        self.origin.files["/late"] = b"late"
        wait_until(lambda: gateway.ask("/hub/late")[2] == b"late", "the new file")

    def test_an_origin_without_ranges_and_one_without_validators(self):
        data = os.urandom(3 * BLOCK + 5)
        self.origin.files = {"/file": data}
        self.origin.has_ranges = False
        self.assertTrue(self.get(f"{self.name}/file")[0] == data)
        self.assertEqual(self.origin.sent["/file"], len(data), "one answer has all of it")
        self.origin.validates = False
        self.origin.files["/other"] = data
        self.assertTrue(self.get(f"{self.name}/other")[0] == data)

    def test_a_file_of_several_blocks_without_validators_is_fetched_as_a_whole(self):
        data = os.urandom(BLOCK * 2 + BLOCK // 2)
        self.origin.validates = False
        self.origin.files = {"/file": data}
        self.assertTrue(self.get(f"{self.name}/file")[0] == data)

    def test_versions_without_strong_validators_are_never_mixed(self):
        versions = [os.urandom(3 * BLOCK + 1) for _ in range(2)]
        turns = itertools.count()
        self.origin.validates = False
        # Equal for both versions, as after two changes within a second (RFC 9110, section 8.8.1).
        for name, field, value in (("weak", "ETag", 'W/"1"'), ("dated", "Last-Modified", DATE)):
            self.origin.special[f"/{name}"] = lambda handler, more={field: value}: handler.file(
                handler.path, versions[next(turns) % 2], **more
            )
            is_one = self.get(f"{self.name}/{name}")[0] in versions
            self.assertTrue(is_one, f"{name}: a mixture")

    def test_a_large_file_without_a_strong_validator_is_rejected_with_the_reason(self):
        self.proxy.kill()
        self.proxy = self.start("--cache-size", "66 MB")
        # A quarter of that cache is 16.5 MB.
        data = bytes(17 * content.MEGABYTE)
        self.origin.validates = False
        self.origin.special["/weak"] = lambda handler: handler.file(
            "/weak", data, ETag='W/"1"'
        )
        status, _, body = self.gateway().ask("/hub/weak")
        self.assertEqual(status, 502)
        self.assertIn(b"neither a strong ETag nor Docker-Content-Digest", body)

    def test_a_slow_file_takes_its_time(self):
        self.proxy.kill()
        self.proxy = self.start("--origin-timeout", "1 s")
        data = os.urandom(500_000)

        def slow(handler):
            # It lasts 15 times as long as one step may last, at 33 times the minimum rate.
            handler.send_response(200)
            handler.send_header("ETag", '"slow"')
            handler.send_header("Content-Length", str(len(data)))
            handler.end_headers()
            for at in range(0, len(data), len(data) // 60):
                handler.wfile.write(data[at : at + len(data) // 60])
                handler.origin.stopping.wait(0.25)

        self.origin.special["/slow"] = slow
        self.assertTrue(self.get(f"{self.name}/slow", "--patience", "1 min")[0] == data)
        self.assertEqual(len(self.origin.requests), 1)

    def test_a_file_larger_than_the_cache_passes_through_it(self):
        self.proxy.kill()
        self.proxy = self.start("--cache-size", "66 MB", "--cache", str(self.here))
        data = os.urandom(BLOCK) * 80
        self.origin.files = {"/large": data}
        self.assertTrue(self.get(f"{self.name}/large")[0] == data)
        self.assertLess(children.peak_bytes(self.proxy.pid), SMALL)


class Uncached(Proxied):
    """A daemon whose content store has no room: all Interests arrive at the proxy."""

    store = {"capacity": "0 B"}

    def test_two_consumers_cost_the_origin_one_fetch(self):
        data = os.urandom(2 * BLOCK + 1)
        self.origin.files = {"/file": data}
        self.assertTrue(self.get(f"{self.name}/file")[0] == data)
        self.assertTrue(self.get(f"{self.name}/file")[0] == data)
        self.assertEqual(self.origin.sent["/file"], len(data))


class Hostile(Proxied):
    """Origins, paths and redirects that go wrong."""

    options = ("--origin-timeout", "2 s", "--redirect", "127.0.0.1:9")

    def ask(self, path):
        """The status, and the text of the answer."""
        status, _, body = self.gateway().ask(f"/hub{path}")
        return status, body.decode(errors="replace")

    def test_an_origin_that_is_not_there(self):
        self.origin.server.server_close()
        self.origin.server.shutdown()
        status, text = self.ask("/file")
        self.assertEqual(status, 502)
        self.assertIn("does not answer", text)

    def test_an_origin_that_never_answers_does_not_hold_up_others(self):
        self.origin.special["/stall"] = lambda handler: handler.stall()
        self.origin.files = {"/file": b"content"}
        status, text = self.ask("/stall")
        self.assertEqual(status, 504, text)
        self.assertIn("does not answer", text)
        # While a request waits for longer than this test takes.
        self.start("--origin-timeout", "60 s", name="/patient")
        gateway = Gateway(self.daemon, self.here, "--mirror", "/patient=/patient")
        self.addCleanup(gateway.child.kill)
        before = len(self.origin.requests)
        with gateway.begin("/patient/stall"):
            wait_until(lambda: len(self.origin.requests) > before, "the request that waits")
            self.assertEqual(self.get("/patient/file")[0], b"content")

    def test_a_client_that_goes_away_is_waited_for_no_longer(self):
        self.origin.special["/stall"] = lambda handler: handler.stall()
        self.start("--origin-timeout", "600 s", name="/gone")
        options = ("--mirror", "/gone=/gone", "--patience", "600 s")
        gateway = Gateway(self.daemon, self.here, *options)
        self.addCleanup(gateway.child.kill)
        with gateway.begin("/gone/stall"):
            wait_until(lambda: self.origin.requests, "the request that waits")
        # Long before its patience ends.
        [said] = gateway.answered(1)
        self.assertEqual(said["error"], "the client disconnected")

    def test_an_answer_that_ends_early_or_stalls_is_an_error(self):
        def early(handler):
            handler.begin(1_000_000, b"x" * 20_000)
            handler.close_connection = True

        def stalled(handler):
            handler.begin(1_000_000, b"x" * 20_000)
            handler.stall()

        self.origin.special |= {"/early": early, "/stalled": stalled}
        for name in ("early", "stalled"):
            path = f"{self.name}/{name}"
            data, text = self.get(path, "--patience", "5 s", status=FAILED)
            # Two whole segments of the 20,000 bytes have come.
            self.assertEqual(data, b"x" * 16_000)
            self.assertIn("weir: ", text)

    def test_a_size_that_no_file_has(self):
        def huge(handler):
            handler.send_response(206)
            handler.send_header("ETag", '"huge"')
            handler.send_header("Content-Range", f"bytes 0-9/{2**60}")
            handler.send_header("Content-Length", "10")
            handler.end_headers()
            handler.wfile.write(b"x" * 10)

        self.origin.special["/huge"] = huge
        status, text = self.ask("/huge")
        self.assertEqual(status, 502)
        self.assertIn("which is too large", text)

    def test_a_length_that_no_cache_has_room_for(self):
        def huge(handler):
            # No parts, so the whole file would have to pass.
            handler.send_response(200)
            handler.send_header("ETag", '"huge"')
            handler.send_header("Content-Length", str(2**50))
            handler.end_headers()
            handler.wfile.write(b"x" * 3 * BLOCK)
            handler.stall()

        self.origin.special["/huge"] = huge
        self.origin.files = {"/file": b"content"}
        status, text = self.ask("/huge")
        self.assertEqual(status, 502)
        self.assertIn("larger than the cache", text)
        self.assertEqual(self.get(f"{self.name}/file")[0], b"content")

    def test_an_answer_that_trickles_is_ended_with_the_reason(self):
        self.origin.special["/trickle"] = lambda handler: handler.trickle()
        self.get(f"{self.name}/trickle", "--patience", "8 s", status=NOT_FOUND)
        self.assertIn("fewer than 1000 bytes per second come", self.messages())

    def test_the_text_of_a_failing_origin_is_for_consumers_only(self):
        self.origin.special["/fails"] = lambda handler: handler.answer(503, b"\x1b[2Jtext")
        self.assertEqual(self.ask("/fails"), (503, "\x1b[2Jtext"))
        wait_until(lambda: "503 Service Unavailable" in self.messages(), "the complaint")
        self.assertNotIn("text", self.messages())

    def test_an_empty_component_is_no_other_name_of_the_base(self):
        self.origin.files = {"/": b"base"}
        self.assertEqual(self.get(self.name)[0], b"base")
        # An empty component (NDN Packet Format Specification, URI scheme).
        self.get(f"{self.name}/...", status=NOT_FOUND)

    def messages(self):
        """The messages of the proxy."""
        return self.proxy.log.read_text(encoding="utf-8")

    def test_redirects_lead_only_where_they_may(self):
        def to(location):
            return lambda handler: handler.answer(302, b"", {"Location": location})

        self.origin.files = {"/file": b"content"}
        self.origin.special |= {
            "/near": to("/file"),
            "/deep/er/near": to("../.././file#part"),
            "/user": to(f"http://user:secret@127.0.0.1:{self.origin.port}/file"),
            "/private": to("http://169.254.169.254/latest"),
            "/other": to(f"http://localhost:{self.origin.port}/file"),
            "/script": to("file:///etc/passwd"),
            "/loop": to("/loop"),
        }
        gateway = self.gateway()
        self.assertEqual(gateway.ask("/hub/near")[2], b"content")
        self.assertEqual(gateway.ask("/hub/deep/er/near")[2], b"content")
        for path in ("private", "other", "user", "script", "loop"):
            status, _, body = gateway.ask(f"/hub/{path}")
            self.assertEqual(status, 502, body)
            self.assertIn(b"redirects", body)
            self.assertNotIn(b"secret", body)

    def test_credentials_go_to_the_origin_alone(self):
        elsewhere = Origin()
        self.addCleanup(elsewhere.close)
        elsewhere.files = {"/file": b"content"}
        where = f"{elsewhere.url}file"
        self.origin.special["/file"] = lambda handler: handler.answer(302, b"", {"Location": where})
        secrets = self.here / "headers"
        secrets.write_text("Authorization: Bearer secret\n", encoding="utf-8")
        self.start(
            "--headers", str(secrets), "--redirect", f"127.0.0.1:{elsewhere.port}", name="/secret"
        )
        self.assertEqual(self.get("/secret/file")[0], b"content")
        self.assertEqual(self.origin.requests[-1][1]["authorization"], "Bearer secret")
        self.assertNotIn("authorization", elsewhere.requests[-1][1])

    def test_no_name_leads_out_of_the_base(self):
        inner = self.start(name="/inner", url=f"{self.origin.url}public/")
        self.addCleanup(inner.kill)
        self.origin.files = {"/secret": b"secret", "/public/a": b"a"}
        self.assertEqual(self.get("/inner/a")[0], b"a")
        before = len(self.origin.requests)
        for path in ("%2E%2E%2Fsecret", "a%2F..%2F..%2Fsecret", "%252e%252e%2Fsecret", "a%0D%0Ax"):
            self.get(f"/inner/{path}", status=NOT_FOUND)
        self.assertEqual(len(self.origin.requests), before, self.origin.requests)

    def test_a_file_that_changes_under_way_is_an_error_and_then_the_new_one(self):
        old = self.origin.files["/file"] = os.urandom(10 * BLOCK)
        gateway = self.gateway("--patience", "2 s")
        self.assertEqual(gateway.ask("/hub/file", "HEAD")[0], 200)
        new = self.origin.files["/file"] = os.urandom(10 * BLOCK)

        def fetched():
            try:
                whole = gateway.ask("/hub/file")[2]
            except http.client.IncompleteRead as cut:
                # All of its bytes are of one version, and the end is clear.
                self.assertTrue(old.startswith(cut.partial) or new.startswith(cut.partial))
                return None
            self.assertTrue(whole == new, "a complete answer is the new version")
            return whole

        wait_until(fetched, "the new version")
