#!/usr/bin/env python3
"""Serves the example pictures while a command runs: serve.py COMMAND [ARGUMENT ...]

The example addresses begin with http://icons.example/, a name that does not exist. The command finds them because it
is told to use this server as its HTTP proxy (http_proxy), on a free loopback port. The server ends with the command.
"""
import email.utils
import http.server
import os
import pathlib
import subprocess
import sys
import threading
import urllib.parse

PICTURES = pathlib.Path(__file__).resolve().parent / "pictures"
TYPES = {".jpg": "image/jpeg", ".png": "image/png"}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Otherwise the last piece of an answer waits for the acknowledgement of the one before.
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        path = PICTURES / os.path.basename(url.path)
        if url.hostname != "icons.example" or path.suffix not in TYPES or not path.is_file():
            return self.answer(404, {}, b"There is no such picture.\n")
        body = path.read_bytes()
        tag = f'"{len(body):x}-{int(path.stat().st_mtime):x}"'
        fields = {"ETag": tag, "Cache-Control": "max-age=86400",
                  "Last-Modified": email.utils.formatdate(path.stat().st_mtime, usegmt=True)}
        if self.headers.get("If-None-Match") == tag:
            return self.answer(304, fields, b"")
        self.answer(200, fields | {"Content-Type": TYPES[path.suffix]}, body)

    def answer(self, status, fields, body):
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name, value)
        if status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    environment = os.environ | {"http_proxy": f"http://127.0.0.1:{server.server_port}"}
    environment.pop("no_proxy", None)
    environment.pop("NO_PROXY", None)
    return subprocess.call(sys.argv[1:], env=environment)


if __name__ == "__main__":
    sys.exit(main())
