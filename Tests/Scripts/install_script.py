#!/usr/bin/env python3
"""Tests install.sh with a release whose command is a script, and servers on loopback: install_script.py

It refuses plain http from other machines, redirects from https to http, and in a signed release a wrong or missing
signature.
"""
import functools
import http.server
import os
import pathlib
import ssl
import subprocess
import sys
import tarfile
import tempfile
import threading

PACKAGING = pathlib.Path(__file__).resolve().parents[2] / "Packaging"
NAME = "thumbs-1.2.3-linux-x86_64"


class Handler(http.server.SimpleHTTPRequestHandler):
    redirect = None

    def do_GET(self):
        if not self.redirect:
            return super().do_GET()
        self.send_response(302)
        self.send_header("Location", self.redirect + self.path)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


def serve(directory, redirect=None, certificate=None):
    """Serves the files of a directory, or redirects to those of another server. Returns the port."""
    kind = type("Redirecting", (Handler,), {"redirect": redirect})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(kind, directory=directory))
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, certificate.with_suffix(".key"))
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


def make_certificate(path):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
                    "-keyout", path.with_suffix(".key"), "-out", path], check=True, capture_output=True)


def make_release(folder, key=None):
    """Makes a release, signed with the private key in `key`."""
    folder.mkdir()
    command = folder / "thumbs"
    command.write_text("#!/bin/sh\necho 1.2.3\n")
    command.chmod(0o755)
    with tarfile.open(folder / f"{NAME}.tar.gz", "w:gz") as archive:
        archive.add(command, f"{NAME}/bin/thumbs")
    command.unlink()
    subprocess.run([PACKAGING / "sign.sh", "1.2.3", folder], check=True,
                   env=dict(os.environ, **({"SIGNING_KEY": str(key)} if key else {})))
    return folder


def install(folder, script, *arguments, expecting=None, authority=None, path=None):
    """Runs install.sh. It must install the command, or else fail with a message that has the expected text."""
    command = folder / "home/.local/bin/thumbs"
    command.unlink(missing_ok=True)
    done = subprocess.run(["/bin/sh", script, *arguments], capture_output=True, text=True, timeout=60,
                          env={"PATH": path or os.environ["PATH"], "HOME": str(folder / "home"),
                               "CURL_CA_BUNDLE": str(authority or ""), "no_proxy": "*"})
    output = f"{' '.join(map(str, arguments))}: {done.returncode}\n{done.stdout}{done.stderr}"
    if expecting is None:
        assert done.returncode == 0 and command.exists(), output
    else:
        assert done.returncode == 1 and not command.exists() and expecting in done.stderr, output


def without_curl(folder):
    """A folder with links to all programs but curl."""
    folder.mkdir()
    for program in ("sh", "wget", "uname", "dirname", "mktemp", "rm", "grep", "sha256sum", "tar", "gzip", "mkdir", "cp",
                    "mv", "openssl"):
        found = subprocess.run(["which", program], capture_output=True, text=True).stdout.strip()
        if not found:
            return None
        (folder / program).symlink_to(found)
    return str(folder)


def test_transport(folder, release):
    script = release / "install.sh"
    certificate = folder / "server.pem"
    make_certificate(certificate)
    plain = serve(release)
    secure = serve(release, certificate=certificate)
    run = functools.partial(install, folder, script, authority=certificate)
    run()
    run(f"http://127.0.0.1:{plain}")
    run(f"https://localhost:{secure}")
    for url in ("http://192.0.2.1", "http://127.0.0.1.example/x", "http://localhost.example:80"):
        run(url, expecting="is not encrypted")
    # There is no such host, but it is tried.
    run("--allow-http", "http://127.0.0.1.invalid", expecting="cannot be read")
    downgrade = serve(release, f"http://127.0.0.1:{plain}", certificate)
    run(f"https://localhost:{downgrade}", expecting="cannot be read")
    kept = serve(release, f"https://localhost:{secure}", certificate)
    run(f"https://localhost:{kept}")
    path = without_curl(folder / "programs")
    if path:
        run(f"http://127.0.0.1:{plain}", path=path)
        run(f"http://127.0.0.1:{serve(release, f'http://127.0.0.1:{plain}')}", path=path, expecting="cannot be read")


def test_signature(folder, key, other):
    release = make_release(folder / "signed", key)
    script, sums = release / "install.sh", release / "SHA256SUMS"
    signature = release / "SHA256SUMS.sig"
    install(folder, script, release)

    good = signature.read_bytes()
    forged = make_release(folder / "forged", other)
    for wrong in (b"", good[:-1], (forged / "SHA256SUMS.sig").read_bytes()):
        signature.write_bytes(wrong)
        install(folder, script, release, expecting="The signature of the release is wrong")
    signature.unlink()
    install(folder, script, release, expecting="cannot be read")
    signature.write_bytes(good)
    sums.write_text(sums.read_text() + "\n")
    install(folder, script, release, expecting="The signature of the release is wrong")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        keys = [folder / "key.pem", folder / "other.pem"]
        for key in keys:
            subprocess.run(["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", key], check=True)
        test_transport(folder, make_release(folder / "release"))
        test_signature(folder, *keys)
    print("install.sh is correct.")


if __name__ == "__main__":
    sys.exit(main())
