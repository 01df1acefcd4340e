"""Attacks on `weir gateway` by web pages and by clients that hold what others need."""

import contextlib
import ctypes
import http.client
import io
import json
import os
import socket
import struct
import subprocess
import tempfile
import threading
import time
import unittest
import wave as wave_file
import zlib
from pathlib import Path

import _service
from _commands import command, component, new_interest, now_ms, old_form, old_interest
from support import children, content, weir
from support.children import wait_until
from support.gateway import PATIENCE, Gateway
from support.namespaces import Network

MEGABYTE = content.MEGABYTE
# Applications of this host alone.
ALONE = {"udp": "off", "tcp": "off"}
# Without a cache, a repeated command reaches the forwarder instead of its cached answer.
NO_CACHE = {"capacity": "0 B"}
# The user `nobody`.
OTHER = 65534
# An address without a listener.
NOWHERE = "udp4://127.0.0.1:9"
# Of their undisturbed rate, what others keep under an attack.
KEPT = 0.9

SCRIPT = b"window.ran = true; document.title = 'ran'; document.documentElement.id = 'ran'"


def wave():
    """A second of silence."""
    out = io.BytesIO()
    with wave_file.open(out, "wb") as sound:
        sound.setparams((1, 1, 8000, 8000, "NONE", ""))
        sound.writeframes(bytes([128]) * 8000)
    return out.getvalue()


def picture():
    """A PNG of one pixel (<https://www.w3.org/TR/png-3/>)."""

    def chunk(kind, data):
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    head = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    chunks = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0\0")) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


# The content of the gateway below /site.
SERVED = {
    "page.html": b"<title>still</title><p style='color: rgb(1, 2, 3)' onclick='x'>words</p>"
    b"<script>" + SCRIPT + b"</script>",
    "picture.svg": b"<svg xmlns='http://www.w3.org/2000/svg'><script>" + SCRIPT + b"</script></svg>",
    "picture.png": picture(),
    "code.js": SCRIPT,
    "note.txt": b"a note",
    "film.webm": b"no film",
    "tone.wav": wave(),
}


def path_of(components):
    """Components as a path, every byte of them percent-encoded."""
    out, at = "", 0
    while at < len(components):
        size, begin = components[at + 1], at + 2
        if size == 253:
            size, begin = struct.unpack(">H", components[at + 2 : at + 4])[0], at + 4
        value = components[begin : begin + size]
        out += "/" + "".join(f"%{byte:02X}" for byte in value)
        at = begin + size
    return out


