"""Drives a headless Chromium through its DevTools protocol over a pipe, with the standard library only."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


class Browser:
    """One page of a browser with a new profile."""

    def __init__(self, timeout=60):
        self.timeout = timeout
        self.profile = tempfile.mkdtemp(prefix="thumbs-chromium-")
        commands, self.commands = os.pipe()
        self.replies, replies = os.pipe()
        # The browser reads commands from descriptor 3 and writes replies to descriptor 4.
        script = f'exec 3<&{commands} 4>&{replies}; exec "$@"'
        arguments = ["chromium", "--headless=new", "--remote-debugging-pipe", "--disable-gpu", "--hide-scrollbars",
                     "--no-first-run", "--disable-background-networking", "--disable-dev-shm-usage",
                     f"--user-data-dir={self.profile}", "about:blank"]
        if os.geteuid() == 0:
            arguments.insert(1, "--no-sandbox")
        self.process = subprocess.Popen(["bash", "-c", script, "bash"] + arguments, pass_fds=(commands, replies),
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(commands)
        os.close(replies)
        self.buffer, self.number, self.session, self.events = b"", 0, None, []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.send(f"{domain}.enable")
        self.send("Performance.enable", timeDomain="threadTicks")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=20)
        shutil.rmtree(self.profile, ignore_errors=True)

    def send(self, method, **parameters):
        """Sends a command and returns its result. Events received before the result are added to `events`."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while True:
            message = self._read()
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]
            self.events.append(message)

    def wait(self, event):
        """Waits until an event of that name has been received since the last load."""
        while not any(message.get("method") == event for message in self.events):
            self.events.append(self._read())

    def load(self, url):
        """Opens a page and waits for its load event."""
        self.events.clear()
        self.send("Page.navigate", url=url)
        self.wait("Page.loadEventFired")

    def run(self, script):
        """Returns the value of an expression in the page, or of the promise that it returns."""
        reply = self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in reply:
            raise RuntimeError(reply["exceptionDetails"].get("exception", {}).get("description", str(reply)))
        return reply["result"].get("value")

    def work(self):
        """Returns the CPU time of the page in milliseconds, which does not depend on the load of the machine."""
        metrics = self.send("Performance.getMetrics")["metrics"]
        return next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration") * 1000

    def key(self, key, text=None):
        """Presses and releases a key."""
        for kind in ("keyDown", "keyUp"):
            extra = {"text": text} if text and kind == "keyDown" else {}
            extra |= {"windowsVirtualKeyCode": 27} if key == "Escape" else {}
            self.send("Input.dispatchKeyEvent", type=kind, key=key, code=key, **extra)

    def size(self, width, height, scale=1, mobile=False):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale,
                  mobile=mobile)

    def scheme(self, name, *others):
        """Sets the color scheme of the system, `light` or `dark`, and other features of media."""
        features = [("prefers-color-scheme", name), *others]
        self.send("Emulation.setEmulatedMedia", features=[{"name": key, "value": value} for key, value in features])

    def memory(self):
        """Returns the bytes of the objects of scripts after a collection."""
        self.send("HeapProfiler.collectGarbage")
        metrics = self.send("Performance.getMetrics")["metrics"]
        return int(next(metric["value"] for metric in metrics if metric["name"] == "JSHeapUsedSize"))

    def accessibility(self):
        """Returns the nodes of the accessibility tree that are not ignored, with their roles and names."""
        nodes = self.send("Accessibility.getFullAXTree")["nodes"]
        return [{"role": node["role"]["value"], "name": node.get("name", {}).get("value", "")}
                for node in nodes if not node.get("ignored")]

    def screenshot(self, path):
        """Writes what the window shows to a PNG or JPEG file."""
        kind = {"format": "png"} if path.suffix == ".png" else {"format": "jpeg", "quality": 80}
        path.write_bytes(base64.b64decode(self.send("Page.captureScreenshot", **kind)["data"]))

    def requests(self):
        """URLs requested since the last load."""
        return [message["params"]["request"]["url"] for message in self.events
                if message.get("method") == "Network.requestWillBeSent"]

    def complaints(self):
        """Log entries and uncaught exceptions since the last load, including violations of the page's policy."""
        return [message["params"] for message in self.events
                if message.get("method") in ("Log.entryAdded", "Runtime.exceptionThrown")]

    def _read(self):
        end = time.monotonic() + self.timeout
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.replies], [], [], max(0, end - time.monotonic()))
            piece = os.read(self.replies, 1 << 16) if ready else b""
            if not piece:
                raise RuntimeError("the browser does not respond")
            self.buffer += piece
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)
