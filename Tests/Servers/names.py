#!/usr/bin/env python3
"""Runs a command with a test name server: names.py IMAGE GOOD COMMAND [ARGUMENT ...]

Must run in separate namespaces: unshare --mount --net names.py ... Port 53 is a name server. It resolves `good.test` to
the loopback address, where port 80 serves IMAGE at every path; likewise names in `late.test`, but a second later. It
replies that `gone.test` does not exist, and with a server failure for names in `sick.test`. Queries for names in
`silent.test` get no reply, those for other names none until GOOD images have been served, and then a server failure.
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


def reply(query, code, address=None):
    """A reply that repeats the question and has at most one record (RFC 1035, section 4.1)."""
    end = query.index(b"\0", 12) + 5
    head = query[:2] + struct.pack(">HHHHH", 0x8180 | code, 1, 1 if address else 0, 0, 0)
    record = struct.pack(">HHHIH", 0xC00C, 1, 1, 60, 4) + socket.inet_aton(address) if address else b""
    return head + query[12:end] + record


def domain(query):
    """The second label of the question from the end: `dead` for `a.dead.test` (RFC 1035, section 3.1)."""
    labels, place = [], 12
    while length := query[place]:
        labels.append(query[place + 1:place + 1 + length].decode())
        place += 1 + length
    return labels[-2] if len(labels) > 1 else ""


def serve_names(endpoint, gate):
    waiting = queue.Queue()

    def release():
        gate.wait()
        while True:
            query, peer = waiting.get()
            endpoint.sendto(reply(query, SERVER_FAILURE), peer)

    threading.Thread(target=release, daemon=True).start()
    while True:
        query, peer = endpoint.recvfrom(512)
        end = query.index(b"\0", 12)
        is_ipv4 = query[end + 1:end + 3] == b"\0\1"
        found = reply(query, NO_ERROR, "127.0.0.1" if is_ipv4 else None)
        match domain(query):
            case "good":
                endpoint.sendto(found, peer)
            case "late":
                threading.Timer(1, endpoint.sendto, (found, peer)).start()
            case "gone":
                endpoint.sendto(reply(query, NO_SUCH_NAME), peer)
            case "sick":
                endpoint.sendto(reply(query, SERVER_FAILURE), peer)
            case "silent":
                pass
            case _:
                waiting.put((query, peer))


class Gate(threading.Event):
    """Opens after a number of images have been served."""

    def __init__(self, count):
        super().__init__()
        self.left, self.lock = count, threading.Lock()

    def served(self):
        with self.lock:
            self.left -= 1
            if self.left == 0:
                self.set()


def image_server(image, gate):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", str(len(image)))
            self.end_headers()
            self.wfile.write(image)
            gate.served()

        def log_message(self, *_):
            pass

    return http.server.ThreadingHTTPServer(("127.0.0.1", 80), Handler)


def set_up_loopback(root):
    # SIOCSIFFLAGS with IFF_UP | IFF_RUNNING (netdevice(7)), because `ip` may not be installed.
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sH14x", b"lo", 0x41))
    resolver = pathlib.Path(root, "resolv.conf")
    resolver.write_text("nameserver 127.0.0.1\noptions timeout:30 attempts:5\n")
    subprocess.run(["mount", "--bind", str(resolver), "/etc/resolv.conf"], check=True)


def main():
    image, count, command = pathlib.Path(sys.argv[1]).read_bytes(), int(sys.argv[2]), sys.argv[3:]
    with tempfile.TemporaryDirectory(prefix="thumbs-names-") as root:
        set_up_loopback(root)
        gate = Gate(count)
        names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        names.bind(("127.0.0.1", 53))
        threading.Thread(target=serve_names, args=(names, gate), daemon=True).start()
        threading.Thread(target=image_server(image, gate).serve_forever, daemon=True).start()
        try:
            return subprocess.call(command)
        finally:
            subprocess.run(["umount", "/etc/resolv.conf"], check=True)


if __name__ == "__main__":
    sys.exit(main())
