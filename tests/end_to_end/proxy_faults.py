"""Origins whose answers do not fit together, or come late: `weir proxy`."""

import gzip
import itertools
import os
import subprocess
import time

from proxy import BLOCK, FAILED, NOT_FOUND, Proxied
from support import weir
from support.children import Failed
from support.origin import DATE, Origin
from support.volume import Ext2, InMemory

# A description, and the transfers of one file that run at a time.
REQUESTS_PER_PAUSE = 1 + 4


class Faulty(Proxied):
    """An origin, and the messages of its proxy."""

    def messages(self):
        """The messages of the proxy."""
        return self.proxy.log.read_text(encoding="utf-8")

    def count(self, path):
        """The number of requests for a path that the origin has received."""
        return sum(1 for asked, _ in self.origin.requests if asked == path)


class Parts(Faulty):
    """The first part of a file, and others that do not fit to it."""

    def setUp(self):
        super().setUp()
        self.data = os.urandom(3 * BLOCK)

    def later(self, path, answer):
        """Answer for a file, and by `answer` for its later parts: a function of the handler."""

        def part(handler):
            first = handler.headers.get("Range", "bytes=0-").startswith("bytes=0-")
            return handler.file(path, self.data) if first else answer(handler)

        self.origin.special[path] = part

    def test_parts_that_are_of_no_version_do_not_flood_the_origin(self):
        tags = itertools.count()
        answers = {
            "/gone": lambda handler: handler.answer(404, b""),
            "/outside": lambda handler: handler.answer(416, b""),
            "/untagged": lambda handler: handler.file("/untagged", self.data, ETag=""),
            "/other": lambda handler: handler.file("/other", self.data, ETag=f'"{next(tags)}"'),
        }
        for path, answer in answers.items():
            self.later(path, answer)
            begun = time.monotonic()
            out, _ = self.get(f"{self.name}{path}", "--patience", "3 s", status=FAILED)
            self.assertEqual(out, self.data[:BLOCK])
            pauses = time.monotonic() - begun + 1
            self.assertLess(self.count(path), REQUESTS_PER_PAUSE * pauses, path)
        self.assertIn("404 Not Found to a request for a part", self.messages())
        self.assertIn("the size or ETag of a part", self.messages())

    def test_a_later_part_that_is_compressed_is_no_content(self):
        self.later("/packed", lambda handler: self.part(handler, gzip.compress, "gzip"))
        out, _ = self.get(f"{self.name}/packed", "--patience", "3 s", status=FAILED)
        self.assertEqual(out, self.data[:BLOCK])
        self.assertIn("compresses", self.messages())

    def part(self, handler, change, coding="identity"):
        """Answer with the requested part, changed."""
        first, last = map(int, handler.headers["Range"].removeprefix("bytes=").split("-"))
        body = change(self.data[first : last + 1])
        size = len(self.data)
        headers = {
            "ETag": handler.tag(self.data),
            "Content-Encoding": coding,
            "Content-Range": f"bytes {first}-{last}/{size}",
        }
        handler.answer(206, body, headers)

    def test_a_part_has_the_length_that_it_says(self):
        self.later("/long", lambda handler: self.part(handler, lambda body: body + b"more"))
        out, _ = self.get(f"{self.name}/long", "--patience", "3 s", status=FAILED)
        self.assertEqual(out, self.data[:BLOCK])
        self.assertIn("Content-Range", self.messages())

    def test_equal_strong_tags_are_of_equal_content_whatever_the_time(self):
        dates = itertools.cycle([DATE, "Fri, 20 Nov 2026 13:24:40 GMT"])
        tag = '"same"'
        self.origin.special["/file"] = lambda handler: handler.file(
            "/file", self.data, **{"ETag": tag, "Last-Modified": next(dates)}
        )
        out, _ = self.get(f"{self.name}/file", "--patience", "5 s")
        self.assertTrue(out == self.data)


