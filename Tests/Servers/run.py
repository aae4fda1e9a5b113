#!/usr/bin/env python3
"""Runs a command with real servers: run.py COMMAND [ARGUMENT ...]

nginx (HTTP/1.1, HTTP/2, valid and invalid certificates) and tinyproxy serve the example images on free loopback ports
from a temporary directory. Environment variables give their URLs to the command: THUMBS_TEST_<NAME> for every name
below. If a program is missing, its variables are not set, and its tests are skipped. nginx and s3.py also store objects
for a remote cache, and the servers of flood.py attack their clients.
"""
import contextlib
import gzip
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

IMAGES = pathlib.Path(__file__).resolve().parents[2] / "Examples/images"
os.environ["PATH"] += ":/usr/sbin"

NGINX = """
{user}
worker_processes 1;
pid {root}/nginx.pid;
error_log {root}/error.log;
events {{ worker_connections 1024; }}
http {{
  access_log off;
  client_body_temp_path {root}/tmp; proxy_temp_path {root}/tmp; fastcgi_temp_path {root}/tmp;
  uwsgi_temp_path {root}/tmp; scgi_temp_path {root}/tmp;
  types {{ image/jpeg jpg; image/png png; }}
  add_header X-Protocol $server_protocol always;
  add_header X-Connection $connection always;
  add_header X-Via $http_via always;
  root {root}/www;
  log_format objects '$request_method $uri $status';
  {servers}
}}
"""
# An object store, with a part that needs a password.
STORE = """
  server {{
    listen 127.0.0.1:{port}; root {root}/objects; access_log {root}/objects.log objects; client_max_body_size 16m;
    location / {{ dav_methods PUT; create_full_put_path on; }}
    location /private/ {{
      dav_methods PUT; create_full_put_path on; auth_basic objects; auth_basic_user_file {root}/passwords;
    }}
  }}
"""
LOCATIONS = """
  location /coded/ { gzip_static always; }
  location /slow/ { limit_rate 2k; limit_rate_after 1k; }
  location = /moved { return 301 /fjord.jpg; }
  location = /plain { return 302 http://127.0.0.1:HTTP/fjord.jpg; }
  location = /elsewhere { return 302 https://localhost:SELF_SIGNED/fjord.jpg; }
"""
# Certificate, nginx option and protocols of each TLS server.
SECURE = {
    "HTTP2": ("good", "http2", "TLSv1.2 TLSv1.3"),
    "HTTPS": ("good", "", "TLSv1.2 TLSv1.3"),
    "EXPIRED": ("expired", "", "TLSv1.2 TLSv1.3"),
    "WRONG_HOST": ("wrong", "", "TLSv1.2 TLSv1.3"),
    "SELF_SIGNED": ("self", "", "TLSv1.2 TLSv1.3"),
    "OLD_TLS": ("good", "", "TLSv1.1"),
}


# The configuration of the certificate authority.
AUTHORITY = """
[ca]
default_ca = test
[test]
certificate = ca.pem
private_key = ca.key
database = ca.index
new_certs_dir = .
rand_serial = yes
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = supplied
"""


def openssl(root, *arguments):
    subprocess.run(["openssl", *arguments], cwd=root, check=True, capture_output=True)