class FromPages(unittest.TestCase):
    """Requests that a page can make a browser of this host send."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="weir-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder, cls.program = Path(folder.name), weir.program()
        cls.daemon = weir.Daemon(cls.program, cls.folder, "daemon", listen=ALONE, store=NO_CACHE)
        cls.daemon.start()
        cls.addClassCleanup(cls.daemon.process.kill)
        for name, text in SERVED.items():
            path = cls.folder / name
            path.write_bytes(text)
            cls.addClassCleanup(cls.daemon.put(f"/site/{name}", path).kill)
        options = ["--origin", "http://player.example", "--patience", "1 s"]
        cls.gateway = Gateway(cls.daemon, cls.folder, *options)
        cls.addClassCleanup(cls.gateway.child.kill)

    def has_face(self):
        """True if the forwarder has the face that the attacks make."""
        return any(face["uri"] == NOWHERE for face in self.daemon.status()["faces"])

    def status(self, path="/site/page.html", method="GET", **headers):
        """The status of a request."""
        return self.gateway.ask(path, method, **headers)[0]

    def test_an_image_cannot_command_the_forwarder(self):
        """<img src=http://127.0.0.1:8080/localhost/nfd/faces/create/...>, in all spellings.

        No face is made, and content goes on being served.
        """
        for n, (first, spelled) in enumerate(
            (
                ("localhost", "localhost"),
                ("localhost", "%6cocalhost"),
                ("localhost", "8=localhost"),
                ("localhop", "localhop"),
                ("localhop", "32=%6cocalhop"),
            )
        ):
            made = command("faces/create", uri=NOWHERE.encode())
            made = made.replace(component(b"localhost"), component(first.encode()))
            path = path_of(old_form(made, now_ms(), bytes([n] * 8)))
            path = "/" + spelled + "/" + path.split("/", 2)[2]
            with self.subTest(spelled=spelled):
                status, _, body = self.gateway.ask(path)
                self.assertEqual((status, b"programs of one host" in body), (403, True), body)
            self.assertFalse(self.has_face())
        self.assertEqual(self.status(), 200)

    def test_a_name_that_was_made_to_lead_here_is_not_ours(self):
        """DNS rebinding: a page of attacker.example, whose name leads to 127.0.0.1, asks for more.

        It is rejected, as are requests whose Host says nothing; requests by our names are served.
        """
        port = self.gateway.port
        for host in ("attacker.example", f"attacker.example:{port}", "localhost.attacker.example"):
            self.assertEqual(self.status(Host=host), 421, host)
        for host in ("localhost", f"127.0.0.1:{port}", f"[::1]:{port}"):
            self.assertEqual(self.status(Host=host), 200, host)
        for fields in (b"", b"Host: localhost\r\nHost: localhost\r\n", b"Host: a b\r\n"):
            with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as client:
                client.sendall(b"GET /site/page.html HTTP/1.1\r\n" + fields + b"\r\n")
                self.assertEqual(client.recv(100).split()[1], b"400", fields)
        self.assertEqual(self.status("http://attacker.example/site/page.html"), 421)

    def test_a_page_of_another_site_neither_embeds_nor_reads(self):
        """Cross-site fetch, image, script and frame. Clicks, programs and own pages are served."""
        for site in ("cross-site", "same-site"):
            for mode, dest in (
                ("no-cors", "image"),
                ("no-cors", "script"),
                ("cors", "empty"),
                ("navigate", "iframe"),
            ):
                fields = {"Sec_Fetch_Site": site, "Sec_Fetch_Mode": mode, "Sec_Fetch_Dest": dest}
                self.assertEqual(self.status(**fields), 403, fields)
            click = {"Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"}
            self.assertEqual(self.status(Sec_Fetch_Site=site, **click), 200)
        for origin in ("http://attacker.example", "null", "http://localhost:1"):
            self.assertEqual(self.status(Origin=origin), 403, origin)
        self.assertEqual(self.status(Sec_Fetch_Site="same-origin"), 200)
        self.assertEqual(self.status(), 200)

    def test_a_page_that_is_allowed_may_read(self):
        """The origin of --origin, and no other, is told so."""
        origin = "http://player.example"
        fields = {"Origin": origin, "Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "cors"}
        status, headers, _ = self.gateway.ask("/site/film.webm", **fields)
        self.assertEqual((status, headers["Access-Control-Allow-Origin"]), (200, origin))
        self.assertEqual(headers["Vary"], "Origin")
        status, headers, _ = self.gateway.ask("/site/film.webm", "OPTIONS", **fields)
        self.assertEqual((status, headers["Access-Control-Allow-Origin"]), (204, origin))
        self.assertIn("Range", headers["Access-Control-Allow-Headers"])
        status, headers, _ = self.gateway.ask("/site/film.webm")
        self.assertEqual((status, headers["Access-Control-Allow-Origin"]), (200, None))
        self.assertEqual(self.status(method="OPTIONS", Origin="http://attacker.example"), 403)

    def test_served_content_is_confined_outside_the_gateways_origin(self):
        """A publisher's HTML, SVG and scripts cannot act with the gateway's origin."""
        for name in ("page.html", "picture.svg", "code.js"):
            status, headers, body = self.gateway.ask(f"/site/{name}")
            self.assertEqual((status, body), (200, SERVED[name]), name)
            policy = headers["Content-Security-Policy"].split("; ")
            self.assertIn("sandbox", policy)
            self.assertIn("default-src 'none'", policy)
            self.assert_confined(headers)
        _, headers, _ = self.gateway.ask("/site/film.webm")
        self.assertIn("media-src 'self'", headers["Content-Security-Policy"])
        self.assert_confined(headers)
        self.assert_confined(self.gateway.ask("/localhost")[1])

    def test_in_a_browser(self):
        """Chromium runs no script that is served, shows the rest, and gives a foreign page nothing.

        Another port of this host is the same site to it, and another origin.
        """
        needs = [weir.ROOT / "scripts/need", "chromium", "tests/browser/requirements.txt"]
        if subprocess.run(needs, check=False, capture_output=True).returncode:
            self.skipTest("no browser or no driver for it, and scripts/need cannot install them")
        python = weir.ROOT / ".venv/bin/python"
        program = weir.ROOT / "tests/support/foreign.py"
        address = f"http://127.0.0.1:{self.gateway.port}"
        seen = json.loads(children.run([python, program, address], PATIENCE))
        self.assertEqual((seen["page"], seen["color"]), (["still", "words"], "rgb(1, 2, 3)"))
        self.assertEqual(seen["svg"], ["svg", ""])
        self.assertEqual((seen["image"], seen["text"], seen["audio"]), (1, "a note", 1))
        self.assertEqual(set(seen["foreign"].values()), {"refused", False}, seen["foreign"])

    def assert_confined(self, headers):
        """Of no use to a page of another origin."""
        self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
        self.assertEqual(headers["Cross-Origin-Resource-Policy"], "same-origin")
        self.assertEqual(headers["Referrer-Policy"], "no-referrer")


class Uploads(unittest.TestCase):
    """Uploads that a page can make a browser of this host send, and those of other users."""

    TOKEN = "0123456789abcdef-for-tests"
    FRIEND = "http://player.example"

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="weir-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder, cls.program = Path(folder.name), weir.program()
        cls.daemon = weir.Daemon(cls.program, cls.folder, "daemon", listen=ALONE)
        cls.daemon.start()
        cls.addClassCleanup(cls.daemon.process.kill)
        (cls.folder / "token").write_text(cls.TOKEN, encoding="utf-8")

    def gateway(self, *options):
        """A gateway with uploads for as long as the test takes, and a page of an allowed origin."""
        here = Path(tempfile.mkdtemp(dir=self.folder))
        argv = ["--put", "/up", "--store", here / "store", "--origin", self.FRIEND, *options]
        gateway = Gateway(self.daemon, here, *argv)
        self.addCleanup(gateway.child.kill)
        return gateway

    def put(self, gateway, path="/up/x", **headers):
        """The status of an upload."""
        with contextlib.closing(gateway.connect()) as connection:
            named = {field.replace("_", "-"): value for field, value in headers.items()}
            connection.request("PUT", path, body=b"bytes", headers=named)
            return connection.getresponse().status

    def test_a_page_of_another_site_uploads_nothing(self):
        """No combination of the headers that browsers send for foreign pages stores anything."""
        gateway = self.gateway()
        for site in ("cross-site", "same-site"):
            for mode in ("cors", "no-cors", "navigate"):
                fields = {"Sec_Fetch_Site": site, "Sec_Fetch_Mode": mode}
                self.assertEqual(self.put(gateway, Sec_Fetch_Dest="document", **fields), 403)
        for origin in ("http://attacker.example", "null", "http://localhost:1", self.FRIEND):
            self.assertEqual(self.put(gateway, Origin=origin), 403, origin)
        self.assertEqual(self.put(gateway, Host="attacker.example"), 421)
        self.assertEqual(gateway.ask("/up/x")[0], 404, "nothing was stored")
        own = f"http://127.0.0.1:{gateway.port}"
        self.assertEqual(self.put(gateway, Origin=own, Sec_Fetch_Site="same-origin"), 201)
        self.assertEqual(self.put(gateway, "/up/y"), 201)

    def test_a_preflight_permits_put_only_where_the_page_can_have_a_token(self):
        """Pages that may read may not write by that alone."""
        asked = {"Access_Control_Request_Method": "PUT", "Sec_Fetch_Site": "cross-site"}
        for options, methods in (([], "GET, HEAD"), (["token"], "GET, HEAD, PUT")):
            options = ["--put-token", self.folder / "token"] if options else []
            gateway = self.gateway(*options)
            fields = {"Origin": self.FRIEND, "Sec_Fetch_Mode": "cors", **asked}
            status, headers, _ = gateway.ask("/up/x", "OPTIONS", **fields)
            allowed = headers["Access-Control-Allow-Methods"]
            self.assertEqual((status, allowed), (204, methods))
            fields["Origin"] = "http://attacker.example"
            status, headers, _ = gateway.ask("/up/x", "OPTIONS", **fields)
            self.assertEqual((status, headers["Access-Control-Allow-Methods"]), (403, None))
        fields = {"Origin": self.FRIEND, "Sec_Fetch_Site": "cross-site"}
        self.assertEqual(self.put(gateway, **fields), 401)
        self.assertEqual(self.put(gateway, Authorization=f"Bearer {self.TOKEN}", **fields), 201)
        fields["Origin"] = "http://attacker.example"
        self.assertEqual(self.put(gateway, Authorization=f"Bearer {self.TOKEN}", **fields), 403)

    def test_another_user_of_the_host_uploads_nothing_without_the_token(self):
        """The gateway signs with its user's key, so other users of the host may not upload."""
        head = "PUT /up/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n"
        for options, more, expected in (
            ([], "", b"403"),
            (["--put-token", self.folder / "token"], "", b"401"),
            (
                ["--put-token", self.folder / "token"],
                f"Authorization: Bearer {self.TOKEN}\r\n",
                b"201",
            ),
        ):
            gateway = self.gateway(*options)
            with other_user("127.0.0.1", gateway.port) as client:
                if os.fstat(client.fileno()).st_uid != OTHER:
                    self.skipTest("no socket of another user can be made here")
                client.sendall(f"{head}{more}\r\nx".encode())
                self.assertEqual(client.recv(1000).split()[1], expected)


