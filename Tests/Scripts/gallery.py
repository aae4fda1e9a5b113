#!/usr/bin/env python3
"""Tests the gallery in a real browser: gallery.py THUMBS SCREENSHOT_FOLDER

Run it through Examples/serve.py, which serves http://icons.example/. The command makes galleries from the
example images, from names that try to inject markup, and from up to 100,000 rows; each is opened in Chromium.
Screenshots are written to SCREENSHOT_FOLDER, among them the one for the README.
"""
import functools
import http.server
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse

from browser import Browser

# The most bytes that the README's screenshot may have.
SCREENSHOT_LIMIT = 150_000
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "Examples"
ROWS = [1000, 20_000, 100_000]
FRAMES = 120
HOSTILE = [
    '<script>window.hacked = "script"</script>', '"><img src=x onerror="window.hacked = 1">',
    "' onmouseover='window.hacked = 1", "</b></a></li></ul><h1 id=hacked>", "<!-- x", "</title><style>*{display:none}",
    "\u202egnp.exe", "]]>", "&lt;b&gt;", "a\x00b\x1b[31m",
]
BAD_URLS = ["javascript:window.hacked=1", "data:text/html,<script>window.hacked=1</script>", "vbscript:x",
            'http://icons.example/"><script>window.hacked=1</script>', "HTTP://icons.example/lost.png"]

# The rules of axe-core, if they are installed.
AXE = os.environ.get("AXE_CORE") and pathlib.Path(os.environ["AXE_CORE"]).read_text()

thumbs = pathlib.Path(sys.argv.pop(1)).resolve()
screenshots = pathlib.Path(sys.argv.pop(1)).resolve()
screenshots.mkdir(parents=True, exist_ok=True)


def without_proxy():
    return {key: value for key, value in os.environ.items() if key.lower() != "http_proxy"}


def make(directory, manifest, *options, output="thumbs", environment=None):
    """Fetches `manifest` and returns the path of the gallery. Some rows fail, so the exit status is 1."""
    page = directory / "page.html"
    result = subprocess.run(
        [thumbs, "fetch", manifest, "-q", "--cache-dir", directory / "cache", "-o", directory / output,
         "--gallery", page, *options], stderr=subprocess.PIPE, text=True, env=environment)
    assert result.returncode == 1, result.stderr
    assert sorted(name for name in os.listdir(directory) if name.startswith(".")) == [], "temporary files remain"
    return page


def lines(directory, rows):
    path = directory / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


