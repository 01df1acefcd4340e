"""`weir gateway` with curl: HTTP/2, TLS, parts, conditions, compression, folders, its log."""

import email.parser
import email.policy
import gzip
import json
import os
import re
import shutil
import subprocess
import unittest

from alone import Alone
from support import children, content, http2, weir
from support.children import wait_until
from support.gateway import Gateway

MEGABYTE = content.MEGABYTE
TEXT = "".join(f"line {n} of a text\n" for n in range(20_000)).encode()
HOSTILE = "<img src=x onerror=alert(1)>&\"'.txt"
LONG = "é" * 40


def curl(*argv):
    """The output of curl."""
    return children.run(["curl", "--silent", "--show-error", "--max-time", "60", *argv])


class OverHttp(Alone):
    """One daemon with an object and a tree."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if subprocess.run([weir.ROOT / "scripts/need", "curl", "openssl"], check=False).returncode:
            raise unittest.SkipTest("curl or openssl is missing and cannot be installed")
        tree = cls.folder / "tree"
        (tree / "sub" / "deep").mkdir(parents=True)
        (tree / "page").mkdir()
        (tree / "sub" / LONG).mkdir()
        (tree / "sub" / LONG / "x").write_text("x")
        (tree / "page" / "index.html").write_text("<title>own page</title>")
        (tree / "text.txt").write_bytes(TEXT)
        (tree / HOSTILE).write_text("x")
        (tree / "sub" / "deep" / "needle.png").write_bytes(b"\x89PNG\r\n")
        (tree / "link").symlink_to("text.txt")
        for name, path in (("/film.webm", cls.sent), ("/tree", tree)):
            cls.addClassCleanup(cls.daemon.put(name, path).kill)

    def gateway(self, *options):
        """A gateway for as long as the test takes."""
        gateway = Gateway(self.daemon, self.here, *options)
        self.addCleanup(gateway.child.kill)
        return gateway

    def test_http_2_and_http_1_on_one_port(self):
        gateway, out = self.gateway(), self.here / "out"
        url = f"http://127.0.0.1:{gateway.port}/film.webm"
        shown = "%{http_version} %{http_code}"
        for option, version in (("--http2-prior-knowledge", "2"), ("--http1.1", "1.1")):
            said = curl(option, url, "--output", out, "--write-out", shown)
            self.assertEqual(said.split(), [version, "200"])
            self.assertTrue(out.read_bytes() == self.sent.read_bytes(), version)

    def test_a_client_that_pauses_gets_the_end_of_an_answer(self):
        gateway = self.gateway()
        page = b"<title>own page</title>"
        with http2.Client("127.0.0.1", gateway.port, window=10) as client:
            client.get("/tree/page/index.html")
            # The gateway has given the end to its HTTP library, and closes connections without
            # requests. No answer comes meanwhile.
            said = list(client.frames_until(http2.GOAWAY))
            self.assertEqual(client.body, page[:10])
            self.assertTrue(said and said[-1] == http2.GOAWAY, said)
            client.widen(1000)
            said = list(client.frames_until(None))
            self.assertTrue(client.is_complete, said)
            self.assertEqual(client.body, page)

    def certificate(self):
        """A certificate of localhost that certifies itself, and its key."""
        paths = self.here / "certificate.pem", self.here / "key.pem"
        argv = [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
        ]
        argv += ["-nodes", "-days", "2", "-subj", "/CN=localhost"]
        argv += ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
        subprocess.run(
            [*argv, "-out", paths[0], "-keyout", paths[1]],
            check=True,
            capture_output=True,
        )
        return paths

    def test_tls(self):
        """curl checks the certificate and gets HTTP/2, or HTTP/1.1 if it wants that."""
        chain, key = self.certificate()
        gateway, out = (
            self.gateway("--tls-cert", chain, "--tls-key", key),
            self.here / "out",
        )
        url = f"https://localhost:{gateway.port}/film.webm"
        for option, version in (
            ("--http2", "2"),
            ("--http1.1", "1.1"),
            ("--tls-max=1.2", "2"),
        ):
            said = curl(
                *option.split("="),
                "--cacert",
                chain,
                url,
                "--output",
                out,
                "--write-out",
                "%{http_version} %{http_code} %{ssl_verify_result}",
            )
            self.assertEqual(said.split(), [version, "200", "0"])
            self.assertTrue(out.read_bytes() == self.sent.read_bytes(), option)
        # Sixteen at a time on one connection.
        many = [argument for n in range(16) for argument in (url, "--output", f"{out}{n}")]
        shown = ("--write-out", "%{num_connects} ")
        said = curl(
            "--http2",
            "--cacert",
            chain,
            "--parallel",
            "--no-progress-meter",
            *many,
            *shown,
        )
        self.assertEqual(sum(map(int, said.split())), 1)
        for n in range(16):
            self.assertTrue((self.here / f"out{n}").read_bytes() == self.sent.read_bytes(), n)
        with self.assertRaises(children.Failed):
            curl(f"http://localhost:{gateway.port}/film.webm")
        argv = [
            self.program,
            "gateway",
            "--prefix",
            "/",
            "--tls-cert",
            key,
            "--tls-key",
            key,
        ]
        done = subprocess.run(argv, capture_output=True, check=False, text=True)
        self.assertIn(f"cannot use {key}", done.stderr)

    def test_several_ranges_are_one_answer(self):
        gateway, sent = self.gateway(), self.sent.read_bytes()
        asked = "bytes=1500000-1500099,0-9,-5"
        status, headers, body = gateway.ask("/film.webm", Range=asked)
        self.assertEqual((status, headers["Content-Length"]), (206, str(len(body))))
        head = f"Content-Type: {headers['Content-Type']}\r\n\r\n".encode()
        parsed = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + body)
        size = len(sent)
        spans = [(0, 10), (1_500_000, 1_500_100), (size - 5, size)]
        for part, (first, end) in zip(parsed.iter_parts(), spans, strict=True):
            self.assertEqual(part["Content-Range"], f"bytes {first}-{end - 1}/{size}")
            self.assertEqual(part.get_content_type(), "video/webm")
            self.assertEqual(part.get_payload(decode=True), sent[first:end])
        [said] = gateway.answered(1)
        self.assertEqual((said["bytes"], said["segments"]), (115, 3))
        # Overlapping ones are one range.
        status, headers, body = gateway.ask("/film.webm", Range="bytes=0-99,50-199,10-20")
        self.assertEqual((status, headers["Content-Range"]), (206, f"bytes 0-199/{size}"))
        self.assertEqual(body, sent[:200])
        many = "bytes=" + ",".join(f"{1000 * n}-{1000 * n + 1}" for n in range(40))
        self.assertEqual(gateway.ask("/film.webm", Range=many)[0], 200)

    def test_unchanged_content_is_not_sent(self):
        """curl's -z with the time of the file."""
        gateway, out = self.gateway(), self.here / "out"
        url = f"http://127.0.0.1:{gateway.port}/tree/text.txt"
        code = ("--output", out, "--write-out", "%{http_code}")
        self.assertEqual(curl("--remote-time", url, *code), "200")
        self.assertEqual(curl("--time-cond", out, url, *code), "304")
        self.assertEqual(curl("--time-cond", "2001-01-01", url, *code), "200")
        last = gateway.ask("/tree/text.txt", "HEAD")[1]["Last-Modified"]
        past = {"If_Unmodified_Since": "Mon, 01 Jan 2001 00:00:00 GMT"}
        self.assertEqual(gateway.ask("/tree/text.txt", **past)[0], 412)
        self.assertEqual(gateway.ask("/tree/text.txt", If_Unmodified_Since=last)[0], 200)

    def test_text_is_compressed_where_it_is_accepted(self):
        gateway = self.gateway()
        plain = gateway.ask("/tree/text.txt")
        self.assertEqual(
            (plain[1]["Content-Encoding"], plain[1]["Vary"]), (None, "Accept-Encoding")
        )
        status, headers, body = gateway.ask("/tree/text.txt", Accept_Encoding="br, gzip")
        self.assertEqual((status, headers["Content-Encoding"]), (200, "gzip"))
        self.assertTrue(gzip.decompress(body) == TEXT and len(body) < len(TEXT) / 4)
        tag = headers["ETag"]
        self.assertNotEqual(tag, plain[1]["ETag"])
        for known in (tag, plain[1]["ETag"]):
            again = gateway.ask("/tree/text.txt", Accept_Encoding="gzip", If_None_Match=known)
            self.assertEqual((again[0], again[2]), (304, b""))
        part = gateway.ask("/tree/text.txt", Accept_Encoding="gzip", Range="bytes=5-14")
        self.assertEqual((part[0], part[1]["Content-Encoding"], part[2]), (206, None, TEXT[5:15]))
        other = gateway.ask(
            "/tree/text.txt", Accept_Encoding="gzip", Range="bytes=5-14", If_Range=tag
        )
        self.assertEqual((other[0], other[2]), (200, TEXT))
        film = gateway.ask("/film.webm", Accept_Encoding="gzip")
        self.assertEqual((film[0], film[1]["Content-Encoding"]), (200, None))
        self.assertIsNone(
            gateway.ask("/tree/text.txt", Accept_Encoding="gzip;q=0")[1]["Content-Encoding"]
        )

    def test_a_folder_is_a_page_or_a_list(self):
        gateway = self.gateway()
        status, headers, body = gateway.ask("/tree/")
        page = body.decode()
        self.assertEqual((status, headers["Content-Type"]), (200, "text/html; charset=utf-8"))
        policy = headers["Content-Security-Policy"]
        self.assertIn("default-src 'none'", policy)
        self.assertNotIn("unsafe-inline", policy)
        self.assertNotIn("script-src", policy)
        self.assertNotIn("<img src=x", page)
        self.assertIn("&lt;img src=x onerror=alert(1)&gt;&amp;&quot;&#39;.txt", page)
        for target in re.findall(r'<a href="(\./[^"]*)"', page):
            self.assertEqual(gateway.ask("/tree" + target[1:])[0], 200, target)
        status, headers, body = gateway.ask("/tree/", Accept="application/json")
        entries = {entry["path"]: entry for entry in json.loads(body)["entries"]}
        self.assertEqual(set(entries), {"sub", "page", "text.txt", HOSTILE, "link"})
        self.assertEqual(
            (entries["text.txt"]["type"], entries["text.txt"]["size"]),
            ("file", len(TEXT)),
        )
        tag = headers["ETag"]
        accept = {"Accept": "application/json", "If_None_Match": tag}
        self.assertEqual(gateway.ask("/tree/", **accept)[0], 304)
        self.assertEqual(gateway.ask("/tree/", "HEAD")[::2], (200, b""))
        self.assertIn(b"own page", gateway.ask("/tree/page/")[2])
        self.assertEqual(gateway.ask("/film.webm/")[0], 404)
        self.assertEqual(gateway.ask("/localhost/")[0], 403)

    def test_a_folder_without_its_slash_is_redirected(self):
        gateway = self.gateway()
        coded = "%C3%A9" * len(LONG)
        for path, last in (("/tree", "tree"), ("/tree/sub", "sub"), (f"/tree/sub/{coded}", coded)):
            for method in ("GET", "HEAD"):
                status, headers, _ = gateway.ask(path, method)
                self.assertEqual((status, headers["Location"]), (308, f"./{last}/"))
        url = f"http://127.0.0.1:{gateway.port}/tree/page"
        self.assertIn("own page", curl("--location", url))

    def test_a_log_that_no_program_reads(self):
        pipe = self.here / "pipe"
        os.mkfifo(pipe)
        argv = [self.program, "gateway", "--prefix", "/", "--listen", "127.0.0.1:0"]
        argv += ["--socket", self.daemon.socket, "--access-log", pipe]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertIn(str(pipe), done.stderr)

    def test_files_are_found_below_a_folder(self):
        gateway = self.gateway()
        found = gateway.ask("/tree/?q=NEEDLE", Accept="application/json")[2]
        self.assertEqual(
            [entry["path"] for entry in json.loads(found)["entries"]],
            ["sub/deep/needle.png"],
        )
        page = gateway.ask("/tree/?q=needle")[2].decode()
        self.assertIn('href="./sub/deep/needle.png"', page)
        self.assertIn(
            'value="&quot;&gt;&lt;b&gt;"',
            gateway.ask("/tree/?q=%22%3E%3Cb%3E")[2].decode(),
        )

    def test_the_access_log_has_a_line_for_each_answer(self):
        log = self.here / "access.log"
        gateway = self.gateway("--access-log", log)
        gateway.ask("/film.webm", User_Agent='an "agent"', Range="bytes=0-9")
        gateway.ask("/none")
        wait_until(lambda: log.read_text().count("\n") == 2, "two lines")
        first, second = log.read_text().splitlines()
        pattern = r'127\.0\.0\.1 - - \[\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d \+0000\] '
        pattern += r'"GET /film\.webm HTTP/1\.1" 206 10 "-" "an \\"agent\\""'
        self.assertRegex(first, f"^{pattern}$")
        self.assertIn('"GET /none HTTP/1.1" 404 ', second)
        # Moved away by another program: a new file is begun.
        shutil.move(log, self.here / "old.log")

        def is_new():
            gateway.ask("/none")
            return log.exists() and log.read_text()

        wait_until(is_new, "a new log")
