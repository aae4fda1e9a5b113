"""Help for the tests and benchmarks of clusters: an origin server, rows, and processes to kill."""
from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional

from origin import host

HERE = Path(__file__).resolve().parent


class Origin:
    """A server of images on many loopback hosts, as a process."""

    def __init__(self, hosts: int, delay: float = 0.0) -> None:
        self.hosts = hosts
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "origin.py"), str(hosts), str(delay)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdin is not None and self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout
        self.port = int(self._output.readline())

    def url(self, number: int, share: float = 0.3) -> str:
        """Returns the URL of an image. The first host has `share` of them, and the others the rest."""
        is_first = number % 100 < share * 100
        name = host(0 if is_first else 1 + number // 7 % (self.hosts - 1))
        return f"http://{name}:{self.port}/{number}.png"

    def stats(self) -> Dict[str, Dict[str, int]]:
        """Returns the counts since the last reset."""
        self._send("stats")
        stats: Dict[str, Dict[str, int]] = json.loads(self._output.readline())
        return stats

    def requests(self) -> int:
        """Returns the number of requests since the last reset."""
        return sum(self.stats()["requests"].values())

    def reset(self) -> None:
        """Sets the counts to zero."""
        self._send("reset")

    def close(self) -> None:
        """Ends the server."""
        self._input.close()
        self._process.wait()

    def _send(self, line: str) -> None:
        self._input.write(line + "\n")
        self._input.flush()


class Tier:
    """A remote cache: nginx with a directory for objects, as a process."""

    def __init__(self, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/thumbs"
        (folder / "objects").mkdir(parents=True)
        configuration = folder / "nginx.conf"
        user = "user root;" if os.getuid() == 0 else ""
        configuration.write_text(f"""{user} daemon off;
            pid {folder}/pid; error_log {folder}/error.log; worker_processes 1;
            events {{ worker_connections 1024; }}
            http {{
              access_log off; keepalive_requests 1000000; client_body_temp_path {folder}/body; client_max_body_size 8m;
              server {{
                listen 127.0.0.1:{port}; root {folder}/objects;
                location / {{ dav_methods PUT; create_full_put_path on; }}
              }}
            }}""")
        self._process = subprocess.Popen(["nginx", "-c", str(configuration)], stderr=subprocess.DEVNULL)
        wait_until(lambda: (folder / "pid").exists(), 30)

    def close(self) -> None:
        """Ends the server."""
        self._process.terminate()
        self._process.wait()


def processes(pattern: str, below: Optional[int] = None) -> List[int]:
    """Returns the processes below `below` (default this one) whose command line contains `pattern`."""
    parents, found = {}, []
    for path in Path("/proc").iterdir():
        if not path.name.isdigit():
            continue
        try:
            stat, line = (path / "stat").read_text(), (path / "cmdline").read_bytes()
        except OSError:
            continue
        parents[int(path.name)] = int(stat.rpartition(")")[2].split()[1])
        if pattern in line.replace(b"\0", b" ").decode(errors="replace"):
            found.append(int(path.name))
    ancestor = below or os.getpid()
    return sorted(pid for pid in found if pid != ancestor and _is_below(pid, ancestor, parents))


def _is_below(pid: int, ancestor: int, parents: Dict[int, int]) -> bool:
    while pid > 1 and pid != ancestor:
        pid = parents.get(pid, 0)
    return pid == ancestor


def children() -> List[int]:
    """Returns the processes of `thumbs worker` that belong to this test."""
    return processes(f"{os.environ['THUMBS_BINARY']} worker", below=1)


def parent(pid: int) -> int:
    """Returns the parent of a process."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def kill_one(pattern: str, below: Optional[int] = None) -> None:
    """Kills the first process whose command line contains `pattern`, waiting for it if necessary."""
    os.kill(wait_until(lambda: processes(pattern, below), 60)[0], signal.SIGKILL)


def wait_until(condition: Callable[[], Any], seconds: float) -> Any:
    """Returns the value of `condition` as soon as it is true. Raises `TimeoutError` if it is not in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise TimeoutError("The condition did not become true.")
