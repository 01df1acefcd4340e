"""The player of a gateway: HLS, DASH and plain files by name, and what its viewer sees of them."""

import contextlib
import os
import re
import signal
import tempfile
import unittest
from pathlib import Path

from opened import Browser, is_outside
from support import streams, weir
from support.children import Failed, wait_until
from support.gateway import PATIENCE, Gateway
from support.ports import free_udp_port

PLACE = "/localhost/player/"
HOSTILE = "/x/<img src=x onerror=alert(1)>\"'&\u202egnp.m3u8"
SECONDS = 8
LONG = 40
ALONE = {"udp": "off", "tcp": "off"}
# In ms, for Playwright.
PATIENT = PATIENCE * 1000
PLAYED = "played to its end"


def statuses(*numbers):
    """The beginnings of the lines in the browser's console about answers with these statuses."""
    return [f"the server responded with a status of {number} " for number in numbers]


class Player(Browser):
    """Two daemons, of which the gateway has the near one; films at the far one."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        port = free_udp_port()
        far = {"udp": f"127.0.0.1:{port}", "tcp": "off"}
        cls.far = weir.Daemon(cls.program, cls.folder, "far", listen=far)
        faces, routes = [("far", f"udp4://127.0.0.1:{port}")], [("/", "far")]
        cls.near = weir.Daemon(
            cls.program, cls.folder, "near", listen=ALONE, faces=faces, routes=routes
        )
        films = cls.folder / "films"
        streams.hls(films / "hls", SECONDS)
        streams.hls(films / "ts", SECONDS, "mpegts")
        streams.dash(films / "dash", SECONDS)
        streams.plain(films / "plain", SECONDS)
        bad = films / "bad"
        bad.mkdir()
        for name, text in cls.wrong().items():
            (bad / name).write_text(text, encoding="utf-8")
        for daemon in (cls.far, cls.near):
            daemon.start()
            cls.addClassCleanup(daemon.process.kill)
        cls.addClassCleanup(cls.far.put("/films", films).kill)

    @classmethod
    def wrong(cls):
        """Content that cannot be played, by name."""
        line = "#EXTINF:2,\n" + "x" * 90 + "\n"
        foreign = "#EXTINF:2,\nhttp://192.0.2.1/a.ts\n"
        begin = "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:2\n#EXT-X-PLAYLIST-TYPE:VOD\n"
        mpd = """<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static"
 mediaPresentationDuration="P99Y" profiles="urn:mpeg:dash:profile:isoff-live:2011">
<Period><AdaptationSet mimeType="video/mp4"><Representation id="1" codecs="avc1.42c01e"
 bandwidth="9"><SegmentTemplate media="$Number$.m4s" initialization="i.mp4" timescale="1" %s>
