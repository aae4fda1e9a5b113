"""Starts nginx on a free loopback port, configured for speed, as the server of the benchmarks."""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Tests/Servers"))
import run as servers  # noqa: E402

CONFIGURATION = """
{user}
worker_processes 1;
pid nginx.pid;
events {{ worker_connections 4096; }}
http {{
  access_log off;
  client_body_temp_path tmp; proxy_temp_path tmp; fastcgi_temp_path tmp; uwsgi_temp_path tmp; scgi_temp_path tmp;
  types {{ image/jpeg jpg; image/png png; }}
  sendfile on; tcp_nopush on; keepalive_requests 1000000; open_file_cache max=4000;
  root "{folder}"; expires 1d;
  {blocks}
}}
"""


def start(stack, root, folder):
    """Serves `folder` until `stack` is closed; `root` is for nginx's own files. Returns the origin, such as http://…"""
    [port] = servers.free_ports(1)
    start_blocks(stack, root, folder, [f"listen 127.0.0.1:{port};"], [port])
    return f"http://127.0.0.1:{port}"


def start_blocks(stack, root, folder, blocks, ports):
    """Like `start`, with a server for each of `blocks`, which together listen on `ports` of 127.0.0.1."""
    (root / "tmp").mkdir()
    user = "user root;" if os.getuid() == 0 else ""
    lines = "\n  ".join(f"server {{ {block} }}" for block in blocks)
    (root / "nginx.conf").write_text(CONFIGURATION.format(user=user, folder=folder, blocks=lines))
    command = ["nginx", "-p", str(root), "-c", "nginx.conf", "-e", f"{root}/error.log", "-g", "daemon off;"]
    servers.start(stack, root, "nginx", command, ports)
