#!/usr/bin/env python3
"""A server whose responses are structured garbage: server.py SEED CERTIFICATE KEY COMMAND [ARGUMENT ...]

Runs the command with three ports as further arguments: plain HTTP/1.1, HTTP/2 over TLS, and a proxy. `/normal/N` has a
body of N bytes. `/garbage/N` has a response that depends on SEED and N alone: status lines, folded, empty and repeated
fields, chunks, trailers, interim responses, redirects and content codings, or frames of HTTP/2, each right, slightly
wrong or cut. The proxy responds to CONNECT with such heads. The ports accept connections at all of 127.0.0.0/8.
"""
import asyncio
import random
import re
import ssl
import struct
import sys
import zlib

SEED = sys.argv[1]
PREFACE = 24
# A client that waits for the rest of a response learns after these seconds that there is none.
PATIENCE = 0.2
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
NAMES = ["Content-Type", "Content-Length", "Content-Encoding", "Transfer-Encoding", "Connection", "Keep-Alive", "ETag",
         "Last-Modified", "Location", "Set-Cookie", "Content-Range", "Trailer", "Upgrade", "Retry-After", "Alt-Svc",
         "Strict-Transport-Security", "WWW-Authenticate", "Proxy-Authenticate", "X-A", "x", ":status", "", "A B",
         "A\0B",
         "Cache-Control", "Vary", "Age", "Date", "Expires", "X-Robots-Tag", "Link"]
VALUES = ["", " ", "0", "1", "-1", "9", "10", "99999999999999999999", "0x10", "1, 1", "1, 2", "chunked",
          "gzip, chunked",
          "identity", "gzip", "deflate", "br", "gzip, gzip", "aws-chunked", "close", "keep-alive", "upgrade", "h2c",
          "image/jpeg", "text/html; charset=\"", "\"1\"", "W/\"", "/normal/5", "//", "http://", "http://[", "/a\tb",
          "/garbage/7", "a=b; Path=/", "bytes 0-8/9", "bytes */9", "bytes 9-0/1", "timeout=0", "Basic realm=\"", "NTLM",
          "Negotiate x", "Digest realm=a, nonce=", "\x7f", "\xff\xfe", "\t\t", "x" * 300, "y" * 9000,
          "max-age=-1", "Thu, 01 Jan 1970 00:00:00 GMT", "Thu, 99 Foo", "120", "h2=\":443\"", "a,b,,c"]
STATUS = [200, 200, 200, 203, 204, 205, 206, 100, 101, 102, 103, 199, 201, 299, 300, 301, 302, 303, 304, 307, 308, 400,
          401, 403, 404, 407, 408, 416, 417, 425, 429, 500, 503, 511, 599, 600, 999, 0]


NOISE = random.Random(SEED).randbytes(1 << 20)


def noise(rng, count):
    start = rng.randrange(len(NOISE) - count)
    return NOISE[start:start + count]


def field(rng):
    name, value = rng.choice(NAMES), rng.choice(VALUES)
    shape = rng.randrange(16)
    if shape == 0:
        return f" {name}: {value}"
    if shape == 1:
        return f"\t{value}"
    if shape == 2:
        return name
    if shape == 3:
        return f"{name} : {value}"
    if shape == 4:
        return f"{name}: {value}\r\n  {rng.choice(VALUES)}\r\n\t{rng.choice(VALUES)}"
    if shape == 5:
        return f"{name}:{value}\r"
    if shape == 6:
        return " " * rng.randrange(1, 9)
    return f"{name}: {value}"


def status_line(rng):
    status = rng.choice(STATUS)
    return rng.choice([f"HTTP/1.1 {status} X"] * 12 + [
        f"HTTP/1.0 {status} X", f"HTTP/1.1 {status}", f"HTTP/1.1  {status} X", f"HTTP/2 {status}",
        f"HTTP/1.1 {status}X", f"http/1.1 {status} x", f"HTTP/1.1\t{status}", f" HTTP/1.1 {status}",
        f"HTTP/0.9 {status}", f"HTTP/3 {status} X",
        f"ICY {status} OK", f"HTTP/1.1 {status} " + "r" * 5000, "HTTP/1.1 -200 X", "HTTP/1.1 2000 X", ""])


def head(rng):
    lines = [status_line(rng)]
    if rng.random() < 0.2:
        lines.append(f" folded: {rng.choice(VALUES)}")
    lines += [field(rng) for _ in range(rng.choice([0, 1, 2, 3, 5, 8, 60]))]
    end = rng.choice(["\r\n"] * 8 + ["\n", "\r", "\r\r\n"])
    return (end.join(lines) + end + end).encode("latin-1", "replace")