class HeldServer(http.server.ThreadingHTTPServer):
    """Serves an example image under every path. Paths with `held` wait until their gate is open; `lost` is missing."""
    daemon_threads = True
    # Connections that find the queue full are tried again after seconds.
    request_queue_size = 256

    def __init__(self):
        self.gates = {name: threading.Event() for name in ("held", "later")}
        self.image = (EXAMPLES / "images/fjord.jpg").read_bytes()
        super().__init__(("127.0.0.1", 0), HeldHandler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for gate in self.gates.values():
            gate.set()
        self.shutdown()
        self.server_close()

    def handle_error(self, *_):
        """Ignores responses that a killed run no longer reads."""

    def rows(self, names, path=None):
        """Rows with `names`, whose paths are their names, or else all the same."""
        return [{"name": name, "url": f"http://127.0.0.1:{self.server_port}/{path or name}.jpg"} for name in names]


class HeldHandler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        for name, gate in self.server.gates.items():
            if name in self.path:
                gate.wait()
        is_lost = "lost" in self.path
        self.send_response(404 if is_lost else 200)
        self.send_header("Content-Length", "0" if is_lost else str(len(self.server.image)))
        self.end_headers()
        self.wfile.write(b"" if is_lost else self.server.image)

    def log_message(self, *_):
        pass


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class LiveRun:
    """A run whose gallery is opened before it ends."""

    def __init__(self, directory, rows):
        self.page = directory / "page.html"
        self.process = subprocess.Popen(
            [thumbs, "fetch", lines(directory, rows), "-q", "--no-cache", "--concurrency", "64", "--per-host", "64",
             "--retries", "0", "--timeout", "2400", "-o", directory / "thumbs", "--name", "{index}.{ext}",
             "--gallery", self.page],
            stderr=subprocess.PIPE, env=without_proxy())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def wait_for_page(self, text):
        """Waits until the page contains the text; the time limit of the whole test bounds the wait."""
        while not self.page.exists() or text not in self.page.read_text():
            assert self.process.poll() is None, self.process.stderr.read()
            time.sleep(0.02)


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
            if ([...view.querySelectorAll("img")].filter(isSeen).every(image => image.complete)) return;
          }})()""")

    def shown(self):
        return self.browser.run("shown.length")

    def frame(self):
        self.browser.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def type(self, text):
        self.browser.run(f"filter.value = {json.dumps(text)}; filter.dispatchEvent(new Event('input'))")
        self.frame()

    def choose(self, name, value):
        """Sets a control of the page."""
        setting = f"checked = {json.dumps(value)}" if isinstance(value, bool) else f"value = {json.dumps(value)}"
        event = "new Event('input', {bubbles: true})"
        self.browser.run(f"controls.{name}.{setting}; document.querySelector('[name={name}]').dispatchEvent({event})")
        self.frame()
        self.settle()

    def names(self):
        return self.browser.run("[...view.querySelectorAll('.item a')].map(link => link.textContent)")

    def assert_accessible(self):
        """Compares the tree that screen readers get: every control has a name, and images have none."""
        nodes = self.browser.accessibility()
        roles = {}
        for node in nodes:
            roles.setdefault(node["role"], []).append(node["name"])
        for role in ("button", "link", "radio", "searchbox", "slider", "combobox", "checkbox", "dialog", "heading"):
            self.assertNotIn("", roles.get(role, []), role)
        self.assertEqual([node for node in nodes if node["role"] == "image" and node["name"]], [])
        if AXE:
            self.browser.run(AXE)
            violations = self.browser.run("""axe.run().then(result => result.violations.map(({ id, nodes }) =>
              `${id}: ${nodes.map(node => node.html).join(' ').slice(0, 300)}`))""")
            self.assertEqual(violations, [])
        return roles

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
        self.assert_accessible()
        widths = self.browser.run("[...view.querySelectorAll('img')].map(image => image.naturalWidth)")
        self.assertGreater(len(widths), 7)
        self.assertGreater(min(widths), 0)
        names = self.browser.run("rows.map(row => row.n)")
        self.assertEqual((names[0], names[-1]), ("Fjord Weather", "Lost & Found"), "not the order of the manifest")
        self.assertEqual(self.browser.run("document.querySelector('.choices').innerText.split(/\\s+/).join(' ')"),
                         "All 17 Done 16 Failed 1")
        # Thumbnails are as large as they are, on lines as high as the highest.
        self.assertEqual(self.browser.run("view.querySelector('img').width"), 256)
        overlaps = self.browser.run("""(() => {
          const boxes = [...view.querySelectorAll('.item')].map(item => item.getBoundingClientRect());
          return boxes.filter((a, i) => boxes.some((b, j) => i !== j
            && a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)).length;
        })()""")
        self.assertEqual(overlaps, 0)
        self.type("lost")
        failed = self.browser.run("[...view.querySelectorAll('.failed')].map(item => item.innerText)")
        self.assertEqual(len(failed), 1)
        for text in ("Lost & Found", "http_404", "The server responded with status 404."):
            self.assertIn(text, failed[0])
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

    def test_orders(self):
        """Rows are sorted and grouped, and the page remembers how."""
        rows = [{"name": name, "url": f"http://{host}:{{}}/{name}.jpg"} for name, host in
                [("b10", "localhost"), ("b9", "127.0.0.1"), ("a", "localhost"), ("lost", "127.0.0.1")]]
        with HeldServer() as server:
            for row in rows:
                row["url"] = row["url"].format(server.server_port)
            page = make(self.directory, lines(self.directory, rows), environment=without_proxy())
        self.load(page)
        self.assertEqual(self.names(), ["b10", "b9", "a", "lost"])
        self.choose("sort", "name")
        self.assertEqual(self.names(), ["a", "b9", "b10", "lost"])
        self.choose("sort", "size")
        self.assertEqual(self.names(), ["b10", "b9", "a", "lost"])
        self.choose("sort", "host")
        self.assertEqual(self.names(), ["b9", "lost", "b10", "a"])
        self.choose("sort", "list")
        self.choose("group", True)
        self.assertEqual(self.names(), ["b9", "lost", "b10", "a"])
        self.assertEqual(self.browser.run("[...view.querySelectorAll('h2')].map(heading => heading.textContent)"),
                         [f"{host}:{server.server_port}: 2" for host in ("127.0.0.1", "localhost")])
        self.screenshot("groups.png")
        self.assert_accessible()
        self.browser.run("focus(1)")
        for key, name in [("ArrowRight", "lost"), ("ArrowRight", "b10"), ("ArrowLeft", "lost"), ("End", "a"),
                          ("Home", "b9")]:
            self.browser.key(key)
            self.assertEqual(self.browser.run("document.activeElement.textContent"), name, key)
        self.choose("sort", "name")
        self.choose("side", "96")
        self.load(page)
        self.assertEqual(self.browser.run("[controls.sort.value, controls.side.value]"), ["name", "96"])

    def test_table(self):
        """Icons begin as a table, whose cells have headings."""
        self.load(make(self.directory, EXAMPLES / "apps.plist", "-s", "48"))
        self.assertEqual(self.browser.run("layout()"), "table")
        self.assertEqual(self.browser.run("document.getElementById('heads').hidden"), False)
        self.assertIn("1280 × 960 JPEG", self.browser.run("view.querySelector('.item .size').textContent"))
        self.screenshot("table.png")
        roles = self.assert_accessible()
        self.assertEqual(len(roles["columnheader"]), 6)
        self.assertGreater(len(roles["row"]), 10)
        self.browser.run("document.querySelector('[value=grid]').click()")
        self.frame()
        self.assertEqual(self.browser.run("[layout(), document.getElementById('heads').hidden]"), ["grid", True])

    def test_keys(self):
        self.load(make(self.directory, EXAMPLES / "apps.plist"))
        focus = "document.activeElement.id"
        self.browser.key("/")
        self.assertEqual(self.browser.run(focus), "filter")
        columns = self.browser.run("columns")
        for key, row in [("ArrowDown", 0), ("ArrowRight", 1), ("ArrowDown", 1 + columns), ("ArrowUp", 1),
                         ("ArrowLeft", 0), ("End", 16), ("Home", 0)]:
            self.browser.key(key)
            self.assertEqual(self.browser.run(focus), f"row-{row}", key)
        self.browser.key("Enter", text="\r")
        self.assertTrue(self.browser.run("dialog.open"))
        self.browser.run("dialog.querySelector('img').decode()")
        self.assertEqual(self.browser.run("dialog.querySelector('img').naturalWidth"), 256)
        self.screenshot("dialog.png")
        self.assertEqual(self.assert_accessible()["dialog"], ["Fjord Weather"])
        self.browser.key("ArrowRight")
        self.assertEqual(self.browser.run("dialog.querySelector('h2').textContent"), "Dunes")
        self.browser.run("dialog.querySelector('[name=previous]').click()")
        self.assertEqual(self.browser.run("dialog.querySelector('h2').textContent"), "Fjord Weather")
        self.assertTrue(self.browser.run("dialog.querySelector('[name=previous]').disabled"))
        facts = self.browser.run("dialog.querySelector('dl').innerText")
        for text in ("1280 × 960 JPEG, 35.2 KiB", "the server", "256 × 192", "http://icons.example/fjord.jpg"):
            self.assertIn(text, facts)
        self.browser.key("Escape")
        self.assertEqual(self.browser.run(f"[dialog.open, {focus}]"), [False, "row-0"])
        self.browser.run("look(16)")
        self.assertIn("http_404: The server responded with status 404.", self.browser.run("dialog.innerText"))
        link = self.browser.run("(({target, rel}) => [target, rel])(dialog.querySelector('dl a'))")
        self.assertEqual(link, ["_blank", "noreferrer noopener"])
        self.screenshot("failed.png")
        self.assert_accessible()
        self.browser.run("dialog.querySelector('[name=close]').click()")
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
        self.assert_accessible()
        # The chosen tab is visible without colors.
        self.browser.scheme("light", ("forced-colors", "active"))
        outline = "getComputedStyle(document.querySelector('.choices label:has(:checked)')).outlineStyle"
        self.assertEqual(self.browser.run(outline), "solid")

    def test_phone(self):
        self.browser.size(360, 740, scale=2, mobile=True)
        self.load(make(self.directory, EXAMPLES / "apps.plist"))
        self.screenshot("phone.png")
        self.assert_accessible()
        self.assertEqual(self.browser.run("columns"), 2)
        self.assertLessEqual(self.browser.run("document.documentElement.scrollWidth"), 360)
        self.browser.run("scrollTo(0, document.body.scrollHeight)")
        self.settle()
        self.screenshot("phone-end.png")
        self.assertLessEqual(self.browser.run("document.documentElement.scrollWidth"), 360)
        self.browser.scheme("dark")
        self.screenshot("phone-dark.png")
        self.browser.run("look(0)")
        self.settle()
        self.screenshot("phone-dialog.png")

    def test_embedded(self):
        """The page embeds thumbnails that are not below its directory, so it can be moved."""
        page = make(self.directory, EXAMPLES / "apps.plist", output="../" + self.directory.name + "-out")
        self.addCleanup(subprocess.call, ["rm", "-rf", str(self.directory) + "-out"])
        moved = self.directory / "moved.html"
        page.rename(moved)
        subprocess.call(["rm", "-rf", str(self.directory) + "-out"])
        self.load(moved)
        widths = self.browser.run("[...view.querySelectorAll('img')].map(image => image.naturalWidth)")
        self.assertGreater(min(widths), 0)
        self.assertEqual(self.browser.run("rows.filter(row => row.f?.startsWith('data:')).length"), 16)
        self.assert_self_contained(moved)

    def test_hostile(self):
        rows = [{"name": name, "url": f"http://icons.example/{urllib.parse.quote(name, safe='')}.png"}
                for name in HOSTILE]
        rows += [{"name": url, "url": url} for url in BAD_URLS] + [{"name": "<b>bad row</b>"}]
        page = make(self.directory, lines(self.directory, rows))
        self.load(page)
        self.assertEqual(self.browser.run("[rows.length, document.querySelectorAll('h1').length]"), [len(rows), 1])
        self.assertEqual(self.browser.run("document.scripts.length"), 1)
        injected = self.browser.run("view.querySelectorAll('.name a *, .note :not(code), [onerror], .item h1').length")
        self.assertEqual(injected, 0)
        self.assertEqual(self.names()[:9], HOSTILE[:9])
        for i in range(len(rows)):
            self.browser.run(f"look({i})")
            self.assertEqual(self.browser.run("dialog.querySelectorAll('dl :not(dt, dd, a, span, button)').length"), 0)
        self.browser.run("dialog.close()")
        schemes = set(self.browser.run("[...document.querySelectorAll('a')].map(link => new URL(link.href).protocol)"))
        self.assertLessEqual(schemes, {"file:", "http:"})
        self.assertIsNone(self.browser.run("window.hacked"))
        self.assert_self_contained(page)

    def test_policy(self):
        """The page's policy blocks injected scripts and images."""
        page = make(self.directory, EXAMPLES / "apps.plist")
        markup = "<script>window.hacked=1</script><img id=outside src=http://icons.example/fjord.jpg>"
        page.write_text(page.read_text().replace("<main>", f"<main>{markup}", 1))
        self.load(page)
        self.assertIsNone(self.browser.run("window.hacked"))
        self.assertEqual(self.browser.run("document.getElementById('outside').naturalWidth"), 0)

    def wait(self, condition):
        """Waits until the condition holds in the page, even over a reload."""
        while True:
            try:
                found = self.browser.run(f"""new Promise(done => {{
                  const end = Date.now() + 30000;
                  const look = () => {condition} ? done(true) : Date.now() > end ? done(false) : setTimeout(look, 20);
                  look();
                }})""")
            except RuntimeError as error:
                # The reload ended the script.
                if not str(error).startswith("Runtime.evaluate:"):
                    raise
                continue
            return self.assertTrue(found, condition)

    def statuses(self):
        return self.browser.run("rows.map(row => row.s)")

    def test_live(self):
        """A page that is opened during the run follows it to the end, without a reload and without flicker."""
        names = ["first", "held", "lost", "last-held", "later"] + [f"more-{i}" for i in range(200)]
        with HeldServer() as server, LiveRun(self.directory, server.rows(names)) as run:
            run.wait_for_page("This page is not complete.")
            self.browser.load(run.page.as_uri())
            self.browser.run("window.loaded = Date.now()")
            self.wait("rows.filter(row => row.s !== 'waiting').length === 202")
            self.assertEqual(self.statuses()[:6], ["ok", "waiting", "failed", "waiting", "waiting", "ok"])
            self.assertIn("Running: 202 of 205 rows finished. This page is not complete.",
                          self.browser.run("run.textContent"))
            self.assertEqual(self.browser.run("document.querySelector('.choices').innerText.split(/\\s+/).join(' ')"),
                             "All 205 Done 201 Failed 1 Canceled 0 Waiting 3")
            self.wait("view.querySelector('.ok img')?.complete")
            self.settle()
            self.screenshot("live.png")
            self.assert_accessible()

            # The place and the focus stay while other rows finish.
            self.browser.run("""(async () => {
              scrollTo(0, 300);
              await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
              const link = document.getElementById('row-8');
              link.focus({ preventScroll: true });
              active = 8;
              window.image = document.querySelector('#row-5').closest('.item').querySelector('img');
              window.moved = 0;
              new MutationObserver(changes => {
                for (const change of changes) {
                  moved += [...change.removedNodes].filter(node => node.classList?.contains('ok')).length;
                }
              }).observe(view, { childList: true });
            })()""")
            server.gates["held"].set()
            self.wait("rows.filter(row => row.s === 'waiting').length === 1")
            self.assertEqual(self.statuses()[:6], ["ok", "ok", "failed", "ok", "waiting", "ok"])
            self.assertEqual(self.browser.run("[scrollY, document.activeElement.id, moved]"), [300, "row-8", 0])
            self.assertTrue(self.browser.run("image.isConnected && Date.now() > loaded"), "the page was reloaded")
            self.wait("document.getElementById('row-1').closest('.item').querySelector('img')?.width > 0")

            # The filter applies to rows that finish later.
            self.type("held")
            self.assertEqual(self.shown(), 2)
            self.browser.run("document.querySelector('[value=ok]').click()")
            self.type("l")
            shown = self.shown()
            self.assert_self_contained(run.page)
            server.gates["later"].set()
            self.wait("document.readyState === 'complete' && !document.getElementById('run')")
            self.assertEqual(run.process.wait(), 1)
            # `later` was not shown before, because it had not finished.
            self.assertEqual(self.shown(), shown + 1)
            self.assertEqual(self.browser.run("[filter.value, document.querySelector('.choices :checked').value]"),
                             ["l", "ok"])
            self.assertNotIn("iframe", run.page.read_text())
            self.assertEqual([name for name in os.listdir(self.directory) if name.startswith(".")], [])
            self.assertEqual(self.browser.complaints(), [])

    def test_live_served(self):
        """A page from a web server follows the run too. An open dialog delays its final version."""
        handler = functools.partial(QuietHandler, directory=self.directory)
        files = self.enterContext(http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler))
        threading.Thread(target=files.serve_forever, daemon=True).start()
        self.addCleanup(files.shutdown)
        with HeldServer() as server, LiveRun(self.directory, server.rows(["first", "held", "later"])) as run:
            run.wait_for_page('"f":"thumbs/0.jpg"')
            self.browser.load(f"http://127.0.0.1:{files.server_port}/page.html")
            self.assertEqual(self.statuses(), ["ok", "waiting", "waiting"])
            server.gates["held"].set()
            self.wait("rows.filter(row => row.s === 'ok').length === 2")
            self.browser.run("window.isSame = true; look(1)")
            server.gates["later"].set()
            self.assertEqual(run.process.wait(), 0)
            self.wait("document.querySelector('iframe').contentDocument?.querySelector('#view')"
                      " && !document.querySelector('iframe').contentDocument.querySelector('#run')")
            # The page knows of the end 300 ms after the frame has loaded.
            self.browser.run("new Promise(done => setTimeout(done, 1000))")
            self.assertEqual(self.browser.run("[dialog.open, window.isSame]"), [True, True])
            self.browser.run("dialog.close()")
            self.wait("document.readyState === 'complete' && !document.getElementById('run')")
            self.assertEqual(self.statuses(), ["ok"] * 3)
            self.assertEqual([entry for entry in self.browser.complaints() if "favicon" not in str(entry)], [])

    def test_killed(self):
        """The page of a killed run says at once that it is not complete, and after a while that the run has stopped."""
        with HeldServer() as server, LiveRun(self.directory, server.rows(["first", "held"])) as run:
            run.wait_for_page('"f":"thumbs/0.jpg"')
            run.process.kill()
            run.process.wait()
            self.browser.load(run.page.as_uri())
            self.assertIn("This page is not complete.", self.browser.run("run.innerText"))
            # As if the page had been opened two minutes later.
            old = self.directory / "old.html"
            written = int(self.browser.run("run.dataset.time"))
            old.write_text(run.page.read_text().replace(f'data-time="{written}"', f'data-time="{written - 120_000}"'))
            self.load(old)
            self.assertIn("The run has stopped:", self.browser.run("run.innerText"))
            self.assertIn("This page is not complete.", self.browser.run("run.innerText"))
            self.assertEqual(self.statuses(), ["ok", "waiting"])
            self.screenshot("stopped.png")
            self.assert_self_contained(old)

    def test_live_hostile(self):
        """Names with markup stay text on the page of a run that has not finished, and when it is updated."""
        with HeldServer() as server, LiveRun(self.directory, server.rows(HOSTILE, "held")) as run:
            run.wait_for_page('{"i":9,')
            self.load(run.page)
            received = self.browser.run("run.dataset.time")
            self.wait(f"run.dataset.time !== '{received}'")
            self.assertEqual(self.browser.run("[rows.length, document.scripts.length]"), [len(HOSTILE), 1])
            self.assertEqual(self.names()[:9], HOSTILE[:9])
            self.assertIsNone(self.browser.run("window.hacked"))
            self.assert_self_contained(run.page)

    def test_many(self):
        """Only what is in sight is in the document. Prints times and memory, for information only."""
        directory = self.directory / "thumbs"
        directory.mkdir()
        for path in (EXAMPLES / "images").iterdir():
            (directory / path.name).write_bytes(path.read_bytes())
        page = make(self.directory, EXAMPLES / "apps.plist", output="few").read_text()
        start, end = page.index("id=rows>[") + len("id=rows>["), page.index("\n]</script>")
        models = json.loads(f"[{page[start:end]}]")
        for count in ROWS:
            rows = [dict(models[i % len(models)], i=i, n=f"Application number {i}") for i in range(count)]
            many = self.directory / f"{count}.html"
            text = ",\n".join(json.dumps(row, ensure_ascii=False).replace("<", "\\u003c") for row in rows)
            many.write_text(f"{page[:start]}\n{text}{page[end:]}")
            self.browser.load("about:blank")
            before = time.monotonic()
            self.browser.load(many.as_uri())
            self.browser.run("view.querySelector('img').decode()")
            first = time.monotonic() - before
            self.assertEqual(self.shown(), count)
            self.assertLess(self.browser.run("view.childElementCount"), 200)
            filtering = []
            for text in ("number 77", "http_404", "99", "", "tower number 1", ""):
                work = self.browser.work()
                self.type(text)
                filtering.append(self.browser.work() - work)
            work = self.browser.work()
            self.browser.run(f"""(async () => {{
              for (let step = 0; step < {FRAMES}; step++) {{
                scrollBy(0, 900);
                await new Promise(requestAnimationFrame);
              }}
            }})()""")
            frame = (self.browser.work() - work) / FRAMES
            self.assertLess(self.browser.run("view.childElementCount"), 200)
            # The last row can be reached, by the scroll bar and by keys.
            self.browser.run("scrollTo(0, document.body.scrollHeight)")
            self.frame()
            self.frame()
            self.assertIn(f"Application number {count - 1}", self.names())
            self.browser.run("scrollTo(0, 0); focus(0)")
            self.browser.key("End")
            self.assertEqual(self.browser.run("document.activeElement.id"), f"row-{count - 1}")
            # CPU time: below 100 ms, a response feels immediate.
            memory = self.browser.memory() >> 20
            print(f"\n{count} rows: {many.stat().st_size >> 10} KiB; first image {first:.2f} s; memory {memory} MiB; "
                  f"filter {max(filtering):.0f} ms at most; scrolling {frame:.1f} ms per frame")
        self.screenshot("many.png")


if __name__ == "__main__":
    unittest.main()
