#!/usr/bin/env python3
"""An object store for tests that accepts only requests with a right signature: s3.py PORT LOG

Recomputes AWS Signature Version 4 of every request from the bytes that arrived, and compares the digest of the body. A
request is refused with 403 if the signature or the digest is wrong, if x-amz-content-sha256 is missing, if the
signature does not cover Host and every other field that matters, or if the date is old. LOG gets a line per request:
method, path, status, and the reason of a refusal.

Objects are kept in memory, with their type and metadata. GET knows ranges, If-None-Match and ListObjectsV2, two keys
per page. PUT with If-None-Match: * responds with 412 if the object exists. The bucket "public" needs no signature, the
bucket "abroad" is in another region, and the bucket "limited" wants a pause before the second request of each path.
"""
import datetime
import hashlib
import hmac
import http.server
import re
import sys
import threading
import urllib.parse

REGION, ABROAD = "test-region-1", "test-region-2"
PAGE = 2
REFUSED = b"<?xml version='1.0'?><Error><Code>SignatureDoesNotMatch</Code><Message>No.</Message></Error>"
# The secret keys by access key; the second one is temporary and needs its session token.
KEYS = {"AKIDPERMANENT": ("permanent/secret+key", None), "ASIATEMPORARY": ("temporary/secret+key", "a/token+of=="),
        "GOOG1PERMANENT": ("hmac/secret+key", None)}
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
    home = "auto" if access.startswith("GOOG") else ABROAD if target.startswith("/abroad/") else REGION
    if access not in KEYS or region != home:
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


def encoded(key):
    return urllib.parse.quote(key, safe="/-_.~")


class Store(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # (bytes, fields) by path.
    objects, seen, lock, log = {}, set(), threading.Lock(), None

    def handle_request(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        fields = {name.lower(): value for name, value in self.headers.items()}
        is_public = self.path.startswith("/public/") and "authorization" not in fields
        reason = None if is_public else refusal(self.command, self.path, fields, body)
        with self.lock:
            status, reply, extra = self.respond(reason, fields, body)
            self.log.write(f"{self.command} {self.path} {status} {reason or ''}\n")
            self.log.flush()
        self.send_response(status)
        self.send_header("Content-Length", str(len(reply)))
        for name, value in extra.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(reply)

    do_GET = do_PUT = handle_request

    def respond(self, reason, fields, body):
        if reason:
            is_abroad = self.path.startswith("/abroad/") and f"/{REGION}/" in fields.get("authorization", "")
            return (400, b"", {"x-amz-bucket-region": ABROAD}) if is_abroad else (403, REFUSED, {})
        if self.path.startswith("/limited/") and self.path not in self.seen:
            self.seen.add(self.path)
            return 503, b"", {"Retry-After": "0"}
        path, _, query = self.path.partition("?")
        if query:
            return self.list(path, urllib.parse.parse_qs(query, keep_blank_values=True))
        return self.perform(path, fields, body)

    def list(self, path, query):
        """ListObjectsV2; the token is the last key of the page before."""
        bucket = path.strip("/")
        prefix, start = query.get("prefix", [""])[0], query.get("continuation-token", [""])[0]
        if query.get("list-type") != ["2"] or query.get("encoding-type") != ["url"]:
            return 400, b"", {}
        names = [urllib.parse.unquote(name).split("/", 2)[2] for name in self.objects if name.startswith(f"/{bucket}/")]
        keys = sorted(key for key in names if key.startswith(prefix) and key > start)
        size = min(PAGE, int(query.get("max-keys", ["1000"])[0]))
        items = "".join(
            f"<Contents><Key>{encoded(key)}</Key><Size>{len(self.objects['/' + bucket + '/' + encoded(key)][0])}</Size>"
            "<StorageClass>STANDARD</StorageClass></Contents>" for key in keys[:size])
        token = f"<NextContinuationToken>{keys[size - 1]}</NextContinuationToken>" if len(keys) > size else ""
        text = ('<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult '
                'xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
                f"<Name>{bucket}</Name><Prefix>{encoded(prefix)}</Prefix><EncodingType>url</EncodingType>{items}"
                f"<IsTruncated>{str(bool(token)).lower()}</IsTruncated>{token}</ListBucketResult>")
        return 200, text.encode(), {"Content-Type": "application/xml"}

    def perform(self, path, fields, body):
        if self.command == "PUT":
            if fields.get("if-none-match") == "*" and path in self.objects:
                return 412, b"", {}
            kept = {name: value for name, value in fields.items()
                    if name.startswith("x-amz-meta-") or name == "content-type"}
            self.objects[path] = body, kept | {"ETag": f'"{hashlib.md5(body).hexdigest()}"'}
            return 200, b"", {}
        if path not in self.objects:
            return 404, b"", {}
        body, extra = self.objects[path]
        if fields.get("if-none-match") == extra["ETag"]:
            return 304, b"", extra
        if fields.get("range") == "bytes=0-0":
            return 206, body[:1], extra | {"Content-Range": f"bytes 0-0/{len(body)}"}
        return 200, body, extra

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
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Store)
    print("ready", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