def chunks(rng):
    parts = []
    for _ in range(rng.randrange(5)):
        size = rng.choice([0, 1, 5, 100, 5000])
        odd = [f"{size:X};a=b", f"0{size:x}", f" {size:x}", "-1", "g", "ffffffffffffffff1"]
        length = rng.choice([f"{size:x}"] * 6 + odd)
        parts.append(length.encode() + rng.choice([b"\r\n"] * 5 + [b"\n", b""]) + noise(rng, size) + b"\r\n")
    if rng.random() < 0.7:
        parts.append(b"0\r\n")
        parts += [field(rng).encode("latin-1", "replace") + b"\r\n" for _ in range(rng.choice([0, 0, 1, 3, 40]))]
        parts.append(rng.choice([b"\r\n", b"\r\n", b""]))
    return b"".join(parts)


def body(rng):
    plain = noise(rng, rng.choice([0, 1, 9, 10, 100, 20000]))
    packed = zlib.compress(plain)
    return rng.choice([plain, chunks(rng), chunks(rng), packed, packed[:-3], b"\x1f\x8b\x08" + plain])


def with_body(rng):
    """A head that announces its body more or less correctly."""
    content = body(rng)
    announced = rng.choice([f"Content-Length: {len(content)}"] * 5 + [
        f"Content-Length: {len(content) + 1}", f"Content-Length: {max(0, len(content) - 1)}",
        f"Content-Length: {len(content)}\r\nContent-Length: {len(content)}", "Transfer-Encoding: chunked",
        "Content-Encoding: deflate", "Content-Encoding: gzip"])
    start = [status_line(rng)] + [field(rng) for _ in range(rng.randrange(4))] + [announced]
    if rng.random() < 0.1:
        start.insert(1, "\tfolded")
    return ("\r\n".join(start) + "\r\n\r\n").encode("latin-1", "replace") + content


def garbage(rng):
    """The bytes of a response, and whether the connection stays open after it."""
    kind = rng.randrange(10)
    if kind == 0:
        data = noise(rng, rng.randrange(200))
    elif kind < 3:
        data = head(rng) + body(rng)
    elif kind < 4:
        data = b"".join(head(rng) for _ in range(rng.randrange(1, 5))) + body(rng)
    else:
        data = with_body(rng)
    if rng.random() < 0.15:
        data = data[:rng.randrange(len(data) + 1)]
    if rng.random() < 0.1 and data:
        at = rng.randrange(len(data))
        data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1:]
    return data, rng.random() < 0.3


def normal(size):
    return bytes(index * 31 % 251 for index in range(size % 256)) * (size // 256 + 1)


async def read_request(reader, seconds):
    """The method and the target of the next request; None at the end of the connection, or if none comes in time."""
    try:
        request = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), seconds)
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
        return None
    return request.split(b" ", 2)[:2]


async def serve_plain(reader, writer):
    # The client may be slow on a machine that runs other programs as well.
    seconds = 300
    while request := await read_request(reader, seconds):
        method, target = request
        kind, number = re.fullmatch(rb"(?:http://[^/]*)?/?([a-z]*)/?(\d*).*", target, re.DOTALL).groups()
        stays = True
        if kind == b"normal":
            content = normal(int(number))
            data = (f"HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nETag: \"{int(number)}\"\r\nX-Long: {'x' * 99}\r\n"
                    f"Content-Length: {len(content)}\r\n\r\n").encode() + content
        else:
            data, stays = garbage(random.Random(f"{SEED} {kind} {number}"))
            seconds = PATIENCE
        writer.write(data)
        await writer.drain()
        if not stays:
            break


async def serve_proxy(reader, writer):
    count = 0
    while request := await read_request(reader, PATIENCE):
        count += 1
        rng = random.Random(f"{SEED} {request} {count}")
        writer.write(head(rng) + rng.choice([b"", b"", body(rng)]))
        await writer.drain()
        if rng.random() < 0.7:
            break


