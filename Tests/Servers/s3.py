#!/usr/bin/env python3
"""An object store for tests that accepts only requests with a right signature: s3.py PORT LOG

Recomputes AWS Signature Version 4 of every request from the bytes that arrived, and compares the digest of the body. A
request is refused with 403 if the signature or the digest is wrong, if x-amz-content-sha256 is missing, if the
signature does not cover Host and every other field that matters, or if the date is old. LOG gets a line per request:
method, path, status, and the reason of a refusal.

Objects are kept in memory. PUT with If-None-Match: * responds with 412 if the object exists.
"""
import datetime
import hashlib
import hmac
import http.server
import re
import sys
import threading
import urllib.parse

REGION = "test-region-1"
# The secret keys by access key; the second one is temporary and needs its session token.
KEYS = {"AKIDPERMANENT": ("permanent/secret+key", None), "ASIATEMPORARY": ("temporary/secret+key", "a/token+of==")}
CREDENTIAL = re.compile(
    r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/s3/aws4_request, ?"
    r"SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})")


def digest(data):
    return hashlib.sha256(data).hexdigest()


def mac(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def signature(secret, method, target, fields, signed, day, region):
    """The signature of a request, as in "Authenticating Requests: Using the Authorization Header" of Amazon S3."""
    path, _, query = target.partition("?")
    pairs = sorted(tuple(pair.partition("=")[::2]) for pair in query.split("&") if pair)
    canonical = "\n".join([
        method, urllib.parse.quote(urllib.parse.unquote(path), safe="/-_.~"),
        "&".join(f"{name}={value}" for name, value in pairs),
        "".join(f"{name}:{' '.join(fields[name].split())}\n" for name in signed),
        ";".join(signed), fields["x-amz-content-sha256"]])
    scope = f"{day}/{region}/s3/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", fields["x-amz-date"], scope, digest(canonical.encode())])
    key = f"AWS4{secret}".encode()
    for part in (day, region, "s3", "aws4_request"):
        key = mac(key, part)
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def refusal(method, target, fields, body):
    """The reason to refuse a request; None if it is signed correctly."""
    match = CREDENTIAL.fullmatch(fields.get("authorization", ""))
    if not match:
        return "no signature"
    access, day, region, names, given = match.groups()
    if access not in KEYS or region != REGION:
        return "unknown key or region"
    secret, token = KEYS[access]
    signed = names.split(";")
    if fields.get("x-amz-content-sha256") != digest(body):
        return "wrong digest of the body"
    if not set(signed) <= set(fields):
        return f"signed but not sent: {sorted(set(signed) - set(fields))}"
    needed = {"host"} | {name for name in fields
                         if name.startswith("x-amz-") or name in ("content-type", "if-none-match", "range")}
    if signed != sorted(signed) or not needed <= set(signed):
        return f"not signed: {sorted(needed - set(signed))}"
    if fields.get("x-amz-security-token") != token:
        return "wrong session token"
    now = datetime.datetime.now(datetime.timezone.utc)
    date = datetime.datetime.strptime(fields["x-amz-date"] + "+0000", "%Y%m%dT%H%M%SZ%z")
    if abs(now - date) > datetime.timedelta(minutes=15) or not fields["x-amz-date"].startswith(day):
        return "wrong date"
    if not hmac.compare_digest(signature(secret, method, target, fields, signed, day, region), given):
        return "wrong signature"
    return None


class Store(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    objects, lock, log = {}, threading.Lock(), None

    def handle_request(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        fields = {name.lower(): value for name, value in self.headers.items()}
        reason = refusal(self.command, self.path, fields, body)
        with self.lock:
            status, reply = (403, b"") if reason else self.perform(fields, body)
            self.log.write(f"{self.command} {self.path} {status} {reason or ''}\n")
            self.log.flush()
        self.send_response(status)
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    do_GET = do_PUT = handle_request

    def perform(self, fields, body):
        if self.command == "GET":
            return (200, self.objects[self.path]) if self.path in self.objects else (404, b"")
        if fields.get("if-none-match") == "*" and self.path in self.objects:
            return 412, b""
        self.objects[self.path] = body
        return 200, b""

    def log_message(self, *_):
        pass


def check():
    """Compares the signature of the example in Amazon's documentation."""
    fields = {"host": "examplebucket.s3.amazonaws.com", "range": "bytes=0-9", "x-amz-content-sha256": digest(b""),
              "x-amz-date": "20130524T000000Z"}
    example = signature("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "GET", "/test.txt", fields, sorted(fields),
                        "20130524", "us-east-1")
    assert example == "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41", example


def main():
    check()
    Store.log = open(sys.argv[2], "w", encoding="utf-8")
    http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Store).serve_forever()


if __name__ == "__main__":
    main()
