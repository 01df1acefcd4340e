"""The page of a gateway with uploads: a file that is dropped on it has a name on the network."""

import tempfile
import unittest
from pathlib import Path

from opened import Browser
from support import content, weir
from support.gateway import PATIENCE, Gateway

ALONE = {"udp": "off", "tcp": "off"}
TOKEN = "0123456789abcdef-for-tests"
HOSTILE = "<img src=x onerror=alert(1)>&\"'.txt"
SIZE = 3 * content.MEGABYTE
# Drops files with these names and contents on the page.
DROP = """(files) => {
  const dropped = new DataTransfer();
  for (const [name, text] of files) dropped.items.add(new File([text], name));
  for (const type of ["dragover", "drop"])
    document.querySelector("h1").dispatchEvent(
      new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: dropped }));
}"""


class Upload(Browser):
    """A daemon for all tests, and a gateway for each."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.daemon = weir.Daemon(cls.program, cls.folder, "daemon", listen=ALONE)
        cls.daemon.start()
        cls.addClassCleanup(cls.daemon.process.kill)

    def gateway(self, *options):
        """A gateway for as long as the test takes."""
        self.here = Path(tempfile.mkdtemp(dir=self.folder))
        store = self.here / "store"
        gateway = Gateway(self.daemon, self.here, "--put", "/up", "--store", store, *options)
        self.addCleanup(gateway.child.kill)
        return gateway

    def page(self, gateway, width=1280, scheme="light", expected=()):
        """The page of the folder; other complaints than those expected fail the test."""
        context = self.browser.new_context(
            viewport={"width": width, "height": 700}, color_scheme=scheme
        )
        self.addCleanup(context.close)
        page = context.new_page()
        wrong = []
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(f"http://127.0.0.1:{gateway.port}/up/")
        page.locator("#upload").wait_for()

        def check():
            others = [text for text in wrong if not any(word in text for word in expected)]
            self.assertEqual(others, [])

        self.addCleanup(check)
        return page

    def fetched(self, name):
        """The bytes that `weir get` has of a name."""
        out = self.here / "got"
        self.daemon.get(name, out).finish(PATIENCE)
        return out.read_bytes()

    def test_files_that_are_dropped_are_found_by_name(self):
        page = self.page(self.gateway())
        page.evaluate(DROP, [["a note.txt", "dropped"], [HOSTILE, "x"], ["third", "y"]])
        page.locator("#upload li.done").nth(2).wait_for()
        self.assertEqual(page.locator("#upload li.failed").count(), 0)
        self.assertEqual(self.fetched("/up/a%20note.txt"), b"dropped")
        page.reload()
        page.get_by_role("link", name="a note.txt", exact=True).wait_for()
        page.get_by_role("link", name=HOSTILE, exact=True).wait_for()
        self.assertEqual(page.locator("img").count(), 0, "names are text")

    def test_a_chosen_file_arrives_whole(self):
        page = self.page(self.gateway())
        file = content.make(self.here / "film.webm", SIZE)
        page.get_by_label("Upload files").set_input_files(file)
        page.locator("#upload li.done").wait_for()
        self.assertTrue(self.fetched("/up/film.webm") == file.read_bytes())

    def test_rejections_are_shown(self):
        # Beside its content, an object counts with 1 kB, its name, digests and signatures. Those
        # are shorter than 1 kB: there is room for one object, and not for two.
        page = self.page(self.gateway("--put-limit", "10 B", "--quota", "3 kB"), expected=["507"])
        page.evaluate(DROP, [["large", "x" * 11]])
        page.get_by_text("too large").wait_for()
        page.evaluate(DROP, [["one", "123456789"]])
        page.locator("#upload li.done").wait_for()
        page.evaluate(DROP, [["two", "abcdefghi"]])
        page.get_by_text("the store has no room").wait_for()

    def test_a_token_is_asked_for(self):
        token = self.folder / "token"
        token.write_text(TOKEN, encoding="utf-8")
        gateway = self.gateway("--put-token", token)
        page = self.page(gateway, expected=["401"])
        page.evaluate(DROP, [["x", "without"]])
        page.get_by_text("uploads need the token").wait_for()
        page.get_by_label("Token").fill(TOKEN)
        page.evaluate(DROP, [["x", "with"]])
        page.locator("#upload li.done").wait_for()
        self.assertEqual(self.fetched("/up/x"), b"with")

    def test_nothing_sticks_out(self):
        gateway = self.gateway()
        for width, scheme in ((360, "light"), (1280, "dark")):
            page = self.page(gateway, width, scheme)
            page.evaluate(DROP, [["n" * 120, "x"], ["small.txt", "y"]])
            page.locator("#upload li.done").nth(1).wait_for()
            wide = page.evaluate("document.documentElement.scrollWidth")
            self.assertLessEqual(wide, width, f"the page sticks out at {width}")


if __name__ == "__main__":
    unittest.main()
