"""The documentation site in Chromium, from disk and as `weir docs` serves it."""

import contextlib
import html.parser
import json
import os
import shutil
import socket
import subprocess
import tempfile
import unittest
import urllib.parse
from pathlib import Path

from opened import Browser
from support.children import Child, wait_until

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = ["index", "docs/how-to/serve-over-http", "docs/reference/commands", "docs/studies/pcon"]
# From the style sheet of reports, as the test of their pages has it.
GROUND = {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 26)"}


def build():
    """Build the site into a folder for this run, with the pages of Rust that are there."""
    subprocess.run(["scripts/need", "scripts/requirements-docs.txt"], cwd=ROOT, check=True)
    folder = Path(tempfile.mkdtemp(prefix="weir-docs-"))
    unittest.addModuleCleanup(shutil.rmtree, folder, ignore_errors=True)
    command = [ROOT / ".venv/bin/python", ROOT / "scripts/site/build"]
    rust = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "doc"
    if (rust / "weir/index.html").exists():
        command += ["--rust", rust]
    subprocess.run([*command, folder], check=True, capture_output=True)
    return folder


def setUpModule():  # noqa: N802 (the library's name)
    """One site for all tests; WEIR_SITE names one that is built already."""
    global SITE, VERSION
    given = os.environ.get("WEIR_SITE")
    SITE = Path(given).resolve() if given else build()
    VERSION = json.loads((SITE / "versions.json").read_text(encoding="utf-8"))[0]["folder"]


class Links(html.parser.HTMLParser):
    """The links of a page, what it loads, and its anchors."""

    def __init__(self, file):
        super().__init__()
        self.links, self.loaded, self.anchors = [], [], set()
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        """Note what the element has."""
        given = dict(attrs)
        self.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        loads = {"link": "href", "script": "src", "img": "src", "use": "href", "form": "action"}
        if given.get(loads.get(tag)):
            self.loaded.append(given[loads[tag]])


class Built(unittest.TestCase):
    """The files of the site."""

    @classmethod
    def setUpClass(cls):
        cls.root = SITE / VERSION
        # The pages of Rust are those of another generator, which checks its own links.
        files = [file for file in cls.root.rglob("*.html") if cls.root / "rust" not in file.parents]
        cls.pages = {file: Links(file) for file in files}

    def target(self, page, link):
        """The file and the anchor that a link leads to; None on the Web."""
        parts = urllib.parse.urlsplit(link)
        if parts.scheme or parts.netloc:
            return None, ""
        path = urllib.parse.unquote(parts.path)
        file = Path(os.path.normpath(page.parent / path)) if path else page
        return file, urllib.parse.unquote(parts.fragment)

    def test_every_link_and_anchor_leads_somewhere(self):
        has_rust = (self.root / "rust").exists()
        broken = []
        for page, found in self.pages.items():
            for link in found.links + found.loaded:
                file, anchor = self.target(page, link)
                if file is None or (not has_rust and self.root / "rust" in file.parents):
                    continue
                known = self.pages.get(file)
                is_broken = not file.is_file() or (known and anchor and anchor not in known.anchors)
                if is_broken:
                    broken.append(f"{page.relative_to(self.root)}: {link}")
        self.assertEqual(broken, [])

    def test_nothing_is_loaded_from_elsewhere(self):
        loaded = {link for found in self.pages.values() for link in found.loaded}
        outside = [link for link in loaded if self.target(SITE, link)[0] is None]
        # An address that holds its own content loads nothing: an empty picture of rustdoc's pages.
        outside = [one for one in outside if not one.startswith("data:")]
        self.assertEqual(outside, [])

    def test_every_page_is_in_the_navigation_and_every_document_has_a_page(self):
        first = self.root / "index.html"
        reached = {self.target(first, link)[0] for link in self.pages[first].links}
        missing = set(self.pages) - reached - {self.root / "search.html"}
        self.assertEqual({str(page) for page in missing}, set())
        documents = [*ROOT.glob("docs/**/*.md"), *ROOT.glob("docs/**/*.ipynb")]
        self.assertGreater(len(documents), 80)
        for document in documents:
            path = document.relative_to(ROOT).with_suffix(".html")
            page = path.with_name("index.html") if path.stem == "README" else path
            self.assertTrue((self.root / page).exists(), page)

    def test_a_broken_link_or_anchor_ends_the_build(self):
        with tempfile.TemporaryDirectory(prefix="weir-docs-") as folder:
            copy = Path(folder) / "weir"
            for part in ["scripts/site", "docs/tutorial"]:
                shutil.copytree(ROOT / part, copy / part)
            for part in ["how-to", "reference", "explanation", "studies", "notebooks"]:
                (copy / "docs" / part).mkdir()
            names = ["architecture.md", "../CONTRIBUTING.md", "../SECURITY.md", "../CHANGELOG.md"]
            for name in names:
                (copy / "docs" / name).write_text("# Title\n", encoding="utf-8")
            shutil.copy(ROOT / "Cargo.toml", copy)
            (copy / "docs/reference/python.md").write_text("# Python\n", encoding="utf-8")
            for schema in ["configuration", "scenario"]:
                file = copy / f"docs/reference/{schema}.schema.json"
                file.write_text("{}\n", encoding="utf-8")
            tutorials = {file.name for file in (copy / "docs/tutorial").glob("*.md")}
            for name in tutorials:
                (copy / "docs/tutorial" / name).write_text("# Title\n", encoding="utf-8")
            for text, said in [
                ("[a](docs/architecture.md#gone)", "gone"),
                ("[a](docs/gone.md)", "docs/gone.md"),
                ("![a](docs/gone.png)", "docs/gone.png"),
            ]:
                (copy / "README.md").write_text(f"# Weir\n\n{text}\n", encoding="utf-8")
                command = [ROOT / ".venv/bin/python", copy / "scripts/site/build", copy / "out"]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                self.assertNotEqual(done.returncode, 0, text)
                self.assertIn(said, done.stderr)
                self.assertFalse((copy / "out/versions.json").exists(), text)


