#!/usr/bin/env python3
"""Runs a command where names are looked up by a server of the test's own: names.py PICTURE GOOD COMMAND [ARGUMENT ...]

To be started in namespaces of its own: unshare --mount --net names.py ... There, port 53 is a name server that knows
`good.test`, at the loopback address, where port 80 serves PICTURE at every path. It says of `gone.test` that there is no
such host, and of any other name nothing at all until GOOD pictures were served; then, that it cannot tell.
"""
import fcntl
import http.server
import pathlib
import queue
import socket
import struct
import subprocess
import sys
import tempfile
import threading

NO_ERROR, SERVER_FAILURE, NO_SUCH_NAME = 0, 2, 3


def answer(query, code, address=None):
    """RFC 1035, 4.1: the question, repeated, and at most one record."""
    end = query.index(b"\0", 12) + 5
    head = query[:2] + struct.pack(">HHHHH", 0x8180 | code, 1, 1 if address else 0, 0, 0)
    record = struct.pack(">HHHIH", 0xC00C, 1, 1, 60, 4) + socket.inet_aton(address) if address else b""
    return head + query[12:end] + record


def serve_names(endpoint, gate):
    waiting = queue.Queue()

    def release():
        gate.wait()
        while True:
            query, peer = waiting.get()
            endpoint.sendto(answer(query, SERVER_FAILURE), peer)

    threading.Thread(target=release, daemon=True).start()
    while True:
        query, peer = endpoint.recvfrom(512)
        end = query.index(b"\0", 12)
        is_ipv4 = query[end + 1:end + 3] == b"\0\1"
        if query[12:end].endswith(b"\4good\4test"):
            endpoint.sendto(answer(query, NO_ERROR, "127.0.0.1" if is_ipv4 else None), peer)
        elif query[12:end].endswith(b"\4gone\4test"):
            endpoint.sendto(answer(query, NO_SUCH_NAME), peer)
        else:
            waiting.put((query, peer))


class Gate(threading.Event):
    """Opens when so many pictures were served."""

    def __init__(self, count):
        super().__init__()
        self.left, self.lock = count, threading.Lock()

    def served(self):
        with self.lock:
            self.left -= 1
            if self.left == 0:
                self.set()


def picture_server(picture, gate):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", str(len(picture)))
            self.end_headers()
            self.wfile.write(picture)
            gate.served()

        def log_message(self, *_):
            pass

    return http.server.ThreadingHTTPServer(("127.0.0.1", 80), Handler)


def set_up_loopback(root):
    # `ip` need not be installed: SIOCSIFFLAGS with IFF_UP | IFF_RUNNING (netdevice(7)).
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sH14x", b"lo", 0x41))
    resolver = pathlib.Path(root, "resolv.conf")
    resolver.write_text("nameserver 127.0.0.1\noptions timeout:60 attempts:1\n")
    subprocess.run(["mount", "--bind", str(resolver), "/etc/resolv.conf"], check=True)


def main():
    picture, count, command = pathlib.Path(sys.argv[1]).read_bytes(), int(sys.argv[2]), sys.argv[3:]
    with tempfile.TemporaryDirectory(prefix="thumbs-names-") as root:
        set_up_loopback(root)
        gate = Gate(count)
        names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        names.bind(("127.0.0.1", 53))
        threading.Thread(target=serve_names, args=(names, gate), daemon=True).start()
        threading.Thread(target=picture_server(picture, gate).serve_forever, daemon=True).start()
        try:
            return subprocess.call(command)
        finally:
            subprocess.run(["umount", "/etc/resolv.conf"], check=True)


if __name__ == "__main__":
    sys.exit(main())