def make_certificates(root):
    """Creates a certificate authority and the certificates of the servers as PEM files."""
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    openssl(root, "req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=Test CA")
    (root / "ca.conf").write_text(AUTHORITY)
    (root / "ca.index").touch()
    openssl(root, "req", "-x509", *key, "-keyout", "self.key", "-out", "self.pem", "-days", "2",
            "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost")
    hosts = {"good": "DNS:localhost,IP:127.0.0.1", "expired": "DNS:localhost", "wrong": "DNS:other.example"}
    for name, host in hosts.items():
        openssl(root, "req", *key, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", "/CN=Test")
        (root / f"{name}.ext").write_text(f"subjectAltName={host}")
        past = ["-startdate", "20200101000000Z", "-enddate", "20200102000000Z"]
        # `openssl x509 -req` cannot make an expired certificate in every version: only 3.4 and newer take dates, and
        # they refuse a negative number of days.
        openssl(root, "ca", "-batch", "-config", "ca.conf", "-in", f"{name}.csr", "-out", f"{name}.pem", "-notext",
                "-extfile", f"{name}.ext", *(past if name == "expired" else ["-days", "2"]))


def make_site(root):
    shutil.copytree(IMAGES, root / "www")
    for folder in ["coded", "slow"]:
        (root / "www" / folder).mkdir()
    shutil.copy(IMAGES / "fjord.jpg", root / "www/slow/fjord.jpg")
    (root / "www/coded/fjord.jpg.gz").write_bytes(gzip.compress((IMAGES / "fjord.jpg").read_bytes()))
    for folder in ["tmp", "objects"]:
        (root / folder).mkdir()
    (root / "passwords").write_text("thumbs:{PLAIN}secret\n")


def free_ports(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for endpoint in sockets:
            endpoint.bind(("127.0.0.1", 0))
        return [endpoint.getsockname()[1] for endpoint in sockets]


def nginx_configuration(root, ports):
    locations = LOCATIONS
    for name, port in ports.items():
        locations = locations.replace(f":{name}/", f":{port}/")
    servers = [f"server {{ listen 127.0.0.1:{ports['HTTP']}; {locations} }}"]
    for name, (certificate, option, protocols) in SECURE.items():
        servers.append(
            f"server {{ listen 127.0.0.1:{ports[name]} ssl {option}; ssl_protocols {protocols};"
            f" ssl_ciphers DEFAULT@SECLEVEL=0; ssl_certificate {root}/{certificate}.pem;"
            f" ssl_certificate_key {root}/{certificate}.key; {locations} }}")
    servers.append(STORE.format(root=root, port=ports["STORE"]))
    user = "user root;" if os.getuid() == 0 else ""
    return NGINX.format(user=user, root=root, servers="\n".join(servers))


def start(stack, root, name, command, ports):
    """Starts a server, and returns when it accepts connections on all its ports."""
    with open(root / f"{name}.out", "wb") as output:
        server = subprocess.Popen(command, stdout=output, stderr=output, stdin=subprocess.DEVNULL)
    stack.callback(stop, server)
    end = time.monotonic() + 20
    for port in ports:
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            if server.poll() is not None or time.monotonic() > end:
                sys.exit(f"{name} did not start:\n" + (root / f"{name}.out").read_text())
            time.sleep(0.02)


def stop(server):
    server.terminate()
    try:
        server.wait(10)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def start_nginx(stack, root):
    names = ["HTTP", "STORE", *SECURE]
    ports = dict(zip(names, free_ports(len(names))))
    make_certificates(root)
    make_site(root)
    (root / "nginx.conf").write_text(nginx_configuration(root, ports))
    command = ["nginx", "-p", str(root), "-c", "nginx.conf", "-e", f"{root}/error.log", "-g", "daemon off;"]
    start(stack, root, "nginx", command, ports.values())
    urls = {name: f"https://localhost:{port}" for name, port in ports.items()}
    urls |= {name: f"http://127.0.0.1:{ports[name]}" for name in ["HTTP", "STORE"]}
    return urls | {"CA": f"{root}/ca.pem", "FILES": f"{root}/www", "STORE_LOG": f"{root}/objects.log"}


def start_proxy(stack, root):
    [port] = free_ports(1)
    (root / "tinyproxy.conf").write_text(
        f"Port {port}\nListen 127.0.0.1\nAllow 127.0.0.1\nTimeout 600\nMaxClients 100\nViaProxyName \"tinyproxy\"\n")
    start(stack, root, "tinyproxy", ["tinyproxy", "-d", "-c", str(root / "tinyproxy.conf")], [port])
    return {"PROXY": f"http://127.0.0.1:{port}"}


def start_s3(stack, root):
    [port] = free_ports(1)
    program = pathlib.Path(__file__).parent / "s3.py"
    start(stack, root, "s3", [sys.executable, "-B", str(program), str(port), str(root / "s3.log")], [port])
    return {"S3": f"http://127.0.0.1:{port}", "S3_LOG": f"{root}/s3.log"}


def start_floods(stack, root):
    """Starts servers with the certificate that was made for nginx."""
    if not (root / "good.pem").exists():
        return {}
    kinds = ["window", "ping", "data"]
    ports = free_ports(len(kinds))
    program = pathlib.Path(__file__).parent / "flood.py"
    servers = [text for port, kind in zip(ports, kinds) for text in (str(port), kind)]
    command = [sys.executable, "-B", str(program), f"{root}/good.pem", f"{root}/good.key", *servers]
    start(stack, root, "floods", command, ports)
    return {f"FLOOD_{kind.upper()}": f"https://localhost:{port}" for port, kind in zip(ports, kinds)}


def main():
    # Without this, SIGTERM would end the script but not the servers.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    environment = dict(os.environ)
    with contextlib.ExitStack() as stack:
        root = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="thumbs-servers-")))
        for program, begin in [
                ("nginx", start_nginx), ("tinyproxy", start_proxy), ("python3", start_s3), ("python3", start_floods)]:
            if shutil.which(program):
                values = begin(stack, root)
                environment.update({f"THUMBS_TEST_{name}": value for name, value in values.items()})
            else:
                print(f"{program} is not installed; its tests are skipped.", file=sys.stderr)
        return subprocess.call(sys.argv[1:], env=environment)


if __name__ == "__main__":
    sys.exit(main())