class Opened(Browser):
    """The pages in a browser."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        said = cls.folder / "said.json"
        argv = [cls.program, "docs", SITE, "--listen", "127.0.0.1:0", "--json"]
        server = Child(argv, cls.folder / "log", said)
        cls.addClassCleanup(server.kill)
        wait_until(lambda: said.read_text(encoding="utf-8").endswith("\n"), "weir docs to listen")
        cls.address = json.loads(said.read_text(encoding="utf-8"))["listening"]

    def places(self):
        """The addresses of the version, from disk and served."""
        return [(SITE / VERSION).as_uri(), f"http://{self.address}/{VERSION}"]

    def visit(self, url, width=1280, scheme="light"):
        """Open a page; a request to another host, or a message of the console, fails the test."""
        context = self.browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme
        )
        self.addCleanup(context.close)
        page = context.new_page()
        wrong = []
        own = ("file:", "data:", f"http://{self.address}/")
        # The theme logs each change of the mode.
        is_wrong = {"error", "warning"}.__contains__
        page.on("console", lambda one: wrong.append(one.text) if is_wrong(one.type) else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda one: None if one.url.startswith(own) else wrong.append(one.url))
        page.goto(url)
        self.addCleanup(lambda: self.assertEqual(wrong, []))
        return page

    def test_a_search_finds_a_word_and_its_result_opens(self):
        for place in self.places():
            page = self.visit(f"{place}/index.html")
            search = page.get_by_role("textbox", name="Search")
            search.fill("skopeo")
            search.press("Enter")
            result = page.locator("#search-results li a").first
            result.wait_for()
            result.press("Enter")
            page.wait_for_url("**/docs/how-to/install.html**")
            page.get_by_text("skopeo").first.wait_for()

    def test_light_and_dark_by_preference_and_by_choice(self):
        url = f"{self.places()[0]}/index.html"
        ground = "getComputedStyle(document.body).backgroundColor"
        for scheme, colour in GROUND.items():
            self.assertEqual(self.visit(url, scheme=scheme).evaluate(ground), colour)
        page = self.visit(url)
        toggle = page.locator(".theme-toggle-content .theme-toggle")
        for _ in range(3):
            if page.evaluate("document.body.dataset.theme") != "dark":
                toggle.press("Enter")
        self.assertEqual(page.evaluate(ground), GROUND["dark"])

    def test_a_phone_shows_pages_without_sideways_scrolling_and_their_navigation(self):
        for name in PAGES:
            page = self.visit(f"{self.places()[0]}/{name}.html", width=390)
            wide = page.evaluate("document.documentElement.scrollWidth")
            self.assertLessEqual(wide, 390, name)
        page.locator(".nav-overlay-icon").click()
        page.locator(".sidebar-tree").get_by_role("link", name="How-to guides").click()
        self.assertIn("How-to guides", page.locator("h1").inner_text())

    def test_the_list_of_versions(self):
        for place in self.places():
            page = self.visit(f"{place}/docs/how-to/install.html")
            page.locator(".versions summary").press("Enter")
            link = page.locator(".versions li a").first
            self.assertIn(VERSION, link.inner_text())
            link.click()
            page.wait_for_url("**/index.html")
            self.assertEqual(page.locator("h1").inner_text().rstrip("#"), "Weir")

    def test_the_first_page_leads_to_the_latest_version(self):
        for place in [(SITE / "index.html").as_uri(), f"http://{self.address}/"]:
            page = self.visit(place)
            page.wait_for_url("**/latest/index.html")
            page.get_by_role("link", name="Tutorials", exact=True).wait_for()

    def test_pages_of_other_names_and_other_methods_are_rejected(self):
        host, _, port = self.address.partition(":")
        for request, status in [
            ("GET / HTTP/1.1\r\nHost: attacker.example", b"421"),
            (f"POST / HTTP/1.1\r\nHost: {self.address}", b"405"),
            (f"GET /../../etc/passwd HTTP/1.1\r\nHost: {self.address}", b"404"),
            (f"GET /gone HTTP/1.1\r\nHost: {self.address}", b"404"),
            (f"GET /latest HTTP/1.1\r\nHost: {self.address}", b"301"),
            (f"HEAD /latest/index.html HTTP/1.1\r\nHost: {self.address}", b"200"),
        ]:
            with contextlib.closing(socket.create_connection((host, int(port)))) as connection:
                connection.settimeout(60)
                connection.sendall(f"{request}\r\nContent-Length: 0\r\n\r\n".encode())
                answer = connection.makefile("rb").read()
            self.assertEqual(answer.split()[1], status, request)

    def test_a_folder_without_the_site_is_an_error_with_a_remedy(self):
        command = [self.program, "docs", SITE / VERSION]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 7)
        self.assertIn("scripts/docs site", done.stderr)
