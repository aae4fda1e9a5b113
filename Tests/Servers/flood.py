#!/usr/bin/env python3
"""Floods clients over HTTP/2: flood.py CERTIFICATE KEY PORT KIND [PORT KIND ...]

The response to any request is an endless stream of frames that carry no data. The kinds: `window` (WINDOW_UPDATE
instead of a response), `ping` (likewise), `data` (the head of a response, then empty DATA frames).
"""
import contextlib
import socket
import ssl
import struct
import sys
import threading

DATA, HEADERS, SETTINGS, PING, WINDOW_UPDATE = 0, 1, 4, 6, 8
ACK, END_HEADERS = 1, 4
STATUS_200 = b"\x88"  # RFC 7541, appendix A


def frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def exactly(connection, length):
    data = b""
    while len(data) < length:
        part = connection.recv(length - len(data))
        if not part:
            raise ConnectionError
        data += part
    return data


def wait_for_request(connection):
    """Returns the number of the first stream."""
    exactly(connection, 24)  # the preface of the client
    connection.sendall(frame(SETTINGS))
    while True:
        header = exactly(connection, 9)
        exactly(connection, int.from_bytes(header[:3], "big"))
        if header[3] == SETTINGS and not header[4] & ACK:
            connection.sendall(frame(SETTINGS, ACK))
        if header[3] == HEADERS:
            return int.from_bytes(header[5:], "big")


def serve(context, connection, kind):
    with contextlib.suppress(OSError), context.wrap_socket(connection, server_side=True) as secure:
        stream = wait_for_request(secure)
        if kind == "data":
            secure.sendall(frame(HEADERS, END_HEADERS, stream, STATUS_200))
        frames = {
            "data": frame(DATA, stream=stream), "ping": frame(PING, ACK, payload=bytes(8)),
            "window": frame(WINDOW_UPDATE, payload=struct.pack(">I", 1)),
        }[kind] * 1000
        while True:
            secure.sendall(frames)


def listen(context, port, kind):
    with socket.create_server(("127.0.0.1", port)) as listener:
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=serve, args=(context, connection, kind), daemon=True).start()


def main():
    certificate, key, *servers = sys.argv[1:]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    context.set_alpn_protocols(["h2"])
    threads = [
        threading.Thread(target=listen, args=(context, int(port), kind))
        for port, kind in zip(servers[::2], servers[1::2])
    ]
    for thread in threads:
        thread.start()


if __name__ == "__main__":
    main()
