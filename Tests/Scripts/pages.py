"""Compares the images that thumbs finds in web pages with those of a browser.

Usage: pages.py THUMBS [COUNT]. Pages with correct and faulty markup are made at random from a fixed seed; the browser
parses them without running scripts.
"""

import http.server
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import threading

from browser import Browser

SCRIPT = """(pages) => pages.map(({url, text}) => {
  const page = new DOMParser().parseFromString(text, 'text/html');
  const given = page.querySelector('base[href]')?.getAttribute('href');
  const base = given === undefined ? url : new URL(given, url).href;
  const whole = (link) => { try { return new URL(link.trim(), base).href.split('#')[0]; } catch { return link; } };
  const images = [...page.querySelectorAll('img')].map((image) => image.getAttribute('src'))
    .filter((link) => link && link.trim() && !link.toLowerCase().startsWith('data:')).map(whole);
  const shared = [...page.querySelectorAll('meta')].filter((meta) => meta.getAttribute('property') === 'og:image')
    .map((meta) => meta.getAttribute('content')).filter((link) => link && link.trim()).map(whole);
  return {images: [...new Set(images)], preview: shared[0] ?? null};
})"""


def link(pick, number):
    """Returns a link as pages have it."""
    return pick.choice([
        f"i{number}.png", f"/i{number}.png", f"../i{number}.png", f"i{number}.png?a=1&amp;b=2",
        f"i{number}.png?a=1&b=2",
        f"i{number}.png?x=1&copy=2", f"i{number}.png?x&lt;y", f"i{number}&#46;png", f"i{number}&#x2e;png",
        f"./i{number}.png#top",
        f"i {number}.png", f"é{number}.png", f"//127.0.0.1:PORT/i{number}.png", f"i{number}.png?&para",
        f"i{number}.png?&notit",
    ])


def image(pick, number):
    """Returns an image element in one of the ways of the world."""
    address = link(pick, number)
    plain = address.replace(" ", "%20")
    return pick.choice([
        f'<img src="{address}">', f"<img src='{address}' alt='a > b'>", f"<IMG SRC={plain}>",
        f"<img\nsrc = \"{address}\"/>",
        f'<img alt="x"src="{address}">', f'<img src="{address}" src="second.png">', f'<img =a src="{address}">',
        f'<img/src="{address}"/>', f'<img src={plain} / >', f'<img alt=">" title=\'"\' src="{address}">',
        f"<img src=\"\t{address}\n\">", f"<image src=\"{address}\">", f'<img "a" src="{address}">',
    ])


def noise(pick, number):
    """Returns markup around the images that must not add or hide any."""
    return pick.choice([
        "<p>text & more &amp; more", "<!-- <img src=no.png> -->", "<!--><b>", "<!---><b>", "<!-- a --!><i>",
        "<!-- > <img src=no.png> -->", "<!doctype x>",
        "<? php <img src=no.png ?>", "</ img src=no.png>", "<script>'<img src=no.png>'</script>",
        "<script><!-- <script>'</script>' <img src=no.png> --></script>", "<style>a{}<img src=no.png></style>",
        "<textarea><img src=no.png></textarea>", "<title>t <img src=no.png></title>",
        "<iframe><img src=no.png></iframe>",
        "< img src=no.png>", "<a href=x>", "</a>", "<div class='<img src=no.png>'>", "<xmp><img src=no.png></xmp>",
        "<noscript>n</noscript>", "<script><!--><script></script>", "<script><!---><script></script>",
        "5 < 6 > 4", "<svg></svg>", "<table><tr><td>", "</table>",
        "<script>a</scriptx></script>",
        f'<meta property="og:image" content="o{number}.png">', f"<meta content='/p{number}.png' property=og:image />",
    ])


def page(seed, port):
    """Returns a page made at random."""
    pick = random.Random(seed)
    head = pick.choice(["<!doctype html><html><head>", "<html>", "", "<!DOCTYPE HTML><head><meta charset=utf-8>"])
    base = pick.choice(["", "", '<base href="/b/">', "<base target=x><base href=c/d><base href=/no/>"])
    body = [pick.choice([image, noise, image])(pick, number) for number in range(pick.randint(1, 25))]
    end = pick.choice(["", "</body></html>", "<img src=cut.png", "<!-- open <img src=no.png>",
          "<script><img src=no.png>"])
    return (head + base + "\n".join(body) + end).replace("PORT", str(port))


def serve(pages):
    """Serves the pages, and nothing else."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            text = pages.get(self.path)
            self.send_response(200 if text is not None else 404)
            body = (text or "").encode()
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def found(thumbs, directory, urls, search):
    """Returns the URLs that thumbs found, by page."""
    listing = directory / "urls.txt"
    listing.write_text("\n".join(urls))
    report = directory / f"{search}.jsonl"
    subprocess.run(
        [thumbs, str(listing), "--find", search, "--report", str(report), "-o", str(directory / "out"),
         "--no-cache", "-q"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    rows = [json.loads(line) for line in report.read_text().splitlines()]
    pages = {url: [] for url in urls}
    for row in sorted((row for row in rows if "index" in row), key=lambda row: row["index"]):
        if "page" in row:
            pages[row["page"]].append(row["url"])
        elif row.get("code") != "no_image_found":
            print(f"{row['url']}: {row.get('message')}")
    return pages


def main():
    thumbs, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 200
    server = serve(pages := {})
    port = server.server_address[1]
    urls = {f"http://127.0.0.1:{port}/s/{seed}": page(seed, port) for seed in range(count)}
    pages.update({url.removeprefix(f"http://127.0.0.1:{port}"): text for url, text in urls.items()})
    with Browser() as browser:
        texts = json.dumps([{"url": url, "text": text} for url, text in urls.items()])
        expected = dict(zip(urls, browser.run(f"({SCRIPT})({texts})")))
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        images, previews = (found(thumbs, directory, list(urls), search) for search in ("images", "preview"))
    for url, text in urls.items():
        theirs = expected[url]
        preview = previews[url][0] if previews[url] else None
        isSame = images[url] == theirs["images"] and (theirs["preview"] is None or preview == theirs["preview"])
        if not isSame:
            failures += 1
            print(f"{text}\nbrowser: {theirs}\nthumbs:  {images[url]} {preview}\n")
    total = sum(len(theirs["images"]) for theirs in expected.values())
    print(f"{count} pages with {total} images: {failures} differ")
    sys.exit(1 if failures else 0)


main()