class Late(Faulty):
    """Origins that take their time, and connections that they end."""

    def test_a_silent_origin_is_a_timeout(self):
        self.origin.special["/stall"] = lambda handler: handler.stall()
        status, _, body = self.gateway().ask("/hub/stall")
        self.assertEqual(status, 504, body)
        self.assertIn(b"does not answer", body)

    def test_a_whole_file_takes_its_time(self):
        data = os.urandom(500_000)
        pieces, pause = 50, 0.2

        def slow(handler):
            # No parts and no validators, so no byte can be passed on before the last is there. It
            # lasts longer than the 8 s after which consumers give up a name without an answer.
            handler.send_response(200)
            handler.send_header("Content-Length", str(len(data)))
            handler.end_headers()
            for at in range(0, len(data), len(data) // pieces):
                handler.wfile.write(data[at : at + len(data) // pieces])
                handler.origin.stopping.wait(pause)

        self.origin.special |= {"/slow": slow, "/other": slow}
        self.assertTrue(self.get(f"{self.name}/slow")[0] == data)
        status, _, body = self.gateway().ask("/hub/other")
        self.assertTrue((status, body) == (200, data), status)
        self.assertEqual(len(self.origin.requests), 2)

    def test_a_kept_connection_that_the_origin_has_ended_is_no_failure(self):
        ended = []

        def first(handler):
            handler.is_kept = True
            handler.answer(404, b"")

        def second(handler):
            # As a server whose limit of idle time ends just then.
            if getattr(handler, "is_kept", False):
                ended.append(handler)
                handler.close_connection = True
            else:
                handler.answer(200, b"content", {"ETag": '"1"'})

        self.origin.special = {"/first": first, "/second": second}
        self.get(f"{self.name}/first", status=NOT_FOUND)
        self.assertEqual(self.get(f"{self.name}/second")[0], b"content")
        self.assertEqual((len(ended), self.messages()), (1, ""))


class Long(Faulty):
    """Names that leave no room in a packet."""

    def test_a_name_that_metadata_has_no_room_for_ends_no_connection(self):
        path = "b" * 3900
        # Metadata has the name twice, and a packet at most 8800 bytes.
        prefix = f"/{'p' * 600}"
        proxy = self.start(name=prefix)

        def echo(handler):
            handler.file(handler.path, b"content")

        self.origin.special = {f"/{path}": echo, "/file": echo, "/" + "b" * 2500: echo}
        self.assertEqual(self.get(f"{self.name}/{path}")[0], b"content")
        # Its segments have the name once, and are found without metadata.
        self.assertEqual(self.get(f"{prefix}/{path}")[0], b"content")
        self.get(f"{self.name}/{'b' * 2500}/32=query/{'q' * 2400}", status=NOT_FOUND)
        self.assertEqual(self.get(f"{prefix}/file")[0], b"content")
        log = proxy.log.read_text(encoding="utf-8")
        self.assertEqual(log + self.messages(), "", "the forwarder has ended no connection")


class Full(Faulty):
    """A cache on a disk that is smaller than the cache may be."""

    def test_a_full_disk_is_a_small_cache(self):
        # In units of the disk: multiples of the pages of the cache, and others.
        for units in (2000, 2001, 2002, 2003, 2007):
            with self.subTest(units=units):
                self.fetch_through(InMemory, units * 4096)

    def test_a_full_disk_that_cannot_reserve_room(self):
        self.fetch_through(Ext2, 9 * BLOCK)

    def fetch_through(self, kind, size):
        folder = self.here / f"disk-{size}"
        folder.mkdir()
        try:
            volume = kind(folder, size)
        except Failed as reason:
            self.skipTest(str(reason))
        self.addCleanup(volume.close)
        self.proxy.kill()
        self.proxy = self.start("--cache", str(volume.folder), before=volume.command())
        data = os.urandom(30 * BLOCK)
        self.origin.files = {f"/{size}": data, "/small": b"content"}
        self.assertTrue(self.get(f"{self.name}/{size}")[0] == data)
        self.assertEqual(self.get(f"{self.name}/small")[0], b"content")


class Encrypted(Faulty):
    """Origins of HTTPS, with certificates that this test has made."""

    def certificate(self, host):
        """A certificate of a host that certifies itself, and its key."""
        if subprocess.run([weir.ROOT / "scripts/need", "openssl"], check=False).returncode:
            self.skipTest("openssl is missing and cannot be installed")
        folder = self.here / host.replace(":", "-")
        folder.mkdir()
        paths = folder / "certificate.pem", folder / "key.pem"
        argv = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
        argv += ["-nodes", "-days", "2", "-subj", f"/CN={host.partition(':')[2]}"]
        argv += ["-addext", f"subjectAltName={host}"]
        argv += ["-addext", "basicConstraints=critical,CA:FALSE"]
        argv += ["-out", paths[0], "-keyout", paths[1]]
        subprocess.run(argv, check=True, capture_output=True)
        return paths

    def encrypted(self, certificate, trusted):
        """An origin with this certificate, and its gateway; the proxy trusts that one."""
        origin = Origin(certificate)
        self.addCleanup(origin.close)
        self.proxy.kill()
        before = ["env", f"SSL_CERT_FILE={trusted[0]}"]
        self.proxy = self.start(url=origin.url, before=before)
        return origin, self.gateway()

    def test_a_trusted_origin_is_mirrored(self):
        certificate = self.certificate("IP:127.0.0.1")
        origin, gateway = self.encrypted(certificate, certificate)
        self.assertTrue(origin.url.startswith("https://"))
        data = os.urandom(3 * BLOCK + 1)
        origin.files = {"/file": data}
        status, _, body = gateway.ask("/hub/file")
        self.assertTrue((status, body) == (200, data), status)
        self.assertEqual(origin.sent["/file"], len(data))

    def test_an_origin_with_a_wrong_certificate_receives_no_request(self):
        other = self.certificate("DNS:other.example")
        near = self.certificate("IP:127.0.0.1")
        for path, certificate, trusted, reason in (
            ("/a", near, other, b"no authority that this host trusts has signed its certificate"),
            ("/b", other, other, b"its certificate is for another host"),
        ):
            origin, gateway = self.encrypted(certificate, trusted)
            origin.files = {path: b"content"}
            status, _, body = gateway.ask(f"/hub{path}")
            self.assertEqual(status, 502, body)
            self.assertIn(reason, body)
            self.assertEqual(origin.requests, [])
