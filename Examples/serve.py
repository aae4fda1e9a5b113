#!/usr/bin/env python3
"""Serves the example images while a command runs: serve.py COMMAND [ARGUMENT ...]

The example URLs begin with http://icons.example/, a host that does not exist. The command reaches them because this
server is its HTTP proxy (http_proxy), on a free loopback port. The server stops when the command ends.
"""
import email.utils
import http.server
import os
import pathlib
import subprocess
import sys
import threading
import urllib.parse

IMAGES = pathlib.Path(__file__).resolve().parent / "images"
TYPES = {".jpg": "image/jpeg", ".png": "image/png"}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Without this, the last segment of a response waits for the acknowledgment of the previous one.
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        if url.hostname == "icons.example" and url.path.startswith("/pages/"):
            return self.respond(200, {"Content-Type": "text/html"}, page(url.path))
        path = IMAGES / os.path.basename(url.path)
        if url.hostname != "icons.example" or path.suffix not in TYPES or not path.is_file():
            return self.respond(404, {}, b"There is no such image.\n")
        body = path.read_bytes()
        tag = f'"{len(body):x}-{int(path.stat().st_mtime):x}"'
        fields = {"ETag": tag, "Cache-Control": "max-age=86400",
                  "Last-Modified": email.utils.formatdate(path.stat().st_mtime, usegmt=True)}
        if self.headers.get("If-None-Match") == tag:
            return self.respond(304, fields, b"")
        self.respond(200, fields | {"Content-Type": TYPES[path.suffix]}, body)

    def respond(self, status, fields, body):
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name, value)
        if status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


def page(path):
    """Returns a web page whose preview is the photo of the same name."""
    name = os.path.basename(path).removesuffix(".html")
    image = f'<meta property="og:image" content="/{name}.jpg">'
    return f"<!doctype html><title>{name.title()}</title>{image}<p>A page.".encode()


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request, address):
        # A client may disconnect at any time.
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, address)


def main():
    server = Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    environment = os.environ | {"http_proxy": f"http://127.0.0.1:{server.server_port}"}
    environment.pop("no_proxy", None)
    environment.pop("NO_PROXY", None)
    return subprocess.call(sys.argv[1:], env=environment)


if __name__ == "__main__":
    sys.exit(main())