%s</SegmentTemplate></Representation></AdaptationSet></Period></MPD>"""
        bases = "<BaseURL>data:video/mp4,x</BaseURL><BaseURL>http://192.0.2.1/a.mp4</BaseURL>"
        bases += '<SegmentBase indexRange="0-99"/>'
        timeline = '<SegmentTimeline><S t="0" d="1" r="%d"/></SegmentTimeline>'
        return {
            "page.html": "<script>alert(1)</script>",
            "noise.mp4": "no film at all" * 100,
            "noise.m3u8": "no playlist at all",
            "huge.m3u8": begin + line * 60_000 + "#EXT-X-ENDLIST\n",
            "foreign.m3u8": begin + foreign + "#EXT-X-ENDLIST\n",
            "repeated.mpd": mpd % ("", timeline % 3_999_999),
            "open.mpd": mpd % ("", timeline % -1),
            "short.mpd": mpd % ('duration="1"', ""),
            "second.mpd": re.sub(
                "<SegmentTemplate.*</SegmentTemplate>", bases, mpd, flags=re.DOTALL
            ),
            "quoted.mpd": mpd % ('id=">" duration="1"', ""),
            # In quadratic time, each takes minutes.
            "word.mpd": "<MPD " + "a" * 400_000,
            "digits.mpd": f'<MPD mediaPresentationDuration="P{"1" * 400_000}">',
            "empty.webm": "",
        }

    def setUp(self):
        self.here = Path(tempfile.mkdtemp(dir=self.folder))

    def gateway(self, *options):
        """A gateway for as long as the test takes."""
        gateway = Gateway(self.near, self.here, *options)
        self.addCleanup(gateway.child.kill)
        return gateway

    def page(self, gateway, query="", width=1280, scheme="light", expected=()):
        """The player; complaints other than those expected, and foreign requests, fail the test."""
        context = self.browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme
        )
        self.addCleanup(context.close)
        page = context.new_page()
        page.set_default_timeout(PATIENT)
        wrong, own = [], f"http://127.0.0.1:{gateway.port}/"
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: wrong.append(dialog.message))
        page.on(
            "request",
            lambda one: is_outside(one) and not one.url.startswith(own) and wrong.append(one.url),
        )
        page.goto(own.rstrip("/") + PLACE + query)

        def check():
            others = [text for text in wrong if not any(word in text for word in expected)]
            self.assertEqual(others, [])

        self.addCleanup(check)
        return page

    def play(self, page, name):
        """Type a name and press the button, which lets the browser begin."""
        page.locator("#name").fill(name)
        page.get_by_role("button", name="Play", exact=True).click()

    def fact(self, page, name):
        """One of the values below the picture."""
        return page.locator("#" + name).text_content()

    def until(self, page, name, pattern):
        """Wait until one of the values has this form."""
        what = f"{name} to be {pattern}"
        try:
            wait_until(lambda: re.search(pattern, self.fact(page, name), re.DOTALL), what, PATIENCE)
        except Failed as failed:
            table = page.locator("tbody tr").all_inner_texts()
            raise Failed(f"{failed}; it is {self.fact(page, name)!r}, requests: {table}") from None

    def passes(self, page, second):
        """Wait until the picture is past a second of the film."""
        now = "document.querySelector('video').currentTime"
        wait_until(lambda: page.evaluate(now) > second, f"second {second}", PATIENCE)

    def rows(self, page, column):
        """One column of the table, the newest request first."""
        return page.locator(f"tbody td:nth-child({column})").all_text_contents()

    def test_playlists_and_plain_files_are_played_to_their_end(self):
        gateway = self.gateway()
        for name, segment in (
            ("/films/hls/index.m3u8", "part3.m4s"),
            ("/films/ts/index.m3u8", "part3.ts"),
            ("/films/dash/index.mpd", "chunk-stream0-00004.m4s"),
            ("/films/plain/film.mp4", "film.mp4"),
        ):
            with self.subTest(name):
                page = self.page(gateway)
                self.play(page, name)
                self.until(page, "message", PLAYED)
                self.until(page, "picture", "^320 × 180$")
                self.until(page, "startup", r"^[\d.]+ m?s$")
                # The browser reports a request some time after its end.
                self.until(page, "rate", r"^[\d.]+ Mbit/s$")
                self.until(page, "rtt", r"^[\d.]+ ms, smallest [\d.]+ ms$")
                self.assertIn(segment, self.rows(page, 2))

    def test_the_origin_is_the_node_of_the_producer(self):
        streams.hls(self.here / "film", SECONDS)
        gateway = self.gateway()
        origins = []
        for daemon, name in ((self.far, "/origin-far"), (self.near, "/origin-near")):
            self.addCleanup(daemon.put(name, self.here / "film").kill)
            page = self.page(gateway)
            self.play(page, f"{name}/index.m3u8")
            self.until(page, "message", PLAYED)
            # Of the playlist there are two requests, and the second one may find it in a store.
            requests = zip(self.rows(page, 2), self.rows(page, 7))
            origins += [origin for request, origin in requests if request == "part3.m4s"]
        [far, near] = origins
        self.assertRegex(far, r"^node [0-9a-f]{8}, 1 hop$")
        self.assertEqual(near, "gateway's forwarder")

    def test_bytes_of_the_browsers_cache_have_no_rate(self):
        gateway = self.gateway()
        page = self.page(gateway)
        self.play(page, "/films/hls/index.m3u8")
        self.until(page, "message", PLAYED)
        page.goto(f"http://127.0.0.1:{gateway.port}{PLACE}")
        self.play(page, "/films/hls/index.m3u8")
        self.until(page, "message", PLAYED)
        # The browser reports a request some time after its end.
        wait_until(lambda: "part3.m4s" in self.rows(page, 2), "the last request", PATIENCE)
        rates = zip(self.rows(page, 2), self.rows(page, 4))
        self.assertEqual({rate for name, rate in rates if name.startswith("part")}, {"–"})
        unchanged = [line["path"] for line in gateway.said()[1:] if line["status"] == 304]
        self.assertIn("/films/hls/part3.m4s", unchanged)

    def two_producers(self, played):
        """A film whose segments after the first two have a producer of their own."""
        film, early, late = self.here / "film", self.here / "early", self.here / "late"
        streams.hls(film, LONG)
        for folder in (early, late):
            folder.mkdir()
        text = (film / "index.m3u8").read_text(encoding="utf-8")
        for path in sorted(film.glob("part*.m4s")):
            is_late = path.name not in ("part0.m4s", "part1.m4s")
            path.rename((late if is_late else early) / path.name)
            if is_late:
                text = text.replace(f"\n{path.name}\n", f"\n/{played}-late/{path.name}\n")
        (early / "index.m3u8").write_text(text, encoding="utf-8")
        (film / "init.mp4").rename(early / "init.mp4")
        producers = [
            self.far.put(f"/{played}-{name}", folder)
            for name, folder in (("early", early), ("late", late))
        ]
        for producer in producers:
            self.addCleanup(producer.kill)
        return producers

    def test_a_segment_that_comes_late_is_a_stall(self):
        [_, late] = self.two_producers("slow")
        page = self.page(self.gateway())
        os.kill(late.pid, signal.SIGSTOP)
        self.play(page, "/slow-early/index.m3u8")
        self.until(page, "stalls", r"^[1-9]\d* \(.*, waiting now\)$")
        self.assertEqual(self.fact(page, "message"), "waiting for part2.m4s …")
        os.kill(late.pid, signal.SIGCONT)
        self.until(page, "stalls", r"^[1-9]\d* \([\d.]+ m?s\)$")
        self.assertTrue(page.evaluate("!document.querySelector('video').paused"))
        self.assertGreater(page.locator("svg .band").count(), 0, "the picture shows the stall")
        # A viewer who stops or seeks does not wait for the network.
        page.evaluate("document.querySelector('video').pause()")
        [before, *_] = self.fact(page, "stalls").split()
        page.evaluate("document.querySelector('video').currentTime = 30")
        self.until(page, "buffer", r"^[\d.]+ s$")
        page.evaluate("document.querySelector('video').play()")
        self.passes(page, 30.5)
        self.assertRegex(self.fact(page, "stalls"), f"^{before} ")

    def test_the_end_of_a_producer_is_reported_and_its_return_ends_that(self):
        [_, late] = self.two_producers("gone")
        page = self.page(self.gateway("--patience", "2 s"), expected=statuses(404, 502, 504))
        late.kill()
        self.play(page, "/gone-early/index.m3u8")
        self.until(page, "message", r"^part\d\.m4s does not arrive: .*\(status (404|50[24])\)$")
        self.until(page, "stalls", "^[1-9]")
        self.assertTrue(page.get_by_role("button", name="Try again").is_visible())
        self.assertTrue([text for text in self.rows(page, 7) if text.startswith("status ")])
        self.addCleanup(self.far.put("/gone-late", self.here / "late").kill)
        page.get_by_role("button", name="Try again").click()
        self.passes(page, 5)
        self.assertEqual(self.fact(page, "message"), "")

    def test_wrong_content_is_rejected_with_a_reason(self):
        gateway = self.gateway("--prefix", "/films")
        for name, reason in (
            ("page.html", "this is not video or audio: its type is text/html"),
            ("noise.mp4", "this browser cannot"),
            ("noise.m3u8", "the playlist cannot be played"),
            ("huge.m3u8", r"huge\.m3u8 is too large for this page: more than 4 MB"),
            ("foreign.m3u8", "the playlist names content of another host"),
            ("second.mpd", "the playlist names content of another host"),
            ("repeated.mpd", "the playlist has too many segments"),
            ("open.mpd", "the playlist has too many segments"),
            ("short.mpd", "the playlist has too many segments"),
            ("quoted.mpd", "the playlist has too many segments"),
            ("word.mpd", r"the content cannot be played \(Error: "),
            ("digits.mpd", "the playlist cannot be played"),
            ("empty.webm", "the content is empty"),
            ("none.webm", r"\(status 404\)$"),
        ):
            with self.subTest(name):
                page = self.page(gateway, expected=statuses(404, 416))
                self.play(page, f"/films/bad/{name}")
                self.until(page, "message", reason)
                self.assertEqual(page.locator("#message.failed").count(), 1)
        page = self.page(gateway, expected=statuses(403))
        self.play(page, "/localhost/nfd/status")
        self.until(page, "message", r"not served here.*\(status 403\)$")

    def test_the_failed_content_is_tried_again(self):
        """Whatever was typed meanwhile."""
        page = self.page(self.gateway(), expected=statuses(404))
        self.play(page, "/again/film.mp4")
        self.until(page, "message", r"\(status 404\)$")
        page.locator("#name").fill("/films/bad/noise.mp4")
        self.addCleanup(self.far.put("/again", self.folder / "films" / "plain").kill)
        page.get_by_role("button", name="Try again").click()
        self.until(page, "message", PLAYED)
        self.assertEqual(page.locator("h1").text_content(), "film.mp4")

    def test_origins_are_bounded(self):
        page = self.page(self.gateway())
        script = """() => {
            const requests = new Requests(() => {});
            for (let number = 0; number < 100; number++) {
                const [node, hops] = [String(number).padStart(8, "0"), "1"];
                requests.add({
                    name: `${location.origin}/x/${number}`, startTime: performance.now(),
                    responseStart: 0, responseEnd: performance.now(), responseStatus: 200,
                    encodedBodySize: 1, transferSize: 301,
                    serverTiming: Object.entries({ node, hops }).map(
                        ([name, description]) => ({ name, description }),
                    ),
                });
            }
            const colours = requests.all.map((one) => requests.colour(one.origin));
            return [requests.all.length, requests.origins.length, [...new Set(colours)]];
        }"""
        self.assertEqual(page.evaluate(script), [100, 5, [0, 1, 2, 3, 4]])

    def test_what_came_before_a_request_ended_early_has_a_rate(self):
        """A browser ends its request for a plain file as soon as it has enough of it."""
        page = self.page(self.gateway())
        script = """(answers) => answers.map(([responseStatus, bytes]) => {
            const requests = new Requests(() => {});
            const startTime = performance.now();
            requests.add({
                name: `${location.origin}/x`, startTime, responseStart: startTime,
                responseEnd: startTime + 10, responseStatus, encodedBodySize: bytes,
                transferSize: bytes + 300, serverTiming: [],
            });
            return [requests.rate() ?? null, requests.all[0].hasFailed];
        })"""
        # 100 kB in 10 ms are 80 Mbit/s; the time of 5 kB is that of the round trip.
        for status, size, rate, failed in (
            (200, 100_000, 80, False),
            (0, 100_000, 80, False),
            (0, 5_000, None, True),
            (404, 100_000, None, True),
        ):
            with self.subTest(status=status, size=size):
                [[measured, has_failed]] = page.evaluate(script, [[status, size]])
                self.assertEqual(has_failed, failed)
                if rate is None:
                    self.assertIsNone(measured)
                else:
                    self.assertAlmostEqual(measured, rate, places=6)

    def test_names_in_the_query_are_text(self):
        gateway = self.gateway()
        for name in (HOSTILE, "javascript:alert(1)", "//192.0.2.1/x", "/\\192.0.2.1/x", "/", "%"):
            page = self.page(gateway, expected=statuses(400, 403, 404))
            query = page.evaluate("(name) => '?' + new URLSearchParams({ name })", name)
            page.goto(page.url + query)
            page.locator("#message.failed").wait_for()
            self.assertEqual(page.locator("img, #facts script").count(), 0, name)
            self.assertNotIn("\u202e", page.locator("h1").text_content())

    def test_the_page_runs_its_own_script_alone(self):
        gateway = self.gateway()
        status, headers, _ = gateway.ask(PLACE)
        self.assertEqual(status, 200)
        policy = headers["Content-Security-Policy"]
        self.assertIn("default-src 'none'", policy)
        self.assertNotIn("unsafe", policy)
        for method, path, status in (
            ("GET", PLACE.rstrip("/"), 308),
            ("PUT", PLACE, 405),
            ("GET", PLACE + "../x", 404),
            ("HEAD", PLACE + "library.js", 200),
        ):
            self.assertEqual(gateway.ask(path, method)[0], status, path)
        _, headers, _ = gateway.ask("/films/plain/film.mp4", "HEAD")
        self.assertRegex(headers["Server-Timing"], r"^ndn;dur=[\d.]+, rtt;dur=[\d.]+, node;desc=")
        self.assertNotIn("Timing-Allow-Origin", headers)
        foreign = gateway.ask(PLACE, Origin="http://evil.example")
        self.assertEqual(foreign[0], 403)

    def test_without_the_library_plain_files_are_played(self):
        # A program outside a checkout, as it is without a package.
        program = self.here / "bin" / "weir"
        program.parent.mkdir()
        os.link(self.program, program) if self.is_near() else program.write_bytes(
            self.program.read_bytes()
        )
        program.chmod(0o755)
        with contextlib.ExitStack() as stack:
            daemon = weir.Daemon(program, self.near.folder, "near", listen=ALONE)
            gateway = stack.enter_context(Gateway(daemon, self.here))
            rejected = "Refused to execute script from"
            page = self.page(gateway, expected=[*statuses(404), rejected])
            self.play(page, "/films/plain/film.mp4")
            self.until(page, "message", PLAYED)
            status, _, text = gateway.ask(PLACE + "library.js")
            self.assertEqual((status, b"scripts/player" in text), (404, True))
            self.play(page, "/films/dash/index.mpd")
            self.until(page, "message", "this gateway has no library")
            # It is installed, as in a package.
            installed = self.here / "share" / "weir" / "player"
            installed.mkdir(parents=True)
            library = weir.ROOT / "target" / "player" / "shaka-player.js"
            (installed / library.name).write_bytes(library.read_bytes())
            page.get_by_role("button", name="Try again").click()
            self.until(page, "message", PLAYED)

    def is_near(self):
        """The program is on the file system of the test's folder."""
        return os.stat(self.program).st_dev == os.stat(self.here).st_dev

    def test_nothing_sticks_out(self):
        gateway = self.gateway()
        for width, scheme in ((360, "dark"), (360, "light"), (1280, "dark"), (1280, "light")):
            page = self.page(gateway, "", width, scheme)
            self.play(page, "/films/hls/index.m3u8")
            self.until(page, "message", PLAYED)
            wide = page.evaluate("document.documentElement.scrollWidth")
            self.assertLessEqual(wide, width, f"the page sticks out at {width}")
            if folder := os.environ.get("WEIR_PICTURES"):
                page.screenshot(path=f"{folder}/player-{width}-{scheme}.png", full_page=True)


if __name__ == "__main__":
    unittest.main()