class Replayed(unittest.TestCase):
    """Commands that another program of this host has seen."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="weir-")
        cls.addClassCleanup(folder.cleanup)
        cls.daemon = weir.Daemon(
            weir.program(), Path(folder.name), "daemon", listen=ALONE, store=NO_CACHE
        )
        cls.daemon.start()
        cls.addClassCleanup(cls.daemon.process.kill)

    def send(self, interest):
        """Send a command as an application of its own, and return what comes back."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as application:
            application.settimeout(PATIENCE)
            application.connect(str(self.daemon.socket))
            application.sendall(interest)
            return application.recv(10_000)

    def test_a_command_by_digest_is_accepted_once_and_fresh(self):
        """Both forms are sent late, then in time, then again: only the second one is
        executed.

        A client that signs again is served throughout.
        """
        asked = command("faces/create", uri=NOWHERE.encode())
        for n, form in enumerate((old_interest, new_interest)):
            nonce = bytes([n] * 8)
            with self.subTest(form=form.__name__):
                late = form(asked, now_ms() - 600_000, nonce, b"\0\0\0\1")
                self.assertIn(b"time is", self.send(late))
                self.assertEqual(self.faces(), [])
                signed = now_ms()
                done = self.send(form(asked, signed, nonce, b"\0\0\0\2"))
                self.assertIn(b"OK", done)
                [face] = self.faces()
                number = face["id"].to_bytes(2, "big")
                gone = command("faces/destroy", face=number)
                self.send(form(gone, now_ms(), nonce, b"\0\0\0\3"))
                self.assertEqual(self.faces(), [])
                again = self.send(form(asked, signed, nonce, b"\0\0\0\4"))
                self.assertIn(b"accepted before", again)
                self.assertEqual(self.faces(), [])

    def faces(self):
        """The faces that the command makes."""
        return [face for face in self.daemon.status()["faces"] if face["uri"] == NOWHERE]


