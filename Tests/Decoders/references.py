"""SVG files and PDF documents that refer to other files and hosts.

The drawing is green where no reference is followed. A file that it could refer to is red, and a server would send one.
"""
import http.server
import threading

import numpy
from PIL import Image

import cases
import pdf
import samples
import svg

SIDE = 40
GREEN = '<rect width="40" height="40" fill="#0f0"/>'
# Each is a document type and a content, with the URL of a red image for {image}, and of a red drawing for {drawing}.
REFERENCES = {
    "image": ("", '<image xlink:href="{image}" width="40" height="40"/>'),
    "image-2": ("", '<image href="{image}" width="40" height="40"/>'),
    "drawing": ("", '<image xlink:href="{drawing}" width="40" height="40"/>'),
    "use": ("", '<use xlink:href="{drawing}#red" width="40" height="40"/>'),
    "filter": ("", '<filter id="f"><feImage xlink:href="{image}"/></filter><g filter="url(#f)"><rect width="40"'
               ' height="40" fill="#0f0"/></g>'),
    "fill": ("", '<rect width="40" height="40" fill="url({drawing}#paint)"/>'),
    "import": ("", '<style>@import url("{style}"); @import "{style}";</style>'),
    "include": ("", '<g xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="{drawing}"/></g>'),
    "include-text": ("", '<text y="30" font-size="40" fill="red" xmlns:xi="http://www.w3.org/2001/XInclude">'
                     '<xi:include href="{text}" parse="text"/></text>'),
    "entity": ('<!DOCTYPE svg [<!ENTITY a SYSTEM "{text}">]>', '<text y="30" font-size="40" fill="red">&a;</text>'),
    "type": ('<!DOCTYPE svg SYSTEM "{text}">', ""),
    "parameter": ('<!DOCTYPE svg [<!ENTITY % a SYSTEM "{text}"> %a;]>', ""),
    "style": ('<?xml-stylesheet href="{style}" type="text/css"?>', ""),
    "link": ("", '<a xlink:href="{drawing}"/>'),
    "font": ("", '<style>@font-face {{ font-family: f; src: url({image}) }}</style>'),
}
# A reference that is not followed is no failure; where it is one, it must be a failure of the image.
REFUSED = {"decode_error", "decode_limit"}


class Server:
    """A server on loopback that counts requests."""

    def __init__(self):
        requests = self.requests = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                requests.append(self.path)
                self.send_error(404)

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"


def write_references(folder, origin):
    """Writes a document for each reference to files and to the server, absolute and relative. Returns their names."""
    Image.new("RGB", (SIDE, SIDE), "red").save(folder / "red.png")
    (folder / "red.svg").write_text(svg.ROOT + ' width="40" height="40"><linearGradient id="paint"><stop '
                                    'stop-color="red"/></linearGradient><rect id="red" width="40" height="40" '
                                    'fill="red"/></svg>')
    (folder / "red.css").write_text("rect { fill: red !important }")
    (folder / "red.txt").write_text("MMMM")
    files = {"image": "red.png", "drawing": "red.svg", "style": "red.css", "text": "red.txt"}
    places = {"file": f"{folder.as_uri()}/", "path": f"{folder}/", "relative": "", "http": f"{origin}/"}
    for place, base in places.items():
        for name, parts in REFERENCES.items():
            document_type, content = (part.format(**{kind: base + file for kind, file in files.items()})
                                      for part in parts)
            svg.write(folder / f"{name}-{place}.svg", f'width="{SIDE}" height="{SIDE}"', GREEN + content, document_type)
            yield f"{name}-{place}.svg"
        for name, document in pdf.external(base + "red.png").items():
            pdf.write(folder / f"{name}-{place}.pdf", document)
            yield f"{name}-{place}.pdf"


def check(command, folder):
    folder.mkdir()
    server, failures = Server(), []
    names = list(write_references(folder, server.url))
    lines = cases.render(command, folder / "run", [folder / name for name in names], str(SIDE))
    green = numpy.broadcast_to(numpy.array([0, 255, 0, 255], numpy.uint8), (SIDE, SIDE, 4))
    drawn = 0
    for name, line in zip(names, lines):
        if line["status"] == "ok":
            image = samples.pixels(folder / "run/out" / line["outputs"][0]["path"])
            drawn += 1
            if not numpy.array_equal(image, green):
                failures.append(f"References: {name}: the drawing is not green")
        elif line["code"] not in REFUSED:
            failures.append(f"References: {name}: {line['code']}: {line['message']}")
    failures += [f"References: the server got a request for {path}" for path in server.requests]
    print(f"References: {drawn} of {len(names)} files are drawn without them, the others fail", flush=True)
    return failures
