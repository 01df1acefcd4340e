"""Uploads through `weir gateway`: curl over HTTP/1.1 and HTTP/2, half bodies, limits, restarts."""

import contextlib
import json
import os
import socket
import subprocess
import tempfile
import types
import unittest
import unittest.mock
from pathlib import Path

from alone import Alone
from support import children, content, weir
from support.children import wait_until
from support.gateway import PATIENCE, Gateway
from support.volume import InMemory

MEGABYTE = content.MEGABYTE
TOKEN = "0123456789abcdef-for-tests"
USAGE = 2


def curl(*argv):
    """The output of curl."""
    return children.run(["curl", "--silent", "--show-error", "--max-time", "60", *argv])


class Uploads(Alone):
    """One daemon, and for each test a store and a gateway with uploads below /up."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if subprocess.run([weir.ROOT / "scripts/need", "curl"], check=False).returncode:
            raise unittest.SkipTest("curl is missing and cannot be installed")

    def setUp(self):
        super().setUp()
        self.store = self.here / "store"

    def gateway(self, *options):
        """A gateway for as long as the test takes."""
        folder = Path(tempfile.mkdtemp(dir=self.here))
        gateway = Gateway(self.daemon, folder, "--put", "/up", "--store", self.store, *options)
        self.addCleanup(gateway.child.kill)
        return gateway

    def put(self, gateway, path, body, **headers):
        """One upload: status, headers, text."""
        with contextlib.closing(gateway.connect()) as connection:
            named = {field.replace("_", "-"): value for field, value in headers.items()}
            connection.request("PUT", path, body=body, headers=named)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode()

    def fetched(self, name):
        """The bytes that `weir get` has of a name."""
        out = self.here / "got"
        self.daemon.get(name, out).finish(PATIENCE)
        return out.read_bytes()

    def assert_clean(self):
        """Nothing is left of uploads that broke off."""
        incoming = self.store / "incoming"
        wait_until(lambda: not list(incoming.glob("*")), "the bytes of the upload to be removed")
        self.assertEqual(children.run([self.program, "repo", "ls", "--json", "--store", self.store])
                         .count('"/up'), 0)

    def test_curl_uploads_with_both_versions_of_http_and_the_object_has_a_name(self):
        gateway = self.gateway()
        shown = "%{http_version} %{http_code} %header{location} %header{etag}"
        for option, version in (("--http1.1", "1.1"), ("--http2-prior-knowledge", "2")):
            url = f"http://127.0.0.1:{gateway.port}/up/some/{version}.webm"
            out = curl(option, "-T", self.sent, url, "-o", os.devnull, "--write-out", shown)
            said, status, location, tag = out.split()
            self.assertEqual([said, status], [version, "201"])
            bare = tag.strip('"')
            self.assertEqual(location, f"/up/some/{version}.webm/{bare}")
            self.assertTrue(self.fetched(f"/up/some/{version}.webm") == self.sent.read_bytes())
            status, headers, body = gateway.ask(location)
            self.assertEqual((status, headers["ETag"]), (200, tag))
            self.assertTrue(body == self.sent.read_bytes())
        logged = [said for said in gateway.answered(4) if said["method"] == "PUT"]
        self.assertEqual([said["bytes"] for said in logged], [self.sent.stat().st_size] * 2)
        self.assertTrue(logged[0]["name"].startswith("/up/some/1.1.webm/v="), logged)

    def test_chunks_without_a_size_and_expect_and_nothing_at_all(self):
        gateway = self.gateway()
        url = f"http://127.0.0.1:{gateway.port}/up/"
        for name, argv in (
            ("chunked", ["-H", "Transfer-Encoding: chunked"]),
            ("expect", ["-H", "Expect: 100-continue"]),
        ):
            curl("--http1.1", "--fail", *argv, "-T", self.sent, url + name)
            self.assertTrue(self.fetched(f"/up/{name}") == self.sent.read_bytes(), name)
        self.assertEqual(self.put(gateway, "/up/empty", b"")[0], 201)
        self.assertEqual(gateway.ask("/up/empty")[::2], (200, b""))

    def test_a_client_that_expects_100_is_rejected_before_its_body(self):
        gateway = self.gateway("--put-limit", "1 MB")
        head = "PUT /up/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2000000\r\n"
        for size, first in (("2000000", b"413"), ("3", b"100")):
            with socket.create_connection(("127.0.0.1", gateway.port), PATIENCE) as client:
                asked = head.replace("2000000", size) + "Expect: 100-continue\r\n\r\n"
                client.sendall(asked.encode())
                self.assertEqual(client.recv(1000).split()[1], first)

    def test_versions_and_conditions(self):
        gateway = self.gateway()
        first = self.put(gateway, "/up/x.txt", b"one", If_None_Match="*")
        self.assertEqual(first[0], 201)
        status, _, text = self.put(gateway, "/up/x.txt", b"two", If_None_Match="*")
        self.assertEqual(status, 412, text)
        tag = first[1]["ETag"]
        second = self.put(gateway, "/up/x.txt", b"three", If_Match=tag)
        self.assertEqual(second[0], 201)
        self.assertEqual(self.put(gateway, "/up/x.txt", b"four", If_Match=tag)[0], 412)
        self.assertEqual(self.put(gateway, "/up/y.txt", b"four", If_Match="*")[0], 412)
        self.assertEqual(gateway.ask("/up/x.txt")[2], b"three")
        self.assertEqual(gateway.ask(first[1]["Location"])[2], b"one")
        for day, status in (("Sun, 06 Nov 1994", 412), ("Sat, 06 Nov 2094", 201)):
            since = f"{day} 08:49:37 GMT"
            made = self.put(gateway, "/up/x.txt", b"five", If_Unmodified_Since=since)
            self.assertEqual(made[0], status, since)

    def test_names_that_are_no_files_are_rejected(self):
        gateway = self.gateway()
        for path, expected in (
            ("/up/..", 400),
            ("/up/%2e%2e/x", 400),
            ("/up/a%2Fb", 400),
            ("/up/x/v=7", 400),
            ("/up/x/seg=0", 400),
            ("/up/32=metadata", 400),
            ("/up/", 400),
            ("/up", 403),
            ("/other/x", 403),
            ("/localhost/nfd/faces/create", 403),
            ("/localhop/x", 403),
            ("/up" + "/x" * 70, 414),
        ):
            status, _, text = self.put(gateway, path, b"x")
            self.assertEqual(status, expected, f"{path}: {text}")
            self.assertGreater(len(text.split()), 8, "it says what to do")
        self.assertEqual(self.put(gateway, "/up/x", b"x", Content_Range="bytes 0-0/2")[0], 400)
        self.assertEqual(self.put(gateway, "/up/x", b"x", Content_Encoding="gzip")[0], 415)
        self.assert_clean()

    def test_a_name_is_rejected_if_packets_have_no_room_for_it(self):
        """Each length is rejected, or has content that is served."""
        gateway = self.gateway()
        statuses = []
        # A packet of 8,800 bytes has the name twice.
        for length in (4_200, *range(4_330, 4_360, 4), 4_400, 7_000):
            parts = ["up"]
            # A part has two more bytes in a name.
            while (left := length - sum(len(part) + 2 for part in parts)) > 200:
                parts.append("x" * 150)
            path = "/" + "/".join([*parts, "x" * (left - 2)])
            status, _, text = self.put(gateway, path, b"content")
            statuses.append(status)
            if status == 201:
                self.assertEqual(gateway.ask(path)[::2], (200, b"content"), length)
            else:
                self.assertEqual(status, 414, f"{length}: {text}")
                self.assertIn("choose a shorter name", text)
        self.assertEqual((statuses[0], statuses[-2:]), (201, [414, 414]))

    def test_bodies_with_a_coding_are_rejected(self):
        gateway = self.gateway()
        head = "PUT /up/x HTTP/1.1\r\nHost: localhost\r\n"
        transfer, content_coding = "Transfer-Encoding: ", "\r\nContent-Encoding: "
        for fields, expected in (
            (f"{transfer}gzip, chunked", b"501"),
            (f"{transfer}gzip\r\n{transfer}chunked", b"501"),
            (f"{transfer}chunked, chunked", b"501"),
            (f"{transfer}chunked{content_coding}identity", b"201"),
            (f"{transfer}chunked{content_coding}identity, gzip", b"415"),
            (f"{transfer}chunked{content_coding}identity{content_coding}br", b"415"),
        ):
            with socket.create_connection(("127.0.0.1", gateway.port), PATIENCE) as client:
                client.sendall(f"{head}{fields}\r\n\r\n1\r\nx\r\n0\r\n\r\n".encode())
                self.assertEqual(client.recv(1000).split()[1], expected, fields)

    def test_a_rejected_client_gets_the_answer_while_it_sends(self):
        token = self.here / "token"
        token.write_text(TOKEN, encoding="utf-8")
        gateway = self.gateway("--put-limit", "1 MB", "--put-token", token)
        large = content.make(self.here / "large", 20 * MEGABYTE)
        right = f"Authorization: Bearer {TOKEN}"
        for option in ("--http1.1", "--http2-prior-knowledge"):
            for path, field, status in (
                ("up/x", right, "413"),
                ("up/x", "X-A: b", "401"),
                ("other/x", right, "403"),
                ("up/x", "Host: attacker.example", "421"),
            ):
                for expect in ("Expect:", "Expect: 100-continue"):
                    done = subprocess.run(
                        ["curl", "--silent", option, "-T", large, "-H", field, "-H", expect,
                         "--max-time", "60", "--write-out", "%{http_code}", "-o", os.devnull,
                         f"http://127.0.0.1:{gateway.port}/{path}"],
                        capture_output=True, text=True, check=False,
                    )
                    about = (option, path, field, expect, done.returncode)
                    self.assertEqual(done.stdout, status, about)

    def test_uploads_are_off_by_default(self):
        gateway = Gateway(self.daemon, self.here)
        self.addCleanup(gateway.child.kill)
        status, headers, _ = self.put(gateway, "/up/x", b"x")
        self.assertEqual((status, headers["Allow"]), (405, "GET, HEAD"))

    def test_half_a_body_leaves_nothing(self):
        gateway = self.gateway()
        head = "PUT /up/half HTTP/1.1\r\nHost: localhost\r\n"
        chunk = b"10000\r\n" + bytes(0x10000) + b"\r\n"
        for end, body in (("Content-Length: 3000000", bytes(2 * MEGABYTE)),
                          ("Transfer-Encoding: chunked", chunk * 20)):
            with socket.create_connection(("127.0.0.1", gateway.port), PATIENCE) as client:
                client.sendall(f"{head}{end}\r\n\r\n".encode() + body)
                wait_until(lambda: self.staged() > MEGABYTE // 2, "some of the body to come")
            self.assert_clean()
        self.assertEqual(gateway.ask("/up/half")[0], 404)
        self.assertEqual(self.put(gateway, "/up/half", b"whole")[0], 201)

    def staged(self):
        """Bytes of uploads on the disk that are not stored."""
        found = (self.store / "incoming").glob("*/*.part")
        return sum(path.stat().st_size for path in found)

    def test_a_slow_client_is_ended(self):
        gateway = self.gateway("--client-timeout", "1 s")
        with socket.create_connection(("127.0.0.1", gateway.port), PATIENCE) as client:
            head = b"PUT /up/slow HTTP/1.1\r\nHost: localhost\r\n"
            client.sendall(head + b"Content-Length: 99\r\n\r\nx")
            self.assertEqual(client.recv(1000).split()[1], b"408")
        self.assert_clean()

    def test_an_upload_has_limits(self):
        gateway = self.gateway("--put-limit", "1 MB", "--quota", "1.5 MB")
        large = bytes(MEGABYTE + 1)
        self.assertEqual(self.put(gateway, "/up/x", large)[0], 413)
        self.assertEqual(self.put(gateway, "/up/x", iter([large]))[0], 413)
        self.assertEqual(self.put(gateway, "/up/x", os.urandom(MEGABYTE))[0], 201)
        status, _, text = self.put(gateway, "/up/y", os.urandom(MEGABYTE))
        self.assertEqual(status, 507, text)
        self.assertEqual(self.put(gateway, "/up/y", iter([os.urandom(MEGABYTE)]))[0], 507)
        self.assertEqual(self.staged(), 0)
        self.assertNotIn(str(self.store), text, "no paths of this host")

    def on_a_disk(self, size):
        """A disk of this size, and a gateway with its store there."""
        try:
            volume = InMemory(self.here, size)
        except children.Failed as reason:
            self.skipTest(str(reason))
        self.addCleanup(volume.close)
        about = types.SimpleNamespace(
            weir=self.program, socket=self.daemon.socket, host=None, command=volume.command
        )
        gateway = Gateway(about, self.here, "--put", "/up", "--store", volume.folder / "store")
        self.addCleanup(gateway.child.kill)
        return volume, gateway

    def test_a_full_disk_is_said_and_small_uploads_go_on(self):
        volume, gateway = self.on_a_disk(6 * MEGABYTE)
        self.assertEqual(self.put(gateway, "/up/a", b"small")[0], 201)
        status, _, text = self.put(gateway, "/up/b", iter([os.urandom(MEGABYTE)] * 9))
        self.assertEqual(status, 507, text)
        self.assertIn("No space left on device", gateway.answered(2)[-1]["error"])
        self.assertEqual(volume.run("ls", volume.folder / "store" / "incoming"), "")
        self.assertEqual(self.put(gateway, "/up/c", b"small too")[0], 201)
        self.assertEqual(gateway.ask("/up/a")[2], b"small")

    def test_a_disk_that_others_fill_takes_nothing_offline_and_removal_works(self):
        volume, gateway = self.on_a_disk(12 * MEGABYTE)
        store, fill = volume.folder / "store", volume.folder / "fill"
        large = os.urandom(3 * MEGABYTE)
        for name, body in (("/up/first", b"content"), ("/up/large", large)):
            self.assertEqual(self.put(gateway, name, body)[0], 201)
        # It ends with an error when the disk is full.
        volume.run("sh", "-c", 'head -c 99000000 /dev/zero >"$0" 2>/dev/null || true', fill)
        self.assertEqual(volume.free(), 0)
        for n in range(5):
            status, _, text = self.put(gateway, f"/up/{n}", b"")
            self.assertEqual(status, 507, text)
            self.assertEqual(gateway.ask("/up/first")[::2], (200, b"content"))
        # The reserve of the store is enough to make room.
        volume.run(self.program, "repo", "rm", "/up/large", "--store", store)
        self.assertEqual(gateway.ask("/up/large")[0], 404)
        self.assertEqual(self.put(gateway, "/up/second", b"new")[0], 201)
        volume.run("rm", fill)
        self.assertEqual(self.put(gateway, "/up/third", b"new")[0], 201)
        self.assertEqual(gateway.ask("/up/third")[2], b"new")
        self.assertEqual(self.fetched("/up/third"), b"new")
        self.assertEqual(self.fetched("/up/first"), b"content")
        self.assertEqual(volume.run("ls", store / "incoming"), "")
        volume.run(self.program, "repo", "verify", "--store", store)

    def test_names_count_in_the_quota(self):
        gateway = self.gateway("--quota", "100 kB")
        path = "/up/" + "/".join(["q" * 200] * 10)
        statuses = []
        while 507 not in statuses and len(statuses) < 100:
            statuses.append(self.put(gateway, f"{path}/{len(statuses)}", b"")[0])
        self.assertEqual(set(statuses[:-1]), {201}, statuses)
        self.assertEqual(statuses[-1], 507)
        self.assertLess((self.store / "index").stat().st_size, 2 * MEGABYTE)

    def repo(self, *argv):
        """Run `weir repo` with the store."""
        children.run([self.program, "repo", *argv, "--store", self.store])

    def test_conditions_and_trees_are_those_of_other_programs_too(self):
        gateway = self.gateway()
        file = content.make(self.here / "file", 100)
        tree = self.here / "tree"
        tree.mkdir()
        (tree / "q").write_bytes(b"of the tree")
        for n in range(3):
            self.repo("put", f"/up/x{n}", file)
            self.assertEqual(self.put(gateway, f"/up/x{n}", b"late", If_None_Match="*")[0], 412)
            tag = self.put(gateway, f"/up/y{n}", b"first")[1]["ETag"]
            self.repo("rm", f"/up/y{n}")
            self.assertEqual(self.put(gateway, f"/up/y{n}", b"late", If_Match=tag)[0], 412)
            self.repo("put", f"/up/t{n}", tree)
            self.assertEqual(self.put(gateway, f"/up/t{n}/q", b"late")[0], 409)

    def test_conditions_hold_when_the_upload_is_stored(self):
        gateway = self.gateway()
        file = content.make(self.here / "file", 100)
        for path, stored, field, expected in (
            ("/up/x", "/up/x", "If-None-Match: *\r\n", b"412"),
            ("/up/tree/x", "/up/tree", "", b"409"),
        ):
            if stored == "/up/tree":
                file = self.here / "folder"
                file.mkdir()
                (file / "x").write_bytes(b"of the tree")
            with socket.create_connection(("127.0.0.1", gateway.port), PATIENCE) as client:
                head = f"PUT {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n{field}"
                client.sendall(f"{head}\r\n12345".encode())
                wait_until(lambda: self.staged() == 5, "the upload to begin")
                self.repo("put", stored, file)
                client.sendall(b"6789")
                self.assertEqual(client.recv(1000).split()[1], expected)
            self.assertEqual(self.staged(), 0)

    def test_a_client_reads_its_own_upload(self):
        gateway = self.gateway()
        for n in range(5):
            body = f"version {n}".encode()
            self.assertEqual(self.put(gateway, "/up/x", body)[0], 201)
            status, headers, found = gateway.ask("/up/x")
            self.assertEqual((status, found), (200, body))
            self.assertEqual(headers["Cache-Control"], "no-cache")
            self.assertEqual(self.put(gateway, "/up/x", b"again", If_Match=headers["ETag"])[0], 201)
            self.assertEqual(gateway.ask("/up/x", "HEAD")[1]["Content-Length"], "5")

    def test_a_name_is_free_after_a_rejection(self):
        gateway = self.gateway()
        statuses = []
        with contextlib.closing(gateway.connect()) as connection:
            for n in range(100):
                fields = {"If-Match": "\"v=1\""} if n % 2 else {}
                connection.request("PUT", "/up/x", body=b"y", headers=fields)
                answer = connection.getresponse()
                answer.read()
                statuses.append(answer.status)
        self.assertEqual(statuses, [201, 412] * 50)

    def test_a_removed_object_is_not_found(self):
        gateway = self.gateway()
        for n in range(3):
            self.assertEqual(self.put(gateway, f"/up/{n}", b"x")[0], 201)
            self.repo("rm", f"/up/{n}")
            self.assertEqual(gateway.ask(f"/up/{n}")[0], 404)

    def test_a_download_ends_when_its_object_is_removed(self):
        gateway = self.gateway("--patience", "10 min")
        body = os.urandom(60 * MEGABYTE)
        self.assertEqual(self.put(gateway, "/up/x", body)[0], 201)
        with contextlib.closing(gateway.begin("/up/x")) as client:
            self.assertTrue(client.recv(1000).startswith(b"HTTP/1.1 200"))
            self.repo("rm", "/up/x")
            with contextlib.suppress(ConnectionError):
                while client.recv(1 << 20):
                    pass

    def test_uploads_of_one_client_are_limited_and_others_read_on(self):
        gateway = self.gateway()
        with contextlib.ExitStack() as open_until:
            for n in range(4):
                client = socket.create_connection(("127.0.0.1", gateway.port), PATIENCE)
                open_until.enter_context(client)
                head = f"PUT /up/{n} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nx"
                client.sendall(head.encode())
            incoming = self.store / "incoming"
            wait_until(lambda: len(list(incoming.glob("*/*.part"))) == 4, "four uploads to begin")
            status, headers, _ = self.put(gateway, "/up/more", b"x")
            self.assertEqual((status, headers["Retry-After"]), (429, "5"))
            self.assertEqual(gateway.ask("/up/")[0], 200)
        self.assert_clean()
        self.assertEqual(self.put(gateway, "/up/more", b"x")[0], 201)

    def test_a_token_is_required_beyond_loopback_and_where_there_is_one(self):
        argv = [self.program, "gateway", "--prefix", "/", "--socket", self.daemon.socket]
        argv += ["--put", "/up", "--store", self.store, "--listen"]
        done = subprocess.run([*argv, "0.0.0.0:0"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("--put-token", done.stderr)
        token = self.here / "token"
        token.write_text("short\n", encoding="utf-8")
        argv += ["127.0.0.1:0", "--put-token", token]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("fewer than 16 characters", done.stderr)
        token.write_text(TOKEN + "\n", encoding="utf-8")
        gateway = self.gateway("--put-token", token)
        status, headers, _ = self.put(gateway, "/up/x", b"x")
        self.assertEqual((status, headers["WWW-Authenticate"]), (401, "Bearer"))
        self.assertEqual(self.put(gateway, "/up/x", b"x", Authorization="Bearer no")[0], 401)
        self.assertEqual(self.put(gateway, "/up/x", b"x", Authorization=f"Bearer {TOKEN}")[0], 201)

    def test_another_name_of_the_host_is_accepted_if_it_is_given(self):
        for options, expected in ((), 421), (("--host", "alice.example"), 201):
            gateway = self.gateway(*options)
            host = f"alice.example:{gateway.port}"
            self.assertEqual(self.put(gateway, "/up/x", b"x", Host=host)[0], expected)
            gateway.child.stop()

    def test_uploads_stay_after_a_restart_and_without_the_gateway(self):
        gateway = self.gateway()
        self.assertEqual(self.put(gateway, "/up/sub/x", b"to stay")[0], 201)
        second = subprocess.run(
            [self.program, "repo", "run", "--store", self.store, "--socket", self.daemon.socket],
            capture_output=True, text=True, check=False,
        )
        self.assertIn("another process serves", second.stderr)
        with socket.create_connection(("127.0.0.1", gateway.port), PATIENCE) as client:
            client.sendall(b"PUT /up/y HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nx")
            incoming = self.store / "incoming"
            wait_until(lambda: list(incoming.glob("*/*.part")), "an upload to begin")
            gateway.child.kill()
        gateway = self.gateway()
        self.assertEqual(list(incoming.glob("*")), [], "it was cleaned at the start")
        self.assertEqual(gateway.ask("/up/sub/x")[2], b"to stay")
        gateway.child.stop()
        argv = [self.program, "repo", "run", "--store", self.store, "--json"]
        repo = children.Child([*argv, "--socket", self.daemon.socket], self.here / "repo.log",
                              self.here / "repo.json")
        self.addCleanup(repo.kill)
        wait_until((self.here / "repo.json").read_text, "the repository to serve")
        self.assertEqual(self.fetched("/up/sub/x"), b"to stay")

    def test_the_content_type_of_an_upload_is_kept(self):
        gateway = self.gateway()
        given = 'video/x-own; codecs="avc1.42E01E, mp4a.40.2"; a="\\"; b";'
        options = {"Content_Type": given}
        status, headers, _ = self.put(gateway, "/up/film.html", b"content", **options)
        self.assertEqual(status, 201)
        first = headers["Location"]
        self.assertEqual(self.put(gateway, "/up/plain.txt", b"content")[0], 201)
        form = {"Content_Type": "application/x-www-form-urlencoded"}
        self.assertEqual(self.put(gateway, "/up/form.txt", b"content", **form)[0], 201)
        for wrong in ("html", "text/html, image/png", "text/" + "x" * 200):
            status, _, body = self.put(gateway, "/up/wrong", b"x", Content_Type=wrong)
            self.assertEqual(status, 400)
            self.assertIn("Content-Type is malformed", body)
        gateway.child.stop()
        gateway = self.gateway()
        for method in ("GET", "HEAD"):
            for path in ("/up/film.html", first):
                self.assertEqual(gateway.ask(path, method)[1]["Content-Type"], given)
        for path in ("/up/plain.txt", "/up/form.txt"):
            headers = gateway.ask(path)[1]
            self.assertEqual(headers["Content-Type"], "text/plain; charset=utf-8")
        # A type that could be active is in a sandbox, whatever the name promises.
        for active in ("text/html", "image/svg+xml", "image/x+xml", "application/xhtml+xml"):
            self.put(gateway, "/up/picture.png", b"<p>", Content_Type=active)
            headers = gateway.ask("/up/picture.png")[1]
            self.assertEqual(headers["Content-Type"], active)
            self.assertTrue(headers["Content-Security-Policy"].startswith("sandbox;"), active)
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")

    def test_a_gateway_that_ends_leaves_no_half_uploads(self):
        gateway = self.gateway()
        with contextlib.ExitStack() as open_until:
            for n in range(3):
                client = socket.create_connection(("127.0.0.1", gateway.port), PATIENCE)
                open_until.enter_context(client)
                head = f"PUT /up/{n} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nx"
                client.sendall(head.encode())
            incoming = self.store / "incoming"
            wait_until(lambda: len(list(incoming.glob("*/*.part"))) == 3, "the uploads to begin")
            gateway.child.stop()
            self.assertEqual(list(incoming.glob("*")), [])
            for said in gateway.answered(3):
                self.assertIn("the gateway ended", said["error"])

    def test_a_gateway_that_ends_while_it_stores_leaves_no_half_uploads(self):
        """The upload has come, and is hashed or made durable."""
        size = 64 * MEGABYTE
        gateway = self.gateway()
        with socket.create_connection(("127.0.0.1", gateway.port), PATIENCE) as client:
            head = f"PUT /up/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: {size}\r\n\r\n"
            client.sendall(head.encode())
            client.sendall(bytes(size))
            wait_until(lambda: self.staged() == size, "the upload to come")
            gateway.child.stop()
        self.assertEqual(list((self.store / "incoming").glob("*")), [])

    def test_options_of_uploads_need_uploads_and_a_token_is_read_whole(self):
        argv = [self.program, "gateway", "--prefix", "/", "--socket", self.daemon.socket]
        for options in (["--put-limit", "1 MB"], ["--quota", "1 MB"], ["--store", self.store]):
            done = subprocess.run(
                [*argv, *options], capture_output=True, text=True, check=False, timeout=PATIENCE
            )
            self.assertEqual(done.returncode, USAGE, options)
            self.assertIn("--put", done.stderr)
        token = self.here / "token"
        token.write_text("x" * 4097, encoding="utf-8")
        argv += ["--put", "/up", "--store", self.store, "--put-token", token]
        done = subprocess.run(
            argv, capture_output=True, text=True, check=False, timeout=PATIENCE
        )
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("more than 4096 bytes", done.stderr)

    def test_folders_of_the_store_are_pages_with_a_form_and_lists(self):
        gateway = self.gateway()
        hostile = "%3Cscript%3Ealert(1)%3C%2Fscript%3E"
        self.assertEqual(self.put(gateway, f"/up/{hostile.replace('%2F', '')}", b"x")[0], 201)
        for path in ("/up/sub/one.txt", "/up/sub/deep/two.txt", "/up/zero.txt"):
            self.assertEqual(self.put(gateway, path, b"12345")[0], 201)
        status, headers, body = gateway.ask("/up/", Accept="application/json")
        entries = {entry["path"]: entry for entry in json.loads(body)["entries"]}
        self.assertEqual(status, 200)
        self.assertEqual((entries["sub"]["type"], entries["sub"]["size"]), ("directory", 10))
        self.assertEqual((entries["zero.txt"]["type"], entries["zero.txt"]["size"]), ("file", 5))
        _, headers, body = gateway.ask("/up/?q=two", Accept="application/json")
        self.assertEqual([entry["path"] for entry in json.loads(body)["entries"]],
                         ["sub/deep/two.txt"])
        status, headers, body = gateway.ask("/up/sub/")
        self.assertEqual(status, 200)
        self.assertIn(b'id="upload"', body)
        self.assertIn("script-src 'sha256-", headers["Content-Security-Policy"])
        self.assertNotIn("unsafe", headers["Content-Security-Policy"])
        _, _, body = gateway.ask("/up/")
        self.assertEqual(body.count(b"<script>"), 1, "its own")
        _, headers, _ = gateway.ask("/up/zero.txt")
        self.assertNotIn("script-src 'sha256-", headers["Content-Security-Policy"])

    def test_uploads_are_signed_by_the_key_of_the_gateway(self):
        home = self.here / "home"
        environment = {**os.environ, "WEIR_HOME": str(home)}
        certificate = children.run(
            ["env", f"WEIR_HOME={home}", self.program, "key", "new", "/up", "--default"]
        )
        trusted = self.here / "up.cert"
        trusted.write_text(certificate, encoding="utf-8")
        with unittest.mock.patch.dict(os.environ, environment):
            gateway = self.gateway()
        self.assertEqual(self.put(gateway, "/up/x", b"signed")[0], 201)
        out = self.here / "got"
        fetch = self.daemon.get("/up/x", out, ["--trust", trusted]).finish(PATIENCE)
        self.assertEqual(out.read_bytes(), b"signed")
        self.assertTrue(fetch.summary["key"].startswith("/up/KEY/"), fetch.summary)


if __name__ == "__main__":
    unittest.main()