def frame(kind, flags, stream, payload, length=None):
    length = len(payload) if length is None else length
    return struct.pack(">I", length)[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def text(rng, value):
    data = value.encode("latin-1", "replace")
    if len(data) < 127:
        return bytes([len(data)]) + data
    rest, prefix = len(data) - 127, b"\x7f"
    while rest >= 128:
        prefix += bytes([rest % 128 + 128])
        rest //= 128
    return prefix + bytes([rest]) + data


def fields(rng):
    """A block of HPACK: fields without the dynamic table, indexed ones, and garbage."""
    status = rng.choice([b"\x88"] * 6 + [b"\x89", b"\x8b", b"\x8d", b"", b"\x88\x88", b"\x08" + text(rng, "103")])
    block = status
    for _ in range(rng.choice([0, 1, 2, 5, 40])):
        name = rng.choice(NAMES)
        name = name.lower() if rng.random() < 0.8 else name
        block += rng.choice([b"\x00", b"\x10", b"\x40"]) + text(rng, name) + text(rng, rng.choice(VALUES))
    if rng.random() < 0.1:
        block += noise(rng, rng.randrange(1, 20))
    return block


def frames(rng, stream):
    """The frames of a response on a stream."""
    other = rng.choice([0, 2, stream, stream + 2, 2**31 - 1])
    result = []
    for _ in range(rng.randrange(1, 5)):
        content = noise(rng, rng.choice([0, 1, 9, 1000]))
        block = fields(rng)
        cut = rng.randrange(len(block) + 1)
        result.append(rng.choice([
            frame(HEADERS, 4, stream, block), frame(HEADERS, 5, stream, block), frame(HEADERS, 4, other, block),
            frame(HEADERS, 0, stream, block[:cut]) + frame(CONTINUATION, 4, stream, block[cut:]),
            frame(HEADERS, 0, stream, block[:cut]) + frame(DATA, 0, stream, content),
            frame(HEADERS, 12, stream, bytes([rng.randrange(256)]) + block),
            frame(DATA, 0, stream, content), frame(DATA, 1, stream, content), frame(DATA, 0, other, content),
            frame(DATA, 8, stream, bytes([rng.randrange(256)]) + content),
            frame(RST_STREAM, 0, stream, struct.pack(">I", rng.randrange(16))),
            frame(PUSH_PROMISE, 4, stream, struct.pack(">I", 2) + block), frame(PING, 0, 0, content[:8]),
            frame(SETTINGS, 0, 0, struct.pack(">HI", rng.randrange(8), rng.randrange(2**32)) * rng.randrange(5)),
            frame(GOAWAY, 0, 0, struct.pack(">II", rng.choice([0, stream]), rng.randrange(16)) + content),
            frame(WINDOW_UPDATE, 0, other, struct.pack(">I", rng.choice([0, 1, 2**31 - 1]))),
            frame(PRIORITY, 0, stream, content[:5]), frame(rng.randrange(256), rng.randrange(256), other, content),
            frame(DATA, 1, stream, content, length=rng.randrange(2**24)), noise(rng, rng.randrange(30))]))
    return b"".join(result)


async def serve_frames(reader, writer):
    await reader.readexactly(PREFACE)
    writer.write(frame(SETTINGS, 0, 0, struct.pack(">HI", 3, 100)))
    count = 0
    while True:
        header = await asyncio.wait_for(reader.readexactly(9), PATIENCE)
        length, kind, flags, stream = struct.unpack(">IBBI", b"\0" + header)
        payload = await reader.readexactly(length)
        if kind == SETTINGS and not flags & 1:
            writer.write(frame(SETTINGS, 1, 0, b""))
        if kind != HEADERS:
            continue
        count += 1
        rng = random.Random(f"{SEED} {payload} {count}")
        if rng.random() < 0.3:
            content = normal(rng.randrange(2000))
            writer.write(frame(HEADERS, 4, stream, b"\x88") + frame(DATA, 1, stream, content))
        else:
            writer.write(frame(HEADERS, 4, stream, fields(rng)) * rng.randrange(2) + frames(rng, stream))
        await writer.drain()
        if rng.random() < 0.3:
            break


def closing(serve):
    async def handler(reader, writer):
        try:
            await serve(reader, writer)
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.transport.abort() if writer.transport.get_write_buffer_size() else writer.close()
    return handler


async def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
    context.set_alpn_protocols(["h2"])
    servers = [await asyncio.start_server(closing(serve_plain), "0.0.0.0", backlog=1024),
               await asyncio.start_server(closing(serve_frames), "0.0.0.0", backlog=1024, ssl=context),
               await asyncio.start_server(closing(serve_proxy), "0.0.0.0", backlog=1024)]
    ports = [str(server.sockets[0].getsockname()[1]) for server in servers]
    command = await asyncio.create_subprocess_exec(*sys.argv[4:], *ports)
    sys.exit(await command.wait())


asyncio.run(main())
