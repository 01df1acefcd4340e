"""Reports made by the program and opened in Chromium; what goes wrong there fails a test."""

import contextlib
import subprocess
import tempfile
import unittest
from pathlib import Path

from playwright.sync_api import TimeoutError as TookTooLong
from playwright.sync_api import sync_playwright
from support import chromium, weir


class Browser(unittest.TestCase):
    """One browser and one folder for all tests of a class, a fresh page for each."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="weir-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.program = weir.program()
        playwright = sync_playwright().start()
        cls.addClassCleanup(playwright.stop)
        options = {"executable_path": chromium.installed(), "args": [chromium.FOR_ROOT]}
        cls.browser = playwright.chromium.launch(**options)
        cls.addClassCleanup(cls.browser.close)

    @classmethod
    def weir(cls, *arguments):
        """Run the program in the folder."""
        subprocess.run([cls.program, *arguments], cwd=cls.folder, check=True, capture_output=True)

    def open(self, name, width=1280, scheme="light"):
        """Open a report; what it complains of or asks for fails the test at its end."""
        context = self.browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, accept_downloads=True
        )
        self.addCleanup(context.close)
        page = context.new_page()
        wrong = []
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda request: wrong.append(request.url) if is_outside(request) else 0)
        page.goto((self.folder / name).as_uri())
        self.addCleanup(lambda: self.assertEqual(wrong, []))
        return page

    def figure(self, page, name):
        """A picture, in sight and drawn."""
        figure = page.locator(f"figure#{name}")
        figure.scroll_into_view_if_needed()
        figure.locator(".plot svg").first.wait_for()
        return figure


# So often a picture is asked for.
ATTEMPTS = 6


def save_pictures(page, folder):
    """Every picture of an open page, as its button saves it; their files."""
    names = page.eval_on_selector_all("figure[id]", "all => all.map((one) => one.id)")
    return [save_picture(page, name, folder / f"{name}.svg") for name in names]


def save_picture(page, name, path):
    """One picture of an open page."""
    figure = page.locator(f"figure[id='{name}']")
    figure.scroll_into_view_if_needed()
    figure.locator(".plot svg").first.wait_for()
    # Behind many downloads of one page, Chromium now and then takes no notice of the next one.
    for _ in range(ATTEMPTS):
        with contextlib.suppress(TookTooLong):
            with page.expect_download(timeout=5_000) as saved:
                figure.locator("[data-do=svg]").click()
            saved.value.save_as(path)
            return path
    raise AssertionError(f"no file comes of the button of {name}")


def is_outside(request):
    """True if it requests anything except the file itself."""
    return not request.url.startswith(("file:", "data:", "blob:"))
