#!/usr/bin/env python3
"""Tests the gallery in a real browser: run.py THUMBS SCREENSHOT_FOLDER

Run it through Examples/serve.py, which serves http://icons.example/. The command makes galleries from the example
images, from names that try to inject markup, and from 10,000 rows; each is opened in Chromium. Screenshots are written
to SCREENSHOT_FOLDER, among them the one for the README.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

from browser import Browser

# The most bytes that the README's screenshot may have.
SCREENSHOT_LIMIT = 150_000
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "Examples"
ROWS = 10_000
FRAMES = 120
HOSTILE = [
    '<script>window.hacked = "script"</script>', '"><img src=x onerror="window.hacked = 1">',
    "' onmouseover='window.hacked = 1", "</b></a></li></ul><h1 id=hacked>", "<!-- x", "</title><style>*{display:none}",
    "\u202egnp.exe", "]]>", "&lt;b&gt;", "a\x00b\x1b[31m",
]
BAD_URLS = ["javascript:window.hacked=1", "data:text/html,<script>window.hacked=1</script>", "vbscript:x",
            'http://icons.example/"><script>window.hacked=1</script>', "HTTP://icons.example/lost.png"]

thumbs = pathlib.Path(sys.argv.pop(1)).resolve()
screenshots = pathlib.Path(sys.argv.pop(1)).resolve()
screenshots.mkdir(parents=True, exist_ok=True)


def make(directory, manifest, *options, output="thumbs"):
    """Fetches `manifest` and returns the path of the gallery. Some rows fail, so the exit status is 1."""
    page = directory / "page.html"
    result = subprocess.run(
        [thumbs, "fetch", manifest, "-q", "--cache-dir", directory / "cache", "-o", directory / output,
         "--gallery", page, *options], stderr=subprocess.PIPE, text=True)
    assert result.returncode == 1, result.stderr
    assert sorted(name for name in os.listdir(directory) if name.startswith(".")) == [], "temporary files remain"
    return page


def lines(directory, rows):
    path = directory / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


class GalleryTest(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.browser = self.enterContext(Browser())
        self.browser.size(1280, 800)
        self.browser.scheme("light")

    def load(self, page):
        self.browser.load(page.as_uri())
        self.settle()

    def settle(self):
        """Waits until all visible images are loaded."""
        self.browser.run("""(async () => {
          for (;;) {
            await new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)));
            const isSeen = element => {
              const { top, bottom } = element.getBoundingClientRect();
              return bottom > 0 && top < innerHeight;
            };
            const seen = [...list.children].filter(isSeen).flatMap(part => [...part.children]).filter(isSeen);
            if (seen.every(card => card.querySelector("img")?.complete ?? true)) return;
          }})()""")

    def shown(self):
        return self.browser.run("list.querySelectorAll('li').length")

    def type(self, text):
        self.browser.run(f"filter.value = {json.dumps(text)}; filter.dispatchEvent(new Event('input'))")
        self.browser.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def screenshot(self, name):
        self.browser.screenshot(screenshots / name)
        return screenshots / name

    def assert_self_contained(self, page):
        folder = page.parent.as_uri()
        external = [url for url in self.browser.requests() if not url.startswith((folder, "data:"))]
        self.assertEqual(external, [])
        self.assertEqual(self.browser.complaints(), [])

    def test_examples(self):
        page = make(self.directory, EXAMPLES / "apps.plist")
        self.load(page)
        self.screenshot("light.png")
        widths = self.browser.run("[...document.querySelectorAll('#cards img')].map(i => i.naturalWidth)")
        self.assertEqual(len(widths), 16)
        self.assertGreater(min(widths), 0)
        failed = self.browser.run("[...document.querySelectorAll('#cards .failed')].map(c => c.innerText)")
        self.assertEqual(len(failed), 1)
        for text in ("Lost & Found", "http_404", "The server responded with status 404."):
            self.assertIn(text, failed[0])
        names = self.browser.run("links.map(l => l.querySelector('b').textContent)")
        self.assertEqual((names[0], names[-1]), ("Fjord Weather", "Lost & Found"), "not the order of the manifest")
        self.assertEqual(self.browser.run("document.querySelector('.choices').innerText.split(/\\s+/).join(' ')"),
                         "All 17 Done 16 Failed 1")
        self.assert_self_contained(page)

    def test_readme_screenshot(self):
        self.browser.size(1024, 640)
        self.load(make(self.directory, EXAMPLES / "apps.plist"))
        self.assertLess(self.screenshot("readme.jpg").stat().st_size, SCREENSHOT_LIMIT)

    def test_filter(self):
        self.load(make(self.directory, EXAMPLES / "apps.plist"))
        for text, count in [("fjord", 1), ("FJORD weather", 1), ("weather fjord", 1), ("icons.example", 17),
                            ("http_404", 1), ("fjord.jpg", 1), ("no such thing", 0), ("", 17)]:
            self.type(text)
            self.assertEqual(self.shown(), count, text)
            self.assertEqual(self.browser.run("document.getElementById('nothing').hidden"), count > 0)
        self.browser.run("document.querySelector('[value=failed]').click()")
        self.type("")
        self.assertEqual(self.shown(), 1)

    def test_keys(self):
        self.load(make(self.directory, EXAMPLES / "apps.plist"))
        focus = "document.activeElement.id"
        self.browser.key("/")
        self.assertEqual(self.browser.run(focus), "filter")
        columns = self.browser.run("columns()")
        for key, row in [("ArrowDown", 0), ("ArrowRight", 1), ("ArrowDown", 1 + columns), ("ArrowUp", 1),
                         ("ArrowLeft", 0), ("End", 16), ("Home", 0)]:
            self.browser.key(key)
            self.assertEqual(self.browser.run(focus), f"row-{row}", key)
        self.browser.key("Enter", text="\r")
        self.assertTrue(self.browser.run("dialog.open"))
        self.browser.run("dialog.querySelector('img').decode()")
        self.assertEqual(self.browser.run("dialog.querySelector('img').naturalWidth"), 256)
        self.screenshot("dialog.png")
        self.browser.key("Escape")
        self.assertFalse(self.browser.run("dialog.open"))
        self.type("fjord")
        self.browser.key("/")
        self.browser.key("Escape")
        self.assertEqual(self.browser.run("filter.value"), "")

    def test_dark(self):
        self.load(make(self.directory, EXAMPLES / "apps.plist"))
        brightness = """(name => getComputedStyle(document.body)[name].match(/[\\d.]+/g).slice(0, 3)
          .reduce((sum, part) => sum + Number(part), 0))"""
        for scheme, is_dark in [("light", False), ("dark", True)]:
            self.browser.scheme(scheme)
            self.assertEqual(self.browser.run(f"{brightness}('backgroundColor') < {brightness}('color')"), is_dark)
        self.screenshot("dark.png")

    def test_phone(self):
        self.browser.size(360, 740, scale=2, mobile=True)
        self.load(make(self.directory, EXAMPLES / "apps.plist"))
        self.screenshot("phone.png")
        self.assertLessEqual(self.browser.run("document.documentElement.scrollWidth"), 360)
        self.browser.run("scrollTo(0, document.body.scrollHeight)")
        self.settle()
        self.screenshot("phone-end.png")
        self.assertLessEqual(self.browser.run("document.documentElement.scrollWidth"), 360)
        self.browser.scheme("dark")
        self.screenshot("phone-dark.png")

    def test_embedded(self):
        """The page embeds thumbnails that are not below its directory, so it can be moved."""
        page = make(self.directory, EXAMPLES / "apps.plist", output="../" + self.directory.name + "-out")
        self.addCleanup(subprocess.call, ["rm", "-rf", str(self.directory) + "-out"])
        moved = self.directory / "moved.html"
        page.rename(moved)
        subprocess.call(["rm", "-rf", str(self.directory) + "-out"])
        self.load(moved)
        widths = self.browser.run("[...document.querySelectorAll('#cards img')].map(i => i.naturalWidth)")
        self.assertGreater(min(widths), 0)
        self.assertEqual(len(widths), 16)
        self.assert_self_contained(moved)

    def test_hostile(self):
        rows = [{"name": name, "url": f"http://icons.example/{urllib.parse.quote(name, safe='')}.png"}
                for name in HOSTILE]
        rows += [{"name": url, "url": url} for url in BAD_URLS] + [{"name": "<b>bad row</b>"}]
        page = make(self.directory, lines(self.directory, rows))
        self.load(page)
        self.assertEqual(self.browser.run("[cards.length, document.querySelectorAll('h1').length]"), [len(rows), 1])
        self.assertEqual(self.browser.run("document.scripts.length"), 1)
        injected = self.browser.run("document.querySelectorAll('li b *, li small :not(code), li [onerror]').length")
        self.assertEqual(injected, 0)
        names = self.browser.run("links.map(l => l.querySelector('b').textContent)")
        self.assertEqual(names[:9], [name for name in HOSTILE[:9]])
        self.browser.run("links.forEach(l => l.getAttribute('href').startsWith('#') && l.click())")
        schemes = set(self.browser.run("links.map(l => new URL(l.href).protocol)"))
        self.assertLessEqual(schemes, {"file:", "http:"})
        self.assertIsNone(self.browser.run("window.hacked"))
        self.assert_self_contained(page)

    def test_policy(self):
        """The page's policy blocks injected scripts and images."""
        page = make(self.directory, EXAMPLES / "apps.plist")
        markup = "<script>window.hacked=1</script><img src=http://icons.example/fjord.jpg>"
        page.write_text(page.read_text().replace("Fjord Weather", markup))
        self.load(page)
        self.assertIsNone(self.browser.run("window.hacked"))
        self.assertEqual(self.browser.run("document.querySelector('#cards b img').naturalWidth"), 0)

    def test_ten_thousand(self):
        images = sorted(path.name for path in (EXAMPLES / "images").iterdir())
        rows = [{"name": f"Application number {i}",
                 "url": "http://icons.example/" + ("lost.png" if i % 10 == 9 else images[i % len(images)])}
                for i in range(ROWS)]
        page = make(self.directory, lines(self.directory, rows), "--name", "{index}.{ext}")
        self.load(page)
        self.assertEqual(self.shown(), ROWS)
        self.assertLess(len(self.browser.requests()), 500, "images far from the screen were loaded")
        filtering = []
        for text in ("number 77", "http_404", "99", "", "tower number 1", ""):
            before = self.browser.work()
            self.type(text)
            filtering.append(self.browser.work() - before)
        before = self.browser.work()
        self.browser.run(f"""(async () => {{
          for (let step = 0; step < {FRAMES}; step++) {{
            scrollBy(0, 900);
            await new Promise(requestAnimationFrame);
          }}
        }})()""")
        frame = (self.browser.work() - before) / FRAMES
        self.settle()
        self.screenshot("ten-thousand.png")
        # CPU time, for information only: the test does not depend on it. Below 100 ms, a response feels immediate.
        print(f"\n{ROWS} rows: {page.stat().st_size >> 10} KiB; filter {max(filtering):.0f} ms at most; "
              f"scrolling {frame:.1f} ms per frame")


if __name__ == "__main__":
    unittest.main()