class HeldSlots(unittest.TestCase):
    """Clients that hold what others need, from a host of their own.

    The others ask for a small object five times a second, each time on a new connection.
    """

    SMALL = "/site/small"
    LARGE = "/site/large"
    PACE = 0.2
    REQUESTS = 15
    # The gateway's slots, and an address's share of them.
    SLOTS = 64
    SHARE = 16
    # The program itself, and for each answer 4 MB, a thread and a fetch.
    MEMORY = 45 * MEGABYTE + SHARE * 6 * MEGABYTE

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="weir-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        network = cls.enterClassContext(Network())
        server, cls.attacker, cls.victim = map(network.host, ("server", "attacker", "victim"))
        cls.near = network.cable(server, cls.attacker).addresses
        cls.far = network.cable(server, cls.victim).addresses
        cls.daemon = weir.Daemon(weir.program(), cls.folder, "daemon", host=server, listen=ALONE)
        cls.daemon.start()
        cls.addClassCleanup(cls.daemon.process.kill)
        for name, size in ((cls.SMALL, 20_000), (cls.LARGE, 16 * MEGABYTE)):
            path = content.make(cls.folder / Path(name).name, size)
            cls.addClassCleanup(cls.daemon.put(name, path).kill)

    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=self.folder)
        self.addCleanup(folder.cleanup)
        self.here = Path(folder.name)
        self.held = self.enterContext(contextlib.ExitStack())

    def gateway(self, *options):
        """A gateway for as long as the test takes."""
        gateway = Gateway(self.daemon, self.here, "--quiet", *options)
        self.addCleanup(gateway.child.kill)
        return gateway

    def hold(self, gateway, count, request, host=None, address=None, user=None):
        """Open `count` connections from the attacker's host and send this on each."""
        clients = []
        for _ in range(count):
            client = dial(host or self.attacker, address or self.near[0], gateway.port, user)
            clients.append(self.held.enter_context(client))
            with contextlib.suppress(ConnectionError):
                client.sendall(request)
        return clients

    def begin_large(self, gateway, count, host=None, address=None, user=None):
        """Request the large object on `count` connections; return them when the first answer."""
        name = address or self.near[0]
        request = f"GET {self.LARGE} HTTP/1.1\r\nHost: {name}\r\n\r\n".encode()
        clients = self.hold(gateway, count, request, host, address, user)
        for client in clients[: self.SHARE]:
            client.recv(1, socket.MSG_PEEK)
        return clients

    def paced(self, gateway, host, address):
        """Seconds that the paced requests of a host take."""
        began = time.monotonic()
        for n in range(self.REQUESTS):
            if (rest := began + n * self.PACE - time.monotonic()) > 0:
                time.sleep(rest)
            self.assertEqual(self.ask(gateway, host, address), 200)
        return max(time.monotonic() - began, self.REQUESTS * self.PACE)

    def ask(self, gateway, host, address):
        """The status of one request for the small object."""
        connection = http.client.HTTPConnection(address, gateway.port, timeout=PATIENCE)
        connection.sock = dial(host, address, gateway.port)
        with contextlib.closing(connection):
            connection.request("GET", self.SMALL)
            answer = connection.getresponse()
            answer.read()
            return answer.status

    def assert_served(self, gateway, attack, host=None, address=None):
        """Others keep their rate under the attack, management answers, memory is bounded."""
        host, address = host or self.victim, address or self.far[0]
        self.ask(gateway, host, address)
        alone, status = self.paced(gateway, host, address), self.status_seconds()
        attack()
        attacked = self.paced(gateway, host, address)
        self.assertGreater(alone / attacked, KEPT, f"{alone:.2f} s alone, {attacked:.2f} s now")
        self.assertLess(self.status_seconds(), max(0.2, 3 * status) + 0.2)
        self.assertLess(children.peak_bytes(gateway.child.pid), self.MEMORY)

    def status_seconds(self):
        """How long `weir status` takes; the best of three, since the machine has other work."""
        times = []
        for _ in range(3):
            began = time.monotonic()
            self.daemon.status()
            times.append(time.monotonic() - began)
        return min(times)

    @_service.repeated
    def test_half_a_request(self):
        """200 connections send half a request and then nothing (slow loris)."""
        gateway, half = self.gateway(), b"GET /site/small HTTP/1.1\r\nHost: "
        self.assert_served(gateway, lambda: self.hold(gateway, 200, half))

    @_service.repeated
    def test_half_a_request_from_ones_own_address(self):
        """The same with more connections than the gateway keeps, and others behind that address."""
        gateway, half = self.gateway(), b"GET /site/small HTTP/1.1\r\nHost: "
        self.assert_served(
            gateway, lambda: self.hold(gateway, 700, half), self.attacker, self.near[0]
        )

    @_service.repeated
    def test_idle_connections(self):
        """100 connections that have had an answer and stay open."""
        gateway = self.gateway()
        request = f"HEAD {self.SMALL} HTTP/1.1\r\nHost: {self.near[0]}\r\n\r\n".encode()

        def attack():
            for client in self.hold(gateway, 100, request):
                self.assertEqual(client.recv(1000).split()[1], b"200")

        self.assert_served(gateway, attack)

    @_service.repeated
    def test_clients_that_do_not_read(self):
        """More clients than there are slots ask for a large object and read none of it."""
        gateway = self.gateway()
        self.assert_served(gateway, lambda: self.begin_large(gateway, self.SLOTS + 6))

    @_service.repeated
    def test_another_user_of_the_host_that_does_not_read(self):
        """The same by a program of another user of the gateway's host; its own user goes on."""
        gateway, server = self.gateway(), self.daemon.host

        def attack():
            clients = self.begin_large(gateway, self.SLOTS + 6, server, "127.0.0.1", OTHER)
            if os.fstat(clients[0].fileno()).st_uid != OTHER:
                self.skipTest("no socket of another user can be made here")

        self.assert_served(gateway, attack, server, "127.0.0.1")

    @_service.repeated
    def test_a_flood_of_requests_is_turned_away(self):
        """Requests beyond the queue get 503 and Retry-After at once, and others wait."""
        gateway = self.gateway()
        clients = self.begin_large(gateway, self.SHARE + 128)
        request = f"GET {self.SMALL} HTTP/1.1\r\nHost: {self.near[0]}\r\n\r\n".encode()
        [turned_away] = self.hold(gateway, 1, request)
        answer = turned_away.recv(1000)
        self.assertEqual(answer.split()[1], b"503", answer)
        self.assertIn(b"retry-after: 5", answer.lower())
        self.assertEqual(self.ask(gateway, self.victim, self.far[0]), 200)
        self.assertEqual(len(clients), self.SHARE + 128)

    @_service.repeated
    def test_a_client_that_does_not_read_gives_way_and_a_paused_one_goes_on(self):
        """A client that has read nothing for --client-timeout is cut off, but only if others
        wait."""
        gateway = self.gateway("--client-timeout", "1 s")
        clients = self.begin_large(gateway, self.SHARE)
        paused = self.held.enter_context(dial(self.victim, self.far[0], gateway.port))
        request = f"GET {self.LARGE} HTTP/1.1\r\nHost: {self.far[0]}\r\n"
        paused.sendall((request + "Connection: close\r\n\r\n").encode())
        first = paused.recv(1)
        self.assertEqual(self.ask(gateway, self.attacker, self.near[0]), 200, "it waited in turn")
        # One that waited, one that was cut off for it.
        wait_until(
            lambda: sum(said["error"] == "the client disconnected" for said in gateway.answered(2)),
            "a client to be cut off",
        )
        self.paced(gateway, self.victim, self.far[0])
        rest = b"".join(iter(lambda: paused.recv(MEGABYTE), b""))
        body = (first + rest).partition(b"\r\n\r\n")[2]
        self.assertTrue(body == (self.folder / "large").read_bytes(), "nothing was cut off")
        self.assertEqual(len(clients), self.SHARE)


def other_user(address, port):
    """A connection of another user of this host."""
    made = []

    def within():
        # Of this thread alone, for a socket that it makes.
        ctypes.CDLL(None).setfsuid(OTHER)
        made.append(socket.create_connection((address, port), PATIENCE))

    thread = threading.Thread(target=within)
    thread.start()
    thread.join()
    return made[0]


def dial(host, address, port, user=None):
    """A connection from a host to another, with a small buffer for what comes."""
    made = []

    def within():
        # The thread's own namespace; its sockets stay in there.
        space = os.open(f"/proc/{host.pid}/ns/net", os.O_RDONLY)
        try:
            if ctypes.CDLL(None, use_errno=True).setns(space, 0) != 0:
                raise OSError(ctypes.get_errno(), "setns")
        finally:
            os.close(space)
        if user is not None:
            # Of this thread alone, for a file or socket that it makes.
            ctypes.CDLL(None).setfsuid(user)
        client = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
        client.settimeout(PATIENCE)
        client.connect((address, port))
        made.append(client)

    thread = threading.Thread(target=within)
    thread.start()
    thread.join()
    return made[0]
